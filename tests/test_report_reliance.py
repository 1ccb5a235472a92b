"""What the report says of claims together: what rests on what, what is wrong as printed, which constants there are."""

from __future__ import annotations

import pytest
import report_records as records
from test_report import Page

from hebbcheck.order import KINDS, kind
from hebbcheck.report import claims, constants, errata, graph, numbers, render


@pytest.fixture(scope="module")
def paper() -> list[dict]:
    return records.paper()


def view_of(verdicts: list[dict], claim_id: str) -> dict:
    return next(view for view in claims.claim_views(verdicts) if view["id"] == claim_id)


def chain_of(*outcomes: str) -> list[dict]:
    """L.0 below L.1 below ..., each with its outcome."""
    return [
        records.verdict(f"L.{k}", outcome, needs=[f"L.{k - 1}"] if k else [], source=f"Lemma L.{k}")
        for k, outcome in enumerate(outcomes)
    ]


# --- what does not stand


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("refuted", "Rests on a refuted lemma"),
        ("vacuous", "Rests on a vacuous lemma"),
        ("inconclusive", "Rests on an inconclusive lemma"),
        ("error", "Rests on a lemma that could not be judged"),
    ],
)
def test_what_does_not_stand_shows_on_all_that_rests_on_it(outcome, words):
    verdicts = chain_of("held", outcome, "held", "proved")
    marks = {view["id"]: view["foundations"] for view in claims.claim_views(verdicts)}
    assert marks["L.0"] is None and marks["L.1"] is None
    assert marks["L.2"]["words"] == marks["L.3"]["words"] == words
    [weak] = marks["L.3"]["weak"]
    assert weak["id"] == "L.1" and [step["id"] for step in weak["through"]] == ["L.2"]
    page = "".join(Page(render(verdicts, [], [])).words)
    assert page.count(words) >= 4 and "through L.2" in " ".join(page.split())


def test_the_worst_foundation_names_the_mark():
    verdicts = [*chain_of("vacuous", "inconclusive"), records.verdict("wrong", "refuted")]
    verdicts.append(records.verdict("top", needs=["L.1", "wrong", "lost", "top"]))
    made = view_of(verdicts, "top")["foundations"]
    assert made["words"] == "Rests on a refuted theorem" and made["tone"] == "surprise"
    assert [weak["id"] for weak in made["weak"]] == ["wrong", "L.1", "L.0"]


def test_many_weak_foundations_are_cut_short():
    verdicts = [records.verdict(f"w{k}", "error") for k in range(9)]
    verdicts.append(records.verdict("top", needs=[f"w{k}" for k in range(9)]))
    made = view_of(verdicts, "top")["foundations"]
    assert len(made["weak"]) == 6 and made["more"] == 3


def test_card_says_what_needs_the_claim():
    special = records.special_claims()
    assert [entry["id"] for entry in view_of(special, "B.16")["used"]] == ["B.28"]
    assert view_of(special, "B.28")["graph"] == "graph=B.28" and view_of(special, "B.2")["graph"] == ""


# --- the graph


def test_graph_holds_every_claim_once_and_every_need(paper):
    made = graph.graph_view(paper)
    nodes = [node for part in made["parts"] for node in part["nodes"]]
    known = [node["id"] for node in nodes if node["known"]]
    alone = [entry["id"] for entry in made["alone"]]
    assert sorted([*known, *alone]) == sorted(v["id"] for v in paper)
    assert len(known) == made["claims"] and {n["id"] for n in nodes if not n["known"]} == {"B.99"}
    drawn = [(e["need"], e["id"]) for part in made["parts"] for e in part["edges"]]
    stated = [(need, v["id"]) for v in paper for need in v["needs"]]
    assert set(drawn) <= set(stated) and len(drawn) + made["implied"] == made["needs"] == len(stated)


def test_nodes_stay_inside_their_drawing_and_apart(paper):
    for part in graph.graph_view(paper)["parts"]:
        boxes = [(n["x"], n["x"] + n["width"], n["y"] - 11, n["y"] + 11) for n in part["nodes"]]
        assert all(a >= 0 and b <= part["width"] and c >= 0 and d <= part["height"] for a, b, c, d in boxes)
        for k, (left, right, top, bottom) in enumerate(boxes):
            assert not any(left < b and a < right and top < d and c < bottom for a, b, c, d in boxes[k + 1 :])


def test_graph_marks_what_the_cards_mark(paper):
    marked = {view["id"]: view["foundations"] for view in claims.claim_views(paper)}
    nodes = [node for part in graph.graph_view(paper)["parts"] for node in part["nodes"] if node["known"]]
    assert any(node["mark"] for node in nodes) and not all(node["mark"] for node in nodes)
    for node in nodes:
        mark = marked[node["id"]]
        assert (mark and {"tone": mark["tone"], "outcome": mark["outcome"]}) == node["mark"]
        assert (mark is not None) == ("; rests on a" in node["name"])


def test_graph_names_unknown_ids_and_circles(paper):
    made = graph.graph_view(paper)
    assert made["unknown"] == [{"id": "B.99", "by": ["4.5"]}]
    assert made["cycles"] == [["B.60", "B.61", "B.60"]]
    words = "".join(Page(render(paper, [], [])).words)
    assert "Not in this report" in words and "These claims rest on themselves" in words


def test_a_claim_that_needs_only_itself_is_said_to():
    made = graph.graph_view([records.verdict("x", needs=["x"])])
    assert made["cycles"] == [["x", "x"]] and made["parts"] == []
    assert "These claims rest on themselves" in "".join(
        Page(render([records.verdict("x", needs=["x"])], [], [])).words
    )


def test_no_graph_where_nothing_needs_anything():
    assert graph.graph_view([records.verdict("x")]) is None
    assert "Proof graph" not in "".join(Page(render([records.verdict("x")], [], [])).words)


# --- errata


def test_errata_stand_beside_what_is_right(paper):
    made = errata.errata_view(paper)
    weights = [(list(KINDS).index(kind(erratum["source"])), -erratum["dependents"]) for erratum in made]
    assert weights == sorted(weights) and len(made) == sum(bool(v["erratum"]) for v in paper)
    first = made[0]
    assert first["id"].startswith(first["corrected"]["id"] + ".") and first["corrected"]["formula"]
    assert first["counterexample"]["sides"] == "measured −2, bound 0.5"
    assert first["replay"] == f"hebbcheck replay found/{first['id']}.npz"


def test_an_erratum_without_a_counterexample_gives_its_reason():
    verdict = records.verdict("text.a", "refuted", expected="refuted", erratum="It is not so.")
    [made] = errata.errata_view([verdict])
    assert made["counterexample"] is None and made["corrected"] is None
    assert verdict["reason"] in "".join(Page(render([verdict], [], [])).words)


# --- constants


def test_constants_are_in_a_table():
    estimate = {"value": 3.8399, "low": 3.4717, "high": 3.8782}
    flat = {"value": 0.0398, "low": 0.0148, "high": 0.0648}
    narrow = {"value": -1e-5, "low": -0.0024, "high": 0.0024}
    found = {"C1": estimate, "C2": estimate}
    verdicts = [
        records.verdict("B.17", constants=found, exponents={"F": flat, "d": narrow, "t": flat}),
        records.verdict("B.17.explicit", tightness={"ratio": 0.31, "instance": "x"}),
        records.verdict("B.31", "vacuous", smallest_sizes={"F": 9755, "d": 512, "m": 2**60}),
    ]
    made = constants.constants_view(verdicts)
    [row], [beyond] = made["rows"], made["beyond"]
    assert row["constants"] == [{"names": "C1 = C2", "value": "3.84", "interval": "[3.47, 3.88]"}]
    assert row["exponents"][0] == {"value": "0.04", "interval": "[0.01, 0.06]"}
    assert row["exponents"][1] == {"value": "0", "interval": "[−0.002, 0.002]"}
    assert row["exponents"][2:] == [None, None] and row["others"][0][0] == "t"
    assert [known["id"] for known in row["known"]] == ["B.17.explicit"]
    assert row["tightness"] == [{"id": "B.17.explicit", "ratio": "0.31"}]
    assert beyond["sizes"] == [("F", "9,755"), ("d", "512"), ("m", "2⁶⁰")]
    assert constants.constants_view([records.verdict("x")]) is None


def test_a_vacuous_claim_without_sizes_gives_its_reason():
    words = "".join(Page(render([records.verdict("x", "vacuous", reason="No size will do.")], [], [])).words)
    assert words.count("No size will do.") >= 2


@pytest.mark.parametrize(
    ("value", "written"), [(256, "256"), (1024.0, "1,024"), (2**20, "2²⁰"), (9e6, "9 × 10⁶"), (0.1, "0.1")]
)
def test_sizes_in_words(value, written):
    assert numbers.size(value) == written


def test_a_page_of_250_claims_is_small_and_whole():
    text = render(records.paper(250), records.figures(), records.runs())
    assert len(text.encode()) < 5_000_000
    page = Page(text)
    assert page.open == []
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a") if a["href"].startswith("#claim=")} <= set(ids)

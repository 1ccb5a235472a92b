"""The report as text: what is on the page, what cannot get onto it, and how it is written."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from html.parser import HTMLParser

import pytest
import report_records as records
import vl_convert

from hebbcheck.errors import HebbcheckError
from hebbcheck.report import (
    address,
    charts,
    claims,
    formula,
    numbers,
    outcomes,
    render,
    summary,
    tables,
    write,
)
from hebbcheck.store import Store

VOID = {"meta", "input", "link", "br", "img", "hr"}


class Page(HTMLParser):
    """A page's elements as (tag, attributes), the text of its scripts, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.scripts: list[tuple[dict, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def executable(self) -> list[str]:
        return [text for attributes, text in self.scripts if attributes.get("type") != "application/json"]

    @property
    def charts(self) -> list[dict]:
        return [
            json.loads(text)
            for attributes, text in self.scripts
            if attributes.get("type") == "application/json"
        ]


@pytest.fixture(scope="module")
def text() -> str:
    return render(records.verdicts(), records.figures(), records.runs())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_every_element_is_closed(page):
    assert page.open == []


def test_names_and_statements_stay_text(page):
    assert not page.all("img")
    assert not [a for _, attributes in page.elements for a in attributes if a.startswith("on")]
    shown = [
        "title",
        "theme",
        "statement",
        "reason",
        "source",
        "erratum",
        "note",
        "need",
        "proof",
        "replay",
        "command",
    ]
    assert "".join(page.words).count(records.HOSTILE) > len(shown)


def test_hostile_latex_stays_inside_its_formula(page, text):
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in text
    assert len(page.executable) == 3


def test_chart_data_keeps_hostile_names_as_they_are(page):
    [chart] = [c for c in page.charts if len(c["tables"].get("points", {}).get("rows", [])) == 1]
    titles = [t["title"] for t in chart["spec"]["layer"][1]["encoding"]["tooltip"]]
    assert titles == ["measured", "bound", records.HOSTILE, "seed"]
    assert chart["tables"]["points"]["rows"] == [[1.0, 0.5, records.HOSTILE, str(2**100)]]


def test_page_may_run_only_its_own_scripts_and_load_nothing(page):
    [policy] = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in page.executable]
    assert all(f"'sha256-{digest}'" in policy for digest in digests)
    assert policy.startswith("default-src 'none'") and "eval" not in policy
    links = [
        v for _, a in page.elements for k, v in a.items() if k in ("src", "href", "action", "data") and v
    ]
    assert links and all(link.startswith("#") for link in links)


def test_page_is_small_and_has_the_chart_library_once(text):
    assert len(text.encode()) < 2_000_000
    assert text.count("window.vegaEmbed=") == 1


def test_order_of_the_records_does_not_matter(text):
    verdicts, figures, runs = records.verdicts(), records.figures(), records.runs()
    for some in (verdicts, figures, runs):
        random.Random(3).shuffle(some)
    assert render(verdicts, figures, runs) == text


def test_what_was_not_expected_comes_first_then_ids_in_natural_order(page):
    rows = [a for a in page.all("tbody") if "data-id" in a]
    ids = [a["data-id"] for a in rows]
    assert ids[:5] == ["B.56", "B.17", "B.44", "B.47", "B.62"]
    assert {a["data-passed"] for a in rows[:5]} == {"no"} and {a["data-passed"] for a in rows[5:]} == {"yes"}
    assert ids[5:9] == ["B.1", "B.2", "B.16", "B.25"]
    assert ids.index("C.9") < ids.index("C.10")


def test_ranks_sort_numbers_as_numbers_and_leave_missing_ones_null(page):
    ranks = {a["data-id"]: json.loads(a["data-ranks"]) for a in page.all("tbody") if "data-id" in a}
    assert ranks["C.2"]["time"] < ranks["C.10"]["time"]
    assert ranks["B.34"]["tightness"] < ranks["B.28"]["tightness"]
    assert ranks["B.1"]["tightness"] is None
    assert ranks["B.28"]["quantifier"] == ranks["B.34"]["quantifier"] > ranks["B.2"]["quantifier"]


def test_every_permalink_leads_somewhere(page):
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for a in page.all("a") if a["href"].startswith(("#claim=", "#figure="))}
    assert targets and targets <= set(ids)


def test_anchor_is_an_address_that_names_the_claim():
    assert address.claim_anchor("B.28") == "claim=B.28"
    assert address.claim_anchor("a b&c") == "claim=a%20b%26c"


def test_counts_add_up_and_tell_refutations_apart():
    verdicts = records.verdicts()
    counts = {tile.label: tile.count for tile in outcomes.tiles(verdicts)}
    assert sum(counts.values()) == len(verdicts) == 40
    assert counts["Refuted as expected"] == 1 and counts["Refuted unexpectedly"] == 2
    held = next(tile for tile in outcomes.tiles(verdicts) if tile.label == "Held")
    assert held.surprises == 1


@pytest.mark.parametrize(
    ("outcome", "expected", "words"),
    [
        ("held", "holds", "Held"),
        ("held", "refuted", "Held unexpectedly"),
        ("refuted", "refuted", "Refuted as expected"),
        ("refuted", "holds", "Refuted unexpectedly"),
        ("vacuous", "holds", "Vacuous unexpectedly"),
        ("vacuous", "vacuous", "Vacuous"),
        ("inconclusive", "holds", "Inconclusive"),
        ("error", "refuted", "Error"),
    ],
)
def test_verdict_in_words(outcome, expected, words):
    assert outcomes.label(records.verdict("x", outcome, expected=expected)) == words


@pytest.mark.parametrize(
    ("count", "failing", "headline"),
    [(3, 1, "2 of 3 claims got what was expected"), (2, 0, "All 2 claims got what was expected")],
)
def test_headline(count, failing, headline):
    verdicts = [records.verdict(f"c{i}", "refuted" if i < failing else "held") for i in range(count)]
    assert summary.summary(verdicts, [], [])["headline"] == headline


def test_level_says_what_it_means():
    level = summary.level([records.verdict("x")])
    assert level == {"text": "10⁻⁴", "one_in": "10,000", "hundred": "100"}


def test_run_facts_come_from_the_latest_run_that_judged_claims():
    started = "2026-11-29T21:00:00+00:00"
    judging = {
        "id": 1,
        "started": started,
        "finished": "2026-11-29T21:03:22+00:00",
        "command": "a",
        "verdicts": 3,
    }
    plotting = {
        "id": 2,
        "started": "2026-11-30T08:00:00+00:00",
        "finished": None,
        "command": "b",
        "verdicts": 0,
    }
    made = summary.summary([records.verdict("x")], [], [judging, plotting])
    assert made["command"] == "a" and made["date"] == "29 November 2026, 21:00 UTC"
    assert ("Duration", "3 min 22 s") in made["facts"] and ("Dtype", "float64") in made["facts"]
    assert ("Duration", "not finished") in summary.facts([], plotting)


def test_different_seeds_and_versions_are_all_named():
    pair = [records.verdict("x"), records.verdict("y", seed=10, versions={"numpy": "2.3.1"})]
    made = summary.summary(pair, [], [])
    assert ("Seed", "0, 10") in made["facts"]
    assert ("numpy", "2.3.1, 2.4.0") in made["versions"] and made["versions"][0][0] == "hebbcheck"


def test_formula_becomes_mathml_and_unknown_commands_stay_source(page, text):
    assert len(page.all("math")) > 30
    assert r"<code class=" in text and r"W = \Theta\unknowncommand{F}" in text
    assert formula.mathml(r"\nosuchcommand") is None
    assert "<mfrac>" in formula.mathml(r"\frac1F \widetilde{E}")


@pytest.mark.parametrize(
    "markup", ["<math><img src=x></math>", '<math onload="x()"></math>', "<math><!-- x --></math>"]
)
def test_markup_that_is_not_mathml_is_refused(markup, monkeypatch):
    class Converter:
        def convert_with_local_state(self, latex, *, displaystyle):
            return markup

    monkeypatch.setattr(formula, "_converter", Converter)
    assert formula.mathml("x") is None


def claim_view(claim_id: str) -> dict:
    return next(view for view in claims.claim_views(records.verdicts()) if view["id"] == claim_id)


def test_card_says_whether_assumptions_are_needed():
    needed = {a["name"]: (a["met"], a["needed"]) for a in claim_view("B.28")["assumptions"]}
    assert needed["V_ij >= 0"] == ("41%", "needed: counterexample")
    assert needed["m <= d^2 / L"] == ("100%", "no counterexample without it")
    assert claim_view("B.1")["assumptions"][0]["needed"] == "needed: counterexample"
    assert claim_view("B.31")["assumptions"][0]["needed"] == "not tested"


def test_card_links_what_the_claim_rests_on():
    needs = {need["id"]: (need["anchor"], need["label"]) for need in claim_view("B.28")["needs"]}
    assert needs["B.1"] == ("claim=B.1", "Proved")
    assert needs["B.99"] == ("", "not in this report")


def test_failure_rate_is_drawn_to_scale():
    found = claims.failure({"failures": 10, "trials": 100, "low": 0.05, "high": 0.2, "allowed": 0.1})
    bar = {name: float(value) for name, value in found["bar"].items()}
    assert bar["rate"] == bar["allowed"] == pytest.approx(100 * 0.1 / (1.15 * 0.2), abs=0.01)
    assert bar["low"] + bar["width"] == pytest.approx(100 / 1.15, abs=0.02)
    assert claims.failure(None) is None


def test_unbounded_interval():
    assert numbers.interval({"low": 3.1, "high": None}) == "[3.1, ∞)"
    assert numbers.interval({"low": None, "high": None}) == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (1e-4, "10⁻⁴"),
        (-2.5e-7, "−2.5 × 10⁻⁷"),
        (0.0123456, "0.01235"),
        (123456.7, "123,457"),
        (2_400_000, "2,400,000"),
        (float("inf"), "∞"),
        ("text", "text"),
    ],
)
def test_numbers_as_a_reader_wants_them(value, shown):
    assert numbers.number(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, "0%"), (1, "100%"), (0.9999, "over 99.9%"), (0.4111, "41.1%")]
)
def test_a_share_is_never_rounded_to_all_or_nothing(share, shown):
    assert numbers.percent(share) == shown


def unpacked(chart: dict) -> dict:
    data = {
        name: [dict(zip(t["columns"], row, strict=True)) for row in t["rows"]]
        for name, t in chart["tables"].items()
    }
    return {**chart["spec"], "width": 400, "datasets": data}


@pytest.mark.parametrize("claim_id", ["B.28", "B.34", "B.40", "B.51", "user.hostile"])
def test_charts_of_claims_can_be_drawn(claim_id):
    record = next(r for r in records.special_claims() if r["id"] == claim_id)
    drawn = vl_convert.vegalite_to_svg(json.dumps(unpacked(charts.claim_chart(record))))
    assert drawn.count('aria-roledescription="point"') == len(record["points"])


def test_ladders_stand_at_the_size_that_they_name():
    rungs = [
        {"ladder": "d", "size": "d", "d": 64, "F": 4, "needed": 1.5, "seed": 0},
        {"ladder": "delta", "size": "delta", "delta": 0.25, "F": 4, "needed": 1.25, "seed": 0},
        {"ladder": "beta", "size": "beta", "beta": 0.5, "F": 4, "needed": 1.0, "seed": 0},
        {"ladder": "F", "size": "F", "F": None, "needed": 1.0},
    ]
    chart = charts.claim_chart(records.verdict("x", quantifier="absolute constants", points=rungs))
    table = chart["tables"]["points"]
    at, needed = table["columns"].index("x"), table["columns"].index("y")
    assert [(row[at], row[needed]) for row in table["rows"]] == [(64, 1.5), (4.0, 1.25), (0.5, 1.0)]


def test_points_without_a_place_are_counted_not_drawn():
    points = [{"measured": 1.0, "bound": 2.0}, {"measured": None, "bound": 1.0}]
    chart = charts.claim_chart(records.verdict("x", points=points))
    assert len(chart["tables"]["points"]["rows"]) == 1
    assert "1 below it" in chart["caption"] and "1 without a place" in chart["caption"]
    assert charts.claim_chart(records.verdict("x", points=points[1:])) is None


def test_a_point_shows_its_cell_and_its_seed_or_that_of_the_run():
    chart = charts.claim_chart(
        records.verdict("x", seed=7, points=[{"measured": 1.0, "bound": 0.5, "F": 64}])
    )
    titles = [t["title"] for t in chart["spec"]["layer"][1]["encoding"]["tooltip"]]
    assert titles == ["measured", "bound", "F", "seed"]
    assert chart["tables"]["points"]["rows"] == [[1.0, 0.5, 64, 7]]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.5, 1.0], None),
        ([1e-4, 1.0], "log"),
        ([-1.0, -0.5, 1e-3, 2.0], None),
        ([-1.0, 1.0, 2.0, 1e6], "symlog"),
    ],
)
def test_scale_shows_what_the_values_span(values, kind):
    points = [{"measured": v, "bound": v} for v in values]
    spec = charts.claim_chart(records.verdict("x", points=points))["spec"]
    assert spec["encoding"]["x"]["scale"].get("type") == kind


def test_ticks_of_a_wide_scale_are_zero_and_powers_of_ten():
    points = [{"measured": v, "bound": v} for v in (-1e17, -1.0, -2.0, 0.0, 1.0, 3.0)]
    axis = charts.claim_chart(records.verdict("x", points=points))["spec"]["encoding"]["x"]["axis"]
    assert axis["values"] == [-1e17, -1e12, -1e7, -100.0, 0.0]


def test_packing_keeps_every_value_and_repeats_none():
    rows = [{"a": 1, "b": "x"}, {"a": 0.123456789, "c": None}]
    spec = {
        "layer": [{"data": {"values": rows}}, {"data": {"values": rows}}],
        "datasets": {"named": [{"a": 2}]},
    }
    packed = tables.pack(spec)
    assert set(packed["tables"]) == {"named", "table1"}
    assert packed["tables"]["table1"] == {
        "columns": ["a", "b", "c"],
        "rows": [[1, "x", None], [0.12346, None, None]],
    }
    assert packed["spec"]["layer"] == [{"data": {"name": "table1"}}] * 2
    assert "values" in spec["layer"][0]["data"]


def test_nothing_judged_is_a_page_too():
    page = Page(render([], [], []))
    assert "Nothing has been judged yet" in "".join(page.words)
    assert len(page.executable) == 2


def test_report_of_a_store(tmp_path):
    with Store.open(tmp_path / "store.db") as store:
        run = store.start_run("hebbcheck verify", {"profile": "quick"}, records.VERSIONS)
        for record in records.special_claims():
            store.save_verdict(run, record)
        store.save_figure(run, records.figure("fig2b", "Margin against width"))
        store.finish_run(run)
        path = write(store, tmp_path / "made" / "here")
    assert path == tmp_path / "made" / "here" / "index.html"
    page = Page(path.read_text("utf-8"))
    assert sum("data-id" in a for a in page.all("tbody")) == len(records.special_claims())
    assert [p.name for p in path.parent.iterdir()] == ["index.html"]


def test_a_page_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    old = tmp_path / "index.html"
    old.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hebbcheck.report.page.os.replace", refuse)
    with Store.open(tmp_path / "store.db") as store, pytest.raises(HebbcheckError, match="No space left"):
        write(store, tmp_path)
    assert old.read_text() == "old" and not list(tmp_path.glob("*.part"))


def test_a_file_where_the_folder_should_be_is_one_line(tmp_path):
    (tmp_path / "taken").write_text("x")
    with Store.open(tmp_path / "store.db") as store, pytest.raises(HebbcheckError) as caught:
        write(store, tmp_path / "taken")
    assert "\n" not in str(caught.value) and "--out" in str(caught.value)

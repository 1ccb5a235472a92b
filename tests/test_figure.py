import inspect
import os
import textwrap

import numpy as np
import pytest

from hebbcheck import figure as figures
from hebbcheck import geometry as geo
from hebbcheck.discovery import load
from hebbcheck.errors import HebbcheckError
from hebbcheck.judges.reported import Side, judge
from hebbcheck.settings import Settings
from hebbcheck.sweeps import Job, run_jobs
from hebbcheck.verdict import Outcome, Quantifier

TOY = '''
import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.figure import Figure, Summary
{header}

def cells(settings):
    return [{{"replicate": r, "seed": r}} for r in range({replicates})]

def measure(settings, params):
    return {{"height": 1.0 + 0.01 * (params["replicate"] - 3.5)}}

def summarise(settings, cells, results):
    heights = [r["height"] for r in results]
    samples = [{{"height": h, "r2_fitted": 0.9, "r2_stated": 0.1, "odd": float("nan")}} for h in heights]
    mean = dict(samples[0], height=sum(heights) / len(heights))
    return Summary(mean, samples, {{"columns": ["a"], "rows": [[1]]}}, [], ["toy"])

toy = Figure("toy", "A toy", "Figure 0", "Nothing", cells, measure, summarise)

@hc.claim("toy.claim", over=geo.figure("toy"))
def toy_claim(fig):
    """A toy claim."""
    return {relation}
'''


@pytest.fixture
def write(tmp_path):
    def write(relation="hc.at_least(fig.height, 0.9)", replicates=8, header="", name="toyfile"):
        path = tmp_path / f"{name}.py"
        own = f"{header}\n# {tmp_path}"  # files of one content are one module
        path.write_text(TOY.format(relation=relation, replicates=replicates, header=own))
        return path

    return write


def outcome(job):
    [(_, result)] = run_jobs([job])
    return result


def judged(path):
    claim = load(path)[0]
    assert claim.quantifier is Quantifier.REPORTED
    result = outcome(Job(claim, Settings(), judge(claim, Settings())))
    if isinstance(result, Exception):
        raise result
    return result


def test_a_figure_is_reproduced_cell_by_cell(write):
    toy = figures.load(write())[0]
    record = outcome(Job(toy, Settings(), figures.reproduce(toy, Settings())))
    assert record["id"] == "toy" and record["title"] == "A toy" and record["source"] == "Figure 0"
    assert record["attributes"]["height"] == pytest.approx(1.0)
    assert [r["height"] for r in record["replicates"]] == pytest.approx([0.965 + 0.01 * i for i in range(8)])
    assert record["table"] == {"columns": ["a"], "rows": [[1]]} and record["notes"] == ["toy"]


def test_a_worker_finds_the_figure_again(write):
    toy = figures.load(write())[0]
    assert toy.reference.resolve() is toy
    assert toy.reference.kind == "figure" and toy.reference.id == "toy"


def test_the_digest_follows_the_file_and_the_files_beside_it_that_are_used(write, tmp_path):
    (tmp_path / "beside.py").write_text("def helper():\n    return 1\n")
    (tmp_path / "unused.py").write_text("x = 1\n")
    path = write(header="from beside import helper")
    first = figures.load(path)[0].digest
    (tmp_path / "unused.py").write_text("x = 2\n")
    assert figures.Figure(**vars_of(figures.load(path)[0])).digest == first
    (tmp_path / "beside.py").write_text("def helper():\n    return 2\n")
    second = figures.Figure(**vars_of(figures.load(path)[0])).digest
    assert second != first
    path.write_text(path.read_text() + "\n# changed\n")
    assert figures.load(path)[0].digest not in (first, second)


def vars_of(figure):
    return {name: getattr(figure, name) for name in inspect.signature(figures.Figure).parameters}


def test_figures_are_found_by_id_and_by_file(write):
    path = write()
    assert [f.id for f in figures.find([str(path)])] == ["toy"]
    assert [f.id for f in figures.find(["fig2b", "fig6"])] == ["fig2b", "fig6"]
    assert {"fig2b", "fig4", "fig5a", "fig5b", "fig5c", "fig6"} <= {f.id for f in figures.find()}


def test_a_figure_without_its_package_is_left_out_unless_named(write):
    toy = figures.load(write())[0]
    missing = figures.Figure(**{**vars_of(toy), "package": "no_such_package"})
    assert toy.available and not missing.available


def test_the_digest_follows_the_data_that_a_figure_reads(write, tmp_path):
    data = tmp_path / "data.npy"
    digests = set()
    for value in (1.0, 2.0):
        np.save(data, np.full(3, value))
        os.utime(data, (value, value))
        toy = figures.load(write())[0]
        digests.add(figures.Figure(**{**vars_of(toy), "data": (str(data),)}).digest)
    assert len(digests) == 2


def test_errors_say_what_to_do(write, tmp_path):
    with pytest.raises(HebbcheckError, match="fig2b"):
        figures.find(["fig2"])
    bare = tmp_path / "bare.py"
    bare.write_text("x = 1\n")
    with pytest.raises(HebbcheckError, match="has no figure"):
        figures.find([str(bare)])


@pytest.mark.parametrize(
    "relation, expected",
    [
        ("hc.at_least(fig.height, 0.9)", Outcome.SUPPORTED),
        ("hc.at_most(fig.height, 1.2)", Outcome.SUPPORTED),
        ("hc.at_least(fig.height, 1.3)", Outcome.REFUTED),
        ("hc.at_most(fig.height, 0.5)", Outcome.REFUTED),
        ("hc.at_least(fig.height, 1.001)", Outcome.INCONCLUSIVE),
        ("hc.equal(fig.height + 4, 5.0)", Outcome.SUPPORTED),
        ("hc.equal(fig.height, 1.0)", Outcome.INCONCLUSIVE),  # the interval spans more than 5%
        ("hc.equal(fig.height, 1.2)", Outcome.REFUTED),
        ("[hc.at_least(fig.height, 0.9), hc.at_least(fig.height, 1.3)]", Outcome.REFUTED),
        ("[hc.at_least(fig.height, 0.9), hc.at_least(fig.height, 1.001)]", Outcome.INCONCLUSIVE),
        ("hc.at_least(fig.odd, 0)", Outcome.INCONCLUSIVE),
    ],
)
def test_every_outcome_of_a_claim_as_reported(write, relation, expected):
    assert judged(write(relation)).outcome is expected


def test_a_finding_says_what_was_measured(write):
    finding = judged(write("hc.at_least(fig.height, 1.001)"))
    assert finding.instances == 8 and finding.violations == 4 and finding.undefined == 0
    assert finding.r2 == {"fitted": 0.9, "stated": 0.1}
    assert len(finding.points) == 8 and finding.points[0] == {
        "measured": 0.965,
        "bound": 1.001,
        "replicate": 0,
    }
    assert finding.notes == ["toy"]
    assert "4 of 8 satisfy" in finding.reason and "1 >= 1.001" in finding.reason


def test_a_claim_that_cannot_be_judged_is_an_error(write):
    with pytest.raises(HebbcheckError, match="scales_as"):
        judged(write("hc.scales_as(fig.height, 1)"))
    with pytest.raises(HebbcheckError, match=r"hc\.mean"):
        judged(write("hc.equal(hc.mean([1, 2]), fig.height)", name="expectation"))
    with pytest.raises(HebbcheckError, match="2 replicates"):
        judged(write(replicates=2, name="few"))
    with pytest.raises(HebbcheckError, match="heigth"):
        judged(write("hc.at_least(fig.heigth, 1)", name="misspelt"))


def test_a_claim_on_an_unknown_figure_names_the_nearest(tmp_path):
    path = tmp_path / "claims.py"
    path.write_text(
        textwrap.dedent(
            """
            import hebbcheck as hc
            @hc.claim("c", over=hc.geometry.figure("fig2bb"))
            def c(fig):
                "Text."
                return hc.at_least(fig.r2_fitted, 0)
            """
        )
    )
    with pytest.raises(HebbcheckError, match="fig2b"):
        judged(path)


def test_sides_of_a_relation():
    assert Side("at_most", 1.0, 3.0).slack == 2 and Side("at_least", 1.0, 3.0).slack == -2
    assert Side("equal", 1.0, 1.0).holds and not Side("equal", 1.0, 1.5).holds
    assert geo.figure("toy").replicate({"height": 2.0}).height == 2.0

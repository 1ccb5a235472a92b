import importlib
import importlib.util
import json
import sys
from functools import cache

import numpy as np
import pytest

from hebbcheck import figure as figures
from hebbcheck.arrays import NUMPY, Streams
from hebbcheck.discovery import load
from hebbcheck.errors import HebbcheckError
from hebbcheck.judges.reported import judge
from hebbcheck.settings import Settings
from hebbcheck.sweeps import Job, run_jobs
from hebbcheck.verdict import Outcome

fig2b, fig4, fig5, fig6, fig12, forms, sweep = (
    importlib.import_module(f"hebbcheck.reports.{name}")
    for name in ("fig2b", "fig4", "fig5", "fig6", "fig12", "forms", "sweep")
)
SIX = ("fig2b", "fig4", "fig5a", "fig5b", "fig5c", "fig6")
REPLICATES = 2


def alike(one, other):
    return all(one[name] == other[name] for name in one if name != "seed")


@cache
def reduced(id):
    """The summary of a figure's first replicates, three seeds each."""
    figure = figures.find([id])[0]
    cells = [c for c in figure.cells(Settings()) if c["replicate"] < REPLICATES]
    cells = [c for c in cells if sum(o["seed"] < c["seed"] and alike(o, c) for o in cells) < 3]
    results = [figure.measure(Settings(), c) for c in cells]
    return figure.summarise(Settings(), cells, json.loads(json.dumps(results)))


def test_the_sweeps_are_the_papers():
    m, F = fig2b.QUESTION.sweep.points, fig4.SKETCHED.sweep.points
    assert len(m) == 30 and (m[0], m[-1]) == (64, 1024)
    assert len(F) == 30 and F[:4] == (32, 35, 39, 43) and F[-2:] == (465, 512)
    assert fig4.EXACT.sweep.points[-1] == 2048 and fig4.EXACT.sweep.sizes["d"] == 32
    beta = fig5.QUESTIONS["fig5b"].sweep.points
    assert len(beta) == 30 and beta[:2] == (0.0, 1.0) and beta[-1] == pytest.approx(10)
    assert fig12.RAW.points == (4, 5, 7, 8, 11, 14, 18, 23, 29, 37, 48, 61, 78, 100, 128)
    assert len(fig6.QUESTION.sweep.points) == 15


@pytest.mark.parametrize("id", SIX)
def test_cells_are_plain_data_of_five_seeds_or_three(id):
    cells = figures.find([id])[0].cells(Settings())
    assert json.loads(json.dumps(cells)) == cells
    for name in {c.get("sweep") for c in cells}:
        mine = [c for c in cells if c.get("sweep") == name]
        assert len({c["seed"] for c in mine}) == len(mine) == 8 * (3 if id == "fig6" else 5)


def test_a_cell_depends_on_its_seed_alone():
    figure = figures.find(["fig5a"])[0]
    first, second = ({"replicate": 0, "seed": seed} for seed in (0, 1))
    assert figure.measure(Settings(), first) == figure.measure(Settings(), dict(first))
    assert figure.measure(Settings(), first) != figure.measure(Settings(), second)
    assert figure.measure(Settings(), first) != figure.measure(Settings(seed=1), first)


@pytest.mark.parametrize("family", [fig2b.QUESTION.sweep.family, fig4.EXACT.sweep.family])
def test_margins_from_outputs_are_those_of_the_definition(family):
    x = family(0).draw({"F": 20, "d": 6, "m": 15}, Streams("test"))
    K, V = np.asarray(x.K), np.asarray(x.values)
    margins = [
        sum(K[t, i] * (V[i] - V[j]) @ V[t] for t in range(20)) for i in range(20) for j in range(20) if j != i
    ]
    assert sweep.least_margin(x, sweep.outputs(x)) == pytest.approx(min(margins), rel=1e-10)


def test_features_keys_and_values_are_independent_streams():
    x = fig2b.QUESTION.sweep.family(64).draw(
        {"F": 256, "d": 64, "m": 64}, Streams(0, "fig2b", 0, 0).child(64)
    )
    rows = [
        np.asarray(part) / np.linalg.norm(part, axis=1, keepdims=True)
        for part in (x.keys, x.values, x.A, x.G)
    ]
    for i, a in enumerate(rows):
        for b in rows[:i]:
            assert np.max(np.abs(a @ b.T)) < 0.8
    assert np.array_equal(x.map, np.arange(256))


def test_noisy_margins_and_the_lipschitz_constant_are_the_instances_own():
    noisy = fig6.NoisySweep("eps", (0.05, 1.5), {"F": 30, "d": 8, "m": 20}, fig6.QUESTION.sweep.family, ())
    result = noisy.measure(Streams("noise"), NUMPY)
    for i, eps in enumerate(noisy.points):
        x = noisy.family(eps).draw({**noisy.sizes, "eps": eps}, Streams("noise"))
        assert result["L_bil"][i] == pytest.approx(x.L_K)
        margins = np.asarray(x.mlp(x.queries)) @ np.asarray(x.values).T
        gaps = [margins[k, k] - np.delete(margins[k], k).max() for k in range(30)]
        assert result["gamma_min"][i] == pytest.approx(min(gaps))
        assert result["gamma_clean"][i] == pytest.approx(float(x.gamma_min))


def test_forms_by_hand():
    x = {"F": np.array([10.0]), "d": np.array([4.0]), "m": np.array([8.0])}
    L = np.log(2 * 100 / 0.5)
    assert forms.L(x)[0] == pytest.approx(L)
    assert forms.ISOTROPIC.at(x, 3.0)[0] == pytest.approx(1 - 3 * np.sqrt(10 * L / 32))
    terms = np.sqrt(L / 8) + np.sqrt(L / 3) + np.sqrt(10 * L / 64) + np.sqrt(10 * L / 32)
    assert forms.EQUATION_56.at(x, 2.0)[0] == pytest.approx(1 - 2 * terms)
    stats = {
        "K_diag_min": 0.7,
        "K_off_max": 0.2,
        "E_K": 1.5,
        "V_min": 0.5,
        "B_Y": 6.0,
        "E_v": 8.0,
        "L_v": 90.0,
    }
    x |= {name: np.array([value]) for name, value in {**stats, "kappa": 0.4}.items()}
    assert forms.KEYS_STATED.at(x, 0.0)[0] == pytest.approx(0.5)
    assert forms.KEYS_STATED.at(x, 1.0)[0] == pytest.approx(
        0.7 * (1 - np.sqrt(L / 3)) - 0.2 - np.sqrt(1.5 * L / 4)
    )
    sigma = np.sqrt((16 + 24 + 17) / (4 * 6 * 8) + 6 / (16 * 6))
    values = (1 - np.sqrt(L / 8)) * 0.5 - (6 + np.sqrt(720)) * sigma * np.sqrt(L)
    assert forms.VALUES_STATED.at(x, 1.0)[0] == pytest.approx(values)
    assert forms.BOTH_STATED.at(x, 99.0)[0] == pytest.approx(0.35 - np.sqrt(12) * 0.4)
    assert forms.BOTH_OPEN.open == ("C",) and forms.BOTH_STATED.open == ()


def test_equation_44_holds_in_every_draw_of_its_figure():
    question = fig5.QUESTIONS["fig5c"]
    columns = question.sweep.columns([question.sweep.measure(Streams("eq 44"), NUMPY)])
    assert np.all(forms.BOTH_STATED.at(columns, 0.0) <= columns["gamma_min"])
    assert np.all((columns["kappa"] >= 0) & (columns["kappa"] <= 1))


FACTS = {
    "fig2b": {
        "r2_fitted": (0.97, 0.998),
        "r2_stated": (0.70, 0.86),
        "signal": (0.60, 0.71),
        "share_above": (0.35, 0.65),
        "bound_C": (3.0, 4.0),
        "held_out_share": (0.85, 1.0),
        "exponent": (-0.36, -0.28),
    },
    "fig4": {
        "r2_fitted": (0.96, 0.998),
        "r2_stated": (-0.4, 0.3),
        "signal": (0.5, 0.65),
        "bound_C": (5.3, 7.8),
        "r2_fitted_exact": (0.985, 0.999),
        "exponent": (0.2, 0.32),
    },
    "fig5a": {"r2_fitted": (0.96, 1.0), "r2_stated": (0.75, 0.98), "bound_C": (0.4, 1.3)},
    "fig5b": {"r2_fitted": (0.9, 0.999), "r2_stated": (0.9, 0.999), "bound_C": (0.02, 0.08)},
    "fig5c": {"r2_fitted": (0.93, 1.0), "r2_stated": (-400, -50), "bound_C": (0.05, 0.5)},
    "fig6": {
        "r2_linear": (0.85, 0.93),
        "r2_quadratic": (0.99, 1.0),
        "r2_fitted": (0.95, 0.995),
        "exponent": (1.7, 2.4),
    },
}


@pytest.mark.parametrize("id", SIX)
def test_the_numbers_are_those_known_of_these_experiments(id):
    told = reduced(id)
    assert len(told.replicates) == REPLICATES
    for name, (low, high) in FACTS[id].items():
        assert low <= told.attributes[name] <= high, (name, told.attributes[name])
        assert told.attributes[name] == pytest.approx(np.mean([r[name] for r in told.replicates]))


def test_the_width_sweep_says_which_constants_it_cannot_tell_apart():
    assert any("C and C_L separately" in note for note in reduced("fig2b").notes)
    told = reduced("fig2b").attributes
    assert told["r2_equation_56"] == pytest.approx(told["r2_fitted"], abs=1e-6)


@pytest.mark.parametrize("id", SIX)
def test_tables_give_the_three_answers_and_charts_show_them(id):
    altair = pytest.importorskip("altair")
    told = reduced(id)
    names = " ".join(row[0] for row in told.table["rows"])
    assert all(answer in names for answer in ("as fitted", "as stated", "as a bound, every draw"))
    assert all(len(row) == len(told.table["columns"]) for row in told.table["rows"])
    assert len(told.charts) == (2 if id == "fig4" else 1)
    for chart in told.charts:
        spec = chart["spec"]
        altair.LayerChart.from_dict(spec)
        assert chart["title"] and chart["description"]
        assert "background" not in spec and "config" not in spec and "#" not in json.dumps(spec["layer"])
        rows = [row for table in spec["datasets"].values() for row in table]
        assert {row["curve"] for row in rows} >= {"measured", "as fitted", "as stated", "as a bound"}
        measured = [row for row in rows if row["curve"] == "measured"]
        assert all(row["cell"] and row["seeds"] and np.isfinite(row["y"]) for row in measured)
        assert all(row["low"] <= row["y"] <= row["high"] for row in measured)


def test_figure_6_refutes_that_the_margin_falls_linearly():
    claim = next(c for c in load(fig6.__file__) if c.id == "fig6.linear")
    [(_, finding)] = run_jobs([Job(claim, Settings(), judge(claim, Settings()))])
    assert finding.outcome is Outcome.REFUTED and finding.violations == finding.instances == 8
    assert claim.expect == "refuted" and claim.erratum


def test_the_token_table_is_found_without_importing_its_package():
    if importlib.util.find_spec("wordllama") is None:
        pytest.skip("wordllama is not installed: pip install wordllama")
    assert fig12.table().suffix == ".safetensors" and "wordllama" not in sys.modules
    told = reduced("wordllama")
    assert told.attributes["r2_fitted"] < 0.95
    assert {"r2_fitted_isotropic", "signal_isotropic"} <= told.attributes.keys()
    assert len(told.charts) == 2


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(HebbcheckError, match="pip install wordllama"):
        fig12.wordllama.measure(Settings(), {"replicate": 0, "seed": 0})
    assert not fig12.wordllama.available

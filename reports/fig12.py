"""Figure 12 in its manner, on rows of a language model's token embeddings: the table that wordllama ships."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import sqrt
from hebbcheck.arrays import Streams
from hebbcheck.errors import HebbcheckError
from hebbcheck.figure import Figure, Summary
from hebbcheck.report.numbers import percent
from hebbcheck.settings import Settings

from .answers import Question, combine, summarise
from .forms import BOTH_FITTED, BOTH_OPEN, BOTH_STATED, ISOTROPIC
from .sweep import REPLICATES, Sweep, log_spaced, seeds_of

PACKAGE = "wordllama"
SEEDS = 5
RAW_REPLICATES = 32
"""More than elsewhere: norms from 0.4 to 38 make the R² of raw rows vary widely."""
WIDTH = 256


def table() -> Path:
    """The file of the token table, found without importing the package.  HebbcheckError where it is missing."""
    spec = importlib.util.find_spec(PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    files = sorted(file for folder in folders for file in Path(folder).rglob("*.safetensors"))
    if not files:
        raise HebbcheckError(
            f"the token table of {PACKAGE} is not installed; this figure reads it; try pip install {PACKAGE}"
        )
    return files[0]


def _family(normalize: bool):
    def family(F: float):
        rows = geo.file(table(), normalize=normalize)
        return geo.facts(keys=rows, values=rows, memory="bilinear", mapping="identity")

    return family


def _sweep(normalize: bool) -> Sweep:
    statistics = ("K_diag_min", "V_min", "E_K", "E_v", "kappa")
    return Sweep("F", log_spaced(4, 128, 15), {"d": WIDTH, "m": WIDTH}, _family(normalize), statistics)


def _arbitrary(sweep: Sweep, rows: str) -> Question:
    return Question(
        title=f"Rows {rows}, arbitrary form",
        sweep=sweep,
        fitted=BOTH_FITTED,
        stated=BOTH_STATED,
        bounding=BOTH_OPEN,
        abscissa=("√(E_K E_v) κ", lambda x: np.sqrt(x["E_K"] * x["E_v"]) * x["kappa"]),
        deficit=lambda x: x["K_diag_min"] * x["V_min"] - x["gamma_min"],
        predicted=1.0,
    )


def _isotropic(sweep: Sweep, rows: str) -> Question:
    return Question(
        title=f"Rows {rows}, isotropic form",
        sweep=sweep,
        fitted=ISOTROPIC,
        stated=ISOTROPIC,
        bounding=ISOTROPIC,
        abscissa=("facts F", lambda x: x["F"]),
        deficit=lambda x: 1 - x["gamma_min"],
        predicted=0.5,
    )


RAW, UNIT = _sweep(normalize=False), _sweep(normalize=True)
IN_ITS_MANNER = (
    "The paper's figure shows hidden states of Qwen3-0.6B with d = m = 1024 and, in its release, optimised codes; "
    "here the rows are token embeddings, and the codes are the values."
)


def _figure(id: str, title: str, rows: str, sweep: Sweep, replicates: int) -> Figure:
    questions = {"": _arbitrary(sweep, rows), "_isotropic": _isotropic(sweep, rows)}

    def cells(settings: Settings) -> list[dict]:
        return seeds_of(replicates, SEEDS)

    def measure(settings: Settings, params: dict) -> dict:
        return sweep.measure(Streams(settings.seed, id, params["replicate"], params["seed"]), settings.arrays)

    def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
        told = combine(
            [(suffix, q.title, summarise(q, cells, results, [])) for suffix, q in questions.items()]
        )
        broken = np.mean(sweep.columns(results)["V_min"] < 0)
        told.notes[:0] = [
            IN_ITS_MANNER,
            f"Equation 44 assumes <v_i - v_j, v_i> of at least 0; {percent(float(broken))} of the draws break it. "
            "The isotropic form is stated for vectors of norm one.",
        ]
        return told

    return Figure(
        id=id,
        title=title,
        source="Figure 12, Section A.5.3",
        caption=(
            "The margin sweep of Figure 12 with the token table of the package wordllama (32 000 rows of 256 numbers) "
            f"in place of hidden states: random rows as keys and as values, {rows}; d = m = 256, 15 numbers of facts "
            "from 4 to 128, five seeds a replicate."
        ),
        cells=cells,
        measure=measure,
        summarise=report,
        package=PACKAGE,
    )


wordllama = _figure("wordllama", "Margin on token embeddings", "as they are", RAW, RAW_REPLICATES)
wordllama_unit = _figure(
    "wordllama_unit", "Margin on token embeddings of norm one", "scaled to norm one", UNIT, REPLICATES
)

if wordllama.available:

    @hc.claim(
        "wordllama.r2",
        over=geo.figure("wordllama"),
        source="Figure 12, left",
        title="The margin on token embeddings follows the composite cross-talk",
        expect="refuted",
        erratum="On the token embeddings of another model the fitted form has an R² of 0.8 to 0.9 on average.",
    )
    def wordllama_r2(fig):
        """The fitted form with K_diag_min V_min and √(E_K E_v) κ has R² of at least 0.95 on embeddings."""
        return hc.at_least(fig.r2_fitted, 0.95)

    @hc.claim(
        "wordllama.r2_isotropic",
        over=geo.figure("wordllama"),
        source="Figure 12, right",
        title="The margin on token embeddings follows the isotropic scaling",
        expect="refuted",
        erratum="On the token embeddings of another model the isotropic form has an R² of 0.8 to 0.9 on average.",
    )
    def wordllama_r2_isotropic(fig):
        """The isotropic scaling, fitted, has R² of at least 0.95 on a model's embeddings."""
        return hc.at_least(fig.r2_fitted_isotropic, 0.95)

    token_rows = geo.facts(
        keys=geo.file(table()), values=geo.file(table()), F=(3, 128), m=(8, 512), memory="bilinear"
    )

    @hc.claim(
        "wordllama.eq6",
        over=token_rows,
        source="Equation 6, on token embeddings",
        title="The margin is signal plus cross-talk, on token embeddings",
        needs=["eq6"],
    )
    def wordllama_decomposition(x):
        r"\gamma_{ij} = s_{ij} + z_{ij}"
        return hc.equal(x.margins, x.signal + x.crosstalk)

    @hc.claim(
        "wordllama.B.25",
        over=token_rows,
        source="Theorem B.25, on token embeddings",
        title="The margin bounds, on token embeddings of norm one",
        needs=["B.25.absorbed", "B.25"],
    )
    def wordllama_margin(x):
        r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - \sqrt{E_K E_v}\, \kappa, \quad
        \gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - K_{\max}^{\mathrm{off}} V_{\max}
        - \sqrt{\tilde E_K \tilde E_v}\, \tilde\kappa"""
        signal = x.K_diag_min * x.V_min
        return [
            hc.at_least(x.gamma_min, signal - sqrt(x.E_K) * sqrt(x.E_v) * x.kappa),
            hc.at_least(
                x.gamma_min,
                signal - x.K_off_max * x.V_max - sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde,
            ),
        ]

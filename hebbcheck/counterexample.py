"""Counterexamples as files: numpy archives without pickles, that can be loaded and recomputed anywhere."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .claim import Claim
from .errors import HebbcheckError
from .evaluation import Decision, as_computed, decide, evaluate
from .instance import Raw
from .settings import Settings

FORMAT = "hebbcheck counterexample 1"


@dataclass(frozen=True)
class Counterexample:
    """An instance that breaks a claim: what it is made from, the claim's id and file, how it was computed."""

    raw: Raw
    claim: str
    origin: str
    settings: dict[str, Any]
    kind: str


def save(folder: Path, claim: Claim, settings: Settings, kind: str, raw_json: dict) -> Path:
    """Write one counterexample; `kind` is "smallest" or "worst".  The name is the claim's id and the kind."""
    raw = Raw.from_json(raw_json)
    header = {
        "format": FORMAT,
        "claim": claim.id,
        "origin": claim.module if claim.module.startswith("hebbcheck.") else claim.file,
        "settings": settings.as_dict(),
        "kind": kind,
        "numbers": raw.numbers,
        "memory": raw.memory,
        "unit": sorted(raw.unit),
        "spanned": raw.spanned,
    }
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.+-]", "_", f"{claim.id}.{settings.backend}-{settings.dtype}.{settings.seed}.{kind}")
    path = folder / f"{name}.npz"
    arrays = {f"array_{key}": array for key, array in raw.arrays.items()}
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    return path


def load(path: Path) -> Counterexample:
    """Read a counterexample.  Raises HebbcheckError for anything that is none."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name[6:]: archive[name] for name in archive.files if name.startswith("array_")}
        if header["format"] != FORMAT:
            raise KeyError("format")
        raw = Raw(header["numbers"], arrays, header["memory"], frozenset(header["unit"]), header["spanned"])
        return Counterexample(raw, header["claim"], header["origin"], header["settings"], header["kind"])
    except OSError as error:
        reason = error.strerror or "it is no numpy archive"
        raise HebbcheckError(
            f"{path} cannot be read ({reason}); a counterexample file (.npz) is needed"
        ) from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, AttributeError):
        raise HebbcheckError(
            f"{path} is no counterexample file; one that hebbcheck verify wrote is needed (.hebbcheck/counterexamples)"
        ) from None


@dataclass(frozen=True)
class Replay:
    """What recomputing a counterexample gave."""

    measured: float
    bound: float
    ratio: float
    decision: Decision
    broken: bool


def replay(example: Counterexample, claim: Claim) -> Replay:
    """Recompute the claim on the instance, in floating point and exactly where that is possible."""
    settings = Settings(**example.settings)
    value = evaluate(claim, claim.family.build(example.raw, settings.arrays), {})
    if not value.defined or not all(value.met.values()):
        return Replay(float("nan"), float("nan"), float("nan"), Decision.UNMET, False)
    small = example.raw.entries <= 4000
    decision = decide(claim, as_computed(example.raw, settings.arrays), {}) if small else Decision.FLOAT_ONLY
    exact = decision in (Decision.VIOLATED, Decision.HOLDS)
    broken = decision is Decision.VIOLATED if exact else value.slack < 0
    return Replay(value.measured, value.bound, value.ratio, decision, broken)

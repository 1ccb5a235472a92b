"""Counterexamples as files: numpy archives without pickles, that can be loaded and recomputed anywhere."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .claim import Claim
from .errors import HebbcheckError
from .evaluation import MOST_EXACT, Decision, as_computed, decide, evaluate
from .inputs import Raw
from .rounding import Excess, excess
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
    """Write one counterexample; `kind` is "smallest" or "worst".  Its name: the claim's id, the settings, the kind."""
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
    how = f"{settings.profile}.{settings.backend}-{settings.dtype}.{settings.seed}"
    path = folder / f"{_word(claim.id)}.{how}.{kind}.npz"
    arrays: dict[str, Any] = {f"array_{key}": array for key, array in raw.arrays.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(path, header=np.array(json.dumps(header)), **arrays)
    except OSError as error:
        raise HebbcheckError(
            f"{path} cannot be written ({error.strerror}); counterexamples are kept there; try another folder"
        ) from None
    return path


def _word(id: str) -> str:
    """An id as a part of a file's name; different ids give different names."""
    word = re.sub(r"[^\w.+-]", "_", id)[:80]
    return word if word == id else f"{word}-{hashlib.sha256(id.encode()).hexdigest()[:8]}"


def load(path: Path) -> Counterexample:
    """Read a counterexample.  Raises HebbcheckError for anything that is none."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name[6:]: archive[name] for name in archive.files if name.startswith("array_")}
        return _parsed(header, arrays)
    except FileNotFoundError:
        raise HebbcheckError(
            f"{path} does not exist; a counterexample file (.npz) is needed; see .hebbcheck/counterexamples"
        ) from None
    except Exception:  # what numpy and json raise on damaged files ranges from MemoryError to TokenError
        raise HebbcheckError(
            f"{path} is no counterexample file; one that hebbcheck verify wrote is needed; "
            "see .hebbcheck/counterexamples"
        ) from None


def _parsed(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Counterexample:
    """The counterexample of a file's parts, each of the type that it must have."""
    if header["format"] != FORMAT:
        raise ValueError("another format")
    Settings(**header["settings"])
    numbers = {str(name): value for name, value in header["numbers"].items() if math.isfinite(value)}
    texts = [header[name] for name in ("memory", "claim", "origin", "kind")]
    if not all(isinstance(text, str) for text in texts) or any(
        a.dtype.kind not in "fiu" for a in arrays.values()
    ):
        raise TypeError("a part of another type")
    raw = Raw(numbers, arrays, header["memory"], frozenset(header["unit"]), bool(header["spanned"]))
    return Counterexample(raw, header["claim"], header["origin"], header["settings"], header["kind"])


def sides(claim: Claim, raw_json: dict, settings: Settings) -> dict[str, float]:
    """{"measured", "bound"} on a counterexample, as computed; of a claim with open constants, nothing."""
    if claim.constants:
        return {}
    value = evaluate(claim, claim.family.build(Raw.from_json(raw_json), settings.arrays), {})
    return {"measured": float(value.measured), "bound": float(value.bound)}


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
    settings, raw = Settings(**example.settings), example.raw
    value = evaluate(claim, claim.family.build(raw, settings.arrays), {})
    if not value.defined or not all(value.met.values()):
        return Replay(math.nan, math.nan, math.nan, Decision.UNMET, False)
    decision = Decision.FLOAT_ONLY
    if raw.entries <= MOST_EXACT:
        decision = decide(claim, as_computed(raw, settings.arrays), {})
    if decision is Decision.FLOAT_ONLY:
        broken = value.slack < 0 and excess(claim, raw, value, {}, settings.arrays) >= Excess.BEYOND
    else:
        broken = decision is Decision.VIOLATED
    return Replay(value.measured, value.bound, value.ratio, decision, broken)

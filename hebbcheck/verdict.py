"""What a claim got: one record per claim and run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    PROVED = "proved"
    HELD = "held"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


HOLDS = frozenset({Outcome.PROVED, Outcome.HELD, Outcome.SUPPORTED})


class Quantifier(StrEnum):
    IDENTITY = "identity"
    FOR_ALL = "for all"
    EXPECTATION = "expectation"
    PROBABILITY = "probability >= 1 - delta"
    CONSTANTS = "absolute constants"
    RATE = "rate"
    REPORTED = "as reported"


@dataclass
class Finding:
    """What a judge says of a claim, before it is compared with what was expected.

    `reason`: one sentence; the record gives it its capital letter and its full stop (`as_sentence`).
    `tightness`: {"ratio": smallest relative slack, "instance": text}. `assumptions`: {name: {"share_met", "needed"}}.
    `counterexamples`: raw instances as dicts (see `instance.Raw`), under "smallest" and "worst".
    `failures`: of a statement in probability, the worst cell's {"failures", "trials", "low", "high", "allowed",
    "cell"}.
    `smallest_sizes`: of a statement that speaks of no size within reach, the smallest {size: value} that it speaks of.
    `arithmetic`: "exact" or "float only".  `points`: measured against bound, each {"measured", "bound", **cell}.
    """

    outcome: Outcome
    reason: str
    instances: int = 0
    undefined: int = 0
    violations: int = 0
    constants: dict[str, dict[str, float]] = field(default_factory=dict)
    exponents: dict[str, dict[str, float]] = field(default_factory=dict)
    r2: dict[str, float | None] = field(default_factory=lambda: {"fitted": None, "stated": None})
    tightness: dict[str, Any] = field(default_factory=lambda: {"ratio": None, "instance": None})
    assumptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    counterexamples: dict[str, dict] = field(default_factory=dict)
    proof: list[dict[str, str]] | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, Any] | None = None
    arithmetic: str | None = None
    notes: list[str] = field(default_factory=list)
    smallest_sizes: dict[str, Any] | None = None


def passed(outcome: str, expected: str) -> bool:
    """Whether a verdict is the one that was expected: `inconclusive` and `error` never are."""
    if outcome in (Outcome.INCONCLUSIVE, Outcome.ERROR):
        return False
    return outcome in HOLDS if expected == "holds" else outcome == expected


NUMBER = {"type": ["number", "null"]}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "hebbcheck verdict",
    "type": "object",
    "additionalProperties": True,
    "properties": {
        "id": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "source": {"type": ["string", "null"]},
        "quantifier": {"enum": [q.value for q in Quantifier]},
        "verdict": {"enum": [o.value for o in Outcome]},
        "expected": {"enum": ["holds", "refuted", "vacuous"]},
        "passed": {"type": "boolean"},
        "instances": {"type": "integer", "minimum": 0},
        "undefined": {"type": "integer", "minimum": 0},
        "violations": {"type": "integer", "minimum": 0},
        "constants": {"type": "object"},
        "exponents": {"type": "object"},
        "r2": {"type": "object", "properties": {"fitted": NUMBER, "stated": NUMBER}},
        "tightness": {"type": "object"},
        "assumptions": {"type": "object"},
        "counterexample": {"type": ["string", "null"]},
        "proof": {"type": ["array", "null"]},
        "seconds": {"type": "number", "minimum": 0},
        "backend": {"type": "string"},
        "device": {"type": "string"},
        "dtype": {"type": "string"},
        "profile": {"type": "string"},
        "seed": {"type": "integer"},
        "versions": {"type": "object"},
        "reason": {"type": "string"},
    },
}
SCHEMA["required"] = list(SCHEMA["properties"])


def as_sentence(reason: str) -> str:
    """The reason with a full stop, and with a capital letter where it begins with a word and not with a symbol."""
    first, blank, rest = reason.strip().partition(" ")
    if first.isalpha() and (len(first) > 1 or first == "a"):
        first = first[0].upper() + first[1:]
    sentence = first + blank + rest
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def nothing_judged(what: str, undefined: int, assumptions: dict) -> str:
    """Why there is no evidence, where every draw (`what` it is called) missed the assumptions or was undefined."""
    if assumptions:
        return f"No {what} met the assumptions ({undefined} were undefined)."
    return f"The relation was undefined (NaN, or a division by zero) on each {what} of {undefined}."


def strict_json(value: Any) -> Any:
    """The value with infinities and NaN as null and everything else as JSON has it."""
    if isinstance(value, dict):
        return {str(k): strict_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [strict_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

"""Whether a claim is declared as it must be; each complaint is one line that names the claim and says what to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING

from .errors import HebbcheckError

if TYPE_CHECKING:
    from .claim import Claim

EXPECTATIONS = ("holds", "refuted", "vacuous")
PROFILES = ("quick", "standard", "paper")


def check_declaration(made: Claim) -> None:
    """Raises HebbcheckError for the first thing that is wrong with a declared claim."""
    for check in (_id, _family, _function, _texts, _expectation, _given, _probability, _proof_and_needs):
        for observed, advice in check(made):
            where = f" (line {made.line})" if made.line else ""
            raise HebbcheckError(f"claim {made.id!r}{where}: {observed}; {advice}")


Complaints = list[tuple[str, str]]


def _id(made: Claim) -> Complaints:
    if isinstance(made.id, str) and made.id and not any(c.isspace() for c in made.id):
        return []
    return [("the id is no word", 'a text without blanks is needed; try "my.theorem"')]


def _family(made: Claim) -> Complaints:
    needed = ("draw", "raw", "strategy", "probes", "fingerprint")
    if isinstance(made.family, type) or not all(hasattr(made.family, name) for name in needed):
        return [("over= is no family of instances", "one is needed; try over=geo.facts()")]
    return []


def _function(made: Claim) -> Complaints:
    if not inspect.isfunction(made.function):
        return [
            (
                f"a {type(made.function).__name__} is declared",
                "a function of one instance is needed; try def f(x)",
            )
        ]
    parameters = list(inspect.signature(made.function).parameters.values())
    usual = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return [("the function takes * or ** arguments", "constants must be named; try def f(x, *, C)")]
    if sum(p.kind in usual for p in parameters) != 1:
        return [("the function must take one instance", "constants are keyword-only; try def f(x, *, C)")]
    fixed = [p.name for p in parameters if p.default is not p.empty]
    if fixed:
        return [(f"{fixed[0]} has a default", "constants are found, not given; leave the default out")]
    return []


def _texts(made: Claim) -> Complaints:
    for name in ("title", "source", "erratum"):
        if not isinstance(getattr(made, name), str | None):
            return [
                (f"{name}= is a {type(getattr(made, name)).__name__}", f'a text is needed; try {name}="..."')
            ]
    return []


def _expectation(made: Claim) -> Complaints:
    by_profile = made.expect if isinstance(made.expect, dict) else dict.fromkeys(PROFILES, made.expect)
    for profile, expected in by_profile.items():
        if profile not in PROFILES:
            return [(f"expect= names a profile {profile!r}", f"use {', '.join(PROFILES)}")]
        if expected not in EXPECTATIONS:
            return [(f"expect={expected!r} is unknown", f"use one of {', '.join(EXPECTATIONS)}")]
    if "refuted" in by_profile.values() and not made.erratum:
        return [
            ('expect="refuted" needs an erratum', 'say in a sentence what is wrong as printed: erratum="..."')
        ]
    return []


def _given(made: Claim) -> Complaints:
    good = isinstance(made.given, dict) and all(
        isinstance(name, str) and callable(test) for name, test in made.given.items()
    )
    if not good:
        return [("given= must map names to functions of an instance", 'try {"d >= 2": lambda x: x.d >= 2}')]
    return [fault for name, test in made.given.items() for fault in _call(made, f"given= {name!r}", test)]


def _probability(made: Claim) -> Complaints:
    bound = made.fails_at_most
    if bound == "delta" and "delta" not in getattr(made.family, "sizes", ("delta",)):
        return [
            (
                'fails_at_most="delta", but the family draws no delta',
                "give it one: delta=[0.5, 0.1], or a number",
            )
        ]
    if bound is None or bound == "delta":
        return []
    if callable(bound):
        return _call(made, "fails_at_most=", bound)
    if isinstance(bound, bool) or not isinstance(bound, Real):
        return [(f"fails_at_most={bound!r} is unknown", 'use "delta", a number or a function of the sizes')]
    if not 0 <= float(bound) <= 1:
        return [(f"fails_at_most={bound!r} is no probability", "use a number from 0 to 1")]
    return []


def _call(made: Claim, what: str, function: Callable) -> Complaints:
    """A function of an instance, and of constants of the claim."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [(f"the function of {what} has no signature", "wrap it: lambda x: ...")]
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        return [(f"the function of {what} takes no instance", "try lambda x: ...")]
    strange = [p.name for p in parameters[1:] if p.default is p.empty and p.name not in made.constants]
    if strange:
        return [
            (
                f"the function of {what} takes {strange[0]}",
                "beside the instance it may take the claim's constants",
            )
        ]
    return []


def _proof_and_needs(made: Claim) -> Complaints:
    if made.proof is not None and not callable(made.proof) and not isinstance(made.proof, list):
        return [
            ("proof= is neither a function nor a list", "steps are needed; try [(name, expression), ...]")
        ]
    if not all(isinstance(need, str) for need in made.needs):
        return [("needs= must name claims", 'ids are needed; try needs=["B.16"]')]
    return []

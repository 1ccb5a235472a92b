"""The sentences of a verdict on constants."""

from __future__ import annotations

import math
from typing import Any

from .build import power_of_two
from .rule import FLAT_LEVEL, RISING, HeldOut, Standing, State, Unbounded

DECIDES = 2.0**200
IN_LOGARITHMS = ("F", "joint")
"""Ladders along which growth is judged in log L: in F it is told from none only beyond sqrt(log F)."""
SLOW = 0.25
"""Exponents of log L above this, at 95%, are said though they do not refute."""


def point_text(point: dict) -> str:
    return ", ".join(f"{name} = {power_of_two(value)}" for name, value in point.items())


def smallest_sizes(smallest: dict[str, Any] | None) -> str:
    """Where a region begins that no draw can reach (`Region.far_corner`)."""
    if smallest is None:
        return "no sizes up to 2^60 meet the assumptions"
    return f"the smallest sizes that meet the assumptions are {point_text(smallest)}, out of reach at this profile"


def number(value: float) -> str:
    return f"{value:.3g}"


def exponent_text(s: Standing, level: float) -> str:
    """As in "like d^0.502 (0.48 to 0.52)"."""
    assert s.growth is not None
    slope = s.growth.slope if s.ladder.kind == "tail" else s.growth.in_size
    interval = f"{number(slope.low(level))} to {number(slope.high(level))}"
    base = "L" if s.ladder.kind == "tail" else s.ladder.moves[0]
    return f"{base}^{number(slope.value)} ({interval})"


def refuted(s: Standing, names: str, level: float) -> str:
    assert s.growth is not None
    return (
        f"no constant suffices: the needed {names} grows like {exponent_text(s, level)} along {s.ladder.name}, "
        f"to {number(math.exp(s.growth.top[0]))} there, without levelling off"
    )


def unbounded(cell: Unbounded, names: str) -> str:
    return (
        f"no constant suffices: at {point_text(cell.point)} the relation failed whatever {names} was "
        f"in {cell.failures} of {cell.trials} draws"
    )


def undecided(s: Standing, names: str) -> str:
    """Why a ladder decides nothing, and the scale that would."""
    assert s.growth is not None
    beginning = f"along {s.ladder.name} the needed {names} goes like {exponent_text(s, FLAT_LEVEL)}"
    if s.state is State.RISING:
        return f"{beginning}, but stays below what smaller sizes need anyway; {_scale(s)} would decide"
    if s.state is State.RISING_OR_NOT:
        return f"{beginning}, and may be levelling off; {_scale(s)} would decide"
    return f"{beginning}, which is neither growth nor its absence; {_draws(s)} would decide"


def _scale(s: Standing) -> str:
    """The size at which growth as at the top would pass the plateau, or the ladder's square."""
    assert s.growth is not None
    lead = s.ladder.moves[0]
    top = s.ladder.log_sizes[-1]
    b = s.growth.in_size.value
    further = (s.plateau - s.growth.top[0]) / b if b > 0 else 0.0
    further = max(further, top - s.ladder.log_sizes[0])
    if s.ladder.kind == "tail":
        return f"failure probabilities down to {math.exp(-top - min(further, 40)):.0e}"
    if top + further > math.log(DECIDES):
        return f"{lead} beyond 2^200"
    return f"{lead} up to about 2^{math.ceil((top + further) / math.log(2))}"


def _draws(s: Standing) -> str:
    """How many times as many draws bring the error of the exponent below a quarter of the threshold."""
    assert s.growth is not None
    target = RISING[s.ladder.kind] / 4
    factor = (s.growth.slope.error / target) ** 2
    return f"about {math.ceil(factor)} times as many draws" if factor > 1.5 else _scale(s)


def held_out_failed(test: HeldOut, names: str) -> str:
    assert test.worst is not None
    return (
        f"calibrated on the smaller sizes, {names} = {number(test.constant)} does not cover the larger ones along "
        f"{test.worst.ladder.name}: 1.4 times it failed in {test.failures} of {test.trials} draws, "
        f"{number(test.allowed)} allowed; longer ladders would decide"
    )


def _ladders(count: int) -> str:
    return f"{count} ladder{'s' * (count > 1)}"


def unseen(standings: list[Standing], varying: list[str]) -> str:
    """What the ladders say nothing of: roots of logarithms, small powers of parameters, parameters not climbed."""
    climbed = {n for s in standings for n in s.ladder.moves}
    coarse = sorted({n for s in standings if s.ladder.kind == "parameter" for n in s.ladder.moves})
    held = [n for n in varying if n not in climbed]
    said = [f"powers of {n} below {RISING['parameter']:g} are not seen" for n in coarse]
    counts = sorted({s.ladder.moves[0] for s in standings if s.ladder.kind == "F"})
    said = [*(f"growth like sqrt(log {n}) is not told from none" for n in counts), *said]
    if held:
        said.append(f"{' and '.join(held)} {'were' if len(held) > 1 else 'was'} not varied")
    return "".join(f"; {words}" for words in said)


def supported(standings: list[Standing], names: str, constant: dict[str, float]) -> str:
    told = [s.ladder for s in standings if s.growth is not None and not s.climb.is_tail]
    if not told:
        return f"the relation held whatever {names} was on {_ladders(len(standings))}: no constant is needed"
    sizes = sorted({n for ladder in told for n in ladder.moves})
    tops = {n: max(ladder.rungs[-1][n] for ladder in told if n in ladder.moves) for n in sizes}
    reach = ", ".join(f"{n} = {power_of_two(v)}" for n, v in tops.items())
    return (
        f"one constant serves all sizes: {names} = {number(constant['value'])} ({number(constant['low'])} to "
        f"{number(constant['high'])}) suffices on {_ladders(len(standings))} up to {reach}, and it grows by no power "
        f"of a size{_slow_growth(standings)}"
    )


def _slow_growth(standings: list[Standing]) -> str:
    """The ladder in F along which the needed constant grows most, where that may be a root of a logarithm."""
    slow = [s for s in standings if s.ladder.kind in IN_LOGARITHMS and s.growth]
    slow = [s for s in slow if s.growth and s.growth.slope.low(FLAT_LEVEL) > SLOW]
    if not slow:
        return ""
    most = max(slow, key=lambda s: s.growth.slope.value if s.growth else 0.0)
    return f" (along {most.ladder.name} it goes like {exponent_text(most, FLAT_LEVEL)})"

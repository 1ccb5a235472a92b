"""Which cells a statement in probability is judged on: sizes spread over the region, for each failure probability.

Cells are chosen from the sizes alone, before anything is drawn.  The allowed probabilities are put in a few
groups (each value of delta, or thirds of their range), and in each group sizes are chosen far apart from each
other among those that the profile's time affords; in the group where a draw says most the largest of these are among
them, and every value that the claim's author listed.  What is left out the verdict says (`reach`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Streams
from ..claim import Claim
from ..drawn import Sizes
from ..errors import HebbcheckError
from ..settings import Settings

CANDIDATES = 1000
CHOSEN = (0.01, 0.9)
"""Allowed failure probabilities that are judged: below, draws see nothing, above, there is nothing to see."""
GROUPS = 4
"""Up to so many different allowed probabilities are groups of their own."""
SIZES = 8
"""How many sizes the groups share where nothing is chosen by an adversary."""
PILOTS = (64, 200)
"""The most cells that pilot draws are made in, quick and standard."""
SCARCE = 0.05
"""Below this allowed probability a cell takes so many draws that quick judges one."""
DRAWS = 12
"""The draws of a cell, times what it allows: what most cells take that fail seldom enough."""
SECONDS, SECONDS_OF_LARGEST, SECONDS_OF_LISTED = (0.4, 4.0), (2.0, 8.0), (10.0, 60.0)
"""The most seconds, quick and standard, for the draws of a cell, of the largest one, of one with a listed value.

Each choice of an adversary's has pilot draws of its own: the largest cell's seconds are shared among them.
"""

Cell = dict[str, Any]
"""{"numbers": sizes, "choice": an adversary's, "allowed": failure probability}."""


def groups_of_cells(claim: Claim, settings: Settings) -> tuple[list[list[Cell]], float]:
    """(groups of cells, the smallest failure probability that the statement allows anywhere)."""
    rng = Streams("cells", claim.id, settings.seed)("sizes")
    sampled = (claim.family.sample_sizes(rng, settings.profile) for _ in range(CANDIDATES))
    candidates, least = allowed_cells(claim, sampled)
    groups = _grouped(candidates)
    choices = claim.family.choices
    count = max(2, SIZES // max(len(groups), 1)) if len(choices) == 1 else 2
    usual, most = settings.by_profile(*SECONDS), settings.by_profile(*SECONDS_OF_LARGEST)
    sizes = [_apart(_affordable(group, usual), rng, count) for group in groups[:-1]]
    for group in groups[-1:]:
        affordable = _affordable(group, max(usual, most / len(choices)))
        sizes.append(_apart(affordable, rng, count, largest=True))
        sizes[-1] += _listed_elsewhere(claim, candidates, sizes, settings)
    share = max(1, math.ceil(len(choices) * sum(map(len, sizes)) / settings.by_profile(*PILOTS)))
    turn = itertools.count()
    return [
        [{**cell, "choice": c} for cell in group for c in choices[next(turn) % share :: share]]
        for group in sizes
    ], least


def allowed_cells(claim: Claim, numbers: Iterable[dict[str, float]]) -> tuple[list[Cell], float]:
    """Those of the sizes at which the claim's assumptions may hold and it allows less than certain failure."""
    cells: list[Cell] = []
    least = math.inf
    for sizes in numbers:
        view = claim.family.sizes_at(sizes)
        try:
            allowed = claim.allowed_failure(view)
        except ZeroDivisionError:
            continue
        if math.isnan(allowed) or allowed < 0:
            raise HebbcheckError(
                f"fails_at_most of {claim.id!r} is {allowed} at {sizes}; a probability is needed; try min(1, ...)"
            )
        least = min(least, allowed)
        if allowed < 1 and in_region(claim, view):
            cells.append({"numbers": sizes, "allowed": allowed})
    judged = [cell for cell in cells if CHOSEN[0] <= cell["allowed"] <= CHOSEN[1]]
    return judged if judged and callable(claim.fails_at_most) else cells, least


def in_region(claim: Claim, sizes: Sizes) -> bool:
    """Whether the assumptions that the sizes alone decide are met; those on drawn quantities are decided later."""
    for test in claim.given.values():
        try:
            if not claim.call(test, sizes):
                return False
        except HebbcheckError:
            continue
        except ZeroDivisionError:
            return False
    return True


def seconds_a_draw(numbers: dict[str, float]) -> float:
    """Roughly: the fixed cost of a draw, normal numbers, passes over F x F arrays, and matrix products."""
    F, d, m = (float(numbers.get(name, 1)) for name in ("F", "d", "m"))
    products = 2 * F * F * (m + 4 * d) + 4 * F * m * d
    return 7e-4 + 1e-8 * 2 * d * (F + m) + 2.5e-7 * F * F + products / 1.5e10


def _seconds(cell: Cell) -> float:
    """Roughly, for all draws of a cell."""
    return DRAWS / max(cell["allowed"], SCARCE / 3) * seconds_a_draw(cell["numbers"])


def _affordable(group: list[Cell], seconds: float) -> list[Cell]:
    """The cells whose draws take no longer, else the four cheapest, by cost."""
    ordered = sorted(group, key=_seconds)
    limit = 2 * seconds if scarce(group) else seconds
    return [cell for cell in ordered if _seconds(cell) <= limit] or ordered[:4]


def _listed_elsewhere(
    claim: Claim, candidates: list[Cell], chosen: list[list[Cell]], settings: Settings
) -> list[Cell]:
    """For each value of a listed size that no chosen cell has, the cheapest cell that has it, where time allows it."""
    more: list[Cell] = []
    limit = settings.by_profile(*SECONDS_OF_LISTED)
    for name, size in claim.family.sizes.items():
        for value in size.listed or []:
            if name == "delta" or any(
                c["numbers"][name] == value for group in [*chosen, more] for c in group
            ):
                continue
            having = [cell for cell in candidates if cell["numbers"][name] == value]
            if having and _seconds(cheapest := min(having, key=_seconds)) <= limit:
                more.append(cheapest)
    return more


def reach(claim: Claim, cells: list[Cell], settings: Settings) -> tuple[str, str]:
    """The sizes that cells have, and which of those that the claim speaks of none has."""
    held, missing = [], []
    for name, size in claim.family.sizes.items():
        have = sorted({cell["numbers"][name] for cell in cells})
        low, high = size.bounds(settings.profile)
        if low == high or name == "delta":
            continue
        held.append(
            f"{name} from {have[0]:.4g} to {have[-1]:.4g}"
            if have[0] < have[-1]
            else f"{name} = {have[0]:.4g}"
        )
        if size.listed is not None:
            without = [value for value in size.listed if value not in have]
            missing += [f"{name} = {' and '.join(f'{value:.4g}' for value in without)}"] if without else []
        elif size.integer and 2 * have[-1] <= high:
            missing.append(f"{name} beyond {have[-1]:.4g} (of {high:.4g})")
    return ", ".join(held), ", ".join(missing)


def scarce(group: list[Cell]) -> bool:
    """Whether failures are allowed so seldom that a cell takes very many draws."""
    return min(cell["allowed"] for cell in group) < SCARCE


def _grouped(cells: list[Cell]) -> list[list[Cell]]:
    """Cells of equal allowed probability, or thirds of them; the smallest probabilities first."""
    values = sorted({cell["allowed"] for cell in cells})
    count = len(values) if len(values) <= GROUPS else 3
    parts = [set(part.tolist()) for part in np.array_split(values, max(count, 1))]
    return [group for part in parts if (group := [cell for cell in cells if cell["allowed"] in part])]


def _apart(cells: list[Cell], rng: np.random.Generator, count: int, largest: bool = False) -> list[Cell]:
    """Cells, cheap ones first, far apart in log size: each next one is farthest from those chosen (Gonzalez, 1985).

    The first is one at random, or the last.
    """
    cells = list({tuple(cell["numbers"].values()): cell for cell in cells}.values())
    places = np.array([[math.log(max(abs(v), 1e-9)) for v in cell["numbers"].values()] for cell in cells])
    chosen = [len(cells) - 1 if largest else int(rng.integers(len(cells)))]
    while len(chosen) < min(count, len(cells)):
        distances = np.min([np.sum((places - places[c]) ** 2, axis=1) for c in chosen], axis=0)
        chosen.append(int(np.argmax(distances)))
    return [cells[c] for c in chosen]

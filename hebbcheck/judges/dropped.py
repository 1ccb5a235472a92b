"""Whether a statement in probability needs its assumptions: failures where one of them is broken."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator

from ..arrays import Streams
from ..claim import Claim
from ..settings import LEVEL, Settings
from ..sweeps import Task
from .breaking import breaking, need
from .cell_choice import Cell, allowed_cells, seconds_a_draw
from .counting import draws_needed, limits
from .draws import MEASURE, nearest, pilot_task

SIZES = 400
CELLS = 12
FINALISTS = 2
MOST_DRAWS = 200
SECONDS_A_DRAW = 3e-3


def needed_assumptions(
    claim: Claim, settings: Settings
) -> Generator[list[Task], list[dict], dict[str, str | None]]:
    """{assumption: what the record says of it}: pilot draws pick the cells that fail most, fresh ones judge them."""
    cells = {name: list(_cells(claim, settings, name)) for name in claim.given}
    pilots = yield from _batched({n: [pilot_task(c, n) for c in group] for n, group in cells.items()})
    finalists = {
        name: nearest(list(zip(group, pilots[name], strict=True)), FINALISTS) for name, group in cells.items()
    }
    judged = yield from _batched({n: [_task(c, n) for c in group] for n, group in finalists.items()})
    return {name: _need(finalists[name], judged[name], pilots[name]) for name in claim.given}


def _batched(tasks: dict[str, list[Task]]) -> Generator[list[Task], list[dict], dict[str, list[dict]]]:
    """The results of several named groups of tasks, asked for together."""
    everything = [task for group in tasks.values() for task in group]
    results = iter((yield everything) if everything else [])
    return {name: [next(results) for _ in group] for name, group in tasks.items()}


def _cells(claim: Claim, settings: Settings, assumption: str) -> Iterator[Cell]:
    """Cheap cells whose sizes break the assumption, or leave it to the draw: usual sizes and the smallest ones."""
    rng = Streams("cells", claim.id, settings.seed, assumption)("sizes")
    family = claim.family
    sizes = [
        numbers
        for _ in range(SIZES)
        for numbers in (family.sample_sizes(rng), family.small_sizes(rng))
        if seconds_a_draw(numbers) < SECONDS_A_DRAW
    ]
    cells, _ = allowed_cells(breaking(claim, assumption), sizes)
    choices = itertools.cycle(family.choices)
    for index in rng.permutation(len(cells))[:CELLS]:
        yield {**cells[int(index)], "choice": next(choices)}


def _task(cell: Cell, assumption: str) -> Task:
    draws = min(draws_needed(cell["allowed"], LEVEL / FINALISTS), MOST_DRAWS)
    return Task(MEASURE, {**cell, "role": "judged", "first": 0, "draws": draws, "broken": assumption})


def _need(cells: list[Cell], judged: list[dict], pilots: list[dict]) -> str | None:
    low = [limits(r["failures"], r["trials"], LEVEL / FINALISTS)[0] for r in judged]
    failed = any(bound > cell["allowed"] for bound, cell in zip(low, cells, strict=True))
    return need(failed, sum(r["trials"] for r in judged + pilots))

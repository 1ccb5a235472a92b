"""Places for the nodes of a layered graph: columns by longest path, rows by barycentres, lanes for long edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

SWEEPS = 12

Needs = Mapping[str, Sequence[str]]
Node = str | tuple[str, int]
"""A claim, or a lane: (the claim whose long edges run there, the column)."""


@dataclass(frozen=True)
class Layout:
    """Where each claim stands, and the places through which the edge (need, claim) runs, its ends included.

    Places are (column, row), whole numbers from 0; no two claims or lanes share one.
    """

    places: dict[str, tuple[int, int]]
    routes: dict[tuple[str, str], list[tuple[int, int]]]


def layout(needs: Needs) -> Layout:
    """Places for claims whose needs have no cycle: what a claim needs stands in columns to its left.

    The edges that leave one claim share one lane until they branch, so that there are few lines to follow.
    """
    column = columns(needs)
    links = _links(needs, column)
    order = _ordered(links)
    rows = _rows(order, links)
    place = {node: (c, rows[node]) for c, nodes in enumerate(order) for node in nodes}
    routes = {
        (need, id): [place[stop] for stop in _path(need, id, column)]
        for id, found in needs.items()
        for need in found
    }
    return Layout({id: place[id] for id in needs}, routes)


def columns(needs: Needs) -> dict[str, int]:
    """Each claim's column: as far right as those that need it allow, and where none does, as far left as it can be."""
    first: dict[str, int] = {}
    for id in _from_the_ground_up(needs):
        first[id] = max((first[n] + 1 for n in needs[id]), default=0)
    column: dict[str, int] = {}
    for id in reversed(list(first)):
        column.setdefault(id, first[id])
        for need in needs[id]:
            column[need] = min(column.get(need, column[id]), column[id] - 1)
    return column


def _from_the_ground_up(needs: Needs) -> list[str]:
    """The claims, each after those that it needs."""
    done: dict[str, None] = {}
    for start in needs:
        stack = [start]
        while stack:
            waiting = [n for n in needs[stack[-1]] if n not in done]
            if waiting:
                stack.extend(waiting)
            else:
                done[stack.pop()] = None
    return list(done)


def without_implied(needs: Needs) -> dict[str, list[str]]:
    """The needs without those that follow from others: a claim's need that another of its needs rests on."""
    below: dict[str, set[str]] = {}
    for id in _from_the_ground_up(needs):
        below[id] = set().union(*({n} | below[n] for n in needs[id])) if needs[id] else set()
    return {id: [n for n in found if not any(n in below[o] for o in found)] for id, found in needs.items()}


def components(needs: Needs) -> list[list[str]]:
    """The connected parts, each in the order of the claims given."""
    neighbours: dict[str, set[str]] = {id: set(found) for id, found in needs.items()}
    for id, found in needs.items():
        for need in found:
            neighbours[need].add(id)
    leader: dict[str, str] = {}
    for start in needs:
        stack = [start] if start not in leader else []
        while stack:
            here = stack.pop()
            leader[here] = start
            stack.extend(n for n in neighbours[here] if n not in leader)
    groups: dict[str, list[str]] = {}
    for id in needs:
        groups.setdefault(leader[id], []).append(id)
    return list(groups.values())


def _lanes(need: str, column: Mapping[str, int], end: int) -> list[tuple[str, int]]:
    return [(need, c) for c in range(column[need] + 1, end)]


def _path(need: str, id: str, column: Mapping[str, int]) -> list[Node]:
    """The nodes that an edge passes, its ends included."""
    return [need, *_lanes(need, column, column[id]), id]


class _Links:
    """The columns' nodes, and each node's neighbours in the column before (`left`) and behind (`right`)."""

    def __init__(self, count: int) -> None:
        self.nodes: list[list[Node]] = [[] for _ in range(count)]
        self.left: dict[Node, list[Node]] = {}
        self.right: dict[Node, list[Node]] = {}

    def add(self, node: Node, column: int) -> None:
        if node not in self.left:
            self.left[node], self.right[node] = [], []
            self.nodes[column].append(node)

    def join(self, a: Node, b: Node) -> None:
        if b not in self.right[a]:
            self.right[a].append(b)
            self.left[b].append(a)


def _links(needs: Needs, column: Mapping[str, int]) -> _Links:
    links = _Links(1 + max(column.values(), default=-1))
    for id in needs:
        links.add(id, column[id])
    for id, found in needs.items():
        for need in found:
            for lane in _lanes(need, column, column[id]):
                links.add(lane, lane[1])
            for a, b in pairwise(_path(need, id, column)):
                links.join(a, b)
    return links


def _ordered(links: _Links) -> list[list[Node]]:
    """The nodes of each column from top to bottom: the order with the fewest crossings of all sweeps."""
    order = [list(nodes) for nodes in links.nodes]
    best, fewest = order, _crossings(order, links)
    for sweep in range(SWEEPS):
        order = [list(nodes) for nodes in order]
        forward = sweep % 2 == 0
        for c in range(1, len(order)) if forward else range(len(order) - 2, -1, -1):
            side, fixed = (links.left, order[c - 1]) if forward else (links.right, order[c + 1])
            place = {node: k for k, node in enumerate(fixed)}
            own = {node: k for k, node in enumerate(order[c])}
            order[c].sort(key=lambda n: _mean([place[o] for o in side[n]], own[n]))
        crossings = _crossings(order, links)
        if crossings < fewest:
            best, fewest = order, crossings
    return best


def _mean(places: list[int], otherwise: int) -> float:
    return sum(places) / len(places) if places else otherwise


def _crossings(order: list[list[Node]], links: _Links) -> int:
    total = 0
    for before, nodes in pairwise(order):
        place = {node: k for k, node in enumerate(nodes)}
        ends = [place[o] for node in before for o in sorted(links.right[node], key=place.__getitem__)]
        total += sum(a > b for k, a in enumerate(ends) for b in ends[k + 1 :])
    return total


def _rows(order: list[list[Node]], links: _Links) -> dict[Node, int]:
    """Rows in the order given, near those of the neighbours: lines run straight where they can."""
    rows: dict[Node, int] = {node: k for nodes in order for k, node in enumerate(nodes)}
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for nodes in order if forward else reversed(order):
            side = links.left if forward else links.right
            wished = [median([rows[o] for o in side[n]] or [rows[n]]) for n in nodes]
            rows.update(zip(nodes, _spaced(wished), strict=True))
    used = {row: k for k, row in enumerate(sorted(set(rows.values())))}
    return {node: used[row] for node, row in rows.items()}


def _spaced(wished: Sequence[float]) -> list[int]:
    """Whole numbers, each larger than the one before, nearest to what is wished (pooling adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for k, wish in enumerate(wished):
        total, size = wish - k, 1
        while blocks and blocks[-1][0] * size > total * blocks[-1][1]:
            before = blocks.pop()
            total, size = total + before[0], size + before[1]
        blocks.append((total, size))
    levels = [round(total / size) for total, size in blocks for _ in range(size)]
    return [level + k for k, level in enumerate(levels)]

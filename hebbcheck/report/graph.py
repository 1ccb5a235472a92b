"""The proof graph: which claim rests on which, drawn in columns; all places are computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from ..order import natural
from ..verdict import Outcome
from .address import claim_anchor
from .foundations import WORDS, Weakness, in_words, needs_of, weaknesses
from .layout import Layout, components, layout, without_implied
from .outcomes import Record, label, tone

ROW, NODE_HEIGHT, GAP, MARGIN = 30, 22, 56, 6
CHARACTER, ICON, MARK, LONGEST = 7.3, 30, 21, 22
"""Widths of a node's parts, and the most characters of an id that are shown."""


def graph_view(verdicts: Sequence[Record]) -> dict[str, Any] | None:
    """The graph of all claims that need another or are needed; None where no claim needs any."""
    known = {record["id"]: record for record in sorted(verdicts, key=lambda r: natural(r["id"]))}
    needs = needs_of(known)
    if not needs.unknown and not any(needs.direct.values()):
        return None
    drawn = needs.acyclic()
    for name, wanting in needs.unknown.items():
        for id in wanting:
            drawn[id] = [*drawn[id], name]
    drawn |= {name: [] for name in needs.unknown}
    stated = sum(map(len, drawn.values()))
    shown = without_implied(drawn)
    parts = components(shown)
    draw = _Drawing(known, shown, needs.cycles, weaknesses(known, needs))
    joined = sorted((p for p in parts if len(p) > 1), key=lambda p: (-len(p), natural(p[0])))
    alone = [known[p[0]] for p in parts if len(p) == 1]
    return {
        "parts": [draw.part(ids) for ids in joined],
        "claims": sum(id in known for ids in joined for id in ids),
        "needs": stated + len(needs.cycles),
        "implied": stated - sum(map(len, shown.values())),
        "marked": sum(bool(draw.weak.get(id)) for id in known),
        "unknown": [{"id": name, "by": wanting} for name, wanting in needs.unknown.items()],
        "cycles": needs.cycles,
        "alone": [_entry(record) for record in alone],
        "choices": _choices([known[id] for ids in joined for id in ids if id in known]),
        "legend": [o.value for o in Outcome if any(r["verdict"] == o for r in known.values())],
    }


def _entry(record: Record) -> dict[str, str]:
    return {
        "id": record["id"],
        "anchor": claim_anchor(record["id"]),
        "title": record.get("title") or "",
        "tone": tone(record),
        "outcome": record["verdict"],
        "label": label(record),
    }


def _choices(records: Sequence[Record]) -> dict[str, list[str]]:
    """The themes and the claims that a reader can choose."""
    themes = {record.get("theme") or "" for record in records} - {""}
    return {
        "theme": sorted(themes, key=natural),
        "claim": sorted((r["id"] for r in records), key=natural),
    }


class _Drawing:
    """What is common to the parts of one graph."""

    def __init__(
        self,
        known: Mapping[str, Record],
        shown: Mapping[str, Sequence[str]],
        cycles: Sequence[Sequence[str]],
        weak: Mapping[str, list[Weakness]],
    ) -> None:
        self.known, self.shown, self.cycles, self.weak = known, shown, cycles, weak
        self.resting: dict[str, list[str]] = {id: [] for id in shown}
        for id, found in shown.items():
            for need in found:
                self.resting[need].append(id)

    def part(self, ids: Sequence[str]) -> dict[str, Any]:
        """One connected part: its size, its nodes in the order of columns and rows, its edges."""
        found = layout({id: self.shown[id] for id in ids})
        grid = _Grid(found, {id: self._width(id) for id in ids})
        order = sorted(ids, key=lambda id: found.places[id])
        closing = {(c[-1], c[-2]) for c in self.cycles if c[-1] in found.places and len(c) > 2}
        edges = [self._edge(ends, route, grid) for ends, route in found.routes.items()]
        edges += [self._edge(e, [found.places[n] for n in e], grid, cycle=True) for e in sorted(closing)]
        return {
            "width": round(grid.width),
            "height": grid.height,
            "columns": [round(x, 1) for x in grid.left],
            "size": sum(id in self.known for id in ids),
            "nodes": [self._node(id, found, grid) for id in order],
            "edges": sorted(edges, key=lambda e: bool(e["tone"])),
        }

    def _width(self, id: str) -> float:
        return ICON + CHARACTER * len(_short(id)) + (MARK if self.weak.get(id) else 6)

    def _node(self, id: str, found: Layout, grid: _Grid) -> dict[str, Any]:
        column, row = found.places[id]
        placed = {
            "id": id,
            "text": _short(id),
            "x": round(grid.left[column], 1),
            "y": grid.middle(row),
            "width": round(grid.widths[column], 1),
            "column": column,
            "row": row,
        }
        record = self.known.get(id)
        if record is None:
            return {**placed, "known": False, "name": f"{id}, not in this report"}
        weak = self.weak[id]
        mark = {"tone": tone(weak[0].record), "outcome": weak[0].record["verdict"]} if weak else None
        return {
            **placed,
            **_entry(record),
            "known": True,
            "theme": record.get("theme") or "",
            "mark": mark,
        } | {"name": self._name(record, weak)}

    def _name(self, record: Record, weak: list[Weakness]) -> str:
        """A node in words: what it is, what it got, what it rests on and what rests on it."""
        parts = [", ".join(filter(None, [record["id"], record.get("title"), label(record).lower()]))]
        if weak:
            parts.append(f"{in_words(weak).lower()}, {weak[0].record['id']}")
        for words, ids in (("needs", self.shown[record["id"]]), ("needed by", self.resting[record["id"]])):
            if ids:
                parts.append(f"{words} {', '.join(ids)}")
        return "; ".join(parts)

    def _edge(
        self, ends: tuple[str, str], route: list[tuple[int, int]], grid: _Grid, cycle: bool = False
    ) -> dict[str, Any]:
        """An edge, coloured where it hands on what does not stand."""
        need, id = ends
        passed = self._handed_on(need)
        return {
            "need": need,
            "id": id,
            "path": grid.path(route),
            "rows": " ".join(str(row) for _, row in route),
            "tone": tone(passed) if passed else "",
            "cycle": cycle,
        }

    def _handed_on(self, id: str) -> Record | None:
        """The worst of a claim and of what it rests on, where that does not stand."""
        record = self.known.get(id)
        if record is None:
            return None
        own = [Weakness(record, (id,))] if record["verdict"] in WORDS else []
        worst = min([*own, *self.weak[id]], key=lambda w: w.rank, default=None)
        return worst.record if worst else None


def _short(id: str) -> str:
    return id if len(id) <= LONGEST else f"{id[: LONGEST - 1]}…"


class _Grid:
    """Columns as wide as their widest node, rows of equal height."""

    def __init__(self, found: Layout, widths: Mapping[str, float]) -> None:
        columns = [column for column, _ in found.places.values()]
        self.widths = [0.0] * (1 + max(columns))
        for id, (column, _) in found.places.items():
            self.widths[column] = max(self.widths[column], widths[id])
        self.left = list(accumulate((w + GAP for w in self.widths), initial=MARGIN))[:-1]
        self.width = self.left[-1] + self.widths[-1] + MARGIN
        self.height = ROW * (1 + max(row for route in _all_places(found) for _, row in route))

    def middle(self, row: int) -> int:
        return ROW * row + ROW // 2

    def path(self, route: Sequence[tuple[int, int]]) -> str:
        """The curve of an edge, every number a part of a pair x,y, every y the middle of a row."""
        drawn = [f"M{self._right(route[0][0])},{self.middle(route[0][1])}"]
        for (before, a), (column, b) in pairwise(route):
            start, end = self._right(before), round(self.left[column], 1)
            bend = round((start + end) / 2, 1)
            drawn.append(f"C{bend},{self.middle(a)} {bend},{self.middle(b)} {end},{self.middle(b)}")
            if (column, b) != route[-1]:
                drawn.append(f"L{self._right(column)},{self.middle(b)}")
        return "".join(drawn)

    def _right(self, column: int) -> float:
        return round(self.left[column] + self.widths[column], 1)


def _all_places(found: Layout) -> list[list[tuple[int, int]]]:
    return [list(found.places.values()), *found.routes.values()]

"""Which claim rests on which: the graph of `needs`, whatever is wrong with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from .order import natural


class Needs:
    """The needs of claims.

    `direct`: the known claims that each needs.  `unknown`: ids that no claim has, each with the claims that need it.
    `cycles`: claims that rest on themselves, as [a, b, ..., a], each needing the next.
    """

    def __init__(self, needs: Mapping[str, Iterable[str]]) -> None:
        ids = sorted(needs, key=natural)
        self.direct = {id: [n for n in dict.fromkeys(needs[id]) if n in needs] for id in ids}
        self.unknown: dict[str, list[str]] = {}
        for id in ids:
            for need in dict.fromkeys(needs[id]):
                if need not in needs:
                    self.unknown.setdefault(need, []).append(id)
        self.dependents: dict[str, list[str]] = {id: [] for id in ids}
        for id, found in self.direct.items():
            for need in found:
                self.dependents[need].append(id)
        self.cycles = self._cycles()

    def rests_on(self, id: str) -> dict[str, list[str]]:
        """All claims that this one rests on, nearest first, each with the shortest chain [id, ..., it]."""
        return _reached(id, self.direct)

    def resting_on(self, id: str) -> set[str]:
        """All claims that rest on this one."""
        return set(_reached(id, self.dependents))

    def acyclic(self) -> dict[str, list[str]]:
        """`direct` without the needs that close a cycle."""
        closing = {(cycle[-2], cycle[-1]) for cycle in self.cycles}
        return {id: [n for n in found if (id, n) not in closing] for id, found in self.direct.items()}

    def _cycles(self) -> list[list[str]]:
        """One cycle for each need that leads back to a claim still being followed, depth first."""
        cycles, done = [], set()
        for start in self.direct:
            path: list[str] = []
            stack = [(start, iter(self.direct[start]))] if start not in done else []
            path += [start] if stack else []
            done.add(start)
            while stack:
                need = next(stack[-1][1], None)
                if need is None:
                    stack.pop()
                    path.pop()
                elif need in path:
                    cycles.append([*path[path.index(need) :], need])
                elif need not in done:
                    done.add(need)
                    path.append(need)
                    stack.append((need, iter(self.direct[need])))
        return cycles


def _reached(start: str, neighbours: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Everything that can be reached, breadth first, with the path to it; not the start itself."""
    paths, queue = {start: [start]}, deque([start])
    while queue:
        here = queue.popleft()
        for there in neighbours.get(here, []):
            if there not in paths:
                paths[there] = [*paths[here], there]
                queue.append(there)
    del paths[start]
    return paths

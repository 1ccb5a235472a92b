"""A figure of a paper as an experiment: its cells, what is measured in each, and what that says."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from . import discovery
from .embeddings import content_digest
from .errors import HebbcheckError
from .settings import Settings
from .sweeps import Reference, Task
from .versions import installed

MEASURE = f"{__name__}:measure"


@dataclass
class Summary:
    """What the cells of a figure say.

    `attributes`: the numbers that claims may name; `replicates`: the same for each independent replicate of
    the paper's protocol.  `table`: {"columns": [...], "rows": [[...], ...]}.  `charts`: {"title",
    "description", "spec"} each, the specification in Vega-Lite with its data inside and without colours of
    its own.
    """

    attributes: dict[str, float]
    replicates: list[dict[str, float]]
    table: dict[str, list] = field(default_factory=lambda: {"columns": [], "rows": []})
    charts: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Figure:
    """One figure.  `cells(settings)`: parameters of each cell, JSON-able, each with its replicate and seed.

    `measure(settings, params)`: a pure function, numbers by name.  `summarise(settings, cells, results)`.
    `file`: where it stands (default: where `measure` does).  `package`: one that it takes data from; without
    it the figure is left out unless asked for by name.  `data`: paths of files that it reads.
    """

    id: str
    title: str
    source: str
    caption: str
    cells: Callable[[Settings], list[dict]]
    measure: Callable[[Settings, dict], dict]
    summarise: Callable[[Settings, list[dict], list[dict]], Summary]
    file: str = ""
    package: str | None = None
    data: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return Path(self.file or self.measure.__code__.co_filename).resolve()

    @property
    def available(self) -> bool:
        return self.package is None or importlib.util.find_spec(self.package) is not None

    @cached_property
    def digest(self) -> str:
        """Changes whenever the figure's file does, one beside it that it uses, or the data that it reads."""
        parts = [path.read_text() for path in sorted(_sources(self))]
        parts += [content_digest(path) for path in self.data]
        if self.package is not None and self.available:
            parts.append(installed(self.package))
        return hashlib.sha256("\0".join([self.id, *parts]).encode()).hexdigest()

    @property
    def reference(self) -> Reference:
        """How a worker process finds the figure again."""
        return Reference("figure", str(self.path), self.id)


def measure(figure: Figure, settings: Settings, params: dict) -> dict:
    """One cell of a figure."""
    return figure.measure(settings, params)


def summary(figure: Figure, settings: Settings) -> Generator[list[Task], list[dict], Summary]:
    """Job work: asks for the figure's cells, whoever's job it is, and summarises them."""
    cells = figure.cells(settings)
    results = yield [Task(MEASURE, cell, subject=figure) for cell in cells]
    return figure.summarise(settings, cells, results)


def reproduce(figure: Figure, settings: Settings) -> Generator[list[Task], list[dict], dict[str, Any]]:
    """Job work: the record of a figure, without the facts of the run."""
    told = yield from summary(figure, settings)
    return {
        "id": figure.id,
        "title": figure.title,
        "source": figure.source,
        "caption": figure.caption,
        "charts": told.charts,
        "table": told.table,
        "attributes": told.attributes,
        "replicates": told.replicates,
        "notes": told.notes,
    }


def load(origin: str | Path) -> list[Figure]:
    """The figures of one file."""
    return _figures_of(discovery.load_module(origin))


def find(ids: Iterable[str] = ()) -> list[Figure]:
    """The figures that the words name, ids or files; without words, the paper's that can be reproduced.

    Raises HebbcheckError for a word that names nothing.
    """
    words = list(ids)
    if not words:
        return [f for f in _paper_figures() if f.available]
    return list(dict.fromkeys(f for word in words for f in _named(word)))


def _named(word: str) -> list[Figure]:
    if word.endswith(".py") or "/" in word:
        found = load(word)
        if not found:
            raise HebbcheckError(f"{word} has no figure; a figure is a Figure(...) at the top of a module")
        return found
    known = _paper_figures()
    found = [f for f in known if f.id == word]
    if not found:
        names = ", ".join(f.id for f in known)
        hint = discovery.nearest(word, [f.id for f in known])
        raise HebbcheckError(
            f"no figure has the id {word!r}; {hint or f'there are {names}'}; a file needs a path"
        )
    return found


def _paper_figures() -> list[Figure]:
    return list(dict.fromkeys(f for module in discovery.paper_modules() for f in _figures_of(module)))


def _figures_of(module: ModuleType) -> list[Figure]:
    return list(dict.fromkeys(value for value in vars(module).values() if isinstance(value, Figure)))


def _sources(figure: Figure) -> set[Path]:
    """The figure's file and those in its folder that its functions use, directly or through one another."""
    folder, found = figure.path.parent, {figure.path}
    waiting = {f.__module__ for f in (figure.cells, figure.measure, figure.summarise)}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        path = _path_of(sys.modules[name])
        if path is not None and path.parent == folder:
            found.add(path)
            waiting |= {used for used in _modules_used(sys.modules[name]) if used in sys.modules} - seen
    return found


def _modules_used(module: ModuleType) -> set[str]:
    """The modules that a module's names come from."""
    names = (
        v.__name__ if isinstance(v, ModuleType) else getattr(v, "__module__", None)
        for v in vars(module).values()
    )
    return {name for name in names if isinstance(name, str)}


def _path_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None

"""Finding claims: in the paper's packages, in a user's files, by id, pattern, tag or path."""

from __future__ import annotations

import ast
import difflib
import fnmatch
import importlib
import os
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from .claim import Claim
from .errors import HebbcheckError
from .loading import PAPER, import_module, load_file
from .order import natural

SKIPPED = ("node_modules", "site-packages", "__pycache__")
"""Folders that hold no claims of the user's own; neither do hidden ones."""


def load(origin: str | Path) -> list[Claim]:
    """The claims of one file (a path) in the order in which they are declared.

    Raises HebbcheckError where two of them have one id.
    """
    return unique(load_file(Path(origin))[1])


def load_module(origin: str | Path) -> ModuleType:
    """The module that a claims or figures file is."""
    return load_file(Path(origin))[0]


def paper_modules() -> list[ModuleType]:
    """Every module of the paper's theory and experiments."""
    modules = []
    for package_name in PAPER:
        package = importlib.import_module(package_name)
        for info in pkgutil.walk_packages(package.__path__, package_name + "."):
            spec = info.module_finder.find_spec(info.name, None)
            modules.append(import_module(info.name, Path(getattr(spec, "origin", None) or info.name)))
    return modules


def paper_claims() -> list[Claim]:
    """Every claim of the paper, in the order of modules and lines."""
    return [c for module in paper_modules() for c in load(str(module.__file__))]


def select(words: Iterable[str] = ()) -> list[Claim]:
    """The claims that the words name: ids, patterns, tags, files, folders, `file.py::id`; without words, the paper's.

    Raises HebbcheckError for a word that names nothing and for two claims of one id.
    """
    words = list(words)
    if not words:
        return unique(paper_claims())
    chosen: list[Claim] = []
    for word in words:
        file, _, id = word.partition("::")
        if file.endswith(".py") or "/" in file or os.path.exists(file):
            found = _in_path(Path(file))
            chosen += _named(id, found) if id else found
        else:
            chosen += _named(word, paper_claims())
    return unique(chosen)


def unique(chosen: Iterable[Claim]) -> list[Claim]:
    """The claims without repetition; two different ones of one id are an error."""
    by_id: dict[str, Claim] = {}
    for c in chosen:
        other = by_id.setdefault(c.id, c)
        if other is not c:
            raise HebbcheckError(
                f"the id {c.id!r} stands for two claims, {other.file}:{other.line} and {c.file}:{c.line}; "
                "ids must differ; rename one of them"
            )
    return list(by_id.values())


def companions(chosen: Iterable[Claim]) -> dict[str, Claim]:
    """All claims that may need these, by id: they, the files that they stand in, and for one of the paper the paper."""
    chosen = list(chosen)
    ours = any(c.module.startswith(f"{package}.") for c in chosen for package in PAPER)
    files = {Path(c.file): None for c in chosen if c.file}
    beside = [*(c for file in files for c in load(file)), *(paper_claims() if ours else [])]
    return {c.id: c for c in [*reversed(beside), *chosen]}


def unknown_needs(chosen: Iterable[Claim]) -> list[str]:
    """One warning for each id in `needs` that no claim has."""
    chosen = list(chosen)
    missing = {need for c in chosen for need in c.needs} - {c.id for c in chosen}
    if missing:
        missing -= companions(chosen).keys() | {c.id for c in paper_claims()}
    wanting = {need: [c.id for c in chosen if need in c.needs] for need in sorted(missing, key=natural)}
    return [
        f"no claim is called {need!r}, which {_listed(ids)} {'needs' if len(ids) == 1 else 'need'}"
        for need, ids in wanting.items()
    ]


def _listed(ids: list[str]) -> str:
    more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
    return ", ".join(ids[:3]) + more


def nearest(word: str, names: Iterable[str]) -> str:
    """A hint naming the closest known names, or an empty string."""
    close = difflib.get_close_matches(word, dict.fromkeys(names), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else ""


def _named(word: str, known: list[Claim]) -> list[Claim]:
    exact = [c for c in known if c.id == word]
    found = exact or [c for c in known if fnmatch.fnmatchcase(c.id, word) or word in c.tags]
    if not found:
        hint = nearest(word, [c.id for c in known] + [t for c in known for t in c.tags])
        raise HebbcheckError(
            f"no claim has the id, pattern or tag {word!r}; {hint or 'hebbcheck list shows all'}; "
            "a file is named by its path"
        )
    return found


def _in_path(path: Path) -> list[Claim]:
    if not os.path.exists(path):
        raise HebbcheckError(
            f"{path} does not exist; a claims file or a folder of them is needed; check the path"
        )
    files = _claims_files(path) if path.is_dir() else [path]
    found = [c for file in files for c in load(file)]
    if not found:
        raise HebbcheckError(
            f"{path} declares no claim; a function under @hc.claim(...) is needed; see hebbcheck list --help"
        )
    return found


def _claims_files(folder: Path) -> list[Path]:
    """The Python files below a folder that declare claims."""

    def skipped(file: Path) -> bool:
        parts = file.relative_to(folder).parts
        return any(part.startswith(".") or part in SKIPPED for part in parts)

    return [file for file in sorted(folder.rglob("*.py")) if not skipped(file) and _declares_claims(file)]


def _declares_claims(file: Path) -> bool:
    """Whether a file calls something named claim; one that cannot be parsed may, and loading it will tell."""
    try:
        content = file.read_bytes()
    except OSError:
        return True
    if b"hebbcheck" not in content or b"claim" not in content:
        return False
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return b"claim(" in content
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(getattr(function, "attr", getattr(function, "id", "")) == "claim" for function in called)

"""Finding claims and figures: in the paper's packages, in a user's files, by id, pattern, tag or path."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from .claim import Claim, collected
from .errors import HebbcheckError

PAPER = ("hebbcheck.bounds", "hebbcheck.reports")
_loaded: dict[tuple[str, str], tuple[ModuleType, list[Claim]]] = {}


def load(origin: str | Path) -> list[Claim]:
    """The claims of one file (a path) in the order in which they are declared."""
    return _load(Path(origin))[1]


def load_module(origin: str | Path) -> ModuleType:
    """The module that a claims or figures file is."""
    return _load(Path(origin))[0]


def paper_modules() -> list[ModuleType]:
    """Every module of the paper's theory and experiments."""
    modules = []
    for package_name in PAPER:
        package = importlib.import_module(package_name)
        for info in pkgutil.walk_packages(package.__path__, package_name + "."):
            modules.append(importlib.import_module(info.name))
    return modules


def paper_claims() -> list[Claim]:
    """Every claim of the paper, in the order of modules and lines."""
    return [c for module in paper_modules() for c in load(module.__file__)]


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
        path = Path(file)
        if path.suffix == ".py" or path.exists() or "/" in file:
            found = _in_path(path)
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
    if not path.exists():
        raise HebbcheckError(
            f"{path} does not exist; a claims file or a folder of them is needed; check the path"
        )
    if path.is_dir():
        files = sorted(f for f in path.rglob("*.py") if not any(p.startswith(".") for p in f.parts[1:]))
        found = [c for f in files if _mentions_claims(f) for c in load(f)]
    else:
        found = load(path)
    if not found:
        raise HebbcheckError(f"{path} declares no claim; a claim is a function under @hc.claim(...)")
    return found


def _mentions_claims(file: Path) -> bool:
    text = file.read_text(errors="replace")
    return "hebbcheck" in text and "claim(" in text


def _load(path: Path) -> tuple[ModuleType, list[Claim]]:
    try:
        path = path.resolve(strict=True)
        content = path.read_bytes()
    except OSError as error:
        raise HebbcheckError(f"{path} cannot be read ({error.strerror}); a Python file is needed") from None
    key = (str(path), hashlib.sha256(content).hexdigest())
    if key not in _loaded:
        module = _import(path, hashlib.sha256(repr(key).encode()).hexdigest())
        declared = [c for c in collected() if c.module == module.__name__]
        unique(declared)
        _loaded[key] = (module, declared)
    return _loaded[key]


def _import(path: Path, digest: str) -> ModuleType:
    name = _package_name(path)
    if name:
        return importlib.import_module(name)
    name = f"hebbcheck_claims_{path.stem}_{digest[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HebbcheckError(f"{path} is no Python file; a claims file ends in .py; rename it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except HebbcheckError as error:
        raise HebbcheckError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:
        where = _line_in(path, error)
        raise HebbcheckError(
            f"{path} does not import: {type(error).__name__}: {' '.join(str(error).split())}{where}; "
            "run it with python to see more"
        ) from None
    finally:
        sys.path.remove(str(path.parent))
    return module


def _line_in(path: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return ""
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == str(path):
            line = frame.tb_lineno
        frame = frame.tb_next
    return f" (line {line})" if line else ""


def _package_name(path: Path) -> str | None:
    for package_name in PAPER:
        package = importlib.import_module(package_name)
        for folder in package.__path__:
            try:
                inside = path.relative_to(Path(folder).resolve())
            except ValueError:
                continue
            parts = [p for p in inside.with_suffix("").parts if p != "__init__"]
            return ".".join([package_name, *parts])
    return None

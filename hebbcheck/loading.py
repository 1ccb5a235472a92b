"""Importing Python files by their path: the paper's modules under their own names, a user's under names of ours.

A user's file may import the files beside it, absolutely or relatively, whether or not its folder is a package.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from .claim import Claim, collected
from .errors import HebbcheckError, message_of, printing_aside

PAPER = ("hebbcheck.bounds", "hebbcheck.reports")
_loaded: dict[tuple[str, str], tuple[ModuleType, list[Claim]]] = {}
_executed: dict[str, str] = {}
"""The digest of the text that was run for each module of a user's."""
_folders: set[Path] = set()
"""Where users' files were loaded from."""


def load_file(path: Path) -> tuple[ModuleType, list[Claim]]:
    """The module that a file is, and the claims that it declares, in their order; each version of a file is run once.

    Raises HebbcheckError for a file that cannot be read or run.
    """
    try:
        resolved = path.resolve(strict=True)
        content = resolved.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or error
        raise HebbcheckError(
            f"{path} cannot be read ({said}); a Python file is needed; check the path"
        ) from None
    key = (str(resolved), hashlib.sha256(content).hexdigest())
    if key not in _loaded:
        before = len(collected())
        module, anew = _module_of(resolved, content, key[1])
        _loaded[key] = (module, [c for c in collected(before if anew else 0) if c.module == module.__name__])
    return _loaded[key]


def import_module(name: str, path: Path) -> ModuleType:
    """A module of an installed package, with one line for what keeps it from importing."""
    with _explained(path):
        return importlib.import_module(name)


def _module_of(path: Path, content: bytes, digest: str) -> tuple[ModuleType, bool]:
    """(the module that a file is, whether it was run anew)."""
    name = _installed_name(path)
    if name:
        return import_module(name, path), False
    if path.suffix != ".py":
        raise HebbcheckError(f"{path} is no Python file; a claims file ends in .py; rename it")
    root, inside = _package_of(path)
    with (
        _explained(path),
        _importable(path.parent, root.parent if inside[:-1] or _is_package(root) else path.parent),
    ):
        package = _user_package(root)
        if inside[-1] == "__init__":
            name = ".".join([package, *inside[:-1]])
            return importlib.import_module(name), False
        parent = ".".join([package, *inside[:-1]])
        importlib.import_module(parent)
        return _run(f"{parent}.{inside[-1].replace('.', '_')}", path, content, digest)


def _run(name: str, path: Path, content: bytes, digest: str) -> tuple[ModuleType, bool]:
    """A file's module: the one that it is already, where another file imported it, or its text run anew."""
    if name in sys.modules and _executed.setdefault(name, digest) == digest:
        return sys.modules[name], False
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"no module can be made of {path.name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    _executed[name] = digest
    return module, True


def _package_of(path: Path) -> tuple[Path, list[str]]:
    """(the outermost package's folder, or the file's own; the names that lead from there to the file)."""
    folder, names = path.parent, [path.stem]
    while _is_package(folder) and _is_package(folder.parent):
        names.insert(0, folder.name)
        folder = folder.parent
    return folder, names


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _user_package(root: Path) -> str:
    """The name under which a user's folder is a package here."""
    name = f"hebbcheck_user_{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return name
    init = root / "__init__.py"
    if init.is_file():
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(root)])
        assert spec is not None and spec.loader is not None  # it ends in .py
        package = importlib.util.module_from_spec(spec)
    else:
        spec, package = None, ModuleType(name)
        package.__path__ = [str(root)]
    sys.modules[name] = package
    if spec is not None and spec.loader is not None:
        try:
            spec.loader.exec_module(package)
        except BaseException:
            del sys.modules[name]
            raise
    return name


@contextmanager
def _importable(*folders: Path) -> Iterator[None]:
    """The folders first in the search path meanwhile, as for a script, and last in it afterwards, for later imports."""
    _forget_namesakes(folders[0])
    names = [str(folder) for folder in dict.fromkeys(folders)]
    sys.path[:0] = names
    try:
        yield
    finally:
        for name in names:
            sys.path.remove(name)
            if name not in sys.path:
                sys.path.append(name)
        _folders.update(folders)


def _forget_namesakes(folder: Path) -> None:
    """Modules of other users' folders that are called like files of this one must not stand in for these."""
    for file in folder.glob("*.py"):
        other = getattr(sys.modules.get(file.stem), "__file__", None)
        if (
            file.stem != "conftest"
            and other
            and Path(other).parent != folder
            and Path(other).parent in _folders
        ):
            del sys.modules[file.stem]


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Whatever keeps a file from importing, in one line."""
    try:
        with printing_aside():
            yield
    except HebbcheckError as error:
        raise HebbcheckError(f"{path}: {error}") from None
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit, and what test runners raise to skip a module
        said = f"{type(error).__name__}: {message_of(error)}".rstrip(": ")
        raise HebbcheckError(
            f"{path} does not import: {said}{_line_in(path, error)}; run it with python to see more"
        ) from None


def _line_in(path: Path, error: BaseException) -> str:
    """Where in the file, or in one beside it, an error arose."""
    where, frame = "", error.__traceback__
    while frame is not None and not isinstance(error, SyntaxError):
        file = Path(frame.tb_frame.f_code.co_filename)
        if file.parent == path.parent:
            where = f" ({'' if file == path else f'{file.name}, '}line {frame.tb_lineno})"
        frame = frame.tb_next
    return where


def _installed_name(path: Path) -> str | None:
    """The module that a file of the engine or of the paper is."""
    for package_name in (*PAPER, __package__):
        for folder in importlib.import_module(package_name).__path__:
            if path.is_relative_to(Path(folder).resolve()):
                inside = path.relative_to(Path(folder).resolve()).with_suffix("")
                return ".".join([package_name, *(part for part in inside.parts if part != "__init__")])
    return None

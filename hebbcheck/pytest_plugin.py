"""Claims as pytest items.

Collected are Python files that declare claims and are named on the command line or match the ini option
`hebb_claims`, and the modules of the paper's packages when these, or folders in them, are named.  pytest loads
this module in every project, so it imports the engine only once there is a claim to judge.
"""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .errors import HebbcheckError

if TYPE_CHECKING:
    from .claim import Claim
    from .run import Runner

PATTERNS = ["claims_*.py", "*_claims.py"]
PAPER = ("hebbcheck.bounds", "hebbcheck.reports")
OPTIONS = {
    "profile": "quick, standard or paper",
    "backend": "numpy, torch, jax, cupy or strict",
    "device": "cpu, cuda, ...",
    "dtype": "float32 or float64",
    "seed": "the seed of every random stream",
}
TESTS = ("test_*.py", "*_test.py")
TAKEN = {"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast"}
RUNNER = pytest.StashKey["Runner"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hebbcheck", "claims judged by hebbcheck")
    for name, words in OPTIONS.items():
        kind = int if name == "seed" else str
        group.addoption(f"--hebb-{name}", type=kind, metavar=name.upper(), help=words)
    parser.addini("hebb_claims", "file names of claims files", type="args", default=PATTERNS)


def pytest_configure(config: pytest.Config) -> None:
    if _given(config):
        try:
            runner(config)
        except HebbcheckError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Claims files that pytest passes by: it offers the others to pytest_pycollect_makemodule."""
    session = parent.session
    if session.isinitpath(file_path) or _matches(file_path, session.config.getini("python_files")):
        return None
    return ClaimsFile.from_parent(parent, path=file_path) if _is_ours(file_path, session) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A claims file in the place of the module that pytest would import."""
    ours = _is_ours(module_path, parent.session)
    return ClaimsFile.from_parent(parent, path=module_path) if ours else None


class ClaimsFile(pytest.File):
    """A file of claims."""

    def collect(self) -> Iterator[pytest.Item]:
        from .discovery import load, unknown_needs

        try:
            claims = load(self.path)
            warnings = unknown_needs(claims)
            runner(self.config)
        except HebbcheckError as error:
            raise self.CollectError(str(error)) from None
        for warning in warnings:
            self.warn(pytest.PytestCollectionWarning(warning))
        for claim in claims:
            yield ClaimItem.from_parent(self, name=claim.id, claim=claim)


class ClaimItem(pytest.Item):
    """One claim: passes where its verdict is the one that was expected."""

    def __init__(self, *, claim: Claim, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.claim = claim
        self._mark(claim.theme, f"claims of {Path(claim.file).name}")
        try:
            quantifier = claim.quantifier.value
        except Exception:  # the verdict will say what the claim's function raised
            return
        self._mark(quantifier.partition(" >=")[0], f"claims that say: {quantifier}")

    def _mark(self, words: str, meaning: str) -> None:
        name = re.sub(r"\W", "_", words)
        if name in TAKEN or keyword.iskeyword(name):
            name += "_"
        line = f"{name}: {meaning}"
        if line not in self.config.getini("markers"):
            self.config.addinivalue_line("markers", line)
        self.add_marker(name)

    def runtest(self) -> None:
        (record,) = runner(self.config).verify([self.claim])
        self.user_properties.append(("verdict", str(record["verdict"])))
        if not record["passed"]:
            raise NotAsExpected(record)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, NotAsExpected):
            here = f"{self.config.invocation_params.dir}{os.sep}"
            return "\n".join(_told(excinfo.value.record)).replace(here, "")
        if isinstance(excinfo.value, HebbcheckError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.claim.line - 1, f"claim {self.claim.id}"


class NotAsExpected(Exception):
    """A verdict that is not the one that was expected."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__(record["reason"])
        self.record = record


def runner(config: pytest.Config) -> Runner:
    """The session's runner, made when it is first asked for, with a store that its claims share."""
    if RUNNER not in config.stash:
        from .run import Runner
        from .settings import Settings
        from .store import Store

        settings = Settings(**_given(config))
        settings.arrays.check()
        folder = tempfile.TemporaryDirectory(prefix="hebbcheck-")
        config.add_cleanup(folder.cleanup)
        store = Store.open(Path(folder.name) / "store.db")
        config.add_cleanup(store.close)
        examples = config.invocation_params.dir / ".hebbcheck" / "counterexamples"
        config.stash[RUNNER] = Runner(settings, store, command="pytest", folder=examples)
    return config.stash[RUNNER]


def _given(config: pytest.Config) -> dict[str, Any]:
    options = {name: config.getoption(f"--hebb-{name}") for name in OPTIONS}
    return {name: value for name, value in options.items() if value is not None}


def _told(record: dict[str, Any]) -> Iterator[str]:
    from .report.outcomes import label

    yield f"{label(record).lower()} ({record['quantifier']}): {record['reason']}"
    yield f"  statement: {' '.join(record['statement'].split())}"
    for kind, example in record["counterexamples"].items():
        yield f"  {kind} counterexample: {example['text']}"
    yield f"  replay with: {record['replay']}" if record["replay"] else f"  again: {record['command']}"


def _is_ours(path: Path, session: pytest.Session) -> bool:
    """Whether a file is collected for its claims."""
    config = session.config
    if path.suffix != ".py" or _matches(path, TESTS):
        return False
    if _matches(path, config.getini("hebb_claims")) or _is_named_theory(path, session):
        return _may_declare(path)
    return session.isinitpath(path) and not _matches(path, config.getini("python_files")) and _declares(path)


def _matches(path: Path, patterns: Iterable[str]) -> bool:
    return any(path.match(pattern) for pattern in patterns)


def _may_declare(path: Path) -> bool:
    """Whether the text of a file speaks of claims at all."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return "hebbcheck" in text and "claim(" in text


def _declares(path: Path) -> bool:
    """Whether a file declares claims when it is imported; where that fails, its collection will say so."""
    from .discovery import load

    if not _may_declare(path):
        return False
    try:
        return bool(load(path))
    except HebbcheckError:
        return True


def _is_named_theory(path: Path, session: pytest.Session) -> bool:
    """Whether a file lies in one of the paper's packages and was named by a folder there."""
    return any(
        session.isinitpath(folder)
        for theory in _theory_folders()
        if path.is_relative_to(theory)
        for folder in path.parents
        if folder.is_relative_to(theory)
    )


@cache
def _theory_folders() -> list[Path]:
    specs = [importlib.util.find_spec(package) for package in PAPER]
    return [
        Path(folder).resolve() for spec in specs if spec for folder in spec.submodule_search_locations or ()
    ]

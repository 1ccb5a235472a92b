"""What verify and reproduce have in common: their options, and a run from them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import loky

from ..arrays import BACKENDS, DTYPES
from ..declarations import PROFILES
from ..errors import HebbcheckError
from ..settings import Settings
from ..store import Store
from .output import Screen, check_writable, write_json

STORE = ".hebbcheck/store.db"
DEFAULT = Settings()

store_option = click.option(
    "--store", default=STORE, show_default=True, metavar="FILE", help="The store of results."
)
MEASURE_OPTIONS = (
    click.option("--profile", type=click.Choice(PROFILES), default=DEFAULT.profile, show_default=True),
    click.option("--backend", type=click.Choice(list(BACKENDS)), default=DEFAULT.backend, show_default=True),
    click.option("--device", default=DEFAULT.device, show_default=True, help="cpu, cuda, ..."),
    click.option("--dtype", type=click.Choice(DTYPES), default=DEFAULT.dtype, show_default=True),
    click.option("--seed", type=click.IntRange(min=0), default=DEFAULT.seed, show_default=True),
    click.option("--jobs", type=click.IntRange(min=1), help="Worker processes.  [default: number of cores]"),
    click.option("--dask", metavar="ADDRESS", help="Measure on the Dask cluster of this scheduler instead."),
    store_option,
    click.option("--json", "json_file", metavar="FILE", help="Write the records as JSON; - for stdout."),
    click.option(
        "--resume/--no-resume",
        default=True,
        show_default=True,
        help="Use the results in the store, or measure again.",
    ),
)
HTML_OPTION = click.option("--html", "html_folder", metavar="DIR", help="Write the report into this folder.")


def measure_options(command: Callable) -> Callable:
    """The options of a command that measures."""
    for option in reversed(MEASURE_OPTIONS):
        command = option(command)
    return command


def run_options(command: Callable) -> Callable:
    """The options of a command that measures and reports."""
    return measure_options(HTML_OPTION(command))


class Interrupted(Exception):
    """Ctrl-C during a run; says what is kept."""


@dataclass
class Running:
    """One run of a command that measures: checked before it begins, and what it leaves behind."""

    profile: str
    backend: str
    device: str
    dtype: str
    seed: int
    jobs: int | None
    dask: str | None
    store: str
    json_file: str | None
    html_folder: str | None
    resume: bool

    def __post_init__(self) -> None:
        self.settings = Settings(self.profile, self.seed, self.backend, self.device, self.dtype)
        self.settings.arrays.check()
        if self.json_file:
            check_writable(self.json_file)
        if self.html_folder:
            _make_folder(self.html_folder)
        self.screen = Screen(quiet=self.json_file == "-")

    @contextmanager
    def runner(self) -> Iterator[Any]:
        """A run.Runner with its store and its workers; Ctrl-C inside becomes Interrupted."""
        from ..run import Runner

        with ExitStack() as stack:
            jobs, executor = self.jobs or loky.cpu_count(), None
            if self.dask:
                executor, jobs = stack.enter_context(dask_executor(self.dask))
            store = stack.enter_context(Store.open(self.store))
            try:
                yield Runner(
                    self.settings,
                    store,
                    jobs=jobs,
                    executor=executor,
                    resume=self.resume,
                    progress=self.screen.progress(),
                    command=shlex.join(["hebbcheck", *click.get_current_context().find_root().obj]),
                    folder=Path(self.store).parent / "counterexamples",
                )
            except KeyboardInterrupt:
                raise Interrupted(
                    f"interrupted; what was measured is in {self.store}; the same command goes on from there"
                ) from None

    def leave(self, records: list[dict[str, Any]]) -> None:
        """Write the files that were asked for."""
        if self.json_file:
            write_json(self.json_file, records)
        if self.html_folder:
            with Store.open(self.store) as store:
                self.screen.line(f"report: {write_report(store, self.html_folder)}")


def write_report(store: Store, folder: str) -> Path:
    from ..report import write

    return write(store, folder)


def existing_store(path: str) -> Store:
    """The store in a file that must be there."""
    if not Path(path).exists():
        raise HebbcheckError(
            f"there is no store {path}; run hebbcheck verify first, or name another with --store"
        )
    return Store.open(path)


@contextmanager
def dask_executor(address: str) -> Iterator[tuple[Executor, int]]:
    """An executor over the Dask cluster of a scheduler, and the number of its threads."""
    try:
        from distributed import Client
    except ImportError:
        raise HebbcheckError(
            "--dask needs the package distributed, which is not installed; try pip install 'hebbcheck[dask]'"
        ) from None
    try:
        client = Client(address, timeout=5, set_as_default=False)
    except (OSError, ValueError) as error:
        raise HebbcheckError(
            f"no Dask scheduler answers at {address} ({error}); start one with dask scheduler"
        ) from None
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise HebbcheckError(
                f"the Dask scheduler at {address} has no workers; start dask worker {address}"
            )
        yield client.get_executor(pure=False), threads


def _make_folder(path: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HebbcheckError(
            f"{path} cannot be made ({error.strerror}); --html needs a folder that can be written to"
        ) from None

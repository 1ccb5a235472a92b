"""What a run tells while it runs."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar


class Progress:
    """The protocol; this one keeps silent."""

    def started(self, total_jobs: int) -> None:
        """The run begins."""

    def cell_done(self, subject_id: str, cached: bool, seconds: float) -> None:
        """A cell has its result, measured in `seconds` or found in the store."""

    def job_done(self, subject_id: str) -> None:
        """A job has its outcome."""

    def finished(self) -> None:
        """The run is over, or was stopped."""


class RichProgress(Progress):
    """A bar for a terminal, on stderr: jobs done, time, the claim at work; it goes when the run is over."""

    def __init__(self, console: Console | None = None) -> None:
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        current = TextColumn("{task.description}", markup=False)
        self.bar = Bar(*columns, current, console=console or Console(stderr=True), transient=True)

    def started(self, total_jobs: int) -> None:
        self.line = self.bar.add_task("", total=total_jobs)
        self.bar.start()

    def cell_done(self, subject_id: str, cached: bool, seconds: float) -> None:
        self.bar.update(self.line, description=subject_id)

    def job_done(self, subject_id: str) -> None:
        self.bar.advance(self.line)

    def finished(self) -> None:
        self.bar.stop()


class LineProgress(Progress):
    """A plain line on stderr for every finished job."""

    def started(self, total_jobs: int) -> None:
        self.total, self.done = total_jobs, 0
        self.cells: dict[str, list[float | None]] = {}

    def cell_done(self, subject_id: str, cached: bool, seconds: float) -> None:
        self.cells.setdefault(subject_id, []).append(None if cached else seconds)

    def job_done(self, subject_id: str) -> None:
        self.done += 1
        cells = self.cells.pop(subject_id, [])
        measured = [seconds for seconds in cells if seconds is not None]
        line = f"[{self.done}/{self.total}] {subject_id}: {len(measured)} cells in {sum(measured):.1f} s"
        if len(measured) < len(cells):
            line += f", {len(cells) - len(measured)} from the store"
        print(line, file=sys.stderr, flush=True)

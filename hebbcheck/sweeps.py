"""The scheduler: the cells of many jobs over one executor, with resume.

A job is a generator (a judge, or a figure's sweep) that yields lists of tasks and is sent the lists of their
results.  Every task is looked up in the store first, and a result is stored the moment it arrives: a run that
was ended at any moment resumes and repeats no finished cell.  All results pass through JSON, fresh ones too,
and all cells run with single-threaded linear algebra: what a job sees depends neither on resuming nor on how
many run in parallel.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from .errors import HebbcheckError, contained, printing_aside
from .progress import Progress
from .settings import Settings
from .store import Store, to_json
from .versions import engine_digest, package_version, versions
from .workers import Pool, Subject, run_cell, run_remote_cell


@dataclass(frozen=True)
class Task:
    """One cell: `measure` ("package.module:function") is called as measure(subject, settings, params).

    A pure function: its result, a JSON-able dict, depends on nothing else.  `subject` is the job's unless the
    cell belongs to another one (a figure's sweep that a claim asks for).
    """

    measure: str
    params: dict
    subject: Subject | None = None


LOADERS = {"claim": "discovery", "figure": "figure"}


@dataclass(frozen=True)
class Reference:
    """Where a worker process finds a subject again: its kind ("claim", "figure"), module name or file, id."""

    kind: str
    origin: str
    id: str

    def resolve(self) -> Any:
        """The claim or figure itself; HebbcheckError where its origin no longer has it."""
        for subject in importlib.import_module(f"{__package__}.{LOADERS[self.kind]}").load(self.origin):
            if subject.id == self.id:
                return subject
        raise HebbcheckError(
            f"{self.origin} has no {self.kind} {self.id!r} any more; a run needs it as it was; run again"
        )


@dataclass(eq=False)
class Job:
    """A subject and the generator that judges it; `seconds` is what it took in this run, in all processes."""

    subject: Subject
    settings: Settings
    work: Generator[list[Task], list[dict], Any]
    seconds: float = 0.0

    def digest(self, task: Task) -> str:
        """What the cell's result depends on, hashed."""
        return cell_digest(task.subject or self.subject, self.settings, task)


def cell_digest(subject: Subject, settings: Settings, task: Task) -> str:
    """What a cell's result depends on, hashed."""
    engine = f"{package_version()}+{engine_digest()}"
    parts = [engine, versions(settings.backend), subject.id, subject.digest, settings.as_dict()]
    parts += [task.measure, task.params]
    return hashlib.sha256(to_json(parts, canonical=True).encode()).hexdigest()


def run_jobs(
    jobs: Iterable[Job],
    *,
    jobs_in_parallel: int = 1,
    executor: Executor | None = None,
    store: Store | None = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> Generator[tuple[Job, Any], None, None]:
    """Run the jobs; each with its outcome as it ends: what its generator returned, or the Exception in it.

    With one job in parallel and no executor everything runs in this process, job after job; else over worker
    processes, or the given executor (`jobs_in_parallel` is then the number of its workers).  An exception in
    a cell is thrown into the job's generator.  Without `resume` stored results are measured again.  Ctrl-C
    ends the workers and leaves what is finished in the store; so does closing this iterator.
    """
    jobs = list(jobs)
    pool = None
    if executor is not None or jobs_in_parallel > 1:
        pool = Pool(jobs_in_parallel, executor)
    progress = progress or Progress()
    scheduler = _Scheduler(jobs, pool, store, resume, progress)
    progress.started(len(jobs))
    try:
        yield from scheduler.outcomes()
    finally:
        try:
            scheduler.stop()
        finally:
            progress.finished()


@dataclass(eq=False)
class _Batch:
    """What a generator asked for last: digests in its order, and the results or exceptions so far."""

    digests: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    known: int = 0

    def settled(self) -> bool:
        """Whether the generator can go on: every answer is there, or every one up to the first failure."""
        while self.known < len(self.digests) and self.digests[self.known] in self.answers:
            if self.failure() is not None:
                return True
            self.known += 1
        return self.known == len(self.digests)

    def failure(self) -> Exception | None:
        answer = self.answers.get(self.digests[self.known]) if self.known < len(self.digests) else None
        return answer if isinstance(answer, Exception) else None


@dataclass(eq=False)
class _Run:
    """A job under way."""

    job: Job
    batch: _Batch | None = None
    todo: deque[_Cell] = field(default_factory=deque)

    def step(self) -> list[tuple[str, Task]]:
        """Let the generator go on with what it waits for; the digests and tasks that it asks for next."""
        begun = time.perf_counter()
        try:
            tasks = self._ask()
            return [(self.job.digest(task), task) for task in tasks]
        finally:
            self.job.seconds += time.perf_counter() - begun

    def _ask(self) -> list[Task]:
        if self.batch is None:
            return next(self.job.work)
        failure = self.batch.failure()
        if failure is not None:
            return self.job.work.throw(failure)
        return self.job.work.send([self.batch.answers[digest] for digest in self.batch.digests])


@dataclass(eq=False)
class _Cell:
    run: _Run
    batch: _Batch
    digest: str
    task: Task
    suspect: bool = False

    @property
    def subject(self) -> Subject:
        return self.task.subject or self.run.job.subject

    @property
    def wanted(self) -> bool:
        return self.run.batch is self.batch


class _Scheduler:
    """Jobs take turns, a cell a turn; cells of subjects without a reference run here, between the others."""

    def __init__(
        self, jobs: list[Job], pool: Pool | None, store: Store | None, resume: bool, progress: Progress
    ) -> None:
        self.pool, self.store, self.resume, self.progress = pool, store, resume, progress
        self.open = len(jobs)
        self.turns = deque(_Run(job) for job in jobs)
        self.here: deque[_Run] = deque()
        self.suspects: deque[_Cell] = deque()
        self.in_flight: dict[Future, _Cell] = {}
        self.arrived: SimpleQueue[Future] = SimpleQueue()
        self.ended: deque[tuple[Job, Any]] = deque()

    def outcomes(self) -> Iterator[tuple[Job, Any]]:
        while self.open or self.ended:
            while self.ended:
                yield self.ended.popleft()
            self._hand_out()
            if not self.ended and self.open:
                self._make_progress()

    def stop(self) -> None:
        """Keep what has arrived, cancel what has not begun, end the workers."""
        if self.pool is None:
            return
        try:
            for future, cell in self.in_flight.items():
                self.pool.cancel(future)
                if future.done() and not future.cancelled() and future.exception() is None:
                    self._keep(cell, *future.result())
        finally:
            self.pool.discard(kill=bool(self.in_flight))

    def _hand_out(self) -> None:
        """Begin jobs and give cells to the executor, as far as there is room."""
        if self.suspects:
            # What was under way when a worker died runs one by one, so that only the culprit's job suffers.
            if not self.in_flight:
                self._submit(self.suspects.popleft())
            return
        while self.turns and self._has_room() and not self.ended:
            run = self.turns.popleft()
            if run.batch is None:
                self._advance(run)
                continue
            self._submit(run.todo.popleft())
            if run.todo:
                self.turns.append(run)

    def _has_room(self) -> bool:
        return not self.here if self.pool is None else len(self.in_flight) < self.pool.room

    def _make_progress(self) -> None:
        """Run a cell here, or wait for one elsewhere; then take in what has arrived."""
        if self.here:
            run = self.here.popleft()
            cell = run.todo.popleft()
            if run.todo:
                self.here.append(run)
            self._measure_here(cell)
        elif self.in_flight:
            self._collect(self.arrived.get())
        while not self.arrived.empty():
            self._collect(self.arrived.get())

    def _measure_here(self, cell: _Cell) -> None:
        job = cell.run.job
        try:
            with printing_aside():
                params = to_json(cell.task.params)
                text, seconds = run_cell(cell.subject, job.settings, cell.task.measure, params)
        except Exception as error:
            self._settle(cell, error)
        else:
            self._settle(cell, self._keep(cell, text, seconds))

    def _submit(self, cell: _Cell) -> None:
        if self.pool is None or not cell.wanted:
            return
        subject, settings, task = cell.subject, cell.run.job.settings, cell.task
        arguments = (subject.reference, subject.digest, settings, task.measure, to_json(task.params))
        try:
            future = self.pool.submit(run_remote_cell, *arguments)
        except BrokenExecutor as error:
            self._try_again(cell, error)
            return
        self.in_flight[future] = cell
        future.add_done_callback(self.arrived.put)

    def _collect(self, future: Future) -> None:
        cell = self.in_flight[future]
        if not future.cancelled():
            error = future.exception()
            if error is None:
                self._settle(cell, self._keep(cell, *future.result()))
            elif isinstance(error, BrokenExecutor):
                self._try_again(cell, error)
            elif isinstance(error, Exception):
                self._settle(cell, error)
            else:
                raise error
        del self.in_flight[future]

    def _try_again(self, cell: _Cell, error: Exception) -> None:
        """A worker died while this cell was in the pool: once more, on a fresh one."""
        if self.pool is not None:
            self.pool.discard()
        if cell.suspect:
            self._settle(cell, error)
        else:
            cell.suspect = True
            self.suspects.append(cell)

    def _keep(self, cell: _Cell, text: str, seconds: float) -> dict:
        job, task, result = cell.run.job, cell.task, json.loads(text)
        if self.store is not None:
            self.store.save_cell(
                cell.digest,
                subject=cell.subject.id,
                measure=task.measure,
                params=task.params,
                settings=job.settings.as_dict(),
                versions=versions(job.settings.backend),
                seconds=seconds,
                result=result,
            )
        job.seconds += seconds
        self.progress.cell_done(job.subject.id, False, seconds)
        return result

    def _settle(self, cell: _Cell, answer: Any) -> None:
        if cell.wanted:
            cell.batch.answers[cell.digest] = answer
            if cell.batch.settled():
                self._advance(cell.run)

    def _advance(self, run: _Run) -> None:
        """Let the generator go on until it asks for cells that are not in the store, or ends."""
        begins = run.batch is None
        self._withdraw(run)
        while run.batch is None or run.batch.settled():
            try:
                with contained(run.job.subject.id), printing_aside():
                    wanted = run.step()
            except StopIteration as stop:
                self._end(run, stop.value)
                return
            except Exception as error:
                self._end(run, error)
                return
            self._look_up(run, wanted)
        here = self.pool is None or run.job.subject.reference is None
        queue = self.here if here else self.turns
        if begins:
            queue.appendleft(run)
        else:
            queue.append(run)

    def _withdraw(self, run: _Run) -> None:
        """After a failure the rest of its batch is not needed."""
        run.todo.clear()
        for queue in (self.turns, self.here):
            if run in queue:
                queue.remove(run)
        for future, cell in self.in_flight.items():
            if self.pool is not None and cell.run is run:
                self.pool.cancel(future)

    def _look_up(self, run: _Run, wanted: list[tuple[str, Task]]) -> None:
        """Begin a batch: what is in the store is answered at once, the rest is to be measured."""
        batch = run.batch = _Batch([digest for digest, _ in wanted])
        for digest, task in dict(wanted).items():
            result = self.store.cell(digest) if self.store is not None and self.resume else None
            if result is None:
                run.todo.append(_Cell(run, batch, digest, task))
            else:
                batch.answers[digest] = result
                self.progress.cell_done(run.job.subject.id, True, 0.0)

    def _end(self, run: _Run, outcome: Any) -> None:
        run.batch = None
        self.open -= 1
        self.progress.job_done(run.job.subject.id)
        self.ended.append((run.job, outcome))

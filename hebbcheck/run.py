"""Verifying claims and reproducing figures: from subjects and settings to records."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from . import counterexample
from .claim import Claim
from .errors import HebbcheckError, message_of
from .figure import Figure, reproduce
from .geometry.figures import FigureFamily
from .judges import judge_of
from .judges.reported import figure_of
from .progress import Progress
from .proofs import with_proof
from .settings import LEVEL, Settings
from .store import Store
from .sweeps import Job, Task, run_jobs
from .verdict import Finding, Outcome, Quantifier, as_sentence, passed, strict_json
from .versions import versions


@dataclass(frozen=True)
class Runner:
    """How jobs are run: in this process or over an executor, with or without a store."""

    settings: Settings
    store: Store | None = None
    jobs: int = 1
    executor: Executor | None = None
    resume: bool = True
    progress: Progress | None = None
    command: str = "hebbcheck verify"
    folder: Path = Path(".hebbcheck/counterexamples")

    def verify(self, claims: Iterable[Claim]) -> Iterator[dict[str, Any]]:
        """The verdict record of each claim, as they are reached; the figures that claims speak of come first."""
        claims = list(claims)
        figures = _figures_of(claims)
        with self.recording() as (store, run_id):
            for _ in self._figures(list(figures.values()), store, run_id):
                pass  # where a figure fails, the claims that speak of it will say so, each in its verdict
            jobs = [Job(claim, self.settings, _judged(claim, self.settings)) for claim in claims]
            for job, outcome in self.outcomes(jobs, store):
                record = strict_json(self._verdict(job, outcome))
                store.save_verdict(run_id, record)
                yield record

    def reproduce(self, figures: Iterable[Figure]) -> Iterator[dict[str, Any]]:
        """The record of each figure, as they are reached."""
        with self.recording() as (store, run_id):
            for record in self._figures(list(figures), store, run_id):
                if isinstance(record, Exception):
                    raise record
                yield record

    @contextmanager
    def recording(self) -> Iterator[tuple[Store, int]]:
        """The store (a temporary one where none was given) and the number of a run in it."""
        with ExitStack() as stack:
            store = self.store
            if store is None:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                store = stack.enter_context(Store.open(Path(folder) / "store.db"))
            run_id = store.start_run(self.command, self.settings.as_dict(), versions(self.settings.backend))
            yield store, run_id
            store.finish_run(run_id)

    def outcomes(self, jobs: list[Job], store: Store) -> Iterator[tuple[Job, Any]]:
        """The jobs with their outcomes, as they end."""
        outcomes = run_jobs(
            jobs,
            jobs_in_parallel=self.jobs,
            executor=self.executor,
            store=store,
            resume=self.resume,
            progress=self.progress,
        )
        with closing(outcomes):
            yield from outcomes

    def _figures(self, figures: list[Figure], store: Store, run_id: int) -> Iterator[dict | Exception]:
        jobs = [Job(figure, self.settings, reproduce(figure, self.settings)) for figure in figures]
        for job, outcome in self.outcomes(jobs, store):
            if isinstance(outcome, Exception):
                yield outcome
                continue
            record = strict_json(self._figure(job, outcome))
            store.save_figure(run_id, record)
            yield record

    def _verdict(self, job: Job, outcome: Finding | Exception) -> dict[str, Any]:
        claim = cast(Claim, job.subject)
        finding = outcome if isinstance(outcome, Finding) else _failed(outcome)
        files = {
            kind: counterexample.save(self.folder, claim, self.settings, kind, raw)
            for kind, raw in finding.counterexamples.items()
        }
        return verdict_record(claim, finding, self.settings, job.seconds, files)

    def _figure(self, job: Job, outcome: dict) -> dict[str, Any]:
        return {
            **outcome,
            **self.settings.as_dict(),
            "seconds": job.seconds,
            "versions": versions(self.settings.backend),
            "command": f"hebbcheck reproduce {job.subject.id}{_options(self.settings)}",
        }


def _figures_of(claims: list[Claim]) -> dict[str, Figure]:
    """The figures that claims speak of, by id; one that is not to be found is its claims' error, not the run's."""
    figures = {}
    for claim in claims:
        if isinstance(claim.family, FigureFamily):
            with suppress(HebbcheckError):
                figures[claim.family.id] = figure_of(claim)
    return figures


def _judged(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """The judge of the claim's quantifier, found when the job begins: a claim that cannot be probed is a verdict."""
    return with_proof(claim, (yield from judge_of(claim.quantifier)(claim, settings)))


def _failed(error: Exception) -> Finding:
    said = message_of(error) or "no message"
    kind = "" if isinstance(error, HebbcheckError) else f"{type(error).__name__}: "
    return Finding(Outcome.ERROR, f"{kind}{said}")


def verdict_record(
    claim: Claim, finding: Finding, settings: Settings, seconds: float, files: dict[str, Path]
) -> dict[str, Any]:
    """The record of one verdict (the schema is in `verdict`)."""
    expected = claim.expected(settings.profile)
    main = files.get("smallest") or files.get("worst")
    raws = finding.counterexamples
    return {
        "id": claim.id,
        "title": claim.title,
        "source": claim.source,
        "quantifier": _quantifier(claim),
        "verdict": finding.outcome,
        "expected": expected,
        "passed": passed(finding.outcome, expected),
        "instances": finding.instances,
        "undefined": finding.undefined,
        "violations": finding.violations,
        "constants": finding.constants,
        "exponents": finding.exponents,
        "r2": finding.r2,
        "tightness": finding.tightness,
        "assumptions": finding.assumptions,
        "counterexample": str(main) if main else None,
        "proof": finding.proof,
        "seconds": round(seconds, 3),
        **settings.as_dict(),
        "versions": versions(settings.backend),
        "reason": as_sentence(finding.reason),
        "statement": claim.statement,
        "statement_is_latex": claim.statement_is_latex,
        "theme": claim.theme,
        "tags": list(claim.tags),
        "needs": list(claim.needs),
        "erratum": claim.erratum,
        "family": repr(claim.family),
        "level": LEVEL,
        "arithmetic": finding.arithmetic,
        "points": finding.points,
        "notes": finding.notes,
        "smallest_sizes": finding.smallest_sizes,
        "failure": finding.failures,
        "counterexamples": {
            k: {"file": str(p), "text": _told(raws[k]), **counterexample.sides(claim, raws[k], settings)}
            for k, p in files.items()
        },
        "command": f"hebbcheck verify {_selector(claim)}{_options(settings)}",
        "replay": f"hebbcheck replay {main}" if main else None,
        "file": Path(claim.file).name if claim.file else None,
        "line": claim.line,
    }


def _quantifier(claim: Claim) -> Quantifier:
    try:
        return claim.quantifier
    except Exception:
        return Quantifier.FOR_ALL


def _selector(claim: Claim) -> str:
    """What selects this one claim on the command line, from the folder of this run."""
    if claim.module.startswith("hebbcheck."):
        return claim.id
    file, here = Path(claim.file), Path.cwd()
    return shlex.quote(f"{file.relative_to(here) if file.is_relative_to(here) else file}::{claim.id}")


def _options(settings: Settings) -> str:
    default = Settings().as_dict()
    return "".join(
        f" --{name} {value}" for name, value in settings.as_dict().items() if value != default[name]
    )


def _told(raw: dict) -> str:
    """A counterexample in words: its sizes, and its arrays where they are small."""
    sizes = ", ".join(f"{name} = {value:.6g}" for name, value in raw["numbers"].items())
    arrays = [
        f"{name} = {[round(v, 6) for v in a['data']]} {tuple(a['shape'])}"
        for name, a in raw["arrays"].items()
        if len(a["data"]) <= 12
    ]
    return "; ".join([sizes, *arrays])

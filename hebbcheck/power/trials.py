"""The trial of each mutant: an argument, then the judge, then a search for what shows that a survivor is false."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..claim import Claim
from ..judges import judge_of
from ..run import Runner
from ..settings import Settings
from ..store import Store
from ..sweeps import Job, Task
from ..verdict import Finding, Outcome, Quantifier
from .arguments import Arguer, ordered_for_variety
from .fates import Fate, Trial
from .mutants import Mutant, mutants_of
from .summary import as_figure, summary
from .witness import MEASURE

ARGUE = "hebbcheck.power.trials:argue"
BATCH = 16
"""Mutants of a claim that are argued about at a time."""


def judgeable(claim: Claim, settings: Settings) -> str | None:
    """Why a claim has no wrong variants to be caught; None where it has."""
    if claim.expected(settings.profile) != "holds":
        return f"it is expected to be {claim.expected(settings.profile)}"
    try:
        quantifier = claim.quantifier
    except Exception as error:  # a claims file's function may raise anything
        return f"it cannot be judged ({type(error).__name__})"
    return "it speaks of a figure" if quantifier is Quantifier.REPORTED else None


def trials(
    runner: Runner, claims: list[Claim], limit: int | None, refuted: dict[str, str]
) -> Generator[Trial, None, None]:
    """The trials of the claims' mutants, as they end; of each claim at most `limit` that are not argued to be true.

    Claims that are refuted themselves have none: they are put into `refuted`, with what their verdict says.  A table of
    the trials is left in the store, for the report.
    """
    records = []
    with runner.recording() as (store, run_id):
        refuted |= _refuted(runner, store, claims)
        for trial in _trials(runner, store, [claim for claim in claims if claim.id not in refuted], limit):
            records.append(trial.record())
            yield trial
        told = as_figure(summary(records, {}, runner.settings))
        store.save_figure(run_id, told | {"command": runner.command})


def _refuted(runner: Runner, store: Store, claims: list[Claim]) -> dict[str, str]:
    """What the judges say of the claims that they refute as they stand: nothing follows from their variants."""
    as_they_stand = [replace(claim, test_needs=False) for claim in claims]
    jobs = [Job(c, runner.settings, judge_of(c.quantifier)(c, runner.settings)) for c in as_they_stand]
    found = {job.subject.id: outcome for job, outcome in runner.outcomes(jobs, store)}
    return {
        id: finding.reason
        for id, finding in found.items()
        if isinstance(finding, Finding) and finding.outcome is Outcome.REFUTED
    }


def _trials(runner: Runner, store: Store, claims: list[Claim], limit: int | None) -> Iterator[Trial]:
    presumed: list[tuple[Mutant, float]] = []
    jobs = [Job(claim, runner.settings, _argued(claim, limit)) for claim in claims]
    for job, outcome in runner.outcomes(jobs, store):
        if isinstance(outcome, Exception):
            raise outcome
        true, false = outcome
        share = job.seconds / max(len(true) + len(false), 1)
        for mutant, answer in true:
            yield Trial(mutant, Fate(answer["standing"]), None, answer["words"], share)
        presumed += [(mutant, share) for mutant in false]
    yield from _judged(runner, store, presumed)


def _judged(runner: Runner, store: Store, presumed: list[tuple[Mutant, float]]) -> Iterator[Trial]:
    spent = {mutant.id: seconds for mutant, seconds in presumed}
    jobs = [Job(mutant, runner.settings, _tried(mutant, runner.settings)) for mutant, _ in presumed]
    for job, outcome in runner.outcomes(jobs, store):
        mutant = job.subject
        assert isinstance(mutant, Mutant)
        seconds = spent[mutant.id] + job.seconds
        if isinstance(outcome, Exception):
            said = f"{type(outcome).__name__}: {' '.join(str(outcome).split())}"
            yield Trial(mutant, Fate.BROKEN, str(Outcome.ERROR), said, seconds)
        else:
            finding, witness = outcome
            yield _concluded(mutant, finding, witness, seconds)


def _concluded(mutant: Mutant, finding: Finding, witness: dict | None, seconds: float) -> Trial:
    verdict = str(finding.outcome)
    if finding.outcome is Outcome.REFUTED:
        return Trial(mutant, Fate.CAUGHT, verdict, finding.reason, seconds)
    if witness is not None and witness["found"]:
        return Trial(mutant, Fate.MISSED, verdict, f"it is false: {witness['found']}", seconds)
    looked = witness["draws"] if witness is not None else 0
    return Trial(
        mutant, Fate.UNDETERMINED, verdict, f"nothing in {looked} draws shows that it is false", seconds
    )


Work = Generator[list[Task], list[dict], Any]


def _argued(claim: Claim, limit: int | None) -> Work:
    """([(mutant, argument) that is true], [mutants presumed false]): argued in batches until there are enough."""
    waiting = ordered_for_variety(mutants_of(claim))
    true: list[tuple[Mutant, dict]] = []
    false: list[Mutant] = []
    seen: set[str] = set()
    while waiting and (limit is None or len(false) < limit):
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        answers = yield [Task(ARGUE, {"mutants": [mutant.id for mutant in batch]})]
        for mutant, answer in zip(batch, answers[0]["answers"], strict=True):
            repeated = answer["same"] is not None and answer["same"] in seen
            seen |= {answer["same"]} - {None}
            if repeated or (limit is not None and len(false) == limit):
                continue
            if answer["standing"] is None:
                false.append(mutant)
            else:
                true.append((mutant, answer))
    return true, false


def argue(claim: Claim, settings: Settings, params: dict) -> dict:
    """What can be argued of some of a claim's mutants: {"answers": [{"standing", "words", "same"}]}.

    `same`: a digest that mutants which say the same share.
    """
    arguer, mutants = _made(claim)
    return {"answers": [_answer(arguer, mutants[id]) for id in params["mutants"]]}


@lru_cache(maxsize=8)
def _made(claim: Claim) -> tuple[Arguer, dict[str, Mutant]]:
    return Arguer(claim), {mutant.id: mutant for mutant in mutants_of(claim)}


def _answer(arguer: Arguer, mutant: Mutant) -> dict:
    found = arguer.argument(mutant)
    return {
        "standing": None if found is None else str(found.standing),
        "words": None if found is None else found.words,
        "same": arguer.same(mutant),
    }


def _tried(mutant: Mutant, settings: Settings) -> Work:
    """(the judge's finding, what the search for a witness says where the mutant was not refuted)."""
    finding = yield from judge_of(mutant.quantifier)(mutant, settings)
    if finding.outcome is Outcome.REFUTED:
        return finding, None
    answer = yield [Task(MEASURE, {})]
    return finding, answer[0]

"""Judging claims in this process, as a run does: every result passes through JSON."""

from hebbcheck.judges import judge_of
from hebbcheck.settings import Settings
from hebbcheck.sweeps import Job, run_jobs


def judged(claim, **options):
    """The finding on a claim; what its judge raised is raised here."""
    settings = Settings(**options)
    [(_, outcome)] = run_jobs([Job(claim, settings, judge_of(claim.quantifier)(claim, settings))])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome

"""What a user is told when something cannot be used, and how code of the user's is kept from ending the program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


class HebbcheckError(Exception):
    """One line: what was observed; what is needed; what to try.  The command line exits with code 2."""


def message_of(error: BaseException) -> str:
    """What an exception says, in one line; empty where it says nothing, or cannot."""
    try:
        return " ".join(str(error).split())
    except Exception:  # a user's exception may fail at this too
        return ""


@contextmanager
def contained(name: str) -> Iterator[None]:
    """Whatever code of a user's raises in here is an Exception, except Ctrl-C: sys.exit and pytest.skip end nothing."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        said = ": ".join(filter(None, [type(error).__name__, message_of(error)]))
        raise RuntimeError(f"{name} tried to end the process ({said})") from error


@contextmanager
def printing_aside() -> Iterator[None]:
    """What is printed in here goes to standard error: standard output may be a file of records."""
    with redirect_stdout(sys.stderr):
        yield

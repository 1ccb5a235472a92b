"""The command line.

Exit codes: 0, every claim got what was expected of it; 1, at least one did not; 2, the command or a file could
not be used, which one line on stderr says; 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import click

from .. import __version__
from ..errors import HebbcheckError
from . import catalogue, compare, power, replays, runs
from .output import one_line
from .running import Interrupted


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="hebbcheck", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """A referee for theory: judges theorems that are written as executable bounds.

    SELECT is an id (B.28), a pattern ('B.*'), a tag, or a path to a claims file or a folder of them; without
    one, the paper's claims are meant.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for module in (catalogue, runs, power, replays, compare):
    for command in module.COMMANDS:
        cli.add_command(command)


def main() -> NoReturn:
    """The `hebbcheck` program."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code.  Whatever goes wrong is one line on stderr."""
    try:
        with cli.make_context("hebbcheck", list(arguments), obj=list(arguments)) as context:
            code = cli.invoke(context) or 0
            sys.stdout.flush()
            return code
    except click.exceptions.Exit as exit:
        return exit.exit_code
    except click.ClickException as error:
        return _complain(_usage(error))
    except HebbcheckError as error:
        return _complain(str(error))
    except Interrupted as stopped:
        return _complain(str(stopped), code=130)
    except KeyboardInterrupt:
        return _complain("interrupted", code=130)
    except BrokenPipeError:
        # Nobody reads on; what is left in the buffer must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        return _complain(_defect(error))


def _complain(message: str, code: int = 2) -> int:
    print(f"hebbcheck: {one_line(message)}", file=sys.stderr, flush=True)
    return code


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    advice = f"; try {context.command_path} --help" if context is not None else ""
    return error.format_message().rstrip(".") + advice


def _defect(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    said = f"{type(error).__name__}: {error}"
    return f"unexpected {said} (at {where}); this should not happen; please report it with the command"

"""What the commands print: coloured and wrapped on a terminal, one plain line each elsewhere; files as a whole."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..errors import HebbcheckError
from ..progress import LineProgress, Progress, RichProgress


def one_line(text: Any) -> str:
    """The text in one line, without control characters."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))


def number(value: Any) -> str:
    """A number to four digits; "-" where there is none."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else one_line(value)


class Screen:
    """Standard output, and progress on standard error; a quiet one prints nothing at all."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = _console(sys.stdout)

    @property
    def on_terminal(self) -> bool:
        return self.console.is_terminal

    def progress(self) -> Progress:
        """A bar where standard error is a terminal, else plain lines."""
        if self.quiet:
            return Progress()
        errors = _console(sys.stderr)
        if not errors.is_terminal or errors.is_dumb_terminal:
            return LineProgress()
        # On one terminal the lines must go through the console that draws the bar.
        return RichProgress(self.console if self.on_terminal else errors)

    def line(self, text: str = "", style: str = "", indent: int = 0) -> None:
        if self.quiet:
            return
        shown = Text(text, style)
        if self.on_terminal:
            self.console.print(Padding(shown, (0, 0, 0, indent)) if indent else shown)
        else:
            self.console.print(" " * indent + text, soft_wrap=True)

    def warn(self, text: str) -> None:
        """One line on standard error, whatever else is printed."""
        print(f"hebbcheck: warning: {one_line(text)}", file=sys.stderr, flush=True)

    def field(self, name: str, value: Any) -> None:
        """A named value, left out where there is none."""
        if value not in (None, "", [], (), {}):
            self.line(f"{name}: {one_line(value)}", indent=2)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Rows under their columns; numbers are written by `number`."""
        if self.quiet:
            return
        cells = [[number(cell) for cell in row] for row in rows]
        if self.on_terminal:
            table = Table(*columns, box=None, padding=(0, 2, 0, 0), header_style="bold")
            for column in table.columns:
                column.overflow = "fold"
            for row in cells:
                table.add_row(*(Text(cell) for cell in row))
            self.console.print(table)
            return
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in [list(columns), *cells]:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.line("  ".join(padded).rstrip())

    def verdict(self, record: dict[str, Any]) -> None:
        """A claim and what it got."""
        from ..report.outcomes import label

        passed = record["passed"]
        mark, style = ("pass", "green") if passed else ("FAIL", "bold red")
        name, quantifier, reason = (one_line(record[key]) for key in ("id", "quantifier", "reason"))
        said = label(record).lower()
        if not self.on_terminal:
            self.line(f"{mark}  {name}  {said}  ({quantifier})  {reason}")
        elif not self.quiet:
            styled = ((mark, style), (name, "bold"), (said, style), (quantifier, "dim"))
            self.console.print(Text("  ").join(Text(*part) for part in styled))
            self.line(reason, indent=6)
        if not passed and record.get("replay"):
            self.line(one_line(record["replay"]), indent=6)


class _Console(Console):
    """rich's own answer to a closed pipe is to exit with code 1, which is taken."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console(stream: Any) -> Console:
    return _Console(file=stream, highlight=False, markup=False, emoji=False)


def write_json(path: str, value: Any) -> None:
    """Write a value to a file ("-": standard output), whole or not at all."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    target = Path(path).resolve()
    try:
        if path == "-":
            sys.stdout.write(text)
        elif target.exists() and not target.is_file():  # a pipe or a device
            target.write_text(text, encoding="utf-8")
        else:
            _replace(target, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(path, error.strerror) from None


def _replace(target: Path, text: str) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def check_writable(path: str) -> None:
    """Refuse a file for JSON before anything is measured for it."""
    target = Path(path).resolve()
    if path == "-":
        return
    if target.is_dir():
        raise _unwritable(path, "it is a folder")
    if not target.parent.is_dir():
        raise _unwritable(path, f"there is no folder {target.parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise _unwritable(path, "no permission")


def _unwritable(path: str, why: str | None) -> HebbcheckError:
    return HebbcheckError(
        f"{path} cannot be written ({why}); --json needs a file in a folder that exists, or -"
    )

"""The result store: one SQLite file with a row for every measured cell, verdict, figure and run.

Every write is one transaction, committed at once, in write-ahead mode: a process may be killed at any moment,
and two may write at a time.  A new store is built in a folder beside its place and linked into it, so that a
file there is a whole store or none.  A file is looked at before SQLite may touch it: what is not a store of
this version, or is damaged (each row carries a checksum), is refused and stays as it was.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import struct
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .errors import HebbcheckError

APPLICATION_ID = 0x48656262  # "Hebb"
SCHEMA_VERSION = 1
BUSY_SECONDS = 60.0
OUT_OF_REACH = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""Primary error codes that speak of the surroundings; any other, met in a store, speaks of damage."""
TABLES = {
    "cells": (
        *("digest", "subject", "measure", "params", "settings", "versions"),
        *("seconds", "created", "result"),
    ),
    "runs": ("started", "command", "settings", "versions"),
    "verdicts": ("run", "subject", "created", "record"),
    "figures": ("run", "subject", "created", "record"),
}
"""The columns that a row's checksum covers (a run's end is filled in later)."""
SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE cells (
    digest TEXT PRIMARY KEY, subject TEXT, measure TEXT, params TEXT, settings TEXT, versions TEXT,
    seconds REAL, created TEXT, result TEXT, checksum INTEGER
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, started TEXT, finished TEXT, command TEXT, settings TEXT,
    versions TEXT, checksum INTEGER
);
CREATE TABLE verdicts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER, subject TEXT, created TEXT, record TEXT,
    checksum INTEGER, UNIQUE (run, subject)
);
CREATE TABLE figures (
    number INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER, subject TEXT, created TEXT, record TEXT,
    checksum INTEGER, UNIQUE (run, subject)
);
"""


def to_json(value: Any, *, canonical: bool = False) -> str:
    """JSON with exact floats, inf and nan, numpy scalars as numbers; canonical: with its keys in order."""
    return json.dumps(value, sort_keys=canonical, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON; a result is made of numbers, text, lists and dicts")


class Store:
    """An open store; use `Store.open(path)`, best in a `with` statement."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """The store in this file, created with its parent folders where there is none.

        HebbcheckError where the file is foreign, damaged, of another schema version or out of reach;
        it is then left byte for byte as it was.
        """
        path = Path(path).absolute()
        with _refused(path):
            if not os.path.lexists(path):
                _create(path)
            _check_header(path)
            _check_contents(path)
            connection = _connect(path, "mode=rw")
            connection.execute("PRAGMA synchronous = NORMAL")
            return cls(path, connection)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cell(self, digest: str) -> dict | None:
        """The result of the cell with this digest, if it was measured."""
        rows = self._query("SELECT result FROM cells WHERE digest = ?", digest)
        return json.loads(rows[0][0]) if rows else None

    def save_cell(
        self,
        digest: str,
        *,
        subject: str,
        measure: str,
        params: dict,
        settings: dict,
        versions: dict,
        seconds: float,
        result: dict,
    ) -> None:
        """Keep a cell's result (in the place of an earlier one with the same digest)."""
        texts = [to_json(part) for part in (params, settings, versions)]
        self._insert("cells", digest, subject, measure, *texts, float(seconds), _now(), to_json(result))

    def start_run(self, command: str, settings: dict, versions: dict) -> int:
        """Open a run; its id."""
        return self._insert("runs", _now(), to_json(command), to_json(settings), to_json(versions))

    def finish_run(self, run_id: int) -> None:
        """Note that a run came to its end."""
        self._query("UPDATE runs SET finished = ? WHERE id = ?", _now(), run_id)

    def runs(self) -> list[dict]:
        """All runs, oldest first: id, started, finished (None if it did not), command, settings, versions,
        verdicts (their number).
        """
        rows = self._query(
            "SELECT id, started, finished, command, settings, versions,"
            " (SELECT count(*) FROM verdicts WHERE run = runs.id) FROM runs ORDER BY id"
        )
        names = ("id", "started", "finished", "command", "settings", "versions", "verdicts")
        texts = ("command", "settings", "versions")
        runs = [dict(zip(names, row, strict=True)) for row in rows]
        return [run | {name: json.loads(run[name]) for name in texts} for run in runs]

    def save_verdict(self, run_id: int, record: dict) -> None:
        """Keep a claim's verdict of this run (one a claim and run: a later one takes its place)."""
        self._insert("verdicts", run_id, record["id"], _now(), to_json(record))

    def verdicts(self, run_id: int | None = None) -> list[dict]:
        """The verdicts of a run, or the latest of each claim, in the order in which they were saved."""
        return self._records("verdicts", run_id)

    def save_figure(self, run_id: int, record: dict) -> None:
        """Keep a figure of this run (one a figure and run: a later one takes its place)."""
        self._insert("figures", run_id, record["id"], _now(), to_json(record))

    def figures(self, run_id: int | None = None) -> list[dict]:
        """The figures of a run, or the latest of each id, in the order in which they were saved."""
        return self._records("figures", run_id)

    def _records(self, table: str, run_id: int | None) -> list[dict]:
        if run_id is not None:
            rows = self._query(f"SELECT record FROM {table} WHERE run = ? ORDER BY number", run_id)
        else:
            latest = f"SELECT max(number) FROM {table} GROUP BY subject"
            rows = self._query(f"SELECT record FROM {table} WHERE number IN ({latest}) ORDER BY number")
        return [json.loads(record) for (record,) in rows]

    def _insert(self, table: str, *values: Any) -> int:
        columns = ", ".join((*TABLES[table], "checksum"))
        marks = ", ".join("?" * (len(values) + 1))
        with _refused(self.path):
            cursor = self._connection.execute(
                f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", (*values, _checksum(*values))
            )
            return int(cursor.lastrowid or 0)

    def _query(self, statement: str, *values: Any) -> list[tuple]:
        with _refused(self.path):
            return self._connection.execute(statement, values).fetchall()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _checksum(*values: Any) -> int:
    return zlib.crc32(repr(values).encode())


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """What SQLite or the file system says, in one line and with a way out."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except (sqlite3.DatabaseError, OSError) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if isinstance(error, sqlite3.DatabaseError) and code not in OUT_OF_REACH:
            raise HebbcheckError(
                f"the store {path} is damaged ({' '.join(str(error).split())}); it was left as it is; "
                "move it away, or try another file with --store"
            ) from error
        why = getattr(error, "strerror", None) or error
        raise HebbcheckError(
            f"the store {path} cannot be used ({why}); it must be a file that can be read and written, "
            "in such a folder; try another file with --store"
        ) from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    address = f"{path.as_uri()}?{options}"
    return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _create(path: Path) -> None:
    """An empty store, whole from its first moment; one that somebody else put there meanwhile stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-store-") as folder:
        new = Path(folder, "store.db")
        with closing(sqlite3.connect(new)) as connection:
            connection.executescript(SCHEMA)
        try:
            os.link(new, path)
        except FileExistsError:
            return


def _check_header(path: Path) -> None:
    """Refuse whatever is not a store of this version, by the first 100 bytes of SQLite's file format."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise _foreign(path, "not a file")
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise _foreign(path, "not a SQLite database")
    version, application = struct.unpack(">I4xI", header[60:72])
    if application != APPLICATION_ID:
        raise _foreign(path, "a database of another application")
    if version != SCHEMA_VERSION:
        raise HebbcheckError(
            f"the store {path} has schema version {version}; this hebbcheck needs version {SCHEMA_VERSION}; "
            "try another file with --store, or the hebbcheck that made it"
        )


def _foreign(path: Path, what: str) -> HebbcheckError:
    return HebbcheckError(
        f"{path} is {what}; a store is a file that hebbcheck made; it was left as it is; "
        "try another file with --store"
    )


def _check_contents(path: Path) -> None:
    """Refuse a damaged store, only reading: its structure by SQLite's check, its rows by their checksums."""
    while True:
        before = path.stat()
        idle = not _journal(path).exists()
        try:
            _read_all(path, idle)
            return
        except sqlite3.DatabaseError:
            # Another process may have begun to write while the file was read as one that nobody has open.
            after = path.stat()
            unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
            if not idle or (unchanged and not _journal(path).exists()):
                raise


def _journal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _read_all(path: Path, idle: bool) -> None:
    """DatabaseError unless all that is in the store can be read and is as it was written."""
    with closing(_connect(path, "mode=ro&immutable=1" if idle else "mode=ro")) as connection:
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if idle and path.stat().st_size % page:
            raise sqlite3.DatabaseError("its last page is cut")
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        connection.create_function("checksum_of", -1, _checksum, deterministic=True)
        for table, columns in TABLES.items():
            (wrong,) = connection.execute(
                f"SELECT count(*) FROM {table} WHERE checksum IS NOT checksum_of({', '.join(columns)})"
            ).fetchone()
            if wrong:
                raise sqlite3.DatabaseError(f"{wrong} rows of {table} are not as they were written")

"""Answers in a SQLite file: a run's own store, and the cache that runs on one machine share."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beholder.backends import Answer
from beholder.backends.claims import LASTS
from beholder.errors import RunError
from beholder.judges.answers import Record, read_record
from beholder.judges.summary import Judging, digit_mass
from beholder.sqlite_file import connect, keep_private

_MOST_LOOKED_AT = 10_000
"""Answers of which the probabilities are looked at when a run is closed."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, operation TEXT NOT NULL, template TEXT NOT NULL,
    backend TEXT NOT NULL, model TEXT NOT NULL, replicate INTEGER NOT NULL,
    answer TEXT NOT NULL, cost REAL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS ratings (
    operation TEXT NOT NULL, question TEXT NOT NULL, judge TEXT NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (operation, question, judge)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, text TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS charges (cost REAL NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS claims (
    name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""

_COLUMNS = "request, operation, template, backend, model, replicate, cost, answer, key, created"
_INSERT = "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, {cost}, ?)"
_WAY_OUT = "if it is the cache, take another with --cache FOLDER (or off), or delete it"


class AnswerFile:
    """Answers in one SQLite file (WAL); any number of processes may use it at once.

    Args:
        path: The file; made if need be. A run's store may be the same file.
        facts_last: Seconds for which facts about servers are believed; None for ever.
        private: Whether a new file, and a new folder for it, are for its owner alone.

    Raises:
        RunError: The file cannot be opened or is no SQLite file.
    """

    def __init__(
        self, path: Path, *, facts_last: float | None = None, private: bool = False
    ) -> None:
        self.path = path
        self.name = str(path)
        self._facts_last = facts_last
        self._owner = uuid.uuid4().hex
        try:
            if private:
                keep_private(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = connect(path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
            self._db.execute(f"SELECT {_COLUMNS} FROM answers LIMIT 0")  # noqa: S608  # is it ours?
            # Damaged text is found where it is read, and costs that answer.
            self._db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        except (sqlite3.Error, OSError) as error:
            raise RunError(f"{path} cannot be used to keep answers: {error}; {_WAY_OUT}") from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key."""
        record = self.get_record(key)
        return None if record is None else record.answer

    def get_record(self, key: str) -> Record | None:
        """The answer under a key with all that is known of it."""
        return next(iter(list(self._records("WHERE key = ?", key))), None)

    def put_charge(self, cost: float) -> None:
        """Keep a cost that is in no answer."""
        self._execute("INSERT INTO charges VALUES (?, ?)", (cost, time.time()))

    def put_answer(self, record: Record) -> None:
        """Keep an answer."""
        self._execute(_INSERT.format(cost="?"), _row(record))

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """See ``AnswerStore.put_whole``."""
        places = ", ".join("?" * len(draws))
        paid = f"(SELECT total(cost) + 0 * ? FROM answers WHERE key IN ({places}))"  # noqa: S608
        *fields, created = _row(record)
        with self._in_words(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(_INSERT.format(cost=paid), (*fields, *draws, created))
            self._db.execute(f"DELETE FROM answers WHERE key IN ({places})", draws)  # noqa: S608

    def put_rating(self, operation: str, question: str, judge: str, value: float) -> None:
        """Keep what one judge of a panel said to one question."""
        self._execute(
            "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?)",
            (operation, question, judge, value),
        )

    def ratings(self) -> Iterator[tuple[str, str, str, float]]:
        """Operation, question, judge and value of all panel ratings."""
        yield from self._rows(
            "SELECT operation, question, judge, value FROM ratings"
            " ORDER BY operation, question, judge"
        )

    def get_fact(self, name: str) -> str | None:
        """A fact about a server that is not too old."""
        oldest = 0.0 if self._facts_last is None else time.time() - self._facts_last
        row = self._execute(
            "SELECT text FROM notes WHERE name = ? AND created >= ?", (name, oldest)
        ).fetchone()
        return None if row is None else str(row[0])

    def put_fact(self, name: str, text: str) -> None:
        """Keep a fact."""
        self._execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (name, text, time.time()))

    def doubt_fact(self, name: str) -> None:
        """Nothing: who shares a fact with others doubts it there (see ``Answers``)."""

    def facts(self, prefix: str) -> dict[str, str]:
        """Facts that are not too old, by name."""
        oldest = 0.0 if self._facts_last is None else time.time() - self._facts_last
        rows = self._execute(
            "SELECT name, text FROM notes WHERE substr(name, 1, ?) = ? AND created >= ?"
            " ORDER BY name",
            (len(prefix), prefix, oldest),
        )
        return {str(name): str(text) for name, text in rows}

    def claim(self, name: str) -> bool:
        """See ``ServerFacts.claim``; a claim that was not renewed holds no longer."""
        now = time.time()
        return bool(
            self._execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET owner = excluded.owner, until = excluded.until"
                " WHERE owner = excluded.owner OR until < ?",
                (name, self._owner, now + LASTS, now),
            ).rowcount
        )

    def release(self, name: str) -> None:
        """See ``ServerFacts.release``."""
        self._execute("DELETE FROM claims WHERE name = ? AND owner = ?", (name, self._owner))

    def cost(self) -> float:
        """US dollars paid for all answers here and for calls that gave none, as far as known."""
        paid = self._execute("SELECT total(cost) FROM answers").fetchone()[0]
        return float(paid + self._execute("SELECT total(cost) FROM charges").fetchone()[0])

    def records(self) -> Iterator[Record]:
        """All answers, oldest first."""
        return self._records("ORDER BY created, key")

    def stats(self) -> list[dict[str, Any]]:
        """Answers, tokens and cost per model and operation."""
        rows = self._execute(
            """SELECT model, operation, count(*), total(cost),
                      sum(json_extract(answer, '$.usage.prompt')),
                      sum(json_extract(answer, '$.usage.completion'))
               FROM answers WHERE json_valid(answer)
               AND typeof(model) = 'text' AND typeof(operation) = 'text'
               GROUP BY model, operation ORDER BY model, operation"""
        )
        names = ("model", "operation", "n_answers", "cost", "prompt_tokens", "completion_tokens")
        return [dict(zip(names, map(_shown, row), strict=True)) for row in rows]

    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    def knows_costs(self) -> bool:
        """Whether the cost of every answer is known."""
        row = self._execute("SELECT count(*) FROM answers WHERE cost IS NULL").fetchone()
        return not row[0]

    def judging(self) -> Judging:
        """What judges were asked, and how much of their probability lay on digits."""
        total = "total(json_extract(answer, '$.usage.{}'))"
        names = ("prompt", "cached", "completion")
        sums = self._execute(
            f"SELECT count(*), {', '.join(map(total.format, names))} FROM answers"  # noqa: S608
            " WHERE json_valid(answer)"
        ).fetchone()
        graded = self._execute(
            "SELECT answer FROM answers WHERE json_valid(answer)"
            " AND json_type(answer, '$.samples[0].first') = 'array' ORDER BY key LIMIT ?",
            (_MOST_LOOKED_AT,),
        )
        masses = [digit_mass(Answer.from_json(text)) for (text,) in graded]
        n, prompt, cached, completion = map(int, sums)
        known = [mass for mass in masses if mass is not None]
        return Judging(n, prompt, cached, completion, known)

    def prune(self, *, older_than: float) -> int:
        """Remove answers that are older than some seconds; gives how many."""
        limit = time.time() - older_than
        gone = self._execute("DELETE FROM answers WHERE created < ?", (limit,)).rowcount
        for table in ("notes", "charges"):
            self._execute(f"DELETE FROM {table} WHERE created < ?", (limit,))  # noqa: S608
        self._execute("DELETE FROM claims WHERE until < ?", (time.time(),))
        self._execute("VACUUM")
        return gone

    def _records(self, clause: str, *arguments: str) -> Iterator[Record]:
        """Answers; those that cannot be read are put aside at the end, to be asked for again."""
        names = ("request", "operation", "template", "backend", "model", "replicate", "cost")
        broken = []
        for place, key, answer, *values in self._rows(
            f"SELECT rowid, key, answer, {', '.join(names)} FROM answers {clause}",  # noqa: S608
            arguments,
        ):
            record = read_record(key, answer, dict(zip(names, values, strict=True)))
            if record is None:
                broken.append(place)
            else:
                yield record
        for place in broken:
            self._put_aside(place)

    def _put_aside(self, place: int) -> None:
        """Remove an answer; what it cost stays counted."""
        self._execute(
            "INSERT INTO charges SELECT cost, created FROM answers"
            " WHERE rowid = ? AND typeof(cost) = 'real'",
            (place,),
        )
        self._execute("DELETE FROM answers WHERE rowid = ?", (place,))

    def _rows(
        self, statement: str, arguments: tuple[object, ...] = ()
    ) -> Iterator[tuple[Any, ...]]:
        with self._in_words():
            yield from self._db.execute(statement, arguments)

    def _execute(self, statement: str, arguments: tuple[object, ...] = ()) -> sqlite3.Cursor:
        with self._in_words():
            return self._db.execute(statement, arguments)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Errors of SQLite as an error of the run: damage, no room, locked for long."""
        try:
            yield
        except sqlite3.Error as error:
            raise RunError(
                f"{self.path} cannot be used to keep answers: {error}; what was kept before is"
                f" kept, so start the same command again when that is mended; {_WAY_OUT}"
            ) from error


def _row(record: Record) -> tuple[object, ...]:
    return (
        record.key,
        record.request,
        record.operation,
        record.template,
        record.backend,
        record.model,
        record.replicate,
        record.answer.to_json(),
        record.cost,
        time.time(),
    )


def _shown(value: Any) -> Any:
    """A value as it can be printed, also where its bytes are damaged."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value

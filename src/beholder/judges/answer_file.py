"""Answers in a SQLite file: a run's own store, and the cache that runs on one machine share."""

from __future__ import annotations

import math
import sqlite3
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from beholder.backends import Answer
from beholder.backends.calls import LASTS
from beholder.base.sqlite_file import connect, create_private
from beholder.errors import RunError
from beholder.judges.answers import FIELDS, AnswerCount, Record, read_record
from beholder.judges.grades import Judging, digit_mass


class AnswerTables(ABC):
    """The tables ``answers``, ``notes`` (facts about servers) and ``claims`` of one database.

    Statements use ``now()``, which a database without it must define.

    Args:
        name: The file or address, as messages show it.
        facts_last: Seconds for which facts about servers are valid; None for no limit.

    Attributes:
        prefix: Prefix of the names of the tables.
        place: The column by which a row is removed.
        seconds: The parameter ``:seconds`` as a length of time.
        further: Columns of ``answers`` besides ``FIELDS``, ``key`` and ``answer``, with their SQL.
    """

    prefix: ClassVar[str]
    place: ClassVar[str]
    seconds: ClassVar[str]
    further: ClassVar[Mapping[str, str]]

    def __init__(self, name: str, facts_last: float | None) -> None:
        self.name = name
        self._facts_last = math.inf if facts_last is None else facts_last
        self._owner = uuid.uuid4().hex
        self._insertion = self._insert()

    @abstractmethod
    def _select(
        self, statement: str, **values: object
    ) -> Iterable[Sequence[Any]]:
        """The rows of a statement."""

    @abstractmethod
    def _change(self, statement: str, **values: object) -> int:
        """Change rows; returns how many."""

    @abstractmethod
    def _put_aside(self, place: object) -> None:
        """Remove an answer that cannot be read."""

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key."""
        record = self.get_record(key)
        return None if record is None else record.answer

    def get_record(self, key: str) -> Record | None:
        """The answer under a key with its question and cost."""
        return next(
            iter(list(self._records("WHERE key = :key", key=key))), None
        )

    def put_answer(self, record: Record) -> None:
        """Store an answer; the first one under a key stays."""
        self._change(self._insertion, **answer_values(record))

    def get_fact(self, name: str) -> str | None:
        """A fact about a server that is not too old."""
        return self.facts(name).get(name)

    def put_fact(self, name: str, text: str) -> None:
        """Store a fact."""
        self._change(
            f"INSERT INTO {self.prefix}notes VALUES (:name, :text, now()) ON CONFLICT (name)"  # noqa: S608
            " DO UPDATE SET text = excluded.text, created = excluded.created",
            name=name,
            text=text,
        )

    def doubt_fact(self, name: str) -> None:  # noqa: B027
        """Do nothing: a run that shares facts with others doubts them there (see ``Answers``)."""

    def facts(self, prefix: str) -> dict[str, str]:
        """Facts that are not too old, by name."""
        rows = self._select(
            f"SELECT name, text FROM {self.prefix}notes WHERE substr(name, 1, :length) = :prefix"  # noqa: S608
            f" AND created >= now() - {self.seconds} ORDER BY name",
            length=len(prefix),
            prefix=prefix,
            seconds=self._facts_last,
        )
        return {str(name): str(text) for name, text in rows}

    def claim(self, name: str) -> bool:
        """Claim a fact of a server for this process; a claim that is not renewed expires."""
        claims = f"{self.prefix}claims"
        claimed = self._change(
            f"INSERT INTO {claims} VALUES (:name, :owner, now() + {self.seconds})"  # noqa: S608
            " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until"
            f" WHERE {claims}.owner = excluded.owner OR {claims}.until < now()",
            name=name,
            owner=self._owner,
            seconds=LASTS,
        )
        return claimed > 0

    def release(self, name: str) -> None:
        """Release a claim of this process."""
        self._change(
            f"DELETE FROM {self.prefix}claims WHERE name = :name AND owner = :owner",  # noqa: S608
            name=name,
            owner=self._owner,
        )

    def prune(self, *, older_than: float) -> int:
        """Remove answers that are older than some seconds; returns how many."""
        self._change(f"DELETE FROM {self.prefix}claims WHERE until < now()")  # noqa: S608
        self._prune("notes", older_than)
        return self._prune("answers", older_than)

    def _prune(self, table: str, older_than: float) -> int:
        return self._change(
            f"DELETE FROM {self.prefix}{table} WHERE created < now() - {self.seconds}",  # noqa: S608
            seconds=older_than,
        )

    def _insert(self, cost: str = ":cost") -> str:
        """The statement that stores an answer, with the SQL of its cost."""
        values = {name: f":{name}" for name in (*FIELDS, "key", "answer")}
        values |= {**self.further, "cost": cost}
        return (
            f"INSERT INTO {self.prefix}answers ({', '.join(values)}) VALUES"  # noqa: S608
            f" ({', '.join(values.values())}) ON CONFLICT DO NOTHING"
        )

    def _stored(
        self, clause: str, **values: object
    ) -> Iterable[Sequence[Any]]:
        """Rows of answers, as ``_read`` takes them."""
        names = ", ".join((self.place, "key", "created", "answer", *FIELDS))
        return self._select(
            f"SELECT {names} FROM {self.prefix}answers {clause}",  # noqa: S608
            **values,
        )

    def _records(self, clause: str, **values: object) -> Iterator[Record]:
        return self._parse_rows(self._stored(clause, **values))

    def _parse_rows(self, rows: Iterable[Sequence[Any]]) -> Iterator[Record]:
        """Answers; unreadable ones are removed at the end, so that they are requested again."""
        broken = []
        for place, key, _, answer, *values in rows:
            record = read_record(
                key, answer, dict(zip(FIELDS, values, strict=True))
            )
            if record is None:
                broken.append(place)
            else:
                yield record
        # Only after the iteration: deleting rows while the cursor is open
        # would disturb it.
        for place in broken:
            self._put_aside(place)


def answer_values(record: Record) -> dict[str, object]:
    """Everything that a statement of ``AnswerTables._insert`` names."""
    return {
        "key": record.key,
        "answer": record.answer.to_json(),
        "prompt": record.answer.usage.prompt,
        "completion": record.answer.usage.completion,
        **{name: getattr(record, name) for name in FIELDS},
    }


_MOST_LOOKED_AT = 10_000
"""Answers whose probabilities are read when a run is closed."""

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
CREATE TABLE IF NOT EXISTS promises (id INTEGER PRIMARY KEY, cost REAL NOT NULL);
CREATE TABLE IF NOT EXISTS claims (
    name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""

_WAY_OUT = "if it is the cache, take another with --cache FOLDER (or off), or delete it"


class AnswerFile(AnswerTables):
    """Answers in one SQLite file (WAL); any number of processes may use it at once.

    Args:
        path: The file; created if it does not exist. A run's store may be the same file.
        facts_last: Seconds for which facts about servers are valid; None for no limit.
        private: Whether a new file, and a new folder for it, are readable by their owner only.

    Raises:
        RunError: The file cannot be opened or is no SQLite file.
    """

    prefix: ClassVar[str] = ""
    place: ClassVar[str] = "rowid"
    seconds: ClassVar[str] = ":seconds"
    further: ClassVar = MappingProxyType({"created": "now()"})

    def __init__(
        self,
        path: Path,
        *,
        facts_last: float | None = None,
        private: bool = False,
    ) -> None:
        super().__init__(str(path), facts_last)
        self.path = path
        try:
            if private:
                create_private(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = connect(
                path, isolation_level=None, check_same_thread=False
            )
            self._db.create_function(
                "now", 0, lambda: time.time()
            )  # tests replace it
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
            self._db.execute(
                f"SELECT created, {', '.join(FIELDS)} FROM answers LIMIT 0"  # noqa: S608
            )  # are they ours?
            # Damaged text is found where it is read, and costs that answer.
            self._db.text_factory = lambda data: data.decode(
                "utf-8", "surrogateescape"
            )
        except (sqlite3.Error, OSError) as error:
            raise RunError(
                f"{path} cannot be used to keep answers: {error}; {_WAY_OUT}"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def put_charge(self, cost: float) -> None:
        """Store a cost that is in no answer."""
        self._change("INSERT INTO charges VALUES (:cost, now())", cost=cost)

    def put_promise(self, cost: float) -> int:
        """Store the most that a call under way can cost; see ``Ledger``."""
        ((promise,),) = self._select(
            "INSERT INTO promises (cost) VALUES (:cost) RETURNING id",
            cost=cost,
        )
        return int(promise)

    def remove_promise(self, promise: int) -> None:
        """Remove the promise of a call that has ended; see ``Ledger``."""
        self._change(
            "DELETE FROM promises WHERE id = :promise", promise=promise
        )

    def charge_open_promises(self) -> tuple[int, float]:
        """Count calls that a killed process left open as charged; their number and US dollars."""
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                n_calls, cost = self._db.execute(
                    "SELECT count(*), total(cost) FROM promises"
                ).fetchone()
                self._db.execute(
                    "INSERT INTO charges SELECT cost, now() FROM promises"
                )
                self._db.execute("DELETE FROM promises")
        except sqlite3.Error as error:
            raise self._run_error(error) from error
        return int(n_calls), float(cost)

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """Store the record of a complete answer and delete its draws."""
        replaced = {f"draw{place}": key for place, key in enumerate(draws)}
        places = ", ".join(f":{name}" for name in replaced)
        paid = f"(SELECT total(cost) + 0 * :cost FROM answers WHERE key IN ({places}))"  # noqa: S608
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.execute(
                    self._insert(paid), answer_values(record) | replaced
                )
                self._db.execute(
                    f"DELETE FROM answers WHERE key IN ({places})",  # noqa: S608
                    replaced,
                )
        except sqlite3.Error as error:
            raise self._run_error(error) from error

    def put_rating(
        self, operation: str, question: str, judge: str, value: float
    ) -> None:
        """Store the rating of one judge of a panel."""
        self._change(
            "INSERT OR REPLACE INTO ratings VALUES (:operation, :question, :judge, :value)",
            operation=operation,
            question=question,
            judge=judge,
            value=value,
        )

    def ratings(self) -> Iterator[tuple[str, str, str, float]]:
        """Operation, question, judge and value of all panel ratings."""
        yield from self._select(
            "SELECT operation, question, judge, value FROM ratings"
            " ORDER BY operation, question, judge"
        )

    def cost(self) -> float:
        """US dollars paid for all answers here and for calls that gave none, as far as known."""
        ((answers, charges),) = self._select(
            "SELECT (SELECT total(cost) FROM answers), (SELECT total(cost) FROM charges)"
        )
        return float(answers + charges)

    def records(self) -> Iterator[Record]:
        """All answers, oldest first."""
        return self._records("ORDER BY created, key")

    def stats(self) -> list[AnswerCount]:
        """Answers, tokens and cost per model and operation."""
        rows = self._select(
            """SELECT model, operation, count(*), total(cost),
                      sum(json_extract(answer, '$.usage.prompt')),
                      sum(json_extract(answer, '$.usage.completion'))
               FROM answers WHERE json_valid(answer)
               AND typeof(model) = 'text' AND typeof(operation) = 'text'
               GROUP BY model, operation ORDER BY model, operation"""
        )
        return [AnswerCount(*map(_printable, row)) for row in rows]

    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    def knows_costs(self) -> bool:
        """Return whether the cost of every answer is known."""
        return not any(
            self._select("SELECT 1 FROM answers WHERE cost IS NULL LIMIT 1")
        )

    def judging(self) -> Judging:
        """Return the number of answers, their tokens and the probability on digits in grades."""
        total = "total(json_extract(answer, '$.usage.{}'))"
        names = ("prompt", "cached", "completion")
        (sums,) = self._select(
            f"SELECT count(*), {', '.join(map(total.format, names))} FROM answers"  # noqa: S608
            " WHERE json_valid(answer)"
        )
        # Graded answers are those whose first token has a distribution; a
        # sample of them by key suffices for the median. Decisions are read from
        # letters, too, and keep their own mass.
        graded = self._select(
            "SELECT answer FROM answers WHERE json_valid(answer)"
            " AND json_type(answer, '$.samples[0].first') = 'array'"
            " AND template NOT LIKE 'letters.v%' ORDER BY key LIMIT :most",
            most=_MOST_LOOKED_AT,
        )
        masses = [digit_mass(Answer.from_json(text)) for (text,) in graded]
        n, prompt, cached, completion = map(int, sums)
        measured_masses = [mass for mass in masses if mass is not None]
        return Judging(n, prompt, cached, completion, measured_masses)

    def prune(self, *, older_than: float) -> int:
        """Remove answers that are older than some seconds; returns how many."""
        gone = super().prune(older_than=older_than)
        self._prune("charges", older_than)
        self._change("VACUUM")
        return gone

    def _put_aside(self, place: object) -> None:
        """Remove an answer; its cost stays counted."""
        self._change(
            "INSERT INTO charges SELECT cost, created FROM answers"
            " WHERE rowid = :place AND typeof(cost) = 'real'",
            place=place,
        )
        self._change("DELETE FROM answers WHERE rowid = :place", place=place)

    def _select(
        self, statement: str, **values: object
    ) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise self._run_error(error) from error

    def _change(self, statement: str, **values: object) -> int:
        try:
            return self._db.execute(statement, values).rowcount
        except sqlite3.Error as error:
            raise self._run_error(error) from error

    def _run_error(self, error: sqlite3.Error) -> RunError:
        """An error of SQLite as one of the run: damage, a full disk, a lock held for long."""
        return RunError(
            f"{self.path} cannot be used to keep answers: {error}; what was kept before is"
            f" kept, so start the same command again when that is fixed; {_WAY_OUT}"
        )


def _printable(value: Any) -> Any:
    """Return a value as it can be printed; damaged bytes become question marks."""
    return (
        value.encode("utf-8", "replace").decode()
        if isinstance(value, str)
        else value
    )

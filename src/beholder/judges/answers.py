"""Where answers are kept: a table in a run's own store, and a cache that all runs share.

An answer is written before it is used, so nothing is paid for twice. The key holds all that can
change an answer and nothing else (timeouts and retries cannot).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from beholder.backends import Answer, ServerFacts, Usage
from beholder.backends.base import FactsInMemory
from beholder.backends.claims import LASTS
from beholder.errors import RunError
from beholder.judges.telling import Judging, digit_mass

_MOST_LOOKED_AT = 10_000
"""Answers of which the probabilities are looked at when a run is closed."""

FACTS_LAST = 24 * 3600.0
"""Seconds for which the shared cache's facts about servers are believed."""

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
_WAY_OUT = "if it is the cache, take another with --cache FOLDER (or off), or delete it"


@dataclass(frozen=True, slots=True)
class Record:
    """An answer with what it answers.

    Attributes:
        request: Digest of the request, by which ``replay`` finds it.
        operation: The judge's operation.
        template: Prompt as ``name.vN@hash``.
        backend: Name of the backend.
        model: The model as the server named it.
        replicate: Index of the repeat.
        answer: What came back.
        cost: US dollars, or None when the price is not known.
        key: SHA-256 over all that affects the answer: the request's digest covers the rendered
            prompt, the pictures' bytes, the sampling parameters, the schema and the replicate.
    """

    request: str
    operation: str
    template: str
    backend: str
    model: str
    replicate: int
    answer: Answer
    cost: float | None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        whole = [self.backend, self.model, self.operation, self.template, self.request]
        key = hashlib.sha256(json.dumps(whole).encode("utf-8")).hexdigest()
        object.__setattr__(self, "key", key)


class AnswerStore(ServerFacts, Protocol):
    """Where a judge keeps what it was told."""

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key."""

    def put_answer(self, record: Record) -> None:
        """Keep an answer; durable when this returns."""

    def put_charge(self, cost: float) -> None:
        """Keep US dollars that were spent and are in no kept answer."""

    def put_rating(self, operation: str, question: str, judge: str, value: float) -> None:
        """Keep what one judge of a panel said to one question."""


class AnswerFile:
    """Answers in one SQLite file (WAL); any number of processes may use it at once.

    Args:
        path: The file; made if need be. A run's store may be the same file.
        facts_last: Seconds for which facts about servers are believed; None for ever.

    Raises:
        RunError: The file cannot be opened or is no SQLite file.
    """

    def __init__(self, path: Path, *, facts_last: float | None = None) -> None:
        self.path = path
        self._facts_last = facts_last
        self._owner = uuid.uuid4().hex
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, isolation_level=None, timeout=60, check_same_thread=False
            )
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
        self._execute(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
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
            ),
        )

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
            kept: dict[str, Any] = dict(zip(names, values, strict=True))
            try:
                record = Record(answer=Answer.from_json(answer), **kept)
                if record.key != key or not isinstance(record.cost, float | None):
                    raise ValueError("the key is that of another question")
            except (ValueError, TypeError):
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


def _shown(value: Any) -> Any:
    """A value as it can be printed, also where its bytes are damaged."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


_noted: ContextVar[set[str] | None] = ContextVar("noted", default=None)


@contextmanager
def noted_keys() -> Iterator[set[str]]:
    """Collect the key of every answer that is looked up within, also by tasks begun there.

    What was asked for can so be told from what is kept, however often the run was interrupted.
    """
    keys: set[str] = set()
    token = _noted.set(keys)
    try:
        yield keys
    finally:
        _noted.reset(token)


class Answers:
    """A run's own answers, with a shared cache behind them.

    What is found in the cache is copied into the run, so that the run stays complete alone.

    Args:
        own: The run's store; None keeps answers in memory.
        shared: The cache, or None.
        heard: Told the tokens of each answer that is put here; those that were kept are not.
    """

    def __init__(
        self,
        own: AnswerStore | None = None,
        shared: AnswerFile | None = None,
        heard: Callable[[Usage], None] = lambda usage: None,
    ) -> None:
        self._own: AnswerStore = own or InMemory()
        self._shared = shared
        self._heard = heard

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key, from the run or else from the cache."""
        noted = _noted.get()
        if noted is not None:
            noted.add(key)
        answer = self._own.get_answer(key)
        if answer is None and self._shared is not None:
            record = self._shared.get_record(key)
            if record is not None:
                self._own.put_answer(replace(record, cost=0.0))  # this run did not pay for it
                return record.answer
        return answer

    def put_charge(self, cost: float) -> None:
        """Keep a cost in the run, which paid it."""
        self._own.put_charge(cost)

    def put_answer(self, record: Record) -> None:
        """Keep an answer in both."""
        self._heard(record.answer.usage)
        self._own.put_answer(record)
        if self._shared is not None:
            self._shared.put_answer(record)

    def put_rating(self, operation: str, question: str, judge: str, value: float) -> None:
        """Keep a panel rating in the run."""
        self._own.put_rating(operation, question, judge, value)

    def get_fact(self, name: str) -> str | None:
        """A fact, from the run or else from the cache."""
        fact = self._own.get_fact(name)
        if fact is None and self._shared is not None:
            fact = self._shared.get_fact(name)
            if fact is not None:
                self._own.put_fact(name, fact)
        return fact

    def put_fact(self, name: str, text: str) -> None:
        """Keep a fact in both."""
        self._own.put_fact(name, text)
        if self._shared is not None:
            self._shared.put_fact(name, text)

    def facts(self, prefix: str) -> dict[str, str]:
        """Facts of both; the run's own go first."""
        shared = {} if self._shared is None else self._shared.facts(prefix)
        return {**shared, **self._own.facts(prefix)}

    def claim(self, name: str) -> bool:
        """Claimed where other runs see it; a run's own store is locked by the run."""
        return self._shared is None or self._shared.claim(name)

    def release(self, name: str) -> None:
        """Give up a claim."""
        if self._shared is not None:
            self._shared.release(name)


class InMemory(FactsInMemory):
    """Answers of one process, for use without a run."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, Answer] = {}
        self.charges: list[float] = []
        self.ratings: dict[tuple[str, str, str], float] = {}

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key."""
        return self._answers.get(key)

    def put_answer(self, record: Record) -> None:
        """Keep an answer."""
        self._answers[record.key] = record.answer

    def put_charge(self, cost: float) -> None:
        """Keep a cost."""
        self.charges.append(cost)

    def put_rating(self, operation: str, question: str, judge: str, value: float) -> None:
        """Keep a panel rating."""
        self.ratings[operation, question, judge] = value

"""Answers, facts and claims in SQL tables: what SQLite and PostgreSQL have in common."""

from __future__ import annotations

import math
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from beholder.backends import Answer
from beholder.backends.claims import LASTS
from beholder.judges.answers import Record, read_record

FIELDS = ("request", "operation", "template", "backend", "model", "replicate", "cost")


class AnswerTables(ABC):
    """The tables ``answers``, ``notes`` (facts about servers) and ``claims`` of one database.

    Statements use ``now()``, which a database without it must define.

    Args:
        name: The file or address, as messages show it.
        facts_last: Seconds for which facts about servers are valid; None for no limit.

    Attributes:
        prefix: What the names of the tables begin with.
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
    def _select(self, statement: str, **values: object) -> Iterable[Sequence[Any]]:
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
        return next(iter(list(self._records("WHERE key = :key", key=key))), None)

    def put_answer(self, record: Record) -> None:
        """Store an answer; the first one under a key stays."""
        self._change(self._insertion, **answer_values(record))

    def get_fact(self, name: str) -> str | None:
        """A fact about a server that is not too old."""
        rows = self._select(
            f"SELECT text FROM {self.prefix}notes WHERE name = :name"  # noqa: S608
            f" AND created >= now() - {self.seconds}",
            name=name,
            seconds=self._facts_last,
        )
        return next((str(text) for (text,) in rows), None)

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
        """See ``ServerFacts.claim``; a claim that is not renewed expires."""
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
        """See ``ServerFacts.release``."""
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

    def _stored(self, clause: str, **values: object) -> Iterable[Sequence[Any]]:
        """Rows of answers, as ``_read`` takes them."""
        names = ", ".join((self.place, "key", "created", "answer", *FIELDS))
        return self._select(
            f"SELECT {names} FROM {self.prefix}answers {clause}",  # noqa: S608
            **values,
        )

    def _records(self, clause: str, **values: object) -> Iterator[Record]:
        return self._read(self._stored(clause, **values))

    def _read(self, rows: Iterable[Sequence[Any]]) -> Iterator[Record]:
        """Answers; unreadable ones are removed at the end, so that they are requested again."""
        broken = []
        for place, key, _, answer, *values in rows:
            record = read_record(key, answer, dict(zip(FIELDS, values, strict=True)))
            if record is None:
                broken.append(place)
            else:
                yield record
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

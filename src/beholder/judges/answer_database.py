"""Answers in a PostgreSQL database: a cache for teams, and for runs on several machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from beholder.base.optional import require
from beholder.base.postgres import TABLES_LOCK, Address, Database
from beholder.judges.answer_file import AnswerTables, answer_values
from beholder.judges.answers import FACTS_LAST, AnswerCount, Record

if TYPE_CHECKING:
    from sqlalchemy import Row

# Times are the server's, because clocks of machines differ and a claim must mean the same to all.
# Sent as one statement, it is one transaction.
_SCHEMA = f"""
{TABLES_LOCK};
CREATE TABLE IF NOT EXISTS beholder_answers (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, operation TEXT NOT NULL, template TEXT NOT NULL,
    backend TEXT NOT NULL, model TEXT NOT NULL, replicate BIGINT NOT NULL,
    answer TEXT NOT NULL, cost DOUBLE PRECISION, prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL, created TIMESTAMPTZ NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS beholder_answers_created ON beholder_answers (created, key);
CREATE TABLE IF NOT EXISTS beholder_notes (
    name TEXT PRIMARY KEY, text TEXT NOT NULL, created TIMESTAMPTZ NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS beholder_claims (
    name TEXT PRIMARY KEY, owner TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)
"""

ROWS_A_PAGE = 500
"""Answers that are read at once."""


class AnswerDatabase(AnswerTables):
    """A cache of answers that any number of processes on any machines may use at once.

    It stores the same as ``AnswerFile`` does for a cache, in tables whose names begin with
    ``beholder_``; they are created if they do not exist.

    Args:
        address: Of the database.
        facts_last: Seconds for which facts about servers are valid.

    Raises:
        RunError: The database cannot be reached, or refuses the work.
    """

    prefix: ClassVar[str] = "beholder_"
    place: ClassVar[str] = "key"
    seconds: ClassVar[str] = "make_interval(secs => :seconds)"
    further: ClassVar = MappingProxyType(
        {"prompt_tokens": ":prompt", "completion_tokens": ":completion"}
    )

    def __init__(
        self, address: Address, *, facts_last: float = FACTS_LAST
    ) -> None:
        self._text = require(
            "sqlalchemy", extra="postgres", purpose="a PostgreSQL cache"
        ).text
        self._database = Database(address, autocommit=True)
        super().__init__(self._database.name, facts_last)
        self._change(_SCHEMA)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """Store the record of a complete answer and delete its draws."""
        # One statement is one transaction, and all its parts see the state before it.
        replaced = "WITH replaced AS (DELETE FROM beholder_answers WHERE key = ANY(:draws)"
        replaced += " RETURNING cost) "
        paid = "(SELECT coalesce(sum(cost), 0.0) + 0 * CAST(:cost AS DOUBLE PRECISION)"
        paid += " FROM replaced)"
        self._change(
            replaced + self._insert(paid),
            draws=list(draws),
            **answer_values(record),
        )

    def records(self) -> Iterator[Record]:
        """All answers, oldest first."""
        clause = ""
        last: dict[str, object] = {}
        while rows := list(
            self._stored(
                f"{clause} ORDER BY created, key LIMIT :n",
                n=ROWS_A_PAGE,
                **last,
            )
        ):
            yield from self._parse_rows(rows)
            clause = "WHERE (created, key) > (:created, :key)"
            last = {"key": rows[-1][1], "created": rows[-1][2]}

    def stats(self) -> list[AnswerCount]:
        """Answers, tokens and cost per model and operation."""
        rows = self._select(
            "SELECT model, operation, count(*), coalesce(sum(cost), 0.0),"
            " sum(prompt_tokens)::bigint, sum(completion_tokens)::bigint"
            " FROM beholder_answers GROUP BY model, operation ORDER BY model, operation"
        )
        return [AnswerCount._make(row) for row in rows]

    def size(self) -> int:
        """Bytes of the tables and their indexes."""
        names = ("beholder_answers", "beholder_notes", "beholder_claims")
        total = " + ".join(
            f"pg_total_relation_size('{name}')" for name in names
        )
        return int(self._select(f"SELECT {total}")[0][0])

    def _put_aside(self, place: object) -> None:
        self._change(
            "DELETE FROM beholder_answers WHERE key = :key", key=place
        )

    def _select(self, statement: str, **values: object) -> Sequence[Row[Any]]:
        return self._database.do(
            lambda c: c.execute(self._text(statement), values).all()
        )

    def _change(self, statement: str, **values: object) -> int:
        return self._database.do(
            lambda c: c.execute(self._text(statement), values).rowcount
        )

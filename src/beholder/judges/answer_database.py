"""Answers in a PostgreSQL database: a cache for teams, and for runs on several machines."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from beholder.backends import Answer
from beholder.backends.claims import LASTS
from beholder.judges.answers import FACTS_LAST, Record, read_record
from beholder.optional import require
from beholder.postgres import TABLES_LOCK, Address, Database

if TYPE_CHECKING:
    from sqlalchemy import Row

# Times are the server's: clocks of machines differ, and a claim must mean the same to all.
# Sent as one, it is one transaction.
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

_FIELDS = ("request", "operation", "template", "backend", "model", "replicate", "cost")
_INSERT = (
    "INSERT INTO beholder_answers VALUES (:key, :request, :operation, :template, :backend,"
    " :model, :replicate, :answer, {cost}, :prompt, :completion) ON CONFLICT DO NOTHING"
)
_PAGE = 500
"""Answers that are read at once."""


class AnswerDatabase:
    """A cache of answers that any number of processes on any machines may use at once.

    It holds what ``AnswerFile`` holds for a cache, in tables whose names begin with ``beholder_``;
    they are made if need be.

    Args:
        address: Of the database.
        facts_last: Seconds for which facts about servers are believed.

    Attributes:
        name: The address as it may be shown.

    Raises:
        RunError: The database cannot be reached, or refuses the work.
    """

    def __init__(
        self,
        address: Address,
        *,
        facts_last: float = FACTS_LAST,
    ) -> None:
        self._text = require("sqlalchemy", extra="postgres", purpose="a PostgreSQL cache").text
        self._database = Database(address, alone=True)
        self._facts_last = facts_last
        self._owner = uuid.uuid4().hex
        self.name = self._database.name
        self._change(_SCHEMA)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key."""
        record = self.get_record(key)
        return None if record is None else record.answer

    def get_record(self, key: str) -> Record | None:
        """The answer under a key with all that is known of it."""
        return next(self._read(self._rows("WHERE key = :key", key=key)), None)

    def put_answer(self, record: Record) -> None:
        """Keep an answer; the first one under a key stays."""
        self._change(_INSERT.format(cost=":cost"), **_row(record))

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """See ``AnswerStore.put_whole``."""
        # One statement is one transaction, and all parts of it see what was there before it.
        replaced = "WITH replaced AS (DELETE FROM beholder_answers WHERE key = ANY(:draws)"
        replaced += " RETURNING cost) "
        paid = "(SELECT coalesce(sum(cost), 0.0) + 0 * CAST(:cost AS DOUBLE PRECISION)"
        paid += " FROM replaced)"
        self._change(replaced + _INSERT.format(cost=paid), draws=list(draws), **_row(record))

    def get_fact(self, name: str) -> str | None:
        """A fact about a server that is not too old."""
        found = self._select(
            "SELECT text FROM beholder_notes"
            " WHERE name = :name AND created >= now() - make_interval(secs => :last)",
            name=name,
            last=self._facts_last,
        )
        return str(found[0].text) if found else None

    def put_fact(self, name: str, text: str) -> None:
        """Keep a fact."""
        self._change(
            "INSERT INTO beholder_notes VALUES (:name, :text) ON CONFLICT (name)"
            " DO UPDATE SET text = excluded.text, created = excluded.created",
            name=name,
            text=text,
        )

    def doubt_fact(self, name: str) -> None:
        """Nothing: who shares a fact with others doubts it there (see ``Answers``)."""

    def facts(self, prefix: str) -> dict[str, str]:
        """Facts that are not too old, by name."""
        rows = self._select(
            "SELECT name, text FROM beholder_notes WHERE starts_with(name, :prefix)"
            " AND created >= now() - make_interval(secs => :last) ORDER BY name",
            prefix=prefix,
            last=self._facts_last,
        )
        return {str(row.name): str(row.text) for row in rows}

    def claim(self, name: str) -> bool:
        """See ``ServerFacts.claim``; a claim that was not renewed holds no longer."""
        claimed = self._change(
            "INSERT INTO beholder_claims VALUES (:name, :owner, now() +"
            " make_interval(secs => :lasts)) ON CONFLICT (name)"
            " DO UPDATE SET owner = excluded.owner, until = excluded.until"
            " WHERE beholder_claims.owner = excluded.owner OR beholder_claims.until < now()",
            name=name,
            owner=self._owner,
            lasts=LASTS,
        )
        return claimed > 0

    def release(self, name: str) -> None:
        """See ``ServerFacts.release``."""
        self._change(
            "DELETE FROM beholder_claims WHERE name = :name AND owner = :owner",
            name=name,
            owner=self._owner,
        )

    def records(self) -> Iterator[Record]:
        """All answers, oldest first."""
        rows = self._rows("ORDER BY created, key LIMIT :n", n=_PAGE)
        while rows:
            yield from self._read(rows)
            rows = self._rows(
                "WHERE (created, key) > (:created, :key) ORDER BY created, key LIMIT :n",
                created=rows[-1].created,
                key=rows[-1].key,
                n=_PAGE,
            )

    def stats(self) -> list[dict[str, Any]]:
        """Answers, tokens and cost per model and operation."""
        rows = self._select(
            "SELECT model, operation, count(*) AS n_answers, coalesce(sum(cost), 0.0) AS cost,"
            " sum(prompt_tokens)::bigint AS prompt_tokens,"
            " sum(completion_tokens)::bigint AS completion_tokens"
            " FROM beholder_answers GROUP BY model, operation ORDER BY model, operation"
        )
        return [row._asdict() for row in rows]

    def size(self) -> int:
        """Bytes of the tables and their indexes."""
        names = ("beholder_answers", "beholder_notes", "beholder_claims")
        total = " + ".join(f"pg_total_relation_size('{name}')" for name in names)
        return int(self._select(f"SELECT {total} AS n_bytes")[0].n_bytes)

    def prune(self, *, older_than: float) -> int:
        """Remove answers that are older than some seconds; gives how many."""
        self._change(
            "DELETE FROM beholder_notes WHERE created < now() - make_interval(secs => :old)",
            old=older_than,
        )
        self._change("DELETE FROM beholder_claims WHERE until < now()")
        return self._change(
            "DELETE FROM beholder_answers WHERE created < now() - make_interval(secs => :old)",
            old=older_than,
        )

    def _rows(self, clause: str, **values: object) -> Sequence[Row[Any]]:
        names = ", ".join(("key", "answer", "created", *_FIELDS))
        return self._select(
            f"SELECT {names} FROM beholder_answers {clause}",  # noqa: S608  # none of it is given
            **values,
        )

    def _read(self, rows: Sequence[Row[Any]]) -> Iterator[Record]:
        """Answers; those that cannot be read are removed, to be asked for again."""
        for row in rows:
            fields = {name: getattr(row, name) for name in _FIELDS}
            record = read_record(row.key, row.answer, fields)
            if record is None:
                self._change("DELETE FROM beholder_answers WHERE key = :key", key=row.key)
            else:
                yield record

    def _select(self, statement: str, **values: object) -> Sequence[Row[Any]]:
        return self._database.do(lambda c: c.execute(self._text(statement), values).all())

    def _change(self, statement: str, **values: object) -> int:
        """Change rows; gives how many."""
        return self._database.do(lambda c: c.execute(self._text(statement), values).rowcount)


def _row(record: Record) -> dict[str, Any]:
    return {
        "key": record.key,
        "answer": record.answer.to_json(),
        "prompt": record.answer.usage.prompt,
        "completion": record.answer.usage.completion,
        **{name: getattr(record, name) for name in _FIELDS},
    }

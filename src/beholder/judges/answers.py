"""Storage of answers: a table in a run's own store, and a cache that all runs share.

An answer is written before it is used, so nothing is paid for twice. The key holds all that can
change an answer and nothing else (timeouts and retries cannot).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from beholder.backends import Answer, ServerFacts, Usage
from beholder.backends.base import FactsInMemory
from beholder.base.files import write_atomically

T = TypeVar("T")

FACTS_LAST = 24 * 3600.0
"""Seconds for which the shared cache's facts about servers are believed."""

FIELDS = (
    "request",
    "operation",
    "template",
    "backend",
    "model",
    "replicate",
    "cost",
)
"""Names of the facts that are stored with an answer."""

RECALLED = "recalled"
"""Fact of a run's store: an answer or a part of one came from the cache."""

_DRAW = "/draw "


class AnswerCount(NamedTuple):
    """Stored answers of one model to one operation: how many, US dollars, and tokens."""

    model: str
    operation: str
    n_answers: int
    cost: float
    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class Record:
    """An answer with its question.

    Attributes:
        request: Digest of the request, by which ``replay`` finds it.
        operation: The judge's operation.
        template: Prompt as ``name.vN@hash``.
        backend: Name of the backend.
        model: The model as the server named it.
        replicate: Index of the repeat.
        answer: Response to the request.
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

    def draw(self, place: int) -> Record:
        """Return the record of some of its samples from an index on; kept until all are there."""
        return replace(self, request=f"{self.request}{_DRAW}{place}")

    @property
    def is_draw(self) -> bool:
        """Return whether the record contains only some of the samples."""
        return _DRAW in self.request

    def __post_init__(self) -> None:
        key = _key(
            self.backend,
            self.model,
            self.operation,
            self.template,
            self.request,
        )
        object.__setattr__(self, "key", key)


@lru_cache(
    maxsize=1024, typed=True
)  # the record of a question is made again with its answer
def _key(*whole: str) -> str:
    return hashlib.sha256(json.dumps(whole).encode("utf-8")).hexdigest()


def read_record(
    key: object, answer: str, fields: Mapping[str, Any]
) -> Record | None:
    """A kept answer; None if it cannot be read, or belongs to another question."""
    try:
        record = Record(answer=Answer.from_json(answer), **fields)
    except (ValueError, TypeError):
        return None
    whole = record.key == key and isinstance(record.cost, float | None)
    return record if whole else None


class AnswerStore(ServerFacts, Protocol):
    """A store of a judge's answers."""

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key."""

    def put_answer(self, record: Record) -> None:
        """Store an answer; durable when this returns."""

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """Store an answer in place of its draws, at their cost.

        Args:
            record: The answer; its cost counts only where it is None, for not known.
            draws: Keys of the answers that it replaces.
        """

    def put_charge(self, cost: float) -> None:
        """Keep US dollars that were spent and are in no kept answer."""

    def put_rating(
        self, operation: str, question: str, judge: str, value: float
    ) -> None:
        """Store the answer of one judge of a panel to one question."""


class AnswerCache(ServerFacts, Protocol):
    """The cache of answers that all runs share: ``AnswerFile`` or ``AnswerDatabase``.

    Attributes:
        name: The file, or the address as it may be shown.
    """

    name: str

    def get_record(self, key: str) -> Record | None:
        """The answer under a key with all that is known of it."""

    def put_answer(self, record: Record) -> None:
        """Store an answer; durable when this returns."""

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """Store the record of a complete answer and delete its draws."""

    def records(self) -> Iterator[Record]:
        """All answers, oldest first; those that cannot be read are put aside at the end."""

    def stats(self) -> list[AnswerCount]:
        """Answers, tokens and cost per model and operation."""

    def size(self) -> int:
        """Bytes that it takes."""

    def prune(self, *, older_than: float) -> int:
        """Remove answers that are older than some seconds; returns how many."""

    def close(self) -> None:
        """Close the file or the connections."""


_noted: ContextVar[set[str] | None] = ContextVar("noted", default=None)


@contextmanager
def noting(place: ContextVar[T | None], notes: T) -> Iterator[T]:
    """Collect notes within the block, also from tasks that it starts.

    Args:
        place: Context variable that holds the notes.
        notes: Empty notes, which are yielded.
    """
    token = place.set(notes)
    try:
        yield notes
    finally:
        place.reset(token)


def noted_keys() -> AbstractContextManager[set[str]]:
    """Collect the key of every answer that is looked up in the block, also by tasks that it starts.

    This separates what was asked for from what is stored, however often the run was interrupted.
    """
    return noting(_noted, set())


class Answers:
    """A run's own answers, with a shared cache behind them.

    What is found in the cache is copied into the run, so that the run stays complete alone.

    Args:
        store: The run's store; None keeps answers in memory.
        shared: The cache, or None.
        heard: Called with the tokens of each new answer; stored ones do not count.
        recalled: Called for each answer that comes from the cache.
    """

    def __init__(
        self,
        store: AnswerStore | None = None,
        shared: AnswerCache | None = None,
        heard: Callable[[Usage], None] = lambda usage: None,
        recalled: Callable[[], None] = lambda: None,
    ) -> None:
        self._own: AnswerStore = store or InMemory()
        self._shared = shared
        self._heard = heard
        self._recalled = recalled
        self._has_recalled = False

    def get_answer(self, key: str) -> Answer | None:
        """The answer under a key, from the run or else from the cache."""
        noted = _noted.get()
        if noted is not None:
            noted.add(key)
        answer = self._own.get_answer(key)
        if answer is None and self._shared is not None:
            record = self._shared.get_record(key)
            if record is not None:
                self._own.put_answer(
                    replace(record, cost=0.0)
                )  # this run did not pay for it
                if not self._has_recalled:
                    self._own.put_fact(RECALLED, "")
                    self._has_recalled = True
                if not record.is_draw:
                    self._recalled()
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

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """Keep an answer in place of its draws in both; each has paid for other draws."""
        self._own.put_whole(record, draws)
        if self._shared is not None:
            self._shared.put_whole(record, draws)

    def put_rating(
        self, operation: str, question: str, judge: str, value: float
    ) -> None:
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

    def doubt_fact(self, name: str) -> None:
        """The run continues with its fact; the cache returns an empty text from now on."""
        if self._shared is not None:
            self._shared.put_fact(name, "")

    def facts(self, prefix: str) -> dict[str, str]:
        """Facts of both; the run's own go first."""
        shared = {} if self._shared is None else self._shared.facts(prefix)
        return {**shared, **self._own.facts(prefix)}

    def claim(self, name: str) -> bool:
        """Claim a name in the shared cache; the run locks its own store."""
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

    def put_whole(self, record: Record, draws: Sequence[str]) -> None:
        """Keep an answer in place of its draws."""
        self.put_answer(record)
        for key in draws:
            self._answers.pop(key, None)

    def put_charge(self, cost: float) -> None:
        """Keep a cost."""
        self.charges.append(cost)

    def put_rating(
        self, operation: str, question: str, judge: str, value: float
    ) -> None:
        """Keep a panel rating."""
        self.ratings[operation, question, judge] = value


def export_answers(file: AnswerCache, path: Path) -> int:
    """Write all complete answers of a store or cache, oldest first; returns how many.

    Each row has ``request`` (digest), ``operation``, ``template``, ``backend``, ``model``,
    ``replicate``, ``cost`` and ``answer``. ``replay:PATH`` reads the file.
    """
    n_rows = 0
    with (
        write_atomically(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as lines,
    ):
        for record in file.records():
            if record.is_draw:  # no request asks for it
                continue
            row = {name: getattr(record, name) for name in FIELDS}
            row["request"] = record.request.partition("/")[0]
            row["answer"] = json.loads(record.answer.to_json())
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            n_rows += 1
    return n_rows

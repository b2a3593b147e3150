"""The answers of judges in a run: its own store, the shared cache behind it, and its budget.

``answers`` and ``costs`` read them without writing, also while the run is being made.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from beholder.backends import Answer, Usage
from beholder.base.postgres import Address
from beholder.judges import AnswerFile, Answers, AnswerStore, Budget
from beholder.judges.answer_database import AnswerDatabase
from beholder.judges.answers import FACTS_LAST, RECALLED, AnswerCache
from beholder.judges.grades import Judging
from beholder.run.store_file import FILE_NAME, to_read

_LOGGER = logging.getLogger("beholder.money")

_ANY_AGE = 3e9
"""Seconds; about a century."""


@dataclass(frozen=True)
class GivenAnswer:
    """A model's answer to one question.

    Attributes:
        operation: The judge's operation.
        template: Prompt as ``name.vN@hash``.
        backend: Backend of the model.
        model: The model as the server named it.
        said: Answers, a text per sample.
        cost: US dollars, or None when the price is not known.
    """

    operation: str
    template: str
    backend: str
    model: str
    said: tuple[str, ...]
    cost: float | None


@dataclass(frozen=True)
class CostRow:
    """The cost of all answers to one operation by one model.

    Attributes:
        operation: The judge's operation.
        model: The model as the server named it.
        n: Number of answers.
        cost: US dollars, or None when the price of some is not known.
    """

    operation: str
    model: str
    n: int
    cost: float | None


def answers(folder: Path, keys: Sequence[str]) -> dict[str, GivenAnswer]:
    """Return the answers of a run by key; keys without an answer are left out.

    Raises:
        RunError: The store cannot be read.
    """
    answers_by_key: dict[str, GivenAnswer] = {}
    query = "SELECT operation, template, backend, model, answer, cost FROM answers WHERE key = ?"
    with _open_store(folder) as db:
        if db is None:
            return answers_by_key
        for key in keys:
            row = db.execute(query, (key,)).fetchone()
            if row is not None:
                operation, template, backend, model, answer, cost = row
                texts = tuple(
                    sample.text for sample in Answer.from_json(answer).samples
                )
                answers_by_key[key] = GivenAnswer(
                    operation, template, backend, model, texts, cost
                )
    return answers_by_key


def costs(folder: Path) -> list[CostRow]:
    """Return the cost of all answers of a run, a row per operation and model.

    Raises:
        RunError: The store cannot be read.
    """
    query = (
        "SELECT operation, model, count(*), total(cost), count(cost) FROM answers"
        " GROUP BY operation, model ORDER BY operation, model"
    )
    with _open_store(folder) as db:
        rows = db.execute(query).fetchall() if db else []
    return [
        CostRow(operation, model, n, cost if priced == n else None)
        for operation, model, n, cost, priced in rows
    ]


def answering_models(folder: Path) -> list[str]:
    """Return the models that answered in a run, each with its server's configuration if reported.

    Raises:
        RunError: The store cannot be read.
    """
    query = (
        "SELECT DISTINCT model, json_extract(answer, '$.fingerprint') FROM answers"
        " WHERE json_valid(answer) ORDER BY 1, 2"
    )
    with _open_store(folder) as db:
        rows = db.execute(query).fetchall() if db else []
    return [
        model if fingerprint is None else f"{model} ({fingerprint})"
        for model, fingerprint in rows
    ]


def were_recalled(folder: Path) -> bool:
    """Return whether an answer of a run came from the cache, in any of its starts.

    Raises:
        RunError: The store cannot be read.
    """
    query = "SELECT 1 FROM notes WHERE name = ?"
    with _open_store(folder) as db:
        return db is not None and bool(
            db.execute(query, (RECALLED,)).fetchone()
        )


def spent(folder: Path) -> float:
    """Return the US dollars that a run paid for answers, and for calls that gave none."""
    # Opening the file would create it.
    if not (folder / FILE_NAME).is_file():
        return 0.0
    with closing(AnswerFile(folder / FILE_NAME)) as file:
        return file.cost()


@contextmanager
def _open_store(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the store of a run; None if no judge of it was asked."""
    if not (folder / FILE_NAME).is_file():
        yield None
        return
    with to_read(folder) as db:
        cursor = db.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'answers'"
        )
        yield db if cursor.fetchone() else None


@contextmanager
def run_answers(
    folder: Path,
    cache: Path | Address | None,
    max_cost: float | None = None,
    *,
    heard: Callable[[Usage], None] = lambda usage: None,
    recalled: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Answers, Budget]]:
    """Open the answer store and the budget of a run's judges, as ``Tools`` takes them.

    Args:
        folder: The run directory.
        cache: File or database of the shared cache, or None for no cache.
        max_cost: US dollars that all starts of this run together may spend; None for no limit.
        heard: Receives the tokens of each new answer.
        recalled: Called for each answer that comes from the cache.

    Raises:
        RunError: A file cannot be opened, or the database cannot be reached.
    """
    with ExitStack() as stack:
        run_file = stack.enter_context(closing(AnswerFile(folder / FILE_NAME)))
        shared_cache = (
            None
            if cache is None
            else stack.enter_context(closing(open_cache(cache)))
        )
        # Calls that a killed process had sent may have been paid for: their upper bound is charged.
        n_open, cost = run_file.charge_open_promises()
        if n_open:
            _LOGGER.warning(
                "%d calls were under way when this run was killed; the most they can have cost,"
                " %.4f USD, counts as spent",
                n_open,
                cost,
            )
        budget = Budget(max_cost, spent=run_file.cost(), ledger=run_file)
        # Settled promises are needed only while calls are under way.
        stack.callback(budget.remove_settled)
        yield Answers(run_file, shared_cache, heard, recalled), budget


def open_cache(
    place: Path | Address, *, facts_last: float = FACTS_LAST
) -> AnswerCache:
    """Open the cache that runs share, in a file or a database.

    Args:
        place: Place of the store.
        facts_last: Seconds for which facts about servers are valid.

    Raises:
        RunError: It cannot be used.
    """
    if isinstance(place, Path):
        return AnswerFile(place, facts_last=facts_last, private=True)
    return AnswerDatabase(place, facts_last=facts_last)


@contextmanager
def cached_answers(
    cache: Path | Address | None,
) -> Iterator[AnswerStore | None]:
    """Open the answers of the cache for a dry run, which writes none; None if there is no cache.

    Facts about servers are valid at any age here: a dry run cannot ask the servers again.

    Raises:
        RunError: The cache cannot be used.
    """
    # A dry run creates no file.
    if cache is None or (isinstance(cache, Path) and not cache.is_file()):
        yield None
        return
    with closing(open_cache(cache, facts_last=_ANY_AGE)) as shared:
        yield Answers(None, shared)


def run_judging(folder: Path) -> Judging:
    """Return statistics of a run's judges: numbers of answers and confidence of grades.

    Raises:
        RunError: The file cannot be opened.
    """
    with closing(AnswerFile(folder / FILE_NAME)) as answer_file:
        return answer_file.judging()

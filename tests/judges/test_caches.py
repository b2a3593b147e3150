"""Caches of answers, in a file and in a real PostgreSQL database: the same to all who use them."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import Answer, Sample, Usage
from beholder.backends.calls import LASTS
from beholder.base.postgres import Address, Database
from beholder.judges import AnswerFile
from beholder.judges.answer_database import AnswerDatabase
from beholder.judges.answers import (
    FACTS_LAST,
    AnswerCache,
    AnswerCount,
    Record,
)
from beholder.run.answers import cached_answers, open_cache
from servers.faults import FaultServer, completion, serving
from servers.killed_run import N_QUESTIONS, run
from servers.postgres import Server

ANSWER = Answer(
    (Sample("5 \u2028 ün\x00ï", "stop"),), "m-1", usage=Usage(10, 2, 3)
)
RECORD = Record(
    "r1", "presence", "presence.v1@abc", "openai:m", "m-1", 0, ANSWER, 0.25
)


class Place:
    """Where a cache lies, and how a test changes what is in it."""

    def __init__(self, at: Path | Address) -> None:
        self.at = at
        self._prefix = "" if isinstance(at, Path) else "beholder_"

    def open(self) -> AnswerCache:
        return open_cache(self.at)

    def _change(self, table: str, change: str) -> None:
        statement = f"UPDATE {self._prefix}{table} SET {change}"
        if isinstance(self.at, Path):
            with sqlite3.connect(self.at) as file:
                file.execute(statement)
            file.close()
        else:
            import sqlalchemy as sa

            database = Database(self.at)
            database.do(lambda c: c.execute(sa.text(statement)))
            database.close()

    def age(self, table: str, column: str, seconds: float) -> None:
        """Let time pass for the rows of a table."""
        passed = (
            f"{seconds}"
            if isinstance(self.at, Path)
            else f"interval '{seconds} s'"
        )
        self._change(table, f"{column} = {column} - {passed}")

    def damage(self, key: str) -> None:
        """Make an answer unreadable."""
        self._change(
            "answers", f"answer = '{{\"samples\": 7' WHERE key = '{key}'"
        )


@pytest.fixture(
    params=["file", pytest.param("database", marks=pytest.mark.slow)]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "file":
        return Place(tmp_path / "answers.sqlite")
    return Place(Address.parse(request.getfixturevalue("postgres_url")))


@pytest.fixture
def cache(place: Place) -> Iterator[AnswerCache]:
    opened = place.open()
    yield opened
    opened.close()


@pytest.fixture
def second_cache(place: Place, cache: AnswerCache) -> Iterator[AnswerCache]:
    """The same cache, as another process sees it."""
    opened = place.open()
    yield opened
    opened.close()


def record(n: int, **changes: Any) -> Record:
    return replace(RECORD, request=f"r{n}", **changes)


def test_an_answer_comes_back_as_it_was_and_the_first_one_stays(
    cache: AnswerCache, second_cache: AnswerCache
) -> None:
    assert cache.get_record(RECORD.key) is None
    cache.put_answer(RECORD)
    second_cache.put_answer(
        replace(RECORD, answer=replace(ANSWER, seconds=9.0), cost=None)
    )
    assert second_cache.get_record(RECORD.key) == RECORD
    assert list(cache.records()) == [RECORD]


def test_draws_become_one_answer_that_cost_what_they_cost_here(
    cache: AnswerCache,
) -> None:
    whole = replace(RECORD, cost=9.0)
    draws = [
        replace(RECORD.draw(place), cost=cost)
        for place, cost in ((0, 0.5), (2, 0.0))
    ]
    for draw in draws:
        cache.put_answer(draw)
    assert len({RECORD.key, *(draw.key for draw in draws)}) == 3
    cache.put_whole(whole, [draw.key for draw in draws])
    assert list(cache.records()) == [replace(whole, cost=0.5)]
    cache.put_answer(record(2).draw(0))
    cache.put_whole(record(2, cost=None), [record(2).draw(0).key])
    assert [record.cost for record in cache.records()] == [0.5, None], (
        "of which no price is known"
    )
    cache.put_whole(record(2), [])
    assert [record.cost for record in cache.records()] == [0.5, None], (
        "the first one stays"
    )


def test_all_answers_come_oldest_first(
    cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beholder.judges.answer_database.ROWS_A_PAGE", 3)
    records = [record(n) for n in (5, 1, 4, 2, 6, 3, 7)]
    for answered in records:
        cache.put_answer(answered)
    assert list(cache.records()) == records


def test_answers_tokens_and_cost_are_counted_by_model_and_operation(
    cache: AnswerCache,
) -> None:
    assert cache.stats() == []
    for n in (1, 2):
        cache.put_answer(record(n))
    cache.put_answer(record(3, operation="classify", cost=None))
    counts = [AnswerCount("m-1", "classify", 1, 0.0, 10, 3)]
    counts += [AnswerCount("m-1", "presence", 2, 0.5, 20, 6)]
    assert cache.stats() == counts
    assert cache.size() > 1000


def test_facts_are_believed_for_a_day(
    place: Place, cache: AnswerCache
) -> None:
    for name, text in (("a%b 1", "one"), ("a%b 2", "two"), ("axb 3", "three")):
        cache.put_fact(name, text)
    assert cache.get_fact("a%b 1") == "one"
    assert cache.get_fact("nobody") is None
    assert cache.facts("a%b") == {"a%b 1": "one", "a%b 2": "two"}
    place.age("notes", "created", FACTS_LAST - 60)
    assert cache.get_fact("a%b 1") == "one"
    place.age("notes", "created", 120)
    assert cache.get_fact("a%b 1") is None
    assert cache.facts("") == {}
    with cached_answers(place.at) as answers:
        assert answers is not None
        assert answers.get_fact("a%b 1") == "one", (
            "answers are not older, so a dry run takes it"
        )
    cache.put_fact("a%b 1", "news")
    assert cache.facts("") == {"a%b 1": "news"}


def test_one_process_claims_a_question_and_a_claim_ends_by_itself(
    place: Place, cache: AnswerCache, second_cache: AnswerCache
) -> None:
    assert cache.claim("q")
    assert cache.claim("q"), "one's own claim can be renewed"
    assert not second_cache.claim("q")
    second_cache.release("q")
    assert not second_cache.claim("q"), (
        "nobody gives up what another has claimed"
    )
    place.age("claims", "until", LASTS - 5)
    assert not second_cache.claim("q")
    place.age("claims", "until", 10)
    assert second_cache.claim("q")
    assert not cache.claim("q")
    second_cache.release("q")
    assert cache.claim("q")


def test_old_answers_are_pruned(place: Place, cache: AnswerCache) -> None:
    cache.put_answer(record(1))
    place.age("answers", "created", 100)
    cache.put_answer(record(2))
    assert cache.prune(older_than=50) == 1
    assert list(cache.records()) == [record(2)]


def test_an_answer_that_cannot_be_read_is_put_aside(
    place: Place, cache: AnswerCache
) -> None:
    for n in (1, 2, 3):
        cache.put_answer(record(n))
    place.damage(record(2).key)
    assert list(cache.records()) == [record(1), record(3)]
    assert cache.get_record(record(2).key) is None
    cache.put_answer(record(2))
    assert cache.get_record(record(2).key) == record(2)


def test_many_may_make_the_tables_of_one_database_at_once(
    postgres_url: str,
) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["servers.killed_run"])
    processes = [
        context.Process(target=open_and_close, args=(postgres_url,))
        for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4


def open_and_close(url: str) -> None:
    AnswerDatabase(Address.parse(url)).close()


def reply(body: dict[str, Any]) -> dict[str, Any]:
    return completion("a phrase")


class Watching(FaultServer):
    """Does something once, when it has seen so many requests."""

    at = 10**9
    then: Callable[[], None]

    async def before_answer(self) -> None:
        if len(self.bodies) == self.at:
            self.then()


def drivers(
    server: FaultServer, url: str, folder: Path, n: int
) -> list[AnswerFile]:
    """Return the answers of runs of equal questions that start at once on one cache."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["servers.killed_run", "beholder.backends.openai"]
    )
    paths = [folder / f"run-{i}.sqlite" for i in range(n)]
    processes = [
        context.Process(target=run, args=(server.url, str(path), url))
        for path in paths
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0] * n
    return [AnswerFile(path) for path in paths]


@pytest.mark.slow  # several processes and a restarted database
def test_two_drivers_at_once_pay_no_answer_twice_and_lose_none(
    postgres_url: str, tmp_path: Path
) -> None:
    with serving(Watching(reply)) as server:
        files = drivers(server, postgres_url, tmp_path, 2)
    things = [
        str(body["messages"])
        for body in server.bodies
        if "thing" in str(body["messages"])
    ]
    assert len(things) == len(set(things)) == N_QUESTIONS
    costs = []
    for file in files:
        assert sum(1 for _ in file.records()) == N_QUESTIONS
        costs.append(sum(row.cost is None for row in file.records()))
        file.close()
    shared = AnswerDatabase(Address.parse(postgres_url))
    assert sum(1 for _ in shared.records()) == N_QUESTIONS
    shared.close()
    # The model has no price: an answer of one's own has no cost, one from the cache costs nothing.
    assert sum(costs) == N_QUESTIONS


@pytest.mark.slow  # several processes and a restarted database
def test_a_database_that_is_restarted_meanwhile_loses_no_answer(
    postgres_url: str, postgres_server: Server, tmp_path: Path
) -> None:
    with serving(Watching(reply)) as server:
        server.then = lambda: postgres_server.control(
            "restart", "-m", "immediate"
        )
        server.at = 60
        (file,) = drivers(server, postgres_url, tmp_path, 1)
    assert sum(1 for _ in file.records()) == N_QUESTIONS
    file.close()
    shared = AnswerDatabase(Address.parse(postgres_url))
    assert sum(1 for _ in shared.records()) == N_QUESTIONS
    shared.close()

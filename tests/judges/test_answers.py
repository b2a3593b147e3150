"""The store of answers: keys, faithfulness, sharing between runs and processes."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from beholder.backends import (
    Answer,
    Image,
    Message,
    Request,
    Sample,
    Sampling,
    Usage,
)
from beholder.errors import RunError
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import (
    AnswerCount,
    Answers,
    InMemory,
    Record,
    noted_keys,
)
from beholder.judges.operations import Rewrite
from beholder.metrics import Tools
from beholder.records import Item
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.run.subjects import ITEM

REQUEST = Request(
    (
        Message("system", ("S",)),
        Message("user", (Image(b"1", "image/png"), "U")),
    ),
    Sampling(temperature=0.5, max_tokens=7),
    {"type": "object"},
)
ANSWER = Answer(
    samples=(
        Sample("5 \u2028 ünï", "stop", (("5", math.log(0.5)), ("▁4", -1.25))),
    ),
    model="m-1",
    fingerprint="f",
    usage=Usage(10, 2, 3, 1),
    seconds=0.5,
)
RECORD = Record(
    REQUEST.digest,
    "presence",
    "presence.v1@abc",
    "openai:m",
    "m-1",
    0,
    ANSWER,
    0.25,
)


def test_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "deep" / "a.sqlite")
    file.put_answer(RECORD)
    assert file.get_answer(RECORD.key) == ANSWER
    assert list(file.records()) == [RECORD]
    file.close()


def test_everything_that_affects_an_answer_is_in_its_key_and_no_more() -> None:
    other_requests = [
        replace(REQUEST, messages=REQUEST.messages[:1]),
        replace(
            REQUEST, messages=(Message("user", ("S",)), *REQUEST.messages[1:])
        ),
        replace(
            REQUEST,
            messages=(
                REQUEST.messages[0],
                Message("user", (Image(b"2", "image/png"), "U")),
            ),
        ),
        replace(REQUEST, sampling=replace(REQUEST.sampling, temperature=0.6)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, max_tokens=8)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, n=2)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, seed=1)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, top_logprobs=5)),
        replace(REQUEST, schema={"type": "array"}),
        replace(REQUEST, schema=None),
        replace(REQUEST, replicate=1),
    ]
    other_records = [
        replace(RECORD, request=request.digest) for request in other_requests
    ]
    other_records += [
        replace(RECORD, operation="verify"),
        replace(RECORD, template="presence.v1@abd"),
        replace(RECORD, backend="openai:m@http://localhost/v1"),
        replace(RECORD, model="m-2"),
    ]
    keys = {RECORD.key, *(record.key for record in other_records)}
    assert len(keys) == 1 + len(other_records)
    assert (
        replace(RECORD, answer=replace(ANSWER, seconds=9.0), cost=None).key
        == RECORD.key
    )


def test_answer_from_the_cache_is_copied_into_the_run_at_no_cost(
    tmp_path: Path,
) -> None:
    shared, run_file = (
        AnswerFile(tmp_path / "shared"),
        AnswerFile(tmp_path / "own"),
    )
    shared.put_answer(RECORD)
    assert Answers(run_file, shared).get_answer(RECORD.key) == ANSWER
    assert run_file.get_answer(RECORD.key) == ANSWER
    assert (run_file.cost(), shared.cost()) == (0.0, 0.25)
    run_file.close()
    shared.close()


@pytest.mark.slow
def test_many_processes_write_one_cache_at_once(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from beholder.backends import Answer, Sample
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import Record
file = AnswerFile(Path(sys.argv[1]))
for i in range(200):
    answer = Answer((Sample(str(i), "stop"),), "m")
    file.put_answer(Record(str(i % 150), sys.argv[2], "t", "b", "m", 0, answer, None))
file.close()
"""
    path = tmp_path / "cache.sqlite"
    command = [sys.executable, "-c", script, str(path)]
    processes = [subprocess.Popen([*command, f"op{i % 3}"]) for i in range(6)]
    assert [process.wait(timeout=60) for process in processes] == [0] * 6
    file = AnswerFile(path)
    assert [row.n_answers for row in file.stats()] == [150, 150, 150]
    file.close()


def test_keys_that_are_looked_up_are_noted_by_whom_they_serve() -> None:
    answers = Answers()

    async def look(*keys: str) -> set[str]:
        with noted_keys() as noted:
            answers.get_answer(keys[0])
            await asyncio.gather(
                *(
                    asyncio.to_thread(answers.get_answer, key)
                    for key in keys[1:]
                )
            )
        answers.get_answer("after")
        return noted

    async def both() -> list[set[str]]:
        return list(await asyncio.gather(look("a", "b", "c"), look("c", "d")))

    assert asyncio.run(both()) == [{"a", "b", "c"}, {"c", "d"}]


def test_stats_count_answers_and_prune_deletes_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    file = AnswerFile(tmp_path / "a.sqlite")
    file.put_answer(RECORD)
    file.put_answer(replace(RECORD, replicate=1, request="other"))
    assert file.stats() == [AnswerCount("m-1", "presence", 2, 0.5, 20, 6)]
    now += 3600
    assert file.prune(older_than=3600) == 0
    now += 1
    assert file.prune(older_than=3600) == 2
    assert list(file.records()) == []
    file.close()


def test_notes_are_believed_for_a_while_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    path = tmp_path / "a.sqlite"
    forgetful, lasting = AnswerFile(path, facts_last=60), AnswerFile(path)
    forgetful.put_fact("server", "can do")
    assert forgetful.get_fact("server") == "can do"
    now += 60
    assert forgetful.get_fact("server") == "can do"
    now += 1
    assert forgetful.get_fact("server") is None
    assert lasting.get_fact("server") == "can do"
    forgetful.close()
    lasting.close()


def test_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_text("hello " * 1000)
    with pytest.raises(
        RunError, match=r"a\.sqlite cannot be used to keep answers"
    ):
        AnswerFile(path)


def test_a_runs_store_and_its_answers_share_one_file(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.sync(ITEM, [Item(id="a", candidate="A cat.")])
        file = AnswerFile(tmp_path / FILE_NAME)
        file.put_answer(RECORD)
        store.sync(
            ITEM,
            [
                Item(id="a", candidate="A cat."),
                Item(id="b", candidate="A dog."),
            ],
        )
        file.close()
    with Store.read(tmp_path) as store:
        assert store.n_subjects() == 2
    file = AnswerFile(tmp_path / FILE_NAME)
    assert file.get_answer(RECORD.key) == ANSWER
    file.close()


def test_tools_give_every_metric_the_same_judge_and_keep_its_answers(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"contains": "", "answer": "a phrase"}')
    file = AnswerFile(tmp_path / "run.sqlite")
    tools = Tools(answers=Answers(file), options={"judge": {"samples": 2}})
    spec = f"scripted:{rules}"
    assert tools.judge(spec) is tools.judge(spec)
    assert asyncio.run(tools.judge(spec).ask(Rewrite("x y"))) == "a phrase"
    assert [record.operation for record in file.records()] == ["rewrite"]
    assert "mean of 2" in tools.identity("judge", spec)
    assert not tools.are_per_process([("judge", spec)])
    file.close()


def test_facts_of_the_cache_are_copied_into_the_run_and_new_ones_kept_in_both(
    tmp_path: Path,
) -> None:
    run_answers, shared = InMemory(), AnswerFile(tmp_path / "cache.sqlite")
    answers = Answers(run_answers, shared)
    assert answers.get_fact("served") is None
    assert run_answers.get_fact("served") is None
    shared.put_fact("served", "m-2026")
    assert answers.get_fact("served") == "m-2026"
    assert run_answers.get_fact("served") == "m-2026"
    run_answers.put_fact("served", "m-own")
    assert answers.get_fact("served") == "m-own"  # the run's own goes first
    answers.put_fact("more", "x")
    assert run_answers.get_fact("more") == shared.get_fact("more") == "x"
    alone = Answers(InMemory())
    alone.put_fact("more", "y")
    assert alone.get_fact("more") == "y"
    assert alone.get_fact("served") is None
    shared.close()


def test_ratings_of_a_panel_are_kept_in_the_run_alone(tmp_path: Path) -> None:
    run_answers, shared = InMemory(), AnswerFile(tmp_path / "cache.sqlite")
    Answers(run_answers, shared).put_rating("match", "q", "judge 0", 1.0)
    assert run_answers.ratings == {("match", "q", "judge 0"): 1.0}
    assert list(shared.ratings()) == []
    shared.close()

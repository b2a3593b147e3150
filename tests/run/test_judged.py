"""Metrics that ask a judge: answers are kept, counted beforehand, and bounded in cost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from beholder.api import Run
from beholder.backends import Answer, Request
from beholder.backends.scripted import Scripted
from beholder.kinds.scores.door import configure, score
from beholder.kinds.scores.engine import plan_scores
from beholder.metrics import METRICS
from beholder.records import Item
from beholder.run.answers import answers, costs
from beholder.run.compare import compare
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from toy.changing import changing
from toy.metric import ScheduledAsker

if "asked" not in METRICS.names():
    METRICS.register("asked")(ScheduledAsker)

ITEMS = [
    Item("a", "dog runs", ("A dog.",)),
    Item("b", "cat sits", ("A cat.",)),
    Item("c", "dog", ("A dog.",)),
]


@pytest.fixture
def judge(tmp_path: Path) -> str:
    """A judge that gives every unit a 4."""
    rules = tmp_path / "rules.jsonl"
    rules.write_text(json.dumps({"contains": "", "answer": "4"}) + "\n")
    return changing(rules)


def _score(judge: str, out: Path, cache: Path | None = None) -> Run:
    return score(ITEMS, ["asked"], judge=judge, out=out, cache=cache)


def _answers(out: Path) -> int:
    with closing(sqlite3.connect(out / FILE_NAME)) as db:
        return int(db.execute("SELECT count(*) FROM answers").fetchone()[0])


def test_a_judged_metric_is_scored_and_equal_questions_are_asked_once(
    judge: str, tmp_path: Path
) -> None:
    run = _score(judge, tmp_path / "run")
    (result,) = run.summary.values()
    assert result.values["grade"].mean == 4
    assert _answers(tmp_path / "run") == 2  # a and c ask the same


def test_another_run_finds_the_answers_in_the_cache(
    judge: str, tmp_path: Path
) -> None:
    cache = tmp_path / "cache.sqlite"
    _score(judge, tmp_path / "one", cache)
    (tmp_path / "rules.jsonl").write_text(
        json.dumps({"contains": "", "answer": "1"}) + "\n"
    )
    again = _score(judge, tmp_path / "two", cache)
    assert next(iter(again.summary.values())).values["grade"].mean == 4


def test_a_dry_run_counts_the_questions_and_asks_nobody(
    judge: str, tmp_path: Path
) -> None:
    data = tmp_path / "d.jsonl"
    rows = [
        {
            "id": i.id,
            "candidate": i.candidate,
            "references": list(i.references),
        }
        for i in ITEMS
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = configure(str(data), ["asked"], judge=judge, out=tmp_path / "run")
    (metric,) = plan_scores(config).askers
    assert metric.judge is not None
    assert metric.judge.n_calls == 2
    assert not (tmp_path / "run").exists()


def test_values_that_an_item_does_not_have_count_nowhere(
    tmp_path: Path,
) -> None:
    # "Hm." names nothing, so that its precision is not defined: of two items one counts.
    items = [
        Item("a", "Hm.", ("A dog runs.",), group={"system": "x"}),
        Item("b", "A dog runs.", ("A dog runs.",), group={"system": "x"}),
    ]
    runs = [
        score(items, ["dcscore"], out=tmp_path / name)
        for name in ("one", "two")
    ]
    (result,) = runs[0].summary.values()
    assert (
        result.n_scored,
        result.values["f1"].n,
        result.values["precision"].n,
    ) == (2, 2, 1)
    assert result.values["precision"].mean == 1.0
    with (
        Store.read(tmp_path / "one") as first,
        Store.read(tmp_path / "two") as two,
    ):
        compared = {d.value: d.paired for d in compare(first, two).differences}
    assert {"f1", "precision"} <= set(compared)


def test_the_words_of_every_question_are_kept_as_they_were_sent(
    judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[list[list[str]]] = []
    chat = Scripted.chat

    async def listening(self: Scripted, request: Request) -> Answer:
        sent.append(
            [[message.role, message.text] for message in request.messages]
        )
        return await chat(self, request)

    monkeypatch.setattr(Scripted, "chat", listening)
    _score(judge, tmp_path / "run")
    with Store.read(tmp_path / "run") as store:
        (asker,) = store.askers()
        outcomes = [store.score(asker.name, position) for position in range(3)]
    rows = [
        row
        for outcome in outcomes
        if outcome
        for row in outcome.detail["questions"]
    ]
    assert len(rows) == 3  # a and c ask the same, which was sent once
    assert sorted({str(row["messages"]) for row in rows}) == sorted(
        map(str, sent)
    )
    given_answers = answers(tmp_path / "run", [row["key"] for row in rows])
    assert {answer.said[0] for answer in given_answers.values()} == {"4"}
    assert {answer.operation for answer in given_answers.values()} == {
        "presence"
    }
    assert [
        (row.operation, row.n, row.cost) for row in costs(tmp_path / "run")
    ] == [("presence", 2, None)]

"""Criteria, questions and events that a planted judge writes; expected values by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.backends import Image, Request, Scripted
from beholder.data import read_items, to_row
from beholder.errors import ConfigError, ItemError
from beholder.judges import LLMJudge
from beholder.judges.operations import (
    AnswerFromPictures,
    TextQuestion,
    WriteCriteria,
    WriteQuestions,
)
from beholder.kinds.generation.askers import RowColumns
from beholder.kinds.generation.generators import parts_of
from beholder.kinds.generation.questions import (
    BLIND,
    UNANSWERED,
    CriteriaRow,
    QuestionsRow,
)
from beholder.metrics import Tools, metric
from beholder.records import Item, ItemScore
from toy.tools import OneJudge

_ITEM = re.compile(r'<item id="(\d+)">(.*?)</item>', re.DOTALL)
REFERENCE = "A grey cat sleeps. A dog barks at it."
CANDIDATE = "A cat sleeps. A bird sings. A man reads."


def tools(reply: Callable[[Request], object]) -> Tools:
    return OneJudge(
        LLMJudge(Scripted(lambda request: json.dumps(reply(request))))
    )


def events(*texts: str) -> dict[str, Any]:
    return {
        "criteria": [{"text": text, "dimension": "action"} for text in texts]
    }


class Viewer:
    """Lists planted events; met is what both texts say."""

    lists = {
        CANDIDATE: ("The cat sleeps.", "The bird sings.", "The man reads."),
        REFERENCE: ("The cat sleeps.", "The dog barks."),
    }

    def __call__(self, request: Request) -> object:
        prompt = request.messages[-1].text
        rows = [
            {"id": int(number), "state": "met", "quote": "cat sleeps"}
            if "cat" in text
            else {"id": int(number), "state": "not mentioned", "quote": None}
            for number, text in _ITEM.findall(prompt)
        ]
        if rows:
            return {"rows": rows}
        return events(
            *next(
                entries
                for text, entries in self.lists.items()
                if text in prompt
            )
        )


def test_events_are_checked_in_both_directions() -> None:
    item = Item("a", CANDIDATE, (REFERENCE,))
    item_score = asyncio.run(
        metric("autodq(judge='openai:m')").evaluate(item, tools(Viewer()))
    )
    assert item_score.values["precision"] == pytest.approx(
        1 / 3
    )  # one of three
    assert item_score.values["recall"] == pytest.approx(1 / 2)  # one of two
    assert item_score.values["f1"] == pytest.approx(0.4)  # 2 * 1/6 / (5/6)
    verdicts = [
        (unit.side, unit.text, unit.verdict) for unit in item_score.units
    ]
    assert verdicts[1] == ("candidate", "The bird sings.", "not_mentioned")
    assert verdicts[3] == ("reference", "The cat sleeps.", "met")
    with_criteria = Item(
        "a", CANDIDATE, (REFERENCE,), meta={"criteria": ["The dog barks."]}
    )
    alone = asyncio.run(
        metric("autodq(judge='openai:m')").evaluate(
            with_criteria, tools(Viewer())
        )
    )
    assert alone.values["recall"] == alone.values["f1"] == 0.0


def test_the_published_f1_is_that_of_means() -> None:
    # Precision and recall .8, .4 and .5, .9: means .65 and .65, where the mean of F1 is .588
    # (the example of AutoDQ in our specification of published protocols).
    autodq = metric("autodq(judge='openai:m')")
    sums = np.array([0.8 + 0.5, 0.4 + 0.9, 2.0])
    assert autodq.corpus(sums)["f1_of_means"] == pytest.approx(0.65)


def test_a_text_without_events_has_no_wrong_ones() -> None:
    judge = tools(
        lambda request: (
            events() if "<item" not in request.messages[-1].text else {}
        )
    )
    item_score = asyncio.run(
        metric("autodq(judge='openai:m')").evaluate(
            Item("a", "Blue.", ("Red.",)), judge
        )
    )
    assert item_score.values == {
        "f1": 1.0,
        "precision": 1.0,
        "recall": 1.0,
        "unread": 0.0,
    }


QUESTIONS = {
    "What colour is the cat?": ("grey", ["red", "blue", "green"]),
    "How many legs has the cat?": ("four", ["two", "six", "eight"]),
    "Who owns the cat?": ("a farmer", ["a king", "a judge", "a monk"]),
}


class Writer:
    """Answers colour from the source alone, legs always, the owner never.

    Attributes:
        invented: Quoted where the text has nothing to quote.
    """

    def __init__(self, invented: str | None = None) -> None:
        self.invented = invented

    def __call__(self, request: Request) -> object:
        prompt = request.messages[-1].text
        item_ids = _ITEM.findall(prompt)
        if not item_ids:
            return {
                "questions": [
                    {"question": question, "answer": answer, "wrong": wrong}
                    for question, (answer, wrong) in QUESTIONS.items()
                ]
            }
        source = REFERENCE in prompt
        rows = []
        for number, text in item_ids:
            question, *options = text.split("\n")
            question = question.partition(" (an answer")[0]
            right = QUESTIONS[question][0]
            knows = "legs" in question or ("colour" in question and source)
            letter = next(o[0] for o in options if o.endswith(right) == knows)
            quote = (
                "cat" if source and "owns" not in question else self.invented
            )
            rows.append({"id": int(number), "choice": letter, "quote": quote})
        return {"rows": rows}


@pytest.mark.parametrize("invented", [None, "four legs"])
def test_a_question_is_kept_if_only_its_source_answers_it(
    tmp_path: Path, invented: str | None
) -> None:
    item = Item("a", "A cat.", (REFERENCE,), group={"system": "m"})
    asker = QuestionsRow("openai:m", source="references")
    item_score = asyncio.run(asker.evaluate(item, tools(Writer(invented))))
    parts = parts_of(item_score.detail)
    assert [part.label for part in parts] == ["", BLIND, UNANSWERED]
    assert item_score.values == {"written": 3.0, "kept": 1 / 3, "blind": 1 / 3}
    row = asker.row(item, parts, "m", "identity", RowColumns())
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(to_row(row)) + "\n", "utf-8")
    (again,) = read_items(path)
    assert isinstance(again, Item)
    assert again.meta["questions"] == [
        {
            "question": "What colour is the cat?",
            "options": ["grey", "red", "blue", "green"],
            "answer": "grey",
            "source": "judge",
        }
    ]
    assert (again.candidate, again.references) == (
        item.candidate,
        item.references,
    )


def test_blind_answers_are_asked_in_three_orders() -> None:
    writer, prompts = Writer(), []

    def noted(request: Request) -> object:
        prompts.append(request.messages[-1].text)
        return writer(request)

    item = Item("a", "A cat.", (REFERENCE,))
    asyncio.run(
        QuestionsRow("openai:m", source="references").evaluate(
            item, tools(noted)
        )
    )
    blind = [
        prompt
        for prompt in prompts
        if _ITEM.findall(prompt) and REFERENCE not in prompt
    ]
    assert len(blind) == len(set(blind)) == 3


def test_the_right_option_is_not_always_the_first(tmp_path: Path) -> None:
    # A judge that always says A must not pass the check against the source.
    question_texts = [f"Question {n}?" for n in range(12)]

    def first(request: Request) -> object:
        item_ids = _ITEM.findall(request.messages[-1].text)
        if item_ids:
            return {
                "rows": [
                    {"id": int(n), "choice": "A", "quote": "cat"}
                    for n, _ in item_ids
                ]
            }
        options = {"answer": "w", "wrong": ["x", "y", "z"]}
        return {
            "questions": [
                {"question": question, **options}
                for question in question_texts
            ]
        }

    item = Item("a", "A cat.", (REFERENCE,))
    item_score = asyncio.run(
        QuestionsRow("openai:m", 12, "references").evaluate(item, tools(first))
    )
    labels = [part.label for part in parts_of(item_score.detail)]
    assert labels.count(UNANSWERED) >= 4  # about nine of twelve


def test_criteria_written_from_references_are_scored(tmp_path: Path) -> None:
    item = Item("a", "A grey cat sleeps.", (REFERENCE,))
    asker = CriteriaRow("openai:m", source="references", kind="events")
    item_score = asyncio.run(asker.evaluate(item, tools(Viewer())))
    assert item_score.values == {"written": 2.0}
    row = asker.row(
        item, parts_of(item_score.detail), "m", "identity", RowColumns()
    )
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(to_row(row)) + "\n", "utf-8")
    (again,) = read_items(path)
    assert isinstance(again, Item)
    (scored,) = metric("checklist").score([again])
    assert isinstance(scored, ItemScore)
    assert scored.values["accuracy"] == 0.5  # the cat sleeps; no dog


def test_questions_about_pictures_need_no_quote() -> None:
    picture = Image(b"picture", "image/png")
    operation = AnswerFromPictures(
        [TextQuestion("Colour?", ("red", "blue"))], images=[picture]
    )
    reply = {"rows": [{"id": 0, "choice": "B", "quote": None}]}
    backend = Scripted(lambda request: json.dumps(reply))
    (answer,) = asyncio.run(LLMJudge(backend).ask(operation))
    assert answer is not None
    assert answer.state == "blue"
    assert picture in backend.requests[0].messages[-1].parts


def test_options_that_are_equal_are_asked_again() -> None:
    same = {
        "question": "Colour?",
        "answer": "red",
        "wrong": ["Red", "blue", "green"],
    }
    good = same | {"wrong": ["grey", "blue", "green"]}
    replies = [{"questions": [same]}, {"questions": [good, good]}]
    backend = Scripted(
        lambda request: json.dumps(replies[min(len(backend.requests) - 1, 1)])
    )
    (question,) = asyncio.run(
        LLMJudge(backend).ask(WriteQuestions(text="A cat.", n=2))
    )
    assert question.wrong == ("grey", "blue", "green")
    assert len(backend.requests) == 2


@pytest.mark.parametrize(
    "parameters",
    [{}, {"text": " "}, {"text": "A.", "images": (Image(b"x", "image/png"),)}],
)
def test_criteria_need_one_source(parameters: dict[str, Any]) -> None:
    with pytest.raises(ItemError, match="needs pictures or a text"):
        WriteCriteria(**parameters)


def test_rows_need_the_source_they_name() -> None:
    with pytest.raises(ItemError, match="no reference"):
        CriteriaRow("openai:m", source="references").check(Item("a", "A cat."))
    with pytest.raises(ItemError, match="no picture"):
        QuestionsRow("openai:m").check(Item("a", "A cat.", ("A cat.",)))
    with pytest.raises(ConfigError, match="n=0"):
        CriteriaRow("openai:m", 0)

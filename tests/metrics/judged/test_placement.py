"""Alternative texts on their pages, with a scripted judge; decisions by the W3C's tree, by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image as PILImage

from beholder.backends import Request, Scripted
from beholder.errors import ConfigError
from beholder.judges import LLMJudge, Panel
from beholder.judges.answers import InMemory
from beholder.judges.operations import PlaceText, TextAnswer
from beholder.kinds.agreement.measure import agreement, collect
from beholder.kinds.agreement.protocols import generic
from beholder.media.reading import TextLine
from beholder.metrics import metric
from beholder.metrics.judged.placement import context_of, names_used
from beholder.records import Item, ItemFailure, ItemScore
from toy.cases import each_case
from toy.tools import OneJudge

PAGE = "Opening hours. Our museum opens at nine. Ada Lovelace wrote here."


def rows(
    *answers: str, evidence: str = "none", quote: str | None = None
) -> str:
    return json.dumps(
        {
            "rows": [
                {
                    "id": n,
                    "answer": answer,
                    "evidence": evidence,
                    "quote": quote,
                }
                for n, answer in enumerate(answers)
            ]
        }
    )


def scored(
    folder: Path,
    answers: str,
    text: str,
    names_function: str = "met",
    **context: Any,
) -> ItemScore | ItemFailure:
    PILImage.new("RGB", (8, 8), "red").save(folder / "p.png")

    def reply(request: Request) -> str:
        if "four questions" in request.messages[-1].text:
            question_ids = re.findall(
                r'<item id="(.)">', request.messages[-1].text
            )
            answer_rows = json.loads(answers)["rows"]
            return json.dumps(
                {
                    "rows": [
                        row
                        for row in answer_rows
                        if str(row["id"]) in question_ids
                    ]
                }
            )
        return json.dumps(
            {"rows": [{"id": 0, "state": names_function, "quote": None}]}
        )

    item = Item(
        "a",
        text,
        images=("p.png",),
        meta={"context": {"page_text": PAGE, **context}},
    )
    tools = OneJudge(LLMJudge(Scripted(reply)), folder)
    return metric("placement", judge="given").score([item], tools=tools)[0]


@pytest.mark.parametrize(
    ("answers", "text", "names_function", "decision", "verdict"),
    [
        (("elsewhere", "no", "no", "no"), "", "met", "empty", "fits"),
        (
            ("effect", "no", "simple", "no"),
            "Sale!",
            "met",
            "empty",
            "should_be_empty",
        ),
        (
            ("no", "no", "redundant", "no"),
            "Opening hours",
            "met",
            "empty",
            "repeats",
        ),
        (
            ("no", "no", "no", "yes"),
            "A line",
            "met",
            "empty",
            "should_be_empty",
        ),
        (
            ("no", "no", "simple", "no"),
            "",
            "met",
            "describe",
            "should_not_be_empty",
        ),
        (("no", "no", "simple", "yes"), "A boat", "met", "describe", "fits"),
        (
            ("no", "yes", "simple", "no"),
            "A house",
            "contradicted",
            "function",
            "target_not_named",
        ),
        (("function", "no", "no", "no"), "Home", "met", "function", "fits"),
        (("no", "no", "complex", "no"), "A map", "met", "long", "needs_long"),
        (("no", "unclear", "no", "no"), "A map", "met", "unclear", "unclear"),
    ],
)
def test_the_first_yes_decides(
    tmp_path: Path,
    answers: tuple[str, ...],
    text: str,
    names_function: str,
    decision: str,
    verdict: str,
) -> None:
    item_score = scored(tmp_path, rows(*answers), text, names_function)
    assert isinstance(item_score, ItemScore), item_score
    assert (item_score.detail["decision"], item_score.detail["verdict"]) == (
        decision,
        verdict,
    )
    assert item_score.values.get("fits") == (
        None if verdict == "unclear" else verdict == "fits"
    )
    assert item_score.values[decision] == 1.0
    assert [unit.verdict for unit in item_score.units] == [
        answer.replace(" ", "_") for answer in answers
    ]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("A sign: mind the step", "fits"), ("A sign: mind", "text_left_out")],
)
def test_a_text_has_four_fifths_of_the_words_of_its_picture(
    tmp_path: Path, text: str, verdict: str
) -> None:
    answers = rows(
        "only here",
        "no",
        "no",
        "no",
        evidence="picture",
        quote="MIND THE STEP",
    )
    item_score = scored(tmp_path, answers, text)
    assert isinstance(item_score, ItemScore)
    assert item_score.detail["verdict"] == verdict
    assert item_score.units[0].detail == {
        "evidence": "picture",
        "quote": "MIND THE STEP",
        "spans": [],
    }


def test_a_longer_description_beside_the_text_is_enough(
    tmp_path: Path,
) -> None:
    item_score = scored(
        tmp_path, rows("no", "no", "complex", "no"), "A map", long="North ..."
    )
    assert isinstance(item_score, ItemScore)
    assert item_score.detail["verdict"] == "fits"


def test_a_quote_has_its_place_in_the_page_and_an_invented_one_is_asked_again(
    tmp_path: Path,
) -> None:
    true, invented = (
        rows("no", "no", "redundant", "no", evidence="page", quote=quote)
        for quote in ("museum opens at nine", "opens at ten")
    )
    item_score = scored(tmp_path, true, "A museum")
    assert isinstance(item_score, ItemScore)
    ((start, end),) = item_score.units[2].detail["spans"]
    assert PAGE[start:end] == "museum opens at nine"
    item_score = scored(tmp_path, invented, "A museum")
    assert isinstance(item_score, ItemScore)
    assert [unit.verdict for unit in item_score.units] == [
        "no",
        "no",
        "unread",
        "no",
    ]
    assert item_score.detail["decision"] == "unclear"
    prompts: list[str] = []

    def once(request: Request) -> str:
        prompts.append(request.messages[-1].text)
        again = {
            "id": 2,
            "answer": "redundant",
            "evidence": "page",
            "quote": "OPENS  at nine",
        }
        return invented if len(prompts) == 1 else json.dumps({"rows": [again]})

    judge = LLMJudge(Scripted(once))
    answers = asyncio.run(
        judge.ask(PlaceText("A museum", {"link": "/", "page": PAGE}))
    )
    assert answers[2] == TextAnswer(
        "redundant", ((26, 39),), evidence="page", quote="OPENS  at nine"
    )
    assert len(prompts) == 2
    assert re.findall(r'<item id="(.)">', prompts[1]) == ["2"]
    assert "An earlier answer" in prompts[1]


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ({"page_text": 3}, r"context: Expected `str \| null`"),
        ("{", "context: "),
        ({"role": "hero"}, "context: Invalid enum value"),
        ({"page_text": "word " * 4001}, "4,001 words"),
    ],
)
def test_a_context_of_another_form_is_a_failure_that_names_it(
    field: Any, why: str
) -> None:
    built = metric("placement(judge='openai:m', sight=False)")
    (failure,) = built.score([Item("a", "b", meta={"context": field})], tools=OneJudge(LLMJudge(Scripted(lambda _: ""))))  # fmt: skip
    assert isinstance(failure, ItemFailure)
    assert re.search(why, failure.message)


def test_blind_placement_needs_a_context_and_opens_no_picture() -> None:
    built = metric("placement(judge='openai:m', sight=False)")
    tools = OneJudge(
        LLMJudge(Scripted(lambda _: rows("no", "no", "simple", "no")))
    )
    alone, with_names = built.score(
        [
            Item("a", "b"),
            Item(
                "c",
                "A boat",
                images=("no.png",),
                meta={"context": {"caption": "x"}},
            ),
        ],
        tools=tools,
    )
    assert isinstance(alone, ItemFailure)
    assert "needs the field 'context'" in alone.message
    assert isinstance(with_names, ItemScore)


@each_case(
    ("text", "context", "names", "strange"),
    [
        ("Ada Lovelace at a desk", {"names": ["Ada Lovelace"]}, "used", []),
        (
            "Miss Lovelace at a desk",
            {"caption": "Ada Lovelace, 1843"},
            "used",
            [],
        ),
        (
            "A woman at a desk",
            {"caption": "Ada Lovelace, 1843"},
            "left_out",
            [],
        ),
        (
            "A portrait of Grace Hopper",
            {"names": ["Ada Lovelace"]},
            "other",
            ["Grace Hopper"],
        ),
        (
            "A woman at a desk",
            {"caption": "A woman. She writes."},
            "none_known",
            [],
        ),
        (
            "Ein Bild von Ada",
            {"language": "German", "names": ["Ada Lovelace"]},
            "left_out",
            [],
        ),
    ],
)
def test_names_are_those_that_the_context_gives(
    text: str, context: dict[str, Any], names: str, strange: list[str]
) -> None:
    names_and_strange = names_used(
        text, context_of(Item("a", text, meta={"context": context}))
    )
    assert names_and_strange == (names, strange)


def saying(answers: str) -> LLMJudge:
    return LLMJudge(Scripted(lambda _: answers))


def test_a_panel_decides_by_more_than_half() -> None:
    answers_by_seat = (
        ["no"] * 4,
        ["no", "yes", "no", "no"],
        ["no", "yes", "simple", "no"],
    )
    seats = [saying(rows(*answers)) for answers in answers_by_seat]
    operation = PlaceText("x", {"page": PAGE})
    three = asyncio.run(Panel(seats, InMemory()).ask(operation))
    assert [answer and answer.state for answer in three] == [
        "no",
        "yes",
        "no",
        "no",
    ]
    two = asyncio.run(Panel(seats[:2], InMemory()).ask(operation))
    assert [answer and (answer.state, answer.tied) for answer in two] == [
        ("no", False), ("unclear", True), ("no", False), ("no", False),
    ]  # fmt: skip


def test_categories_are_each_a_yes_or_no_of_the_value_of_their_name() -> None:
    # Ten items: of four "empty" three are found and one other is taken for it.
    grades = [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    items = [
        Item(str(n), "x", images=(f"{n}.png",), judgments={"decision": "empty" if n < 4 else "describe"})
        for n in range(10)
    ]  # fmt: skip
    measures = generic(items, ["decision"], "verdicts")
    assert {measure.prefers for measure in measures} == {"empty", "describe"}
    (recall,) = [
        m
        for m in measures
        if m.prefers == "empty" and m.kind == "recall of yes"
    ]
    data = collect(recall, items)
    scores = data.scores(
        {str(n): float(grade) for n, grade in enumerate(grades)}
    )
    assert (
        agreement(data, np.asarray(scores), n_resamples=0, seed=0).value
        == 3 / 4
    )


class FakeReader:
    """Reads the same two lines in every picture."""

    identity = "fake@1"
    per_process: ClassVar[bool] = False

    def lines(self, picture: PILImage.Image) -> Sequence[TextLine]:
        return [TextLine("MIND THE STEP", 0.99), TextLine("blurred", 0.4)]


def test_a_reader_gives_the_words_that_the_text_must_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PILImage.new("RGB", (8, 8), "red").save(tmp_path / "p.png")
    monkeypatch.setattr(
        "beholder.media.reading.picture_reader", lambda spec: FakeReader()
    )
    # The judge quotes one word of three.
    answers = rows(
        "only here", "no", "no", "no", evidence="picture", quote="MIND"
    )
    tools = OneJudge(LLMJudge(Scripted(lambda request: answers)), tmp_path)
    placement = metric("placement", judge="given", reader="rapidocr")
    for text, verdict, left_out in (
        ("A sign: mind the step", "fits", []),
        ("A sign: mind", "text_left_out", ["THE", "STEP"]),
    ):
        item = Item("a", text, images=("p.png",))
        (item_score,) = placement.score([item], tools=tools)
        assert isinstance(item_score, ItemScore)
        assert item_score.detail["verdict"] == verdict
        assert item_score.detail["words_read"] == ["MIND", "THE", "STEP"]
        assert item_score.detail["words_left_out"] == left_out
    signature = placement.signature(placement.identities(tools))
    assert "|reader:fake@1" in signature
    with pytest.raises(ConfigError, match="sight=False"):
        metric("placement", judge="given", reader="rapidocr", sight=False)

"""What every asker really asks of a judge, and whether it looks, is what it declares.

The signature names the prompts of what is declared, and a run compares the pictures of what looks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest

from beholder.asking.asker import Asker
from beholder.asking.tools import Pictures
from beholder.errors import ItemError
from beholder.judges import Draw, Judge, judge
from beholder.judges.operations import OPERATIONS, Operation
from beholder.judges.templates import Templates
from beholder.kinds.choose.battles import BattleAsker
from beholder.kinds.choose.engine import RepeatedCaption
from beholder.kinds.generation.askers import (
    CaptionRow,
    ClassifyRow,
    TranslateRow,
    VaryRow,
)
from beholder.kinds.generation.questions import CriteriaRow, QuestionsRow
from beholder.kinds.generation.reviews import WriteReviews
from beholder.kinds.narratives.judging import (
    CaptionFrame,
    RateSteps,
    RateStoryline,
)
from beholder.kinds.ranking.rankers import ByMetric, Response
from beholder.kinds.revise.engine import ReviseRow
from beholder.metrics import METRICS, metric, params
from beholder.records import Frame, Item, Reviews, Storyline
from toy import recorded
from toy.cases import each_case
from toy.tools import OneJudge

JUDGE = "oracle:model"
CAPTIONER = CaptionFrame(JUDGE)
CATEGORIES = {"nature": "plants", "trade": "shops"}


class Recording(Judge):
    """A judge that writes down what it is asked."""

    def __init__(self, of: Judge) -> None:
        self._of = of
        self.asked: set[str] = set()

    @property
    def identity(self) -> str:
        return self._of.identity

    async def accepts_images(self) -> bool:
        return True

    def can(self, kind: type[Operation[Any]]) -> bool:
        return self._of.can(kind)

    async def ask(self, operation: Operation[Any], draw: Draw = Draw()) -> Any:  # noqa: B008
        self.asked.add(operation.name)
        return await self._of.ask(operation, draw)


def items(folder: Path) -> list[Item]:
    return recorded.items(folder)


def blind(folder: Path) -> list[Item]:
    return [replace(item, images=()) for item in items(folder)]


def reviews(folder: Path) -> list[Reviews]:
    return [
        Reviews(
            "r", ("A dog.", "A cat runs."), image=items(folder)[0].images[0]
        )
    ]


def frames(folder: Path) -> list[Frame]:
    return [Frame(item.id, image=item.images[0]) for item in items(folder)]


def storylines(folder: Path) -> list[Storyline]:
    storyline_frames = frames(folder)
    return [
        Storyline(
            "s",
            tuple(
                replace(frame, caption="A dog runs.")
                for frame in storyline_frames[:3]
            ),
        )
    ]


def question_items(folder: Path) -> list[Item]:
    question = {"question": "Where?", "options": ["in", "out"], "answer": "in"}
    points = [
        {"text": t, "kind": "rule", "subjects": ["<dog>"]} for t in "abcdef"
    ]  # no quote
    meta = {
        "criteria": points,
        "questions": [question, {"question": "Who?", "answer": "a dog"}],
    }
    return [replace(item, meta=meta) for item in items(folder)]


def on_pages(folder: Path) -> list[Item]:
    context = {
        "page_text": "Dogs of the town.",
        "role": "functional",
        "link_target": "/dogs",
    }
    return [replace(item, meta={"context": context}) for item in items(folder)]


def pairs(folder: Path) -> list[Item]:
    meta = {"other": "A cat sleeps on a red chair."}
    return [replace(item, meta=meta) for item in items(folder)]


def marked(folder: Path) -> list[Item]:
    marks = [{"kind": "omission", "text": "a cat", "instead": "A cat sleeps."}]
    return [replace(item, meta={"marks": marks}) for item in items(folder)]


Row = tuple[Asker[Any], Callable[[Path], Sequence[Any]], set[str], bool]

# What is asked, of what, which operations, and whether pictures are opened; by hand.
TABLE: dict[str, Row] = {
    "accord": (
        metric("accord", judge=JUDGE),
        blind,
        {"presence", "contradict"},
        False,
    ),
    "autodq": (
        metric("autodq", judge=JUDGE),
        items,
        {"write_criteria", "check_criteria"},
        False,
    ),
    "criteria": (CriteriaRow(JUDGE), items, {"write_criteria"}, True),
    "criteria of references": (
        CriteriaRow(JUDGE, source="references"),
        items,
        {"write_criteria"},
        False,
    ),
    "questions": (
        QuestionsRow(JUDGE),
        items,
        {"write_questions", "answer_questions", "answer_from_pictures"},
        True,
    ),
    "checklist": (
        metric("checklist", judge=JUDGE),
        question_items,
        {"check_criteria"},
        False,
    ),
    "checklist, subjects": (
        metric("checklist(rules='capricorn')", judge=JUDGE),
        question_items,
        {"check_criteria", "name_subjects"},
        False,
    ),
    "qa": (
        metric("qa(rules='captionqa')", judge=JUDGE),
        question_items,
        {"answer_questions"},
        False,
    ),
    "qa, open": (
        metric("qa", judge=JUDGE),
        question_items,
        {"answer_questions", "match_answers"},
        False,
    ),
    "clair": (metric("clair", judge=JUDGE), items, {"assess"}, False),
    "dcscore": (
        metric("dcscore", judge=JUDGE),
        items,
        {"decompose", "match", "verify"},
        True,
    ),
    "dcscore, blind": (
        metric("dcscore(match='nearest')", judge=JUDGE),
        blind,
        {"decompose", "match_nearest", "verify"},
        False,
    ),
    "direct_assessment": (
        metric("direct_assessment", judge=JUDGE),
        items,
        {"assess"},
        False,
    ),
    "direct_assessment, both": (
        metric("direct_assessment(setting='both')", judge=JUDGE),
        items,
        {"assess"},
        True,
    ),
    "dsg": (metric("dsg", judge=JUDGE), items, {"verify"}, False),
    "fleur": (metric("fleur", judge=JUDGE), items, {"grade"}, True),
    "llava_critic": (
        metric("llava_critic", judge=JUDGE),
        items,
        {"assess"},
        True,
    ),
    "perplexity": (
        metric("perplexity", judge=JUDGE),
        items,
        {"perplexity"},
        True,
    ),
    "perplexity, blind": (
        metric("perplexity(image=False)", judge=JUDGE),
        items,
        {"perplexity"},
        False,
    ),
    "audit": (
        metric("audit", judge=JUDGE),
        items,
        {"decompose", "verify"},
        True,
    ),
    "placement": (
        metric("placement", judge=JUDGE),
        on_pages,
        {"place_text", "check_criteria"},
        True,
    ),
    "direct_assessment, page": (
        metric("direct_assessment(setting='page')", judge=JUDGE),
        on_pages,
        {"assess_in_context"},
        True,
    ),
    "posh": (
        metric("posh", judge=JUDGE),
        items,
        {"presence", "contradict"},
        False,
    ),
    "posh, lists": (
        metric("posh(asking='list')", judge=JUDGE),
        items,
        {"presence_list"},
        False,
    ),
    "posh, alone": (
        metric("posh(contradictions=False)", judge=JUDGE),
        items,
        {"presence"},
        False,
    ),
    "posh, published": (
        metric("posh(rules='reference')", judge=JUDGE),
        items,
        {"presence"},
        False,
    ),
    "posh, rewritten": (
        metric("posh(rules='reference', identifiers='judge')", judge=JUDGE),
        items,
        {"presence", "rewrite"},
        False,
    ),
    "prometheus": (
        metric("prometheus", judge=JUDGE),
        items,
        {"assess"},
        False,
    ),
    "response": (Response(judge=JUDGE), reviews, {"rank"}, True),
    "response, blind": (
        Response(judge=JUDGE, image=False),
        reviews,
        {"rank"},
        False,
    ),
    "by metric": (
        ByMetric(metric("fleur", judge=JUDGE)),
        reviews,
        {"grade"},
        True,
    ),
    "caption": (CaptionRow(JUDGE), items, {"caption"}, True),
    # The played answer is one word, so it is asked for again.
    "caption, words": (
        CaptionRow(JUDGE, words=(5, 9)),
        items,
        {"caption", "caption_again"},
        True,
    ),
    "caption, second": (RepeatedCaption(JUDGE), items, {"caption"}, True),
    "battle": (BattleAsker(JUDGE), pairs, {"compare"}, True),
    "classify": (ClassifyRow(JUDGE, CATEGORIES), items, {"classify"}, True),
    "classify texts": (
        ClassifyRow(JUDGE, CATEGORIES, "candidate"),
        items,
        {"classify"},
        False,
    ),
    "translate": (
        TranslateRow(JUDGE, "English", "German"),
        items,
        {"translate"},
        False,
    ),
    "revise": (ReviseRow(JUDGE), marked, {"revise_text"}, False),
    "vary": (VaryRow(JUDGE), items, {"vary"}, False),
    "review": (WriteReviews(JUDGE), frames, {"review"}, True),
    "caption_frame": (CaptionFrame(JUDGE), frames, {"caption"}, True),
    "rate_storyline": (
        RateStoryline(JUDGE),
        storylines,
        {"rate_sequence"},
        True,
    ),
    "rate_storyline, captions": (
        RateStoryline(
            JUDGE,
            by="captions",
            captioner=CAPTIONER,
            captions=dict.fromkeys(
                ("market", "harbour", "street"), "A dog runs."
            ),
        ),
        storylines,
        {"rate_sequence"},
        False,
    ),
    "rate_steps": (RateSteps(JUDGE), storylines, {"rate_transition"}, True),
}


def asking_classes(
    base: type[Asker[Any]] = Asker,
) -> Iterator[type[Asker[Any]]]:
    """Classes of ours that name a judge."""
    for cls in base.__subclasses__():
        yield from asking_classes(cls)
        has_judge = any(p.metadata["tool"] == "judge" for p in params(cls))
        whole = hasattr(cls, "registered_name") and not isabstract(cls)
        if has_judge and whole and cls.__module__.startswith("beholder."):
            yield cls


def test_the_table_has_everything_that_asks_a_judge() -> None:
    for name in METRICS.builtin():
        METRICS.get(name)
    assert {type(row[0]) for row in TABLE.values()} - {ByMetric} == set(
        asking_classes()
    )


@pytest.mark.parametrize("name", TABLE)
def test_what_is_asked_is_what_is_declared(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker, subjects_in, operations, looks = TABLE[name]
    opened: list[str] = []
    files = Pictures.files

    def noting(self: Pictures, names: Sequence[str]) -> list[Path]:
        opened.extend(names)
        return files(self, names)

    monkeypatch.setattr(Pictures, "files", noting)
    recording = Recording(judge(JUDGE))
    tools = OneJudge(recording, tmp_path)
    subjects = list(subjects_in(tmp_path))
    prepared = asker.prepare(subjects)
    for subject in subjects:
        try:
            asyncio.run(prepared.evaluate(subject, tools))
        except ItemError:
            continue  # a played answer may be none
    assert recording.asked == operations
    assert set(prepared.operations_asked) == operations
    assert bool(opened) == looks == prepared.looks


@each_case("name", TABLE)
def test_the_class_declares_all_that_it_may_ask(name: str) -> None:
    asker, _, operations, _ = TABLE[name]
    declared = (
        asker.metric.operations
        if isinstance(asker, ByMetric)
        else asker.operations
    )
    assert operations <= set(declared) <= set(OPERATIONS)


def test_each_prompt_belongs_to_an_operation() -> None:
    assert set(Templates().names()) <= set(OPERATIONS)


def test_a_prompt_changes_the_signatures_of_those_that_ask_it_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "verify.v9.txt").write_text(
        "[system]\nJudge.\n[user]\n$statements", "utf-8"
    )
    ours, prompted = judge(JUDGE), judge(JUDGE, prompts=tmp_path)
    for asker, _, operations, _ in TABLE.values():
        operations_asked = asker.operations_asked
        same = ours.identity_for(operations_asked) == prompted.identity_for(
            operations_asked
        )
        assert same == ("verify" not in operations)


def test_what_has_no_prompt_names_none() -> None:
    identity, digest = judge(JUDGE).identity_for(["perplexity"]).split("@")
    assert identity == "oracle:oracle(mean of 5)"  # without "prompts@..."
    assert re.fullmatch("[0-9a-f]{12}", digest)  # of the code of the backend

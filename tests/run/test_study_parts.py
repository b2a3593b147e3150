"""Parts of the study of storylines, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from beholder.aio import run_sync
from beholder.base.dates import PartialDate
from beholder.judges.base import Judge
from beholder.judges.operations.base import Operation
from beholder.judges.operations.rewrite import Translate, TranslatedClause
from beholder.kinds.generation.askers import TranslateRow
from beholder.kinds.narratives import build
from beholder.kinds.narratives.config import CaptionOptions, NarrateConfig
from beholder.kinds.narratives.inputs import Inputs
from beholder.metrics import Tools
from beholder.records import Frame, Item, Storyline

FRAMES = [
    Frame("late", date=PartialDate.parse("1930")),
    Frame("early", date=PartialDate.parse("1928-03")),
    Frame("between", date=PartialDate.parse("1929-01-05")),
]


def draw_rows(frames: list[Frame]) -> tuple[list[str], str]:
    at = {frame.id: row for row, frame in enumerate(frames)}
    pictures: Any = SimpleNamespace(frames=frames, rows=at)
    rows, order = build.choose_matrix_rows(
        pictures, [Storyline("s", tuple(frames[:2]))]
    )
    return [frames[row].id for row in rows], order


def test_pictures_of_the_matrix_stand_in_order_of_time_where_all_are_dated() -> (
    None
):
    assert draw_rows(FRAMES) == (
        ["early", "between", "late"],
        "in order of time",
    )
    undated = [*FRAMES[:2], replace(FRAMES[2], date=None)]
    assert draw_rows(undated) == (
        ["late", "early", "between"],
        "in order of the file",
    )


def test_narratives_that_step_back_by_their_dates_are_named() -> None:
    late, early, between = FRAMES
    turned = Storyline("turned", (early, late, between, late, early))
    year = replace(between, id="year", date=PartialDate.parse("1930"))
    fine = Storyline(
        "fine", (early, between, late, year, late)
    )  # one year tells no order
    assert build.cautions_of(None, [fine]) == []
    (note,) = build.cautions_of(None, [fine, turned])
    assert note.startswith("1 narratives step back in time")
    assert "turned (2)" in note


def test_estimated_tokens_of_a_caption_are_those_of_its_mean_length() -> None:
    config = NarrateConfig(
        "s",
        Path("r"),
        ("captions",),
        judge="openai:m",
        captions=CaptionOptions(None, 10, 50),
    )
    storyline = Storyline("s", tuple(FRAMES[:2]))
    tokens = build.cost_table(
        config, Inputs((storyline,), tuple(FRAMES))
    ).tokens
    # 30 words are 40 tokens, beside 1500 of the picture and 200 of instructions
    assert tokens.caption == pytest.approx(1740)
    assert tokens.by_captions == pytest.approx(400 + 2 * 40)


class Clerk(Judge):
    """Keeps what it is given to translate."""

    def __init__(self) -> None:
        self.given: list[str] = []

    @property
    def identity(self) -> str:
        return "clerk"

    def can(self, kind: type[Operation[Any]]) -> bool:
        return kind is Translate

    async def ask(self, operation: Any, draw: Any = None) -> Any:
        self.given.append(operation.text)
        return [TranslatedClause(operation.text, "so")]


def test_marks_of_speech_are_not_translated() -> None:
    row = Item(
        "1",
        "<noise> ek kutta </noise> bhaagta hai",
        ("<pause/>", "ek <laugh>kutta"),
    )
    clerk = Clerk()
    asker = TranslateRow(judge="builtin", source="Hindi", target="English")
    row_texts = run_sync(asker.make(row, clerk, Tools()))
    assert [text.split() for text in clerk.given] == [
        ["ek", "kutta", "bhaagta", "hai"],
        ["ek", "kutta"],
    ]
    assert [part.text for part in row_texts] == ["so", "so"]


def test_texts_are_translated_by_judges_that_cannot_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from beholder.backends import BACKENDS
    from toy.reviewer import Reviewer

    if "reviewer" not in BACKENDS.names():
        BACKENDS.register("reviewer")(Reviewer)
    asker = TranslateRow(
        judge="reviewer(model='m', images=False)",
        source="English",
        target="Hindi",
    )
    assert "reviewer:m" in asker.identities(Tools())["judge"]

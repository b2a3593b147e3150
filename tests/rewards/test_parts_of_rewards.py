"""Texts, guards and tokens of rewards, against values by hand."""

from __future__ import annotations

from typing import Any

import pytest

from beholder import Item, ItemScore, Unit
from beholder.errors import ConfigError
from beholder.rewards import LengthGuard, RepetitionGuard, by_token
from beholder.rewards.reward import items_of, n_blank, shift_offsets, text_of
from toy.cases import each_case


@each_case(
    ("completion", "text"),
    [
        (" A dog. ", "A dog."),
        ([{"role": "assistant", "content": "A dog."}], "A dog."),
        (
            [
                {"role": "assistant", "content": "A cat."},
                {"role": "user", "content": "Again."},
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "A dog."}],
                },
                {"role": "tool", "content": "42"},
            ],
            "A dog.",
        ),
        ([{"role": "assistant", "content": None}], ""),
        ("<think>Is it a cat?</think>\n\nA dog.", "A dog."),
        ("Is it a cat?</think>A dog.", "A dog."),
        ("<think>Is it a cat? It has", ""),
        ("  <think>Is it a cat? It has", ""),
        ("<think>A cat?</think> <think>Or a dog", ""),
        ([], ""),
    ],
)
def test_the_text_of_a_completion(completion: Any, text: str) -> None:
    assert text_of(completion) == text


def test_offsets_count_from_the_end_of_the_thinking() -> None:
    assert n_blank("<think>A cat?</think>\n\n A dog.") == 3
    assert n_blank("A dog.\n") == 0
    assert shift_offsets([(0, 2), (2, 3), (3, 4), (4, 8), (0, 0)], 3) == [
        (0, 0), (0, 0), (0, 1), (1, 5), (0, 0)
    ]  # fmt: skip


def test_a_completion_of_something_else_is_named() -> None:
    with pytest.raises(ConfigError, match="a completion holds 3"):
        text_of([3])  # type: ignore[list-item]


def test_items_have_the_references_and_pictures_of_their_rows() -> None:
    items = items_of(
        ["a", "b", "c"],
        ["one", ["two", " ", "three"], None],
        [None, "x.jpg", ["y"]],
    )
    assert [item.references for item in items] == [
        ("one",),
        ("two", "three"),
        (),
    ]
    assert [item.images for item in items] == [(), ("x.jpg",), ("y",)]


def test_columns_of_another_length_or_kind_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 completions have 1 references"):
        items_of(["a", "b"], ["one"], [None, None])
    with pytest.raises(ConfigError, match="the column of references holds 7"):
        items_of(["a"], [[7]], [None])


def _item(candidate: str, *references: str) -> Item:
    return Item(id="x", candidate=candidate, references=references)


@pytest.mark.parametrize(
    ("n_words", "references", "factor"),
    [
        (15, (10,), 1.0),  # exactly the limit of 1.5
        (30, (10,), 0.5),
        (30, (10, 20), 1.0),  # the longest reference counts
        (60, (10, 20), 0.5),
        (500, (), 1.0),
    ],
)
def test_texts_beyond_the_limit_are_paid_less(
    n_words: int, references: tuple[int, ...], factor: float
) -> None:
    item = _item("word " * n_words, *("word " * n for n in references))
    assert LengthGuard(1.5).factor(item) == pytest.approx(factor)


def test_repeated_grams_are_paid_less() -> None:
    # "a b a b a b": pairs ab ba ab ba ab, of which 2 of 5 are distinct
    assert RepetitionGuard(2).factor(
        _item("A b a B a b", "c d e f")
    ) == pytest.approx(2 / 5)
    # a reference "c d c d" has pairs cd dc cd: 2 of 3, so that (2/5) / (2/3) is left
    assert RepetitionGuard(2).factor(
        _item("a b a b a b", "c d c d", "e f g")
    ) == pytest.approx(0.6)
    assert RepetitionGuard(2).factor(_item("a b c", "d d d d")) == 1.0
    assert RepetitionGuard(3).factor(_item("a b", "c d e")) == 1.0
    assert (
        RepetitionGuard(3).factor(
            _item(
                "a b c",
            )
        )
        == 1.0
    )


@pytest.mark.parametrize(
    ("guard", "value"), [(LengthGuard, 0.0), (RepetitionGuard, 0)]
)
def test_guards_that_mean_nothing_are_refused(
    guard: Any, value: float
) -> None:
    with pytest.raises(ConfigError, match="expected"):
        guard(value)


def _unit(
    start: int, end: int, score: float | None, side: Any = "candidate"
) -> Unit:
    return Unit("entity", "x", side, ((start, end),), score)


def test_tokens_have_the_mean_of_the_units_they_touch() -> None:
    # "A red dog runs": tokens A | red | dog | run | s, with one that stands for no text before
    offsets = [(0, 0), (0, 1), (2, 5), (6, 9), (10, 13), (13, 14)]
    score = ItemScore(
        {},
        units=(
            _unit(2, 5, 0.0),  # red is wrong
            _unit(2, 9, 1.0),  # red dog is right
            _unit(10, 14, 0.75),
            _unit(0, 14, None),
            _unit(0, 14, 1.0, side="reference"),
        ),
    )
    assert by_token(score, offsets) == [0.0, 0.0, 0.0, 1.0, 0.5, 0.5]


def test_a_unit_ends_before_the_next_token() -> None:
    score = ItemScore({}, units=(_unit(1, 2, 1.0),))
    assert by_token(score, [(0, 1), (1, 2), (2, 3)]) == [0.0, 1.0, 0.0]

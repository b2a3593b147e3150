"""Words that differ in a sentence that a text nearly repeats, with an entailment model by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from beholder.embed.base import FloatArray
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.reading import analysed
from beholder.judges.builtin.rewritten import rewritten

REFERENCE = "A cat sleeps on the chair. The arrow on the sign points up."


def excludes(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    return np.array([[0.1, 0.0, 0.9]] * len(pairs), np.float32).reshape(-1, 3)


def entails(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    return np.array([[0.9, 0.05, 0.05]] * len(pairs), np.float32).reshape(
        -1, 3
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "A cat sleeps on the chair. The arrow on the sign points down.",
            ["down"],
        ),
        ("A dog sleeps on the chair.", ["dog"]),
        (
            "A cat sleeps under the chair, the arrow on the sign points up.",
            [],
        ),  # three fifths no
        ("The sleeps cat a on chair.", []),  # all words are there
        ("A cat sleeps on the big chair near the chair.", ["big", "near"]),
        ("A cat sleeps on the chair.", []),  # repeated
        ("Two boys play football.", []),
    ],
)
def test_words_of_a_nearly_repeated_sentence(
    text: str, words: list[str]
) -> None:
    changes = rewritten(analysed(text), analysed(REFERENCE), excludes)
    assert [text[slice(*change.span)] for change in changes] == words


def test_only_if_the_model_is_sure_that_it_is_excluded() -> None:
    text = analysed("A dog sleeps on the chair.")
    assert rewritten(text, analysed(REFERENCE), entails) == []
    assert rewritten(text, analysed("..."), excludes) == []


def test_a_wrong_word_is_not_said() -> None:
    text = "The arrow on the sign points down."
    source = analysed(text)
    findings = find(
        source, analysed("The arrow on the sign points up."), entail=True
    )
    at = text.index("down")
    wrong = [
        finding.grade
        for unit, finding in zip(source.units, findings, strict=True)
        if any(a <= at < b for a, b in unit.spans)
    ]
    assert wrong
    assert max(wrong) < 3


def test_a_change_is_placed_behind_an_omitted_word() -> None:
    reference = "A boat lies on the shore, and there are no oars in it."
    text = "A boat lies on the shore, and there are oars in it."
    (change,) = rewritten(analysed(text), analysed(reference), excludes)
    assert text[slice(*change.span)] == "oars"


@pytest.mark.parametrize(
    ("text", "reference", "thing"),
    [
        (
            "Two jugglers perform on the square, and between them nine clubs are in the air.",
            "Two jugglers perform on the square, and between them six clubs are in the air.",
            "clubs",
        ),
        (
            "The clock shows twenty past nine.",
            "The clock shows twenty past four.",
            "clock",
        ),
    ],
)
def test_words_of_no_unit_count_at_the_nearest(
    text: str, reference: str, thing: str
) -> None:
    source = analysed(text)
    (change,) = rewritten(source, analysed(reference), excludes)
    places = change.units(source)
    assert [
        thing in [text[a:b] for a, b in source.units[place].spans]
        for place in places
    ] == [True]


@pytest.mark.parametrize(
    ("text", "reference", "words"),
    [
        (
            "A white rose lies in a black bowl.",
            "A black rose lies in a white bowl.",
            "white rose lies in a black",
        ),
        (
            "The cup stands on the book.",
            "The book stands on the cup.",
            "cup stands on the book",
        ),
        (
            "Two boats repair a net while a man lies in a harbour.",
            "Two boats lie in a harbour while a man repairs a net.",
            "repair a net while a man lies in a harbour",
        ),
        (
            "Roses and lilies grow, the roses tall and the lilies small.",
            "Roses and lilies grow, the roses small and the lilies tall.",
            "tall and the lilies small",
        ),
        (
            "A man in red and a man in blue sit.",
            "A man in blue and a man in red sit.",
            "",
        ),
        ("A man sits while a dog runs.", "A dog runs while a man sits.", ""),
        ("A cup and a book lie there.", "A book and a cup lie there.", ""),
        ("A cup is next to the book.", "A book is next to the cup.", ""),
        (
            "The sky is blue and the sea is green.",
            "The sea is green and the sky is blue.",
            "",
        ),
        ("In the park a man walks.", "A man walks in the park.", ""),
    ],
)
def test_exchanged_phrases_are_a_change_without_a_model(
    text: str, reference: str, words: str
) -> None:
    changes = rewritten(analysed(text), analysed(reference), entails)
    assert [text[slice(*change.span)] for change in changes] == [words] * bool(
        words
    )
    source = analysed(text)
    kinds = {
        source.units[place].kind
        for change in changes
        for place in change.units(source)
    }
    assert "entity" not in kinds


def test_exchanged_phrases_that_no_relation_connects_are_wrong_themselves() -> (
    None
):
    text = "Ducks in a pond feed bread to a child."  # parsed without a verb
    source = analysed(text)
    (change,) = rewritten(
        source, analysed("A child feeds bread to ducks in a pond."), entails
    )
    assert {source.units[place].text for place in change.units(source)} == {
        "duck",
        "pond",
        "child",
    }


def test_qualities_that_move_with_their_thing_stay() -> None:
    source = analysed("Three red boats follow a tall man.")
    (change,) = rewritten(
        source, analysed("A tall man follows three red boats."), entails
    )
    assert {source.units[place].text for place in change.units(source)} == {
        "follow"
    }

"""The parts of the evidence on statements, each at its marks and by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from beholder.judges.builtin import claims
from beholder.judges.builtin.claims import Source
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.reading import analysed


@pytest.mark.parametrize(
    ("entail", "weights", "row"),
    [
        (False, [math.log(3.0), 0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        (False, [0.0, 2.0 * math.log(3.0), 0.0, 0.0], [0.5, 1.0, 1.0]),
        (False, [0.0, 0.0, 0.0, 4.0 * math.log(3.0)], [1.0, 1.0, 0.25]),
        (True, [-1.0, 0.0, 1.0, 0.0, math.log(3.0)], [0.0, 1.0, 0.0, 1.0]),
    ],
)
def test_a_probability_of_three_in_four(
    monkeypatch: pytest.MonkeyPatch,
    entail: bool,
    weights: list[float],
    row: list[float],
) -> None:
    """The logistic of log 3 is 0.75; one that is exchanged has at most its own mark."""
    name = "facts.both" if entail else "facts.rules"
    monkeypatch.setattr(claims, "table", lambda: {name: {"value": weights}})
    for exchanged, expected in (
        (False, 0.75),
        (True, number("facts.exchanged")),
    ):
        made = np.array([row]), [exchanged]
        monkeypatch.setattr(
            claims, "evidence", lambda *_, made=made, **__: made
        )
        found = claims._likely(
            [analysed("A cat.")], Source(analysed("A dog.")), entail
        )
        assert found == [pytest.approx(expected)]


@pytest.mark.parametrize("entail", [True, False])
def test_supported_from_the_mark_on(
    monkeypatch: pytest.MonkeyPatch, entail: bool
) -> None:
    mark = number("facts.both_true" if entail else "facts.rules_true")
    given = [mark, mark - 1e-9, 1.0, 0.0]
    monkeypatch.setattr(claims, "probabilities", lambda *_, **__: given)
    found = claims.supported(["", "", "", ""], "", entail=entail)
    assert found == [True, False, True, False]


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        (
            "A cup.",
            "A cup.",
            1.0,
        ),  # light words alone are divided by their own weight
        ("", "A cup.", 0.0),
        ("A cup.", "", 0.0),
        ("Image shows.", "A cup.", 0.0),  # nothing that needs to be there
    ],
)
def test_words_near_those_of_a_sentence(
    claim: str, text: str, expected: float
) -> None:
    found = claims._worded(analysed(claim), Source(analysed(text)))
    assert found == pytest.approx(expected, abs=1e-5)


def test_words_are_weighed_and_no_word_is_nearer_than_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = {"qa": 1.0, "qb": 0.25}
    monkeypatch.setattr(
        claims, "frequency", SimpleNamespace(weight=weights.__getitem__)
    )
    claim: Any = SimpleNamespace(
        words=("qa", "qb"),
        word_vectors=np.array([[2.0, 0.0], [0.0, 1.0]]),
        word_values=[],
    )
    text = SimpleNamespace(
        words=("qa", "qc"),
        word_vectors=np.array([[1.0, 0.0], [0.0, -1.0]]),
        word_values=[],
    )
    parts = [np.array([0]), np.array([], np.intp), np.array([1])]
    source: Any = SimpleNamespace(text=text, wordings=parts)
    assert claims._worded(claim, source) == pytest.approx(1.0 / 1.25)


def view(words: str) -> Any:
    """Words without likeness: ``x`` weighs 1, ``y`` a quarter; ``n`` is the contrary of ``x``."""
    vectors = {
        "x": [1.0, 0.0],
        "y": [0.0, 1.0],
        "n": [-1.0, 0.0],
        "b": [2.0, 0.0],
    }
    made = np.array([vectors[word] for word in words.split()]).reshape(-1, 2)
    return SimpleNamespace(words=tuple(words.split()), word_vectors=made)


@pytest.mark.parametrize(
    ("views", "others", "expected"),
    [
        (["x y"], ["x"], [[0.8]]),  # 1 of 1.25
        (["x y"], ["y"], [[0.2]]),
        (["x"], ["x y"], [[1.0]]),
        (["x"], ["n"], [[0.0]]),
        (["x"], ["b"], [[1.0]]),
        (["x"], ["n x"], [[1.0]]),  # the nearest word
        (
            ["x y", "", "y"],
            ["", "y x", "x"],
            [[0.0, 1.0, 0.8], [0.0] * 3, [0.0, 1.0, 0.0]],
        ),
        ([""], ["x", "y"], [[0.0, 0.0]]),
        (["x", "y"], [""], [[0.0], [0.0]]),
    ],
)
def test_alignment_of_statements(
    monkeypatch: pytest.MonkeyPatch,
    views: list[str],
    others: list[str],
    expected: list[list[float]],
) -> None:
    weight = SimpleNamespace(weight=lambda word: 0.25 if word == "y" else 1.0)
    monkeypatch.setattr(claims, "frequency", weight)
    found = claims._alignment(
        [view(words) for words in views], [view(words) for words in others]
    )
    assert found == pytest.approx(np.array(expected), abs=1e-6)


def test_a_word_that_says_nothing_is_still_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        claims, "frequency", SimpleNamespace(weight=lambda word: 0.0)
    )
    assert claims._alignment([view("x")], [view("x")]) == pytest.approx(
        np.ones((1, 1))
    )


def matched(
    monkeypatch: pytest.MonkeyPatch,
    forward: list[float],
    back: list[float],
    chances: dict[str, float],
    claim: str = "A cat.",
) -> int | None:
    """The reference "Thing 0.", "Thing 1." ... that is taken for a claim."""
    tables = iter((np.array([forward]), np.array([back]).T))
    monkeypatch.setattr(claims, "_alignment", lambda *_: next(tables))

    def likely(
        asked: Any, source: Source, entail: bool, least: float
    ) -> list[float]:
        return [chances.get(one.graph.text, 0.0) for one in asked]

    monkeypatch.setattr(claims, "_likely", likely)
    references = [analysed(f"Thing {i}.") for i in range(len(forward))]
    (found,) = claims.matches([analysed(claim)], references)
    return found


TRUE = number("facts.both_true")


@pytest.mark.parametrize(
    ("forward", "back", "chance", "expected"),
    [
        ([0.6], [0.6], TRUE, 0),
        ([0.6], [0.6], TRUE - 0.01, None),
        ([0.59], [1.0], 1.0, None),
        ([1.0], [0.59], 1.0, None),  # the reference says more
        ([0.7, 0.9, 0.8], [1.0, 1.0, 1.0], 1.0, 1),  # the nearest
        ([0.7, 0.7], [1.0, 1.0], 1.0, 0),
    ],
)
def test_a_claim_is_matched_with_what_says_it(
    monkeypatch: pytest.MonkeyPatch,
    forward: list[float],
    back: list[float],
    chance: float,
    expected: int | None,
) -> None:
    assert matched(monkeypatch, forward, back, {"A cat.": chance}) == expected


@pytest.mark.parametrize(("last", "expected"), [(4, 4), (5, None)])
def test_five_references_are_compared_closely(
    monkeypatch: pytest.MonkeyPatch, last: int, expected: int | None
) -> None:
    compared = []

    def likely(
        asked: Any, source: Source, entail: bool, least: float
    ) -> list[float]:
        compared.append(source.text.graph.text)
        return [1.0 if source.text.graph.text == f"Thing {last}." else 0.0]

    monkeypatch.setattr(
        claims, "_alignment", lambda a, b: np.full((len(a), len(b)), 0.9)
    )
    monkeypatch.setattr(claims, "_likely", likely)
    references = [analysed(f"Thing {i}.") for i in range(6)]
    assert claims.matches([analysed("A cat.")], references) == [expected]
    assert compared == [f"Thing {i}." for i in range(5)]


@pytest.mark.parametrize(
    ("claim", "back", "expected"),
    [
        ("A cat.", 0.0, 0),  # what affirms need not be said by the claim
        ("There is no cat.", 0.0, None),
        ("There is no cat.", TRUE - 0.01, None),
        ("There is no cat.", TRUE, 0),
    ],
)
def test_what_denies_must_be_said_both_ways(
    monkeypatch: pytest.MonkeyPatch,
    claim: str,
    back: float,
    expected: int | None,
) -> None:
    chances = {claim: 1.0, "Thing 0.": back}
    assert matched(monkeypatch, [0.9], [0.9], chances, claim) == expected


def test_the_first_of_the_same_words_is_taken() -> None:
    references = [analysed(text) for text in ("A dog.", "a CAT", "A cat!")]
    asked = [analysed("A cat."), analysed("A jug."), analysed("A dog.")]
    assert claims.matches(asked, references) == [1, None, 0]


def reading(
    text: str, mentions: list[Any], units: list[Any]
) -> list[list[int]]:
    made: Any = SimpleNamespace(
        plain=text, mentions=mentions, units=units, at=lambda span: span
    )
    return [found.tolist() for found in Source(made).wordings]


@pytest.mark.parametrize(
    ("text", "mentions", "units", "expected"),
    [
        # named by the first word of the second sentence
        (
            "A dog naps. It too.",
            [((0, 2), (3, 4))],
            [],
            [[0, 1, 2], [0, 1, 3, 4]],
        ),
        # by the last one
        (
            "A dog naps. So it.",
            [((0, 2), (4, 5))],
            [],
            [[0, 1, 2], [0, 1, 3, 4]],
        ),
        # told of by a unit, as subject and as object
        (
            "A dog naps. Barks.",
            [((1, 2),)],
            [SimpleNamespace(spans=[(3, 4)], subject=0, object=None)],
            [[0, 1, 2], [1, 3]],
        ),
        (
            "Dogs nap. Cats bark.",
            [((2, 3),), ((0, 1),)],
            [SimpleNamespace(spans=[(3, 4)], subject=0, object=1)],
            [[0, 1], [0, 2, 3]],
        ),
        # named nowhere
        (
            "Dogs nap. Barks.",
            [()],
            [SimpleNamespace(spans=[(2, 3)], subject=0, object=None)],
            [[0, 1], [2]],
        ),
    ],
)
def test_names_of_what_a_sentence_tells_of(
    text: str, mentions: list[Any], units: list[Any], expected: list[list[int]]
) -> None:
    assert reading(text, mentions, units) == expected

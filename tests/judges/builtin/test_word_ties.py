"""Ties of words, verbs and runs of words, with vectors and senses written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from beholder.judges.builtin import analysed, lexical_alignment, lexis
from beholder.judges.builtin.vectors import VectorTable, vectors


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("tabletop", "table"),
        ("seaside", "sea"),
        ("storefront", "store"),
        ("table", "table"),
        ("top", "top"),  # of nothing
        ("zqside", "zqside"),  # no noun before it
    ],
)
def test_the_thing_of_which_a_noun_names_a_place(
    noun: str, expected: str
) -> None:
    assert lexis._whole(noun) == expected


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("table", "tabletop", "same"),
        ("tabletop", "table", "same"),
        (
            "graffiti",
            "label",
            "more",
        ),  # each may name what another that is written does
        ("label", "graffiti", "more"),
        ("graffiti", "cup", ""),
    ],
)
def test_ties_beside_senses(asked: str, said: str, expected: str) -> None:
    assert lexis.tie(asked, said) == expected


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("same  ", True),
        ("same other other", True),
        ("more  ", True),
        ("more less ", True),
        ("more other ", False),
        ("less  ", False),
        ("other  ", False),
        ("  ", False),
    ],
)
def test_a_word_means_another_by_any_part_of_speech(
    monkeypatch: pytest.MonkeyPatch, ties: str, expected: bool
) -> None:
    known = dict(zip(("n", "v", "a"), ties.split(" "), strict=True))
    monkeypatch.setattr(
        lexis, "_by_senses", lambda asked, said, part: known[part]
    )
    assert lexis._means("x", "y") is expected


@pytest.mark.parametrize(
    ("known", "beside", "near", "expected"),
    [
        ("other", False, 0.53, "same"),
        ("other", False, 0.52, "other"),
        ("more", True, 0.53, "same"),
        ("more", True, 0.52, "more"),
        ("more", False, 1.0, "more"),  # an animal is no dog
        ("less", True, 0.6, "same"),
        ("less", False, 1.0, "less"),
        ("same", True, 0.0, "same"),
        ("", True, 1.0, ""),
    ],
)
def test_near_nouns_in_like_contexts_mean_the_same(
    monkeypatch: pytest.MonkeyPatch,
    known: str,
    beside: bool,
    near: float,
    expected: str,
) -> None:
    made = {"x": [1.0, 0.0], "y": [near, 0.5]}
    monkeypatch.setattr(lexis, "_by_senses", lambda *_: known)
    monkeypatch.setattr(lexis, "_next", lambda *_: beside)
    monkeypatch.setattr(
        lexis,
        "vectors",
        lambda words: np.array([made[word] for word in words]),
    )
    assert lexis._noun_tie("x", "y") == expected


SENSES = {
    "cat": {"c"},
    "dog": {"d", "f"},
    "pet": {"p"},
    "cup": {"u"},
    "hound": {"d"},
    "zq": set(),
}
ABOVE = {"c": {"p"}, "d": {"p"}, "f": set(), "p": {"t"}, "u": {"o"}}


@pytest.fixture
def senses(monkeypatch: pytest.MonkeyPatch) -> None:
    def above(word: str, part: str) -> set[str]:
        return {parent for sense in SENSES[word] for parent in ABOVE[sense]}

    monkeypatch.setattr(lexis, "senses", lambda word, part: SENSES[word])
    monkeypatch.setattr(lexis, "parents", ABOVE.__getitem__)
    monkeypatch.setattr(lexis, "general", above)


@pytest.mark.usefixtures("senses")
@pytest.mark.parametrize(
    ("a", "b", "beside", "known"),
    [
        ("pet", "dog", True, "more"),
        ("dog", "pet", True, "less"),
        ("cat", "dog", False, "other"),
        ("cat", "cup", False, ""),
        ("hound", "dog", False, "same"),
        ("dog", "zq", False, ""),
        ("zq", "dog", False, ""),
    ],
)
def test_ties_by_senses(a: str, b: str, beside: bool, known: str) -> None:
    assert lexis._next(a, b) is beside
    assert lexis._by_senses(a, b, "n") == known


@pytest.mark.parametrize(
    ("value", "expected"), [("", [""]), ("-", ["-"]), ("Red", ["red"])]
)
def test_a_value_always_has_a_word(value: str, expected: list[str]) -> None:
    assert lexis.content(value) == expected


@pytest.mark.parametrize(
    ("near", "says", "expected"),
    [
        (0.15, True, 1.0),
        (0.14, True, 0.14),
        (0.5, False, 0.5),
        (-0.5, True, 0.0),
        (2.0, False, 1.0),
    ],
)
def test_only_words_that_are_a_little_alike_are_looked_up(
    monkeypatch: pytest.MonkeyPatch, near: float, says: bool, expected: float
) -> None:
    made = {"zqa": [1.0, 0.0], "zqb": [near, 0.0]}
    monkeypatch.setattr(
        lexis,
        "vectors",
        lambda words: np.array([made[word] for word in words]),
    )
    monkeypatch.setattr(lexis, "says", lambda *_: says)
    assert lexis.word_likeness(["zqa"], ["zqb"]).tolist() == [[expected]]


def test_rows_of_words_become_rows_of_texts() -> None:
    texts = [["a", "b"], ["c"], ["b", "c", "a"]]
    rows = lexis._numbered(texts)
    assert rows == {"a": 0, "b": 1, "c": 2}
    table = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 0.0]])
    low = lexis._reduced(np.minimum, table, texts, rows)
    assert low.tolist() == [[1.0, 4.0], [3.0, 0.0], [1.0, 0.0]]


def test_verbs_are_compared_in_base_form_and_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source: Any = SimpleNamespace(
        verb_vectors=np.array([[1.0, 0.0]]), verbs_written=["held"]
    )
    made = np.array([[0.5, 0.0], [0.2, 0.0], [-1.0, 0.0], [1.5, 0.0]])
    target: Any = SimpleNamespace(
        verb_vectors=made, verbs_written=list("abcd")
    )
    written = np.array([[0.25, 0.75, 0.0, 0.0]])
    monkeypatch.setattr(analysed, "word_likeness", lambda asked, said: written)
    found = analysed.verb_similarity.__wrapped__(
        source, target
    )  # kept for texts, which have a hash
    assert found.tolist() == [[0.5, 0.75, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([[1, 0], [0, 1]], [1.0]),
        ([[0, 1], [1, 0]], [0.0]),
        ([[0.25, 0, 0], [0, 0, 0.36]], [0.3]),  # one word between them
        ([[1, 0, 0, 0], [0, 0, 0, 1]], [0.0]),  # two are too many
        ([[0, 1, 0, 0], [0, 0, 0, 1]], [1.0]),
        ([[0.25, 0.81, 0], [0, 0.16, 1]], [0.9]),  # the best two
        ([[1, 0], [0, 0.25], [1, 0]], [0.5, 0.0]),
        ([[0, 0], [1, 0], [0, 1]], [0.0, 1.0]),
        ([[1, 1]], []),
        ([[1], [1]], []),
        ([[0, 0], [0, 0], [0, 0]], [0.0, 0.0]),
    ],
)
def test_neighbours_in_order(
    table: list[list[float]], expected: list[float]
) -> None:
    found = lexical_alignment._in_order(np.array(table, np.float64))
    assert found.tolist() == pytest.approx(expected)


def words(text: str, made: list[list[float]]) -> Any:
    return SimpleNamespace(
        words=tuple(text.split()), word_vectors=np.array(made), word_values=[]
    )


def test_likeness_is_no_more_than_one_and_no_less_than_nothing() -> None:
    one = words("zqa zqb", [[1.5, 0.0], [0.0, 1.0]])
    other = words("zqc", [[1.0, -1.0]])
    forward, back = lexical_alignment._align(one, other)
    assert forward.words.tolist() == [1.0, 0.0]
    assert back.words.tolist() == [1.0]


def test_nothing_is_found_in_an_empty_text() -> None:
    found = lexical_alignment.align_words("", ["A cup.", ""])
    assert (found.precision, found.recalls, found.peers) == (
        0.0,
        (0.0, 0.0),
        0.0,
    )
    assert lexical_alignment.align_words("A cup.", [""]).recalls == (0.0,)
    assert lexical_alignment.align_words("A cup.", []).precision == 0.0


def matched(found: list[float], neighbours: list[float]) -> Any:
    return lexical_alignment._Matches(np.array(found), np.array(neighbours))


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        # words 1.5 of 2; neighbours weigh sqrt(1 * 0.36) = 0.6 and sqrt(0.36 * 0.64) = 0.48
        (
            [([1.0, 0.0, 0.5], [1.0, 0.0])],
            1.32 / 2 + 0.2 * (0.6 / 1.08 - 1.32 / 2),
        ),
        ([([1.0, 0.0, 0.5], [])], 1.32 / 2),
        (
            [([1.0, 0.0, 0.5], []), ([0.0, 1.0, 0.0], [])],
            1.68 / 2,
        ),  # each word at its best
        ([([1.0, 1.0, 1.0], [1.0, 0.0]), ([0.0] * 3, [0.0, 1.0])], 1.0),
        ([([1.0, 1.0, 1.0], [0.0, 0.0]), ([0.0] * 3, [])], 0.8),
        ([], 0.0),
    ],
)
def test_the_value_of_words_and_neighbours(
    monkeypatch: pytest.MonkeyPatch,
    matches: list[tuple[list[float], list[float]]],
    expected: float,
) -> None:
    weights = {"a": 1.0, "b": 0.36, "c": 0.64}
    own = SimpleNamespace(weight=weights.__getitem__)
    monkeypatch.setattr(lexical_alignment, "frequency", own)
    text = words("a b c", [[0.0]] * 3)
    found = lexical_alignment._value(
        [matched(*parts) for parts in matches], text
    )
    assert found == pytest.approx(expected)


def test_content_words_weigh_more_than_the_mark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = {"a": 0.3, "b": 0.31, "c": 1.0}
    own = SimpleNamespace(weight=weights.__getitem__)
    monkeypatch.setattr(lexical_alignment, "frequency", own)
    text = words("a b c", [[0.0]] * 3)
    assert lexical_alignment._content(text).tolist() == [1, 2]


def test_a_table_is_filled_before_it_begins_anew() -> None:
    known = vectors(["dog", "cup", "jug", "lamp"])
    table = VectorTable(4)
    table(["dog", "cup"])
    assert len(table) == 3  # with the empty phrase
    assert table(["jug"]).tolist() == known[[2]].tolist()
    assert len(table) == 4
    assert table(["dog", "jug", "cup"]).tolist() == known[[0, 2, 1]].tolist()
    assert len(table) == 4
    assert table(["lamp"]).tolist() == known[[3]].tolist()
    assert len(table) == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("people", "woman"),  # a word for persons
        ("table", "tabletop"),
        ("graffiti", "label"),
        ("dog", "animal"),
        ("animal", "dog"),
        ("dog", "cat"),
        ("painting", "painter"),
        ("left", "right"),  # a class
    ],
)
def test_nouns_with_a_tie_have_something_in_common(
    asked: str, said: str
) -> None:
    assert lexis.tie(asked, said)
    assert not lexis.tied_by(asked).isdisjoint(lexis.tied_by(said))


def test_nouns_with_nothing_in_common_have_no_tie() -> None:
    assert lexis.tied_by("graffiti").isdisjoint(lexis.tied_by("cup"))
    assert lexis.tie("graffiti", "cup") == ""

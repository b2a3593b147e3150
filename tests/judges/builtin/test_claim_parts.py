"""The parts of the evidence on statements, each at its marks and by hand."""

from __future__ import annotations

import math
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from beholder.judges.builtin import claims
from beholder.judges.builtin.claims import Source, StatementEvidence, statement_evidence
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.reading import analysed

NONE = dict.fromkeys((field.name for field in fields(StatementEvidence)), 0.0)


def evidence(claim: str, text: str) -> StatementEvidence:
    return statement_evidence(analysed(claim), Source(analysed(text)))


@pytest.mark.parametrize("name", ["bias", *NONE])
def test_a_probability_of_three_in_four(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The logistic of log 3 is 0.75."""
    weights = dict.fromkeys(("bias", *NONE), 0.0) | {name: 2.0 * math.log(3.0)}
    if name == "bias":
        weights["bias"] = math.log(3.0)
    monkeypatch.setattr(claims, "_WEIGHTS", weights)
    parts = NONE if name == "bias" else NONE | {name: 0.5}
    assert claims._probability(StatementEvidence(**parts)) == pytest.approx(0.75)


def test_the_bias_is_against_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = dict.fromkeys(("bias", *NONE), 0.0) | {"bias": -1.0, "grade": 2.0}
    monkeypatch.setattr(claims, "_WEIGHTS", weights)
    assert claims._probability(StatementEvidence(**NONE | {"grade": 0.5})) == pytest.approx(0.5)


def test_supported_from_the_mark_on(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = number("facts.true")
    monkeypatch.setattr(claims, "probabilities", lambda *_: [mark, mark - 1e-9, 1.0, 0.0])
    assert claims.supported(["", "", "", ""], "") == [True, False, True, False]


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is red.", "The cup is red.", 1.0),  # a grade of 5
        ("The cup is red.", "", 0.0),  # a grade of 1
        ("The cup is on the table.", "A cup on a shelf. A pot on a table.", 0.25),  # untold: 2
    ],
)
def test_grades_as_shares(claim: str, text: str, expected: float) -> None:
    assert evidence(claim, text).grade == pytest.approx(expected)


def found(grade: float, contradiction: bool = False, value: float = 0.0) -> Any:
    return SimpleNamespace(grade=grade, contradiction=contradiction, value=value)


FAIR = {"attached": True, "beyond": False, "worded": 0.0, "of_others": False}


@pytest.mark.parametrize(
    ("grades", "parts", "expected"),
    [
        ([5.0, 4.0], {}, 4.0),
        ([3.0], {}, 3.0),  # there
        ([2.9], {}, 2.0),
        ([1.5], {}, 1.5),
        ([], {}, 1.0),
        ([5.0], {"beyond": True, "worded": 0.89}, 2.0),
        ([5.0], {"beyond": True, "worded": 0.9}, 5.0),
        ([5.0], {"attached": False}, 2.0),
        ([5.0], {"attached": False, "worded": 0.89}, 2.0),
        ([5.0], {"attached": False, "worded": 0.9}, 3.0),
        ([1.5], {"worded": 0.9}, 3.0),
        ([1.5], {"worded": 0.9, "of_others": True}, 1.5),
        ([5.0], {"attached": False, "worded": 1.0, "of_others": True}, 2.0),
    ],
)
def test_grade_by_units_and_by_words(
    grades: list[float], parts: dict[str, Any], expected: float
) -> None:
    claim: Any = SimpleNamespace(units=[SimpleNamespace(polarity=True)])
    source: Any = None
    looked = claims._Looked(claim, source, [found(grade) for grade in grades])
    vars(looked).update(FAIR | parts)
    assert looked.grade == expected


@pytest.mark.parametrize(
    ("contradictions", "affirmed", "expected"),
    [
        ([False, False], [True, True], 3.0),
        ([False, True], [True, True], 2.0),
        ([False, False], [True, False], 2.0),
        ([False, True], [True, False], 2.0),
    ],
)
def test_words_do_not_save_what_is_denied(
    contradictions: list[bool], affirmed: list[bool], expected: float
) -> None:
    claim: Any = SimpleNamespace(
        units=[SimpleNamespace(polarity=polarity) for polarity in affirmed]
    )
    source: Any = None
    looked = claims._Looked(claim, source, [found(2.5, denied) for denied in contradictions])
    vars(looked).update(FAIR | {"worded": 1.0})
    assert looked.grade == expected


@pytest.mark.parametrize(
    ("order", "value", "near", "polarity", "expected"),
    [
        (True, 0.0, False, True, True),
        (False, 0.8, True, True, True),
        (False, 0.79, True, True, False),
        (False, 1.0, False, True, False),
        (False, 0.0, False, False, True),  # what is denied has no ends to keep
    ],
)
def test_relations_are_attached_by_order_or_surely(
    monkeypatch: pytest.MonkeyPatch,
    order: bool,
    value: float,
    near: bool,
    polarity: bool,
    expected: bool,
) -> None:
    monkeypatch.setattr(claims, "in_order", lambda *_: order)
    monkeypatch.setattr(claims, "related", lambda *_: near)
    unit = SimpleNamespace(polarity=polarity)
    claim: Any = SimpleNamespace(relations=[(1, unit, None)])
    text: Any = None
    looked = [found(5.0, value=0.0 if value else 1.0), found(5.0, value=value)]
    assert claims._attached(claim, looked, text) is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the cup shines", False),
        ("the cup shines softly", True),
        ("the cup shines visible", False),  # need not be said
        ("the cup shines the", False),  # says nothing
        ("softly cup shines", True),
        ("the cup shines visible softly", True),
    ],
)
def test_words_beyond_the_units(words: str, expected: bool) -> None:
    unit = SimpleNamespace(subject=0, object=None, spans=[(2, 3)])
    claim: Any = SimpleNamespace(
        words=tuple(words.split()), units=[unit], mentions=[((1, 2),)], at=lambda span: span
    )
    assert claims._beyond_units(claim) is expected


def test_both_ends_of_a_relation_are_known() -> None:
    unit = SimpleNamespace(subject=0, object=1, spans=[(1, 2)])
    claim: Any = SimpleNamespace(
        words=("cup", "holds", "milk"),
        units=[unit],
        mentions=[((0, 1),), ((2, 3),)],
        at=lambda span: span,
    )
    assert not claims._beyond_units(claim)


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        ("the", "A cup.", 1.0),  # no word says anything
        ("cup", "A cup.", 1.0),
        ("cup", "A jug.", 0.0),
        ("cup cup", "A cup.", 0.0),  # one word does not stand beside itself
        ("cup shiny", "A cup on a table is shiny. A cup is shiny.", 1.0),  # the nearest
        ("cup shiny", "A cup is shiny. A cup on a table is shiny.", 1.0),
        ("shiny cup", "A cup on a table is shiny.", 0.5),
        ("cup shiny", "Shiny, red, a cup.", 1.0),
        ("cup jug shiny", "A cup by a jug. A lamp is shiny.", 0.5),
    ],
)
def test_telling_words_stand_together(words: str, text: str, expected: float) -> None:
    claim: Any = SimpleNamespace(words=tuple(words.split()))
    assert claims._together(claim, analysed(text)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("A cup.", "A cup.", 1.0),  # light words alone are divided by their own weight
        ("", "A cup.", 0.0),
        ("A cup.", "", 0.0),
        ("Image shows.", "A cup.", 0.0),  # nothing that needs to be there
    ],
)
def test_words_near_those_of_a_sentence(claim: str, text: str, expected: float) -> None:
    found = claims._worded(analysed(claim), Source(analysed(text)))
    assert found == pytest.approx(expected, abs=1e-5)


def test_words_are_weighed_and_no_word_is_nearer_than_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = {"qa": 1.0, "qb": 0.25}
    monkeypatch.setattr(claims, "frequency", SimpleNamespace(weight=weights.__getitem__))
    claim: Any = SimpleNamespace(
        words=("qa", "qb"), word_vectors=np.array([[2.0, 0.0], [0.0, 1.0]]), word_values=[]
    )
    text = SimpleNamespace(
        words=("qa", "qc"), word_vectors=np.array([[1.0, 0.0], [0.0, -1.0]]), word_values=[]
    )
    parts = [np.array([0]), np.array([], np.intp), np.array([1])]
    source: Any = SimpleNamespace(text=text, wordings=parts)
    assert claims._worded(claim, source) == pytest.approx(1.0 / 1.25)


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("A man holds a cup.", "A man holds a bone. A man sees a cup.", 0.0),  # one end is another
        ("The man is red.", "A man and a red car.", 0.0),  # "man" names the thing itself
        ("A man and a red cup.", "A man and a red cup.", 1.0),
        ("The cup is red.", "A cup.", 1.0),  # nothing is red
        ("The cup is left.", "A jug stands left of a box.", 0.0),  # by a relation
        ("Red.", "A red cup.", 1.0),  # of no thing in particular
        ("A man holds a cup.", "A man holds a bone. A man holds a cup.", 1.0),
    ],
)
def test_what_is_said_of_others_only(claim: str, text: str, expected: float) -> None:
    assert evidence(claim, text).unowned == expected


@pytest.mark.parametrize(("near", "expected"), [(0.7, True), (0.69, False)])
def test_names_of_a_thing_are_near_from_the_mark_on(
    monkeypatch: pytest.MonkeyPatch, near: float, expected: bool
) -> None:
    made = {"cup": [1.0, 0.0], "mug": [near, 0.0], "of": [0.0, 0.1]}
    monkeypatch.setattr(claims, "vectors", lambda words: np.array([made[word] for word in words]))
    assert claims._named(0, ["of", "mug"], analysed("Cup.")) is expected


def test_a_thing_that_is_nowhere_named_has_no_name() -> None:
    text: Any = SimpleNamespace(graph=SimpleNamespace(entities=[SimpleNamespace(mentions=())]))
    assert not claims._named(0, ["cup"], text)


def test_telling_words_weigh_more_than_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"qa": 0.25, "qb": 0.26}
    monkeypatch.setattr(claims, "frequency", SimpleNamespace(weight=weights.__getitem__))
    assert claims._telling(["qa", "qb"]) == ["qb"]


def view(words: str) -> Any:
    """Words without likeness: ``x`` weighs 1, ``y`` a quarter; ``n`` is the contrary of ``x``."""
    vectors = {"x": [1.0, 0.0], "y": [0.0, 1.0], "n": [-1.0, 0.0], "b": [2.0, 0.0]}
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
        (["x y", "", "y"], ["", "y x", "x"], [[0.0, 1.0, 0.8], [0.0] * 3, [0.0, 1.0, 0.0]]),
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
    found = claims._alignment([view(words) for words in views], [view(words) for words in others])
    assert found == pytest.approx(np.array(expected), abs=1e-6)


def test_a_word_that_says_nothing_is_still_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "frequency", SimpleNamespace(weight=lambda word: 0.0))
    assert claims._alignment([view("x")], [view("x")]) == pytest.approx(np.ones((1, 1)))


def matched(
    monkeypatch: pytest.MonkeyPatch,
    forward: list[float],
    back: list[float],
    grades: dict[str, float],
    claim: str = "A cat.",
) -> int | None:
    """The reference "Thing 0.", "Thing 1." ... that is taken for a claim."""
    tables = iter((np.array([forward]), np.array([back]).T))
    monkeypatch.setattr(claims, "_alignment", lambda *_: next(tables))

    def graded(asked: Any, source: Source) -> float:
        return grades.get(asked.graph.text, 1.0) if source.whole else 1.0

    monkeypatch.setattr(claims, "grade", graded)
    references = [analysed(f"Thing {i}.") for i in range(len(forward))]
    (found,) = claims.matches([analysed(claim)], references)
    return found


@pytest.mark.parametrize(
    ("forward", "back", "grade", "expected"),
    [
        ([0.6], [0.6], 3.0, 0),
        ([0.6], [0.6], 2.9, None),
        ([0.59], [1.0], 5.0, None),
        ([1.0], [0.59], 5.0, None),  # the reference says more
        ([0.7, 0.9, 0.8], [1.0, 1.0, 1.0], 5.0, 1),  # the nearest
        ([0.7, 0.7], [1.0, 1.0], 5.0, 0),
    ],
)
def test_a_claim_is_matched_with_what_says_it(
    monkeypatch: pytest.MonkeyPatch,
    forward: list[float],
    back: list[float],
    grade: float,
    expected: int | None,
) -> None:
    assert matched(monkeypatch, forward, back, {"A cat.": grade}) == expected


@pytest.mark.parametrize(("last", "expected"), [(4, 4), (5, None)])
def test_five_references_are_compared_closely(
    monkeypatch: pytest.MonkeyPatch, last: int, expected: int | None
) -> None:
    compared = []

    def says(claim: Any, source: Any) -> float:
        compared.append(source.text.graph.text)
        return 5.0 if source.text.graph.text == f"Thing {last}." else 1.0

    monkeypatch.setattr(claims, "_alignment", lambda a, b: np.full((len(a), len(b)), 0.9))
    monkeypatch.setattr(claims, "grade", says)
    references = [analysed(f"Thing {i}.") for i in range(6)]
    assert claims.matches([analysed("A cat.")], references) == [expected]
    assert compared == [f"Thing {i}." for i in range(5)]


@pytest.mark.parametrize(
    ("claim", "back", "expected"),
    [
        ("A cat.", 1.0, 0),  # what affirms need not be said by the claim
        ("There is no cat.", 1.0, None),
        ("There is no cat.", 2.9, None),
        ("There is no cat.", 3.0, 0),
    ],
)
def test_what_denies_must_be_said_both_ways(
    monkeypatch: pytest.MonkeyPatch, claim: str, back: float, expected: int | None
) -> None:
    grades = {claim: 5.0, "Thing 0.": back}
    assert matched(monkeypatch, [0.9], [0.9], grades, claim) == expected


def test_the_first_of_the_same_words_is_taken_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "grade", lambda *_: 1.0)
    references = [analysed(text) for text in ("A dog.", "a CAT", "A cat!")]
    asked = [analysed("A cat."), analysed("A jug."), analysed("A dog.")]
    assert claims.matches(asked, references) == [1, None, 0]


def reading(text: str, mentions: list[Any], units: list[Any]) -> list[list[int]]:
    made: Any = SimpleNamespace(
        graph=SimpleNamespace(text=text), mentions=mentions, units=units, at=lambda span: span
    )
    return [found.tolist() for found in Source(made).wordings]


@pytest.mark.parametrize(
    ("text", "mentions", "units", "expected"),
    [
        # named by the first word of the second sentence
        ("A dog naps. It too.", [((0, 2), (3, 4))], [], [[0, 1, 2], [0, 1, 3, 4]]),
        # by the last one
        ("A dog naps. So it.", [((0, 2), (4, 5))], [], [[0, 1, 2], [0, 1, 3, 4]]),
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

"""Things of one name and who of them gets which counterpart, part by part and by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from beholder.judges.builtin import entities
from beholder.judges.builtin.classes import values
from beholder.judges.builtin.entities import Counterparts, counterparts
from beholder.judges.builtin.lexis import named_apart
from beholder.judges.builtin.predicates import Predicate
from beholder.judges.builtin.reading import analysed
from beholder.language.graph import Entity, Mention

HOLD, RIDE = (Predicate(name, False, "", False) for name in ("hold", "ride"))
HELD_BY = Predicate("hold", True, "", False)
SAME_WAY = [1.0, 0.0]


def entity(quantity: str | None = None, plural: bool = False) -> Entity:
    return Entity(
        0, "man", "man", (Mention("man", (0, 3), 0),), quantity, plural
    )


class Things:
    """A text of like things: which sentences name each, and which values each has."""

    def __init__(
        self,
        sentences: list[set[int]],
        heads: list[list[float]] | None = None,
        said: dict[int, list[str]] | None = None,
    ) -> None:
        self.sentences_of = [frozenset(named) for named in sentences]
        self.heads = np.array(heads or [SAME_WAY] * len(sentences))
        words = [
            (said or {}).get(index, ()) for index in range(len(sentences))
        ]
        self.values_of = [[values(word) for word in each] for each in words]
        self.mentions: list[tuple[tuple[int, int], ...]] = [()] * len(
            sentences
        )
        self.words: list[str] = []
        self.sentences: list[int] = []


def namesakes(things: Any) -> list[int]:
    return entities._namesakes(things, list(range(len(things.heads))))


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([{0}], [0]),
        ([{0}, {0}, {0}], [0, 1, 2]),
        ([{0}, {1}, {1}], [0]),  # the others may be the first one named again
        ([{0, 1}, {0}, {1}], [0, 1]),
        (
            [{0}, {0, 1}, {1}],
            [0, 1],
        ),  # the third shares a sentence with one only
        ([{0, 1}, {0, 1}, {1}], [0, 1, 2]),
    ],
)
def test_sentences_tell_namesakes_apart(
    sentences: list[set[int]], expected: list[int]
) -> None:
    assert namesakes(Things(sentences)) == expected


def test_heads_are_namesakes_from_nine_tenths() -> None:
    for near, expected in ((0.9, [0, 1]), (0.89, [])):
        other = [near, (1.0 - near**2) ** 0.5]
        assert namesakes(Things([{0}, {0}], [SAME_WAY, other])) == expected


def test_only_namesakes_must_be_told_apart() -> None:
    heads = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    assert namesakes(Things([{0}, {0}, {1}, {1}], heads)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, False),
        ({0: ["red"], 1: ["blue"]}, True),
        ({0: ["large", "red"], 1: ["blue"]}, True),  # one of several is enough
        ({0: ["red"], 1: ["crimson"]}, False),
        ({0: ["red"]}, False),
    ],
)
def test_values_that_exclude_tell_two_things_apart(
    said: dict[int, list[str]], expected: bool
) -> None:
    things: Any = Things([{0}, {1}], said=said)
    assert entities._apart(things, 0, 1) is expected


@pytest.mark.parametrize(
    ("words", "sentences", "first", "expected"),
    [
        ("there is a man", [0, 0, 0, 0], 3, True),
        ("there is a big man", [0, 0, 0, 0, 0], 4, False),  # four words before
        ("there a man", [0, 0, 0], 2, True),
        ("over there a man", [0, 0, 1, 1], 3, False),  # of another sentence
        ("man is there lamp", [0, 0, 0, 1], 3, False),
        ("there is a man a", [0, 0, 0, 0, 1], 3, True),
        ("where is a man", [0, 0, 0, 0], 3, False),
        ("there is", [0, 0], None, False),  # nowhere named
    ],
)
def test_what_there_is_comes_up_anew(
    words: str, sentences: list[int], first: int | None, expected: bool
) -> None:
    text: Any = SimpleNamespace(
        words=words.split(),
        sentences=sentences,
        mentions=[() if first is None else ((first, first + 1), (0, 1))],
    )
    assert entities._introduced(text, 0) is expected


def test_two_that_come_up_anew_are_two_and_one_is_not_enough() -> None:
    things: Any = Things([{0}, {1}])
    things.words = ["there", "is", "a", "man", "there", "is", "a", "man"]
    things.sentences = [0] * 4 + [1] * 4
    things.mentions = [((3, 4),), ((7, 8),)]
    assert entities._apart(things, 0, 1)
    things.words[4] = "here"
    assert not entities._apart(things, 0, 1)


@pytest.mark.parametrize(
    ("quantity", "plural", "expected"),
    [
        (None, False, 1),
        ("three", True, 3),
        (None, True, float("inf")),
        ("0", True, 1),
    ],
)
def test_how_many_things_one_entity_stands_for(
    quantity: str | None, plural: bool, expected: float
) -> None:
    assert entities._room(entity(quantity, plural)) == expected


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("street sign", "stop sign", True),
        ("Street sign", "street sign", False),
        ("sign", "stop sign", False),
        ("stop sign", "sign", False),
        ("wood sign", "wooden sign", False),
        ("big stop sign", "stop sign", False),
    ],
)
def test_names_that_say_which_of_a_kind(
    asked: str, said: str, expected: bool
) -> None:
    assert named_apart(asked, said) is expected


def test_names_are_numbered_once() -> None:
    found: Any = [
        SimpleNamespace(head=head, name=name)
        for head, name in (
            ("Dog", "Big Dog"),
            ("lamp", "lamp"),
            ("dog", "Big Dog"),
            ("dog", "dog"),
        )
    ]
    text: Any = SimpleNamespace(graph=SimpleNamespace(entities=found))
    names = [("dog", "Big Dog"), ("lamp", "lamp"), ("dog", "dog")]
    assert entities._names(text) == (names, [0, 1, 0, 2])


@pytest.mark.parametrize(
    ("alike", "expected"),
    [
        (["11", "11"], [([0, 1], [0, 1])]),
        (["1", "1"], []),  # one of the target
        (["11"], []),  # one of the source
        (["100", "110", "110"], [([1, 2], [0, 1])]),
        (
            ["110", "000", "110", "011", "011"],
            [([0, 2], [0, 1]), ([3, 4], [1, 2])],
        ),
        (["110", "110", "110"], [([0, 1, 2], [0, 1])]),
        (["111", "110", "110"], [([1, 2], [0, 1])]),
    ],
)
def test_groups_of_things_that_are_called_the_same(
    alike: list[str], expected: list[tuple[list[int], list[int]]]
) -> None:
    table = np.array([[mark == "1" for mark in row] for row in alike])
    found = entities._like_groups(table)
    assert [
        (rows.tolist(), columns.tolist()) for rows, columns in found
    ] == expected


ALL = np.ones((2, 2), np.bool_)


@pytest.mark.parametrize(
    ("fit", "expected"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], [0, 1]),
        (
            [[0.5, 0.509], [0.509, 0.5]],
            [0, 1],
        ),  # 1.0 against 1.018 less 0.02 for the order
        ([[0.5, 0.511], [0.511, 0.5]], [1, 0]),  # 1.022 less 0.02
    ],
)
def test_order_decides_between_counterparts_that_fit_as_well(
    fit: list[list[float]], expected: list[int]
) -> None:
    alike, best = ALL.copy(), np.array([0, 0])
    group = (np.array([0, 1]), np.array([0, 1]))
    entities._assign(
        [group], np.array(fit), alike, best, np.zeros(2, np.bool_)
    )
    assert best.tolist() == expected
    assert np.flatnonzero(alike).tolist() == [expected[0], 2 + expected[1]]


def test_order_counts_by_how_far_apart_the_places_are() -> None:
    """Straight: 1.5. Turned by one (1, 2, 0): 1.53 less 0.04."""
    group = (np.arange(3), np.arange(3))
    best, none = np.zeros(3, np.intp), np.zeros(3, np.bool_)
    fit = np.full((3, 3), 0.5)
    fit[0, 1] = fit[1, 2] = fit[2, 0] = 0.51
    entities._assign([group], fit, np.ones((3, 3), np.bool_), best, none)
    assert best.tolist() == [0, 1, 2]


def test_what_is_unpaired_gets_no_counterpart() -> None:
    best = np.array([0, 0])
    group = (np.array([0, 1]), np.array([0, 1]))
    entities._assign(
        [group], np.eye(2), ALL.copy(), best, np.array([False, True])
    )
    assert best.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("alike", "rows", "columns"),
    [
        (np.ones((2, 3), np.bool_), [0, 1], [0, 1, 2]),  # the target has more
        (
            np.ones((3, 2), np.bool_),
            [0, 1],
            [0, 1],
        ),  # a third thing is called so, too
    ],
)
def test_all_stay_alike_where_one_text_has_more(
    alike: Any, rows: list[int], columns: list[int]
) -> None:
    n, m = alike.shape
    group = (np.array(rows), np.array(columns))
    best = np.zeros(n, np.intp)
    entities._assign(
        [group], np.ones((n, m)), alike, best, np.zeros(n, np.bool_)
    )
    assert alike.all()
    assert best[:2].tolist() == [0, 1]


def resolved(
    fit: list[list[float]], quantity: str | None = None, **changes: Any
) -> tuple[list[int], list[bool]]:
    """Things that one sentence names, all claiming the first entity of the target."""
    table = np.array(fit)
    n, m = table.shape
    source: Any = Things([{0}] * n)
    own = {"kind": "thing", "polarity": True, "member_of": None}
    listed = [SimpleNamespace(index=i, **own) for i in range(n)]
    for name, value in changes.items():
        setattr(listed[-1], name, value)
    source.graph = SimpleNamespace(entities=listed)
    target: Any = SimpleNamespace(
        graph=SimpleNamespace(
            entities=[entity(quantity, quantity is not None)] + [entity()] * m
        )
    )
    best = np.zeros(n, np.intp)
    unpaired = entities._resolve(source, target, table, table, best)
    return best.tolist(), unpaired.tolist()


@pytest.mark.parametrize(
    ("fit", "quantity", "best", "unpaired"),
    [
        ([[0.9], [1.0], [0.8]], None, [0, 0, 0], [True, False, True]),
        ([[0.8], [0.9], [1.0]], "two", [0, 0, 0], [True, False, False]),
        ([[0.9], [1.0]], "two", [0, 0], [False, False]),
        # the first fits the place better, the second has no other
        ([[1.0, 0.95], [0.9, 0.2]], None, [1, 0], [False, False]),
        # eight tenths of the best is near enough
        ([[1.0, 0.5], [1.0, 0.8]], None, [0, 1], [False, False]),
        ([[1.0, 0.5], [1.0, 0.78]], None, [0, 0], [False, True]),
        ([[1.0, 0.3], [0.5, 0.4]], None, [0, 1], [False, False]),
        ([[1.0, 0.2], [0.5, 0.39]], None, [0, 0], [False, True]),
    ],
)
def test_who_finds_a_counterpart_taken(
    fit: list[list[float]],
    quantity: str | None,
    best: list[int],
    unpaired: list[bool],
) -> None:
    assert resolved(fit, quantity) == (best, unpaired)


@pytest.mark.parametrize(
    ("name", "value"),
    [("kind", "place"), ("polarity", False), ("member_of", 0)],
)
def test_only_affirmed_single_things_take_a_counterpart(
    name: str, value: Any
) -> None:
    assert resolved([[1.0], [0.9]])[1] == [False, True]
    assert resolved([[1.0], [0.9]], **{name: value})[1] == [False, False]


def with_names(
    monkeypatch: pytest.MonkeyPatch,
    texts: tuple[str, str],
    similar: Any,
    agreed: Any,
) -> Counterparts:
    """Counterparts where the likeness of names is given."""

    def given(source: Any, target: Any, similarity: Any) -> None:
        similarity[:] = similar

    monkeypatch.setattr(entities, "_apply_ties", given)
    return counterparts(
        analysed(texts[0]), analysed(texts[1]), np.array(agreed)
    )


def test_strength_falls_with_the_fourth_power_of_the_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ("A cup.", "A cup and a plate.")
    found = with_names(monkeypatch, texts, [[0.8, 0.4]], [[0.0, 1.0]])
    # fits 0.8 and 0.4 * 1.1 = 0.44: a quotient of 0.55
    assert found.best.tolist() == [0]
    assert found.strength[0] == pytest.approx(
        [0.8**0.5, 0.55**4 * 0.4**0.5], abs=1e-6
    )
    assert found.similarity[0] == pytest.approx([0.8, 0.4])


def test_strength_is_no_more_than_of_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ("A man and another man.", "A man and a boy.")
    found = with_names(
        monkeypatch, texts, [[1.0, 0.5], [0.9, 0.8]], np.zeros((2, 2))
    )
    assert found.best.tolist() == [0, 1]
    assert found.strength[1] == pytest.approx([0.9**0.5, 0.8**0.5], abs=1e-6)


def test_names_are_alike_from_the_mark_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for near, expected in ((0.85, True), (0.84, False)):
        one = with_names(
            monkeypatch, ("A cup.", "A mug."), near, np.zeros((1, 1))
        )
        assert bool(one.alike[0, 0]) is expected
    texts = ("A man and another man.", "A man and another man.")
    both = with_names(monkeypatch, texts, 0.85, np.zeros((2, 2)))
    assert both.alike.tolist() == [
        [True, False],
        [False, True],
    ]  # a group: each its own


def test_other_ends_are_alike_by_name_and_by_what_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    def agreement(
        source: Any, target: Any, similarity: Any, groups: Any
    ) -> Any:
        seen.append(similarity.copy())
        return np.array([[0.0, 1.5]])

    monkeypatch.setattr(entities, "relation_agreement", agreement)
    texts = ("A cup.", "A cup and a plate.")
    found = with_names(monkeypatch, texts, [[0.8, 0.76]], [[0.5, 1.0]])
    assert seen[0][0] == pytest.approx(
        [0.6, 0.76]
    )  # 0.8 * 1.5 / 2, 0.76 * 2 / 2
    assert found.best.tolist() == [
        1
    ]  # 0.8 * 1.05 = 0.84 against 0.76 * 1.25 = 0.95


def test_one_head_alone_is_not_quite_the_name() -> None:
    source, target = analysed("A traffic sign."), analysed("A red sign.")
    found = counterparts(source, target, np.zeros((1, 1)))
    assert found.plain[0, 0] == pytest.approx(0.95)
    assert found.similarity[0, 0] == pytest.approx(0.99)  # only one says which
    source, target = analysed("A traffic sign."), analysed("A stop sign.")
    found = counterparts(source, target, np.zeros((1, 1)))
    assert found.similarity[0, 0] == pytest.approx(0.7)  # each says which


def test_another_of_the_kind_is_a_little_farther() -> None:
    found = counterparts(
        analysed("A dog."), analysed("A cat."), np.zeros((1, 1))
    )
    assert found.similarity[0, 0] == pytest.approx(0.85 * found.plain[0, 0])


DONE = SimpleNamespace(polarity=True)
"""What a relation is as a unit, where only its predicate counts."""


def acting(*said: tuple[int, Predicate, int]) -> Any:
    """A text of these relations: subject, predicate, object."""
    return SimpleNamespace(
        relations=[
            (place, DONE, predicate)
            for place, (_, predicate, _) in enumerate(said)
        ],
        relation_ends=(
            list(range(len(said))),
            np.array([first for first, _, _ in said], np.intp),
            np.array([second for _, _, second in said], np.intp),
        ),
    )


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (
            [(0, HOLD, 1)],
            [(0, HOLD, 1)],
            0.5,
        ),  # the other ends are alike by a half
        ([(0, HOLD, 1)], [(1, HOLD, 0)], 0.0),  # the other way round
        ([(1, HOLD, 0)], [(1, HOLD, 0)], 0.5),
        ([(0, HOLD, 1)], [(1, HELD_BY, 0)], 0.5),
        ([(0, HOLD, 1)], [(0, HELD_BY, 1)], 0.0),
        ([(0, HOLD, 1)], [], 0.0),
        ([], [(0, HOLD, 1)], 0.0),
        ([(0, HOLD, 1), (0, RIDE, 1)], [(0, HOLD, 1)], 0.25),  # one of its two
        (
            [(0, HOLD, 1)],
            [(0, RIDE, 1), (0, HOLD, 1)],
            0.5,
        ),  # the best of the target's
        ([(0, HOLD, 1), (0, RIDE, 1)], [(0, RIDE, 1), (0, HOLD, 1)], 0.5),
        ([(0, HOLD, 1)], [(0, HOLD, 2)], 0.2),  # less alike
    ],
)
def test_agreement_of_what_two_things_do(
    monkeypatch: pytest.MonkeyPatch, source: Any, target: Any, expected: float
) -> None:
    first, second = acting(*source), acting(*target)
    shape = (len(source), len(target))
    monkeypatch.setattr(
        entities, "verb_similarity", lambda a, b: np.zeros(shape)
    )
    alike = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.2], [0.0, 0.0, 0.0]])
    groups = [(np.array([0]), np.array([0]))]
    found = entities.relation_agreement(first, second, alike, groups)
    assert found[0, 0] == pytest.approx(expected)
    assert np.count_nonzero(found) == (expected > 0.0)

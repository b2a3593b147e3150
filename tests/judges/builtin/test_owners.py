"""Which units have moved from one thing to another, with readings written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from beholder.judges.builtin import exchanges
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.predicates import Predicate

HOLD = Predicate("hold", False, "", False)
HELD_BY = Predicate("hold", True, "", False)
NEXT_TO = Predicate("", False, "next to", False)


def unit(subject: int, value: str = "red", **changes: Any) -> Any:
    own = {
        "subject": subject,
        "value": value,
        "kind": "attribute",
        "object": None,
    }
    rest = {"polarity": True, "verb": False, "spans": ()}
    return SimpleNamespace(**own | rest | changes)


def text(*units: Any, heads: str = "man man", **changes: Any) -> Any:
    """Things of these names; the vectors of two names are like or have nothing in common."""
    names = heads.split()
    kinds = list(dict.fromkeys(names))
    things = [
        SimpleNamespace(
            index=i, kind="thing", polarity=True, plural=False, head=name
        )
        for i, name in enumerate(names)
    ]
    made = SimpleNamespace(
        graph=SimpleNamespace(entities=things),
        heads=np.eye(len(kinds))[[kinds.index(name) for name in names]],
        units=units,
        relations=[],
        relation_ends=([], np.zeros(0, np.intp), np.zeros(0, np.intp)),
        properties=[],
    )
    vars(made).update(changes)
    return made


def pairs(n: int, **changes: Any) -> Counterparts:
    """Each the counterpart of the one with its number."""
    same = np.eye(n)
    found = {
        "similarity": same,
        "plain": same,
        "strength": same,
        "best": np.arange(n),
    }
    rest = {"alike": same > 0.5, "unpaired": np.zeros(n, np.bool_)}
    return Counterparts(**found | rest | changes)


@pytest.fixture(autouse=True)
def _no_verbs(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(source: Any, target: Any) -> Any:
        return np.zeros((len(source.relations), len(target.relations)))

    monkeypatch.setattr(exchanges, "verb_similarity", none)


def moved(
    source: Any,
    owners: list[int],
    said: Any,
    given: Counterparts | None = None,
    n: int = 2,
) -> dict[int, int]:
    """Where the target has a property of each of some things."""
    target = text(heads=" ".join(["man"] * n))
    target.properties = [SimpleNamespace(entity=owner) for owner in owners]
    places = list(range(len(said)))
    return exchanges.exchanged(
        source, target, given or pairs(n), places, np.array(said)
    )


@pytest.mark.parametrize(
    ("units", "owners", "said", "expected"),
    [
        ([unit(0)], [1], [[1.0]], {0: 1}),
        ([unit(0)], [1], [[0.85]], {0: 1}),
        ([unit(0)], [1], [[0.84]], {}),
        ([unit(0)], [0], [[1.0]], {}),  # its own has it
        ([unit(0)], [0, 1], [[1.0, 1.0]], {}),  # both have it
        ([unit(0, polarity=False)], [1], [[1.0]], {}),
        ([unit(0, "blue"), unit(0)], [0, 1], [[1.0, 0.0], [0.0, 1.0]], {1: 1}),
        ([unit(1)], [0], [[1.0]], {0: 0}),
    ],
)
def test_units_of_things_of_one_name(
    units: list[Any],
    owners: list[int],
    said: list[list[float]],
    expected: dict[int, int],
) -> None:
    assert moved(text(*units), owners, said) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (unit(1), {}),  # the source says it of both
        (unit(1, "blue"), {0: 1}),
        (unit(1, kind="relation"), {0: 1}),
        (unit(0), {0: 1}),
    ],
)
def test_what_the_source_says_of_both_has_not_moved(
    other: Any, expected: dict[int, int]
) -> None:
    assert moved(text(unit(0), other), [1], [[1.0]]) == expected


@pytest.mark.parametrize(
    ("units", "owners", "said", "expected"),
    [
        ([unit(0)], [1], [[1.0]], {}),
        (
            [unit(0), unit(1, "blue")],
            [1, 0],
            [[1.0, 0.0], [0.0, 1.0]],
            {0: 1, 1: 0},
        ),
    ],
)
def test_things_of_two_names_must_change_places(
    units: list[Any],
    owners: list[int],
    said: list[list[float]],
    expected: dict[int, int],
) -> None:
    assert moved(text(*units, heads="cup cloud"), owners, said) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {0: 1}),
        ({"similarity": np.diag([1.0, 0.85])}, {0: 1}),
        ({"similarity": np.diag([1.0, 0.84])}, {}),
        ({"similarity": np.diag([0.84, 1.0])}, {}),
        ({"best": np.array([0, -1])}, {}),
        ({"unpaired": np.array([False, True])}, {}),
        ({"unpaired": np.array([True, False])}, {}),
    ],
)
def test_both_must_have_a_counterpart_of_their_name(
    given: dict[str, Any], expected: dict[int, int]
) -> None:
    assert moved(text(unit(0)), [1], [[1.0]], pairs(2, **given)) == expected


@pytest.mark.parametrize(
    ("name", "value"), [("kind", "place"), ("polarity", False)]
)
def test_only_affirmed_things_have_counterparts(
    name: str, value: object
) -> None:
    source = text()
    assert exchanges._known_counterparts(source, pairs(2)) == {0: 0, 1: 1}
    setattr(source.graph.entities[0], name, value)
    assert exchanges._known_counterparts(source, pairs(2)) == {1: 1}


def test_all_that_have_it_must_be_counterparts() -> None:
    source = text(unit(0), heads="man man man")
    assert moved(source, [1, 2], [[1.0, 1.0]], n=3).keys() == {0}
    alone = pairs(3, unpaired=np.array([False, False, True]))
    assert moved(source, [1, 2], [[1.0, 1.0]], alone, n=3) == {}


def test_a_unit_of_a_thing_without_counterpart_has_not_moved() -> None:
    alone = pairs(3, unpaired=np.array([False, False, True]))
    assert (
        moved(text(unit(2), heads="man man man"), [1], [[1.0]], alone, n=3)
        == {}
    )


def test_no_one_of_those_that_have_it_may_have_it_in_the_source() -> None:
    source = text(unit(0), unit(1), heads="man man man")
    assert moved(source, [1, 2], [[1.0, 1.0]], n=3) == {}


@pytest.mark.parametrize(
    ("heads", "plural", "expected"),
    [
        ("man man", (), True),
        ("Man man", (), True),
        ("man man", (0,), False),
        ("man man", (1,), False),
        ("couch sofa", (), False),
        ("cup cloud", (), False),
    ],
)
def test_single_things_of_one_name(
    heads: str, plural: tuple[int, ...], expected: bool
) -> None:
    source = text(heads=heads)
    for index in plural:
        source.graph.entities[index].plural = True
    assert exchanges._called_alike(source, 0, 1) is expected


def related(
    *said: tuple[int, Predicate, int] | tuple[int, Predicate, int, bool],
) -> dict[str, Any]:
    units = [
        unit(a, kind="relation", object=b, polarity=not denied)
        for a, _, b, *denied in said
    ]
    return {
        "units": units,
        "relations": [(i, units[i], said[i][1]) for i in range(len(said))],
        "relation_ends": (
            list(range(len(said))),
            np.array([row[0] for row in said], np.intp),
            np.array([row[2] for row in said], np.intp),
        ),
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([(2, HOLD, 1)], {2}),
        ([(1, HOLD, 2)], set()),  # the other way round
        ([(1, HELD_BY, 2)], {2}),
        ([(2, HELD_BY, 1)], set()),
        ([(1, NEXT_TO, 2)], set()),  # no verb
        ([(2, HOLD, 1, True)], set()),  # denied
        ([(1, HELD_BY, 2, True)], set()),
        ([(0, HOLD, 2)], set()),  # of another thing
        ([(0, HELD_BY, 2)], set()),
        ([(0, HOLD, 2), (2, HOLD, 1), (0, HOLD, 1)], {0, 2}),
    ],
)
def test_who_stands_so_to_the_object(said: Any, expected: set[int]) -> None:
    source = text(heads="man cup boy", **related((0, HOLD, 1)))
    target = text(heads="man cup boy", **related(*said))
    assert list(exchanges._relation_owners(source, target, pairs(3))) == [
        (0, expected)
    ]


def test_places_without_direction_hold_both_ways() -> None:
    source = text(heads="man cup boy", **related((0, NEXT_TO, 1)))
    for said in ((1, NEXT_TO, 2), (2, NEXT_TO, 1)):
        target = text(heads="man cup boy", **related(said))
        assert list(exchanges._relation_owners(source, target, pairs(3))) == [
            (0, {2})
        ]


def test_only_affirmed_relations_with_an_object_have_owners() -> None:
    source = text(
        heads="man cup boy",
        **related((0, HOLD, 1), (0, HOLD, 1, True), (2, HOLD, 1)),
    )
    source.units[0].object = None
    target = text(heads="man cup boy", **related((2, HOLD, 1)))
    assert list(exchanges._relation_owners(source, target, pairs(3))) == [
        (2, {2})
    ]


@pytest.mark.parametrize(
    ("objects", "best", "expected"),
    [
        ((2, 3), [0, 1, 2, 2], True),  # one dress for both
        ((2, 3), [0, 1, 2, 3], False),
        ((2, None), [0, 1, 2, 3], True),
        ((None, 3), [0, 1, 2, 3], True),
    ],
)
def test_a_relation_of_two_things(
    objects: tuple[int | None, int | None], best: list[int], expected: bool
) -> None:
    units = [
        unit(i, kind="relation", object=other)
        for i, other in enumerate(objects)
    ]
    given = pairs(4, best=np.array(best))
    assert exchanges._has(text(*units), given, 1, 0) is expected

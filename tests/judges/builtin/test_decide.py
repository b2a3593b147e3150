"""Evidence to value: every branch by a case whose value is worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from beholder.judges.builtin.decide import (
    contradicted,
    roles_exchanged,
    sure,
    value,
)
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.numbers import Numbers, numbers, table
from toy.cases import each_case

N = Numbers(
    anywhere=0.25,
    entity_anywhere=0.5,
    relation_anywhere=0.25,
    same=0.8,
    certain=0.9,
    known=0.5,
    narrower=0.7,
    passing=0.5,
    contradicted=0.2,
    unpaired=0.4,
    silent=0.45,
    ends=0.6,
    related=0.8,
    other_verb=0.45,
    sure_named=0.4,
    sure_said=0.6,
    sure_related=0.75,
    points=((0.0, 1.0), (0.5, 3.0), (1.0, 5.0)),
)


def entity(**changes: object) -> Evidence:
    return replace(Evidence("entity"), **changes)  # type: ignore[arg-type]


def attribute(**changes: object) -> Evidence:
    return replace(Evidence("attribute", name_likeness=1.0), **changes)  # type: ignore[arg-type]


def relation(**changes: object) -> Evidence:
    return replace(Evidence("relation", name_likeness=1.0), **changes)  # type: ignore[arg-type]


@each_case(
    ("evidence", "expected"),
    [
        # half of the coverage, half of the name, or of half the coverage where that is more
        (entity(coverage=0.4, name_likeness=0.6), 0.5),
        (entity(coverage=0.8, name_likeness=0.2), 0.6),
        # a name that says the same decides
        (entity(coverage=0.2, name_likeness=0.9), 0.9),
        (entity(coverage=0.2, name_likeness=0.9, narrower=True), 0.7),
        (entity(coverage=0.9, name_likeness=0.9, narrower=True), 0.9),
        # fewer things in the target than in the source
        (entity(coverage=1.0, name_likeness=1.0, crowded=True), 0.4),
        # "a man" against "no man"; a denied other thing says nothing
        (entity(coverage=1.0, name_likeness=1.0, denied=True), 0.2),
        (entity(coverage=0.4, name_likeness=0.6, denied=True), 0.5),
        # "no man": against a man, against "no man", against nothing of that name, against nothing
        (entity(affirmed=False, coverage=1.0, name_likeness=1.0), 0.0),
        (entity(affirmed=False, coverage=0.0, name_likeness=0.8), 0.2),
        (
            entity(
                affirmed=False, coverage=0.0, name_likeness=0.8, denied=True
            ),
            0.8,
        ),
        (entity(affirmed=False, coverage=0.6, name_likeness=0.4), 0.45),
        (entity(affirmed=False, counterpart=False, coverage=0.4), 0.45),
        (entity(affirmed=False, counterpart=False, coverage=1.0), 0.25),
        # an amount is as sure as the thing
        (Evidence("amount", stated=0.5, name_likeness=0.8), 0.4),
        # a quarter of the coverage, the rest what is said of the counterpart
        (attribute(coverage=0.8, stated=0.4), 0.5),
        (attribute(coverage=0.8, counterpart=False), 0.2),
        (attribute(coverage=0.0, stated=0.9), 0.9),
        (attribute(coverage=0.0, stated=0.8), 0.6),
        # said of the counterpart
        (attribute(stated=0.8, on_counterpart=0.8), 0.6),
        (attribute(stated=1.0, on_counterpart=1.0, denied=True), 0.2),
        # what excludes it, unless the thing is another
        (attribute(coverage=0.4, stated=0.6, excluded=True), 0.2),
        (
            attribute(
                coverage=0.4, stated=0.6, excluded=True, name_likeness=0.4
            ),
            0.55,
        ),
        # "not red"
        (attribute(affirmed=False, on_counterpart=0.4), 0.9),
        (attribute(affirmed=False, on_counterpart=0.4, excluded=True), 0.9),
        # a quarter of the coverage, the rest of the likest relation
        (relation(coverage=0.8, stated=0.4), 0.5),
        (relation(coverage=0.0, stated=0.9), 0.9),
        (relation(coverage=0.0, stated=0.8), 0.6),
        (relation(coverage=1.0, stated=0.6, denied=True), 0.2),
        (relation(coverage=1.0, stated=0.4, denied=True), 0.55),
        (relation(coverage=1.0, stated=0.4, turned=0.6), 0.2),
        (relation(coverage=1.0, stated=0.6, turned=0.6), 0.7),
        # the same two things, related otherwise
        (relation(coverage=0.8, stated=0.4, between=0.8), 0.2),
        (relation(coverage=0.8, stated=0.48, between=0.8), 0.56),
        (relation(coverage=0.8, stated=0.4, between=0.7), 0.5),
        # bare places of things that are both named, about which the target is silent
        (relation(stated=0.4, bare=True, ends=0.8), 0.5),
        (relation(stated=0.4, bare=True, ends=0.7), 0.3),
        (relation(stated=0.4, bare=False, ends=0.8), 0.3),
        (relation(stated=0.4, bare=True, ends=0.8, between=0.8), 0.0),
        (relation(stated=0.4, bare=True, ends=0.8, affirmed=False), 0.3),
        # what is another one's
        (attribute(stated=0.0, exchanged=True), 0.0),
    ],
)
def test_values_equal_those_computed_by_hand(
    evidence: Evidence, expected: float
) -> None:
    assert value(evidence, N) == pytest.approx(expected)


@each_case(
    ("evidence", "expected"),
    [
        (entity(name_likeness=1.0), False),
        (entity(name_likeness=0.3, excluded=True), True),
        (entity(name_likeness=0.9, excluded=True), False),
        (entity(name_likeness=0.8, denied=True), True),
        (entity(name_likeness=0.7, denied=True), False),
        (entity(affirmed=False, name_likeness=0.8), True),
        (entity(affirmed=False, name_likeness=0.7), False),
        (entity(affirmed=False, name_likeness=0.8, denied=True), False),
        (Evidence("amount", name_likeness=0.5, excluded=True), True),
        (Evidence("amount", name_likeness=0.4, excluded=True), False),
        (Evidence("amount", name_likeness=0.5), False),
        (attribute(), False),
        (attribute(excluded=True), True),
        (attribute(excluded=True, name_likeness=0.7), False),
        (attribute(excluded=True, on_alike=0.8), False),
        (attribute(excluded=True, affirmed=False), False),
        (attribute(excluded=True, on_counterpart=0.8), False),
        (attribute(denied=True, on_counterpart=0.8), True),
        (attribute(denied=True, on_counterpart=0.7), False),
        (relation(stated=0.6, denied=True), True),
        (relation(stated=0.5, denied=True), False),
        (relation(stated=0.5, turned=0.6), True),
        (relation(stated=0.6, turned=0.6), False),
        (relation(stated=0.5, turned=0.5), False),
        (relation(stated=0.9, exchanged=True), True),
    ],
)
def test_only_the_same_thing_is_contradicted(
    evidence: Evidence, expected: bool
) -> None:
    assert contradicted(evidence, N) is expected


@each_case(
    ("evidence", "expected"),
    [
        # what the target contradicts: only of a thing that is the only one of its name
        (attribute(excluded=True), False),
        (attribute(excluded=True, lone=True), True),
        (attribute(exchanged=True), True),
        (attribute(denied=True, on_counterpart=0.8), False),
        (attribute(denied=True, on_counterpart=0.8, lone=True), True),
        (entity(name_likeness=0.3, excluded=True), False),
        (entity(name_likeness=0.3, excluded=True, lone=True), True),
        (Evidence("amount", name_likeness=0.9, excluded=True), False),
        (
            Evidence("amount", name_likeness=0.9, excluded=True, lone=True),
            True,
        ),
        (relation(stated=0.5, turned=0.6), True),
        # where the target is silent
        (relation(), False),
        (Evidence("amount", name_likeness=0.8), False),
        (entity(coverage=0.3, name_likeness=0.48), True),  # value 0.39
        (entity(coverage=0.3, name_likeness=0.5), False),  # value 0.4
        (entity(coverage=0.3, name_likeness=0.48, vague=True), False),
        (attribute(coverage=0.59, on_counterpart=0.39), True),
        (attribute(coverage=0.59, on_counterpart=0.39, vague=True), False),
        (attribute(coverage=0.6, on_counterpart=0.39), False),
        (attribute(coverage=0.59, on_counterpart=0.4), False),
    ],
)
def test_absence_is_sure_only_without_evidence(
    evidence: Evidence, expected: bool
) -> None:
    assert sure(evidence, value(evidence, N), N) is expected


@each_case(
    ("evidence", "expected"),
    [
        (Evidence("amount", stated=1.0, name_likeness=0.7), True),
        (
            entity(coverage=1.0, name_likeness=0.79),
            False,
        ),  # value 0.9: its words are there
        (entity(coverage=0.0, name_likeness=0.8), True),
        (entity(affirmed=False, name_likeness=0.9, denied=True), True),
        (relation(stated=0.74, coverage=1.0), False),
        (relation(stated=0.75), True),
        (relation(stated=0.4, bare=True, ends=0.8), False),
        (attribute(coverage=1.0, stated=0.79, on_counterpart=0.79), False),
        (attribute(stated=0.8, on_counterpart=0.8), True),
        (attribute(on_alike=0.8), True),
        (attribute(on_alike=0.79), False),
    ],
)
def test_presence_is_sure_only_with_direct_evidence(
    evidence: Evidence, expected: bool
) -> None:
    assert value(evidence, N) >= N.present
    assert sure(evidence, value(evidence, N), N) is expected


STEPS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
SUPPORT = {
    "attribute": ("coverage", "stated", "on_counterpart", "on_alike"),
    "relation": ("coverage", "stated"),
    "entity": ("coverage",),
}


@each_case("kind", SUPPORT)
@each_case("against", ["", "excluded", "exchanged", "crowded"])
def test_more_support_never_lowers_the_value(kind: str, against: str) -> None:
    flags = {against: True} if against else {}
    start = replace(Evidence(kind, name_likeness=0.9), **flags)  # type: ignore[arg-type]
    for levels in product(STEPS[::3], repeat=len(SUPPORT[kind])):
        base = dict(zip(SUPPORT[kind], levels, strict=True))
        for name in SUPPORT[kind]:
            steps = [replace(start, **{**base, name: step}) for step in STEPS]  # type: ignore[arg-type]
            values = [value(step, N) for step in steps]
            assert values == sorted(values), (kind, against, base, name)


def test_a_grade_never_falls_and_three_is_present() -> None:
    shipped = numbers()
    grades = [shipped.grade(step / 20) for step in range(21)]
    assert grades == sorted(grades)
    assert (grades[0], grades[-1]) == (1.0, 5.0)
    assert shipped.grade(shipped.present) == pytest.approx(3.0)


def test_every_number_has_a_meaning_and_says_how_it_was_set() -> None:
    for name, entry in table().items():
        assert set(entry) == {"value", "meaning", "set"}, name
        assert entry["meaning"], name
        assert entry["set"], name


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Evidence("relation", turned=0.6, stated=0.5), True),
        (
            Evidence("relation", turned=0.6, stated=0.6),
            False,
        ),  # it says it both ways
        (Evidence("relation", turned=0.5), False),
        (
            Evidence("relation", stated=0.9, denied=True),
            False,
        ),  # contradicted, not exchanged
        (Evidence("attribute", exchanged=True), True),
    ],
)
def test_exchanged_ends_and_owners_are_recognised(
    evidence: Evidence, expected: bool
) -> None:
    assert roles_exchanged(evidence, N) is expected

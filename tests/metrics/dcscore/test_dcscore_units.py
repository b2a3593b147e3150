"""What the units of DCScore say where samples or references disagree; verdicts given, not judged."""

from __future__ import annotations

from typing import Any

import pytest

from beholder import Item, Unit
from beholder.judges.operations import AtomicStatement
from beholder.metrics.dcscore.units import (
    DCScoreEvidence,
    Direction,
    Pairing,
    fact_units,
)

ITEM = Item(
    "1",
    "A dog runs. A cat sits.",
    ("A dog runs. A cup. A mat.", "A cat sits."),
)


def fact(text: str, *, relevant: bool = True) -> AtomicStatement:
    return AtomicStatement(text, None, relevant)


def pairing(
    direction: Direction,
    reference: int,
    matches: list[tuple[int | None, ...]],
    verified: list[tuple[bool, ...]],
) -> Pairing:
    return Pairing(direction, reference, tuple(matches), tuple(verified))


def units(
    pairings: list[Pairing], chosen: dict[Direction, Pairing]
) -> list[Unit]:
    evidence = DCScoreEvidence(
        candidate=(fact("A dog runs"), fact("A cat sits", relevant=False)),
        references=(
            (fact("A dog runs"), fact("A cup"), fact("A mat")),
            (fact("A cat sits"),),
        ),
        pairings=tuple(pairings),
        verified_by="text",
    )
    return list(fact_units(ITEM, evidence, chosen))


def verdicts(units: list[Unit]) -> list[tuple[float | None, str | None]]:
    return [(unit.score, unit.verdict) for unit in units]


FIRST = pairing(
    "har", 0, [(0, None), (None, 1)], [(True, True), (True, False)]
)
SECOND = pairing(
    "har", 1, [(None, 0), (None, 0)], [(False, True), (False, True)]
)


def test_a_fact_that_half_of_the_samples_cover_is_covered_and_half_verified_is_a_mistake() -> (
    None
):
    fact_units = units([FIRST, SECOND], {"har": FIRST})
    # The dog is verified twice of two, the cat once of two.
    assert verdicts(fact_units[:2]) == [(1.0, "supported"), (0.5, "mistake")]
    # Of the first reference the dog is matched in one of two samples, so is the cup, the mat never.
    assert verdicts(fact_units[2:5]) == [
        (0.5, "covered"),
        (0.5, "covered"),
        (0.0, "omission"),
    ]
    assert verdicts(fact_units[5:]) == [(1.0, "covered")]
    assert [u.detail["verified"] for u in fact_units[:2]] == [True, False]
    assert [u.detail["covered"] for u in fact_units[2:]] == [
        True,
        True,
        False,
        True,
    ]


def test_what_a_fact_was_matched_to_elsewhere_is_kept() -> None:
    fact_units = units([FIRST, SECOND], {"har": FIRST})
    assert [u.detail["against"] for u in fact_units[:2]] == [0, 0]
    assert [u.detail["matched"] for u in fact_units[:2]] == [
        [0, None],
        [None, 1],
    ]
    assert [u.detail["elsewhere"] for u in fact_units[:2]] == [
        {"1": [None, None]},
        {"1": [0, 0]},
    ]
    assert [u.detail["relevant"] for u in fact_units[:2]] == [True, False]
    second_units = units([FIRST, SECOND], {"har": SECOND})
    assert verdicts(second_units[:2]) == [(0.0, "mistake"), (1.0, "supported")]
    assert [u.detail["elsewhere"] for u in second_units[:2]] == [
        {"0": [0, None]},
        {"0": [None, 1]},
    ]


def test_a_fact_with_one_reference_has_no_elsewhere() -> None:
    fact_units = units([FIRST], {"har": FIRST})
    assert all("elsewhere" not in unit.detail for unit in fact_units)
    assert (
        fact_units[5].verdict == ""
    )  # nobody asked about the second reference


def test_units_stand_in_their_own_text_and_know_their_reference() -> None:
    fact_units = units([FIRST, SECOND], {"har": FIRST})
    assert [(u.side, u.reference_index) for u in fact_units] == [
        ("candidate", None), ("candidate", None), ("reference", 0), ("reference", 0),
        ("reference", 0), ("reference", 1),
    ]  # fmt: skip
    assert [u.detail["index"] for u in fact_units] == [0, 1, 0, 1, 2, 0]
    texts = [
        ITEM.candidate,
        ITEM.candidate,
        *[ITEM.references[0]] * 3,
        ITEM.references[1],
    ]
    passages = [
        text[slice(*u.spans[0])]
        for u, text in zip(fact_units, texts, strict=True)
    ]
    assert passages == [
        "A dog runs",
        "A cat sits",
        "A dog runs",
        "A cup",
        "A mat",
        "A cat sits",
    ]


def test_in_both_directions_truth_is_the_candidates_and_coverage_the_references() -> (
    None
):
    back = pairing("mar", 0, [(0, None, None)], [(True, False, True)])
    fact_units = units([FIRST, back], {"har": FIRST, "mar": back})
    assert verdicts(fact_units[:2]) == [(1.0, "supported"), (0.5, "mistake")]
    assert [u.detail["covered"] for u in fact_units[:2]] == [
        True,
        False,
    ]  # the reference names the dog
    assert verdicts(fact_units[2:5]) == [
        (0.5, "covered"),
        (0.5, "covered"),
        (0.0, "omission"),
    ]
    assert [u.detail["verified"] for u in fact_units[2:5]] == [
        True,
        False,
        True,
    ]
    assert {u.detail["direction"] for u in fact_units[:2]} == {"har"}
    assert {u.detail["direction"] for u in fact_units[2:5]} == {"mar"}


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("har", ["har", "har", "har"]), ("mar", ["mar", "mar", "mar"])],
)
def test_one_direction_says_its_name_on_both_sides(
    direction: Direction, expected: list[Any]
) -> None:
    only = (
        pairing("har", 0, [(0, None)], [(True, False)])
        if direction == "har"
        else pairing("mar", 0, [(0, None, None)], [(True, False, True)])
    )
    fact_units = units([only], {direction: only})
    assert [
        u.detail["direction"]
        for u in (fact_units[0], fact_units[1], fact_units[2])
    ] == expected

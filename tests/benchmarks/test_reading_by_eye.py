"""Draws for reading by eye: no pair is read twice."""

from __future__ import annotations

from training.studies.reading import chosen

NAMES = [f"pair {n}" for n in range(89)]


def test_a_later_draw_takes_other_pairs() -> None:
    first = chosen(NAMES, 11, 12, [])
    second = chosen(NAMES, 12, 10, [(11, 12)])
    third = chosen(NAMES, 21, 67, [(11, 12), (12, 10)])
    assert len({*first, *second, *third}) == len(NAMES) == 12 + 10 + 67


def test_a_draw_is_that_of_its_seed() -> None:
    assert (
        chosen(NAMES, 1, 5, [])
        == chosen(reversed(NAMES), 1, 5, [])
        != chosen(NAMES, 2, 5, [])
    )

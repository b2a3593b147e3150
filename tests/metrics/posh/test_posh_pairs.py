"""Verdicts of PoSh with the built-in judge on pairs of texts judged by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beholder import PoSh
from beholder.records import Unit

TABLE = Path(__file__).with_name("pairs.txt")
REQUIRED = 0.9

Side = tuple[str, list[tuple[str, bool]]]
Pair = tuple[str, Side, Side]


def read_pairs() -> list[Pair]:
    section, pairs = "", list[Pair]()
    sides: list[Side] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            section = line.strip("= ")
        elif line.startswith(("C: ", "R: ")):
            sides.append((line[3:], []))
        elif line and not line.startswith("#"):
            sides[-1][1].extend(
                (text.strip(), sign == "+")
                for sign, text in re.findall(r"([+-])([^+-]+)", line)
            )
            if len(sides) == 2:
                pairs.append((section, sides[0], sides[1]))
                sides = []
    return pairs


def wrong_verdicts(pair: Pair) -> list[str]:
    """Expected verdicts that the metric does not give."""
    _, (candidate, expected), (reference, expected_back) = pair
    score = PoSh().score_text(candidate, reference)
    wrong = []
    for side, expected_units in (
        ("candidate", expected),
        ("reference", expected_back),
    ):
        units: list[Unit] = [unit for unit in score.units if unit.side == side]
        for text, present in expected_units:
            unit = next(
                (u for u in units if u.text.lower() == text.lower()), None
            )
            if unit is not None:
                units.remove(unit)
            if unit is None or (unit.verdict == "match") != present:
                verdict = "no such unit" if unit is None else unit.verdict
                wrong.append(
                    f"{side} {'+' if present else '-'}{text}: {verdict}"
                )
    return wrong


def test_the_table_has_enough_pairs_of_every_kind() -> None:
    pairs = read_pairs()
    assert len(pairs) >= 60
    assert len({section for section, _, _ in pairs}) >= 12


def test_at_least_nine_in_ten_hand_made_verdicts_are_right() -> None:
    pairs = read_pairs()
    n = sum(len(a[1]) + len(b[1]) for _, a, b in pairs)
    wrong = [
        (a[0], b[0], w)
        for pair in pairs
        for _, a, b in [pair]
        for w in wrong_verdicts(pair)
    ]
    assert len(wrong) <= (1 - REQUIRED) * n, "\n".join(
        " | ".join(row) for row in wrong
    )


@pytest.mark.parametrize(
    "text", ["A red car is parked next to a blue truck.", "Two dogs run."]
)
def test_a_text_against_itself_has_no_mistakes(text: str) -> None:
    assert {unit.verdict for unit in PoSh().score_text(text, text).units} == {
        "match"
    }

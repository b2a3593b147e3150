"""Numbers, axes, tones and the choice of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder.records import Interval, Unit
from beholder.report import charts
from beholder.report.numbers import count_ticks, show_number, show_tick, ticks
from beholder.report.payload import choose, spread
from beholder.report.tones import by_tone, in_words, notable, strength, tone
from beholder.run.manifest import ValueLog
from toy.cases import each_case

MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (-0.0001, "0.000"),
        (-0.5, f"{MINUS}0.500"),
        (123.456, "123.5"),
        (1234.56, "1235"),
    ],
)
def test_numbers_are_shown_with_few_digits(value: float, text: str) -> None:
    assert show_number(value) == text


def test_ticks_are_round_and_enclose_the_range() -> None:
    assert ticks(0.0, 1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(0.41, 0.47, 3) == [0.4, 0.42, 0.44, 0.46, 0.48]
    assert ticks(5.0, 5.0)[0] < 5.0 < ticks(5.0, 5.0)[-1]
    assert [show_tick(t, [0.4, 0.42]) for t in (0.4, 0.42)] == ["0.40", "0.42"]


@pytest.mark.parametrize(
    ("highest", "expected"),
    [
        (1, [0, 1]),
        (3, [0, 1, 2, 3]),
        (7, [0, 5, 10]),
        (40, [0, 20, 40]),
        (41, [0, 20, 40, 60]),
    ],
)
def test_counts_have_whole_ticks_that_reach_the_highest_bar(
    highest: int, expected: list[int]
) -> None:
    assert count_ticks(highest) == expected


def test_histogram_counts_every_score_once_and_stays_inside_its_frame() -> (
    None
):
    scores = np.array([0.0, 0.1, 0.1, 0.5, 0.99, 1.0])
    chart = charts.histogram(ValueLog("f1", low=0.0, high=1.0), scores)
    assert sum(count for _, _, count in chart.bars) == 6
    assert chart.mean == pytest.approx(2.69 / 6)
    assert chart.median == pytest.approx(0.3)  # between 0.1 and 0.5
    for low, high, count in chart.bars:
        assert chart.left <= chart.x(low) < chart.x(high) <= chart.right
        assert chart.top <= chart.y(count) < chart.bottom == chart.y(0)


def test_histogram_of_equal_scores_or_one_score_has_one_bar() -> None:
    for scores in (np.array([0.25]), np.full(9, 0.25), np.full(4, -3.0)):
        for value in (ValueLog("f1", low=0.0, high=1.0), ValueLog("elo")):
            assert len(charts.histogram(value, scores).bars) == 1


@each_case(
    "scores",
    [
        [10.0, 9.999999999999998],
        [0.9999999999999998, 1.0],
        [0.3, 0.1 + 0.2],
        [1e18, 1e18 + 256],
        [0.0, 1e-15],
    ],
)
@each_case("bound", [None, 1.0])
def test_scores_that_are_level_but_for_rounding_are_one_bar(
    scores: list[float], bound: float | None
) -> None:
    value = ValueLog("f1", low=None if bound is None else 0.0, high=bound)
    bars = charts.histogram(value, np.array(scores)).bars
    assert sum(count for _, _, count in bars) == 2
    heights = charts.sparkline(value, np.array(scores))
    assert max(heights) == 1.0


def test_histogram_of_a_narrow_range_does_not_show_all_that_is_possible() -> (
    None
):
    scores = np.array([0.41, 0.42, 0.44, 0.45])
    chart = charts.histogram(ValueLog("f1", low=0.0, high=1.0), scores)
    labels = [chart.tick(score) for score in chart.x_ticks]
    assert labels == ["0.41", "0.42", "0.43", "0.44", "0.45"]


def test_range_bar_places_mean_and_interval_in_percent() -> None:
    bar = charts.range_bar(0.5, Interval(0.4, 0.55), -1.0, 1.0)
    assert (bar.mean, bar.low, bar.high) == (75.0, 70.0, 77.5)
    assert charts.range_bar(0.5, None, 0.0, 1.0).low is None


def test_scores_outside_the_stated_bounds_widen_the_scale() -> None:
    assert charts.scale(
        ValueLog("sas", low=0.0, high=1.0), np.array([0.2, 1.3])
    ) == (0.0, 1.3)
    assert charts.scale(ValueLog("elo"), np.array([5.0, 5.0])) == (4.5, 5.5)


def test_lists_take_turns_with_an_even_sample() -> None:
    # Turns: worst 9, best 4, sample 0; worst 8, best 3, sample 2; worst 7
    assert choose(10, [[9, 8, 7], [4, 3]], 5) == [9, 4, 0, 8, 3]
    assert sorted(choose(4, [[3, 2], []], 10)) == [0, 1, 2, 3]
    assert choose(0, [[], []], 10) == []


def test_even_sample_keeps_its_distance() -> None:
    assert spread(10, 5) == [0, 2, 4, 6, 8]
    assert spread(3, 5) == [0, 1, 2]


def test_good_units_grow_with_their_score_and_bad_ones_with_what_is_missing() -> (
    None
):
    def unit(verdict: str, score: float | None) -> Unit:
        return Unit("entity", "cat", "candidate", (), score, verdict)

    assert strength(unit("match", 0.8)) == pytest.approx(0.8)
    assert strength(unit("mistake", 0.8)) == pytest.approx(0.2)
    assert strength(unit("match", 7.0)) == 1.0
    assert strength(unit("omission", None)) == 0.5


def test_mistakes_come_before_omissions_and_good_units_are_not_notable() -> (
    None
):
    verdicts = [
        "match",
        "out_of_order",
        "omission",
        None,
        "mistake",
        "some new word",
    ]
    assert by_tone(verdicts)[:3] == ["mistake", "omission", "out_of_order"]
    assert by_tone(verdicts)[-1] == "match"
    units = [
        Unit("entity", str(v), "candidate", (), None, v) for v in verdicts
    ]
    assert [unit.verdict for unit in notable(units)] == [
        "mistake",
        "omission",
        "out_of_order",
    ]
    assert tone("some new word").name == "other"


def test_findings_in_words_are_a_line_for_each_verdict() -> None:
    verdicts = [
        "omission",
        *["out_of_order"] * 6,
        "match",
        "mistake",
        "mistake",
    ]
    units = [
        Unit("entity", f"{v[0]}{i}", "candidate", (), None, v)
        for i, v in enumerate(verdicts)
    ]
    assert in_words(units) == [
        "mistake: m8; m9",
        "omission: o0",
        "out of order: o1; o2; o3; o4; o5 and 1 more",
    ]


def test_what_is_under_another_unit_or_not_sure_is_no_finding() -> None:
    details: list[dict[str, Any]] = [{}, {"under": "dog"}, {"unsure": True}]
    units = [
        Unit("entity", "cat", "candidate", (), None, "mistake", None, d)
        for d in details
    ]
    assert notable(units) == units[:1]

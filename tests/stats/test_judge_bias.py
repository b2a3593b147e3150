"""Bias of judges: numbers of an outside script, and designs that are solved by hand."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.stats.judge_bias import (
    length_bias,
    own_text_bias,
    place_bias,
    seat_bias,
    share_bias,
)

WORDS = (20, 40, 60, 80, 30, 90, 50, 120, 25, 70)
HUMAN = (0.5, 0.6, 0.6, 0.7, 0.6, 0.7, 0.5, 0.6, 0.4, 0.8)
JUDGED = (0.5, 0.65, 0.65, 0.8, 0.55, 0.85, 0.6, 0.8, 0.4, 0.85)


def test_length_at_equal_human_grade() -> None:
    bias = length_bias(WORDS, JUDGED, HUMAN, least=10)
    assert bias.value == pytest.approx(0.102592, abs=1e-6)
    assert bias.interval is not None
    assert bias.interval.low == pytest.approx(0.053327, abs=1e-6)
    assert bias.interval.high == pytest.approx(0.151856, abs=1e-6)


def test_pictures_that_each_have_one_text_are_clusters_of_one() -> None:
    # CR1 with clusters of one is White's HC0 times n / (n - 1), with n - 1 degrees of freedom.
    x = np.column_stack([np.ones(10), np.log2(WORDS), HUMAN])
    bread = np.linalg.inv(x.T @ x)
    residuals = np.array(JUDGED) - x @ bread @ x.T @ np.array(JUDGED)
    error = np.sqrt((bread @ (x.T * residuals**2) @ x @ bread)[1, 1] * 10 / 9)
    bias = length_bias(WORDS, JUDGED, HUMAN, list("abcdefghij"), least=10)
    assert bias.interval is not None
    width = bias.interval.high - bias.interval.low
    assert width == pytest.approx(2 * 2.2621571628 * error)  # t(9), 0.975


def test_a_planted_length_bias_is_within_its_interval() -> None:
    random = np.random.default_rng(5)
    words = random.integers(10, 200, 300)
    human = random.uniform(0, 1, 300)
    noise = random.normal(0, 0.1, 300)
    bias = length_bias(words, human + 0.05 * np.log2(words) + noise, human)
    assert bias.interval is not None
    assert 0 < bias.interval.low < 0.05 < bias.interval.high


@pytest.mark.parametrize(
    ("words", "human", "least", "reason"),
    [
        (WORDS, HUMAN, 30, "10 texts with a label, 30 are needed"),
        ([50] * 9 + [51], HUMAN, 10, "of nearly one length"),
        (WORDS, np.log2(WORDS), 10, "cannot be separated"),
        ([10] * 9 + [80], [0.5] * 5 + [0.6] * 5, 10, "one text alone"),
    ],
)
def test_length_needs_enough_data(
    words: object, human: object, least: int, reason: str
) -> None:
    bias = length_bias(words, JUDGED, human, least=least)  # type: ignore[arg-type]
    assert (bias.value, bias.interval) == (None, None)
    assert reason in bias.reason


def test_length_needs_several_pictures() -> None:
    bias = length_bias(WORDS, JUDGED, HUMAN, [*"abcdefghh", "h"], least=10)
    assert bias.reason == "texts of 8 pictures, 10 are needed"


def test_own_texts_beside_those_of_others() -> None:
    own_errors = np.subtract(
        (0.9, 0.8, 0.85, 0.95, 0.7, 0.9), (0.7, 0.75, 0.8, 0.85, 0.65, 0.8)
    )
    other_errors = np.subtract(
        (0.6, 0.7, 0.75, 0.8, 0.6, 0.75), (0.65, 0.7, 0.7, 0.8, 0.6, 0.7)
    )
    bias = own_text_bias(own_errors, other_errors, least=6)
    assert bias.value == pytest.approx(0.083333, abs=1e-6)
    assert bias.interval is not None
    assert bias.interval.low == pytest.approx(-0.008555, abs=1e-6)
    assert bias.interval.high == pytest.approx(0.175221, abs=1e-6)
    few = own_text_bias(own_errors, other_errors)
    assert few.value is None
    assert (
        few.reason
        == "6 pictures with texts of its own and of others, 20 are needed"
    )


def test_seats_and_flips_are_counted_over_pairs() -> None:
    # 14 pairs won by the first seat in both orders, 6 by the second, 70 by one text, 7 with a tie
    # in one order, 3 ties: the worked example of the specification.
    orders = (
        [(1, 1)] * 14
        + [(-1, -1)] * 6
        + [(1, -1)] * 70
        + [(1, 0)] * 7
        + [(0, 0)] * 3
    )
    seat, flips = seat_bias(orders)
    assert seat.value == pytest.approx(0.08)
    assert seat.interval is not None
    # Variance (20 - 100 * .08 ** 2) / 99; t(99) is 1.984217.
    half = 1.984217 * (19.36 / 99 / 100) ** 0.5
    assert seat.interval.high == pytest.approx(0.08 + half, abs=1e-6)
    assert flips.value == pytest.approx(0.2)
    assert flips.interval is not None
    assert flips.interval.low == pytest.approx(0.133367, abs=1e-6)
    assert flips.interval.high == pytest.approx(0.288829, abs=1e-6)
    few = seat_bias(orders[:29])
    assert [bias.reason for bias in few] == [
        "29 pairs in both orders, 30 are needed"
    ] * 2


def test_pairs_of_one_picture_do_not_count_as_independent() -> None:
    # The worked pairs, each four times about its picture: as wide as once, 0.08 -/+ 1.96 * .04422
    # for the seat, and 0.20 -/+ 1.96 * .04 for the flips.
    orders = (
        [(1, 1)] * 14
        + [(-1, -1)] * 6
        + [(1, -1)] * 70
        + [(1, 0)] * 7
        + [(0, 0)] * 3
    )
    pictures = [i for i in range(100) for _ in range(4)]
    seat, flips = seat_bias(
        [order for order in orders for _ in range(4)], pictures
    )
    assert seat.value == pytest.approx(0.08)
    assert seat.interval is not None
    assert seat.interval.low == pytest.approx(0.08 - 0.0867, abs=0.012)
    assert seat.interval.high == pytest.approx(0.08 + 0.0867, abs=0.012)
    assert flips.interval is not None
    assert flips.interval.low == pytest.approx(0.2 - 0.0784, abs=0.012)
    few = seat_bias(orders, [i % 9 for i in range(100)])
    assert {(bias.value, bias.reason) for bias in few} == {
        (None, "pairs of 9 pictures, 10 are needed")
    }


def test_false_alarms_have_a_place_too() -> None:
    few = place_bias([0.5] * 3, [1, 0, 0], "abc", wrong=False)
    assert few.name == "place, false alarms"
    assert few.reason.startswith(
        "3 right sentences of 3 pictures, 0 in the first or last third"
    )


def test_the_place_of_a_sentence() -> None:
    # Per picture four wrong sentences at 0, 1/3, 2/3, 1; of 12 pictures, six have the first found
    # and all have the last two. Means 1/2, 1/2, 1, 1 at these places: slope (.5 * .5 * 2 + 1/6 *
    # .5 * 2) / (2 * (1/4 + 1/36)) = .6.
    verdicts = [[a, a, 1, 1] for a in (0, 1)] * 6
    places = [0, 1 / 3, 2 / 3, 1] * 12
    pictures = [i for i in range(12) for _ in range(4)]
    bias = place_bias(places, np.ravel(verdicts), pictures)
    assert bias.value == pytest.approx(0.6)
    assert bias.interval is not None
    assert bias.interval.low < 0.6 < bias.interval.high
    shuffled = place_bias(
        places[::-1], np.ravel(verdicts)[::-1], pictures[::-1]
    )
    assert (
        shuffled.interval == pytest.approx(bias.interval, abs=1e-9)
        or shuffled == bias
    )
    few = place_bias(places[:28], np.ravel(verdicts)[:28], pictures[:28])
    assert few.value is None
    assert (
        "28 wrong sentences of 7 pictures, 7 in the first or last third"
        in few.reason
    )


def test_shares_that_change_have_wilson_intervals() -> None:
    bias = share_bias(
        "repeats", "share", [True] * 3 + [False] * 9, "questions", least=10
    )
    assert bias.value == 0.25
    assert bias.interval is not None
    # Wilson of 3 in 12: (3 + 1.920729) / 15.841459 -/+ 1.959964 sqrt(12 (.25 * .75 + .080030)) /
    # 15.841459, with z ** 2 / 48 = .080030.
    assert bias.interval.low == pytest.approx(0.310623 - 0.221729, abs=1e-4)
    assert bias.interval.high == pytest.approx(0.310623 + 0.221729, abs=1e-4)

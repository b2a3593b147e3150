"""PPI++ by picture. The worked example was computed by a script outside this project (validity
specification); coverage is simulated."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.stats.corrected import CorrectedMean, corrected_mean
from toy.cases import each_case

# Six labelled pictures (labels, judge) and twelve without labels.
LABELLED = [
    ((4, 3), (4, 4)),
    ((2,), (3,)),
    ((5, 4, 4), (5, 4, 5)),
    ((1, 2), (2, 2)),
    ((3,), (3,)),
    ((4, 2), (5, 3)),
]
UNLABELLED = [
    (4, 4),
    (3,),
    (5, 5),
    (2, 3),
    (4,),
    (3, 3, 4),
    (5,),
    (2,),
    (4, 3),
    (3,),
    (4, 5),
    (3, 2),
]


def flat(groups: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    values = [value for group in groups for value in group]
    return values, [place for place, group in enumerate(groups) for _ in group]


def example() -> tuple[list[float], list[int], list[str]]:
    labels, places = flat([y for y, _ in LABELLED])
    judged, _ = flat([f for _, f in LABELLED])
    unlabelled, other_places = flat(UNLABELLED)
    names = [f"a{p}" for p in places] + [f"b{p}" for p in other_places]
    return [*labels, *[math.nan] * len(unlabelled)], judged + unlabelled, names


def test_the_mean_equals_the_worked_example() -> None:
    mean = corrected_mean(*example())
    assert mean.labels == pytest.approx(3.090909, abs=1e-6)
    assert mean.weight == pytest.approx(0.89334, abs=1e-5)
    assert mean.corrected == pytest.approx(3.013757, abs=1e-6)
    # The specification's standard error is .285743. With each residual over 1 - leverage, which is
    # .205717 .109206 .704393 .665761 .109206 .205717 (texts / 11 + influence of the judge squared /
    # their sum), it is .409225 in fractions; t(4) is 2.776445.
    ends = mean.corrected_interval
    assert (ends.low, ends.high) == pytest.approx(
        (1.877566, 4.149949), abs=1e-6
    )
    half = sps.t.ppf(0.975, 5) * 0.506983
    assert mean.labels_interval.high - mean.labels == pytest.approx(
        half, abs=1e-5
    )
    # All 31 values of the judge: 11 times 3.636364 and 20 times 3.55, which is 111 / 31.
    assert mean.judge == pytest.approx(111 / 31)
    assert mean.n_effective == pytest.approx(
        11 * (0.506983 / 0.409225) ** 2, rel=1e-4
    )


def test_the_worked_example_of_the_public_code() -> None:
    y, f = (
        [float(digit) for digit in digits]
        for digits in ("1011010110", "1011110111")
    )
    mean = corrected_mean(
        [*y, *[None] * 40],
        [*f, *[1.0] * 31, *[0.0] * 9],
        ["one picture"] * 50,
        rules="public",
    )
    assert mean.weight == pytest.approx(0.548252, abs=1e-6)
    assert mean.corrected == pytest.approx(0.586294, abs=1e-6)
    ends = mean.corrected_interval
    assert (ends.low, ends.high) == pytest.approx(
        (0.331035, 0.841553), abs=1e-6
    )
    assert mean.labels_interval.high == pytest.approx(
        0.6 + 1.959964 * 0.154919, abs=1e-6
    )
    assert mean.judge == pytest.approx(0.78)


def test_texts_without_a_label_beside_a_labelled_one_are_left_out() -> None:
    labels, judged, names = example()
    mean = corrected_mean([*labels, None], [*judged, 99.0], [*names, "a0"])
    assert mean == corrected_mean(labels, judged, names)


def test_a_judge_whose_weight_rests_on_one_picture_does_not_count() -> None:
    labels = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, *[math.nan] * 20]
    mean = corrected_mean(labels, [1.0] * 5 + [0.0] + [1.0, 0.0] * 10)
    assert mean.weight == 0
    assert mean.corrected == pytest.approx(5 / 6)
    assert mean.corrected_interval == mean.labels_interval


def test_a_judge_that_says_the_opposite_is_not_used() -> None:
    labels, judged, names = example()
    mean = corrected_mean(
        labels,
        [
            -v if n[0] == "a" else v - 7
            for v, n in zip(judged, names, strict=True)
        ],
        names,
    )
    assert mean.weight == 0.0
    assert mean.corrected == mean.labels
    assert mean.n_effective == pytest.approx(11)


def test_a_constant_judge_changes_nothing() -> None:
    labels, _, names = example()
    mean = corrected_mean(labels, [3] * 31, names)
    assert (mean.weight, mean.corrected) == (0.0, mean.labels)


@each_case(
    ("change", "message"),
    [
        (
            {2: ["a0"] * 6 + ["a1"] * 5 + ["b"] * 20},
            "2 pictures have labels and 1 have none",
        ),
        ({1: [1.0]}, "one length"),
        ({0: ["good"] * 31}, "labels: expected numbers"),
        ({0: [[1, 2], *range(30)]}, "labels: expected numbers"),
        (
            {0: [list(range(31))]},
            r"labels: expected one dimension, got shape \(1, 31\)",
        ),
        ({1: [*range(11), *range(500, 520)]}, "label a random sample"),
    ],
)
def test_what_cannot_be_corrected_is_refused(
    change: dict[int, list[object]], message: str
) -> None:
    arguments: list[Any] = list(example())
    for place, value in change.items():
        arguments[place] = value
    with pytest.raises(ConfigError, match=message):
        corrected_mean(*arguments)


def share_of_truth_in_intervals(
    draw: Callable[[], tuple[Any, Any, list[int]]], truth: float
) -> tuple[float, list[CorrectedMean]]:
    """Share of 2,000 studies whose interval holds the truth; at most 1 in 200 is refused."""
    means = []
    for _ in range(2000):
        with suppress(ConfigError):
            means.append(corrected_mean(*draw()))
    assert len(means) >= 1990
    intervals = [mean.corrected_interval for mean in means]
    return float(
        np.mean(
            [interval.low <= truth <= interval.high for interval in intervals]
        )
    ), means


@pytest.mark.slow
def test_intervals_hold_the_truth_although_the_judge_is_biased_by_0_12() -> (
    None
):
    rng = np.random.default_rng(5)
    pictures = np.repeat(np.arange(200), 2)  # two texts a picture

    def draw() -> tuple[Any, Any, list[int]]:
        truth = rng.normal(0.5, 0.15, 200)[pictures] + rng.normal(0, 0.1, 400)
        judge = truth + 0.12 + rng.normal(0, 0.1, 400)
        return (
            np.where(pictures < 40, truth, math.nan),
            judge,
            pictures.tolist(),
        )

    share, means = share_of_truth_in_intervals(draw, 0.5)
    assert 0.93 <= share <= 0.97
    assert np.mean([mean.judge for mean in means]) == pytest.approx(
        0.62, abs=0.005
    )
    assert np.mean([mean.corrected for mean in means]) == pytest.approx(
        0.5, abs=0.005
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "texts", [1, pytest.param(2, marks=pytest.mark.nightly)]
)
def test_intervals_hold_a_share_of_yes(texts: int) -> None:
    """60 of 400 pictures are labelled; 0.8 are good, of which the judge finds 0.9, and 0.6 of bad."""
    rng = np.random.default_rng(6)
    pictures = np.repeat(np.arange(400), texts)
    n = len(pictures)

    def draw() -> tuple[Any, Any, list[int]]:
        of_picture = (rng.random(400) < 0.8)[pictures]
        truth = np.where(rng.random(n) < 0.5, of_picture, rng.random(n) < 0.8)
        right = rng.random(n) < np.where(truth, 0.9, 0.6)
        return (
            np.where(pictures < 60, truth, math.nan),
            right == truth,
            pictures.tolist(),
        )

    assert 0.93 <= share_of_truth_in_intervals(draw, 0.8)[0] <= 0.97

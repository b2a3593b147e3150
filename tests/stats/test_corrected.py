"""PPI++ by picture. The worked example was computed by a script outside this project (validity
specification); coverage is simulated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.stats.corrected import corrected_mean

# Six labelled pictures (labels, judge) and twelve without labels.
LABELLED = [
    ((4, 3), (4, 4)),
    ((2,), (3,)),
    ((5, 4, 4), (5, 4, 5)),
    ((1, 2), (2, 2)),
    ((3,), (3,)),
    ((4, 2), (5, 3)),
]
OTHERS = [(4, 4), (3,), (5, 5), (2, 3), (4,), (3, 3, 4), (5,), (2,), (4, 3), (3,), (4, 5), (3, 2)]


def flat(groups: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    values = [value for group in groups for value in group]
    return values, [place for place, group in enumerate(groups) for _ in group]


def example() -> tuple[list[int], list[int], list[int], list[str], list[str]]:
    labels, places = flat([y for y, _ in LABELLED])
    judged, _ = flat([f for _, f in LABELLED])
    others, other_places = flat(OTHERS)
    names, other_names = [f"a{p}" for p in places], [f"b{p}" for p in other_places]
    return labels, judged, others, names, other_names


def test_the_worked_example() -> None:
    found = corrected_mean(*example())
    assert found.labels == pytest.approx(3.090909, abs=1e-6)
    assert found.weight == pytest.approx(0.89334, abs=1e-5)
    assert found.corrected == pytest.approx(3.013757, abs=1e-6)
    ends = found.corrected_interval
    assert (ends.low, ends.high) == pytest.approx((2.279231, 3.748283), abs=1e-6)
    half = sps.t.ppf(0.975, 5) * 0.506983
    assert found.labels_interval.high - found.labels == pytest.approx(half, abs=1e-5)
    # All 31 values of the judge: 11 times 3.636364 and 20 times 3.55, which is 111 / 31.
    assert found.judge == pytest.approx(111 / 31)
    assert found.n_effective == pytest.approx(11 * (0.506983 / 0.285743) ** 2, rel=1e-4)


def test_a_judge_that_says_the_opposite_is_not_used() -> None:
    labels, judged, others, names, other_names = example()
    found = corrected_mean(labels, [-v for v in judged], others, names, other_names)
    assert found.weight == 0.0
    assert found.corrected == found.labels
    assert found.n_effective == pytest.approx(11)


def test_a_constant_judge_changes_nothing() -> None:
    labels, _, _, names, other_names = example()
    found = corrected_mean(labels, [3] * 11, [3] * 20, names, other_names)
    assert (found.weight, found.corrected) == (0.0, found.labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({3: ["a0", *["z"] * 10]}, "2 pictures have labels"),
        ({4: ["a0", *["b"] * 19]}, "1 pictures have labels for some"),
        ({1: [1.0]}, "one length"),
    ],
)
def test_what_cannot_be_corrected_is_refused(change: dict[int, list[object]], message: str) -> None:
    given: list[Any] = list(example())
    for place, value in change.items():
        given[place] = value
    with pytest.raises(ConfigError, match=message):
        corrected_mean(*given)


@pytest.mark.slow
def test_intervals_hold_the_truth_although_the_judge_is_biased_by_0_12() -> None:
    rng = np.random.default_rng(5)
    n_held, draws, errors = 0, 2000, []
    for _ in range(draws):
        quality = np.repeat(rng.normal(0.5, 0.15, 200), 2)  # two texts a picture
        truth = quality + rng.normal(0, 0.1, 400)
        judge = truth + 0.12 + rng.normal(0, 0.1, 400)
        pictures = np.repeat(np.arange(200), 2)
        found = corrected_mean(
            truth[:80], judge[:80], judge[80:], pictures[:80].tolist(), pictures[80:].tolist()
        )
        n_held += found.corrected_interval.low <= 0.5 <= found.corrected_interval.high
        errors.append((found.judge - 0.5, found.corrected - 0.5))
    assert 0.93 <= n_held / draws <= 0.97
    biased, corrected = np.mean(errors, axis=0)
    assert biased == pytest.approx(0.12, abs=0.005)
    assert corrected == pytest.approx(0, abs=0.005)

"""Scales of pages: a value without an upper bound is drawn over its scores, never to 1e9."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from beholder.asking.asker import ValueInfo
from beholder.report import charts
from beholder.run.manifest import NO_BOUND, ValueLog, describe_scale
from toy.cases import each_case


@each_case(
    ("high", "scores", "ends"),
    [
        (1.0, [0.2, 0.4], (0.0, 1.0)),  # a closed scale is drawn whole
        (10.0, [0.2, 0.4], (0.0, 10.0)),
        (NO_BOUND, [20.0, 107.0], (0.0, 107.0)),
        (NO_BOUND, [0.0, 0.0], (-0.5, 0.5)),
        (2 * NO_BOUND, [3.0], (0.0, 3.0)),
        (None, [20.0, 107.0], (0.0, 107.0)),
    ],
)
def test_an_open_scale_ends_at_the_greatest_score(
    high: float | None, scores: list[float], ends: tuple[float, float]
) -> None:
    value = ValueLog("words", low=0.0, high=high)
    assert charts.scale(value, np.array(scores)) == ends
    # Runs of earlier versions have the number in run.json.
    stored = b'{"name": "words", "low": 0.0, "high": 1e9}'
    assert msgspec.json.decode(stored, type=ValueLog).high is None


@pytest.mark.parametrize("scores", [[70.0], [70.0, 71.0], [1.0, 5000.0]])
def test_the_axis_of_an_open_scale_is_near_its_scores(
    scores: list[float],
) -> None:
    value = ValueLog("words", low=0.0, high=NO_BOUND)
    axis = charts.histogram(value, np.array(scores)).x_ticks
    assert axis[0] <= min(scores) <= max(scores) <= axis[-1]
    assert axis[-1] <= 2 * max(scores)


def test_a_range_in_words_names_no_bound_that_is_none() -> None:
    assert describe_scale(ValueInfo("a", "")) == "0 to 1"
    assert describe_scale(ValueInfo("a", "", -1, 10)) == "-1 to 10"
    assert describe_scale(ValueInfo("a", "", 1, NO_BOUND)) == "1 or more"

"""Bias of judges: numbers of an outside script, and designs that are solved by hand."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.stats.judge_bias import length_bias, own_text_bias

WORDS = (20, 40, 60, 80, 30, 90, 50, 120, 25, 70)
HUMAN = (0.5, 0.6, 0.6, 0.7, 0.6, 0.7, 0.5, 0.6, 0.4, 0.8)
JUDGED = (0.5, 0.65, 0.65, 0.8, 0.55, 0.85, 0.6, 0.8, 0.4, 0.85)


def test_length_at_equal_human_grade() -> None:
    found = length_bias(WORDS, JUDGED, HUMAN, least=10)
    assert found.value == pytest.approx(0.102592, abs=1e-6)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.053327, abs=1e-6)
    assert found.interval.high == pytest.approx(0.151856, abs=1e-6)


def test_pictures_that_each_have_one_text_are_clusters_of_one() -> None:
    # CR1 with clusters of one is White's HC0 times n / (n - 1), with n - 1 degrees of freedom.
    x = np.column_stack([np.ones(10), np.log2(WORDS), HUMAN])
    bread = np.linalg.inv(x.T @ x)
    residuals = np.array(JUDGED) - x @ bread @ x.T @ np.array(JUDGED)
    error = np.sqrt((bread @ (x.T * residuals**2) @ x @ bread)[1, 1] * 10 / 9)
    found = length_bias(WORDS, JUDGED, HUMAN, list("abcdefghij"), least=10)
    assert found.interval is not None
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(2 * 2.2621571628 * error)  # t(9), 0.975


def test_a_planted_length_bias_is_within_its_interval() -> None:
    random = np.random.default_rng(5)
    words, human = random.integers(10, 200, 300), random.uniform(0, 1, 300)
    noise = random.normal(0, 0.1, 300)
    found = length_bias(words, human + 0.05 * np.log2(words) + noise, human)
    assert found.interval is not None
    assert 0 < found.interval.low < 0.05 < found.interval.high


@pytest.mark.parametrize(
    ("words", "human", "least", "reason"),
    [
        (WORDS, HUMAN, 30, "10 texts with a label, 30 are needed"),
        ([50] * 9 + [51], HUMAN, 10, "of nearly one length"),
        (WORDS, np.log2(WORDS), 10, "cannot be separated"),
        ([10] * 9 + [80], [0.5] * 5 + [0.6] * 5, 10, "one text alone"),
    ],
)
def test_length_needs_enough_data(words: object, human: object, least: int, reason: str) -> None:
    found = length_bias(words, JUDGED, human, least=least)  # type: ignore[arg-type]
    assert (found.value, found.interval) == (None, None)
    assert reason in found.reason


def test_length_needs_several_pictures() -> None:
    found = length_bias(WORDS, JUDGED, HUMAN, [*"abcdefghh", "h"], least=10)
    assert found.reason == "texts of 8 pictures, 10 are needed"


def test_own_texts_beside_those_of_others() -> None:
    own = np.subtract((0.9, 0.8, 0.85, 0.95, 0.7, 0.9), (0.7, 0.75, 0.8, 0.85, 0.65, 0.8))
    others = np.subtract((0.6, 0.7, 0.75, 0.8, 0.6, 0.75), (0.65, 0.7, 0.7, 0.8, 0.6, 0.7))
    found = own_text_bias(own, others, least=6)
    assert found.value == pytest.approx(0.083333, abs=1e-6)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(-0.008555, abs=1e-6)
    assert found.interval.high == pytest.approx(0.175221, abs=1e-6)
    few = own_text_bias(own, others)
    assert few.value is None
    assert few.reason == "6 pictures with texts of its own and of others, 20 are needed"

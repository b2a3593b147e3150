"""Rates, stand-ins, sizes and confidence sequences against figures worked out elsewhere.

The expected numbers come from a script outside this project, or are calculated by hand.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats import (
    Betting,
    alternative_annotator,
    betting_interval,
    corrected_rate,
    corrected_share,
    items_for_kappa,
    labels_for_corrected_mean,
    pictures_for_difference,
    scatter,
    texts_for_mean,
)


class TestRate:
    def test_matches_the_worked_example(self) -> None:
        rate = corrected_rate(
            380, 600, found=42, missed=8, rejected=40, false_alarms=10
        )
        assert rate.raw == pytest.approx(0.633333, abs=1e-6)
        assert (rate.sensitivity, rate.specificity) == (0.84, 0.8)
        assert rate.rate == pytest.approx(0.677083, abs=1e-6)
        assert rate.error == pytest.approx(0.069051, abs=1e-6)
        assert rate.interval.low == pytest.approx(0.548531, abs=1e-6)
        assert rate.interval.high == pytest.approx(0.832902, abs=1e-6)
        assert not rate.clipped

    def test_a_correction_that_leads_out_of_the_range_is_clipped_and_said(
        self,
    ) -> None:
        rate = corrected_rate(
            5, 600, found=42, missed=8, rejected=40, false_alarms=10
        )
        assert rate.rate == 0
        assert rate.clipped
        assert rate.interval.low == 0

    @pytest.mark.parametrize(
        (
            "positives",
            "found",
            "missed",
            "rejected",
            "false_alarms",
            "message",
        ),
        [
            (601, 42, 8, 40, 10, "601 positive of 600 verdicts"),
            (380, 15, 4, 40, 10, "19 positive and 50 negative labels"),
            (380, 30, 20, 25, 25, "sensitivity 0.60"),
            (380, -1, 40, 40, 10, "expected counts"),
        ],
    )
    def test_counts_that_cannot_be_corrected_raise(
        self,
        positives: int,
        found: int,
        missed: int,
        rejected: int,
        false_alarms: int,
        message: str,
    ) -> None:
        with pytest.raises(ConfigError, match=message):
            corrected_rate(
                positives,
                600,
                found=found,
                missed=missed,
                rejected=rejected,
                false_alarms=false_alarms,
            )

    def test_interval_contains_the_true_rate(self) -> None:
        rng = np.random.default_rng(7)
        n_covered = 0
        for _ in range(1000):
            yes = rng.random(500) < 0.3
            verdicts = np.where(
                yes, rng.random(500) < 0.85, rng.random(500) < 0.25
            )
            hits = rng.binomial(100, 0.85)
            rejected = rng.binomial(100, 0.75)
            interval = corrected_rate(
                int(verdicts.sum()),
                500,
                found=hits,
                missed=100 - hits,
                rejected=rejected,
                false_alarms=100 - rejected,
            ).interval
            n_covered += interval.low <= 0.3 <= interval.high
        assert 930 <= n_covered <= 980


class TestShare:
    VERDICTS_OF_LABELLED = [1] * 42 + [0] * 48 + [1] * 10
    TRUTH = [1] * 50 + [0] * 50
    OTHER_VERDICTS = [1] * 380 + [0] * 220

    VERDICTS = VERDICTS_OF_LABELLED + OTHER_VERDICTS
    LABELS = TRUTH + [math.nan] * 600

    def test_verdicts_of_a_picture_each_give_the_worked_rate(self) -> None:
        rate = corrected_share(self.LABELS, self.VERDICTS)
        assert rate.rate == pytest.approx(0.677083, abs=1e-6)
        assert rate.interval.low == pytest.approx(0.548531, abs=1e-6)
        assert rate.interval.high == pytest.approx(0.832902, abs=1e-6)

    def test_verdicts_of_one_picture_do_not_count_as_independent(self) -> None:
        # Each verdict four times in its picture says no more than once: [.542, .812] by the
        # worked standard error, half as wide if they were independent.
        four = [
            np.repeat(values, 4)
            for values in (self.LABELS, self.VERDICTS, range(700))
        ]
        rate = corrected_share(four[0], four[1], four[2].tolist())
        assert rate.rate == pytest.approx(0.677083, abs=1e-6)
        assert rate.error == pytest.approx(0.069051, rel=0.15)
        assert rate.interval.low == pytest.approx(0.541745, abs=0.03)
        assert rate.interval.high == pytest.approx(0.812421, abs=0.03)

    def test_verdicts_of_one_kind_alone_give_no_rate(self) -> None:
        with pytest.raises(
            ConfigError, match="0 verdicts have labels and 600 have none"
        ):
            corrected_share([None] * 600, self.OTHER_VERDICTS)

    def test_few_pictures_give_no_rate(self) -> None:
        clusters = [*[0] * 50, *[1] * 50, *range(2, 602)]
        with pytest.raises(ConfigError, match="labels of 2 pictures"):
            corrected_share(self.LABELS, self.VERDICTS, clusters)


def worked_people() -> tuple[np.ndarray, np.ndarray]:
    """Three people and a judge on 36 items, as the worked example states them."""
    i = np.arange(36)
    gold = i * 7 % 3 == 0
    wrong = [i % 6 == 0, i % 6 == 2, i % 4 == 1, i % 5 == 3]
    *people, judge = (
        np.where(where, ~gold, gold).astype(float) for where in wrong
    )
    return np.stack(people, axis=1), judge


class TestAlternativeAnnotator:
    def test_matches_the_worked_example(self) -> None:
        result = alternative_annotator(*worked_people())
        assert result.winning_rate == {0.2: 1.0, 0.15: 1.0, 0.1: 0.0}
        assert result.advantage == pytest.approx(0.916667, abs=1e-6)
        assert result.p_values[0.1] == pytest.approx(
            (0.028641, 0.028641, 0.010323), abs=1e-6
        )
        assert result.p_values[0.15] == pytest.approx(
            (0.006817, 0.006817, 0.002485), abs=1e-6
        )

    def test_the_order_of_people_and_items_is_nothing_to_it(self) -> None:
        people, judge = worked_people()
        order = np.random.default_rng(1).permutation(36)
        shuffled = alternative_annotator(
            people[order][:, [2, 0, 1]], judge[order]
        )
        assert shuffled.winning_rate == {0.2: 1.0, 0.15: 1.0, 0.1: 0.0}

    def test_a_judge_that_is_a_person_again_stands_in_without_spread(
        self,
    ) -> None:
        labels = np.tile([[1.0, 1.0]], (40, 1))
        result = alternative_annotator(labels, labels[:, 0])
        assert result.p_values[0.1] == (0.0, 0.0)
        assert result.winning_rate[0.1] == 1
        assert (
            alternative_annotator(labels, 1 - labels[:, 0]).winning_rate[0.2]
            == 0
        )

    def test_numbers_are_compared_by_their_distance(self) -> None:
        # The judge is 1 from the other, the person 2: the judge wins everywhere, and so does
        # it for the second person, to whom the first is 2 away and the judge 1.
        people = np.tile([[1.0, 3.0]], (30, 1))
        result = alternative_annotator(people, np.full(30, 2.0), numeric=True)
        assert result.advantage == 1
        assert (
            alternative_annotator(people, np.full(30, 2.0)).advantage == 1
        )  # never equal: all tie

    def test_texts_of_a_picture_count_once(self) -> None:
        people, judge = worked_people()
        alone = alternative_annotator(people, judge).p_values[0.15]
        doubled = alternative_annotator(
            np.repeat(people, 2, axis=0),
            np.repeat(judge, 2),
            clusters=np.repeat(np.arange(36), 2).tolist(),
        )
        assert doubled.p_values[0.15] == pytest.approx(alone)

    def test_people_with_few_items_are_left_out(self) -> None:
        people, judge = worked_people()
        people[:10, 2] = np.nan
        result = alternative_annotator(people, judge)
        assert (result.n_people, result.left_out) == (2, 1)
        people[:10, 1] = np.nan
        with pytest.raises(ConfigError, match="0 people have 30 items"):
            alternative_annotator(people, judge)


class TestSizes:
    def test_the_number_of_texts_for_a_mean_is_right(self) -> None:
        assert texts_for_mean(0.02, 0.25) == 601
        assert texts_for_mean(0.02, 0.25, per_picture=4, icc=0.3) == 1141

    def test_the_number_of_pictures_for_a_difference_is_right(self) -> None:
        assert pictures_for_difference(0.03, 0.25, 0.6) == 437
        assert pictures_for_difference(0.03, 0.25, 0.0) == 1091
        # Three systems are three pairs: z of 1 - .05/6 is 2.39398.
        by_hand = ((2.39398 + 0.841621) * 0.25 * 0.8**0.5 / 0.03) ** 2
        assert (
            pictures_for_difference(0.03, 0.25, 0.6, systems=3)
            == int(by_hand) + 1
        )

    def test_the_number_of_items_for_a_kappa_is_right(self) -> None:
        assert items_for_kappa(0.1, [[0.4, 0.1], [0.1, 0.4]]) == 246
        assert items_for_kappa(0.1, [[0.8, 0.07], [0.07, 0.06]]) == 684

    def test_the_number_of_labels_for_an_interval_is_right(self) -> None:
        n_labels = [
            labels_for_corrected_mean(0.03, 0.25, r, 2000)
            for r in (0.5, 0.8, 0.9, 0)
        ]
        assert n_labels == [207, 105, 57, 267]

    def test_scatter_is_that_of_an_analysis_of_variance(self) -> None:
        # Pictures (1, 3) and (5, 7): between (1 - 3) mean square 16, within 2, two texts each.
        spread = scatter([1, 3, 5, 7], ["a", "a", "b", "b"])
        assert spread.icc == pytest.approx((16 - 2) / (16 + 2))
        assert spread.sd == pytest.approx((20 / 3) ** 0.5)
        assert spread.per_picture == 2
        assert scatter([1, 2, 4], "abc").icc == 0

    def test_numbers_out_of_range_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="width=0"):
            texts_for_mean(0, 0.25)
        with pytest.raises(ConfigError, match="sum to 1"):
            items_for_kappa(0.1, [[0.5, 0.1], [0.1, 0.4]])
        with pytest.raises(ConfigError, match="without any spread"):
            scatter([2, 2], "ab")


def worked_values(n: int) -> list[float]:
    return [0.8 * (7 * i % 10 < 7) + 0.2 * (3 * i % 7) / 7 for i in range(n)]


class TestBetting:
    @pytest.mark.parametrize(
        ("n", "low", "high"),
        [
            (10, 0.276, 0.886),
            (50, 0.480, 0.775),
            (200, 0.558, 0.722),
            (1000, 0.601, None),
        ],
    )
    def test_intervals_are_those_of_the_worked_example(
        self, n: int, low: float, high: float | None
    ) -> None:
        # Ours reaches one step of the grid (0.001) further, so that it is never too narrow.
        interval = betting_interval(worked_values(n))
        assert interval.low == pytest.approx(low - 0.001, abs=6e-4)
        if high is not None:
            assert interval.high == pytest.approx(high + 0.001, abs=6e-4)

    def test_another_scale_gives_the_same_interval_on_it(self) -> None:
        plain = betting_interval(worked_values(50))
        scaled = betting_interval(
            [10 * x - 5 for x in worked_values(50)], -5, 5
        )
        assert scaled.low == pytest.approx(10 * plain.low - 5)
        assert scaled.high == pytest.approx(10 * plain.high - 5)

    @pytest.mark.slow  # statistics over many draws
    def test_who_looks_after_every_value_is_rarely_misled(self) -> None:
        rng = np.random.default_rng(11)
        misled = 0
        for _ in range(200):
            sequence = Betting()
            for x in rng.integers(0, 2, 300):
                sequence.add(float(x))
            misled += (
                not sequence.interval.low <= 0.5 <= sequence.interval.high
            )
        assert (
            misled <= 10
        )  # means that were excluded once stay out, so one look at the end is all

    def test_a_value_out_of_range_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="outside"):
            Betting().add(1.2)
        with pytest.raises(ConfigError, match="range"):
            Betting(1, 0)
        with pytest.raises(ConfigError, match="level=1"):
            Betting(level=1)

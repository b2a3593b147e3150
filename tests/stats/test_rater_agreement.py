from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats import (
    cohen_kappa,
    error_correlation,
    fleiss_kappa,
    kendall_w,
    krippendorff_alpha,
    mean_pairwise_correlation,
    within_item_spread,
)
from beholder.stats.kappa import Weighting
from beholder.stats.krippendorff import Measurement
from toy.cases import each_case

NAN = math.nan
# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C: 12 units (rows),
# 4 observers, missing values.
UNITS: list[list[float]] = [
    [1, 1, NAN, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NAN, 5, 5, 5],
    [NAN, NAN, 1, 1],
    [NAN, NAN, 3, NAN],
]
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]


@pytest.mark.parametrize(
    ("measurement", "published", "value"),
    [
        # Published: the paper above. More digits: krippendorff 0.9.0 (PyPI).
        ("nominal", 0.743, 0.743421052631579),
        ("ordinal", 0.815, 0.8153875037548814),
        ("interval", 0.849, 0.8491071428571428),
        ("ratio", 0.797, 0.7974027747116121),
    ],
)
def test_krippendorff_alpha_matches_the_published_example(
    measurement: Measurement, published: float, value: float
) -> None:
    result = krippendorff_alpha(UNITS, measurement)
    assert result.value == pytest.approx(published, abs=5e-4)
    assert result.value == pytest.approx(value, abs=1e-12)
    assert (result.n_items, result.n_raters) == (
        11,
        4,
    )  # the last unit has one rating
    assert result.interval is not None
    assert result.interval.low < value < result.interval.high


def test_nominal_alpha_takes_any_labels() -> None:
    names = {1: "red", 2: "blue", 3: "green", 4: "grey", 5: "pink"}
    texts = [
        [None if math.isnan(x) else names[int(x)] for x in row]
        for row in UNITS
    ]
    result = krippendorff_alpha(texts, "nominal")
    assert result.value == pytest.approx(0.743421052631579, abs=1e-12)


def test_alpha_does_not_move_with_a_shift_far_from_zero() -> None:
    # Interval alpha is invariant under shifts; naive sums of squares lose it at 1e8.
    shifted = (np.array(UNITS) + 1e8).tolist()
    assert krippendorff_alpha(shifted).value == pytest.approx(
        0.8491071428571428, abs=1e-9
    )


@each_case("measurement", ["nominal", "ordinal", "interval", "ratio"])
@each_case(
    ("ratings", "words"),
    [
        ([[0.1, 0.1], [0.1, 0.1]], "all ratings are equal"),
        ([[1, NAN], [NAN, 2]], "no item has two ratings"),
        (np.zeros((0, 3)), "no item has two ratings"),
    ],
)
def test_undefined_alpha_has_a_reason(
    measurement: Measurement, ratings: list[list[float]], words: str
) -> None:
    result = krippendorff_alpha(ratings, measurement)
    assert result.value is None
    assert result.reason is not None
    assert words in result.reason


def test_alpha_of_one_item_has_no_interval_and_says_so() -> None:
    result = krippendorff_alpha([[1, 2]])
    assert (result.value, result.interval) == (0.0, None)
    assert result.reason


def test_ratio_scale_refuses_negative_values() -> None:
    with pytest.raises(ConfigError, match="negative values, got -1"):
        krippendorff_alpha([[1, -1]], "ratio")


@pytest.mark.parametrize(
    ("weights", "value"),
    [
        # statsmodels 0.15.0, inter_rater.cohens_kappa
        ("none", 0.4699646643109541),
        ("linear", 0.5399361022364217),
        ("quadratic", 0.6147308781869687),
    ],
)
def test_cohen_kappa_matches_statsmodels(
    weights: Weighting, value: float
) -> None:
    table = [[20, 5, 1], [10, 15, 4], [2, 3, 12]]
    pairs = [
        (i, j)
        for i, row in enumerate(table)
        for j, n in enumerate(row)
        for _ in range(n)
    ]
    result = cohen_kappa(
        [i for i, _ in pairs], [j for _, j in pairs], weights=weights
    )
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.interval is not None
    assert result.interval.low < value < result.interval.high


def test_weighted_kappa_of_texts_needs_their_order() -> None:
    a = ["low", "high", "mid"]
    b = ["low", "mid", "mid"]
    with pytest.raises(ConfigError, match="order"):
        cohen_kappa(a, b, weights="linear")
    # By hand with low 0, mid 1, high 2: observed (0 + 1 + 0) / 3; expected over the margins
    # (1/3, 1/3, 1/3) and (1/3, 2/3, 0): (2 + 1 + 0 + 2 + 2) / 9 = 7/9; 1 - 3/7.
    weighted = cohen_kappa(
        a, b, weights="linear", categories=["low", "mid", "high"]
    )
    assert weighted.value == pytest.approx(4 / 7)


def test_kappa_of_one_category_or_no_items_has_a_reason() -> None:
    assert (
        cohen_kappa([1, 1], [1, 1]).reason
        == "both raters give one and the same category"
    )
    assert cohen_kappa([], []).reason == "no items"
    assert (
        fleiss_kappa([[3, 0], [3, 0]]).reason
        == "all ratings fall in one category"
    )
    assert fleiss_kappa(np.zeros((0, 2))).reason == "no items"


def test_kappa_refuses_missing_labels_and_unequal_lengths() -> None:
    labels: list[Any] = ["a", None]
    with pytest.raises(ConfigError, match="missing"):
        cohen_kappa(labels, ["a", "b"])
    with pytest.raises(ConfigError, match="one length"):
        cohen_kappa(["a"], ["a", "b"])
    with pytest.raises(ConfigError, match="labels: expected numbers or texts"):
        cohen_kappa([["a"], ["b"]], [["a"], ["b"]])


def test_fleiss_kappa_matches_his_kind_of_table() -> None:
    # Fourteen raters, ten subjects, five categories: the table that Wikipedia's article on
    # Fleiss' kappa works out to 0.210; more digits from statsmodels 0.15.0.
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    result = fleiss_kappa(table)
    assert result.value == pytest.approx(0.20993070442195522, abs=1e-12)
    assert (result.n_items, result.n_raters) == (10, 14)


def test_fleiss_kappa_refuses_unequal_numbers_of_ratings() -> None:
    with pytest.raises(ConfigError, match="from 2 to 3"):
        fleiss_kappa([[2, 0], [2, 1]])


def test_kendall_w_matches_friedman() -> None:
    result = kendall_w(SHROUT_FLEISS)
    # pingouin 0.7.0, friedman with judges as subjects
    assert result.value == pytest.approx(0.887037037037, abs=1e-11)
    assert result.p_value == pytest.approx(0.003289509244, abs=1e-11)


def test_kendall_w_is_one_for_equal_rankings_and_none_without_any() -> None:
    assert kendall_w([[1, 10], [2, 20], [3, 30]]).value == 1.0
    assert kendall_w([[1, 1], [1, 1]]).reason == "no rater separates the items"
    assert kendall_w([[1, 2]]).value is None


def test_mean_pairwise_correlation_is_the_mean_of_the_matrix() -> None:
    result = mean_pairwise_correlation(SHROUT_FLEISS)
    # numpy.corrcoef, mean of the upper triangle
    assert result.value == pytest.approx(0.7603077175599272, abs=1e-12)


def test_a_constant_rater_is_left_out_and_counted() -> None:
    result = mean_pairwise_correlation([[1, 2, 5], [2, 4, 5], [4, 3, 5]])
    # raters 0 and 1: deviations (-4/3, -1/3, 5/3) and (-1, 1, 0): 1 / sqrt(14/3 * 2)
    assert result.value == pytest.approx(1 / math.sqrt(28 / 3))
    assert result.reason is not None
    assert "2 of 3 pairs" in result.reason


def test_mean_pairwise_correlation_without_common_items_has_a_reason() -> None:
    result = mean_pairwise_correlation([[1, NAN], [NAN, 2], [3, NAN]])
    assert result.value is None
    assert result.reason


def test_spread_of_items_by_hand() -> None:
    ratings: list[list[float]] = [[1, 3, NAN], [2, 2, 5], [4, NAN, NAN]]
    result = within_item_spread(ratings)
    # {1, 3}: sd sqrt(2), range 2; {2, 2, 5}: sd sqrt(3), range 3; {4}: none
    assert result.item_sd == pytest.approx((math.sqrt(2), math.sqrt(3), None))
    assert result.item_range == (2.0, 3.0, None)
    assert result.sd.mean == pytest.approx((math.sqrt(2) + math.sqrt(3)) / 2)
    assert result.range.mean == 2.5
    assert result.n_items == 2
    assert within_item_spread([[1, 3]], ddof=0).item_sd == (1.0,)


def test_labels_that_are_no_table_are_refused() -> None:
    with pytest.raises(
        ConfigError, match="ratings: expected a table of labels"
    ):
        krippendorff_alpha([1, 2], "nominal")


def test_spread_without_two_ratings_is_refused() -> None:
    with pytest.raises(ConfigError, match="no item has two ratings"):
        within_item_spread([[1, NAN]])


def test_error_correlation_tells_shared_errors_from_shared_truth() -> None:
    gold = [0, 0, 1, 1, 2, 2, 3, 3]
    bias = [1, -1, 1, -1, 1, -1, 1, -1]
    independent_bias = [1, 1, -1, -1, 1, 1, -1, -1]
    answers = [
        [g + b, g + b, g + o]
        for g, b, o in zip(gold, bias, independent_bias, strict=True)
    ]
    result = error_correlation(answers, gold)
    assert result.pairs[0, 1] == 1.0
    assert result.pairs[0, 2] == pytest.approx(0.0, abs=1e-12)
    assert result.error == (0.0, 0.0, 0.0)
    assert result.mean.value == pytest.approx(1 / 3)


def test_error_correlation_of_verdicts_is_phi_over_common_items() -> None:
    gold = [1, 1, 0, 0, 1]
    answers: list[list[float]] = [[0, 0], [1, 1], [1, 0], [0, 0], [1, NAN]]
    result = error_correlation(answers, gold, "wrong")
    # over the first four items: wrong (1, 0, 1, 0) and (1, 0, 0, 0): phi = 1 / sqrt(3)
    assert result.pairs[0, 1] == pytest.approx(1 / math.sqrt(3))
    assert result.error == (0.4, 0.25)


def test_judges_that_never_err_have_no_error_correlation() -> None:
    result = error_correlation([[1, 1], [2, 2]], [1, 2])
    assert result.mean.value is None
    assert result.mean.reason


def test_intervals_resample_clusters_whole() -> None:
    # Five rows said again and again, in any order, know no more than said once: the shares in every
    # resample are those of single rows. Alpha takes n - 1 of n ratings: 1 - alpha goes with
    # (m n - 1) / (m n - m) where each row stands m times.
    rng = np.random.default_rng(5)
    once = rng.integers(0, 3, size=(12, 2))
    again = np.concatenate([once, once[::-1], once])
    clusters = [*range(12), *reversed(range(12)), *range(12)]
    kappa = cohen_kappa(*once.T)
    repeated = cohen_kappa(*again.T, clusters=clusters)
    assert repeated.interval is not None
    assert kappa.interval is not None
    assert repeated.interval.low == pytest.approx(kappa.interval.low)
    assert repeated.interval.high == pytest.approx(kappa.interval.high)

    correlation = mean_pairwise_correlation(once, "spearman").interval
    agreement = mean_pairwise_correlation(
        again, "spearman", clusters=clusters
    ).interval
    assert agreement is not None
    assert correlation is not None
    assert (agreement.low, agreement.high) == pytest.approx(
        (correlation.low, correlation.high)
    )

    counts = np.array(
        [[(row == kind).sum() for kind in range(3)] for row in once]
    )
    many = np.array(
        [[(row == kind).sum() for kind in range(3)] for row in again]
    )
    fleiss = fleiss_kappa(counts)
    all_fleiss = fleiss_kappa(many, clusters=clusters)
    assert fleiss.interval is not None
    assert all_fleiss.interval is not None
    assert all_fleiss.interval.low == pytest.approx(fleiss.interval.low)

    nan = math.nan
    alone = krippendorff_alpha(once, "nominal")
    sparse = np.concatenate([[[1, nan]], again])
    alpha = krippendorff_alpha(sparse, "nominal", clusters=["lone", *clusters])
    assert alone.interval is not None
    assert alpha.interval is not None
    factor = (3 * 24 - 1) / (3 * 24 - 3)
    assert 1 - alpha.interval.low == pytest.approx(
        factor * (1 - alone.interval.low)
    )
    with pytest.raises(ConfigError, match="one label per value"):
        cohen_kappa(*once.T, clusters=[1, 2])

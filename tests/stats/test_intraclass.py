from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats import cronbach_alpha, icc, spearman_brown
from beholder.stats.intraclass import ICCKind
from toy.cases import each_case

# Shrout and Fleiss 1979, table 2: six targets, four judges.
TABLE = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]

# Values: Shrout and Fleiss 1979, table 4 (two digits); more digits, F, p and the intervals (two
# digits) from pingouin 0.7.0, intraclass_corr.
PINGOUIN: list[tuple[ICCKind, float, float, float, float, float, float]] = [
    (
        "1,1",
        0.17,
        0.1657417684054755,
        1.7946784922394683,
        0.16476880834463953,
        -0.13,
        0.72,
    ),
    (
        "2,1",
        0.29,
        0.28976377952755916,
        11.027247956403299,
        0.000134566516484335,
        0.02,
        0.76,
    ),
    (
        "3,1",
        0.71,
        0.7148407148407154,
        11.027247956403299,
        0.000134566516484335,
        0.34,
        0.95,
    ),
    (
        "1,k",
        0.44,
        0.44279713367926876,
        1.7946784922394683,
        0.16476880834463953,
        -0.88,
        0.91,
    ),
    (
        "2,k",
        0.62,
        0.6200505475989893,
        11.027247956403299,
        0.000134566516484335,
        0.07,
        0.93,
    ),
    (
        "3,k",
        0.91,
        0.9093155423770697,
        11.027247956403299,
        0.000134566516484335,
        0.68,
        0.99,
    ),
]
KINDS: list[ICCKind] = [row[0] for row in PINGOUIN]


@each_case(("kind", "printed", "value", "f", "p", "low", "high"), PINGOUIN)
def test_icc_matches_shrout_fleiss_and_pingouin(
    kind: ICCKind,
    printed: float,
    value: float,
    f: float,
    p: float,
    low: float,
    high: float,
) -> None:
    result = icc(TABLE, kind)
    assert result.value is not None
    assert round(result.value, 2) == printed
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.f == pytest.approx(f, abs=1e-10)
    assert result.p_value == pytest.approx(p, abs=1e-12)
    assert result.interval is not None
    assert (result.interval.low, result.interval.high) == pytest.approx(
        (low, high), abs=0.005
    )
    assert (result.n_items, result.n_raters) == (6, 4)


def test_cronbach_alpha_is_icc_3_k_with_feldts_interval() -> None:
    result = cronbach_alpha(TABLE)
    assert result.value == pytest.approx(
        0.9093155423770694, abs=1e-12
    )  # pingouin 0.7.0
    assert result.interval is not None
    assert result.interval.low == pytest.approx(
        0.676, abs=5e-4
    )  # pingouin 0.7.0
    assert result.interval.high == pytest.approx(0.986, abs=5e-4)


@pytest.mark.parametrize(
    ("single", "printed"), [(0.339, 0.607), (0.718, 0.884)]
)
def test_spearman_brown_steps_up_the_narrative_papers_judges(
    single: float, printed: float
) -> None:
    # Table 3 of the narrative coherence paper: ICC(2,1) and ICC(2,3) of three judges.
    assert spearman_brown(single, 3) == pytest.approx(printed, rel=0.01)


def test_spearman_brown_refuses_its_pole() -> None:
    with pytest.raises(ConfigError, match="not defined"):
        spearman_brown(-0.5, 3)


@each_case("kind", KINDS)
def test_full_agreement_is_one_with_a_zero_width_interval(
    kind: ICCKind,
) -> None:
    result = icc([[0.1] * 3, [0.2] * 3, [0.3] * 3, [0.4] * 3, [0.5] * 3], kind)
    assert result.value == 1.0
    assert result.interval is not None
    assert (result.interval.low, result.interval.high) == (1.0, 1.0)
    assert result.f is None
    assert result.p_value == 0.0


def test_a_constant_offset_of_a_rater_counts_for_agreement_and_not_for_consistency() -> (
    None
):
    ratings = [[1, 2], [2, 3], [5, 6]]
    assert icc(ratings, "3,1").value == 1.0
    # By hand: MSR = 26/3, MSC = 3/2, MSE = 0: MSR / (MSR + 2 * MSC / 3) = 26 / 29.
    assert icc(ratings, "2,1").value == pytest.approx(26 / 29)


@each_case("kind", KINDS)
@each_case(
    ("ratings", "words"),
    [
        (np.full((4, 3), 0.1), "all ratings are equal"),
        ([[1, 2]], "at least two items"),
        ([[1], [2]], "at least two items and two raters"),
        (np.zeros((0, 3)), "at least two items"),
    ],
)
def test_undefined_icc_has_a_reason(
    kind: ICCKind, ratings: list[list[float]], words: str
) -> None:
    result = icc(ratings, kind)
    assert (result.value, result.interval) == (None, None)
    assert result.reason is not None
    assert words in result.reason


@each_case("kind", KINDS)
def test_items_with_equal_means_have_a_stated_result(kind: ICCKind) -> None:
    result = icc([[1, 2], [2, 1], [1, 2], [2, 1]], kind)
    if kind == "1,1" or kind == "3,1":
        assert result.value == -1.0  # the lowest value of two raters
    assert result.value is not None or result.reason
    assert result.interval is not None or result.reason


def test_two_items_two_raters_have_a_value_and_no_interval() -> None:
    result = icc([[1, 2], [3, 5]], "1,1")
    # By hand: MSR = 6.25, MSW = 1.25: 5 / 7.5.
    assert result.value == pytest.approx(2 / 3)
    assert result.interval is None
    assert (
        result.reason
        == "too few sources for an interval: 2, at least 5 are needed"
    )


def test_missing_rating_is_refused_with_its_place() -> None:
    with pytest.raises(ConfigError, match="item 1, rater 0"):
        icc([[1.0, 2.0], [math.nan, 3.0]], "2,1")


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="'4,1'"):
        icc(TABLE, "4,1")  # type: ignore[arg-type]

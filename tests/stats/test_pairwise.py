from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats import (
    bradley_terry,
    elo,
    pairs_within,
    three_way_accuracy,
    tie_calibrated_accuracy,
)
from beholder.stats.ratings import elo_replicates


def test_three_way_accuracy_by_hand() -> None:
    # One gold tie: the threshold is the second smallest absolute difference, 0.2.
    result = three_way_accuracy([1, 0, -1, -1], [0.5, 0.1, -0.2, 0.4])
    assert result.threshold == 0.2
    assert result.predicted == (1, 0, -1, 1)
    assert result.accuracy == 0.75
    assert (result.n, result.n_gold_ties) == (4, 1)


def test_threshold_zero_calls_a_zero_difference_first_better() -> None:
    # DOCENT protocol: no gold ties and an exact tie of the metric.
    result = three_way_accuracy([-1, 1], [0.0, 0.3])
    assert result.threshold == 0.0
    assert result.predicted == (1, 1)


def test_all_gold_ties_predict_ties_and_say_so() -> None:
    result = three_way_accuracy([0, 0], [0.5, -0.5])
    assert (result.threshold, result.accuracy, result.n_gold_ties) == (
        None,
        1.0,
        2,
    )


def test_three_way_accuracy_refuses_no_pairs() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        three_way_accuracy([], [])


def test_tie_calibration_matches_trying_every_threshold() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 30))
        gold = rng.integers(-1, 2, n)
        metric = rng.integers(-4, 5, n) / 4

        def accuracy(
            epsilon: float, g: np.ndarray = gold, m: np.ndarray = metric
        ) -> float:
            return float(
                np.mean(np.where(np.abs(m) <= epsilon, 0, np.sign(m)) == g)
            )

        tried = {e: accuracy(e) for e in [0.0, *np.abs(metric).tolist()]}
        result = tie_calibrated_accuracy(gold, metric, n_resamples=10)
        assert result.accuracy == pytest.approx(max(tried.values()))
        assert result.threshold == min(
            e for e, a in tried.items() if a == max(tried.values())
        )
        assert result.accuracy_without_ties == pytest.approx(accuracy(0.0))


def test_tie_calibration_averages_over_groups() -> None:
    # Group a: one right pair; group b: one right and one wrong whatever the threshold.
    result = tie_calibrated_accuracy(
        [1, 1, -1], [3.0, 2.0, 2.0], groups=["a", "b", "b"]
    )
    assert result.accuracy == pytest.approx(0.75)
    assert result.n_groups == 2


def test_pairs_are_taken_within_groups_in_one_order() -> None:
    differences, names = pairs_within(
        [5.0, 1.0, 3.0, 2.0], ["x", "y", "x", "x"]
    )
    assert differences.tolist() == [2.0, 3.0, 1.0]
    assert names == ["x", "x", "x"]
    assert pairs_within([], [])[0].tolist() == []


def plain_elo(
    first: list[str], second: list[str], outcome: list[float], rounds: int
) -> tuple[dict[str, float], dict[str, int]]:
    """The protocol as a plain loop: one pass, and the bootstrapped integers."""

    def run(order: list[int]) -> dict[str, float]:
        ratings: dict[str, float] = defaultdict(lambda: 1000.0)
        for i in order:
            a = first[i]
            b = second[i]
            expected = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
            opposite = 1 / (1 + 10 ** ((ratings[a] - ratings[b]) / 400))
            ratings[a] += 4 * (outcome[i] - expected)
            ratings[b] += 4 * (1 - outcome[i] - opposite)
        return dict(ratings)

    n = len(first)
    generator = np.random.RandomState(42)
    replicates = defaultdict(list)
    for _ in range(rounds):
        for name, rating in run(
            generator.choice(n, size=n, replace=True).tolist()
        ).items():
            replicates[name].append(rating)
    return run(list(range(n))), {
        s: int(np.median(r) + 0.5) for s, r in replicates.items()
    }


def test_elo_has_the_integers_of_the_plain_loop() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 5, 60)
    b = (a + rng.integers(1, 5, 60)) % 5
    first = [f"m{i}" for i in a]
    second = [f"m{i}" for i in b]
    first.append("rare")  # absent from many resamples
    second.append("m0")
    outcome = [*rng.choice([0.0, 0.5, 1.0], 60).tolist(), 1.0]
    one_pass, integers = plain_elo(first, second, outcome, 200)
    ratings = elo(first, second, outcome, n_resamples=200)
    assert {r.system: r.rating for r in ratings} == integers
    assert {r.system: r.one_pass for r in ratings} == pytest.approx(
        one_pass, abs=1e-9
    )
    for r in ratings:
        assert r.interval.low <= r.median <= r.interval.high


def test_elo_of_ties_between_equals_stays_at_the_start() -> None:
    ratings = elo(["a", "b"], ["b", "a"], [0.5, 0.5])
    assert [(r.system, r.rating, r.n_battles) for r in ratings] == [
        ("a", 1000, 2),
        ("b", 1000, 2),
    ]


@pytest.mark.parametrize(
    ("first", "second", "outcome", "words"),
    [
        ([], [], [], "at least 1"),
        (["a"], ["a"], [1], "meets itself"),
        (["a"], ["b"], [2], "outcome"),
        (["a"], ["b", "c"], [1], "one length"),
    ],
)
def test_unusable_battles_are_refused(
    first: list[str], second: list[str], outcome: list[float], words: str
) -> None:
    for rate in (elo, bradley_terry):
        with pytest.raises(ConfigError, match=words):
            rate(first, second, outcome)


TEAMS = [
    "Milwaukee",
    "Detroit",
    "Toronto",
    "New York",
    "Boston",
    "Cleveland",
    "Baltimore",
]
# Agresti, Categorical Data Analysis: 1987 American League East; row beats column.
WINS = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]


def baseball() -> tuple[list[str], list[str], list[float]]:
    games = [
        (TEAMS[i], TEAMS[j], 1.0) if i < j else (TEAMS[j], TEAMS[i], 0.0)
        for i, row in enumerate(WINS)
        for j, wins in enumerate(row)
        for _ in range(wins)
    ]
    return [g[0] for g in games], [g[1] for g in games], [g[2] for g in games]


def test_bradley_terry_matches_agrestis_baseball() -> None:
    fit = bradley_terry(*baseball())
    value = {s.system: s.value for s in fit.strengths}
    base = value["Baltimore"]
    assert base is not None
    # Agresti's estimates against Baltimore
    expected = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]
    against = [v - base for team in TEAMS if (v := value[team]) is not None]
    assert against == pytest.approx(expected, abs=0.005)
    assert sum(v for v in value.values() if v is not None) == pytest.approx(
        0.0, abs=1e-12
    )


def test_bradley_terry_intervals_match_statsmodels() -> None:
    games = baseball()
    # statsmodels 0.15.0, Logit on the same design, covariance HC0 and by cluster (no small-sample
    # correction), carried over to strengths that sum to 0.
    robust = [
        0.20764907,
        0.20765605,
        0.19507479,
        0.20576934,
        0.19375969,
        0.21401713,
        0.22844592,
    ]
    cluster = [
        0.10585735,
        0.11690408,
        0.15470815,
        0.12931177,
        0.09187751,
        0.09815513,
        0.12653996,
    ]
    groups = [i % 20 for i in range(len(games[0]))]
    for expected, fit in (
        (robust, bradley_terry(*games)),
        (cluster, bradley_terry(*games, clusters=groups)),
    ):
        errors_by_team = {
            s.system: (s.interval.high - s.interval.low) / 2 / 1.959964
            for s in fit.strengths
            if s.interval
        }
        assert [errors_by_team[team] for team in TEAMS] == pytest.approx(
            expected, abs=1e-6
        )


def test_two_systems_have_the_log_odds_of_their_points() -> None:
    # Three points of four: log 3 between them, ties being half a point.
    fit = bradley_terry(["a"] * 4, ["b"] * 4, [1, 1, 0.5, 0.5])
    assert [s.value for s in fit.strengths] == pytest.approx(
        [np.log(3) / 2, -np.log(3) / 2], abs=1e-9
    )


def test_an_unbeaten_system_has_no_finite_strength_and_is_named() -> None:
    fit = bradley_terry(
        ["a", "a", "b", "c"], ["b", "c", "c", "b"], [1, 1, 1, 1]
    )
    assert [s.value for s in fit.strengths] == [None, None, None]
    assert fit.reason is not None
    assert "a and the other systems" in fit.reason


def test_one_cluster_of_battles_has_no_interval() -> None:
    fit = bradley_terry(["a", "a"], ["b", "b"], [1, 0], clusters=["x", "x"])
    assert [s.interval for s in fit.strengths] == [None, None]
    assert (
        fit.reason
        == "too few sources for an interval: 1, at least 5 are needed"
    )


def test_replicates_follow_the_drawn_pictures() -> None:
    # In each picture "a" beats "b" and "b" beats "c": whatever is drawn, the order is the same.
    first = ["a", "b"] * 6
    second = ["b", "c"] * 6
    outcome = [1.0] * 12
    pictures = [place // 2 for place in range(12)]
    ratings = elo_replicates(
        first, second, outcome, clusters=pictures, n_resamples=30
    )
    assert ratings.shape == (30, 3)
    assert (ratings[:, 0] > ratings[:, 1]).all()
    assert (ratings[:, 1] > ratings[:, 2]).all()
    turned = elo_replicates(
        second, first, outcome, clusters=pictures, n_resamples=30
    )
    # Same draws, names in order of appearance b, a, c: the winner now loses by as much.
    assert turned[:, 1] - 1000 == pytest.approx(-(ratings[:, 0] - 1000))


def test_a_system_without_a_battle_in_a_resample_has_no_rating() -> None:
    # "c" plays in one of two pictures, which a resample misses with probability 1/4.
    ratings = elo_replicates(
        ["a", "a"], ["b", "c"], [1, 0], n_resamples=400, n_passes=5
    )
    missing = np.isnan(ratings[:, 2])
    assert 0.15 < missing.mean() < 0.35
    assert not np.isnan(ratings[:, 0]).any()

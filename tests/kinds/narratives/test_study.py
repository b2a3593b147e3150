"""Tables of a study, hybrid judging and the cost model, against hand calculation and the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.kinds.narratives.between_judges import between_models
from beholder.kinds.narratives.config import HybridOptions
from beholder.kinds.narratives.hybrid import choose, combine
from beholder.kinds.narratives.results import (
    PUBLISHED_SECONDS,
    Narrative,
    NarrativeCoherence,
    NearestNarrative,
    Rates,
    Stage,
    StudyVote,
    measure_rates,
)
from beholder.kinds.narratives.steps import (
    Breaks,
    StepRow,
    agreed_breaks,
    breaks_table,
    steps_table,
)
from beholder.kinds.narratives.storylines.space import Floats
from beholder.kinds.narratives.study import tables
from beholder.stats import reliability_verdict
from toy.cases import each_case

NAN = math.nan


def _judged(
    name: str,
    source: str,
    minimum: float | None,
    mean: float | None,
    distance: float | None,
    votes: Mapping[str, Sequence[Any]],
) -> Narrative:
    """A narrative with votes by method, of which little else is known."""
    coherence = None
    if minimum is not None and mean is not None:
        coherence = NarrativeCoherence((), minimum, mean, NAN, 0)
    return Narrative(
        id=name,
        source=source,
        group={},
        frames=(),
        coherence=coherence,
        coherence_failure=None,
        nearest=None
        if distance is None
        else NearestNarrative(0, NAN, distance, ()),
        votes={
            method: tuple(
                StudyVote(judge, vote, "", None)
                for judge, vote in enumerate(cast)
            )
            for method, cast in votes.items()
        },
        hybrid=None,
        steps=(),
    )


def _ratings(n: int, icc: float, seed: int) -> Floats:
    """Ratings of 3 judges whose ICC(2,1) in the sample is exactly as asked: F = MSR / MSE is set.

    Columns share one mean, so MSC = 0 and ICC(2,1) = (F - 1) / (F + 2 - 3 / n), Shrout and Fleiss
    1979 with k = 3.
    """
    f = (1 + icc * (2 - 3 / n)) / (1 - icc)
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    signal = (signal - signal.mean()) / signal.std(ddof=1)
    noise = rng.normal(size=(n, 3))
    noise -= noise.mean(axis=1, keepdims=True)
    noise -= noise.mean(axis=0)
    mse = (noise**2).sum() / ((n - 1) * 2)
    ratings: Floats = (
        signal[:, None] * math.sqrt(f / 3) + noise / math.sqrt(mse) + 6.0
    )
    return ratings


def _subjects(captions: Floats, sight: Floats) -> list[Narrative]:
    sources = ["human"] * 6 + ["maps"] * 60 + ["random"] * 60
    return [
        _judged(f"n{i}", source, 0.5, 0.6, None if source == "human" else 0.3,
                {"captions": list(captions[i]), "sight": list(sight[i])})
        for i, source in enumerate(sources)
    ]  # fmt: skip


def test_the_published_reliability_comes_out_of_ratings_with_that_icc() -> (
    None
):
    """Table 3 of the paper: ICC(2,1) 0.339 and 0.718 give ICC(2,3) 0.607 and 0.884."""
    reliability = tables(
        _subjects(_ratings(126, 0.339, 0), _ratings(126, 0.718, 1))
    ).reliability
    for row, single, average in zip(
        reliability, (0.339, 0.718), (0.607, 0.884), strict=True
    ):
        assert row.icc_single
        assert row.icc_average
        assert row.alpha
        assert row.icc_single.value == pytest.approx(single, abs=1e-9)
        assert row.icc_average.value == pytest.approx(average, abs=2e-3)
        # judges without any difference of means: alpha is a little below ICC(2,3)
        assert row.alpha.value == pytest.approx(average, abs=4e-3)
        assert len(row.pairwise_r) == 3


def _with_moments(n: int, mean: float, sd: float, seed: int) -> Floats:
    x = np.random.default_rng(seed).normal(size=n)
    exact: Floats = mean + sd * (x - x.mean()) / x.std(ddof=1)
    return exact


@pytest.mark.parametrize(
    ("method", "moments", "expected"),
    [
        # Table 4: means and SDs of human, maps and random (n = 6, 60, 60); t and Cohen's d of each
        # pair. The printed moments have two decimals, hence the tolerance.
        ("captions", [(6.50, 1.09), (5.60, 0.86), (4.93, 0.68)],
         [(2.386, 0.916), (5.125, 1.734), (4.759, 0.869)]),
        ("sight", [(8.11, 0.40), (6.25, 1.05), (5.32, 1.15)],
         [(4.285, 2.340), (5.878, 3.241), (4.642, 0.847)]),
    ],
)  # fmt: skip
def test_the_published_effects_come_out_of_groups_with_those_moments(
    method: str,
    moments: list[tuple[float, float]],
    expected: list[tuple[float, float]],
) -> None:
    subjects = []
    for source, n, (mean, sd), seed in zip(
        ("human", "maps", "random"),
        (6, 60, 60),
        moments,
        range(3),
        strict=True,
    ):
        votes = _with_moments(n, mean, sd, seed)
        subjects += [
            _judged(f"{source}{i}", source, None, None, None, {method: [v]})
            for i, v in enumerate(votes)
        ]
    comparisons = tables(subjects).comparisons
    assert [(row.a, row.b) for row in comparisons] == [
        ("human", "maps"), ("human", "random"), ("maps", "random")
    ]  # fmt: skip
    for row, (t, d) in zip(comparisons, expected, strict=True):
        assert row.t_student == pytest.approx(t, rel=0.02)
        assert row.d_unweighted == pytest.approx(d, rel=0.02)
        assert row.g
        assert row.d_pooled
        assert abs(row.g) < abs(row.d_pooled)
        assert row.few is (row.a == "human")


def test_missing_votes_are_counted_and_never_averaged_as_zero() -> None:
    subjects = [
        _judged("a", "human", None, None, None, {"sight": [8, None]}),
        _judged("b", "human", None, None, None, {"sight": [None, None]}),
        _judged("c", "human", None, None, None, {"sight": [4, 6]}),
    ]
    (row,) = tables(subjects).scores
    assert (row.n, row.n_failed, row.n_votes, row.n_votes_failed) == (
        2,
        1,
        3,
        3,
    )
    assert row.mean == 6.5
    assert row.within_sd == pytest.approx(math.sqrt(2))  # of 4 and 6 alone
    assert row.within_sd_population == pytest.approx(1)
    (reliability,) = tables(subjects).reliability
    assert reliability.n_left_out == 2
    assert "at least two narratives" in reliability.reason


def test_human_comes_first_and_few_narratives_carry_a_caution() -> None:
    subjects = [
        _judged(s, s, 0.1, 0.2, None, {}) for s in ("random", "maps", "human")
    ]
    study = tables(subjects)
    assert study.sources == ("human", "maps", "random")
    assert any(
        "human: only 1 narratives" in caution for caution in study.cautions
    )
    assert not any("repeat another" in caution for caution in study.cautions)
    assert (
        "2 of 3 narratives repeat another"
        in tables(subjects, n_repeated=2).cautions[0]
    )


def test_correlations_with_distance_leave_human_narratives_out() -> None:
    rng = np.random.default_rng(0)
    subjects = [
        _judged(
            str(i),
            "human" if i < 5 else "maps",
            x,
            x,
            None if i < 5 else x,
            {"sight": [10 * x]},
        )
        for i, x in enumerate(rng.random(20))
    ]
    rows = {row.measure: row for row in tables(subjects).correlations}
    assert rows["minimum"].n == 20
    assert rows["dtw"].n == 15
    assert rows["dtw"].r == pytest.approx(1.0)


def test_steps_and_theta_are_compared_where_both_are_known() -> None:
    rows: list[StepRow] = [
        (
            "human",
            [2.0, 9.0, 9.0],
            [0.1, 0.8, 0.9],
        ),  # same weakest step; by chance 1 in 3
        (
            "maps",
            [9.0, 2.0, 2.0],
            [0.1, 0.8, 0.9],
        ),  # another; by chance 2 in 3
        ("maps", [None, 2.0, 3.0], [0.1, 0.8, 0.9]),  # not fully rated
    ]
    step_tables = steps_table(rows)
    assert (step_tables.same_weakest, step_tables.n_compared) == (0.5, 2)
    assert step_tables.by_chance == pytest.approx(0.5)
    assert step_tables.sources[1].n_failed == 1
    assert step_tables.sources[1].mean == pytest.approx((13 / 3 + 2.5) / 2)
    assert step_tables.correlation.n == 8


def test_hybrid_looks_where_judges_disagree_or_at_the_best() -> None:
    captions = [[5, 5, 5], [1, 5, 9], [8, 8, 9], [4, 5, 4]]
    assert choose(captions, 0.5, "uncertain") == [
        1,
        2,
    ]  # spread 10.7, 0.2, 0.2: the earlier first
    assert choose(captions, 0.5, "top") == [0, 2]
    assert choose(captions, 0.0, "top") == []
    assert choose(np.array([[NAN, NAN], [1, 2]]), 0.5, "top") == [
        0
    ]  # captions told nothing of it
    with pytest.raises(ConfigError, match="share=2"):
        HybridOptions(share=2.0)


def test_hybrid_puts_captions_on_the_scale_of_sight() -> None:
    captions = [[1, 1], [3, 3], [6, 6], [7, 7], [2, 2], [4, 4]]
    sight = np.array(  # sight = 1 + 2 * captions
        [[3, 3], [7, 7], [13, 13], [NAN, NAN], [5, 5], [9, 9]]
    )
    hybrid = combine(captions, sight, weight=0.25)
    assert (hybrid.slope, hybrid.intercept) == pytest.approx((2.0, 1.0))
    assert hybrid.ratings[3] == pytest.approx((15.0, 15.0))
    assert hybrid.n_seen == 5
    assert not hybrid.learned


@pytest.mark.parametrize(
    ("n_seen", "trusted"), [(3, False), (4, False), (5, True)]
)
def test_captions_are_trusted_from_five_held_out_narratives_on(
    n_seen: int, trusted: bool
) -> None:
    # Sight is 1 + 2 * captions: each held-out narrative is predicted without error, whereas the
    # mean of the others errs by 1 at least, so that only their number decides.
    looked_at = [1, 3, 6, 10, 15][:n_seen]
    captions = [[rating] for rating in (*looked_at, 7)]
    sight = [[1 + 2 * rating] for rating in looked_at]
    hybrid = combine(
        np.array(captions, float), np.array([*sight, [NAN]]), weight=0.5
    )
    held_out = hybrid.checks[1]
    assert (held_out.narratives, held_out.n) == ("held out", n_seen)
    assert held_out.gain is not None
    assert held_out.gain >= 1
    assert (held_out.gain_low is not None) == trusted == hybrid.trusted
    assert np.isnan(hybrid.ratings[-1][0]) != trusted


def test_the_learned_weight_balances_the_two_errors() -> None:
    # within-narrative variance of sight 2 for 2 judges: e_s = 1; captions have no relation to
    # sight, so the residual variance is that of the means 4, 6, 4, 6 around 5 with n - 2 = 2: 2
    captions = [[1, 1], [1, 1], [2, 2], [2, 2]]
    sight = [[3, 5], [5, 7], [3, 5], [5, 7]]
    hybrid = combine(captions, sight)
    assert hybrid.slope == pytest.approx(0.0)
    assert hybrid.weight == pytest.approx(0.5)  # e_c = 2 - 1 = 1
    assert hybrid.learned


def test_narratives_not_looked_at_have_no_rating_where_captions_say_nothing() -> (
    None
):
    # sight 4, 6, 6, 4 over captions 1, 2, 3, 4: slope 0. Left out one by one, by hand:
    # without (1, 4): through (2, 6), (3, 6), (4, 4): slope -1, 16/3 + 3 - 1 = 22/3, mean 16/3
    # without (2, 6): through (1, 4), (3, 6), (4, 4): slope 1/7 ... the errors are worse than the
    # mean's, which are 4/3 each
    captions = [[1, 1], [2, 2], [3, 3], [4, 4], [9, 9]]
    sight = np.array([[4, 4], [6, 6], [6, 6], [4, 4], [NAN, NAN]])
    hybrid = combine(captions, sight)
    assert not hybrid.trusted
    assert np.isnan(hybrid.ratings[4]).all()
    assert not np.isnan(hybrid.ratings[:4]).any()
    looked, held_out = hybrid.checks
    assert (looked.narratives, held_out.narratives) == (
        "looked at",
        "held out",
    )
    assert held_out.error_of_mean == pytest.approx(4 / 3)
    first = 4 - 22 / 3
    second = 6 - (
        14 / 3 + (1 / 7) * (2 - 8 / 3)
    )  # Sxy = 2/3, Sxx = 14/3 around (8/3, 14/3)
    assert held_out.error == pytest.approx(
        np.sqrt((first**2 + second**2) / 2)
    )  # the rest mirror them
    backwards = combine([[1], [2], [3], [8]], np.array([[9], [5], [1], [NAN]]))
    assert not backwards.trusted  # slope -4: captions turn the order round
    assert np.isnan(backwards.ratings[3]).all()


@pytest.mark.usefixtures("two_sources_are_enough")
def test_hybrid_is_checked_against_sight_separately_for_unseen_narratives() -> (
    None
):
    captions = [[1, 1], [3, 3], [6, 6], [7, 7], [4, 4], [2, 2]]
    sight = np.array(
        [[2, 4], [7, 7], [12, 14], *3 * [[NAN, NAN]]]
    )  # 1 + 2 captions
    withheld = np.array(
        [[9, 9], [9, 9], [9, 9], [13, 15], [8, 8], [NAN, 5]]
    )  # predicted: 15, 9
    hybrid = combine(captions, sight, weight=0.5, withheld=withheld)
    looked, held_out, hidden = hybrid.checks
    assert looked.n == 3
    assert looked.error == pytest.approx(0.0)
    assert held_out.error == pytest.approx(0.0)
    assert held_out.r == pytest.approx(1.0)
    assert hidden.narratives == "not looked at"
    assert hidden.n == 2  # the looked at ones and the incomplete one stay out
    assert hidden.error == pytest.approx(1.0)  # 15 for 14, 9 for 8
    assert hidden.error_of_mean == pytest.approx(
        np.sqrt(
            ((19 / 3) ** 2 + (1 / 3) ** 2) / 2
        )  # (3 + 7 + 13) / 3 = 23/3 for 14 and 8
    )
    # Squared errors of the mean of the other two: 3 for 10, 7 for 8, 13 for 5; captions err by 0.
    assert held_out.gain == pytest.approx((49 + 1 + 64) / 3)
    assert (held_out.gain_low, held_out.gain_high) == pytest.approx(
        (1, 64)
    )  # one of them drawn thrice
    assert (looked.gain, looked.gain_low) == (None, None)
    assert hidden.r is None  # of two
    assert (hidden.sd, hidden.sd_sight) == pytest.approx(
        (3 * 2**0.5, 3 * 2**0.5)
    )
    assert hybrid.trusted
    assert (
        combine(captions, sight, weight=0.5).ratings == hybrid.ratings
    )  # it enters nothing else


def test_a_gain_that_chance_explains_is_not_trusted() -> None:
    # Captions say nothing of the noise in sight and little of the rest: on 38 narratives their
    # error is below that of the mean by some hundredths, as it was where they were worse on others.
    rng = np.random.default_rng(3)
    truth = rng.normal(5, 1.5, 40)
    captions = (0.25 * truth + rng.normal(0, 1, 40))[:, None]
    sight = truth[:, None].copy()
    sight[38:] = NAN
    hybrid = combine(captions, sight)
    held_out = next(
        check for check in hybrid.checks if check.narratives == "held out"
    )
    assert held_out.n == 38
    assert held_out.error_of_mean is not None
    assert held_out.gain == pytest.approx(
        held_out.error_of_mean**2 - held_out.error**2
    )
    assert held_out.error < held_out.error_of_mean
    assert held_out.gain_low is not None
    assert held_out.gain_low < 0
    assert not hybrid.trusted
    assert np.isnan(hybrid.ratings[38:]).all()
    precise = combine(
        truth[:, None] + rng.normal(0, 0.3, 40)[:, None], sight
    )  # they say nearly all
    assert precise.trusted


def test_hybrid_needs_narratives_with_both() -> None:
    with pytest.raises(ConfigError, match="look at a larger share"):
        combine([[1.0], [2.0]], [[1.0], [NAN]])


def test_sight_stands_alone_where_captions_failed() -> None:
    captions = np.array([[1, 1], [3, 3], [5, 5], [NAN, NAN]])
    hybrid = combine(captions, [[1, 1], [3, 3], [5, 5], [8, 9]], weight=0.5)
    assert hybrid.ratings[3] == (8.0, 9.0)


def test_the_published_break_even_comes_out_of_the_published_seconds() -> None:
    """Table 5: 501 pictures at 2.5 s, 0.86 and 9.30 s a narrative, K = 3: about 50 narratives."""
    cost = PUBLISHED_SECONDS.cost_for(501, 126, 3)
    assert cost.break_even == pytest.approx(49.5, abs=0.1)
    assert cost.captions_total == pytest.approx(1579, abs=2)
    assert cost.sight_total == pytest.approx(3515, abs=1)


def test_captions_never_pay_when_rating_them_costs_more() -> None:
    assert Rates(1.0, 5.0, 4.0, "x").cost_for(10, 1, 3).break_even is None


def test_given_captions_cost_nothing() -> None:
    rates = measure_rates(
        {"captions": Stage(3, 3.0, 30, 3), "sight": Stage(4, 20.0, 400, 4)}
    )
    assert rates is not None
    assert rates[0].cost_for(500, 1, 3).break_even == 0.0
    assert "captions were given" in rates[0].basis


def test_rates_are_measured_only_when_narratives_were_rated_both_ways() -> (
    None
):
    stages = {
        "caption": Stage(2, 4.0, 10, 10),
        "captions": Stage(3, 3.0, 30, 3),
    }
    assert measure_rates(stages) is None
    rates = measure_rates(stages | {"sight": Stage(4, 20.0, 400, 4)})
    assert rates is not None
    seconds, tokens = rates
    assert (seconds.caption, seconds.by_captions, seconds.by_sight) == (
        2.0,
        1.0,
        5.0,
    )
    assert (tokens.caption, tokens.by_captions, tokens.by_sight) == (
        10.0,
        11.0,
        101.0,
    )


@each_case(
    ("value", "word"),
    [
        (-0.2, "poor"), (0.499, "poor"), (0.5, "moderate"), (0.749, "moderate"),
        (0.75, "good"), (0.899, "good"), (0.9, "excellent"), (1.0, "excellent"),
    ],
)  # fmt: skip
def test_words_for_reliability_are_those_of_koo_and_li(
    value: float, word: str
) -> None:
    assert reliability_verdict(value) == word


def test_a_break_is_a_kind_named_by_more_than_half_of_the_reporting_judges() -> (
    None
):
    assert agreed_breaks([("place",), ("time", "place"), ()]) == ["place"]
    assert (
        agreed_breaks([("place",), ("time",)]) == []
    )  # one of two is not more than half
    assert agreed_breaks([None, ("people",), None]) == ["people"]
    assert agreed_breaks([None, None]) is None
    assert agreed_breaks([]) is None


def test_breaks_are_tallied_by_source_and_a_narrative_counts_once_in_tests() -> (
    None
):
    rows: list[tuple[str, list[Breaks]]] = [
        ("maps", [("place",), ("place", "time"), None]),
        ("maps", [(), ()]),
        ("human", [("theme",)]),
        ("human", [None]),
    ]
    tally = breaks_table(rows)
    human, maps = tally.sources
    assert (human.source, human.n, human.n_not_told) == ("human", 1, 1)
    assert human.counts == {"place": 0, "time": 0, "theme": 1, "people": 0}
    assert (maps.n, maps.n_not_told) == (4, 1)
    assert maps.counts == {"place": 2, "time": 1, "theme": 0, "people": 0}
    assert maps.shares["place"] == pytest.approx(0.5)
    by_kind = {row.kind: row for row in tally.comparisons}
    assert by_kind["place"].difference == pytest.approx(0 - (2 / 2 + 0) / 2)
    assert by_kind["time"].difference == pytest.approx(0 - (1 / 2 + 0) / 2)
    assert by_kind["theme"].difference == pytest.approx(1.0)
    assert (by_kind["place"].n_a, by_kind["place"].n_b) == (
        1,
        2,
    )  # one human told nothing
    silent = breaks_table([("maps", [None]), ("human", [()])])
    assert silent.sources[1].shares["place"] is None
    assert (
        silent.comparisons == ()
    )  # nothing to hold the one that was told against


def test_models_are_compared_over_what_all_of_them_rated() -> None:
    ratings = {
        "a": {"x": 2.0, "y": 4.0, "z": 6.0, "w": 9.0},
        "b": {"x": 3.0, "y": 4.0, "z": 8.0},
    }
    agreement = between_models(
        "sight",
        ratings,
        {"x": "maps", "y": "human", "z": "random", "w": "maps"},
    )
    assert (agreement.n, agreement.n_left_out) == (3, 1)
    (pair,) = agreement.pairs
    assert pair.difference == pytest.approx(1.0)  # (1 + 0 + 2) / 3
    # around (4, 5): a -2 0 2, b -2 -1 3: 10 / sqrt(8 * 14)
    assert pair.r == pytest.approx(10 / (8 * 14) ** 0.5)
    assert pair.rho == pytest.approx(1.0)
    assert agreement.kendall_w
    assert agreement.kendall_w.value == pytest.approx(1.0)
    ranks = {(row.model, row.source): row.rank for row in agreement.sources}
    assert [ranks["a", s] for s in ("human", "maps", "random")] == [
        2.0,
        3.0,
        1.0,
    ]
    assert agreement.sources[0].sd is None  # of one narrative
    tied = between_models(
        "sight",
        {"a": {"x": 5.0, "y": 5.0}, "b": {"x": 5.0, "y": 6.0}},
        {"x": "p", "y": "q"},
    )
    assert [row.rank for row in tied.sources] == [1.5, 1.5, 2.0, 1.0]
    alone = between_models(
        "sight", {"a": {"x": 1.0}, "b": {"y": 1.0}}, {"x": "p", "y": "q"}
    )
    assert alone.reason == "needs two narratives that all judges rated, got 0"

"""Plans, limits and early stops for the rate of grave errors, by hand, by scipy and by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats as scipy_stats

from beholder.errors import ConfigError
from beholder.stats import acceptance
from beholder.stats.acceptance import capitals


def marks(n: int, *places: int) -> np.ndarray:
    """Texts of which those at the places, from 1, have a grave error."""
    errors = np.zeros(n)
    errors[[place - 1 for place in places]] = 1
    return errors


def first_stop(
    errors: np.ndarray, n_breaking: float, n_texts: int | None
) -> int:
    """Number of texts after which the capital first reaches 20."""
    reached = capitals(errors, n_breaking, n_texts) >= 20
    assert reached.any()
    return int(np.argmax(reached)) + 1


@pytest.mark.parametrize(
    ("rate", "n_texts", "needed"),
    [
        (0.01, None, (299, 473, 628, 773)),
        (0.02, None, (149, 236, 313, 386)),
        (0.02, 5000, (145, 229, 304, 373)),
        (0.05, None, (59, 93, 124, 153)),
    ],
)
def test_a_fixed_plan_reads_the_fewest_texts(
    rate: float, n_texts: int | None, needed: Sequence[int]
) -> None:
    for allowed, expected in enumerate(needed):
        assert acceptance.texts_to_read(rate, allowed, n_texts) == expected
        # One text fewer would accept a collection that breaks the claim too often.
        if n_texts is None:
            chance = scipy_stats.binom.cdf(allowed, expected - 1, rate)
        else:
            chance = scipy_stats.hypergeom.cdf(
                allowed, n_texts, 101, expected - 1
            )
        assert chance > 0.05


@pytest.mark.parametrize(
    ("rate", "chances"),
    [
        (0.0025, (0.6887, 0.8815, 0.9553, 0.9832)),
        (0.005, (0.4738, 0.6697, 0.7926, 0.8700)),
        (0.01, (0.2237, 0.3157, 0.3935, 0.4604)),
    ],
)
def test_the_chance_to_pass(rate: float, chances: Sequence[float]) -> None:
    needed = (149, 236, 313, 386)
    for allowed, (n_read, chance) in enumerate(
        zip(needed, chances, strict=True)
    ):
        got = acceptance.chance_to_pass(n_read, allowed, rate)
        assert got == pytest.approx(chance, abs=5e-5)


def test_plans_at_the_ends() -> None:
    assert acceptance.texts_to_read(0.02, 0, alpha=0.05 / 3) == 203
    assert acceptance.texts_to_read(0.02, 5, 6) == 6  # all
    assert acceptance.breaking_count(0.02, 5000) == 101
    assert acceptance.breaking_count(0.29, 100) == 30  # 28.999... in floats
    assert acceptance.breaking_count(0.001, 500) == 1
    assert acceptance.pairs_for_margin(0.04, 0.03) == 349
    assert acceptance.series_effect([4] * 60, 0.3) == pytest.approx(1.9)
    for wrong in ((0.0, None), (1.0, None)):
        with pytest.raises(ConfigError):
            acceptance.texts_to_read(wrong[0], 0, wrong[1])
    with pytest.raises(ConfigError):
        acceptance.breaking_count(0.02, 0)
    with pytest.raises(ConfigError):
        acceptance.pairs_for_margin(0.04, 0)


def test_the_capital_while_reading() -> None:
    clean = capitals(marks(200), 101, 5000)
    assert clean[[49, 99, 172]] == pytest.approx(
        [2.270035, 5.368050, 20.158662], abs=5e-7
    )
    one = capitals(marks(310, 60), 101, 5000)
    assert one[[58, 59, 99, 249, 309]] == pytest.approx(
        [2.642657, 0.475415, 0.820689, 7.649001, 20.208085], abs=5e-7
    )


@pytest.mark.parametrize(
    ("n_texts", "n_breaking", "stops"),
    [
        (5000, 101, (173, 310, 406)),
        (1000, 21, (156, 272, 351)),
        (None, 0.02, (178, 321, 422)),
    ],
)
def test_the_early_stop(
    n_texts: int | None, n_breaking: float, stops: Sequence[int]
) -> None:
    for places, stop in zip(((), (60,), (60, 150)), stops, strict=True):
        assert first_stop(marks(900, *places), n_breaking, n_texts) == stop


def test_the_bound_at_any_time_and_after_one_look() -> None:
    errors = marks(300, 60)
    for n_read, bound, one_look in (
        (100, 292, 0.0460),
        (200, 156, 0.0230),
        (300, 104, 0.0152),
    ):
        assert acceptance.error_bound(errors[:n_read], 5000) == bound
        assert acceptance.upper_limit(1, n_read, 5000) == pytest.approx(
            one_look
        )
    assert acceptance.more_texts(errors, 101, 5000) == 10
    # Nothing read, all clean, all wrong, the last one wrong.
    assert acceptance.error_bound([], 100) == 100
    assert acceptance.error_bound(marks(100), 100) == 0
    assert acceptance.error_bound(np.ones(5), 100) == 100
    assert acceptance.error_bound(marks(100, 100), 100) == 1


def test_a_collection_with_too_many_errors_is_refuted() -> None:
    errors = marks(60, *range(1, 60, 5))
    against = capitals(errors, 100, 5000, acceptance.ABOVE)
    assert (against >= 20).any()
    assert not (capitals(errors, 101, 5000) >= 20).any()
    # With certainty: more errors than the hypothesis allows.
    assert np.isinf(capitals(np.ones(3), 2, 1000, acceptance.ABOVE)[-1])
    assert acceptance.more_texts(np.ones(101), 101, 5000) is None


def test_exact_limits() -> None:
    assert acceptance.upper_limit(1, 236, 5000) * 5000 == pytest.approx(97)
    assert acceptance.upper_limit(1, 236) == pytest.approx(0.019942, abs=5e-7)
    assert acceptance.upper_limit(5, 5) == 1.0
    assert acceptance.lower_limit(20, 20, alpha=0.025) == pytest.approx(
        0.025 ** (1 / 20)
    )
    for n_errors, n_read in ((0, 50), (3, 80), (7, 20)):
        limit = round(acceptance.upper_limit(n_errors, n_read, 400) * 400)
        chances = [
            scipy_stats.hypergeom.cdf(n_errors, 400, count, n_read)
            for count in (limit, limit + 1)
        ]
        assert chances[0] > 0.05 >= chances[1]
        exact = scipy_stats.binomtest(
            n_errors, n_read, alternative="less"
        ).proportion_ci(0.95)
        assert acceptance.upper_limit(n_errors, n_read) == pytest.approx(
            exact.high
        )


def test_whole_series() -> None:
    errors, sizes = marks(60), np.full(60, 4)
    errors[:4] = 1, 1, 1, 2
    estimated = acceptance.series_limit(errors, sizes, 1.0)
    assert estimated == pytest.approx(0.049214, abs=5e-7)
    assert acceptance.upper_limit(5, 240) == pytest.approx(0.043303, abs=5e-7)
    # The planned effect counts if it is larger, and where no error was found.
    assert acceptance.series_limit(errors, sizes, 1.9) > estimated
    none = [
        acceptance.series_limit(marks(60), sizes, effect)
        for effect in (1.9, 1.0)
    ]
    assert none == pytest.approx([0.023437, 0.012405], abs=5e-7)


def test_a_proportional_sample_of_strata_is_covered_by_the_binomial() -> None:
    read, rates = (142, 71, 24), (0.0, 0.02, 0.14)
    # The exact chance of at most one error: a convolution of three binomials.
    chance = np.ones(1)
    for n_read, rate in zip(read, rates, strict=True):
        counts = np.arange(n_read + 1)
        chance = np.convolve(
            chance, scipy_stats.binom.pmf(counts, n_read, rate)
        )
    mean_rate = float(np.dot(read, rates)) / sum(read)
    assert chance[:2].sum() == pytest.approx(0.040569, abs=5e-7)
    assert chance[:2].sum() < scipy_stats.binom.cdf(1, sum(read), mean_rate)
    assert scipy_stats.binom.cdf(1, 236, 0.02) == pytest.approx(
        0.049431, abs=5e-7
    )
    # Shares .6, .3, .1 of 237 are 142.2, 71.1, 23.7: the smallest ratio is 142 of 142.2.
    assert acceptance.rounding_factor(
        (3000, 1500, 500), read
    ) == pytest.approx(142 / 142.2)


def test_the_interval_of_paired_rates() -> None:
    interval = acceptance.tango_interval(5, 4, 236)
    assert (interval.low, interval.high) == pytest.approx(
        (-0.024490, 0.034031), abs=5e-7
    )
    swapped = acceptance.tango_interval(4, 5, 236)
    assert (swapped.low, swapped.high) == pytest.approx(
        (-interval.high, -interval.low)
    )
    # Without discordant pairs the ends are z^2 / (n + z^2).
    z = float(scipy_stats.norm.ppf(0.975))
    equal = acceptance.tango_interval(0, 0, 50)
    assert equal.high == pytest.approx(z * z / (50 + z * z))
    with pytest.raises(ConfigError):
        acceptance.tango_interval(3, 3, 5)


def test_simulated_stops_are_those_of_the_plan() -> None:
    assert (acceptance.early_stops(0.02, 0.0, 5000, n_runs=3) == 173).all()
    stops = acceptance.early_stops(0.02, 0.0024, 5000, n_runs=200, seed=1)
    assert np.median(stops) == 173
    assert 215 < stops.mean() < 265  # 239 in an independent simulation


@pytest.mark.parametrize(
    ("rate", "n_texts"), [(0.02, 1000), (0.02, 5000), (0.05, 1000)]
)
def test_false_acceptance_with_a_look_after_every_text(
    rate: float, n_texts: int
) -> None:
    """The chance that a collection with exactly K errors is ever accepted.

    It is estimated by importance sampling: texts are drawn as the bets expect them, so that nearly
    each run is accepted, and a run counts with one over the ratio of the likelihoods. The ratio is
    multiplied here from the chances of the draws. Where it is 20 or more at a stop, as it is if the
    capital is right, no run counts with more than .05, so neither does their mean. Runs drawn as
    they are would have to be many: of 2,000, .0646 are accepted by chance (three standard errors).
    """
    n_breaking = acceptance.breaking_count(rate, n_texts)
    ratios = np.array(acceptance.BELOW)
    rng = np.random.default_rng(7)
    weights = []
    for run in range(60):
        errors = np.zeros(n_texts)
        likelihoods = np.ones((n_texts + 1, len(ratios)))
        for place in range(n_texts):
            chance = (n_breaking - errors.sum()) / (n_texts - place)
            is_error = rng.random() < ratios[run % len(ratios)] * chance
            if chance >= 1 and not is_error:
                # No collection with K errors has this order.
                likelihoods[place + 1 :] = np.inf
                break
            errors[place] = is_error
            clean = (1 - ratios * chance) / (1 - chance)
            factor = ratios if is_error else clean
            likelihoods[place + 1] = likelihoods[place] * factor
            if likelihoods[place + 1].mean() > 40:
                break
        reached = capitals(errors, n_breaking, n_texts) >= 20
        assert reached.any()
        weights.append(1 / likelihoods[1 + np.argmax(reached)].mean())
    # 400 runs of a script of its own gave .0465, .0496 and .0478.
    assert 0.042 < np.mean(weights) <= 0.05
    assert max(weights) <= 0.05

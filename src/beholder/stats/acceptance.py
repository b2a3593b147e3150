"""Acceptance of a finite collection: plans, limits and early stops for the rate of grave errors."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.checks import Floats, same_length, vector

BELOW = (0.0, 0.125, 0.25, 0.5)
"""Ratios that bet on a lower rate than the hypothesis; they show that a rate is low."""

ABOVE = (2.0, 4.0, 8.0)
"""Ratios that bet on a higher rate; they show that a rate is high."""


def breaking_count(rate: float, n_texts: int) -> int:
    """Return the smallest number of grave errors among the texts that breaks "at most ``rate``".

    Raises:
        ConfigError: The rate is not from 0 to below 1, or there is no text.
    """
    if not 0 <= rate < 1 or n_texts < 1:
        raise ConfigError(
            f"rate={rate}, texts={n_texts}: expected a rate from 0 to below 1, and a text or more"
        )
    # Rounded first: 0.29 * 100 is 28.999999999999996 in binary arithmetic.
    return math.floor(round(rate * n_texts, 9)) + 1


def chance_to_pass(
    n_read: int, allowed: int, rate: float, n_texts: int | None = None
) -> float:
    """Return the chance of at most ``allowed`` grave errors among ``n_read`` texts.

    Args:
        n_read: Texts read.
        allowed: Errors that pass.
        rate: True rate of grave errors.
        n_texts: Texts of the collection (hypergeometric); None for very many (binomial).
    """
    if n_texts is None:
        return float(scipy.stats.binom.cdf(allowed, n_read, rate))
    n_errors = round(rate * n_texts)
    return float(scipy.stats.hypergeom.cdf(allowed, n_texts, n_errors, n_read))


def texts_to_read(
    rate: float,
    allowed: int,
    n_texts: int | None = None,
    *,
    alpha: float = 0.05,
) -> int:
    """Return the smallest sample in which ``allowed`` grave errors still show the claim.

    All texts if no smaller sample does.

    Raises:
        ConfigError: The rate or alpha is not between 0 and 1.
    """
    if not (0 < rate < 1 and 0 < alpha < 1):
        raise ConfigError(
            f"rate={rate}, alpha={alpha}: expected numbers between 0 and 1"
        )
    limit = 10**9 if n_texts is None else n_texts
    if n_texts is not None:
        rate = breaking_count(rate, n_texts) / n_texts

    def is_enough(n_read: int) -> bool:
        return chance_to_pass(n_read, allowed, rate, n_texts) <= alpha

    first = min(allowed + 1, limit)
    return min(
        first + bisect_left(range(first, limit), True, key=is_enough), limit
    )


def upper_limit(
    n_errors: float,
    n_read: float,
    n_texts: int | None = None,
    *,
    alpha: float = 0.05,
) -> float:
    """Return the exact one-sided upper limit of the rate after a fixed sample.

    Args:
        n_errors: Grave errors in the sample; not whole for an effective sample.
        n_read: Texts in the sample.
        n_texts: Texts of the collection (hypergeometric); None for the binomial.
        alpha: One minus the confidence.

    Source: Clopper and Pearson 1934 for the binomial.
    """
    if n_texts is None:
        if n_errors >= n_read:
            return 1.0
        return float(
            scipy.stats.beta.ppf(1 - alpha, n_errors + 1, n_read - n_errors)
        )
    last = n_texts - int(n_read - n_errors)
    # The chance of so few errors falls with their number M in the collection.
    n_possible = bisect_left(
        range(int(n_errors), last + 1),
        True,
        key=lambda m: (
            scipy.stats.hypergeom.cdf(n_errors, n_texts, m, n_read) <= alpha
        ),
    )
    return (int(n_errors) + n_possible - 1) / n_texts


def lower_limit(
    n_errors: int,
    n_read: int,
    n_texts: int | None = None,
    *,
    alpha: float = 0.05,
) -> float:
    """Return the exact one-sided lower limit of the rate after a fixed sample."""
    # Texts without an error are counted instead: their upper limit.
    return 1 - upper_limit(n_read - n_errors, n_read, n_texts, alpha=alpha)


def capitals(
    errors: ArrayLike,
    n_breaking: float,
    n_texts: int | None,
    ratios: Sequence[float] = BELOW,
) -> Floats:
    """Return the capital against "at least ``n_breaking`` errors" after each text, shape (n,).

    With the ratios ``ABOVE`` it is the capital against "at most ``n_breaking`` errors". While the
    hypothesis is true, the capital ever reaches 1/alpha with a chance of at most alpha.

    Args:
        errors: 0 or 1 per text, in random order.
        n_breaking: Errors of the hypothesis; their rate if ``n_texts`` is None.
        n_texts: Texts of the collection; None for very many.
        ratios: Rates that are bet on, as multiples of the hypothesis.

    Source: the supermartingales of ALPHA (Stark 2023) and Waudby-Smith and Ramdas 2020.
    """
    marks = vector(errors, "errors")
    before = np.cumsum(marks) - marks
    if n_texts is None:
        rates = np.full(len(marks), float(n_breaking))
    else:
        rates = (n_breaking - before) / (n_texts - np.arange(len(marks)))
    # Outside 0 to 1 the hypothesis is decided: too many errors were met, or too few texts are left.
    inside = np.clip(rates, 1e-15, 1 - 1e-15)
    logs = []
    for ratio in ratios:
        bet = np.minimum(ratio * inside, 1 - 1e-15)
        clean = np.log1p(-bet) - np.log1p(-inside)
        with np.errstate(divide="ignore"):
            error = np.log(bet) - np.log(inside)
        logs.append(np.cumsum(np.where(marks > 0, error, clean)))
    with np.errstate(over="ignore"):
        capital = np.exp(logs).mean(axis=0)
    too_high = (rates > 1) | ((rates >= 1) & (marks == 0))
    too_low = (rates < 0) | ((rates <= 0) & (marks > 0))
    impossible = too_high if ratios[0] < 1 else too_low
    return np.where(np.maximum.accumulate(impossible), np.inf, capital)


def error_bound(
    errors: ArrayLike, n_texts: int, *, alpha: float = 0.05
) -> int:
    """Return the most grave errors that the collection may have, valid at any time.

    With probability 1 - alpha it is true at all times at once, however often one looks.

    Args:
        errors: 0 or 1 per text that was read, in random order.
        n_texts: Texts of the collection.
        alpha: One minus the confidence.
    """
    marks = vector(errors, "errors")
    n_found = int(marks.sum())
    last = n_texts - (len(marks) - n_found)

    def is_refuted(n_breaking: int) -> bool:
        return bool((capitals(marks, n_breaking, n_texts) >= 1 / alpha).any())

    counts = range(n_found + 1, last + 1)
    return n_found + bisect_left(counts, True, key=is_refuted)


def more_texts(
    errors: ArrayLike, n_breaking: int, n_texts: int, *, alpha: float = 0.05
) -> int | None:
    """Return how many further texts show the claim if none has a grave error; None if none do."""
    marks = vector(errors, "errors")
    rest = np.concatenate([marks, np.zeros(n_texts - len(marks))])
    reached = np.flatnonzero(capitals(rest, n_breaking, n_texts) >= 1 / alpha)
    return max(0, int(reached[0]) + 1 - len(marks)) if len(reached) else None


def rounding_factor(sizes: Sequence[int], n_read: Sequence[int]) -> float:
    """Return the factor on the claimed rate for a stratified sample whose sizes are rounded.

    Args:
        sizes: Texts of each stratum.
        n_read: Texts read in each.

    Source: Hoeffding 1956: with proportional sizes the binomial limit is valid.
    """
    ratios = np.divide(n_read, sizes) * sum(sizes) / sum(n_read)
    return min(1.0, float(ratios.min()))


def series_effect(sizes: ArrayLike, icc: float) -> float:
    """Return the design effect of drawing whole series with an intraclass correlation.

    Source: Kish 1965, with the size that a text's series has on average.
    """
    counts = vector(sizes, "sizes")
    return 1 + (float(counts @ counts / counts.sum()) - 1) * icc


def series_limit(
    errors: ArrayLike,
    sizes: ArrayLike,
    planned_effect: float,
    *,
    alpha: float = 0.05,
) -> float:
    """Return the upper limit of the rate if whole series were drawn, (G,) errors and sizes.

    The larger of the planned and the estimated design effect counts, because estimates from few
    series are too small.

    Source: Korn and Graubard 1998.
    """
    marks, counts = vector(errors, "errors"), vector(sizes, "sizes")
    n_series, n = same_length(errors=marks, sizes=counts), float(counts.sum())
    rate = float(marks.sum()) / n
    effect = max(1.0, planned_effect)
    if 0 < rate < 1 and n_series > 1:
        spread = float(((marks - rate * counts) ** 2).sum()) / n**2
        variance = n_series / (n_series - 1) * spread
        effect = max(planned_effect, variance / (rate * (1 - rate) / n))
    effective = n / effect
    if n_series > 1 and rate > 0:
        quantiles = scipy.stats.t.ppf(1 - alpha, [n - 1, n_series - 1])
        effective *= float(quantiles[0] / quantiles[1]) ** 2
    effective = min(n, effective)
    return upper_limit(rate * effective, effective, alpha=alpha)


def tango_interval(
    n_first: int, n_second: int, n_pairs: int, *, level: float = 0.95
) -> Interval:
    """Return the score interval of a difference of paired rates.

    Args:
        n_first: Pairs in which only the first has the property.
        n_second: Pairs in which only the second has it.
        n_pairs: All pairs.
        level: Confidence level.

    Raises:
        ConfigError: There is no pair, or more pairs differ than there are.

    Source: Tango 1998.
    """
    if not 0 <= n_first + n_second <= n_pairs or n_pairs < 1:
        raise ConfigError(
            f"{n_first} + {n_second} of {n_pairs} pairs differ: expected a pair or more"
        )
    z = float(scipy.stats.norm.ppf((1 + level) / 2))

    def score(delta: float) -> float:
        # The estimate of the second's share under the hypothesis is the root of a quadratic.
        b = -n_first - n_second + (2 * n_pairs - n_first + n_second) * delta
        c = -n_second * delta * (1 - delta)
        share = (math.sqrt(b * b - 8 * n_pairs * c) - b) / (4 * n_pairs)
        variance = n_pairs * (2 * share + delta * (1 - delta))
        distance = n_first - n_second - n_pairs * delta
        return distance / math.sqrt(variance) if variance > 0 else 0.0

    middle = (n_first - n_second) / n_pairs

    def solve(target: float, low: float, high: float) -> float:
        for _ in range(60):
            trial = (low + high) / 2
            if score(trial) > target:
                low = trial
            else:
                high = trial
        return (low + high) / 2

    return Interval(solve(z, -1.0, middle), solve(-z, middle, 1.0), level)


def pairs_for_margin(
    discordant: float, margin: float, *, power: float = 0.8
) -> int:
    """Return the pairs that show "not worse by ``margin``" if both are equally good.

    Args:
        discordant: Share of pairs in which one of the two alone has a grave error.
        margin: Difference of rates that would be too much.
        power: Probability of showing it.

    Raises:
        ConfigError: A number is out of its range.
    """
    if not (0 < discordant <= 1 and 0 < margin < 1 and 0 < power < 1):
        raise ConfigError(
            f"discordant={discordant}, margin={margin}, power={power}: expected numbers between"
            " 0 and 1"
        )
    z = float(scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(power))
    return math.ceil(z * z * discordant / margin**2)


def early_stops(
    rate: float,
    expected: float,
    n_texts: int | None = None,
    *,
    alpha: float = 0.05,
    n_runs: int = 1000,
    seed: int = 0,
) -> Floats:
    """Return after how many texts simulated collections are accepted, (n_runs,); inf for never.

    Args:
        rate: Claimed rate.
        expected: True rate.
        n_texts: Texts of the collection; None for very many, of which at most 10,000 are read.
        alpha: One minus the confidence.
        n_runs: Collections.
        seed: Seed of their orders.
    """
    rng = np.random.default_rng(seed)
    n_breaking = breaking_count(rate, n_texts) if n_texts else rate
    stops = np.full(n_runs, np.inf)
    for run in range(n_runs):
        if n_texts is None:
            marks = (rng.random(10_000) < expected).astype(np.float64)
        else:
            marks = np.zeros(n_texts)
            n_errors = round(expected * n_texts)
            marks[rng.choice(n_texts, n_errors, replace=False)] = 1
        reached = capitals(marks, n_breaking, n_texts) >= 1 / alpha
        if reached.any():
            stops[run] = int(np.argmax(reached)) + 1
    return stops

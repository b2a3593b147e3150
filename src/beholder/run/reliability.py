"""Reliability of judges: the metrics of a run as raters of its items."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.errors import ConfigError
from beholder.judges import AnswerFile
from beholder.judges.diagnostics import panels
from beholder.records import Estimate, Interval, Item
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.stats.agreement import Agreement
from beholder.stats.checks import Floats
from beholder.stats.intraclass import ICC, ICCKind, icc
from beholder.stats.krippendorff import krippendorff_alpha
from beholder.stats.reliability import (
    cronbach_alpha,
    kendall_w,
    mean_pairwise_correlation,
    within_item_spread,
)

_ALPHA = "Krippendorff alpha (interval)"
_FEWEST_RATINGS = 2
"""An item with one rating says nothing about agreement."""
_KINDS: tuple[ICCKind, ...] = ("1,1", "2,1", "3,1", "2,k")


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of reliability.

    Attributes:
        name: Name of the coefficient.
        value: None where it is not defined.
        interval: Its interval, if there is one.
        reason: Why there is no value, or no interval.
    """

    name: str
    value: float | None
    interval: Interval | None = None
    reason: str | None = None

    @classmethod
    def from_statistic(
        cls, name: str, statistic: Agreement | ICC
    ) -> Coefficient:
        """Make a coefficient of a statistic, under a name."""
        return cls(name, statistic.value, statistic.interval, statistic.reason)

    @classmethod
    def from_mean(cls, name: str, mean: Estimate) -> Coefficient:
        """Make a coefficient of a mean, under a name."""
        return cls(name, mean.mean, mean.interval, mean.reason)


FEW_ITEMS = 20
"""Items below which a coefficient of agreement comes with a caution."""


@dataclass(frozen=True)
class Reliability:
    """Agreement of several raters on the same items.

    Attributes:
        what: Rated thing: an operation of judges, the scores of a run, a label.
        raters: Their names.
        n_items: Items that all of them scored.
        n_left_out: Items that one of them did not score.
        coefficients: The coefficients.
    """

    what: str
    raters: tuple[str, ...]
    n_items: int
    n_left_out: int
    coefficients: tuple[Coefficient, ...]

    @property
    def caution(self) -> str | None:
        """Return what so few items cannot show, for pages and tables; None with enough, or none."""
        if not 0 < self.n_items < FEW_ITEMS:
            return None
        return (
            f"Only {self.n_items:,} compared: one more or less moves a share of agreement by"
            f" {100 / self.n_items:.0f} points, and intervals of fewer than {FEW_ITEMS} are too"
            " narrow. These figures describe what was judged; they do not say how well people"
            " would agree on more."
        )


def reliability(
    store: Store, names: Sequence[str] | None = None, value: str | None = None
) -> Reliability:
    """Agreement between the metrics of a run, each taken as a rater.

    For replicates and panels of judges: score the same items with one metric under several judges
    (or seeds), as metrics of one run, and ask how well their scores agree.

    Args:
        store: The run.
        names: Metrics to take as raters; None takes all.
        value: Name of the value to compare; None takes each metric's first.

    Raises:
        ConfigError: Fewer than two raters, an unknown one, or fewer than two common items.
    """
    metric_names = [asker.name for asker in store.askers()]
    raters = list(names) if names else metric_names
    for name in raters:
        if name not in metric_names:
            raise ConfigError(
                f"the run has no metric {name!r}; it has: {', '.join(metric_names)}"
            )
    if len(raters) < 2:
        raise ConfigError(
            "reliability needs two or more raters: score the same items with several judges as"
            f" metrics of one run; this one has: {', '.join(metric_names) or 'none'}"
        )
    columns = [_read_scores(store, name, value) for name in raters]
    # All coefficients need a complete table.
    common = sorted(set.intersection(*(set(column) for column in columns)))
    if len(common) < 2:
        raise ConfigError(
            f"the raters share {len(common)} scored items; two are needed"
        )
    table = np.array(
        [[column[place] for column in columns] for place in common]
    )
    n_any = len(set.union(*(set(column) for column in columns)))
    return Reliability(
        "scores",
        tuple(raters),
        len(common),
        n_any - len(common),
        coefficients(table),
    )


def of_panels(folder: Path) -> list[Reliability]:
    """Agreement between the judges of each panel that a run asked, per operation.

    Args:
        folder: A run directory.

    Returns:
        One per operation that two or more judges answered for two or more questions; questions
        that not all judges answered are left out and counted. The first coefficient is the share
        of questions that all judges, or all repeats of one, answer the same.
    """
    with closing(AnswerFile(folder / FILE_NAME)) as file:
        panel_tables = list(panels(file.ratings()))
    reliabilities = []
    for operation, judges, table, left_out in panel_tables:
        # Agreement needs two judges and two questions.
        if min(table.shape) > 1:
            same = float((table == table[:, :1]).all(axis=1).mean())
            panel_coefficients = (
                Coefficient("same answer by all", same),
                *coefficients(table),
            )
            reliabilities.append(
                Reliability(
                    operation, judges, len(table), left_out, panel_coefficients
                )
            )
    return reliabilities


def of_ratings(items: Sequence[Item], label: str) -> Reliability:
    """Agreement between the people whose ratings are a list in the judgments.

    If a rating is missing (None), only Krippendorff's alpha has a value: it needs no full table.

    Args:
        items: Judged items, as ``data.labels.read_labels`` gives them.
        label: Name of the list; its first number is taken as the first rater's, and so on.

    Raises:
        ConfigError: Fewer than two items have such a list of one common length of two or more, or
            the ratings are no numbers.
    """
    lists = [
        item.judgments[label]
        for item in items
        if isinstance(item.judgments.get(label), list)
    ]
    # Lists that are shorter than the longest cannot be matched to raters and are left out.
    n_raters = max(map(len, lists), default=0)
    full_lists = [ratings for ratings in lists if len(ratings) == n_raters]
    if n_raters < 2 or len(full_lists) < 2:
        raise ConfigError(
            f"fewer than two items have a list of two or more ratings under {label!r};"
            " name another label with --label, or give a run directory"
        )
    word = next(
        (
            rating
            for ratings in full_lists
            for rating in ratings
            if isinstance(rating, str)
        ),
        None,
    )
    if word is not None:
        raise ConfigError(
            f"the ratings under {label!r} are words such as {word!r}, not numbers"
        )
    usable_lists = [
        ratings
        for ratings in full_lists
        if sum(rating is not None for rating in ratings) >= _FEWEST_RATINGS
    ]
    table = np.array(usable_lists, dtype=np.float64).reshape(
        len(usable_lists), n_raters
    )
    n_incomplete = int(np.isnan(table).any(axis=1).sum())
    raters = tuple(f"rater {place}" for place in range(1, n_raters + 1))
    label_coefficients = (
        _without_full_table(table, n_incomplete)
        if n_incomplete
        else coefficients(table)
    )
    return Reliability(
        label,
        raters,
        len(usable_lists),
        len(lists) - len(usable_lists),
        label_coefficients,
    )


def _without_full_table(
    table: Floats, n_incomplete: int
) -> tuple[Coefficient, ...]:
    """Return alpha of a table with missing ratings, and the reason for each other coefficient."""
    reason = (
        f"{n_incomplete} of {len(table)} items have a rating missing, and this coefficient needs"
        f" them all: take {_ALPHA}"
    )
    names = (
        coefficient.name
        for coefficient in coefficients(np.arange(4.0).reshape(2, 2))
    )
    alpha = Coefficient.from_statistic(
        _ALPHA, krippendorff_alpha(table, "interval")
    )
    return tuple(
        alpha if name == _ALPHA else Coefficient(name, None, reason=reason)
        for name in names
    )


def _read_scores(
    store: Store, name: str, value: str | None
) -> dict[int, float]:
    scores = {}
    for place, values in store.values(name):
        if value is not None and value not in values:
            raise ConfigError(
                f"{name} has no value {value!r}; it has: {', '.join(values)}"
            )
        scores[place] = (
            values[value] if value is not None else next(iter(values.values()))
        )
    return scores


def coefficients(table: Floats) -> tuple[Coefficient, ...]:
    """Compute all coefficients of a complete items by raters table, shape (n, k)."""
    spread = within_item_spread(table)
    return (
        *(
            Coefficient.from_statistic(f"ICC({kind})", icc(table, kind))
            for kind in _KINDS
        ),
        Coefficient.from_statistic(
            _ALPHA, krippendorff_alpha(table, "interval")
        ),
        Coefficient.from_statistic("Cronbach alpha", cronbach_alpha(table)),
        Coefficient.from_statistic("Kendall W", kendall_w(table)),
        Coefficient.from_statistic(
            "mean pairwise Spearman",
            mean_pairwise_correlation(table, "spearman"),
        ),
        Coefficient.from_mean("mean SD within an item", spread.sd),
        Coefficient.from_mean("mean range within an item", spread.range),
    )

"""The alternative annotator test: may a judge replace one of the people who label?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.stats.checks import Floats, cluster_codes, cluster_sums, matrix
from beholder.stats.ranks import round_values

EPSILONS = {"experts": 0.2, "trained": 0.15, "crowd": 0.1}
"""By how much a judge may be worse than a person, as labels of such people cost."""
LEAST_ITEMS = 30
"""Items of a person below which the person is left out."""
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """A test whether a judge is no worse than a person, within epsilon.

    Attributes:
        winning_rate: Share of the people whom the judge may replace, by epsilon; passes from 0.5.
        p_values: Of each person, by epsilon, before correction.
        advantage: Mean probability that the judge agrees with the others at least as well as the
            person who is left out.
        n_people: People compared with.
        left_out: People with fewer than 30 items.
    """

    winning_rate: dict[float, float]
    p_values: dict[float, tuple[float, ...]]
    advantage: float
    n_people: int
    left_out: int


def alternative_annotator(
    people: ArrayLike,
    judge: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    numeric: bool = False,
    epsilons: Sequence[float] = tuple(EPSILONS.values()),
    level: float = 0.05,
) -> AlternativeAnnotator:
    """Compare a judge with each person in turn, by agreement with all the others.

    On each item the judge or the person left out wins, whoever agrees better with the other
    people; both win on a tie. A one-sided t test asks whether the person wins by less than
    epsilon, corrected over people by Benjamini and Yekutieli. To pass means "no worse than a person
    within epsilon", not "right".

    Args:
        people: (items, people) labels; NaN where a person gave none.
        judge: (items,) the judge's labels; NaN where it gave none.
        clusters: Picture of each item; tests are then on means of pictures.
        numeric: Labels are numbers on a scale, and agreement is minus the root mean squared
            difference; otherwise it is the share of equal labels.
        epsilons: Margins; 0.2 is usual for experts, 0.15 for trained people, 0.1 for a crowd.
        level: False discovery rate.

    Raises:
        ConfigError: Fewer than two people with 30 items that someone else labelled, too.

    Source: Calderon et al. 2025 (arXiv 2501.10970).
    """
    labels = round_values(matrix(people, "people", missing=True)).T
    answers = round_values(
        matrix(np.reshape(judge, (-1, 1)), "judge", missing=True)[:, 0]
    )
    if labels.shape[1] != len(answers):
        raise ConfigError(
            f"people label {labels.shape[1]} items, the judge {len(answers)}"
        )
    codes = cluster_codes(clusters, len(answers))
    wins, losses = [], []
    # Each person in turn is left out; judge and person then compete for the agreement with the
    # rest.
    for j, person in enumerate(labels):
        peers = np.delete(labels, j, axis=0)
        is_shared = (
            ~np.isnan(person)
            & ~np.isnan(answers)
            & ~np.isnan(peers).all(axis=0)
        )
        if is_shared.sum() < LEAST_ITEMS:
            continue
        of_judge = _agreement(
            answers[is_shared], peers[:, is_shared], numeric=numeric
        )
        of_person = _agreement(
            person[is_shared], peers[:, is_shared], numeric=numeric
        )
        won = (of_judge >= of_person - _TIE).astype(np.float64)
        difference = (of_person >= of_judge - _TIE) - won
        own_codes = np.unique(codes[is_shared], return_inverse=True)[1]
        # The test is on means of pictures, because texts of one picture are not independent.
        losses.append(
            cluster_sums(own_codes, difference) / np.bincount(own_codes)
        )
        wins.append(float(won.mean()))
    if len(losses) < 2:
        raise ConfigError(
            f"{len(losses)} people have {LEAST_ITEMS} items that the judge and someone else"
            " labelled; at least 2 are needed"
        )
    p_values = {e: tuple(_p(loss, e) for loss in losses) for e in epsilons}
    # Tests of people share peers, so they depend on each other: Benjamini and Yekutieli allow that.
    adjusted = {
        e: scipy.stats.false_discovery_control(p, method="by")
        for e, p in p_values.items()
    }
    return AlternativeAnnotator(
        winning_rate={
            e: float(np.mean(p <= level)) for e, p in adjusted.items()
        },
        p_values=p_values,
        advantage=float(np.mean(wins)),
        n_people=len(losses),
        left_out=len(labels) - len(losses),
    )


def _agreement(labels: Floats, peers: Floats, *, numeric: bool) -> Floats:
    """Return the agreement with the peers who labelled each item, (items,)."""
    differences = labels[None] - peers
    if numeric:
        return np.asarray(-np.sqrt(np.nanmean(differences**2, axis=0)))
    return np.asarray(
        np.nansum(differences == 0, axis=0)
        / (~np.isnan(differences)).sum(axis=0)
    )


def _p(differences: Floats, epsilon: float) -> float:
    """Return the p value of "the mean is at least epsilon"; 0 or 1 for equal differences."""
    if np.ptp(differences) == 0:
        return 0.0 if differences[0] < epsilon else 1.0
    return float(
        scipy.stats.ttest_1samp(
            differences, epsilon, alternative="less"
        ).pvalue
    )

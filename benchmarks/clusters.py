"""How well clusters of mentions agree with gold clusters: MUC, B-cubed and CEAF-e.

MUC: Vilain et al. 1995. B-cubed: Bagga and Baldwin 1998. CEAF-e (phi 4): Luo 2005. Mentions that
stand on one side only count as they do in the CoNLL-2012 scorer: against the side that has them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

Cluster = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Sums that make precision and recall; sums of several documents may be added.

    Attributes:
        precision_part: Numerator of precision.
        precision_whole: Denominator of precision.
        recall_part: Numerator of recall.
        recall_whole: Denominator of recall.
    """

    precision_part: float
    precision_whole: float
    recall_part: float
    recall_whole: float

    def __add__(self, addend: Agreement) -> Agreement:
        return Agreement(
            self.precision_part + addend.precision_part,
            self.precision_whole + addend.precision_whole,
            self.recall_part + addend.recall_part,
            self.recall_whole + addend.recall_whole,
        )

    @property
    def precision(self) -> float:
        """Precision in 0..1; 0 if nothing was found."""
        return (
            self.precision_part / self.precision_whole
            if self.precision_whole
            else 0.0
        )

    @property
    def recall(self) -> float:
        """Recall in 0..1; 0 if there is nothing to find."""
        return (
            self.recall_part / self.recall_whole if self.recall_whole else 0.0
        )

    @property
    def f1(self) -> float:
        """Harmonic mean of the two; 0 if both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def muc(candidate: Sequence[Cluster], gold: Sequence[Cluster]) -> Agreement:
    """Links needed to join each cluster that are missing on the other side."""
    return Agreement(*_links(candidate, gold), *_links(gold, candidate))


def _links(
    clusters: Sequence[Cluster], other_clusters: Sequence[Cluster]
) -> tuple[float, float]:
    place = {
        mention: number
        for number, cluster in enumerate(other_clusters)
        for mention in cluster
    }
    part = n_links = 0
    for cluster in clusters:
        pieces = {place.get(mention, (mention,)) for mention in cluster}
        part += len(cluster) - len(pieces)
        n_links += len(cluster) - 1
    return float(part), float(n_links)


def b_cubed(
    candidate: Sequence[Cluster], gold: Sequence[Cluster]
) -> Agreement:
    """For each mention, the share of its cluster that its other cluster has too."""
    return Agreement(*_shares(candidate, gold), *_shares(gold, candidate))


def _shares(
    clusters: Sequence[Cluster], other_clusters: Sequence[Cluster]
) -> tuple[float, float]:
    place = {
        mention: cluster for cluster in other_clusters for mention in cluster
    }
    part = sum(
        len(cluster & place.get(mention, frozenset())) / len(cluster)
        for cluster in clusters
        for mention in cluster
    )
    return part, float(sum(len(cluster) for cluster in clusters))


def ceaf_e(candidate: Sequence[Cluster], gold: Sequence[Cluster]) -> Agreement:
    """Best one-to-one pairing of clusters by twice the overlap over the sum of sizes."""
    if not candidate or not gold:
        return Agreement(0.0, float(len(candidate)), 0.0, float(len(gold)))
    similarity = np.array(
        [[2 * len(f & g) / (len(f) + len(g)) for g in gold] for f in candidate]
    )
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    total = float(similarity[rows, columns].sum())
    return Agreement(total, float(len(candidate)), total, float(len(gold)))


def merged(links: Iterable[tuple[Hashable, Hashable]]) -> list[Cluster]:
    """Clusters of two or more mentions from pairs that mean the same."""
    group: dict[Hashable, set[Hashable]] = {}
    for first_mention, second_mention in links:
        joined = group.get(first_mention, {first_mention}) | group.get(
            second_mention, {second_mention}
        )
        for mention in joined:
            group[mention] = joined
    return [frozenset(c) for c in {id(c): c for c in group.values()}.values()]

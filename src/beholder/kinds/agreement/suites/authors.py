"""Texts by several authors about one source: a test whether metrics see the source.

After the multiple-author test set of the VCS paper. For each pair of authors and each source of
both, the one author's text is the reference of the other's text about it, and of the other's texts
about further sources. A metric that ignores the style of authors puts the first above the
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.errors import ConfigError
from beholder.kinds.agreement.agree import MetricValue
from beholder.kinds.agreement.suites.comparison import (
    Head,
    ItemScores,
    read_scores,
)
from beholder.records import Estimate, Item

REFERENCE, CANDIDATE, ABOUT = "reference_author", "candidate_author", "about"
"""Group columns of a comparison: authors of both texts, and same or other source."""

SAME_SOURCE, OTHER_SOURCE = "same", "other"


@dataclass(frozen=True)
class AuthorPair:
    """One author's texts against another's.

    Attributes:
        reference: Author of the references.
        candidate: Author of the scored texts.
        accuracy: Share of other texts that score below the text about the same source, ties half;
            mean over sources.
        same: Mean value of texts about the same source.
        other: Mean value of texts about other sources.
        n_failed: Comparisons without a score.
    """

    reference: str
    candidate: str
    accuracy: Estimate | None
    same: Estimate | None
    other: Estimate | None
    n_failed: int


@dataclass(frozen=True)
class AuthorsResult:
    """A metric on the suite.

    Attributes:
        metric: Canonical name.
        value: Name of its value.
        signature: Signature of the scores.
        accuracy: Mean over all sources and pairs.
        by_reference: The same for each author whose texts are the references.
        pairs: Per pair of authors.
    """

    metric: str
    value: str
    signature: str
    accuracy: Estimate | None
    by_reference: dict[str, Estimate | None]
    pairs: tuple[AuthorPair, ...]


def comparisons(
    items: Iterable[Item],
    author: str = "system",
    n_others: int = 3,
    seed: int = 0,
) -> Iterator[Item]:
    """Yield the pairs of texts to score.

    Args:
        items: A text each, as candidate, with pictures or a video; group column ``author``.
        author: The column that names who wrote it.
        n_others: Other sources that each text is compared with, at most.
        seed: Of the order in which others are taken.

    Raises:
        ConfigError: A row names no author or no source, an author has two texts about one source,
            or there are fewer than two authors of two sources.
    """
    texts: dict[str, dict[tuple[str, ...], Item]] = {}
    for item in items:
        name = item.group.get(author)
        row = f"row {item.id!r}"
        if name is None:
            raise ConfigError(
                f"{row} does not say who wrote it: group.{author} is missing"
            )
        if not item.images and item.video is None:
            raise ConfigError(
                f"{row} has neither image nor video: which one is it about?"
            )
        by_source = texts.setdefault(name, {})
        if item.source in by_source:
            raise ConfigError(
                f"{name!r} has two texts about {item.source[0]!r}: give one of them"
            )
        by_source[item.source] = item
    rng = np.random.default_rng(seed)
    n = 0
    for first, second in permutations(texts, 2):
        common = [source for source in texts[first] if source in texts[second]]
        # With one common source there is no text about another one.
        if len(common) < 2:
            continue
        # In a ring each text is compared with its followers: no source is left
        # without others, and the number of comparisons is linear.
        ring = [common[i] for i in rng.permutation(len(common))]
        for place, source in enumerate(ring):
            for step in range(min(n_others, len(ring) - 1) + 1):
                n += 1
                about = ring[(place + step) % len(ring)]
                yield _build_comparison(
                    texts[first][source], texts[second][about], first, second
                )
    if not n:
        raise ConfigError(
            f"there are no two authors with texts about the same two sources; {len(texts)} found in"
            f" group.{author}"
        )


def _build_comparison(
    reference: Item, candidate: Item, first: str, second: str
) -> Item:
    # Metrics read the language of a text from its row.
    language = {"language": candidate.language} if candidate.language else {}
    about = (
        SAME_SOURCE if reference.source == candidate.source else OTHER_SOURCE
    )
    return Item(
        id=f"{reference.id}/{candidate.id}",
        candidate=candidate.candidate,
        references=(reference.candidate,),
        images=reference.images,
        video=reference.video,
        group={**language, REFERENCE: first, CANDIDATE: second, ABOUT: about},
    )


def results(
    run: Path, metrics: Sequence[MetricValue], n_resamples: int = 1000
) -> list[AuthorsResult]:
    """Return the results of a run over comparisons.

    Args:
        run: The run directory.
        metrics: Metrics of the run, each with the value that is compared.
        n_resamples: Bootstrap resamples, over sources.
    """
    return [
        _result(*head_and_scores)
        for head_and_scores in read_scores(run, metrics, n_resamples)
    ]


def _result(head: Head, scores: ItemScores) -> AuthorsResult:
    groups = [item.group for item in scores.items]
    # By position of a text about the same source: share of other texts that score below it.
    wins: dict[int, float] = {}
    comparisons = group_by_key(
        ((group[REFERENCE], group[CANDIDATE], scores.items[at].source), at)
        for at, group in enumerate(groups)
        if at in scores.values
    )
    for places in comparisons.values():
        sides = group_by_key((groups[at][ABOUT], at) for at in places)
        # Without a score on one of the sides there is nothing to compare.
        if len(sides) == 2:
            same_scores, other_scores = (
                scores.better(sides[key])
                for key in (SAME_SOURCE, OTHER_SOURCE)
            )
            share = (same_scores > other_scores) + 0.5 * (
                same_scores == other_scores
            )
            wins[sides[SAME_SOURCE][0]] = float(share.mean())
    references = group_by_key(
        (group[REFERENCE], at) for at, group in enumerate(groups)
    )
    pairs = group_by_key(
        ((group[REFERENCE], group[CANDIDATE]), at)
        for at, group in enumerate(groups)
    )

    def mean_about(about: str, places: Sequence[int]) -> Estimate | None:
        places_about = [at for at in places if groups[at][ABOUT] == about]
        return scores.mean(scores.values, places_about)

    return AuthorsResult(
        *head,
        scores.mean(wins),
        {
            name: scores.mean(wins, places)
            for name, places in references.items()
        },
        tuple(
            AuthorPair(
                *pair,
                accuracy=scores.mean(wins, places),
                same=mean_about(SAME_SOURCE, places),
                other=mean_about(OTHER_SOURCE, places),
                n_failed=scores.count_failed(places),
            )
            for pair, places in pairs.items()
        ),
    )

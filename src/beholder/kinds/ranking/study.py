"""The tables of a ranking study: system scores, thresholds, groups, differences, position bias.

Pure: judged images in, typed records out. Intervals are percentile bootstraps over images; sets of
texts in several languages about one image are resampled together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from msgspec import structs

from beholder import stats
from beholder.base.grouping import group_by_key
from beholder.kinds.ranking import results
from beholder.kinds.ranking.rankers import Scored
from beholder.metrics.judged.perplexity import TOKENS
from beholder.records import Reviews, interval_ends
from beholder.stats.annotator_pairs import (
    MODEL,
    THRESHOLDS,
    AnnotatorPair,
    best_pairs,
    complete,
    correlation_with_pairs,
    joined_pair,
    passes_threshold,
)
from beholder.stats.correlation import correlate

_Value: TypeAlias = "Callable[[RankedImage], float | None]"
_Mean: TypeAlias = (
    "Callable[[Sequence[RankedImage], _Value], results.MeanCorrelation]"
)


@dataclass(frozen=True)
class RankedImage:
    """One image of a study, with the rankings of its texts by people and scorers.

    Attributes:
        reviews: Texts and people's ranks.
        people: Complete rankings by annotator.
        pairs: The best-agreeing pairs of annotators; several if they agree equally well.
        scored: Scores by scorer, without scorers that failed on this image.
        failed_requests: Number of failed requests of each judge that failed on this image.
    """

    reviews: Reviews
    people: Mapping[str, tuple[float, ...]]
    pairs: tuple[AnnotatorPair, ...]
    scored: Mapping[str, Scored] = field(default_factory=dict)
    failed_requests: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_reviews(
        cls,
        reviews: Reviews,
        scored: Mapping[str, Scored],
        failed_requests: Mapping[str, int] | None = None,
    ) -> RankedImage:
        """Build an image and find its best-agreeing pairs of annotators."""
        people = complete(reviews.ranks)
        return cls(
            reviews, people, best_pairs(people), scored, failed_requests or {}
        )

    @property
    def pair(self) -> AnnotatorPair | None:
        """Return a best-agreeing pair, or None if no two annotators can be compared."""
        return self.pairs[0] if self.pairs else None

    def agreement(self) -> float | None:
        """Return the agreement of the best pairs, or None."""
        return None if self.pair is None else self.pair.agreement

    def correlation(
        self, scorer: str, value: str | None = None
    ) -> float | None:
        """Return the mean correlation of a scorer with the best pairs; None if undefined."""
        if self.pair is None or scorer not in self.scored:
            return None
        return correlation_with_pairs(
            self.scored[scorer].ranks(value), self.people, self.pairs
        )

    def prompt_correlation(self) -> float | None:
        """Return the mean correlation of the prompt's order with the best pairs, or None."""
        if self.pair is None or self.reviews.prompt_ranks is None:
            return None
        # A prompt that did not ask for every text orders only some of them.
        order = [
            rank for rank in self.reviews.prompt_ranks if rank is not None
        ]
        if len(order) < len(self.reviews.texts):
            return None
        return correlation_with_pairs(order, self.people, self.pairs)

    def reason(self) -> str | None:
        """Return why people's ranks cannot be used, or None if they can."""
        if self.pair is not None:
            return None
        if len(self.people) < 2:
            return f"{len(self.people)} of {len(self.reviews.ranks)} annotators ranked every text"
        return "no two annotators distinguish the texts"


Images: TypeAlias = Sequence[RankedImage]


def study_tables(
    images: Images,
    scorers: Sequence[str],
    *,
    threshold: float | None = 0.6,
    twins: Sequence[tuple[str, str]] = (),
    n_resamples: int = 1000,
) -> results.RankingTables:
    """Return all tables of a study.

    Args:
        images: The judged images.
        scorers: Names, in the order to show them.
        threshold: Least agreement of the best pair of an image in the main tables; None for any.
        twins: Pairs of scorers that differ only in that the second sees no image.
        n_resamples: Bootstrap resamples.
    """
    # Main tables are over the images at the threshold; tables of thresholds, lengths and position
    # bias over all.
    mean = partial(_mean, n_resamples=n_resamples)
    judged_images = [image for image in images if image.pairs]
    kept_images = _images_at_threshold(judged_images, threshold)
    reasons = filter(None, (image.reason() for image in images))
    biases = (position_bias(images, name, n_resamples) for name in scorers)
    return results.RankingTables(
        threshold=threshold,
        n_images=len(images),
        n_judged=len(judged_images),
        n_kept=len(kept_images),
        reasons=dict(Counter(reasons)),
        n_incomplete=sum(
            len(image.reviews.ranks) - len(image.people) for image in images
        ),
        n_with_ties=sum(
            len(set(r)) < len(r) for i in images for r in i.people.values()
        ),
        n_texts=dict(
            Counter(str(len(image.reviews.texts)) for image in images)
        ),
        human=mean(kept_images, RankedImage.agreement),
        kendall_w=mean(kept_images, _concordance),
        scorers=tuple(
            _scorer(name, images, kept_images, mean) for name in scorers
        ),
        thresholds=tuple(_at_thresholds(judged_images, scorers, mean)),
        groups=results.RankingGroups(
            _groups(kept_images, "language", scorers, mean),
            _groups(kept_images, "category", scorers, mean),
        ),
        lengths=tuple(_lengths(images, scorers)),
        differences=tuple(
            _differences(kept_images, scorers, twins, n_resamples)
        ),
        bias=tuple(bias for bias in biases if bias is not None),
        thresholds_by_language=tuple(
            _at_by_language(judged_images, scorers, mean)
        ),
    )


def _at_thresholds(
    judged_images: Images,
    scorers: Sequence[str],
    mean: _Mean,
    language: str = "",
) -> Iterator[results.AtThreshold]:
    for threshold in THRESHOLDS:
        kept_images = _images_at_threshold(judged_images, threshold)
        yield results.AtThreshold(
            threshold,
            len(kept_images),
            mean(kept_images, RankedImage.agreement),
            mean(kept_images, RankedImage.prompt_correlation),
            tuple(_joined_mean(kept_images, name, mean) for name in scorers),
            language,
        )


def _at_by_language(
    judged_images: Images, scorers: Sequence[str], mean: _Mean
) -> Iterator[results.AtThreshold]:
    """Yield the rows of each language, if there are several: publications show them apart."""
    by_language = group_by_key(
        (image.reviews.language, image) for image in judged_images
    )
    if len(by_language) > 1:
        for language, images in by_language.items():
            yield from _at_thresholds(
                images, scorers, mean, language or NO_LANGUAGE
            )


NO_LANGUAGE = "not named"
"""Shown for images without a language where others have one."""


def position_bias(
    images: Images, scorer: str, n_resamples: int = 1000
) -> results.PositionBias | None:
    """Return the correlation, over all requests, of ranks that a judge gave with places of texts.

    Above 0: texts shown first are ranked better. None for scorers that rank without places. Ranks
    and places are relative to the number of texts; whole images are resampled. Failed requests
    are counted, including those for images without a ranking.
    """
    n_lost = sum(image.failed_requests.get(scorer, 0) for image in images)
    requests = []
    for image in images:
        if scorer in image.scored:
            ranking = image.scored[scorer]
            source = image.reviews.source
            requests += [
                (source, order, answer)
                for order, answer in zip(
                    ranking.orders, ranking.answers, strict=True
                )
            ]
    answered_requests = [
        (s, order, answer)
        for s, order, answer in requests
        if not isinstance(answer, str)
    ]
    # Ranks and places both run from 0 to 1, so that sets of few and of many texts can be pooled.
    n_requests = n_lost + len(requests)
    n_failed = n_requests - len(answered_requests)
    if not n_requests:
        return None
    if not answered_requests:
        return results.PositionBias(scorer, None, None, n_requests, n_failed)
    ranks, places, sources = zip(
        *(
            (
                (answer[text] - 1) / (len(order) - 1),
                place / (len(order) - 1),
                source,
            )
            for source, order, answer in answered_requests
            for place, text in enumerate(order)
        ),
        strict=True,
    )
    # Places of one image exclude each other, so whole images are resampled.
    bias = correlate(
        ranks, places, "spearman", clusters=sources, n_resamples=n_resamples
    )
    interval = interval_ends(bias.interval)
    return results.PositionBias(
        scorer, bias.value, interval, n_requests, n_failed, bias.reason
    )


def measured(
    reviews: Reviews, detail: Mapping[str, object]
) -> dict[str, float]:
    """Return the correlation of a ranking with people's; empty if they did not rank the texts.

    Args:
        reviews: The texts about one image.
        detail: Detail of the outcome of a ranker.
    """
    correlation = RankedImage.from_reviews(
        reviews, {"": Scored.from_detail(detail)}
    ).correlation("")
    return {} if correlation is None else {"correlation": correlation}


def _scorer(
    name: str,
    images: Images,
    kept_images: Images,
    mean: _Mean,
) -> results.ScorerMean:
    def correlation(value: str | None = None) -> dict[str, Any]:
        by = partial(RankedImage.correlation, scorer=name, value=value)
        return structs.asdict(mean(kept_images, by))

    scored = [image.scored[name] for image in images if name in image.scored]
    # The first value is the one that ranks; it is in ``correlation()``.
    further_values = list(scored[0].values)[1:] if scored else []
    return results.ScorerMean(
        name,
        **correlation(),
        n_failed=len(images) - len(scored),
        n_level=sum(
            name in i.scored and i.correlation(name) is None
            for i in kept_images
        ),
        values=tuple(
            results.ValueMean(value, **correlation(value))
            for value in further_values
        ),
    )


def _joined_mean(
    kept_images: Images, name: str, mean: _Mean
) -> results.JoinedMean:
    """Return the mean correlation of a scorer, and its agreement as one more annotator."""
    joined_pairs = (
        joined_pair(image.scored[name].ranks(), image.people)
        for image in kept_images
        if name in image.scored
    )
    pairs = [pair for pair in joined_pairs if pair]
    agreement = share = None
    if pairs:
        agreement = float(np.mean([pair.agreement for pair in pairs]))
        share = sum(pair.second == MODEL for pair in pairs) / len(pairs)
    correlation = mean(
        kept_images, partial(RankedImage.correlation, scorer=name)
    )
    return results.JoinedMean(
        name,
        **structs.asdict(correlation),
        with_model=agreement,
        share_in_pair=share,
    )


def _groups(
    images: Images,
    key: str,
    scorers: Sequence[str],
    mean: _Mean,
) -> tuple[results.GroupMeans, ...]:
    groups = _group_by(key, images)
    # No image has a language (or category): a table with one nameless row says nothing.
    if set(groups) <= {""}:
        return ()
    correlations = [
        partial(RankedImage.correlation, scorer=scorer) for scorer in scorers
    ]
    return tuple(
        results.GroupMeans(
            name,
            len(members),
            mean(members, RankedImage.agreement),
            tuple(mean(members, value) for value in correlations),
        )
        for name, members in groups.items()
    )


def _group_by(
    key: str, images: Iterable[RankedImage]
) -> dict[str, list[RankedImage]]:
    """Return the images by ``language`` or ``category``, sorted by name."""
    groups = group_by_key(
        (getattr(image.reviews, key), image) for image in images
    )
    return dict(sorted(groups.items()))


def _lengths(
    images: Images, scorers: Sequence[str]
) -> Iterator[results.TextLengths]:
    """Yield the mean lengths of texts by language, in characters and in tokens of each model."""
    for language, members in _group_by("language", images).items():
        lengths = [
            len(text) for image in members for text in image.reviews.texts
        ]
        # Only perplexity counts tokens.
        counts: dict[str, list[int | float]] = {}
        for name in scorers:
            counts[name] = []
            for image in members:
                if name in image.scored:
                    values = image.scored[name].values
                    counts[name] += values.get(TOKENS, ())
        tokens = {
            name: results.TokenCount(float(np.mean(n)), len(n))
            for name, n in counts.items()
            if n
        }
        yield results.TextLengths(
            language, len(lengths), float(np.mean(lengths)), tokens
        )


def _differences(
    images: Images,
    scorers: Sequence[str],
    twins: Sequence[tuple[str, str]],
    n_resamples: int,
) -> Iterator[results.ScorerDifference]:
    """Yield each scorer against the first, and each with an image against its twin without."""
    # A twin of the first scorer is in both lists and gets one row.
    for a, b in dict.fromkeys(
        [*twins, *((scorers[0], name) for name in scorers[1:])]
    ):
        paired_scores = []
        for image in images:
            x, y = image.correlation(a), image.correlation(b)
            if x is not None and y is not None:
                paired_scores.append((x, y, image.reviews.source))
        row = results.ScorerDifference(
            a=a, b=b, image_gain=(a, b) in twins, n=len(paired_scores)
        )
        if paired_scores:
            first, second, sources = zip(*paired_scores, strict=True)
            comparison = stats.paired_difference(
                first, second, clusters=sources, n_resamples=n_resamples
            )
            interval = interval_ends(comparison.interval)
            row = structs.replace(
                row,
                difference=comparison.mean,
                interval=interval,
                p=comparison.p_value,
                reason=comparison.reason,
            )
        yield row


def _mean(
    images: Images, value: _Value, n_resamples: int
) -> results.MeanCorrelation:
    values_and_sources = []
    for image in images:
        number = value(image)
        if number is not None:
            values_and_sources.append((number, image.reviews.source))
    if not values_and_sources:
        return results.MeanCorrelation(mean=None, interval=None, n=0)
    values, sources = zip(*values_and_sources, strict=True)
    mean = stats.mean_interval(
        values, clusters=sources, n_resamples=n_resamples
    )
    return results.MeanCorrelation(
        mean=mean.mean,
        interval=interval_ends(mean.interval),
        n=mean.n,
        reason=mean.reason,
    )


def _images_at_threshold(
    judged_images: Images, threshold: float | None
) -> list[RankedImage]:
    return [
        image
        for image in judged_images
        if image.pair and passes_threshold(image.pair.agreement, threshold)
    ]


def _concordance(image: RankedImage) -> float | None:
    if len(image.people) < 2:
        return None
    table = np.array(list(image.people.values())).T
    # The interval of one image is not used, so it is not computed.
    return stats.kendall_w(table, n_resamples=1).value

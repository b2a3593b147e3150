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
from beholder.base.grouping import by_key
from beholder.kinds.ranking import results
from beholder.kinds.ranking.rankers import Scored
from beholder.metrics.judged.perplexity import TOKENS
from beholder.records import Reviews, ends_of
from beholder.stats.annotator_pairs import (
    MODEL,
    THRESHOLDS,
    AnnotatorPair,
    best_pairs,
    complete,
    correlation_with_pairs,
    joined_pair,
    kept,
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
        scored: What each scorer found; without scorers that failed on this image.
        failed_requests: Number of failed requests of each judge that failed on this image.
    """

    reviews: Reviews
    people: Mapping[str, tuple[float, ...]]
    pairs: tuple[AnnotatorPair, ...]
    scored: Mapping[str, Scored] = field(default_factory=dict)
    failed_requests: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        reviews: Reviews,
        scored: Mapping[str, Scored],
        failed_requests: Mapping[str, int] | None = None,
    ) -> RankedImage:
        """An image with its best pairs found."""
        people = complete(reviews.ranks)
        return cls(
            reviews, people, best_pairs(people), scored, failed_requests or {}
        )

    @property
    def pair(self) -> AnnotatorPair | None:
        """A best-agreeing pair, or None."""
        return self.pairs[0] if self.pairs else None

    def agreement(self) -> float | None:
        """Agreement of the best pairs, or None."""
        return None if self.pair is None else self.pair.agreement

    def correlation(
        self, scorer: str, value: str | None = None
    ) -> float | None:
        """Mean correlation of a scorer with the best pairs; None if undefined."""
        if self.pair is None or scorer not in self.scored:
            return None
        return correlation_with_pairs(
            self.scored[scorer].ranks(value), self.people, self.pairs
        )

    def prompt_correlation(self) -> float | None:
        """Mean correlation of the prompt's order with the best pairs."""
        if self.pair is None or self.reviews.prompt_ranks is None:
            return None
        order = [
            rank for rank in self.reviews.prompt_ranks if rank is not None
        ]
        if len(order) < len(self.reviews.texts):
            return None
        return correlation_with_pairs(order, self.people, self.pairs)

    def reason(self) -> str | None:
        """Why people's ranks cannot be used, or None."""
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
    mean = partial(_mean, n_resamples=n_resamples)
    judged = [image for image in images if image.pairs]
    chosen = _kept(judged, threshold)
    reasons = filter(None, (image.reason() for image in images))
    biases = (position_bias(images, name, n_resamples) for name in scorers)
    return results.RankingTables(
        threshold=threshold,
        n_images=len(images),
        n_judged=len(judged),
        n_kept=len(chosen),
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
        human=mean(chosen, RankedImage.agreement),
        kendall_w=mean(chosen, _concordance),
        scorers=tuple(_scorer(name, images, chosen, mean) for name in scorers),
        thresholds=tuple(_at_thresholds(judged, scorers, mean)),
        groups=results.RankingGroups(
            _groups(chosen, "language", scorers, mean),
            _groups(chosen, "category", scorers, mean),
        ),
        lengths=tuple(_lengths(images, scorers)),
        differences=tuple(_differences(chosen, scorers, twins, n_resamples)),
        bias=tuple(bias for bias in biases if bias is not None),
        thresholds_by_language=tuple(_at_by_language(judged, scorers, mean)),
    )


def _at_thresholds(
    judged: Images,
    scorers: Sequence[str],
    mean: _Mean,
    language: str = "",
) -> Iterator[results.AtThreshold]:
    for threshold in THRESHOLDS:
        left = _kept(judged, threshold)
        yield results.AtThreshold(
            threshold,
            len(left),
            mean(left, RankedImage.agreement),
            mean(left, RankedImage.prompt_correlation),
            tuple(_joined(left, name, mean) for name in scorers),
            language,
        )


def _at_by_language(
    judged: Images, scorers: Sequence[str], mean: _Mean
) -> Iterator[results.AtThreshold]:
    """The rows of each language, if there are several: thresholds are published by language."""
    by_language = by_key((image.reviews.language, image) for image in judged)
    if len(by_language) > 1:
        for language, images in by_language.items():
            yield from _at_thresholds(
                images, scorers, mean, language or NO_LANGUAGE
            )


NO_LANGUAGE = "not named"
"""Language of images that name none, beside others that do."""


def position_bias(
    images: Images, scorer: str, n_resamples: int = 1000
) -> results.PositionBias | None:
    """Correlation, over all requests, of the rank a judge gave with the place of the text.

    Above 0: texts shown first are ranked better. None for scorers that rank without places. Ranks
    and places are relative to the number of texts; whole images are resampled. Failed requests
    are counted, including those for images without a ranking.
    """
    lost = sum(image.failed_requests.get(scorer, 0) for image in images)
    asked = [
        (image.reviews.source, order, answer)
        for image in images
        if (found := image.scored.get(scorer)) is not None
        for order, answer in zip(found.orders, found.answers, strict=True)
    ]
    answered = [
        (s, order, answer)
        for s, order, answer in asked
        if not isinstance(answer, str)
    ]
    n_requests = lost + len(asked)
    n_failed = n_requests - len(answered)
    if not n_requests:
        return None
    if not answered:
        return results.PositionBias(scorer, None, None, n_requests, n_failed)
    ranks, places, sources = zip(
        *(
            (
                (answer[text] - 1) / (len(order) - 1),
                place / (len(order) - 1),
                source,
            )
            for source, order, answer in answered
            for place, text in enumerate(order)
        ),
        strict=True,
    )
    bias = correlate(
        ranks, places, "spearman", clusters=sources, n_resamples=n_resamples
    )
    interval = ends_of(bias.interval)
    return results.PositionBias(
        scorer, bias.value, interval, n_requests, n_failed, bias.reason
    )


def measured(
    reviews: Reviews, detail: Mapping[str, object]
) -> dict[str, float]:
    """Correlation of a ranking with people's; empty if they did not rank the texts.

    Args:
        reviews: The texts about one image.
        detail: Detail of the outcome of a ranker.
    """
    found = RankedImage.of(reviews, {"": Scored.of(detail)}).correlation("")
    return {} if found is None else {"correlation": found}


def _scorer(
    name: str,
    images: Images,
    chosen: Images,
    mean: _Mean,
) -> results.ScorerMean:
    def correlation(value: str | None = None) -> dict[str, Any]:
        by = partial(RankedImage.correlation, scorer=name, value=value)
        return structs.asdict(mean(chosen, by))

    found = [image.scored[name] for image in images if name in image.scored]
    further = list(found[0].values)[1:] if found else []
    return results.ScorerMean(
        name,
        **correlation(),
        n_failed=len(images) - len(found),
        n_level=sum(
            name in i.scored and i.correlation(name) is None for i in chosen
        ),
        values=tuple(
            results.ValueMean(value, **correlation(value)) for value in further
        ),
    )


def _joined(left: Images, name: str, mean: _Mean) -> results.JoinedMean:
    """Return the mean correlation of a scorer, and its agreement as one more annotator."""
    pairs = [
        pair
        for image in left
        if name in image.scored
        and (pair := joined_pair(image.scored[name].ranks(), image.people))
    ]
    correlation = mean(left, partial(RankedImage.correlation, scorer=name))
    return results.JoinedMean(
        name,
        **structs.asdict(correlation),
        with_model=float(np.mean([pair.agreement for pair in pairs]))
        if pairs
        else None,
        share_in_pair=sum(pair.second == MODEL for pair in pairs) / len(pairs)
        if pairs
        else None,
    )


def _groups(
    images: Images,
    key: str,
    scorers: Sequence[str],
    mean: _Mean,
) -> tuple[results.GroupMeans, ...]:
    groups = _by(key, images)
    if set(groups) <= {""}:
        return ()
    by = [
        partial(RankedImage.correlation, scorer=scorer) for scorer in scorers
    ]
    return tuple(
        results.GroupMeans(
            name,
            len(members),
            mean(members, RankedImage.agreement),
            tuple(mean(members, value) for value in by),
        )
        for name, members in groups.items()
    )


def _by(
    key: str, images: Iterable[RankedImage]
) -> dict[str, list[RankedImage]]:
    """Images by ``language`` or ``category``."""
    found = by_key((getattr(image.reviews, key), image) for image in images)
    return dict(sorted(found.items()))


def _lengths(
    images: Images, scorers: Sequence[str]
) -> Iterator[results.TextLengths]:
    """Lengths of the texts of each language: in characters, and in tokens of each model."""
    for language, members in _by("language", images).items():
        lengths = [
            len(text) for image in members for text in image.reviews.texts
        ]
        counts = {
            name: [
                count
                for image in members
                if name in image.scored
                for count in image.scored[name].values.get(TOKENS, ())
            ]
            for name in scorers
        }
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
    """Each scorer against the first, and each with an image against its twin without."""
    for a, b in dict.fromkeys(
        [*twins, *((scorers[0], other) for other in scorers[1:])]
    ):
        both = [
            (x, y, image.reviews.source)
            for image in images
            if (x := image.correlation(a)) is not None
            and (y := image.correlation(b)) is not None
        ]
        row = results.ScorerDifference(
            a=a, b=b, image_gain=(a, b) in twins, n=len(both)
        )
        if both:
            first, second, sources = zip(*both, strict=True)
            found = stats.paired_difference(
                first, second, clusters=sources, n_resamples=n_resamples
            )
            interval = ends_of(found.interval)
            row = structs.replace(
                row,
                difference=found.mean,
                interval=interval,
                p=found.p_value,
                reason=found.reason,
            )
        yield row


def _mean(
    images: Images, value: _Value, n_resamples: int
) -> results.MeanCorrelation:
    found = [
        (v, i.reviews.source) for i in images if (v := value(i)) is not None
    ]
    if not found:
        return results.MeanCorrelation(mean=None, interval=None, n=0)
    values, sources = zip(*found, strict=True)
    mean = stats.mean_interval(
        values, clusters=sources, n_resamples=n_resamples
    )
    return results.MeanCorrelation(
        mean=mean.mean,
        interval=ends_of(mean.interval),
        n=mean.n,
        reason=mean.reason,
    )


def _kept(judged: Images, threshold: float | None) -> list[RankedImage]:
    return [
        image
        for image in judged
        if image.pair and kept(image.pair.agreement, threshold)
    ]


def _concordance(image: RankedImage) -> float | None:
    table = np.array(list(image.people.values())).T
    return (
        stats.kendall_w(table, n_resamples=1).value
        if len(image.people) >= 2
        else None
    )

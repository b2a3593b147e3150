"""The tables of a ranking study: system scores, thresholds, groups, differences, position bias.

Pure: judged images in, JSON values out. Intervals are percentile bootstraps over images; sets of
texts in several languages about one image are drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from beholder.kinds.ranking.scored import Scored
from beholder.metrics.judged.perplexity import TOKENS
from beholder.records import Interval, Reviews
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
from beholder.stats.bootstrap import mean_interval
from beholder.stats.checks import cluster_codes
from beholder.stats.correlation import correlate
from beholder.stats.paired import paired_difference
from beholder.stats.reliability import kendall_w


@dataclass(frozen=True)
class RankedImage:
    """One image of a study, with what people and scorers say of its texts.

    Attributes:
        reviews: Texts and people's ranks.
        people: Complete rankings by annotator.
        pairs: The best-agreeing pairs of annotators; several where they agree equally well.
        scored: Per scorer what it found; scorers that failed here are not in it.
        failed_requests: Per judge that failed here, how many requests came to nothing.
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
        return cls(reviews, people, best_pairs(people), scored, failed_requests or {})

    @property
    def pair(self) -> AnnotatorPair | None:
        """A best-agreeing pair, for its agreement; None where there is none."""
        return self.pairs[0] if self.pairs else None

    def correlation(self, scorer: str, value: str | None = None) -> float | None:
        """Mean correlation of a scorer with the best pairs; None where there is none."""
        if self.pair is None or scorer not in self.scored:
            return None
        return correlation_with_pairs(self.scored[scorer].ranks(value), self.people, self.pairs)

    def prompt_correlation(self) -> float | None:
        """Mean correlation of the prompt's order with the best pairs."""
        if self.pair is None or self.reviews.prompt_ranks is None:
            return None
        order = [rank for rank in self.reviews.prompt_ranks if rank is not None]
        if len(order) < len(self.reviews.texts):
            return None
        return correlation_with_pairs(order, self.people, self.pairs)

    def reason(self) -> str | None:
        """Why people's ranks cannot be used, or None."""
        if self.pair is not None:
            return None
        if len(self.people) < 2:
            return f"{len(self.people)} of {len(self.reviews.ranks)} annotators ranked every text"
        return "no two annotators tell the texts apart"


def study_tables(
    images: Sequence[RankedImage],
    scorers: Sequence[str],
    *,
    threshold: float | None = 0.6,
    twins: Sequence[tuple[str, str]] = (),
    n_resamples: int = 1000,
) -> dict[str, Any]:
    """All tables of a study.

    Args:
        images: The judged images.
        scorers: Names, in the order to show them.
        threshold: Images of the main tables: those whose best pair agrees at least so well.
        twins: Pairs of scorers that differ only in that the second sees no image.
        n_resamples: Bootstrap resamples.
    """
    judged = [image for image in images if image.pair is not None]
    chosen = [i for i in judged if i.pair is not None and kept(i.pair.agreement, threshold)]

    def mean(
        of: Sequence[RankedImage], value: Callable[[RankedImage], float | None]
    ) -> dict[str, Any]:
        return _estimate(of, value, n_resamples)

    return {
        "threshold": threshold,
        "n_images": len(images),
        "n_judged": len(judged),
        "n_kept": len(chosen),
        "reasons": _counts(image.reason() for image in images),
        "n_incomplete": sum(len(i.reviews.ranks) - len(i.people) for i in images),
        "n_with_ties": sum(len(set(r)) < len(r) for i in images for r in i.people.values()),
        "n_texts": _counts(str(len(image.reviews.texts)) for image in images),
        "human": mean(chosen, _human),
        "kendall_w": mean(chosen, _concordance),
        "scorers": [
            {
                "scorer": name,
                **mean(chosen, partial(RankedImage.correlation, scorer=name)),
                "n_failed": sum(name not in image.scored for image in images),
                "n_level": sum(
                    name in image.scored and image.correlation(name) is None for image in chosen
                ),
                "values": [
                    {
                        "value": value,
                        **mean(chosen, partial(RankedImage.correlation, scorer=name, value=value)),
                    }
                    for value in _values(images, name)[1:]
                ],
            }
            for name in scorers
        ],
        "thresholds": [_at(judged, limit, scorers, mean) for limit in THRESHOLDS],
        "groups": {
            kind: _groups(chosen, key, scorers, mean)
            for kind, key in (("language", _language), ("category", _category))
        },
        "lengths": _lengths(images, scorers),
        "differences": _differences(chosen, scorers, twins, n_resamples),
        "bias": [bias for name in scorers if (bias := position_bias(images, name, n_resamples))],
    }


def position_bias(
    images: Sequence[RankedImage], scorer: str, n_resamples: int = 1000
) -> dict[str, Any] | None:
    """Correlation, over all requests, of the rank a judge gave with the place it was shown at.

    Above 0: what is shown first is ranked better. None for scorers that rank without places.
    Ranks and places are taken relative to the number of texts; whole images are resampled.
    Requests that failed are counted, also those of images on which the judge failed altogether.
    """
    ranks: list[float] = []
    places: list[float] = []
    clusters: list[str] = []
    n_requests = n_failed = 0
    for image in images:
        lost = image.failed_requests.get(scorer, 0)
        n_requests += lost
        n_failed += lost
        found = image.scored.get(scorer)
        if found is None:
            continue
        n_requests += len(found.orders)
        for order, answer in zip(found.orders, found.answers, strict=True):
            if isinstance(answer, str):
                n_failed += 1
                continue
            for place, text in enumerate(order):
                places.append(place / (len(order) - 1))
                ranks.append((answer[text] - 1) / (len(order) - 1))
                clusters.append(image.reviews.source)
    if not n_requests:
        return None
    bias = (
        correlate(ranks, places, "spearman", clusters=clusters, n_resamples=n_resamples)
        if ranks
        else None
    )
    return {
        "scorer": scorer,
        "value": bias.value if bias else None,
        "interval": _interval(bias.interval) if bias else None,
        "n_requests": n_requests,
        "n_failed": n_failed,
    }


def _at(
    judged: Sequence[RankedImage],
    threshold: float | None,
    scorers: Sequence[str],
    mean: Callable[[Sequence[RankedImage], Callable[[RankedImage], float | None]], dict[str, Any]],
) -> dict[str, Any]:
    left = [i for i in judged if i.pair is not None and kept(i.pair.agreement, threshold)]
    rows = []
    for name in scorers:
        joined = [
            pair
            for image in left
            if name in image.scored
            and (pair := joined_pair(image.scored[name].ranks(), image.people)) is not None
        ]
        in_pair = sum(pair.second == MODEL for pair in joined)
        rows.append(
            {
                "scorer": name,
                **mean(left, partial(RankedImage.correlation, scorer=name)),
                "with_model": (
                    float(np.mean([pair.agreement for pair in joined])) if joined else None
                ),
                "share_in_pair": in_pair / len(joined) if joined else None,
            }
        )
    return {
        "threshold": threshold,
        "n": len(left),
        "human": mean(left, _human),
        "prompt": mean(left, RankedImage.prompt_correlation),
        "scorers": rows,
    }


def _groups(
    images: Sequence[RankedImage],
    key: Callable[[RankedImage], str],
    scorers: Sequence[str],
    mean: Callable[[Sequence[RankedImage], Callable[[RankedImage], float | None]], dict[str, Any]],
) -> list[dict[str, Any]]:
    groups: dict[str, list[RankedImage]] = {}
    for image in images:
        groups.setdefault(key(image), []).append(image)
    if set(groups) <= {""}:
        return []
    return [
        {
            "group": name,
            "n": len(members),
            "human": mean(members, _human),
            "scorers": [
                mean(members, partial(RankedImage.correlation, scorer=scorer)) for scorer in scorers
            ],
        }
        for name, members in sorted(groups.items())
    ]


def _lengths(images: Sequence[RankedImage], scorers: Sequence[str]) -> list[dict[str, Any]]:
    """How long the texts of each language are: in characters, and in tokens of each model."""
    languages: dict[str, list[RankedImage]] = {}
    for image in images:
        languages.setdefault(image.reviews.language, []).append(image)
    rows = []
    for language, members in sorted(languages.items()):
        lengths = [len(text) for image in members for text in image.reviews.texts]
        row: dict[str, Any] = {
            "language": language,
            "n_texts": len(lengths),
            "characters": float(np.mean(lengths)),
            "tokens": {},
        }
        for name in scorers:
            counts = [
                count
                for image in members
                if name in image.scored
                for count in image.scored[name].values.get(TOKENS, ())
            ]
            if counts:
                row["tokens"][name] = {"mean": float(np.mean(counts)), "n_texts": len(counts)}
        rows.append(row)
    return rows


def _differences(
    images: Sequence[RankedImage],
    scorers: Sequence[str],
    twins: Sequence[tuple[str, str]],
    n_resamples: int,
) -> list[dict[str, Any]]:
    """Every scorer against the first, and each with an image against its twin without."""
    pairs = [*twins, *((scorers[0], other) for other in scorers[1:])]
    rows = []
    for a, b in dict.fromkeys(pairs):
        both = [
            (x, y, image.reviews.source)
            for image in images
            if (x := image.correlation(a)) is not None and (y := image.correlation(b)) is not None
        ]
        row: dict[str, Any] = {"a": a, "b": b, "image_gain": (a, b) in twins, "n": len(both)}
        if both:
            found = paired_difference(
                [x for x, _, _ in both],
                [y for _, y, _ in both],
                clusters=[source for _, _, source in both],
                n_resamples=n_resamples,
            )
            row |= {"difference": found.mean, "interval": _interval(found.interval)}
            row["p"] = found.p_value
        rows.append(row)
    return rows


def _estimate(
    images: Sequence[RankedImage], value: Callable[[RankedImage], float | None], n_resamples: int
) -> dict[str, Any]:
    found = [(v, i.reviews.source) for i in images if (v := value(i)) is not None]
    if not found:
        return {"mean": None, "interval": None, "n": 0}
    clusters = cluster_codes([source for _, source in found], len(found))
    estimate = mean_interval([v for v, _ in found], clusters=clusters, n_resamples=n_resamples)
    return {
        "mean": estimate.mean,
        "interval": _interval(estimate.interval),
        "n": estimate.n,
    }


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _human(image: RankedImage) -> float | None:
    return None if image.pair is None else image.pair.agreement


def _concordance(image: RankedImage) -> float | None:
    table = np.array(list(image.people.values())).T
    return kendall_w(table, n_resamples=1).value if len(image.people) >= 2 else None


def _language(image: RankedImage) -> str:
    return image.reviews.language


def _category(image: RankedImage) -> str:
    return image.reviews.category


def _values(images: Sequence[RankedImage], scorer: str) -> list[str]:
    return next((list(i.scored[scorer].values) for i in images if scorer in i.scored), [])


def _counts(words: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        if word is not None:
            found[word] = found.get(word, 0) + 1
    return found


def measured(reviews: Reviews, detail: Mapping[str, Any]) -> dict[str, float]:
    """How well a ranking follows people's; empty where they did not rank the texts.

    Args:
        reviews: The texts about one image.
        detail: What a ranker found, as its outcome keeps it.
    """
    found = RankedImage.of(reviews, {"": Scored.of(detail)}).correlation("")
    return {} if found is None else {"correlation": found}

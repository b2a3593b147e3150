"""People's ratings of both kinds of texts, and how well the scores agree with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from msgspec import Struct

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    Direction,
    Mean,
    PairGroup,
    Pairs,
    Pictures,
    Scores,
    TextPair,
    Texts,
    count_pictures,
    directions,
    interval_heading,
    mean_of,
    ordered,
    pair_table,
    sets,
    split,
    systems,
)
from beholder.kinds.bidirectional.scores import VALUES
from beholder.records import Estimate
from beholder.stats.bootstrap import cluster_bootstrap, describe_few_sources
from beholder.stats.checks import cluster_codes, n_clusters
from beholder.stats.correlation import Correlation
from beholder.tables import Table, heading


def rated_texts(group: PairGroup) -> dict[str, Scores]:
    """Return pictures with ratings, each rating once, by author of the text: people first."""
    # Each item repeats the ratings of the same human text; the key leaves one of them.
    human = {
        (p.image, p.references): p.human_ratings
        for p in group.pairs
        if p.human_ratings
    }
    ratings_by_author = {
        "people": [
            (image, r)
            for (image, _), ratings in human.items()
            for r in ratings
        ]
    }
    for part in systems(group):
        ratings_by_author[str(part.place["system"])] = [
            (pair.image, rating)
            for pair in part.pairs
            for rating in pair.model_ratings
        ]
    return {
        who: ratings for who, ratings in ratings_by_author.items() if ratings
    }


class RatingRow(Struct, frozen=True):
    """People's ratings of the texts of one author."""

    who: Annotated[str, heading("Text by", "text")]
    n: Annotated[int, heading("Ratings", "count")]
    n_images: Pictures
    mean: Annotated[Mean, interval_heading("Mean")]
    median: Annotated[float, heading("Median")]
    sd: Annotated[float | None, heading("SD")]


def rating_table(pairs: Pairs) -> Table:
    """Return the ratings of people's texts and of each system's."""
    return pair_table(
        "ratings",
        "People's ratings",
        RatingRow,
        pairs,
        (sets,),
        _ratings,
        [
            "Intervals resample pictures: ratings of one picture are not independent."
        ],
    )


def _ratings(group: PairGroup) -> Iterator[RatingRow]:
    for author, ratings in rated_texts(group).items():
        values = [rating for _, rating in ratings]
        yield RatingRow(
            who=author,
            n=len(ratings),
            n_images=count_pictures(ratings),
            mean=mean_of(ratings),
            median=float(np.median(values)),
            sd=float(np.std(values, ddof=1)) if len(values) > 1 else None,
        )


class GapRow(Struct, frozen=True):
    """The median difference of the ratings of two texts about one picture."""

    n: Annotated[int, heading("Differences", "count")]
    n_images: Pictures
    median: Annotated[
        Estimate, interval_heading("Median difference", "signed")
    ]


def gap_table(pairs: Pairs, categories: Sequence[str]) -> Table:
    """Return the median difference, rating of the model's text minus people's, per category."""

    def parts(group: PairGroup) -> Iterator[PairGroup]:
        yield group.part(group.pairs, category="all")
        for name in categories:
            yield group.part(
                [p for p in group.pairs if p.category == name], category=name
            )

    note = (
        "The ratings of people who rated both texts differ one by one; raters without names are"
        " taken to be in the same order where both texts have equally many ratings. Otherwise the"
        " two means differ. Intervals of the median resample pictures."
    )
    return pair_table(
        "rating_gaps",
        "Ratings: model minus people",
        GapRow,
        pairs,
        (sets, systems, parts),
        _median_gap,
        [note],
    )


def _median_gap(group: PairGroup) -> Iterator[GapRow]:
    gaps = [(pair.image, gap) for pair in group.pairs for gap in _gaps(pair)]
    if gaps:
        # Ratings are ordinal, so the median; its interval resamples pictures, not ratings.
        values = np.array([gap for _, gap in gaps])
        codes = cluster_codes([image for image, _ in gaps], len(values))
        interval = cluster_bootstrap(
            lambda rows: float(np.median(values[rows])), codes
        )
        reason = describe_few_sources(n_clusters(codes))
        median = Estimate(
            float(np.median(values)), interval, len(gaps), reason
        )
        yield GapRow(n=len(gaps), n_images=count_pictures(gaps), median=median)


def _gaps(pair: TextPair) -> list[float]:
    """Return rating of the model's text minus rating of people's, by rater where possible."""
    model, human = pair.model_ratings, pair.human_ratings
    if not (model and human):
        return []
    if pair.model_raters and pair.human_raters:
        by_rater = dict(zip(pair.human_raters, human, strict=True))
        model_by_rater = zip(pair.model_raters, model, strict=True)
        # Without a rater of both texts only the means can be compared.
        if gaps := [
            value - by_rater[name]
            for name, value in model_by_rater
            if name in by_rater
        ]:
            return gaps
    elif len(model) == len(human):
        return [a - b for a, b in zip(model, human, strict=True)]
    return [float(np.mean(model) - np.mean(human))]


class CorrelationRow(Struct, frozen=True):
    """Agreement of a measure with people's ratings."""

    n: Texts
    n_images: Pictures
    rho: Annotated[Correlation, interval_heading("Spearman's rho", "signed")]
    p: Annotated[float | None, heading("p", "p")]


def correlation_table(pairs: Pairs) -> Table:
    """Return Spearman's rho of each measure with the rating of the text it judges.

    All measures of one data set, language and direction are over the same texts: those for which
    each of them has a value.
    """
    parts = split(PairGroup(pairs), (sets, directions))
    return pair_table(
        "correlations",
        "Agreement with people's ratings",
        CorrelationRow,
        pairs,
        (sets, directions, _measures),
        _rho,
        [
            "HAR: with the mean rating of the model's text; MAR: with that of people's text. In MAR"
            " the other metrics score people's text against the model's, too; of several"
            " references, the one that DCScore's value is about.",
            "All measures of a direction are over the same texts: those that each has a value for.",
            *filter(None, map(_note_left_out, parts)),
            "Intervals resample pictures; p takes texts as independent.",
        ],
    )


def _values(pair: TextPair, direction: Direction) -> dict[str, float]:
    """Return the value of each measure of a pair that has one."""
    values = {name: pair.value(direction, name) for name in VALUES}
    scores = {
        name: value for name, value in values.items() if value is not None
    }
    return {**scores, **pair.other_scores.get(direction, {})}


def _ratings_of(pair: TextPair, direction: Direction) -> tuple[float, ...]:
    return pair.model_ratings if direction == "har" else pair.human_ratings


def _rated_pairs(
    group: PairGroup,
) -> tuple[list[TextPair], list[TextPair], list[str]]:
    """Return rated pairs with any value, those with every value, and the measures."""
    direction = group.direction
    rated_pairs = [
        pair
        for pair in group.pairs
        if _ratings_of(pair, direction) and _values(pair, direction)
    ]
    measures = ordered(
        name for pair in rated_pairs for name in _values(pair, direction)
    )
    return (
        rated_pairs,
        [
            pair
            for pair in rated_pairs
            if len(_values(pair, direction)) == len(measures)
        ],
        measures,
    )


def _measures(group: PairGroup) -> Iterator[PairGroup]:
    _, shared, measures = _rated_pairs(group)
    for name in measures if shared else ():
        yield group.part(shared, measure=name)


def _rho(group: PairGroup) -> Iterator[CorrelationRow]:
    direction, measure = group.direction, str(group.place["measure"])
    images = [pair.image for pair in group.pairs]
    values = [_values(pair, direction)[measure] for pair in group.pairs]
    ratings = [
        float(np.mean(_ratings_of(pair, direction))) for pair in group.pairs
    ]
    rho = stats.spearman(values, ratings, clusters=images)
    yield CorrelationRow(
        n=len(images), n_images=len(set(images)), rho=rho, p=rho.p_value
    )


def _note_left_out(group: PairGroup) -> str | None:
    """Return a note on rated texts without a measure, or None if all have every measure."""
    rated_pairs, shared, measures = _rated_pairs(group)
    if len(shared) == len(rated_pairs):
        return None
    # The reader must see which measure costs the texts: often an encoder of one language.
    counts = {
        name: sum(
            name in _values(pair, group.direction) for pair in rated_pairs
        )
        for name in measures
    }
    incomplete = [
        f"{name} has {n}" for name, n in counts.items() if n < len(rated_pairs)
    ]
    where = "".join(
        f"{group.place[key]}, "
        for key in ("dataset", "language")
        if group.place[key]
    )
    return (
        f"{where}{group.direction.upper()}: {len(shared)} of {len(rated_pairs)} rated texts have"
        f" every measure ({', '.join(incomplete)})."
    )

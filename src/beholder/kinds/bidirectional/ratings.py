"""People's ratings of both kinds of texts, and how well the scores agree with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    TABLES,
    Cells,
    Direction,
    PairGroup,
    Scores,
    TextPair,
    counted,
    directions,
    grouped,
    mean_cells,
    ordered,
    sets,
    split,
    systems,
)
from beholder.kinds.bidirectional.scores import VALUES
from beholder.stats.bootstrap import cluster_bootstrap, describe_few_sources
from beholder.stats.checks import cluster_codes, n_clusters
from beholder.tables import Table, interval_cells


def rated_texts(group: PairGroup) -> dict[str, Scores]:
    """Picture and rating, each rating once, by author of the text: people first."""
    human = {(p.image, p.references): p.human_ratings for p in group.pairs if p.human_ratings}
    found = {"people": [(image, r) for (image, _), ratings in human.items() for r in ratings]}
    for part in systems(group):
        found[str(part.place["system"])] = [
            (pair.image, rating) for pair in part.pairs for rating in pair.model_ratings
        ]
    return {who: ratings for who, ratings in found.items() if ratings}


def rating_table(pairs: Sequence[TextPair]) -> Table:
    """Ratings of people's texts and of each system's."""
    return TABLES["ratings"].of(grouped(pairs, (sets,), _ratings))


def _ratings(group: PairGroup) -> Iterator[Cells]:
    for who, ratings in rated_texts(group).items():
        values = [rating for _, rating in ratings]
        yield {
            "who": who,
            **counted(ratings),
            **mean_cells("mean", ratings),
            "median": float(np.median(values)),
            "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        }


def gap_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Median difference, rating of the model's text minus that of people's, per category."""

    def parts(group: PairGroup) -> Iterator[PairGroup]:
        yield group.part(group.pairs, category="all")
        for name in categories:
            yield group.part([p for p in group.pairs if p.category == name], category=name)

    return TABLES["rating_gaps"].of(grouped(pairs, (sets, systems, parts), _median_gap))


def _median_gap(group: PairGroup) -> Iterator[Cells]:
    gaps = [(pair.image, gap) for pair in group.pairs for gap in _gaps(pair)]
    if gaps:
        values = np.array([gap for _, gap in gaps])
        codes = cluster_codes([image for image, _ in gaps], len(values))
        interval = cluster_bootstrap(lambda rows: float(np.median(values[rows])), codes)
        median, few = float(np.median(values)), describe_few_sources(n_clusters(codes))
        yield {**counted(gaps), "median": median, **interval_cells("median", interval, few)}


def _gaps(pair: TextPair) -> list[float]:
    model, human = pair.model_ratings, pair.human_ratings
    if not (model and human):
        return []
    if pair.model_raters and pair.human_raters:
        by_rater = dict(zip(pair.human_raters, human, strict=True))
        rated = zip(pair.model_raters, model, strict=True)
        if gaps := [value - by_rater[name] for name, value in rated if name in by_rater]:
            return gaps
    elif len(model) == len(human):
        return [a - b for a, b in zip(model, human, strict=True)]
    return [float(np.mean(model) - np.mean(human))]


def correlation_table(pairs: Sequence[TextPair]) -> Table:
    """Spearman's rho of each measure with the rating of the text it judges.

    All measures of one data set, language and direction are over the same texts: those for which
    each of them has a value.
    """
    rows = grouped(pairs, (sets, directions, _measures), _rho)
    lost = filter(None, map(_lost, split(PairGroup(pairs), (sets, directions))))
    last = "Intervals resample pictures; p takes texts as independent."
    return TABLES["correlations"].of(rows, (*lost, last))


def _values(pair: TextPair, direction: Direction) -> dict[str, float]:
    """What each measure says of a pair."""
    own = {name: v for name in VALUES if (v := pair.value(direction, name)) is not None}
    return {**own, **pair.others.get(direction, {})}


def _ratings_of(pair: TextPair, direction: Direction) -> tuple[float, ...]:
    return pair.model_ratings if direction == "har" else pair.human_ratings


def _measured(group: PairGroup) -> tuple[list[TextPair], list[TextPair], list[str]]:
    """Rated pairs with any value, those with every value, and the measures by appearance."""
    way = group.direction
    rated = [pair for pair in group.pairs if _ratings_of(pair, way) and _values(pair, way)]
    measures = ordered(name for pair in rated for name in _values(pair, way))
    return rated, [pair for pair in rated if len(_values(pair, way)) == len(measures)], measures


def _measures(group: PairGroup) -> Iterator[PairGroup]:
    _, shared, measures = _measured(group)
    for name in measures if shared else ():
        yield group.part(shared, measure=name)


def _rho(group: PairGroup) -> Iterator[Cells]:
    way, measure = group.direction, str(group.place["measure"])
    images = [pair.image for pair in group.pairs]
    values = [_values(pair, way)[measure] for pair in group.pairs]
    ratings = [float(np.mean(_ratings_of(pair, way))) for pair in group.pairs]
    rho = stats.spearman(values, ratings, clusters=images)
    yield {
        **counted(list(zip(images, values, strict=True))),
        "rho": rho.value,
        **interval_cells("rho", rho.interval, rho.reason),
        "p": rho.p_value,
    }


def _lost(group: PairGroup) -> str | None:
    """How many rated texts of a group are left out, and which measures have no value for them."""
    rated, shared, measures = _measured(group)
    if len(shared) == len(rated):
        return None
    counts = {
        name: sum(name in _values(pair, group.direction) for pair in rated) for name in measures
    }
    few = [f"{name} has {n}" for name, n in counts.items() if n < len(rated)]
    where = "".join(f"{group.place[key]}, " for key in ("dataset", "language") if group.place[key])
    return (
        f"{where}{group.direction.upper()}: {len(shared)} of {len(rated)} rated texts have every"
        f" measure ({', '.join(few)})."
    )

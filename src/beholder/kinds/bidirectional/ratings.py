"""What people think of both kinds of texts, and how the scores agree with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    TextPair,
    by_system,
    strata,
)
from beholder.records import Interval
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import Floats, Ints, cluster_codes
from beholder.tables import (
    DIRECTION,
    SET_COLUMNS,
    SYSTEM,
    Column,
    Table,
    estimate,
    interval_cells,
)

PEOPLE = "people"
OWN = ("f1", "precision", "recall", "dcscore")
_SEED = 12345


def rated_texts(pairs: Sequence[TextPair]) -> dict[str, list[tuple[str, float]]]:
    """Picture and rating, each rating once, by who wrote the text: people first."""
    human = {
        (pair.image, pair.references): pair.human_ratings for pair in pairs if pair.human_ratings
    }
    found = {PEOPLE: [(image, r) for (image, _), ratings in human.items() for r in ratings]}
    for system, own in by_system(pairs).items():
        found[system] = [(pair.image, rating) for pair in own for rating in pair.model_ratings]
    return {who: ratings for who, ratings in found.items() if ratings}


def rating_table(pairs: Sequence[TextPair]) -> Table:
    """Ratings of people's texts and of each system's."""
    rows = []
    for place, some in strata(pairs):
        for who, ratings in rated_texts(some).items():
            values, images = [r for _, r in ratings], [image for image, _ in ratings]
            rows.append(
                {
                    **place,
                    "who": who,
                    "n": len(values),
                    "n_images": len(set(images)),
                    **estimate("mean", values, images),
                    "median": float(np.median(values)),
                    "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
                }
            )
    return Table(
        "ratings",
        "People's ratings",
        (
            *SET_COLUMNS,
            Column("who", "Text by", "text"),
            Column("n", "Ratings", "count"),
            Column("n_images", "Pictures", "count"),
            Column("mean", "Mean", interval=True),
            Column("median", "Median"),
            Column("sd", "SD"),
        ),
        tuple(rows),
        ("Intervals resample pictures: ratings of one picture are not independent.",),
    )


def gap_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Median difference, rating of the model's text minus that of people's, per category."""
    rows: list[dict[str, Any]] = []
    for place, some in strata(pairs):
        for system, own in by_system(some).items():
            groups = {"all": own} | {
                name: [pair for pair in own if pair.category == name] for name in categories
            }
            for name, group in groups.items():
                gaps = [(pair.image, gap) for pair in group for gap in _gaps(pair)]
                if gaps:
                    rows.append({**place, "category": name, "system": system, **_median(gaps)})
    return Table(
        "rating_gaps",
        "Ratings: model minus people",
        (
            *SET_COLUMNS,
            Column("category", "Category", "text"),
            SYSTEM,
            Column("n", "Differences", "count"),
            Column("n_images", "Pictures", "count"),
            Column("median", "Median difference", "signed", interval=True),
        ),
        tuple(rows),
        (
            "The ratings of people who rated both texts differ one by one; raters without names are"
            " taken to be in the same order where both texts have equally many ratings. Otherwise"
            " the two means differ. Intervals of the median resample pictures.",
        ),
    )


def _gaps(pair: TextPair) -> list[float]:
    model, human = pair.model_ratings, pair.human_ratings
    if not (model and human):
        return []
    if pair.model_raters and pair.human_raters:
        by = dict(zip(pair.human_raters, human, strict=True))
        rated = zip(pair.model_raters, model, strict=True)
        if gaps := [value - by[name] for name, value in rated if name in by]:
            return gaps
    elif len(model) == len(human):
        return [a - b for a, b in zip(model, human, strict=True)]
    return [float(np.mean(model) - np.mean(human))]


def _median(gaps: Sequence[tuple[str, float]]) -> dict[str, Any]:
    values = np.array([gap for _, gap in gaps])
    images = [image for image, _ in gaps]
    return {
        "n": len(values),
        "n_images": len(set(images)),
        "median": float(np.median(values)),
        **interval_cells("median", _median_interval(values, images)),
    }


def _median_interval(values: Floats, images: Sequence[str]) -> Interval | None:
    def median(rows: Ints) -> float:
        return float(np.median(values[rows]))

    codes = cluster_codes(images, len(values))
    return cluster_bootstrap(median, codes, n_resamples=1000, level=0.95, seed=_SEED)


def correlation_table(pairs: Sequence[TextPair]) -> Table:
    """Spearman's rho of each measure with the rating of the text it judges.

    All measures of one data set, language and direction are over the same texts: those that every
    one of them has a value for.
    """
    rows: list[dict[str, Any]] = []
    lost: list[str] = []
    for place, some in strata(pairs):
        for direction in DIRECTIONS:
            rated, measures = _measured(some, direction)
            shared = [text for text in rated if len(text.values) == len(measures)]
            if measures and len(shared) < len(rated):
                lost.append(_lost(place, direction, rated, shared, measures))
            if shared:
                rows += [
                    {"direction": direction, "measure": name, **place, **_rho(shared, name)}
                    for name in measures
                ]
    return Table(
        "correlations",
        "Agreement with people's ratings",
        (
            DIRECTION,
            Column("measure", "Measure", "text"),
            *SET_COLUMNS,
            Column("n", "Texts", "count"),
            Column("n_images", "Pictures", "count"),
            Column("rho", "Spearman's rho", "signed", interval=True),
            Column("p", "p", "p"),
        ),
        tuple(rows),
        (
            "HAR: with the mean rating of the model's text; MAR: with that of people's text. In MAR"
            " the other metrics score people's text against the model's, too; of several"
            " references, the one that DCScore's value is about.",
            "All measures of a direction are over the same texts: those that each has a value for.",
            *lost,
            "Intervals resample pictures; p takes texts as independent.",
        ),
    )


@dataclass(frozen=True, slots=True)
class _RatedText:
    """A rated text of one direction: its picture, mean rating, and value per measure."""

    image: str
    rating: float
    values: Mapping[str, float]


def _measured(
    pairs: Sequence[TextPair], direction: Direction
) -> tuple[list[_RatedText], list[str]]:
    """Rated texts with any value, and the measures, in the order in which they appear."""
    found = []
    for pair in pairs:
        ratings = pair.model_ratings if direction == "har" else pair.human_ratings
        own = {name: pair.value(direction, name) for name in OWN}
        known = {**own, **pair.others.get(direction, {})}
        values = {name: value for name, value in known.items() if value is not None}
        if ratings and values:
            found.append(_RatedText(pair.image, float(np.mean(ratings)), values))
    return found, list(dict.fromkeys(name for text in found for name in text.values))


def _rho(texts: Sequence[_RatedText], measure: str) -> dict[str, Any]:
    images = [text.image for text in texts]
    values, ratings = [text.values[measure] for text in texts], [text.rating for text in texts]
    rho = stats.spearman(values, ratings, clusters=images)
    return {
        "n": len(texts),
        "n_images": len(set(images)),
        "rho": rho.value,
        **interval_cells("rho", rho.interval),
        "p": rho.p_value,
    }


def _lost(
    place: Mapping[str, str],
    direction: Direction,
    rated: Sequence[_RatedText],
    shared: Sequence[_RatedText],
    measures: Sequence[str],
) -> str:
    """Words that say how many texts are left out, and which measures lack them."""
    counts = {name: sum(name in text.values for text in rated) for name in measures}
    lacking = [f"{name} has {n}" for name, n in counts.items() if n < len(rated)]
    where = "".join(f"{value}, " for value in place.values() if value)
    return (
        f"{where}{direction.upper()}: {len(shared)} of {len(rated)} rated texts have every measure"
        f" ({', '.join(lacking)})."
    )

"""Scores per direction: distributions, tests, categories, and shares of easy and hard texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    TABLES,
    Cells,
    PairGroup,
    Scores,
    TextPair,
    common_images,
    counted,
    directions,
    each,
    grouped,
    holm,
    mean_cells,
    ordered,
    sets,
    systems,
)
from beholder.stats.ranks import round_values
from beholder.tables import Table, interval_cells

REST = "rest"
LEVELS = ("easy", "medium", "hard")
VALUES = ("f1", "precision", "recall", "dcscore")


def score_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Distribution of each value per direction and system; the best mean is marked."""
    rows = grouped(
        pairs, (sets, each("value", VALUES), directions, _systems_and_best), _distribution
    )
    with_0 = any(row["mean_failed_0"] is not None for row in rows)
    failed = " Failed texts are left out of the mean; the last column counts them as 0." * with_0
    return TABLES["scores"].of(rows, note=note, failed=failed)


def _systems_and_best(group: PairGroup) -> Iterator[PairGroup]:
    """The systems, each with the name of the best, the first of equal ones, and if it is one."""
    parts = list(systems(group))
    means = {
        part.place["system"]: float(round_values(np.mean([value for _, value in found])))
        for part in parts
        if (found := part.scores(group.value))
    }
    is_comparable = bool(common_images(group.pairs))
    best = max(means, key=means.__getitem__) if means and is_comparable else None
    for part in parts:
        system = part.place["system"]
        is_best = best is not None and means.get(system) == means[best]
        yield group.part(part.pairs, system=system, best=best, is_best=is_best)


def _distribution(group: PairGroup) -> Iterator[Cells]:
    found = group.scores(group.value)
    values = [value for _, value in found]
    n_failed = sum(pair.failure is not None for pair in group.pairs)
    quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if values else [None] * 3
    yield {
        "best": group.place["is_best"],
        **counted(found),
        "n_failed": n_failed,
        **mean_cells("mean", found),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "mean_failed_0": sum(values) / (len(values) + n_failed) if values and n_failed else None,
        **dict(zip(("q1", "median", "q3"), quartiles, strict=True)),
    }


def best_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Each system against the best of its direction: Welch's test, paired test, effect size."""
    rows = grouped(
        pairs,
        (sets, each("value", VALUES), directions),
        _against_best,
        family=(_systems_and_best,),
        finish=holm("p", "p_paired"),
    )
    return TABLES["tests"].of(rows, note=note)


def _against_best(group: PairGroup) -> Iterator[Cells]:
    def by_text(part: PairGroup) -> list[tuple[tuple[str, tuple[str, ...]], float]]:
        values = ((p, p.value(group.direction, group.value)) for p in part.pairs)
        return [((pair.image, pair.references), x) for pair, x in values if x is not None]

    found = group.scores(group.value)
    best_system = group.place["best"]
    if group.whole is None or best_system in (None, group.place["system"]) or not found:
        return
    best = group.part([p for p in group.whole.pairs if p.system == best_system])
    of_best = dict(by_text(best))
    both = [(x, of_best[text], text[0]) for text, x in by_text(group) if text in of_best]
    yield {
        **_welch_cells(found, best.scores(group.value)),
        "n_pairs": len(both),
        **paired_cells("paired", "p_paired", both),
    }


def _welch_cells(a: Scores, b: Scores) -> Cells:
    """Welch's test and Hedges' g, a minus b."""
    x, y = [value for _, value in a], [value for _, value in b]
    welch, effect = stats.t_test(x, y), stats.hedges_g(x, y)
    return {
        "n_a": len(x),
        "n_b": len(y),
        "difference": welch.estimate,
        **interval_cells("difference", welch.interval),
        "t": welch.statistic,
        "df": welch.df,
        "p": welch.p_value,
        "significant": welch.p_value is not None and welch.p_value < 0.05,
        "g": effect.value,
        **interval_cells("g", effect.interval),
    }


def paired_cells(key: str, p: str, both: Sequence[tuple[float, float, str]]) -> Cells:
    """Mean difference of pairs, with its interval and p; pictures are resampled and flipped."""
    if not both:
        return {key: None, **interval_cells(key, None), p: None}
    x, y, images = (list(column) for column in zip(*both, strict=True))
    found = stats.paired_difference(x, y, clusters=images)
    return {key: found.mean, **interval_cells(key, found.interval), p: found.p_value}


def direction_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Both directions of the same pair: is it easier to be judged by people's texts?"""
    rows = grouped(pairs, (sets,), _directions, family=(systems,), finish=holm("p"))
    return TABLES["directions"].of(rows, note=note)


def _directions(group: PairGroup) -> Iterator[Cells]:
    both = [
        (har, mar, pair.image)
        for pair in group.pairs
        if (har := pair.value("har", "f1")) is not None
        and (mar := pair.value("mar", "f1")) is not None
    ]
    if both:
        har_scores = [(image, har) for har, _, image in both]
        yield {
            **counted(har_scores),
            **mean_cells("har", har_scores),
            **mean_cells("mar", [(image, mar) for _, mar, image in both]),
            **paired_cells("difference", "p", both),
        }


def category_table(
    pairs: Sequence[TextPair], categories: Sequence[str], random: str | None
) -> Table:
    """F1 per category, direction and system, compared with the random sample.

    Args:
        pairs: All pairs.
        categories: The categories, without the random sample.
        random: Category of the random sample; ``rest`` takes all other pictures; None compares
            nothing.
    """

    def each_system(group: PairGroup) -> Iterator[PairGroup]:
        for name in categories:
            for part in systems(group):
                if any(pair.category == name for pair in part.pairs):
                    yield part.part(part.pairs, category=name)

    def cells(group: PairGroup) -> Iterator[Cells]:
        def scores(wanted: Sequence[str]) -> Scores:
            return group.part([p for p in group.pairs if p.category in wanted]).scores("f1")

        name = str(group.place["category"])
        own = scores([name])
        row: Cells = {**counted(own), **mean_cells("mean", own), "p": None}
        rest = {pair.category for pair in group.pairs} - {name, ""}
        others = scores(sorted(rest) if random == REST else [random or name])
        yield row | (_welch_cells(own, others) if random and own and others else {})

    rows = grouped(pairs, (sets, directions), cells, family=(each_system,), finish=holm("p"))
    against = "all other pictures" if random == REST else f"the random sample ({random!r})"
    table = TABLES["categories"].of(rows, against=against)
    return table if random is not None else replace(table, notes=())


def difficulty_table(
    pairs: Sequence[TextPair], cuts: tuple[float, float] | None, categories: Sequence[str]
) -> Table:
    """Shares of easy, medium and hard texts, by F1 and by recall.

    Args:
        pairs: All pairs.
        cuts: A text below the first is hard, from the second on easy; None takes the tertiles of
            a direction over all pictures and systems.
        categories: The categories to show.
    """

    def cells(group: PairGroup) -> Iterator[Cells]:
        scored = [
            (pair, value)
            for pair in group.pairs
            if (value := pair.value(group.direction, str(group.place["by"]))) is not None
        ]
        if not scored:
            return
        low, high = cuts or tertiles([value for _, value in scored])
        for kind, names in (
            ("category", categories),
            ("system", ordered(pair.system for pair, _ in scored)),
        ):
            for name in names:
                own = [(p.image, value) for p, value in scored if getattr(p, kind) == name]
                if own:
                    row: Cells = {"kind": kind, "name": name, "hard_below": low, "easy_from": high}
                    row |= counted(own)
                    for level in LEVELS:
                        inside = [(image, _level(v, low, high) == level) for image, v in own]
                        row |= mean_cells(level, inside)
                    yield row

    where = "given" if cuts else "the tertiles over all pictures and systems of a direction"
    rows = grouped(pairs, (sets, each("by", ("f1", "recall")), directions), cells)
    return TABLES["difficulty"].of(rows, where=where)


def _level(value: float, low: float, high: float) -> str:
    return "hard" if value < low else "easy" if value >= high else "medium"


def tertiles(values: Sequence[float]) -> tuple[float, float]:
    """The two cuts that divide values into thirds (linear interpolation)."""
    low, high = np.quantile(values, [1 / 3, 2 / 3])
    return float(low), float(high)

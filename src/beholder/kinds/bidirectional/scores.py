"""Scores per direction: distributions, tests, categories, and shares of easy and hard texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Struct

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    HolmP,
    Mean,
    PairedP,
    PairGroup,
    Pairs,
    Pictures,
    Scores,
    Texts,
    count_pictures,
    directions,
    holm,
    interval_heading,
    mean_of,
    ordered,
    pair_table,
    repeat_for,
    scored_images,
    sets,
    systems,
)
from beholder.records import Estimate
from beholder.stats.bootstrap import PairedDifference
from beholder.stats.ranks import round_values
from beholder.stats.significance import Effect
from beholder.tables import Table, heading

REST = "rest"
LEVELS = ("easy", "medium", "hard")
VALUES = ("f1", "precision", "recall", "dcscore")


class SystemScoreRow(Struct, frozen=True):
    """Distribution of the scores of a system."""

    best: Annotated[bool, heading("Best, p < 0.05", "mark")]
    n: Texts
    n_images: Pictures
    n_failed: Annotated[int, heading("Failed", "failed")]
    mean: Annotated[Mean, interval_heading("Mean")]
    sd: Annotated[float | None, heading("SD")]
    q1: Annotated[float | None, heading("Quartile 1")]
    median: Annotated[float | None, heading("Median")]
    q3: Annotated[float | None, heading("Quartile 3")]
    mean_failed_0: Annotated[float | None, heading("Mean, failed as 0")]


def score_table(pairs: Pairs, note: str) -> Table:
    """Return the distribution of each value per direction and system.

    The highest mean is marked if each other system differs from it in the table of tests.
    """
    table = pair_table(
        "scores",
        "Scores by system and direction",
        SystemScoreRow,
        pairs,
        (sets, repeat_for("value", VALUES), directions, _systems_and_best),
        _distribution,
        [
            note,
            "HAR: the model's text is tested against the human one; MAR: the other way round.",
            "Best: the highest mean, if each other system differs from it (Welch, p < 0.05).",
        ],
    )
    # The column appears only where a text failed, so the note on it does, too.
    resampled = "Intervals resample pictures."
    if any(row["mean_failed_0"] is not None for row in table.rows):
        resampled += (
            " Failed texts are left out of the mean; the last column, over all pictures, counts"
            " them as 0."
        )
    return table.with_rows(table.rows, [resampled])


def _systems_and_best(group: PairGroup) -> Iterator[PairGroup]:
    """Yield the systems, each with the name of the best and whether all others differ from it."""
    parts = list(systems(group))
    values_by_system = {}
    means = {}
    for part in parts:
        values = [value for _, value in part.scores(group.value)]
        if values:
            system = part.place["system"]
            values_by_system[system] = values
            means[system] = float(round_values(np.mean(values)))
    # Systems without a common picture are not compared: none of them is the best.
    is_comparable = bool(scored_images(group.pairs))
    best = (
        max(means, key=means.__getitem__) if means and is_comparable else None
    )
    # A higher mean alone shows nothing: the same test decides as in the table of tests.
    p_values = [
        stats.t_test(values, values_by_system[best]).p_value
        for system, values in values_by_system.items()
        if best not in (None, system)
    ]
    is_shown = bool(p_values) and all(map(_is_significant, p_values))
    for part in parts:
        system = part.place["system"]
        is_best = is_shown and system == best
        yield group.part(part.pairs, system=system, best=best, is_best=is_best)


def _is_significant(p_value: float | None) -> bool:
    return p_value is not None and p_value < 0.05


def _distribution(group: PairGroup) -> Iterator[SystemScoreRow]:
    scores = group.scores(group.value)
    values = [value for _, value in scores]
    n_failed = sum(pair.failure is not None for pair in group.pairs)
    key = f"{group.direction}_{group.value}"
    # Failed texts as 0 need the scores of the same pictures of other systems, too.
    with_set_aside = values + [
        pair.set_aside[key] for pair in group.pairs if key in pair.set_aside
    ]
    is_unequal = n_failed or len(with_set_aside) > len(values)
    q1, median, q3 = (
        np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        if values
        else [None] * 3
    )
    yield SystemScoreRow(
        best=bool(group.place["is_best"]),
        n=len(scores),
        n_images=count_pictures(scores),
        n_failed=n_failed,
        mean=mean_of(scores),
        sd=float(np.std(values, ddof=1)) if len(values) > 1 else None,
        q1=q1,
        median=median,
        q3=q3,
        mean_failed_0=sum(with_set_aside) / (len(with_set_aside) + n_failed)
        if with_set_aside and is_unequal
        else None,
    )


class BestRow(Struct, frozen=True, kw_only=True):
    """Tests of a system against the best one."""

    n_a: Texts
    n_b: Annotated[int, heading("Texts of the best", "count")]
    difference: Annotated[Mean, interval_heading("Difference", "signed")]
    t: Annotated[float | None, heading("Welch t")]
    df: Annotated[float | None, heading("df")]
    p: Annotated[float | None, heading("p", "p")]
    p_holm: HolmP = None
    significant: Annotated[bool, heading("p < 0.05", "mark")]
    g: Annotated[Effect, interval_heading("Hedges' g", "signed")]
    n_pairs: Annotated[int, heading("Pairs", "count")]
    paired: Annotated[
        PairedDifference | None,
        interval_heading("Paired difference", "signed"),
    ]
    p_paired: PairedP
    p_paired_holm: Annotated[
        float | None, heading("p, paired (Holm)", "p")
    ] = None


def best_table(pairs: Pairs, note: str) -> Table:
    """Return tests of each system against the best of its direction: Welch, paired, effect size."""
    return pair_table(
        "tests",
        "Each system against the best one",
        BestRow,
        pairs,
        (sets, repeat_for("value", VALUES), directions),
        _against_best,
        [
            note,
            "Differences are system minus best. Welch's unpaired t test at 0.05, two-sided, is the"
            " published protocol; systems describe the same pictures, so the paired sign-flip test"
            " fits better. Holm corrects over the systems of one direction and value.",
            "The best system was picked on the same data, which makes these p-values too small.",
        ],
        family=(_systems_and_best,),
        finish=holm("p", "p_paired"),
    )


def _against_best(group: PairGroup) -> Iterator[BestRow]:
    def by_text(
        part: PairGroup,
    ) -> list[tuple[tuple[str, tuple[str, ...]], float]]:
        values = (
            (p, p.value(group.direction, group.value)) for p in part.pairs
        )
        return [
            ((pair.image, pair.references), x)
            for pair, x in values
            if x is not None
        ]

    system_scores = group.scores(group.value)
    best_system = group.place["best"]
    if (
        group.parent is None
        or best_system in (None, group.place["system"])
        or not system_scores
    ):
        return
    # The paired test is over texts about the same picture and the same references; Welch's test is
    # over all texts.
    best = group.part(
        [p for p in group.parent.pairs if p.system == best_system]
    )
    best_scores = dict(by_text(best))
    paired_scores = [
        (x, best_scores[text], text[0])
        for text, x in by_text(group)
        if text in best_scores
    ]
    paired = _paired_difference(paired_scores) if paired_scores else None
    yield BestRow(
        **_compare_groups(system_scores, best.scores(group.value)),
        n_pairs=len(paired_scores),
        paired=paired,
        p_paired=paired.p_value if paired else None,
    )


def _compare_groups(a: Scores, b: Scores) -> dict[str, Any]:
    """Return Welch's test and Hedges' g, a minus b, as fields of a row."""
    x, y = [value for _, value in a], [value for _, value in b]
    # Two texts a side are needed; with fewer the fields are None and the table shows dashes.
    welch = stats.t_test(x, y)
    difference = None
    if welch.estimate is not None:
        difference = Estimate(welch.estimate, welch.interval, len(x))
    return {
        "n_a": len(x),
        "n_b": len(y),
        "difference": difference,
        "t": welch.statistic,
        "df": welch.df,
        "p": welch.p_value,
        "significant": _is_significant(welch.p_value),
        "g": stats.hedges_g(x, y),
    }


def _paired_difference(
    paired_scores: Sequence[tuple[float, float, str]],
) -> PairedDifference:
    """Return the mean difference of pairs; pictures are resampled and flipped."""
    x, y, images = (
        list(column) for column in zip(*paired_scores, strict=True)
    )
    return stats.paired_difference(x, y, clusters=images)


class DirectionRow(Struct, frozen=True, kw_only=True):
    """F1 of the same pairs in both directions."""

    n: Texts
    n_images: Pictures
    har: Annotated[Mean, interval_heading("F1, HAR")]
    mar: Annotated[Mean, interval_heading("F1, MAR")]
    difference: Annotated[
        PairedDifference, interval_heading("HAR − MAR", "signed")
    ]
    p: PairedP
    p_holm: HolmP = None


def direction_table(pairs: Pairs, note: str) -> Table:
    """Return F1 of the same pairs in both directions, and its difference."""
    return pair_table(
        "directions",
        "One direction against the other",
        DirectionRow,
        pairs,
        (sets,),
        _directions,
        [
            note,
            "Paired by text; sign-flip permutation test, pictures flipped as wholes.",
        ],
        family=(systems,),
        finish=holm("p"),
    )


def _directions(group: PairGroup) -> Iterator[DirectionRow]:
    paired_scores = []
    for pair in group.pairs:
        har, mar = pair.value("har", "f1"), pair.value("mar", "f1")
        if har is not None and mar is not None:
            paired_scores.append((har, mar, pair.image))
    if paired_scores:
        har_scores = [(image, har) for har, _, image in paired_scores]
        difference = _paired_difference(paired_scores)
        yield DirectionRow(
            n=len(paired_scores),
            n_images=count_pictures(har_scores),
            har=mean_of(har_scores),
            mar=mean_of([(image, mar) for _, mar, image in paired_scores]),
            difference=difference,
            p=difference.p_value,
        )


class CategoryRow(Struct, frozen=True, kw_only=True):
    """F1 of a category, and its tests against the random sample."""

    n: Texts
    n_images: Pictures
    mean: Annotated[Mean, interval_heading("F1")]
    n_a: int | None = None
    n_b: Annotated[int | None, heading("Texts against", "count")] = None
    difference: Annotated[Mean, interval_heading("Difference", "signed")] = (
        None
    )
    t: Annotated[float | None, heading("Welch t")] = None
    df: float | None = None
    p: Annotated[float | None, heading("p", "p")] = None
    p_holm: HolmP = None
    significant: Annotated[bool | None, heading("p < 0.05", "mark")] = None
    g: Annotated[Effect | None, interval_heading("Hedges' g", "signed")] = None


def category_table(
    pairs: Pairs, categories: Sequence[str], random: str | None
) -> Table:
    """Return F1 per category, direction and system, compared with the random sample.

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

    def categories_of(group: PairGroup) -> Iterator[CategoryRow]:
        def scores(names: Sequence[str]) -> Scores:
            return group.part(
                [p for p in group.pairs if p.category in names]
            ).scores("f1")

        name = str(group.place["category"])
        category_scores = scores([name])
        # Pictures without a category belong to no side.
        other_categories = {pair.category for pair in group.pairs} - {name, ""}
        comparison_scores = scores(
            sorted(other_categories) if random == REST else [random or name]
        )
        is_tested = random and category_scores and comparison_scores
        yield CategoryRow(
            n=len(category_scores),
            n_images=count_pictures(category_scores),
            mean=mean_of(category_scores),
            **(
                _compare_groups(category_scores, comparison_scores)
                if is_tested
                else {}
            ),
        )

    sample_name = (
        "all other pictures"
        if random == REST
        else f"the random sample ({random!r})"
    )
    note = (
        f"Differences are the category minus {sample_name}, of the same system; Welch's unpaired t"
        " test, two-sided at 0.05, as published; Holm corrects over all tests of a direction."
    )
    return pair_table(
        "categories",
        "Categories",
        CategoryRow,
        pairs,
        (sets, directions),
        categories_of,
        [] if random is None else [note],
        family=(each_system,),
        finish=holm("p"),
    )


class DifficultyRow(Struct, frozen=True):
    """Shares of easy, medium and hard texts of a category or system."""

    kind: Annotated[str, heading("Group", "text")]
    name: Annotated[str, heading("", "text")]
    n: Texts
    n_images: Pictures
    easy: Annotated[
        Mean,
        interval_heading("Easy", "percent", (0.0, 1.0)),
    ]
    medium: Annotated[Mean, interval_heading("Medium", "percent")]
    hard: Annotated[
        Mean,
        interval_heading("Hard", "percent", (0.0, 1.0)),
    ]
    hard_below: Annotated[float, heading("Hard below")]
    easy_from: Annotated[float, heading("Easy from")]


def difficulty_table(
    pairs: Pairs,
    cuts: tuple[float, float] | None,
    categories: Sequence[str],
) -> Table:
    """Return the shares of easy, medium and hard texts, by F1 and by recall.

    Args:
        pairs: All pairs.
        cuts: A text below the first is hard, from the second on easy; None takes the tertiles of
            a direction over all pictures and systems.
        categories: The categories to show.
    """

    def shares(group: PairGroup) -> Iterator[DifficultyRow]:
        # Cuts are those of the whole direction, so that categories and systems can be compared.
        name_of_value = str(group.place["by"])
        scored = []
        for pair in group.pairs:
            value = pair.value(group.direction, name_of_value)
            if value is not None:
                scored.append((pair, value))
        if not scored:
            return
        low, high = cuts or tertiles([value for _, value in scored])
        # The same rows once by category and once by system.
        for kind, names in (
            ("category", categories),
            ("system", ordered(pair.system for pair, _ in scored)),
        ):
            for name in names:
                scores = [
                    (p.image, value)
                    for p, value in scored
                    if getattr(p, kind) == name
                ]
                levels = [
                    (image, _level(value, low, high))
                    for image, value in scores
                ]
                easy, medium, hard = (
                    mean_of([(image, at == level) for image, at in levels])
                    for level in LEVELS
                )
                if scores:
                    yield DifficultyRow(
                        kind=kind,
                        name=name,
                        n=len(scores),
                        n_images=count_pictures(scores),
                        easy=easy,
                        medium=medium,
                        hard=hard,
                        hard_below=low,
                        easy_from=high,
                    )

    where = (
        "given"
        if cuts
        else "the tertiles over all pictures and systems of a direction"
    )
    return pair_table(
        "difficulty",
        "Difficulty",
        DifficultyRow,
        pairs,
        (sets, repeat_for("by", ("f1", "recall")), directions),
        shares,
        [f"Cuts are {where}.", "Intervals resample pictures."],
    )


def _level(value: float, low: float, high: float) -> str:
    if value < low:
        return "hard"
    return "easy" if value >= high else "medium"


def tertiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the two cuts that divide values into thirds (linear interpolation)."""
    low, high = np.quantile(values, [1 / 3, 2 / 3])
    return float(low), float(high)

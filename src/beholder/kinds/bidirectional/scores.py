"""How systems score in each direction: distributions, tests against the best, both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    TextPair,
    by_system,
    having,
    strata,
)
from beholder.tables import (
    DIRECTION,
    SET_COLUMNS,
    SYSTEM,
    Column,
    Table,
    estimate,
    interval_cells,
)

VALUES = ("f1", "precision", "recall", "dcscore")
_VALUE = Column("value", "Value", "measure")


def score_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Distribution of each value per direction and system; the best mean is marked."""
    rows = []
    for place, some in strata(pairs):
        for value in VALUES:
            for direction in DIRECTIONS:
                best = best_system(some, direction, value)
                for system, own in by_system(some).items():
                    rows.append(
                        {"direction": direction, "value": value, **place, "system": system}
                        | {"best": system == best, **_distribution(own, direction, value)}
                    )
    return Table(
        "scores",
        "Scores by system and direction",
        (
            DIRECTION,
            _VALUE,
            *SET_COLUMNS,
            SYSTEM,
            Column("best", "Best", "mark"),
            Column("n", "Texts", "count"),
            Column("n_images", "Pictures", "count"),
            Column("n_failed", "Failed", "failed"),
            Column("mean", "Mean", interval=True),
            Column("sd", "SD"),
            Column("q1", "Quartile 1"),
            Column("median", "Median"),
            Column("q3", "Quartile 3"),
            Column("mean_failed_0", "Mean, failed as 0"),
        ),
        tuple(rows),
        (
            note,
            "HAR: the model's text is tested against the human one; MAR: the other way round.",
            "Intervals resample pictures. Failed texts are left out of the mean; the last column"
            " counts them as 0.",
        ),
    )


def best_system(pairs: Sequence[TextPair], direction: Direction, value: str) -> str | None:
    """The system with the highest mean of a value; the first of equal ones."""
    means = {
        system: float(np.mean([v for _, v in found]))
        for system, own in by_system(pairs).items()
        if (found := having(own, direction, value))
    }
    return max(means, key=lambda system: means[system]) if means else None


def _distribution(pairs: Sequence[TextPair], direction: Direction, value: str) -> dict[str, Any]:
    found = having(pairs, direction, value)
    values = [v for _, v in found]
    n_failed = sum(pair.failure is not None for pair in pairs)
    row = {
        "n": len(found),
        "n_images": len({pair.image for pair, _ in found}),
        "n_failed": n_failed,
        **estimate("mean", values, [pair.image for pair, _ in found]),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "mean_failed_0": sum(values) / (len(values) + n_failed) if values and n_failed else None,
    }
    quartiles = np.quantile(values, [0.25, 0.5, 0.75]) if values else (None,) * 3
    for name, quartile in zip(("q1", "median", "q3"), quartiles, strict=True):
        row[name] = None if quartile is None else float(quartile)
    return row


def best_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Each system against the best of its direction: Welch's test, paired test, effect size."""
    rows: list[dict[str, Any]] = []
    for place, some in strata(pairs):
        for value in VALUES:
            for direction in DIRECTIONS:
                family = _against_best(some, direction, value)
                rows += [
                    {"direction": direction, "value": value, **place, **row}
                    for row in with_holm(family, "p", "p_paired")
                ]
    return Table(
        "tests",
        "Each system against the best one",
        (
            DIRECTION,
            _VALUE,
            *SET_COLUMNS,
            SYSTEM,
            Column("best", "Best", "text"),
            Column("n_a", "Texts", "count"),
            Column("n_b", "Texts of the best", "count"),
            Column("difference", "Difference", "signed", interval=True),
            Column("t", "Welch t"),
            Column("df", "df"),
            Column("p", "p", "p"),
            Column("p_holm", "p (Holm)", "p"),
            Column("significant", "p < 0.05", "mark"),
            Column("g", "Hedges' g", "signed", interval=True),
            Column("n_pairs", "Pairs", "count"),
            Column("paired", "Paired difference", "signed", interval=True),
            Column("p_paired", "p, paired", "p"),
            Column("p_paired_holm", "p, paired (Holm)", "p"),
        ),
        tuple(rows),
        (
            note,
            "Differences are system minus best. Welch's unpaired t test at 0.05, two-sided, is the"
            " published protocol; systems describe the same pictures, so the paired sign-flip test"
            " fits better. Holm corrects over the systems of one direction and value.",
            "The best system was picked on the same data, which makes these p-values too small.",
        ),
    )


def _against_best(
    pairs: Sequence[TextPair], direction: Direction, value: str
) -> list[dict[str, Any]]:
    best = best_system(pairs, direction, value)
    systems = by_system(pairs)
    if best is None:
        return []
    reference = having(systems[best], direction, value)
    rows = []
    for system, own in systems.items():
        found = having(own, direction, value)
        if system == best or not found:
            continue
        rows.append({"system": system, "best": best, **difference_cells(found, reference)})
        rows[-1] |= paired_cells(found, reference)
    return rows


def difference_cells(
    a: Sequence[tuple[TextPair, float]], b: Sequence[tuple[TextPair, float]]
) -> dict[str, Any]:
    """Welch's test and Hedges' g of two groups of scored pairs, a minus b."""
    x, y = [v for _, v in a], [v for _, v in b]
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


def paired_cells(
    a: Sequence[tuple[TextPair, float]], b: Sequence[tuple[TextPair, float]]
) -> dict[str, Any]:
    """Paired difference over texts about the same picture and with the same references."""
    other = {(pair.image, pair.references): value for pair, value in b}
    both = [
        (value, other[pair.image, pair.references], pair.image)
        for pair, value in a
        if (pair.image, pair.references) in other
    ]
    if not both:
        return {"n_pairs": 0, "paired": None, **interval_cells("paired", None), "p_paired": None}
    x, y, images = (list(column) for column in zip(*both, strict=True))
    found = stats.paired_difference(x, y, clusters=images)
    return {
        "n_pairs": found.n,
        "paired": found.mean,
        **interval_cells("paired", found.interval),
        "p_paired": found.p_value,
    }


def with_holm(rows: Sequence[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """Rows of one family of tests with ``KEY_holm`` beside each p."""
    found = [dict(row) for row in rows]
    for key in keys:
        for row, p in zip(found, stats.holm([row[key] for row in rows]), strict=True):
            row[f"{key}_holm"] = p
    return found


def direction_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Both directions of the same pair: is it easier to be judged by people's texts?"""
    rows = []
    for place, some in strata(pairs):
        family = []
        for system, own in by_system(some).items():
            both = [
                (har, mar, pair.image)
                for pair, har in having(own, "har", "f1")
                if (mar := pair.value("mar", "f1")) is not None
            ]
            if not both:
                continue
            x, y, images = (list(column) for column in zip(*both, strict=True))
            found = stats.paired_difference(x, y, clusters=images)
            family.append(
                {
                    **place,
                    "system": system,
                    "n": found.n,
                    "n_images": len(set(images)),
                    **estimate("har", x, images),
                    **estimate("mar", y, images),
                    "difference": found.mean,
                    **interval_cells("difference", found.interval),
                    "p": found.p_value,
                }
            )
        rows += with_holm(family, "p")
    return Table(
        "directions",
        "One direction against the other",
        (
            *SET_COLUMNS,
            SYSTEM,
            Column("n", "Texts", "count"),
            Column("n_images", "Pictures", "count"),
            Column("har", "F1, HAR", interval=True),
            Column("mar", "F1, MAR", interval=True),
            Column("difference", "HAR − MAR", "signed", interval=True),
            Column("p", "p, paired", "p"),
            Column("p_holm", "p (Holm)", "p"),
        ),
        tuple(rows),
        (note, "Paired by text; sign-flip permutation test, pictures flipped as wholes."),
    )

"""Tables of the steps of storylines: ratings, what breaks, weakest links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.kinds.narratives.report.columns import EFFECT, FEW, PAIR, SD, SOURCE, effects
from beholder.kinds.narratives.study import mean_vote
from beholder.report.numbers import show_number
from beholder.rounding import fixed
from beholder.tables import Column, Table

_N_BREAKS = 10


def step_tables(steps: Mapping[str, Any]) -> tuple[Table, ...]:
    """Ratings of steps by source, their differences, what breaks, and tests of that."""
    sources = (
        SOURCE,
        Column("n", "n", "count"),
        Column("mean", "mean step rating", "hundredths"),
        SD,
        Column("n_steps", "steps rated", "count"),
        Column("n_failed", "failed steps", "failed"),
    )
    compared = (
        *PAIR,
        FEW,
        Column("difference", "difference", "hundredths"),
        Column("t_welch", "t (Welch)", "hundredths"),
        Column("p_welch", "p", "p"),
        Column("p_welch_holm", "p (Holm)", "p"),
        Column("p_mann_whitney", "p (Mann-Whitney)", "p"),
        EFFECT,
    )
    once = (
        "Steps of one narrative are not independent, so that each narrative counts once, with its"
        " mean step rating.",
    )
    breaks = steps["breaks"]
    tested = (
        Column("kind", "what breaks", "text"),
        *PAIR,
        Column("difference", "difference of mean shares", "hundredths"),
        Column("p", "p (Mann-Whitney)", "p"),
        Column("p_holm", "p (Holm)", "p"),
    )
    return (
        Table("steps", "where stories break", sources, tuple(steps["sources"])),
        Table(
            "step-differences", "steps of sources", compared, effects(steps["comparisons"]), once
        ),
        _breaks(breaks["sources"]),
        Table(
            "break-differences", "what breaks, between sources", tested,
            tuple(breaks["comparisons"]), by="kind",
        ),
    )  # fmt: skip


def _breaks(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = [SOURCE, Column("n", "steps told of", "count")]
    for kind in rows[0]["counts"]:
        columns += [Column(kind, kind, "count"), Column(f"{kind}_share", "share", "percent")]
    columns.append(Column("n_not_told", "not told", "count"))
    found = tuple(
        {
            **{name: row[name] for name in ("source", "n", "n_not_told")},
            **row["counts"],
            **{f"{kind}_share": share for kind, share in row["shares"].items()},
        }
        for row in rows
    )
    return Table("breaks", "what breaks in steps", tuple(columns), found)


def weakest_table(study: Mapping[str, Any]) -> Table:
    """The steps that judges rated lowest, with their coherence."""
    found = []
    for narrative in study["narratives"]:
        ids = [study["frames"][frame]["id"] for frame in narrative["frames"]]
        for i, votes in enumerate(narrative["steps"]):
            mean = mean_vote([vote["value"] for vote in votes])
            if mean is not None:
                theta = narrative["coherence"]["steps"][i] if narrative["coherence"] else None
                step = f"{ids[i]} → {ids[i + 1]}"
                found.append({"id": narrative["id"], "step": step, "mean": mean, "theta": theta})
    found.sort(key=lambda row: row["mean"])
    columns = (
        Column("id", "narrative", "text"),
        Column("step", "step", "text"),
        Column("mean", "judges", "hundredths"),
        Column("theta", "theta"),
    )
    notes = tuple(_with_theta(study["steps"]))
    return Table("weakest-links", "weakest links", columns, tuple(found[:_N_BREAKS]), notes)


def _with_theta(steps: Mapping[str, Any]) -> Iterator[str]:
    """How ratings of steps go with their coherence, where that is known."""
    found = steps["correlation"]
    if found["rho"] is None:
        return
    ends = found["interval"]
    interval = "\N{EN DASH}" if ends is None else " to ".join(map(show_number, ends))
    yield (
        f"Step ratings and θ: Spearman {show_number(found['rho'])} ({interval}) over"
        f" {found['n']:,} steps, narratives resampled as wholes."
    )
    if steps["n_compared"]:
        yield (
            f"In {fixed(100 * steps['same_weakest'], 0)} % of {steps['n_compared']:,} narratives"
            " the judges' lowest step is the weakest link by θ as well; by chance it would be"
            f" {fixed(100 * steps['by_chance'], 0)} %."
        )

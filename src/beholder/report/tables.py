"""The summary of a run, leaderboards and the agreement of raters as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from rich.text import Text

from beholder.base.files import safe_name
from beholder.base.grouping import group_by_key
from beholder.base.visible import make_visible
from beholder.run import manifest
from beholder.tables import (
    FAILED,
    METRIC,
    NOTE,
    VALUE,
    Column,
    N,
    Table,
    estimate_cells,
    interval_cells,
)

if TYPE_CHECKING:
    from beholder.run.leaderboard import Board, Standing
    from beholder.run.reliability import Reliability


def summary_table(log: manifest.RunLog) -> Table:
    """Return the means with intervals per metric and value.

    Args:
        log: The run log.
    """
    results = manifest.results(log)
    rows: list[dict[str, Any]] = []
    heads, notes = {}, []
    for entry in log.metrics:
        name = entry.name
        result = results.get(name)
        # The run has not finished; the row shows that the metric is part of
        # it.
        if result is None:
            heads[name] = f"no result: run {log.status}"
            rows.append({"metric": name, "value": "", "mean": None})
            continue
        heads[name] = f"{result.n_scored:,} scored, {result.n_failed:,} failed"
        value_rows = [
            {"metric": name, "value": value.name}
            | estimate_cells("mean", result.values[value.name])
            | {"n": result.values[value.name].n}
            for value in entry.values + entry.corpus_values
            if value.name in result.values
        ]
        rows += value_rows or [{"metric": name, "value": "", "mean": None}]
        notes += [
            f"{name}: {n:,} failed: {reason}"
            for reason, n in result.failures.items()
        ]
        notes += [f"{name}: caution: {caution}" for caution in result.cautions]
    notes += log.data.notes
    notes += [result.signature for result in results.values()]
    if log.judging:
        notes.append(f"judges: {log.judging}")
    columns = (METRIC, VALUE, Column("mean", "mean", interval=True), N)
    return Table(
        "summary",
        "",
        columns,
        tuple(rows),
        tuple(notes),
        by="metric",
        heads=heads,
    )


def cell(text: str, style: str = "") -> Text:
    """Return a text that is never read as markup, with visible control characters."""
    return Text(make_visible(text), style=style, overflow="fold")


def leaderboard_tables(boards: Sequence[Board]) -> list[Table]:
    """Return a table of systems per metric; of several metrics first one of systems by metrics."""
    first = {board.metric: board for board in reversed(boards)}
    return [
        *([systems_by_metric(boards)] if len(boards) > 1 else []),
        *(
            _board(board, "" if first[board.metric] is board else board.value)
            for board in boards
        ),
    ]


_P = 0.05
"""Corrected p from which a system is marked as below the best one."""
_MARKS = "★: best mean; †: below it, p < 0.05 (paired permutation test, Holm)."


def _marks(key: str, standing: Standing) -> dict[str, Any]:
    """Return the cells of a mean with its interval, best or significantly below the best."""
    return {
        key: standing.mean,
        **interval_cells(key, standing.interval, standing.reason),
        f"{key}_best": standing.rank == 1,
        f"{key}_below": standing.p is not None and standing.p < _P,
    }


def systems_by_metric(boards: Sequence[Board]) -> Table:
    """Return the table of a paper: systems by metrics, with signs and signatures."""
    # All boards have the same systems; the first gives their order.
    rows: dict[str, dict[str, Any]] = {
        standing.system: {"system": standing.system}
        for standing in boards[0].standings
    }
    arrows = {True: " ↑", False: " ↓", None: ""}
    columns = []
    # Each mean has its n beside it where one number for all of them would be wrong.
    all_standings = chain.from_iterable(board.standings for board in boards)
    counts = {
        standing.n for standing in all_standings if standing.mean is not None
    }
    for board in boards:
        name = f"{board.metric}.{board.value}"
        heading = f"{name}{arrows[board.higher_is_better]}"
        columns.append(Column(name, heading, interval=True, best=True))
        for standing in board.standings:
            rows[standing.system] |= _marks(name, standing) | {
                f"{name}_n": standing.n
            }
        if len(counts) > 1:
            columns.append(Column(f"{name}_n", "n", "count"))
    sources = group_by_key(
        (f"{board.n_sources:,}", f"{board.metric}.{board.value}")
        for board in boards
    )
    counted = "; ".join(
        f"{n} ({', '.join(names)})" if len(sources) > 1 else n
        for n, names in sources.items()
    )
    starred = any(
        standing.rank == 1 for b in boards for standing in b.standings
    )
    return Table(
        name="leaderboard",
        title="Systems by metric",
        columns=(Column("system", "system", "text"), *columns),
        rows=tuple(rows.values()),
        notes=(
            *((_MARKS,) if starred else ()),
            f"Means over {counted} sources that all systems scored.",
            *(
                f"{board.metric}.{board.value}: all texts together, no mean over sources."
                for board in boards
                if board.of_whole_set
            ),
            *(f"caution: {caution}." for caution in boards[0].cautions),
            *(f"{board.metric}: {board.signature}" for board in boards),
        ),
    )


def _board(board: Board, suffix: str) -> Table:
    better = {
        True: "higher is better",
        False: "lower is better",
        None: "neither end is better",
    }
    # The legend of signs and ranks comes first, then the number of sources.
    notes = [
        _MARKS,
        "best, worst: ranks within 95 % of resamples of the sources.",
    ]
    if board.higher_is_better is None:
        notes = ["not ranked: the value has no better end."]
    sources = f"{board.n_sources:,}"
    if board.n_sources < board.n_all_sources:
        sources += f" of {board.n_all_sources:,}"
    what = (
        "the value of all texts together, about"
        if board.of_whole_set
        else "means over"
    )
    notes.append(
        f"{what} the {sources} sources (pictures, videos) that all systems scored."
    )
    if any(standing.mean is None for standing in board.standings):
        notes.append(
            "systems without any value stand last and restrict no other."
        )
    lacks = any(standing.n_without for standing in board.standings)
    if lacks:
        notes.append(
            f"no value: texts that are scored, without {board.value}."
        )
    notes += [f"caution: {caution}." for caution in board.cautions]
    return Table(
        name="-".join(
            filter(None, ("leaderboard", safe_name(board.metric), suffix))
        ),
        title=f"{board.metric}.{board.value}, {better[board.higher_is_better]}",
        columns=(
            Column("system", "system", "text"),
            Column("mean", "mean", interval=True, best=True),
            Column("rank", "rank", "count"),
            Column("best_rank", "best", "count"),
            Column("worst_rank", "worst", "count"),
            Column("p", "p (Holm)", "p"),
            Column("n", "scored", "count"),
            FAILED,
            *((Column("n_without", "no value", "count"),) if lacks else ()),
        ),
        rows=tuple(
            {**asdict(standing), **_marks("mean", standing)}
            for standing in board.standings
        ),
        notes=tuple(notes),
    )


def reliability_table(reliability: Reliability) -> Table:
    """Return the coefficients of agreement between raters."""
    # Raters are compared on items that all of them scored.
    n, n_left_out = reliability.n_items, reliability.n_left_out
    left_out = (
        f", {n_left_out:,} left out, with too few judgments to compare"
        * bool(n_left_out)
    )
    return Table(
        name=f"reliability-{safe_name(reliability.what)}",
        title=f"{reliability.what}: {len(reliability.raters)} raters, {n:,} items{left_out}",
        columns=(
            Column("coefficient", "coefficient", "text"),
            Column("found", "value", interval=True),
            NOTE,
        ),
        rows=tuple(
            {
                "coefficient": coefficient.name,
                "found": coefficient.value,
                **interval_cells("found", coefficient.interval),
                "reason": coefficient.reason or "",
            }
            for coefficient in reliability.coefficients
        ),
        notes=(
            f"Raters: {', '.join(reliability.raters)}.",
            *filter(None, [reliability.caution]),
        ),
    )

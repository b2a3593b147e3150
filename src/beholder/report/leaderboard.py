"""Systems by metric as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from beholder.report.figures import safe_name
from beholder.run.leaderboard import Board
from beholder.tables import FAILED, Column, Table, interval_cells


def leaderboard_tables(boards: Sequence[Board]) -> list[Table]:
    """A table of systems per metric."""
    return [_board(board) for board in boards]


def _board(board: Board) -> Table:
    better = {True: "higher is better", False: "lower is better", None: "neither end is better"}
    notes = ["best and worst rank: within 95 % of resamples of the sources."]
    if board.higher_is_better is None:
        notes = ["not ranked: the value has no better end."]
    sources = f"{board.n_sources:,}"
    if board.n_sources < board.n_all_sources:
        sources += f" of {board.n_all_sources:,}"
    notes.append(f"means over the {sources} sources (pictures, videos) that all systems scored.")
    if any(standing.mean is None for standing in board.standings):
        notes.append("systems without any score stand last and restrict no other.")
    return Table(
        name=f"leaderboard-{safe_name(board.metric)}",
        title=f"{board.metric}.{board.value}, {better[board.higher_is_better]}",
        columns=(
            Column("system", "system", "text"),
            Column("mean", "mean", interval=True),
            Column("rank", "rank", "count"),
            Column("best_rank", "best rank", "count"),
            Column("worst_rank", "worst rank", "count"),
            Column("n", "scored", "count"),
            FAILED,
        ),
        rows=tuple(
            {
                **asdict(standing),
                **interval_cells("mean", standing.interval),
            }
            for standing in board.standings
        ),
        notes=tuple(notes),
    )

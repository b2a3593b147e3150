"""``beholder leaderboard``: systems by metric, with intervals and rank ranges."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from beholder.terminal.groups import AsJson, TablesGroup
from beholder.terminal.printing import tell_result


def leaderboard(
    runs: list[Path], /, *, tables: TablesGroup = TablesGroup(), as_json: AsJson = False
) -> None:
    """Rank systems by every metric of the runs, with intervals and the ranks the data allow.

    Systems are compared on the pictures that all of them have a score for.

    Example: `beholder leaderboard runs/model-a runs/model-b`

    Args:
        runs: Run directories of `score`: a system each, or items with group.system.
    """
    from beholder.report.leaderboard import leaderboard_tables
    from beholder.run.leaderboard import leaderboard as rank
    from beholder.run.store import Store

    with ExitStack() as stack:
        boards = rank([stack.enter_context(Store.read(run)) for run in runs])
    found = leaderboard_tables(boards)
    tell_result([asdict(board) for board in boards], found, as_json)
    tables.write(found)

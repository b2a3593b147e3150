"""Runs that score items by metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from beholder.run import SCORES
from beholder.run.kind import Command, RunKind

if TYPE_CHECKING:
    from beholder.errors import DataError
    from beholder.kinds.scores.engine import ScoreConfig
    from beholder.records import Item

KIND: RunKind[ScoreConfig, Iterable[Item | DataError], list[DataError]] = (
    RunKind(
        name=SCORES,
        run="beholder.kinds.scores.engine:run_scores",
        plan="beholder.kinds.scores.engine:plan_scores",
        engines=True,
        page="beholder.kinds.scores.page:write_report",
        section="beholder.kinds.scores.by_group:section",
        has_systems=True,
        figures="beholder.report.figures:write_figures",
        subject_pages={"item": "beholder.kinds.scores.page:draw_item"},
        commands=(
            Command("score", "beholder.kinds.scores.command:score", place=1),
        ),
        templates="beholder.kinds.scores",
    )
)

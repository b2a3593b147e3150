"""Runs that rank the texts about each image."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from beholder.run.kind import Command, RunKind

if TYPE_CHECKING:
    from beholder.errors import DataError
    from beholder.kinds.ranking.rankers import RankConfig
    from beholder.kinds.ranking.results import Ranking
    from beholder.records import Reviews

KIND: RunKind[
    RankConfig, Iterable[Reviews | DataError], tuple[Ranking, list[DataError]]
] = RunKind(
    name="ranking",
    run="beholder.kinds.ranking.engine:run_ranking",
    plan="beholder.kinds.ranking.engine:plan_ranking",
    engines=True,
    page="beholder.kinds.ranking.page:write_ranking",
    figures="beholder.kinds.ranking.page:write_ranking_figures",
    subject_pages={"reviews": "beholder.kinds.ranking.page:draw_reviews"},
    commands=(
        Command("rank", "beholder.kinds.ranking.command:rank", place=8),
    ),
    templates="beholder.kinds.ranking",
    styles=("plain_page.css",),
)

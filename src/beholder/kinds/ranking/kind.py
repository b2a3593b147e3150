"""Runs that rank the texts about each image."""

from beholder.run.kind import Command, RunKind

KIND = RunKind(
    name="ranking",
    run="beholder.kinds.ranking.engine:run_ranking",
    plan="beholder.kinds.ranking.engine:plan_ranking",
    page="beholder.kinds.ranking.page:write_ranking",
    figures="beholder.kinds.ranking.page:write_ranking_figures",
    subject_pages={"reviews": "beholder.kinds.ranking.page:draw_reviews"},
    commands=(Command("rank", "beholder.kinds.ranking.command:rank", place=8),),
    functions={"rank": "beholder.kinds.ranking.door:rank"},
    templates="beholder.kinds.ranking",
    styles=("plain_page.css",),
)

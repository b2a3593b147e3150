"""Runs that score items by metrics."""

from beholder.run.kind import Command, RunKind

KIND = RunKind(
    name="scores",
    run="beholder.run.scores:run_scores",
    plan="beholder.run.scores:plan_scores",
    page="beholder.kinds.scores.page:write_report",
    has_systems=True,
    figures="beholder.report.figures:write_figures",
    subject_pages={"item": "beholder.kinds.scores.subject:draw_item"},
    commands=(Command("score", "beholder.kinds.scores.command:score", place=1),),
    functions={"score": "beholder.kinds.scores.door:score"},
    templates="beholder.kinds.scores",
)

"""Runs that judge and measure sequences of pictures."""

from beholder.run.kind import Command, RunKind

KIND = RunKind(
    name="narratives",
    run="beholder.kinds.narratives.engine:run_narratives",
    plan="beholder.kinds.narratives.engine:plan_narratives",
    page="beholder.kinds.narratives.report.page:write_study",
    figures="beholder.kinds.narratives.report.page:write_study_figures",
    subject_pages={"storyline": "beholder.kinds.narratives.subject:draw_storyline"},
    beside="beholder.kinds.narratives.side_by_side:beside",
    commands=(Command("narrate", "beholder.kinds.narratives.command:app", is_group=True),),
    templates="beholder.kinds.narratives",
    styles=("narrate.css",),
)

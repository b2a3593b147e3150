"""Runs that judge and measure sequences of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.run.kind import Command, RunKind

if TYPE_CHECKING:
    from beholder.errors import DataError
    from beholder.kinds.narratives.config import NarrateConfig
    from beholder.kinds.narratives.inputs import Inputs
    from beholder.kinds.narratives.results import NarrativeStudy

KIND: RunKind[
    NarrateConfig, Inputs, tuple[NarrativeStudy, list[DataError]]
] = RunKind(
    name="narratives",
    run="beholder.kinds.narratives.engine:run_narratives",
    plan="beholder.kinds.narratives.engine:plan_narratives",
    page="beholder.kinds.narratives.page:write_study",
    figures="beholder.kinds.narratives.page:write_study_figures",
    subject_pages={
        "storyline": "beholder.kinds.narratives.page:draw_storyline"
    },
    comparison_extra="beholder.kinds.narratives.between_judges:compare_runs",
    commands=(
        Command(
            "narrate", "beholder.kinds.narratives.command:app", is_group=True
        ),
    ),
    templates="beholder.kinds.narratives",
    styles=("narrate.css",),
)

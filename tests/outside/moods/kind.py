"""The kind, as the entry point names it."""

from typing import Any

from beholder.run.kind import Command, RunKind

KIND: RunKind[Any, None, Any] = RunKind(
    name="moods",
    run="moods.work:run_moods",
    plan="moods.work:plan_moods",
    has_systems=True,
    page="moods.work:write_page",
    subject_pages={"item": "moods.work:draw_item"},
    comparison_extra="moods.work:compare_moods",
    commands=(Command("moods", "moods.work:command"),),
    functions={"moods": "moods.work:moods"},
    templates="moods",
)

"""The kind, as the entry point names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.run.kind import Command, RunKind

if TYPE_CHECKING:
    from moods.work import MoodConfig

    from beholder.errors import DataError

KIND: RunKind[MoodConfig, None, list[DataError]] = RunKind(
    name="moods",
    run="moods.work:run_moods",
    plan="moods.work:plan_moods",
    has_systems=True,
    page="moods.work:write_page",
    subject_pages={"item": "moods.work:draw_item"},
    beside="moods.work:beside",
    commands=(Command("moods", "moods.work:command"),),
    functions={"moods": "moods.work:moods"},
    templates="moods",
)

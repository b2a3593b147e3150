"""Runs in which judges write texts: about rows, and reviews of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beholder.run import ROWS as ROWS_NAME
from beholder.run.kind import Command, RunKind

if TYPE_CHECKING:
    from beholder.kinds.generation.engine import RowsConfig, Written

_PAGE = "beholder.kinds.generation.page:write_made"
_SUBJECT = "beholder.kinds.generation.page:draw_made"

ROWS: RunKind[RowsConfig, None, Written] = RunKind(
    name=ROWS_NAME,
    run="beholder.kinds.generation.engine:run_rows",
    plan="beholder.kinds.generation.engine:plan_rows",
    engines=True,
    page=_PAGE,
    templates="beholder.kinds.generation",
    styles=("plain_page.css", "made.css"),
    subject_pages={"item": _SUBJECT},
    commands=(
        Command(
            "caption", "beholder.kinds.generation.commands:caption", place=10
        ),
        Command(
            "classify", "beholder.kinds.generation.commands:classify", place=11
        ),
        Command(
            "translate",
            "beholder.kinds.generation.commands:translate",
            place=12,
        ),
        Command(
            "criteria", "beholder.kinds.generation.commands:criteria", place=12
        ),
        Command(
            "questions",
            "beholder.kinds.generation.commands:questions",
            place=12,
        ),
    ),
)
REVIEWS: RunKind[Any, None, Written] = RunKind(
    name="reviews",
    run="beholder.kinds.generation.reviews:run_reviews",
    plan="beholder.kinds.generation.reviews:plan_reviews",
    engines=True,
    page=_PAGE,
    templates="beholder.kinds.generation",
    styles=("plain_page.css", "made.css"),
    subject_pages={"picture": _SUBJECT},
    commands=(
        Command(
            "review", "beholder.kinds.generation.commands:review", place=9
        ),
    ),
)

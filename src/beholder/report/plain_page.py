"""Pages without a script: styles are allowed by their hash, all texts are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.report.numbers import show_number, two, whole
from beholder.report.pages import content_hash, environment, styles


def render_page(template: str, style_sheets: Sequence[str], extra: str = "", **values: Any) -> str:
    """A page without a script.

    Args:
        template: Its template, which receives ``style`` and ``style_hash`` besides ``values``.
        style_sheets: Files of the folder of templates.
        extra: Further styles.
        values: What the template receives.
    """
    style = styles(*style_sheets)
    style += extra
    templates = environment(number=_number, interval=_interval, two=two, whole=whole)
    return templates.get_template(template).render(
        style=style, style_hash=content_hash(style), **values
    )


def _number(value: float | None) -> str:
    return "–" if value is None else show_number(value)


def _interval(interval: Sequence[float] | None) -> str:
    if interval is None:
        return "–"
    return f"{show_number(interval[0])} to {show_number(interval[1])}"

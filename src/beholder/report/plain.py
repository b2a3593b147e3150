"""Tables of the terminal as a text and as HTML, for Python prompts and notebooks."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from beholder.report.safe_console import SafeConsole
from beholder.report.study_tables import renderable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from beholder.tables import Table

WIDTH = 100
"""Characters of a line."""


def as_text(tables: Iterable[RenderableType | Table]) -> str:
    """Tables as the terminal shows them, without colours."""
    console = SafeConsole(file=io.StringIO(), width=WIDTH, force_jupyter=False, color_system=None)
    with console.capture() as caught:
        for table in tables:
            console.print(renderable(table), crop=False)
    return caught.get().rstrip()


def as_html(tables: Iterable[RenderableType | Table]) -> str:
    """Tables as HTML; what stands in them is escaped."""
    console = SafeConsole(file=io.StringIO(), width=WIDTH, force_jupyter=False, record=True)
    for table in tables:
        console.print(renderable(table), crop=False)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")

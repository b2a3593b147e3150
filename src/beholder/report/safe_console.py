"""A console that shows control characters instead of obeying them; tables as text and HTML."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from beholder.report.study_tables import renderable
from beholder.visible import for_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from beholder.tables import Table


class SafeConsole(Console):
    """Shows control characters in tables and texts instead of obeying them."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See ``Console.render``; the console's own control codes stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(for_terminal(segment.text), segment.style)


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
    """Tables as HTML; every text is escaped."""
    console = SafeConsole(file=io.StringIO(), width=WIDTH, force_jupyter=False, record=True)
    for table in tables:
        console.print(renderable(table), crop=False)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")

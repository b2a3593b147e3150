"""What people see of a run: one HTML page, figures, tables, and one score in a terminal.

Everything is drawn from a run's folder, or from the records given; no metric or judge is called.
Names load on use: a command that prints a table loads neither pages nor the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.optional import loader

if TYPE_CHECKING:
    from beholder.report.drawing import draw, draw_figures
    from beholder.report.figures import write_figures
    from beholder.report.graph_drawing import graph_svg, graph_text
    from beholder.report.tables import summary_table
    from beholder.report.terminal import show, to_html

__all__ = [
    "draw",
    "draw_figures",
    "graph_svg",
    "graph_text",
    "show",
    "summary_table",
    "to_html",
    "write_figures",
]

__getattr__ = loader(
    __name__,
    {
        "drawing": "draw draw_figures",
        "figures": "write_figures",
        "graph_drawing": "graph_svg graph_text",
        "tables": "summary_table",
        "terminal": "show to_html",
    },
)

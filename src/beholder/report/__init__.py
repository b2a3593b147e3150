"""What people see of a run: one HTML page, figures, tables, and one score in a terminal.

Everything is drawn from a run's folder, or from the records given; no metric or judge is called.
"""

from __future__ import annotations

from beholder.report.draw import draw, draw_figures
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

"""What people see of a run: one HTML page, figures, tables, and one score in a terminal.

Everything is drawn from a run's folder, or from the records given; no metric or judge is called.
Names load on use: a command that prints a table loads neither pages nor the store.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "drawing": "draw draw_figures",
    "figures": "write_figures",
    "graph_drawing": "graph_svg graph_text",
    "tables": "summary_table",
    "terminal": "show to_html",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)

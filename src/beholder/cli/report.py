"""``beholder report``: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path

from beholder.terminal.groups import Out
from beholder.terminal.printing import tell


def report(run: Path, /, *, out: Out = None, figures: Path | None = None) -> None:
    """Draw the HTML report of a run, from what the run has stored.

    Example: `beholder report runs/first --figures figures`

    Args:
        run: A run directory.
        out: The HTML file; RUN/report.html if none is named.
        figures: Also write every figure as PNG and SVG into this folder.
    """
    from beholder.report import draw, draw_figures

    tell(draw(run, out))
    for path in draw_figures(run, figures) if figures is not None else ():
        tell(path)

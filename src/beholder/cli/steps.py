"""``beholder steps``: how a score of VCS came about, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from beholder.terminal.groups import Out
from beholder.terminal.printing import tell


def steps(
    run: Path,
    item: str,
    /,
    *,
    metric: Annotated[str | None, Parameter(alias="-m")] = None,
    out: Out = None,
) -> None:
    """Draw windows, matches, penalties, lines and regularizer of one item's VCS on one page.

    Example: `beholder steps runs/first market/careful -o careful.pdf`

    Args:
        run: A run directory.
        item: Id of an item.
        metric: Name of the metric in the run; its first vcs or vcs_short if none is named.
        out: The file, .html or .pdf; RUN/steps-ITEM.html if none is named.
    """
    from beholder.report.steps import write_steps

    tell(write_steps(run, item, out, metric))

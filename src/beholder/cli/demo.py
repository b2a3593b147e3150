"""``beholder demo``: score the bundled sample and say where the report is."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def demo(*, out: Annotated[Path, Parameter(alias="-o")] = Path("runs/demo")) -> int:
    """Score the bundled sample with Accord and VCS, built in; no key, no download.

    Example: `beholder demo`

    Args:
        out: Run directory.
    """
    from beholder.kinds.scores.command import score

    with as_file(files("beholder.samples") / "descriptions.jsonl") as sample:
        return score(str(sample), metric=("headline", "vcs"), out=out)

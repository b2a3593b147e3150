"""``beholder demo``: score the bundled sample and say where the report is."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Run directory.")] = Path("runs/demo"),
) -> None:
    """Score the bundled sample with PoSh and VCS, built in; no key, no download.

    Example: [bold]beholder demo[/bold]
    """
    from beholder.api import configure
    from beholder.cli.score import carry_out_and_print

    with as_file(files("beholder.samples") / "descriptions.jsonl") as sample:
        config = configure(str(sample), ["posh", "vcs"], out=out)
        carry_out_and_print(config, as_json=False, report=True)

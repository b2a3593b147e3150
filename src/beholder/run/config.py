"""Everything one run is asked to do, resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beholder.metrics import Metric


@dataclass(frozen=True)
class RunConfig:
    """What to score, how, and where to keep it.

    Attributes:
        data: The data file as the user named it, or a word for items given in Python.
        metrics: The metrics, in the order to report them.
        out: The run directory.
        limit: Score only the first so many items; None for all.
        skip_bad_rows: Go on without rows that are wrong, and count them.
        media_root: Folder that absolute paths of images may point into; None refuses them.
        workers: Worker processes; None decides from the number of items.
        concurrency: How many items wait for remote tools at once.
        cache: File of the cache of judges' answers that runs share; None for no cache.
        max_cost: US dollars that judges may spend on this run, all its starts together.
        tool_options: Options per kind of tool that are no part of a spec (see ``metrics.Tools``).
    """

    data: str
    metrics: tuple[Metric[Any], ...]
    out: Path
    limit: int | None = None
    skip_bad_rows: bool = False
    media_root: Path | None = None
    workers: int | None = None
    concurrency: int = 64
    cache: Path | None = None
    max_cost: float | None = None
    tool_options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """What the items' pictures are relative to.

        The folder of the data file; for items given otherwise ``media_root``, else the current
        directory.
        """
        if Path(self.data).is_file():
            return Path(self.data).parent
        return self.media_root or Path()

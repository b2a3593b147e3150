"""Everything a ranking run is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beholder.errors import ConfigError
from beholder.metrics.irr.scorers import Scorer


@dataclass(frozen=True)
class RankConfig:
    """What to rank, by which scorers, and where to keep it.

    Attributes:
        data: File of ranked texts, or folder of Parquet files.
        out: The run directory.
        scorers: The scorers, in the order to report them; the first is the one that others are
            compared with.
        media_root: Folder that image paths are relative to; None takes that of the data.
        threshold: Images of the main tables: those whose best pair of annotators agrees at least
            so well; None takes all.
        resamples: Bootstrap resamples.
        concurrency: Images that wait for judges at once.
        workers: Worker processes of metrics; None decides from the number of texts.
        cache: File of the answers that all runs share, or None.
        max_cost: US dollars that may be spent, or None.
        tool_options: Options per kind of tool that are no part of a spec (see ``metrics.Tools``).
    """

    data: str
    out: Path
    scorers: tuple[Scorer, ...]
    media_root: Path | None = None
    threshold: float | None = 0.6
    resamples: int = 1000
    concurrency: int = 16
    workers: int | None = None
    cache: Path | None = None
    max_cost: float | None = None
    tool_options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [scorer.name for scorer in self.scorers]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"the scorer {name} was asked for twice")
        if self.threshold is not None and not -1.0 <= self.threshold <= 1.0:
            raise ConfigError(f"threshold={self.threshold}: expected a correlation, -1 to 1")
        for option in ("resamples", "concurrency"):
            if getattr(self, option) < 1:
                raise ConfigError(f"{option}={getattr(self, option)}: expected at least 1")

    @property
    def folder(self) -> Path:
        """What the images are relative to."""
        if self.media_root is not None:
            return self.media_root
        source = Path(self.data)
        return source if source.is_dir() else source.parent

"""Configuration of a ranking run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from beholder.errors import ConfigError
from beholder.kinds.ranking.rankers import Ranker
from beholder.options import DataOptions, JudgeOptions, WorkOptions, check_count
from beholder.run.session import RunContext


@dataclass(frozen=True)
class RankConfig:
    """What to rank, with which rankers, and where to store it.

    Attributes:
        data: File of ranked texts, or folder of Parquet files.
        out: The run directory.
        rankers: The rankers, in the order to report them; the others are compared with the first.
            Default: ``vcs`` against references.
        language: Language of rows without one.
        images: Folder that image paths are relative to; None takes that of the data.
        threshold: Least agreement of the best pair of annotators of an image in the main tables;
            None for any.
        resamples: Bootstrap resamples.
        rows: Which rows to read.
        judging: How to ask judges.
        work: Concurrency, caching and spending limit.
    """

    data: str
    out: Path
    rankers: tuple[Ranker, ...]
    language: str = ""
    images: Path | None = None
    threshold: float | None = 0.6
    resamples: int = 1000
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    def __post_init__(self) -> None:
        if self.threshold is not None and not -1.0 <= self.threshold <= 1.0:
            raise ConfigError(f"threshold={self.threshold}: expected a correlation, -1 to 1")
        check_count("resamples", self.resamples, "1000 is usual")

    @property
    def unpacked(self) -> Path:
        """Folder for pictures stored in the table itself."""
        return self.out / "pictures"

    def means(self, unpacked: Path) -> RunContext:
        """The context of the run.

        Args:
            unpacked: Folder of pictures that were stored in the table; used if it exists.
        """
        source = Path(self.data)
        beside = source if source.is_dir() else source.parent
        folder = self.images or (unpacked if unpacked.is_dir() else beside)
        return RunContext(self.judging, self.work, folder)

"""Everything a ranking run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from beholder.errors import ConfigError
from beholder.kinds.ranking.rankers import Ranker
from beholder.options import DataOptions, JudgeOptions, WorkOptions, check_count
from beholder.run.session import RunContext


@dataclass(frozen=True)
class RankConfig:
    """What to rank, by what, and where to keep it.

    Attributes:
        data: File of ranked texts, or folder of Parquet files.
        out: The run directory.
        rankers: The rankers, in the order to report them; the first is the one that others are
            compared with. With none, texts are ranked by ``vcs`` against references.
        language: Language of rows that name none.
        images: Folder that image paths are relative to; None takes that of the data.
        threshold: Images of the main tables: those whose best pair of annotators agrees at least
            so well; None takes all.
        resamples: Bootstrap resamples.
        rows: Which rows are taken.
        judging: How judges are asked.
        work: How much at once, what is kept, what may be spent.
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
        """Folder of the pictures that stood in the table itself."""
        return self.out / "pictures"

    def means(self, unpacked: Path) -> RunContext:
        """With what the run works, pictures of the table being in a folder if there are any."""
        source = Path(self.data)
        beside = source if source.is_dir() else source.parent
        folder = self.images or (unpacked if unpacked.is_dir() else beside)
        return RunContext(self.judging, self.work, folder)

"""Options of ``beholder agree``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.terminal.groups import JUDGES, ROWS, Markdown, TablesGroup


@Parameter(name="*", group=JUDGES)
@dataclass(frozen=True)
class ComparedToolGroup:
    """Judges and embedder of the metrics that name none themselves.

    Attributes:
        judge: Default judge: openai:MODEL, hf:MODEL or 'panel(A, B)'; repeatable with --suite.
        embedder: Default embedder: static, ordered, minilm, st:NAME or openai:MODEL.
    """

    judge: tuple[str, ...] = ()
    embedder: str | None = None

    def specs(self) -> dict[str, str]:
        """Return the embedder and the only judge, by kind, if they were given.

        Raises:
            ConfigError: There are several judges.
        """
        if len(self.judge) > 1:
            raise ConfigError(
                "several --judge are compared by --suite FOLDER; for one set name the judge in"
                " each metric, as in -m 'posh(judge='openai:MODEL')'"
            )
        specs = self.embedders()
        if self.judge:
            specs["judge"] = self.judge[0]
        return specs

    def embedders(self) -> dict[str, str]:
        """Return the embedder by its kind, if it was given."""
        return {"embedder": self.embedder} if self.embedder else {}


@Parameter(name="*")
@dataclass(frozen=True)
class JudgmentGroup:
    """Human judgments, and how metrics are compared with them.

    Attributes:
        data: Folder or file of a known data set; hf: downloads it.
        labels: Data file with human judgments of some rows, matched by id; repeatable.
        label: Judgment to compare with; by default all that fit --statistic; repeatable.
        kind: Correlation to compute; ``verdicts`` is for true and false judgments.
        control: Compute partial correlations that remove the effect of length.
        resamples: Bootstrap resamples of pictures; 0 gives no intervals.
        published: Show published figures beside yours if the protocol is the same.
        judges: Measure the agreement of annotators, or of the metrics of a run.
        expert: Annotator with whom --judges compares all others.
        subset: File that names the pictures to take: a JSON list, or a name a line.
        suite: Folder of several known data sets, to compare all metrics with each.

    Raises:
        ConfigError: The number of resamples is negative.
    """

    data: str | None = None
    labels: tuple[Path, ...] = ()
    label: tuple[str, ...] = ()
    kind: Annotated[
        Literal["spearman", "pearson", "tau-b", "tau-c", "verdicts"],
        Parameter(name="--statistic"),
    ] = "spearman"
    control: Literal["length"] | None = None
    resamples: int = 1000
    published: bool = False
    judges: bool = False
    expert: str | None = None
    subset: Annotated[Path | None, Parameter(group=ROWS)] = None
    suite: Path | None = None

    def __post_init__(self) -> None:
        check_number("resamples", self.resamples, 0, whole=True)
        if self.expert is not None and not self.judges:
            raise ConfigError(
                f"--expert {self.expert}: add --judges, which compares annotators"
            )


@Parameter(name="*")
@dataclass(frozen=True)
class DrawingGroup(TablesGroup):
    """Files to write besides the scores.

    Attributes:
        tables: Folder for all tables as CSV, JSON and LaTeX.
        no_figures: Draw no figures.
        no_report: Do not write report.html.
    """

    no_figures: bool = False
    no_report: bool = False
    markdown: Markdown = None

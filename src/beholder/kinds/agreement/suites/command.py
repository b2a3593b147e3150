"""``beholder suite``: metrics on texts that are known to be good or bad.

Two suites after the VCS paper (versions of texts, texts of several authors), and minimal pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

from cyclopts import App, Parameter

from beholder.base.ranges import check_number
from beholder.terminal.groups import (
    AsJson,
    Data,
    ItemDataGroup,
    JudgeGroup,
    RunOut,
    ToolGroup,
    WorkGroup,
)
from beholder.terminal.printing import (
    print_notes,
    print_result,
    report_end,
    report_left_out,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from beholder.errors import DataError
    from beholder.kinds.agreement.suites.files import SuiteConfig
    from beholder.run.session import Progress
    from beholder.tables import Table

    SuiteResult = TypeVar("SuiteResult", bound=DataclassInstance)

PAIRS = Path(__file__).with_name("minimal_pairs.jsonl")
"""The minimal pairs that come with beholder."""

app = App(
    name="suite",
    help="Metrics on texts that are known to be good or bad.",
    help_format="markdown",
)

Metrics: TypeAlias = Annotated[tuple[str, ...], Parameter(alias="-m")]


@Parameter(name="*")
@dataclass(frozen=True)
class SuiteGroup:
    """Options of all suites.

    Attributes:
        seed: Random seed.
        resamples: Bootstrap resamples of pictures, from 1.

    Raises:
        ConfigError: There are no resamples.
    """

    seed: int = 0
    resamples: int = 1000
    tools: ToolGroup = field(default_factory=ToolGroup)
    rows: ItemDataGroup = field(default_factory=ItemDataGroup)
    judging: JudgeGroup = field(default_factory=JudgeGroup)
    work: WorkGroup = field(default_factory=WorkGroup)

    def __post_init__(self) -> None:
        check_number("resamples", self.resamples, 1, whole=True)


@app.command
def comparison(
    data: Data,
    /,
    *,
    metric: Metrics = ("vcs",),
    writer: str | None = None,
    out: RunOut = None,
    suite: SuiteGroup = SuiteGroup(),
    as_json: AsJson = False,
) -> int:
    """Make valid and invalid versions of long texts; report how often a metric separates them.

    Example: `beholder suite comparison descriptions.jsonl -m vcs -m bleu --writer openai:gpt-4.1`

    Args:
        data: A data file; versions are made of each row's first reference, else of its candidate.
        metric: Metric, such as vcs or token_f1.recall; repeatable.
        writer: Judge that writes more valid versions, such as paraphrases; by default rules make
            all.
        out: Run directory; by default runs/comparison-NAME.
    """
    from beholder.kinds.agreement.suites.files import run_comparison
    from beholder.kinds.agreement.suites.tables import comparison_tables

    config = _config(data, metric, out, "comparison-", suite)
    return _run(
        config,
        partial(run_comparison, writer=writer),
        comparison_tables,
        as_json,
    )


@app.command(name="minimal-pairs")
def minimal_pairs(
    data: Path | None = None,
    /,
    *,
    metric: Metrics = ("accord", "accord.f1"),
    out: RunOut = None,
    suite: SuiteGroup = SuiteGroup(),
    as_json: AsJson = False,
) -> int:
    """Report how often a metric puts a true paraphrase above a text with one wrong fact.

    Example: `beholder suite minimal-pairs -m bleu -m chrf`

    Args:
        data: JSONL file of pairs; by default those that come with beholder.
        metric: Metric, such as accord or accord.f1; repeatable.
        out: Run directory; by default runs/minimal-pairs-NAME.
    """
    from beholder.kinds.agreement.suites.files import run_minimal_pairs
    from beholder.kinds.agreement.suites.tables import comparison_tables

    config = _config(str(data or PAIRS), metric, out, "minimal-pairs-", suite)
    return _run(
        config,
        # A file of pairs has no bad rows to skip: a wrong line is an error.
        lambda *arguments: (run_minimal_pairs(*arguments), []),
        comparison_tables,
        as_json,
    )


@app.command
def authors(
    data: Data,
    /,
    *,
    metric: Metrics = ("vcs",),
    author: str = "system",
    others: int = 3,
    out: RunOut = None,
    suite: SuiteGroup = SuiteGroup(),
    as_json: AsJson = False,
) -> int:
    """Report how often a metric matches texts of two authors about the same video or picture.

    Example: `beholder suite authors texts.jsonl -m vcs -m meteor --author system`

    Args:
        data: A data file with one text per row, its image or video, and its author.
        metric: Metric, such as vcs or token_f1.recall; repeatable.
        author: Group column that names the author of a text.
        others: Maximum number of other videos to compare each text with.
        out: Run directory; by default runs/authors-NAME.
    """
    from beholder.kinds.agreement.suites.files import run_authors
    from beholder.kinds.agreement.suites.tables import authors_tables

    check_number("others", others, 1, whole=True)
    config = _config(data, metric, out, "authors-", suite)
    return _run(
        config,
        partial(run_authors, author=author, n_others=others),
        authors_tables,
        as_json,
    )


def _run(
    config: SuiteConfig,
    score: Callable[
        [SuiteConfig, Progress], tuple[list[SuiteResult], list[DataError]]
    ],
    tables_of: Callable[[list[SuiteResult]], Sequence[Table]],
    as_json: bool,
) -> int:
    """Score a suite, write and print its tables; returns the exit code."""
    from beholder.report.study_tables import write_tables
    from beholder.run import manifest
    from beholder.terminal.progress import TerminalProgress

    with TerminalProgress() as progress:
        results, wrong_rows = score(config, progress)
    report_left_out(wrong_rows)
    print_notes(manifest.read_log(config.scores.out).data.notes)
    tables = tables_of(results)
    write_tables(tables, config.scores.out / "tables")
    print_result([asdict(result) for result in results], tables, as_json)
    return report_end(config.scores.out, progress)


def _config(
    data: str,
    metrics: Sequence[str],
    out: Path | None,
    prefix: str,
    suite: SuiteGroup,
) -> SuiteConfig:
    from beholder.kinds.agreement.agree import parse_metric_value
    from beholder.kinds.agreement.suites.files import SuiteConfig
    from beholder.kinds.scores.engine import ScoreConfig
    from beholder.run.session import default_out

    folder = out or default_out(data, prefix)
    scores = ScoreConfig(
        data, (), folder, suite.rows, suite.judging, suite.work.to_options()
    )
    metric_values = tuple(
        parse_metric_value(name, **suite.tools.specs()) for name in metrics
    )
    return SuiteConfig(scores, metric_values, suite.seed, suite.resamples)

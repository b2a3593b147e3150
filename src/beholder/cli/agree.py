"""``beholder agree``: how far metrics agree with people, or judges with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from beholder.cli.groups import AsJson, DataGroup, JudgeGroup, Out, ToolGroup, WorkGroup
from beholder.cli.printing import close, say, say_left_out, tell_json, tell_tables
from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.benchmarks.agree import Report
    from beholder.benchmarks.granular import GranularReport
    from beholder.benchmarks.load import JudgedSet
    from beholder.cli.progress import TerminalProgress
    from beholder.run.scores import ScoreConfig


@Parameter(name="*")
@dataclass(frozen=True)
class JudgmentGroup:
    """What people said, and how metrics are held against it.

    Attributes:
        data: Folder or file of a known set; hf: fetches it from the hub.
        label: A judgment of your own data; repeatable. All numeric ones if none is named.
        kind: The correlation, for labels of your own.
        control: Partial the length out of correlations.
        resamples: Bootstrap resamples over sources; 0 for no intervals.
        judges: Reliability between the metrics of a run, or of raters.

    Raises:
        ConfigError: The number of resamples is negative.
    """

    data: str | None = None
    label: tuple[str, ...] = ()
    kind: Literal["spearman", "pearson", "tau-b", "tau-c"] = "spearman"
    control: Literal["length"] | None = None
    resamples: int = 1000
    judges: bool = False

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise ConfigError(f"resamples={self.resamples}: expected a number from 0")


def agree(
    source: str,
    /,
    *,
    metric: Annotated[tuple[str, ...], Parameter(alias="-m")] = (),
    judgments: JudgmentGroup = JudgmentGroup(),
    out: Out = None,
    tools: ToolGroup = ToolGroup(),
    rows: DataGroup = DataGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
    no_figures: bool = False,
    as_json: AsJson = False,
) -> int:
    """Hold metrics against human judgments by the set's own protocol; scores are kept.

    Example: `beholder agree flickr8k_expert --data FOLDER -m cider -m meteor`

    Args:
        source: A known set, a data file with judgments, or (--judges) a run.
        metric: A metric, such as cider or token_f1.recall; repeatable.
        judgments: What people said.
        out: Run directory of scores; runs/agree-SET if none is named.
        tools: What metrics take.
        rows: Which items.
        judging: How judges are asked.
        work: How much at once.
        no_figures: Draw no figures.
        as_json: Print JSON on stdout.
    """
    if judgments.judges:
        return _tell_reliability(source, metric, judgments.label, as_json)
    from beholder.benchmarks.agree import default_out
    from beholder.benchmarks.load import load
    from beholder.cli.progress import TerminalProgress
    from beholder.report.agreement_figures import write_agreement_figures
    from beholder.run.scores import ScoreConfig

    judged = load(source, judgments.data, rows)
    say_left_out(judged.bad_rows)
    config = ScoreConfig(
        judged.name,
        (),
        out or default_out(judged.name),
        replace(rows, limit=None, media_root=rows.media_root or _folder(judgments.data or source)),
        judging,
        work.found(),
    )
    progress = TerminalProgress()
    if judged.known and judged.name == "docent_granular" and not judgments.label:
        spans = _held_against_spans(judged, judgments, metric, tools, config, progress)
        _tell_spans(spans, as_json)
        return close(config.out, progress)
    report = _held(judged, judgments, metric, tools, config, progress)
    _tell_report(report, as_json)
    if not no_figures:
        paths = write_agreement_figures(report, config.out / "agreement")
        say(f"figures: {config.out / 'agreement'} ({len(paths)} files)")
    return close(config.out, progress)


def _folder(data: str) -> Path | None:
    """Where the pictures of a set are looked for if nothing is said."""
    path = Path(data)
    return path.parent if path.is_file() else path if path.is_dir() else None


def _held(
    judged: JudgedSet,
    judgments: JudgmentGroup,
    names: Sequence[str],
    tools: ToolGroup,
    config: ScoreConfig,
    progress: TerminalProgress,
) -> Report:
    from beholder.benchmarks.agree import agree, asked
    from beholder.benchmarks.protocols import generic, protocol

    own = judged.known and not judgments.label
    label = judgments.label or None
    measures = protocol(judged.name) if own else generic(judged.items, label, judgments.kind)
    metrics = [asked(name, **tools.named()) for name in names]
    with progress:
        return agree(
            judged,
            measures,
            metrics,
            config,
            progress,
            control_length=judgments.control == "length",
            n_resamples=judgments.resamples,
        )


def _held_against_spans(
    judged: JudgedSet,
    judgments: JudgmentGroup,
    names: Sequence[str],
    tools: ToolGroup,
    config: ScoreConfig,
    progress: TerminalProgress,
) -> GranularReport:
    from beholder.benchmarks.granular import granular
    from beholder.metrics import metric

    if not names:
        raise ConfigError(f"{judged.name} needs a metric that gives units, such as -m posh")
    metrics = [metric(name, **tools.named()) for name in names]
    with progress:
        return granular(judged, metrics, config, progress, n_resamples=judgments.resamples)


def _tell_spans(report: GranularReport, as_json: bool) -> None:
    from beholder.report.agreement import granular_table

    if as_json:
        tell_json(asdict(report))
    else:
        tell_tables([granular_table(report)])


def _tell_report(report: Report, as_json: bool) -> None:
    from beholder.report.agreement import agreement_table, significance_table

    if as_json:
        tell_json(_plain(report))
        return
    with_differences = [section for section in report.sections if section.differences]
    tell_tables([agreement_table(report), *map(significance_table, with_differences)])


def _plain(report: Report) -> dict[str, Any]:
    return {
        "set": report.name,
        "n_items": report.n_items,
        "n_resamples": report.n_resamples,
        "signatures": dict(report.signatures),
        "measures": [
            {
                "name": section.data.name,
                "metrics": [
                    {
                        "metric": row.metric,
                        "value": row.value,
                        "agreement": row.found.value,
                        "low": row.found.interval.low if row.found.interval else None,
                        "high": row.found.interval.high if row.found.interval else None,
                        "n": row.found.n,
                        "n_missing": row.found.n_missing,
                        "n_sources": row.found.n_sources,
                        "reason": row.found.reason,
                        "categories": {
                            name: {"agreement": value, "n": n}
                            for name, (value, n) in row.categories.items()
                        },
                    }
                    for row in section.rows
                ],
                "differences": [
                    {
                        "a": difference.a,
                        "b": difference.b,
                        "difference": difference.difference,
                        "low": difference.interval.low if difference.interval else None,
                        "high": difference.interval.high if difference.interval else None,
                        "p": difference.p_value,
                    }
                    for difference in section.differences
                ],
            }
            for section in report.sections
        ],
        "extra": {name: dict(figures) for name, figures in report.extra.items()},
    }


def _tell_reliability(
    source: str, metrics: Sequence[str], labels: Sequence[str], as_json: bool
) -> int:
    from beholder.benchmarks.load import load
    from beholder.benchmarks.reliability import of_panels, of_ratings, reliability
    from beholder.report.agreement import reliability_table
    from beholder.run.store import Store

    if Path(source).is_dir():
        with Store.read(Path(source)) as store:
            found = [] if metrics else of_panels(Path(source))
            found = found or [reliability(store, metrics or None)]
    elif len(labels) == 1:
        found = [of_ratings(load(source).items, labels[0])]
    else:
        raise ConfigError(
            "--judges takes a run directory, whose metrics are the raters, or a data file with one"
            " --label that is a list of ratings"
        )
    if as_json:
        tell_json([asdict(one) for one in found])
    else:
        tell_tables(map(reliability_table, found))
    return 0

"""``beholder agree``: how well metrics agree with people, or judges with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from beholder.base.spec import listed
from beholder.errors import ConfigError
from beholder.terminal.groups import (
    ROWS,
    ItemDataGroup,
    JudgeGroup,
    Markdown,
    RunOut,
    TablesGroup,
    TellGroup,
    ToolGroup,
    WorkGroup,
)
from beholder.terminal.printing import (
    close,
    say,
    say_each,
    say_failures,
    say_left_out,
    tell_plan,
    tell_result,
    tell_summary,
)

if TYPE_CHECKING:
    from beholder.kinds.agreement.load import JudgedSet
    from beholder.kinds.scores.engine import ScoreConfig
    from beholder.options import DataOptions, JudgeOptions, WorkOptions
    from beholder.tables import Table


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
        if self.resamples < 0:
            raise ConfigError(
                f"resamples={self.resamples}: expected a number from 0"
            )
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


def agree(
    source: str | None = None,
    /,
    *,
    metric: Annotated[tuple[str, ...], Parameter(alias="-m")] = (),
    judgments: JudgmentGroup = JudgmentGroup(),
    out: RunOut = None,
    tools: ToolGroup = ToolGroup(),
    rows: ItemDataGroup = ItemDataGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
    drawing: DrawingGroup = DrawingGroup(),
    tell: TellGroup = TellGroup(),
) -> int:
    """Compare metrics with human judgments by the set's own protocol; scores are stored.

    Example: `beholder agree flickr8k_expert --data sets -m cider -m meteor`

    Example: `beholder agree --suite sets -m posh -m vcs -m meteor`

    Args:
        source: A known data set, a data file with judgments, or a run with --judges.
        metric: Metric, such as cider or token_f1.recall; repeatable.
        out: Run directory of scores; by default runs/agree-SET.
    """
    metric = listed(metric)
    if judgments.suite is not None:
        useless = (
            judgments.judges,
            judgments.label,
            judgments.data,
            judgments.labels,
            judgments.subset,
        )
        if source is not None or any(useless):
            raise ConfigError(
                "--suite takes every set of its folder by the set's own protocol, so"
                " name no set, --data, --label, --labels, --subset or --judges beside it"
            )
        groups = rows, judging, work.found()
        return _compare_suite(
            judgments.suite,
            judgments,
            metric,
            out,
            tools.named(),
            groups,
            drawing,
            tell,
        )
    if source is None:
        raise ConfigError(
            "name a set or a data file with judgments, or a folder with --suite"
        )
    if judgments.judges:
        return _tell_reliability(
            source, metric, judgments, rows, drawing, tell
        )
    import msgspec

    from beholder.data.marks import MARKED
    from beholder.kinds.agreement import agree as benchmark
    from beholder.kinds.agreement.contents import contents_tables
    from beholder.kinds.agreement.figures import (
        MOST_DRAWN,
        write_agreement_figures,
    )
    from beholder.kinds.agreement.load import load
    from beholder.kinds.agreement.page_tables import (
        agreement_tables,
        published_of,
    )
    from beholder.kinds.scores.engine import ScoreConfig
    from beholder.report.drawing import draw
    from beholder.report.pages import no_figures
    from beholder.run.corrected import labelled_tables
    from beholder.run.labels import check_fit, targets
    from beholder.terminal.progress import TerminalProgress

    labels = [
        one.rpartition("=")[2].partition("@")[0] for one in judgments.label
    ]
    judged = load(
        source,
        judgments.data,
        rows,
        judgments.labels,
        judgments.subset,
        labels,
    )
    _say_taken(judged)
    pictures = rows.media_root or _folder(
        judgments.data or source, judged.name
    )
    name = (
        f"{judged.name}-{judgments.subset.stem}"
        if judgments.subset
        else judged.name
    )
    folder = out or benchmark.default_out(name)
    every = replace(rows, limit=None, media_root=pictures)
    config = ScoreConfig(judged.name, (), folder, every, judging, work.found())
    own = judged.known and not judgments.label
    if own and judged.name in MARKED:
        return _agree_on_spans(
            judged, judgments, metric, tools, config, drawing, tell
        )
    measures = judged.measures(labels, judgments.kind)
    metrics = [benchmark.asked(name, **tools.named()) for name in metric]
    problems: list[str] = []
    named = {one.metric.name: [one.info] for one in metrics}
    wanted = targets(judgments.labels, judgments.label, named, problems)
    check_fit(judged.items, wanted)
    if tell.dry_run:
        say_each(judged.notes)
        run = benchmark.scoring(config, benchmark.with_length(metrics))
        return tell_plan(benchmark.planned(run, judged, measures), run.out)
    with TerminalProgress() as progress:
        report = benchmark.agree(
            judged,
            measures,
            metrics,
            config,
            progress,
            control_length=judgments.control == "length",
            n_resamples=judgments.resamples,
        )
    corrected, reasons = labelled_tables(config.out, wanted)
    whole = own and rows.limit is None and judgments.subset is None
    beside = published_of(report.result, whole) if judgments.published else []
    if judged.known:
        beside += contents_tables(judged)
    found = [*agreement_tables(report), *beside, *corrected]
    plain = msgspec.to_builtins(report.result)
    plain |= {table.name: table.rows for table in (*beside, *corrected)}
    say_each(judged.notes)
    _tell(f"Agreement: {judged.name}", plain, found, drawing, tell)
    for problem in [*problems, *reasons]:
        say(problem)
    _say_run(config.out)
    drawing.write(found)
    if not drawing.no_figures and (lacking := no_figures()):
        say(f"left out: {lacking}")
    elif not drawing.no_figures:
        paths = write_agreement_figures(report, config.out / "agreement")
        n = len(report.sections)
        drawn = (
            f", of the first {MOST_DRAWN} of {n} measures"
            if n > MOST_DRAWN
            else ""
        )
        say(f"figures: {config.out / 'agreement'} ({len(paths)} files{drawn})")
    page = None if drawing.no_report else draw(config.out, media_root=pictures)
    return close(config.out, progress, page)


def _tell(
    title: str,
    plain: object,
    tables: Sequence[Table],
    drawing: DrawingGroup,
    tell: TellGroup,
) -> None:
    """Print a result, and sum it up in Markdown where that is asked for."""
    from beholder.report.markdown import summed_up

    tell_summary(
        plain,
        tables,
        tell.as_json,
        drawing.markdown,
        lambda: summed_up(title, tables),
    )


def _say_run(out: Path) -> None:
    """Report what a reader must know about the rows of a run, and which failed."""
    from beholder.api import Run

    run = Run(out)
    say_each(run.notes)
    say_failures(run.summary)


def _say_taken(judged: JudgedSet) -> None:
    """Count rows that were left out, and those of a subset."""
    say_left_out(judged.bad_rows)
    if judged.subset:
        say(judged.subset)


def _folder(data: str, name: str) -> Path | None:
    """Default folder of the pictures of a set."""
    from beholder.kinds.agreement.load import folder_of

    path = Path(data)
    if path.is_file():
        return path.parent
    return folder_of(name, path) if path.is_dir() else None


def _agree_on_spans(
    judged: JudgedSet,
    judgments: JudgmentGroup,
    names: Sequence[str],
    tools: ToolGroup,
    config: ScoreConfig,
    drawing: DrawingGroup,
    tell: TellGroup,
) -> int:
    """Compare units of metrics with the spans that people marked."""
    from beholder.kinds.agreement.agree import planned
    from beholder.kinds.agreement.contents import contents_tables
    from beholder.kinds.agreement.granular import granular
    from beholder.kinds.agreement.page_tables import granular_table
    from beholder.metrics import metric
    from beholder.terminal.progress import TerminalProgress

    if not names:
        raise ConfigError(
            f"{judged.name} needs a metric that gives units, such as -m posh"
        )
    metrics = tuple(metric(name, **tools.named()) for name in names)
    if tell.dry_run:
        return tell_plan(
            planned(replace(config, metrics=metrics), judged, ()), config.out
        )
    with TerminalProgress() as progress:
        report = granular(
            judged, metrics, config, progress, n_resamples=judgments.resamples
        )
    contents = contents_tables(judged) if judged.known else []
    found = [granular_table(report), *contents]
    plain = asdict(report) | {table.name: table.rows for table in contents}
    _tell(f"Agreement: {judged.name}", plain, found, drawing, tell)
    drawing.write(found)
    _say_run(config.out)
    return close(config.out, progress)


def _tell_reliability(
    source: str,
    metrics: Sequence[str],
    judgments: JudgmentGroup,
    rows: DataOptions,
    drawing: DrawingGroup,
    tell: TellGroup,
) -> int:
    """Print the agreement of the judges or metrics of a run, or of the annotators of data."""
    from beholder.data.marks import MARKED
    from beholder.kinds.agreement.annotators import annotator_tables
    from beholder.kinds.agreement.load import load
    from beholder.kinds.agreement.measure import scored_items
    from beholder.report.tables import reliability_table
    from beholder.run.reading import describe_incomplete
    from beholder.run.reliability import of_panels, of_ratings, reliability
    from beholder.run.store import Store

    if judgments.data is None and Path(source).is_dir():
        with Store.read(Path(source)) as store:
            coefficients = [] if metrics else of_panels(Path(source))
            coefficients = coefficients or [
                reliability(store, metrics or None)
            ]
            if caution := describe_incomplete(store):
                say(f"caution: {caution}")
    else:
        labels = judgments.label
        judged = load(
            source,
            judgments.data,
            rows,
            judgments.labels,
            judgments.subset,
            labels,
        )
        _say_taken(judged)
        say_each(judged.notes)
        for item in scored_items(judged.items, ()):
            judged.row_notes.add(item)
        say_each(judged.row_notes.sentences())
        paired = any(item.meta.get("candidate_b") for item in judged.items)
        if paired or judged.name in MARKED or len(judgments.label) != 1:
            tables = annotator_tables(
                judged, judgments.label, judgments.expert
            )
            plain = {table.name: table.rows for table in tables}
            _tell(f"Annotators: {judged.name}", plain, tables, drawing, tell)
            drawing.write(tables)
            return 0
        coefficients = [of_ratings(judged.items, judgments.label[0])]
    tell_result(
        [asdict(one) for one in coefficients],
        map(reliability_table, coefficients),
        tell.as_json,
    )
    return 0


def _compare_suite(
    folder: Path,
    judgments: JudgmentGroup,
    metrics: Sequence[str],
    out: Path | None,
    tools: Mapping[str, str],
    options: tuple[DataOptions, JudgeOptions, WorkOptions],
    drawing: DrawingGroup,
    tell: TellGroup,
) -> int:
    """Score set after set, then print, write and draw one table; returns the exit code.

    By default with all metrics that need neither key nor download, in runs/suite-FOLDER.
    """
    import msgspec

    from beholder.kinds.agreement import agreement_suite as suite
    from beholder.kinds.agreement.agree import asked
    from beholder.kinds.agreement.suite_page import (
        measures_table,
        suite_tables,
        write_suite,
    )
    from beholder.report.study_tables import write_tables
    from beholder.run.session import default_out
    from beholder.terminal.progress import TerminalProgress

    config = suite.AgreementSuiteConfig(
        folder,
        tuple(asked(name, **tools) for name in metrics or suite.WITHOUT_A_KEY),
        out or default_out(str(folder.resolve()), "suite-"),
        *options,
        kind=judgments.kind,
        control_length=judgments.control == "length",
        n_resamples=judgments.resamples,
    )
    sets = suite.load_sets(config.folder, config.rows)
    for judged in sets:
        say_left_out(judged.bad_rows)
    if tell.dry_run:
        plans = (
            (suite.plan_set(judged, config), config.run_of(judged).out)
            for judged in sets
        )
        return max(tell_plan(planned, out) for planned, out in plans)
    found = []
    for number, judged in enumerate(sets, start=1):
        say(
            f"set {number} of {len(sets)}: {judged.name}, {len(judged.items):,} judged"
        )
        with TerminalProgress() as progress:
            found.append(suite.held_against(judged, config, progress))
        run = config.run_of(judged).out
        _say_run(run)
        close(run, progress)
    report = suite.together(config, found)
    tables = suite_tables(report)
    plain = msgspec.to_builtins(report)
    _tell("Agreement of metrics with people", plain, tables, drawing, tell)
    place = drawing.tables or config.out / "tables"
    written = write_tables([*tables, measures_table(report)], place)
    say(f"tables: {place} ({len(written)} files)")
    if not drawing.no_report:
        say(f"report: {write_suite(report, config.out / 'suite.html')}")
    return 0

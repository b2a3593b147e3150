"""``beholder agree`` carried out: its comparisons scored, printed and drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from beholder.api import Run
from beholder.data.marks import MARKED, SIDES
from beholder.errors import ConfigError
from beholder.kinds.agreement import agreement_suite as suite
from beholder.kinds.agreement.agree import (
    MetricValue,
    agree,
    default_out,
    parse_metric_value,
    plan_agreement,
    scoring_config,
    with_length,
)
from beholder.kinds.agreement.annotators import annotator_tables
from beholder.kinds.agreement.contents import contents_tables
from beholder.kinds.agreement.granular import granular
from beholder.kinds.agreement.groups import DrawingGroup, JudgmentGroup
from beholder.kinds.agreement.judge_table import (
    DEFAULT_METRICS,
    MINIMAL_PAIRS,
    JudgeFigures,
    check_distinct,
    check_probes,
    describe_missing,
    expand_judges,
    judges_table,
    load_minimal_pairs,
    measure_work,
)
from beholder.kinds.agreement.load import JudgedSet, folder_of, load
from beholder.kinds.agreement.measure import scored_items
from beholder.kinds.agreement.page_tables import (
    agreement_tables,
    granular_table,
    published_of,
)
from beholder.kinds.agreement.people import write_agreement_figures
from beholder.kinds.agreement.results import AgreementResult
from beholder.kinds.agreement.suite_page import (
    measures_table,
    suite_tables,
    write_suite,
)
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Metric, metric
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.report.drawing import draw
from beholder.report.markdown import summed_up
from beholder.report.study_tables import write_tables
from beholder.report.tables import reliability_table
from beholder.run import session
from beholder.run.calibration import calibration_table, verdict_rows
from beholder.run.corrected import calibration_rows, labelled_tables
from beholder.run.labels import (
    Target,
    check_fit,
    collect_labels,
    targets,
)
from beholder.run.reading import describe_incomplete
from beholder.run.reliability import of_panels, of_ratings, reliability
from beholder.run.store import Store
from beholder.tables import Cells, Table
from beholder.terminal.groups import TellGroup
from beholder.terminal.printing import (
    print_line,
    print_note,
    print_notes,
    print_plan,
    print_result,
    print_summary,
    report_end,
    report_failures,
    report_left_out,
)
from beholder.terminal.progress import TerminalProgress


@dataclass(frozen=True)
class Call:
    """A call of the command: the arguments of ``command.agree``."""

    source: str
    metrics: Sequence[str]
    judgments: JudgmentGroup
    out: Path | None
    tools: Mapping[str, str]
    rows: DataOptions
    judging: JudgeOptions
    work: WorkOptions
    drawing: DrawingGroup
    tell: TellGroup

    def load(self, labels: Sequence[str]) -> JudgedSet:
        """Load the set, and count the rows that were left out and those of a subset."""
        judged = load(
            self.source,
            self.judgments.data,
            self.rows,
            self.judgments.labels,
            self.judgments.subset,
            labels,
        )
        report_left_out(judged.bad_rows)
        if judged.subset:
            print_note(judged.subset)
        return judged

    def print(
        self, title: str, plain: object, tables: Sequence[Table]
    ) -> None:
        """Print a result, with a Markdown summary if the options say so."""
        print_summary(
            plain,
            tables,
            self.tell.as_json,
            self.drawing.markdown,
            lambda: summed_up(title, tables),
        )


def compare_set(call: Call) -> int:
    """Compare metrics with the judgments of a set; return the exit code."""
    judgments = call.judgments
    # Of METRIC.VALUE=NAME@1..10 only the name selects a judgment.
    labels = [
        label_option.rpartition("=")[2].partition("@")[0]
        for label_option in judgments.label
    ]
    judged = call.load(labels)
    pictures = call.rows.media_root or _folder(
        Path(judgments.data or call.source), judged.name
    )
    # A subset needs a run of its own: a run does not accept other rows later.
    name = judged.name
    if judgments.subset:
        name += f"-{judgments.subset.stem}"
    config = ScoreConfig(
        judged.name,
        (),
        call.out or default_out(name),
        replace(call.rows, limit=None, media_root=pictures),
        call.judging,
        call.work,
    )
    # Labels that are named replace the set's protocol, so published figures do
    # not apply.
    is_own = judged.has_protocol and not judgments.label
    if is_own and judged.name in MARKED:
        return _compare_marks(call, judged, config)
    measures = judged.measures(labels, judgments.kind)
    metrics = [parse_metric_value(name, **call.tools) for name in call.metrics]
    problems: list[str] = []
    values = {
        metric_value.metric.name: [metric_value.info]
        for metric_value in metrics
    }
    label_targets = targets(
        judgments.labels, judgments.label, values, problems
    )
    # Before scoring: a label that does not fit must cost no judge call.
    check_fit(judged.items, label_targets)
    if call.tell.dry_run:
        print_notes(judged.notes)
        run = scoring_config(config, with_length(metrics))
        return print_plan(plan_agreement(run, judged, measures), run.out)
    with TerminalProgress() as progress:
        result = agree(
            judged,
            measures,
            metrics,
            config,
            progress,
            control_length=judgments.control == "length",
            n_resamples=judgments.resamples,
        ).result
    # Means corrected by labels come from the run, with the scores that it
    # stores.
    corrected, reasons = labelled_tables(config.out, label_targets)
    is_whole = is_own and call.rows.limit is None and judgments.subset is None
    further = published_of(result, is_whole) if judgments.published else []
    if judged.has_protocol:
        further += contents_tables(judged)
    further += corrected
    if not any(table.name == "calibration" for table in corrected):
        further += _calibration_tables(result, config.out)
    tables = agreement_tables(result) + further
    # The data of the measures are in agreement.json; on the screen they would
    # hide the figures.
    plain = result.without_data()
    plain |= {table.name: table.rows for table in further}
    print_notes(judged.notes)
    call.print(f"Agreement: {judged.name}", plain, tables)
    print_notes([*problems, *reasons])
    _say_run(config.out)
    call.drawing.write(tables)
    if not call.drawing.no_figures:
        paths = write_agreement_figures(result, config.out / "agreement")
        print_note(f"figures: {config.out / 'agreement'} ({len(paths)} files)")
    page = (
        None
        if call.drawing.no_report
        else draw(config.out, media_root=pictures)
    )
    return report_end(config.out, progress, page)


def _calibration_tables(result: AgreementResult, out: Path) -> list[Table]:
    """Return the calibration of judges that gave probabilities, beside labels of yes and no."""
    rows: list[Cells] = []
    with Store.read(out) as store:
        for measure in result.measures:
            # A metric has verdicts if the labels are yes or no, once a label.
            if measure.paired or not measure.data.said:
                continue
            gold = zip(measure.data.first, measure.data.gold, strict=True)
            labels = {name: label for name, label in gold if label is not None}
            for metric_name in dict.fromkeys(
                m.metric for m in measure.metrics
            ):
                value = f"{metric_name}: {measure.name}"
                rows += verdict_rows(store, metric_name, labels, value)
    return [calibration_table(rows)] if rows else []


def _say_run(out: Path) -> None:
    """Report what a reader must know about the rows of a run, and which failed."""
    run = Run(out)
    print_notes(run.notes)
    report_failures(run.summary)


def _folder(data: Path, name: str) -> Path | None:
    """Return the default folder of the pictures of a set; None if its data are not local."""
    if data.is_file():
        return data.parent
    return folder_of(name, data) if data.is_dir() else None


def _compare_marks(call: Call, judged: JudgedSet, config: ScoreConfig) -> int:
    """Compare units of metrics with the spans that people marked."""
    if not call.metrics:
        raise ConfigError(
            f"{judged.name} needs a metric that gives units, such as -m posh"
        )
    metrics = tuple(metric(name, **call.tools) for name in call.metrics)
    if call.tell.dry_run:
        return print_plan(
            plan_agreement(replace(config, metrics=metrics), judged, ()),
            config.out,
        )
    # Marks have no labels per text: units are compared with spans, without
    # page and figures.
    with TerminalProgress() as progress:
        report = granular(
            judged,
            metrics,
            config,
            progress,
            n_resamples=call.judgments.resamples,
        )
    further = contents_tables(judged) if judged.has_protocol else []
    further += _mark_calibration(judged, metrics, config.out)
    tables = [granular_table(report), *further]
    plain = asdict(report) | {table.name: table.rows for table in further}
    call.print(f"Agreement: {judged.name}", plain, tables)
    call.drawing.write(tables)
    _say_run(config.out)
    return report_end(config.out, progress)


def _mark_calibration(
    judged: JudgedSet, metrics: Sequence[Metric[Any]], out: Path
) -> list[Table]:
    """Return the calibration of judges that gave probabilities, beside marks of units."""
    all_labels = [collect_labels(judged.items, label) for label, _ in SIDES]
    label_targets = [
        Target(metric.name, labels.name, labels)
        for metric in metrics
        for labels in all_labels
        if labels.marks
    ]
    with Store.read(out) as store:
        rows = list(calibration_rows(store, label_targets))
    return [calibration_table(rows)] if rows else []


def print_reliability(call: Call) -> int:
    """Print the agreement of the judges or metrics of a run, or of the annotators of data."""
    source, labels = Path(call.source), call.judgments.label
    if call.judgments.data is None and source.is_dir():
        with Store.read(source) as store:
            coefficients = [] if call.metrics else of_panels(source)
            coefficients = coefficients or [
                reliability(store, call.metrics or None)
            ]
            if caution := describe_incomplete(store):
                print_note(f"caution: {caution}")
    else:
        judged = call.load(labels)
        print_notes(judged.notes)
        # No run reads these texts, so what a run would note of them is noted
        # here.
        for item in scored_items(judged.items, ()):
            judged.row_notes.add(item)
        print_notes(judged.row_notes.sentences())
        is_paired = any(item.meta.get("candidate_b") for item in judged.items)
        if is_paired or judged.name in MARKED or len(labels) != 1:
            tables = annotator_tables(judged, labels, call.judgments.expert)
            plain = {table.name: table.rows for table in tables}
            call.print(f"Annotators: {judged.name}", plain, tables)
            call.drawing.write(tables)
            return 0
        coefficients = [of_ratings(judged.items, labels[0])]
    print_result(
        [asdict(coefficient) for coefficient in coefficients],
        map(reliability_table, coefficients),
        call.tell.as_json,
    )
    return 0


def compare_suite(call: Call, folder: Path, judges: Sequence[str]) -> int:
    """Score set after set, then print, write and draw one table; returns the exit code.

    By default with all metrics that need neither key nor download, in runs/suite-FOLDER. With
    judges, each metric is scored with each of them, also on our own minimal pairs, and the table
    is one of judges.
    """
    check_distinct(judges)
    names = call.metrics or (
        DEFAULT_METRICS if judges else suite.WITHOUT_A_KEY
    )
    entries = expand_judges(names, judges, call.tools)
    metrics = [entry.value for entry in entries] or [
        parse_metric_value(name, **call.tools) for name in names
    ]
    config = suite.AgreementSuiteConfig(
        folder,
        tuple(metrics),
        call.out or session.default_out(str(folder.resolve()), "suite-"),
        call.rows,
        call.judging,
        call.work,
        kind=call.judgments.kind,
        control_length=call.judgments.control == "length",
        n_resamples=call.judgments.resamples,
    )
    # All sets are loaded before the first is scored, so that a wrong file
    # costs nothing.
    sets = suite.load_sets(config.folder, config.rows)
    for judged in sets:
        report_left_out(judged.bad_rows)
    if judges:
        if all(judged.name != MINIMAL_PAIRS for judged in sets):
            sets.append(load_minimal_pairs(config.rows.limit))
        print_notes(describe_missing([judged.name for judged in sets]))
    if call.tell.dry_run:
        if judges:
            print_line(
                f"calibration: 200 probes to each of {len(judges)} judges, in 20 calls to a"
                " decision model, else one call each"
            )
        return max(
            print_plan(
                suite.plan_set(judged, config), config.run_of(judged).out
            )
            for judged in sets
        )
    results = []
    seconds: dict[str, tuple[float, int]] = {}
    for number, judged in enumerate(sets, start=1):
        print_note(
            f"set {number} of {len(sets)}: {judged.name}, {len(judged.items):,} judged"
        )
        # Each judge alone, so that its time is its own.
        for entry in entries:
            _add_time(seconds, entry.value, judged, config)
        with TerminalProgress() as progress:
            results.append(suite.compare_with_set(judged, config, progress))
        run = config.run_of(judged).out
        _say_run(run)
        report_end(run, progress)
    report = suite.combine_sets(config, results)
    tables = suite_tables(report)
    plain = msgspec.to_builtins(report)
    # The judges come first on the screen; their times are not written, because
    # files do not depend on the machine.
    judge_tables = []
    if judges:
        folders = [config.run_of(judged).out for judged in sets]
        figures = JudgeFigures(
            fits=check_probes(judges, config),
            works={
                entry.value.label: measure_work(
                    folders, entry.value.metric.name
                )
                for entry in entries
            },
            seconds=seconds,
        )
        timed = judges_table(report, entries, figures)
        plain["judges"] = timed.rows
        judge_tables = [timed]
        tables.append(
            judges_table(report, entries, replace(figures, seconds={}))
        )
    shown = [*judge_tables, *(t for t in tables if t.name != "judges")]
    call.print("Agreement of metrics with people", plain, shown)
    place = call.drawing.tables or config.out / "tables"
    paths = write_tables([*tables, measures_table(report)], place)
    print_note(f"tables: {place} ({len(paths)} files)")
    if not call.drawing.no_report:
        print_note(f"report: {write_suite(report, config.out / 'suite.html')}")
    return 0


def _add_time(
    seconds: dict[str, tuple[float, int]],
    value: MetricValue,
    judged: JudgedSet,
    config: suite.AgreementSuiteConfig,
) -> None:
    """Score a set with one judge, and add its seconds and texts to those of its label."""
    with TerminalProgress() as progress:
        suite.score_set(judged, config, [value], progress)
    before, n_before = seconds.get(value.label, (0.0, 0))
    n_now = progress.scored_now + progress.failed_now
    took = progress.seconds if n_now else 0.0
    seconds[value.label] = before + took, n_before + n_now

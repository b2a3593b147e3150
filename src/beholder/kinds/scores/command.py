"""``beholder score``: score a data set, write a run and its report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from beholder.errors import ConfigError
from beholder.terminal.groups import (
    ROWS,
    Data,
    EngineRunGroup,
    LabelGroup,
    Markdown,
    RunOut,
    ToolGroup,
)
from beholder.terminal.printing import (
    UNDECIDED,
    print_note,
    print_notes,
    print_plan,
    print_summary,
    report_end,
    report_left_out,
)

if TYPE_CHECKING:
    from beholder.metrics import Metric
    from beholder.options import DataOptions
    from beholder.run.store import Store


@Parameter(name="*", group=Group("Tests of means", sort_key=0))
@dataclass(frozen=True)
class TestGroup:
    """The tests of means.

    Attributes:
        fail_under: Exit with 1 if a mean is lower: accord=0.6 or accord.precision=0.5; repeatable.
        gate_on: Figure that --fail-under tests: the lower end of the 95 % interval, or the mean.
        worse_than: Exit with 1 if any metric is worse than in this run of the same items.
        not_worse_than: Exit with 3 unless metrics are shown to be at most --margin worse than here.
        margin: Difference that --worse-than ignores, and that --not-worse-than rules out.
        gates: File for failed gates and their items: FILE.xml (JUnit) or FILE.sarif.
        until: Score in random order until the interval of a mean is narrow: accord=0.01 is +/-
            0.01.
    """

    fail_under: tuple[str, ...] = ()
    gate_on: Literal["interval", "mean"] = "interval"
    worse_than: Path | None = None
    not_worse_than: Path | None = None
    margin: float = 0.0
    gates: Path | None = None
    until: str | None = None

    @property
    def earlier_run(self) -> Path | None:
        """The run to compare with."""
        return self.worse_than or self.not_worse_than

    @property
    def option(self) -> str:
        """The option that names the run to compare with."""
        return "--not-worse-than" if self.not_worse_than else "--worse-than"

    def check(self) -> None:
        """Check the options of a comparison with another run.

        Raises:
            ConfigError: Two runs are named, or a margin is missing.
        """
        if self.worse_than is not None and self.not_worse_than is not None:
            raise ConfigError(
                "--worse-than and --not-worse-than are two tests; name one of them"
            )
        if self.not_worse_than is not None and not self.margin > 0:
            raise ConfigError(
                f"--not-worse-than {self.not_worse_than} needs a --margin above 0, such as 0.02"
            )


def score(
    data: Data,
    /,
    *,
    metric: Annotated[tuple[str, ...], Parameter(alias="-m")] = (),
    out: RunOut = None,
    tools: ToolGroup = ToolGroup(),
    test: TestGroup = TestGroup(),
    people: LabelGroup = LabelGroup(),
    clean: Annotated[
        Literal["none", "residue", "speech"], Parameter(group=ROWS)
    ] = "none",
    no_report: bool = False,
    markdown: Markdown = None,
    run: EngineRunGroup = EngineRunGroup(),
) -> int:
    """Score a data set; run the same command again to resume after an interruption.

    Example: `beholder score descriptions.jsonl -m headline -m vcs -o runs/first`

    Args:
        data: A .jsonl, .csv, .tsv or .parquet file, a run, or - for stdin.
        metric: Metric, such as vcs or 'vcs(lct=1)'; by default one that fits the data; repeatable.
        out: Run directory; by default runs/NAME-OF-DATA.
        clean: Remove from texts: residue of machines (reasoning, JSON) or the marks of transcribed
            speech.
        no_report: Do not write report.html.
    """
    from beholder import metrics
    from beholder.api import Run
    from beholder.base.spec import split_specs
    from beholder.data.notes import RowNotes
    from beholder.kinds.scores import by_group, gate_reports, gates
    from beholder.kinds.scores.engine import (
        ScoreConfig,
        open_rows,
        read_scored_items,
    )
    from beholder.kinds.scores.kind import KIND
    from beholder.kinds.scores.page import write_report
    from beholder.report import summary_table
    from beholder.report.markdown import run_tables, together
    from beholder.run import kind, manifest
    from beholder.run.corrected import labelled_tables
    from beholder.run.labels import check_fit, targets
    from beholder.run.session import default_out
    from beholder.run.store import Store
    from beholder.terminal.progress import TerminalProgress

    # Everything that can be wrong with the options is checked before the first score is paid for:
    # gates, the goal, labels and the run to compare with. Then come the run, its report, its gates,
    # and the summary.
    test.check()
    row_notes = RowNotes(clean)
    data_options: DataOptions = run.rows
    rows = open_rows(data, data_options, row_notes)
    if not metric:
        chosen, reason = rows.fitting_metric(judge=tools.judge is not None)
        print_note(f"metric: {chosen} ({reason})")
        metric = (chosen,)
    metric = split_specs(metric)
    scored = tuple(metrics.metric(text, **tools.specs()) for text in metric)
    _say_unused(tools, scored)
    parsed_gates = [
        gates.parse_gate(text, scored, test.gate_on, **tools.specs())
        for text in test.fail_under
    ]
    goal = (
        None
        if test.until is None
        else gates.parse_until(test.until, scored, **tools.specs())
    )
    if test.gates is not None:
        gate_reports.check_format(test.gates)
        if not parsed_gates and test.earlier_run is None:
            raise ConfigError(
                "--gates has nothing to write: add --fail-under or --worse-than"
            )
    notes: list[str] = []
    values = {
        scored_metric.name: scored_metric.values for scored_metric in scored
    }
    label_targets = targets(
        people.labels,
        people.label,
        values,
        notes=notes,
        columns=data_options.map,
    )
    print_notes(notes)
    engine = run.where.to_engine()
    config = ScoreConfig(
        data,
        scored,
        out or default_out(data),
        run.rows,
        run.judging,
        run.work.to_options(),
        goal,
        clean,
    )
    # These options read rows before the run does; standard input can be read once only.
    is_kept = data == "-" and (label_targets or test.earlier_run)
    again = list(rows) if is_kept else None
    note = gates.check_other(
        config,
        test.earlier_run,
        test.margin,
        read_scored_items(config, [], again),
        test.option,
    )
    if note:
        print_note(f"{test.option}: {note}")
    if label_targets:
        check_fit(read_scored_items(config, [], again), label_targets)
    if run.finish.dry_run:
        return print_plan(
            kind.plan(KIND, config, given=again or rows, notes=row_notes),
            config.out,
        )
    # Standard output has results only: what a cluster prints goes where progress goes.
    with redirect_stdout(sys.stderr), TerminalProgress() as progress:
        bad_rows = kind.run(
            KIND,
            config,
            progress,
            given=again or rows,
            notes=row_notes,
            engine=engine,
        )
    report_left_out(bad_rows)
    finished_run = Run(config.out)
    report = (
        None
        if no_report
        else write_report(config.out, media_root=config.folder)
    )
    checked_gates = gates.check(parsed_gates, finished_run.summary)
    worse, unshown = _compare_with_earlier(config.out, test, scored)
    if test.gates is not None:
        gate_results = gate_reports.results(
            config.out,
            scored,
            checked_gates,
            worse | unshown,
            test.earlier_run,
        )
        gate_reports.write_results(test.gates, list(gate_results), data)
    # All reasons for the exit code 1 come together at the end.
    problems = [*gates.missed(checked_gates), *filter(None, worse.values())]
    n_failed = sum(result.n_failed for result in finished_run.summary.values())
    if n_failed > run.finish.allow_failed:
        problems.append(
            f"{n_failed} failed (--allow-failed {run.finish.allow_failed}); for the reasons see"
            " the summary"
        )

    with Store.read(config.out) as store:
        added_tables = by_group.group_tables(store)
        _say_bars(store)
    if goal is not None:
        added_tables.append(gates.until_table(config.out, goal))
    corrected, reasons = labelled_tables(config.out, label_targets)
    added_tables += corrected
    problems += reasons

    def summary() -> str:
        tables = [
            *([gates.gates_table(checked_gates)] if checked_gates else []),
            *added_tables,
        ]
        return together(
            str(config.out), [*tables, *run_tables(config.out)], problems
        )

    means = [summary_table(manifest.read_log(config.out)), *added_tables]
    fields = dict(finished_run.manifest) | {
        table.name: table.rows for table in corrected
    }
    print_summary(fields, means, run.finish.as_json, markdown, summary)
    unshown_reasons = list(filter(None, unshown.values()))
    code = report_end(
        config.out, progress, report, [*problems, *unshown_reasons]
    )
    return UNDECIDED if unshown_reasons and not problems else code


def _compare_with_earlier(
    run: Path, test: TestGroup, scored: Sequence[Metric[Any]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return by metric why the run is worse than an earlier one, and why that is not ruled out."""
    from beholder.kinds.scores import gates

    if test.worse_than is not None:
        worse = gates.worse_than(run, test.worse_than, scored, test.margin)
        return worse, {}
    if test.not_worse_than is not None:
        return {}, gates.not_worse_than(
            run, test.not_worse_than, scored, test.margin
        )
    return {}, {}


def _say_bars(store: Store) -> None:
    """Print a caution if references of the first rows look like several texts in one."""
    texts = (
        text
        for _, item in islice(store.items(), 1000)
        for text in item.references
    )
    if n := sum(" | " in text for text in texts):
        print_note(
            f"caution: {n:,} references contain ' | ' and were read as one text; write several as a"
            " JSON list or in columns reference_1, reference_2"
        )


def _say_unused(tools: ToolGroup, scored: Sequence[Metric[Any]]) -> None:
    """Print the tools that no metric takes."""
    from beholder.asking.params import params

    used_tools = {
        p.metadata["tool"] for metric in scored for p in params(metric)
    }
    for name, spec in tools.specs().items():
        if name not in used_tools:
            print_note(
                f"--{name} {spec} is not used: no metric here takes one"
            )

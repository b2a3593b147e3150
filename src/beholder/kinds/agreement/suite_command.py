"""``beholder agree --suite``: all sets of a folder against many metrics, one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.terminal.groups import TellGroup
from beholder.terminal.printing import (
    close,
    say,
    say_failures,
    say_left_out,
    tell_plan,
    tell_summary,
)

if TYPE_CHECKING:
    from beholder.kinds.agreement.agreement_suite import AgreementSuiteConfig
    from beholder.options import DataOptions, JudgeOptions, WorkOptions


def configure(
    folder: Path,
    metrics: Sequence[str],
    out: Path | None,
    tools: Mapping[str, str],
    options: tuple[DataOptions, JudgeOptions, WorkOptions],
    **study: Any,
) -> AgreementSuiteConfig:
    """What the command asks for; without a metric, all that need neither key nor download.

    Args:
        folder: Holds the sets.
        metrics: Texts of the metrics.
        out: Folder of the runs; runs/suite-FOLDER if None.
        tools: What metrics take that name none themselves.
        options: Rows, judges and work.
        study: Further fields of the configuration.
    """
    from beholder.kinds.agreement.agree import asked
    from beholder.kinds.agreement.agreement_suite import WITHOUT_A_KEY, AgreementSuiteConfig
    from beholder.run.session import default_out

    return AgreementSuiteConfig(
        folder,
        tuple(asked(name, **tools) for name in metrics or WITHOUT_A_KEY),
        out or default_out(str(folder.resolve()), "suite-"),
        *options,
        **study,
    )


def hold_against_suite(
    config: AgreementSuiteConfig,
    tables: Path | None,
    page: bool,
    markdown: str | None,
    tell: TellGroup,
) -> int:
    """Score set after set, then print, write and draw one table; gives the exit code."""
    import msgspec

    from beholder.api import Run
    from beholder.kinds.agreement.agreement_suite import held_against, load_sets, plan_set, together
    from beholder.kinds.agreement.suite_page import measures_table, suite_table, write_suite
    from beholder.report.markdown import summed_up
    from beholder.report.study_tables import write_tables
    from beholder.terminal.progress import TerminalProgress

    sets = load_sets(config.folder, config.rows)
    for judged in sets:
        say_left_out(judged.bad_rows)
    if tell.dry_run:
        return max(
            tell_plan(plan_set(judged, config), config.run_of(judged).out) for judged in sets
        )
    found = []
    for number, judged in enumerate(sets, start=1):
        say(f"set {number} of {len(sets)}: {judged.name}, {len(judged.items):,} judged")
        with TerminalProgress() as progress:
            found.append(held_against(judged, config, progress))
        run = config.run_of(judged).out
        say_failures(Run(run).summary)
        close(run, progress)
    report = together(config, found)
    table = suite_table(report)
    title = "Agreement of metrics with people"
    tell_summary(
        msgspec.to_builtins(report.result),
        [table],
        tell.as_json,
        markdown,
        lambda: summed_up(title, [table]),
    )
    place = tables or config.out / "tables"
    written = write_tables([table, measures_table(report)], place)
    say(f"tables: {place} ({len(written)} files)")
    if page:
        say(f"report: {write_suite(report, config.out / 'suite.html')}")
    return 0

"""Output of commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.base.visible import for_terminal, make_visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from beholder.judges import Tally
    from beholder.records import MetricResult
    from beholder.run.plan import RunPlan
    from beholder.tables import Table
    from beholder.terminal.progress import TerminalProgress

_MAX_REASONS = 5

UNDECIDED = 3
"""Exit code if there are too few data to decide: "not shown" is neither pass nor fail."""

_UNBROKEN = 100_000
"""Width in characters at which no table is split and no line is broken."""

STDOUT = "-"
"""Standard output, where a file may be named."""


STDOUT_NAME = "standard output"


@contextmanager
def name_stdout() -> Iterator[None]:
    """Name standard output in an ``OSError`` of the block, which has no file name of its own."""
    try:
        yield
    except BrokenPipeError:  # no fault: the reader went away
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, STDOUT_NAME) from error


def print_line(text: object) -> None:
    """Print a line on stdout; control characters are made visible."""
    with name_stdout():
        sys.stdout.write(f"{for_terminal(str(text))}\n")


def print_note(text: object) -> None:
    """Print a line on stderr; control characters are made visible."""
    sys.stderr.write(f"{for_terminal(str(text))}\n")


def print_json(value: object) -> None:
    """Print JSON on stdout; in escapes where the terminal's encoding is not UTF-8."""
    # A Windows console of an old code page would print question marks.
    is_ascii_only = (sys.stdout.encoding or "").lower().replace(
        "-", ""
    ) != "utf8"
    print_line(json.dumps(value, ensure_ascii=is_ascii_only, indent=2))


def print_tables(*tables: RenderableType | Table) -> None:
    """Print tables on stdout, as wide as the terminal; a pipe or a file gets unbroken lines.

    The variable COLUMNS sets the width of both.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    from beholder.report.study_tables import SafeConsole, renderable

    console: Console = SafeConsole()
    # Outside a terminal Rich assumes 80 columns, and breaks the words of a cell into pieces that
    # no search finds. Markdown keeps them: it is prose with centred headings.
    has_width = console.is_terminal or "COLUMNS" in os.environ
    if not has_width and not any(isinstance(t, Markdown) for t in tables):
        console = SafeConsole(width=_UNBROKEN)
    with name_stdout():
        for table in tables:
            console.print(renderable(table), crop=False)


def print_result(
    plain: object, tables: Iterable[RenderableType | Table], as_json: bool
) -> None:
    """Print a result as JSON or as tables."""
    if as_json:
        print_json(plain)
    else:
        print_tables(*tables)


def runs_hint() -> str:
    """Return a sentence on what a run is, and the runs in ``runs``."""
    runs = sorted(str(file.parent) for file in Path("runs").glob("*/run.json"))
    listing = (
        f"There are: {', '.join(runs[:10])}."
        if runs
        else "There is none in runs/."
    )
    return f"A run is a folder that commands such as `beholder score` write. {listing}"


def print_summary(
    plain: object,
    tables: Iterable[RenderableType | Table],
    as_json: bool,
    markdown: str | None,
    summary: Callable[[], str],
) -> None:
    """Print a result as JSON or as tables, and sum it up in Markdown where that is asked for.

    Args:
        plain: The result as JSON has it.
        tables: The result as tables.
        as_json: True prints JSON, False the tables.
        markdown: File of the summary; - prints it instead of the result; None for no summary.
        summary: Makes the summary.

    Raises:
        RunError: The file cannot be written.
    """
    # Stdout has one of the two, so that the output can be piped.
    if markdown == STDOUT:
        print_line(summary().rstrip("\n"))
        return
    print_result(plain, tables, as_json)
    if markdown is not None:
        from beholder.base.files import write_text

        write_text(Path(markdown), summary())
        print_note(f"summary: {markdown}")


def warn_incomplete(*runs: Path) -> None:
    """Caution of the runs that are not complete; folders without a run are ignored."""
    from beholder.run.reading import incomplete_runs  # loads pyarrow

    print_notes(f"caution: {caution}" for caution in incomplete_runs(*runs))


def print_notes(lines: Iterable[object]) -> None:
    """Print lines on stderr."""
    for line in lines:
        print_note(line)


def report_left_out(reasons: Iterable[object]) -> None:
    """Report rows that were left out, such as wrong ones."""
    for reason in reasons:
        print_note(f"left out: {reason}")


def report_problems(problems: Sequence[str]) -> int:
    """Report problems such as missing values; returns the exit code."""
    for problem in problems:
        print_note(problem)
    return int(bool(problems))


def report_outside_pictures(folder: Path) -> None:
    """Report that rows written to a folder name pictures elsewhere, and how such rows are read."""
    print_note(
        f"some pictures lie outside {folder}, so their paths are absolute: read the rows with"
        " --media-root FOLDER"
    )


def report_failures(summary: Mapping[str, MetricResult]) -> None:
    """Report for each metric why items have no score, most frequent reasons first."""
    for name, result in summary.items():
        reasons = sorted(result.failures.items(), key=lambda pair: -pair[1])
        for reason, count in reasons[:_MAX_REASONS]:
            print_note(f"{name}: {count:,} failed: {make_visible(reason)}")


def report_end(
    out: Path,
    progress: TerminalProgress,
    report: Path | None = None,
    problems: Sequence[str] = (),
    verb: str = "scored",
) -> int:
    """Report how a run went and where it is; returns the exit code.

    Args:
        out: The run directory.
        progress: Progress display of the run.
        report: Its page, if one was drawn.
        problems: Reasons to fail.
        verb: Verb for the work on a subject.
    """
    counts = (
        f"{progress.scored_now} {verb} now, {progress.failed_now} failed now"
    )
    usage = "".join(
        f"; {words}"
        for words in (progress.tokens_in_words, progress.recalled_in_words)
        if words
    )
    print_note(
        f"{counts}, {progress.reused} reused, {progress.seconds:.1f} s{usage}"
    )
    print_note(f"run: {out}")
    if report is not None:
        print_note(f"report: {report}")
    for problem in problems:
        print_note(f"beholder: {problem}")
    return 1 if problems else 0


def excess_failures(failures: Sequence[str], allowed: int) -> list[str]:
    """The first failures and their number, if there are more than are allowed."""
    if len(failures) <= allowed:
        return []
    # Each reason is printed in full, but only so many: a broken server fails every item alike.
    more = (
        f" ({len(failures) - _MAX_REASONS} more than shown)"
        if len(failures) > _MAX_REASONS
        else ""
    )
    return [
        *(make_visible(failure) for failure in failures[:_MAX_REASONS]),
        f"{len(failures)} failed{more} (--allow-failed {allowed}); the same command tries again"
        " what a second try may fix, and asks nothing else",
    ]


def print_plan(plan: RunPlan, out: Path) -> int:
    """Report what a run would do; returns the exit code."""
    print_line(
        f"{plan.n_items} items, {len(plan.bad_rows)} rows would be left out"
    )
    for row in plan.bad_rows:
        print_line(f"  {row}")
    for note in plan.notes:
        print_line(note)
    # For each metric: what is left to do, what would fail, and bounds on calls and cost.
    for asker in plan.askers:
        print_line(
            f"{asker.name}: {asker.n_to_ask} to score, {asker.n_done} done already"
        )
        print_line(f"  {asker.signature}")
        reasons = sorted(asker.lacking.items(), key=lambda pair: -pair[1])
        for reason, count in reasons[:_MAX_REASONS]:
            print_line(f"  {count} would fail: {make_visible(reason)}")
        if hidden := [count for _, count in reasons[_MAX_REASONS:]]:
            print_line(
                f"  {sum(hidden):,} more would fail for {len(hidden):,} other reasons"
            )
        if asker.judge is not None and asker.judge_most is not None:
            lower, upper = asker.judge_least, asker.judge_most
            is_range = lower is not None and lower.n_calls < upper.n_calls
            # Without a lower bound, or with one below the upper, the number is an estimate.
            word = "about" if lower is None or is_range else "exactly"
            print_line(f"  {word} {_describe_tally(asker.judge)}")
            if asker.judge.n_stored is not None:
                print_line(f"  {_describe_stored(asker.judge)}")
            if is_range and lower is not None:
                print_line(f"  at least {_describe_tally(lower)}")
            if is_range or upper.n_calls > asker.judge.n_calls:
                print_line(f"  at most {_describe_tally(upper)}")
            for name, tally in asker.other_forms.items():
                print_line(f"  {name} instead: about {_describe_tally(tally)}")
    if any(
        asker.judge is not None and asker.judge.n_calls
        for asker in plan.askers
    ):
        print_line(
            "not counted: questions asked again because an answer cannot be used, and short ones"
        )
        print_line("  about what a server can do")
    print_line(f"run directory: {out} (nothing was written)")
    return 0


def _describe_stored(tally: Tally) -> str:
    """Return the number of calls that the cache answers, and the cost of the others."""
    share = f"{tally.n_stored:,} of {tally.n_calls:,} calls are already in the cache"
    if not tally.n_stored or tally.cost is None:
        return share
    return (
        f"{share}; the others cost about ${tally.cost - tally.cost_stored:.4f}"
    )


def _describe_tally(tally: Tally) -> str:
    """Calls, tokens and cost of a tally in words."""
    cost = (
        "cost unknown (no price for this model)"
        if tally.cost is None
        else f"${tally.cost:.4f}"
    )
    tokens = f"{tally.prompt_tokens:,} prompt and {tally.completion_tokens:,} answer tokens"
    return f"{tally.n_calls:,} judge calls, about {tokens}, {cost}"

"""``beholder watch``: begin a series, add runs, read its state, draw its page."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, cast

from cyclopts import App, Parameter

from beholder.errors import ConfigError
from beholder.options import Options
from beholder.terminal.groups import (
    AsJson,
    ItemDataGroup,
    JudgeGroup,
    OutFile,
    WorkGroup,
)
from beholder.terminal.printing import (
    UNDECIDED,
    print_json,
    print_line,
    print_note,
    print_notes,
)

app = App(
    name="watch",
    help="Watch the quality of descriptions over time, on different pictures each time.",
    help_format="markdown",
)

CODES = {"alarm": 1, "learning": UNDECIDED, "gap": UNDECIDED}
"""Exit codes of states; 0 for the others."""


def _options(
    rows: ItemDataGroup, judging: JudgeGroup, work: WorkGroup
) -> Options:
    """Return the groups as the keyword options of the doors."""
    groups = {**vars(rows), **vars(judging), **vars(work.to_options())}
    return cast(Options, groups)


@app.command
def init(
    folder: Path,
    /,
    *,
    metric: Annotated[str, Parameter(alias="-m")],
    anchor: Path | None = None,
    judge: str = "",
    by: str = "",
    quiet: int = 260,
    margin: float = 0.01,
    rows: ItemDataGroup = ItemDataGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
) -> None:
    """Begin a series, and judge the frozen anchor texts twice, without the cache.

    Only the judge can move the scores of the anchor, so they show whether captions or judge
    changed.

    Example: `beholder watch init quality --anchor anchor.jsonl -m accord --by camera`

    Args:
        folder: Folder of the series.
        metric: Metric; its headline value is watched.
        anchor: Data file of 60 to 200 texts that never change.
        judge: Judge of the metric.
        by: Group column of strata, whose mix is fixed now, such as camera.
        quiet: Mean number of looks until a false alarm: 260 is five years of weeks.
        margin: Changes below it do not count.
    """
    from beholder.kinds.watch.door import begin
    from beholder.kinds.watch.folder import WatchSettings

    settings = begin(
        folder,
        WatchSettings(
            metric=metric, judge=judge, by=by, quiet=quiet, margin=margin
        ),
        anchor,
        _options(rows, judging, work),
    )
    n = len(settings.anchor)
    if n:
        print_line(
            f"anchor: {n} texts, judged twice; the judge repeats itself to"
            f" {settings.noise**0.5:.4f} of the mean"
        )
    else:
        print_note(
            "caution: there is no anchor, so alarms cannot say whether captions or judge changed"
        )
    print_note(f"next: beholder watch add {folder} DATA --at YYYY-MM-DD")


@app.command
def add(
    folder: Path,
    data: Path,
    /,
    *,
    at: str,
    rows: ItemDataGroup = ItemDataGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
) -> None:
    """Score the texts of a day and judge the anchor again; the same command resumes.

    Example: `beholder watch add quality weeks/2026-w48.jsonl --at 2026-11-23`

    Args:
        folder: Folder of the series.
        data: Data file with the texts.
        at: Date of the texts, as YYYY-MM-DD.
    """
    from beholder.kinds.watch.door import add_run
    from beholder.kinds.watch.folder import NEW, read_series, read_settings
    from beholder.kinds.watch.series import FEWEST_PICTURES, adjust

    try:
        date.fromisoformat(at)
    except ValueError as error:
        raise ConfigError(
            f"--at {at}: expected a date, such as 2026-11-23"
        ) from error
    before = read_series(folder)
    line = add_run(folder, data, at, _options(rows, judging, work))
    if line is None:
        print_note(f"{data} is in the series already: nothing was added")
        return
    settings = read_settings(folder)
    mean = adjust(line, settings.mix)
    shown = (
        "no adjusted mean, as a stratum of 5 % or more is missing"
        if mean is None
        else f"adjusted mean {mean.value:.3f} ({mean.interval.low:.3f} to"
        f" {mean.interval.high:.3f})"
    )
    print_line(
        f"run {line.number} of {at}: {line.n} pictures, {line.n_failed} texts without a score;"
        f" mean {line.raw:.3f}, {shown}"
    )
    cautions = {
        f"{line.n} pictures are few (below {FEWEST_PICTURES}): the run is tested together with the"
        " next": line.n < FEWEST_PICTURES,
        f"{line.strata[NEW].n if NEW in line.strata else 0} pictures have a value of {settings.by}"
        " that the series did not begin with: they are not in the adjusted mean": NEW
        in line.strata,
        f"{at} is before the last run of {before[-1].time if before else at}: history changed, and"
        " the series is computed from it": bool(before)
        and at < before[-1].time,
        f"another judge answered, {line.judge_model}: the anchor decides what that means": bool(
            before
        )
        and line.judge_model != before[-1].judge_model,
    }
    print_notes(
        f"caution: {text}" for text, is_so in cautions.items() if is_so
    )


@app.command
def check(
    folder: Path,
    /,
    *,
    both: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> int:
    """Print the state; exit code 0 quiet, 1 alarm, 3 still learning.

    A change that the anchor shows to be the judge's alone is printed and is no alarm.

    Example: `beholder watch check quality`

    Args:
        folder: Folder of the series.
        both: Exit with 1 also if texts got better.
    """
    from beholder.kinds.watch.door import log_events, watch
    from beholder.kinds.watch.folder import read_series
    from beholder.kinds.watch.series import describe

    result = watch(folder)
    log_events(folder, result["events"])
    runs = read_series(folder)
    for event in result["events"]:
        if as_json:
            print_json(event)
        else:
            print_line(describe(event, runs))
    state = result["state"]
    if state == "gap":
        print_note(
            f"{folder}: no run has an adjusted mean yet; add one with `beholder watch add`"
        )
    return 1 if both and state == "better" else CODES.get(state, 0)


@app.command
def acknowledge(folder: Path, run: int, why: str, /) -> None:
    """Acknowledge an alarm: a new test begins after a run.

    Example: `beholder watch acknowledge quality 14 "new camera firmware"`

    Args:
        folder: Folder of the series.
        run: Number of the last run before the new beginning.
        why: The reason, which the series keeps.
    """
    from beholder.kinds.watch.door import acknowledge as begin_again

    begin_again(folder, run, why)
    print_line(f"acknowledged: the test begins after run {run}")


@app.command
def bridge(
    folder: Path,
    /,
    *,
    judge: str,
    rows: ItemDataGroup = ItemDataGroup(),
    judging: JudgeGroup = JudgeGroup(),
    work: WorkGroup = WorkGroup(),
) -> None:
    """Continue the series with a new judge, on its scale, by what both say of the anchor.

    Example: `beholder watch bridge quality --judge openai:NEXT`

    Args:
        folder: Folder of the series.
        judge: The new judge.
    """
    from beholder.kinds.watch.door import cross_bridge

    crossed = cross_bridge(folder, judge, _options(rows, judging, work))
    slope = crossed.slope.interval
    print_line(
        f"new = {crossed.intercept:.3f} + {crossed.slope.value:.3f} old ({crossed.n} texts,"
        f" r {crossed.correlation:.3f}); level {crossed.level.value:.3f}"
        f" ({crossed.level.interval.low:.3f} to {crossed.level.interval.high:.3f})"
    )
    if not slope.low <= 1 <= slope.high:
        print_note(
            f"caution: the new judge spreads scores differently: slope {slope.low:.3f} to"
            f" {slope.high:.3f}"
        )


@app.command
def page(folder: Path, /, *, out: OutFile) -> None:
    """Draw the series: adjusted means with intervals, the anchor, marks and a table.

    Example: `beholder watch page quality -o quality.html`

    Args:
        folder: Folder of the series.
        out: HTML file.
    """
    from beholder.kinds.watch.page import write_page

    write_page(folder, out)
    print_note(f"page: {out}")

"""``beholder watch``: begin a series, add runs, read its state, draw its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from beholder.errors import OutputError
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

if TYPE_CHECKING:
    from beholder.kinds.watch.folder import AnchorSet, RunLine, WatchSettings
    from beholder.kinds.watch.scoring import WatchMeans

app = App(
    name="watch",
    help="Watch the quality of descriptions over time, on different pictures each time.",
    help_format="markdown",
)

CODES = {"alarm": 1, "learning": UNDECIDED, "gap": UNDECIDED}
"""Exit codes of states; 0 for the others."""
USUAL_ANCHORS = 60


@Parameter(name="*")
@dataclass(frozen=True)
class WatchGroup:
    """Options of commands that score."""

    rows: ItemDataGroup = field(default_factory=ItemDataGroup)
    judging: JudgeGroup = field(default_factory=JudgeGroup)
    work: WorkGroup = field(default_factory=WorkGroup)

    @contextmanager
    def means(self) -> Iterator[WatchMeans]:
        """Show the progress of the work in the block."""
        from beholder.kinds.watch.scoring import WatchMeans
        from beholder.terminal.progress import TerminalProgress

        work = self.work.to_options()
        with TerminalProgress() as progress:
            yield WatchMeans(self.rows, self.judging, work, progress)


@app.command
def init(
    folder: Path,
    /,
    *,
    metric: Annotated[str, Parameter(alias="-m")],
    anchor: Path | None = None,
    judge: str = "",
    by: str = "",
    label: str = "",
    quiet: int = 260,
    margin: float = 0.01,
    run: WatchGroup = WatchGroup(),
) -> None:
    """Begin a series, and judge the frozen anchor texts twice, without the cache.

    Only the judge can move the scores of the anchor, so they show whether captions or judge
    changed.

    Example: `beholder watch init series -m length --anchor captions.jsonl`

    Args:
        folder: Folder of the series.
        metric: Metric; its headline value is watched.
        anchor: Data file of 60 to 200 texts that never change.
        judge: Judge of the metric.
        by: Group column of strata, whose mix is fixed now, such as camera.
        label: Human judgment of the anchor, whose agreement with the judge is watched.
        quiet: Mean number of looks until a false alarm: 260 is five years of weeks.
        margin: Changes below it do not count.
    """
    from beholder.kinds.watch.door import begin
    from beholder.kinds.watch.folder import WatchSettings, list_some

    with run.means() as means:
        settings = begin(
            folder,
            WatchSettings(
                metric=metric,
                judge=judge,
                by=by,
                label=label,
                quiet=quiet,
                margin=margin,
            ),
            anchor,
            means,
        )
    if settings.anchor is None:
        print_note(
            "caution: there is no anchor, so alarms cannot say whether captions or judge changed"
        )
    else:
        _print_anchor(settings.anchor)
    if settings.mix and by:
        shares = [f"{name} {w:.2f}" for name, w in settings.mix.items()]
        print_line(f"mix of {by}: {list_some(shares)}")
    if settings.merged:
        print_note(f"in other: {list_some(settings.merged)}")
    print_note(f"next: beholder watch add {folder} DATA --at YYYY-MM-DD")


def _print_anchor(anchor: AnchorSet) -> None:
    n = len(anchor.scores)
    print_line(
        f"anchor: {n} texts, judged twice; standard error of their mean from repeating the judge"
        f" {anchor.noise**0.5:.4f}"
    )
    if n < USUAL_ANCHORS:
        print_note(
            f"caution: {n} anchor texts show large changes of the judge alone; use 60 to 200"
        )
    if anchor.n_unchecked:
        print_note(
            f"caution: {anchor.n_unchecked} pictures of the anchor are addresses or cannot be read,"
            " so a change of them is not noticed"
        )
    if anchor.labels:
        print_note(f"{len(anchor.labels)} of them have a human label")


@app.command
def add(
    folder: Path,
    data: Path,
    /,
    *,
    at: str,
    run: WatchGroup = WatchGroup(),
    as_json: AsJson = False,
    dry_run: bool = False,
) -> int:
    """Score the texts of a day and judge the anchor again; the same command resumes.

    Example: `beholder watch add watched descriptions.jsonl --at 2026-11-23 --dry-run`

    Args:
        folder: Folder of the series.
        data: Data file with the texts.
        at: Date of the texts, as YYYY-MM-DD.
        dry_run: Check all input and count the questions, without asking or writing.
    """
    import msgspec

    from beholder.kinds.watch.door import add_run, find_run, plan_run
    from beholder.kinds.watch.folder import read_series, read_settings
    from beholder.terminal.printing import print_plan

    with run.means() as means:
        plans = plan_run(folder, data, at, means) if dry_run else []
        codes = [print_plan(plan, out) for out, plan in plans]
        before = read_series(folder)
        result = None if dry_run else add_run(folder, data, at, means)
    if codes:
        return max(codes)
    if result is None:
        known = find_run(read_series(folder), data)
        print_note(
            f"{data} is in the series already"
            + (f", as run {known.number} of {known.time}" if known else "")
            + ": nothing is added"
        )
        return 0
    line, notes = result
    if as_json:
        print_json(msgspec.to_builtins(line))
    else:
        print_line(_describe_run(line, read_settings(folder)))
    print_notes(notes)
    print_notes(
        f"caution: {caution}"
        for caution in _find_cautions(folder, line, before)
    )
    return 0


def _describe_run(line: RunLine, settings: WatchSettings) -> str:
    from beholder.kinds.watch.series import (
        adjust,
        find_missing,
        pool_deviations,
    )

    pooled = pool_deviations([line])
    mean = adjust(line.strata, settings.mix, pooled)
    if mean is None:
        missing = find_missing(line.strata, settings.mix, pooled)
        description = f"no adjusted mean: too few pictures of {', '.join(missing) or 'all strata'}"
    else:
        ends = mean.interval
        description = f"adjusted mean {mean.value:.3f} ({ends.low:.3f} to {ends.high:.3f})"
    return (
        f"run {line.number} of {line.time}: {line.n} pictures, {line.n_failed} texts without a"
        f" score; mean {line.raw:.3f}, {description}"
    )


def _find_cautions(
    folder: Path, line: RunLine, before: list[RunLine]
) -> Iterator[str]:
    from beholder.kinds.watch.events import find_late_runs
    from beholder.kinds.watch.folder import (
        NEW,
        list_some,
        read_events,
        read_settings,
    )
    from beholder.kinds.watch.series import FEWEST_PICTURES, LARGE_STRATUM

    settings = read_settings(folder)
    if line.n_bad_rows:
        yield f"{line.n_bad_rows} rows were left out, as they are wrong"
    if line.n < FEWEST_PICTURES:
        yield (
            f"{line.n} pictures are few (below {FEWEST_PICTURES}): the run is tested together with"
            " the next"
        )
    if NEW in line.strata:
        n = line.strata[NEW].n
        yield (
            f"{n} pictures ({100 * n / line.n:.0f} %) have a value of {settings.by}"
            " that the series did not begin with: they are not in the adjusted mean"
        )
    absent = [name for name in settings.mix if name not in line.strata]
    weight = sum(settings.mix[name] for name in absent)
    if weight >= LARGE_STRATUM:
        yield (
            f"no pictures of {len(absent)} strata with {100 * weight:.0f} % of the weight together"
            f" ({list_some(absent)}): the others have it"
        )
    present = settings.anchor
    n_left_out = len(present.scores) - len(line.anchor) if present else 0
    if n_left_out > 0:
        yield f"{n_left_out} anchor texts have no score and are left out"
    if find_late_runs([line], read_events(folder)):
        yield "history changed: the date is before the last check, so the series is computed again"
    last = max(before, key=lambda run: run.number, default=None)
    if last is not None and set(line.judges) != set(last.judges):
        yield (
            f"another judge answered: {line.judge_model or 'none'}, before"
            f" {last.judge_model or 'none'}; the anchor decides what that means"
        )


@app.command
def check(
    folder: Path,
    /,
    *,
    both: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> int:
    """Print the state; exit code 0 quiet, 1 alarm, 3 still learning or no adjusted mean.

    A change that the anchor shows to be the judge's alone is printed and is no alarm. New events
    are written to events.jsonl, and sent if OTEL_EXPORTER_OTLP_ENDPOINT is set (extra otel).

    Example: `beholder watch check watched`

    Args:
        folder: Folder of the series.
        both: Exit with 1 also if texts got better.
    """
    from beholder.kinds.watch.door import watch
    from beholder.kinds.watch.events import (
        describe,
        find_late_runs,
        log_events,
        send_events,
    )
    from beholder.kinds.watch.folder import (
        read_events,
        read_series,
        read_settings,
    )
    from beholder.kinds.watch.series import build_points

    result = watch(folder)
    runs, events = read_series(folder), result["events"]
    late = find_late_runs(runs, read_events(folder))
    send_events(log_events(folder, events, runs))
    for event in events:
        if as_json:
            # An object a line, for a file that grows with each check.
            print_line(json.dumps(event))
        else:
            print_line(describe(event))
    if late:
        dates = ", ".join(f"{run.number} ({run.time})" for run in late)
        print_note(
            f"caution: history changed: runs {dates} have dates before the last check, so the"
            " series was computed again"
        )
    if not events:
        print_note(
            f"{folder} has no run; add one with `beholder watch add {folder} DATA --at YYYY-MM-DD`"
        )
    series = build_points(read_settings(folder), runs)
    if series.waiting and series.points:
        n = sum(waiting.n for waiting in series.waiting)
        last = series.waiting[-1]
        print_note(
            f"caution: run {last.number} of {last.time} is not tested yet: {n} pictures are few, so"
            " it waits for the next"
        )
    few = [event for event in events[:1] if event["n"] < 50]
    print_notes(
        f"caution: run {event['run']} has {event['n']} pictures; below 50 the sequence, which is"
        " asymptotic, may be too narrow"
        for event in few
    )
    state = result["state"]
    return 1 if both and state == "better" else CODES.get(state, 0)


@app.command
def acknowledge(folder: Path, run: int, why: str, /) -> None:
    """Acknowledge an alarm: a new test begins after a run, and learns again.

    Example: `beholder watch acknowledge watched 1 "new camera firmware"`

    Args:
        folder: Folder of the series.
        run: Number of the last run before the new beginning.
        why: The reason, which the series keeps.
    """
    from beholder.kinds.watch.door import acknowledge as begin_again

    begin_again(folder, run, why)
    print_line(f"acknowledged: the test begins after run {run}")


@app.command
def anchor(
    folder: Path, /, *, replace: Path, run: WatchGroup = WatchGroup()
) -> None:
    """Begin a new anchor when a text or picture of the old one is gone.

    It is judged twice now, and continues from the shift of the old one at the last run.

    Example: `beholder watch anchor watched --replace descriptions.jsonl`

    Args:
        folder: Folder of the series.
        replace: Data file of the new texts.
    """
    from beholder.kinds.watch.door import replace_anchor

    with run.means() as means:
        frozen = replace_anchor(folder, replace, means)
    _print_anchor(frozen)
    print_note(
        "caution: of a change across this replacement, captions or judge will be unknown"
    )


@app.command
def bridge(
    folder: Path,
    /,
    *,
    judge: str = "",
    run: WatchGroup = WatchGroup(),
) -> None:
    """Continue the series with a new judge, prompt or version, on its scale.

    It is judged on the anchor, twice; a line leads from the old scores to the new ones.

    Example: `beholder watch bridge quality --judge openai:NEXT`

    Args:
        folder: Folder of the series.
        judge: The new judge; by default the present one, with other prompts or another version.
    """
    from beholder.kinds.watch.door import cross_bridge

    with run.means() as means:
        crossed = cross_bridge(folder, judge, means)
    if crossed is None:
        print_note(f"the series is on the scale of {judge} already")
        return
    slope, level = crossed.slope.interval, crossed.level
    print_line(
        f"new = {crossed.intercept:.3f} + {crossed.slope.value:.3f} old ({crossed.n} texts,"
        f" r {crossed.correlation:.3f}); level {level.value:.3f}"
        f" ({level.interval.low:.3f} to {level.interval.high:.3f})"
    )
    if not slope.low <= 1 <= slope.high:
        print_note(
            f"caution: the new judge spreads scores differently: slope {slope.low:.3f} to"
            f" {slope.high:.3f}"
        )


@app.command
def page(folder: Path, /, *, out: OutFile) -> None:
    """Draw the series: adjusted means with intervals, the anchor, marks and a table.

    Example: `beholder watch page watched -o watched.html`

    Args:
        folder: Folder of the series.
        out: HTML file.
    """
    from beholder.kinds.watch.page import write_page

    if out.is_dir():
        raise OutputError(out, "it is a folder; name a file")
    write_page(folder, out)
    print_note(f"page: {out}")

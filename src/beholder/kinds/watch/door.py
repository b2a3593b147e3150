"""``beholder.watch``: begin a series, add runs to it, and read its state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack

import msgspec

from beholder._version import __version__
from beholder.errors import ConfigError, RunError
from beholder.kinds.watch.changes import judge_state, worst_state
from beholder.kinds.watch.folder import (
    RUNS,
    SETTINGS,
    Acknowledgement,
    AnchorSet,
    JudgeBridge,
    RunLine,
    WatchSettings,
    check_anchor,
    digest_data,
    read_events,
    read_series,
    read_settings,
    write_events,
    write_series,
    write_settings,
)
from beholder.kinds.watch.scoring import (
    TextScores,
    WatchMeans,
    describe_strata,
    freeze_anchor,
    make_metric,
    measure_mix,
    plan_parts,
    read_texts,
    score_anchor,
    score_texts,
    with_budget,
)
from beholder.kinds.watch.series import (
    anchor_of,
    anchor_shift,
    build_points,
    move_run,
)
from beholder.options import Options, group_options
from beholder.run.plan import RunPlan
from beholder.run.store_file import locked
from beholder.stats.drift import Bridge, build_bridge, judge_noise

FEWEST_BRIDGED = 30
LEAST_CORRELATION = 0.7
"""Correlation of two judges on the anchor below which no bridge leads from one to the other."""


def watch(
    folder: str | Path,
    data: str | Path | None = None,
    *,
    at: str | None = None,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """Return the state of a series; first add a run to it if data are given.

    Args:
        folder: Folder that ``beholder watch init`` made.
        data: Data file of the run.
        at: Date of its texts, such as ``"2026-11-23"``.
        options: Those of every door; see ``beholder.options``.

    Returns:
        ``state`` (``quiet``, ``alarm``, ``better``, ``judge``, ``learning`` or ``gap``) and
        ``events``, production first, as ``beholder watch check --json`` prints them.

    Raises:
        ConfigError: An option is wrong, or data without a date.
        DataError: The data cannot be read.
        RunError: The folder contains no series, or the run does not belong to it.
    """
    path = Path(folder)
    if data is not None:
        means = WatchMeans(*group_options(options))
        add_run(path, Path(data), at or "", means)
    events = judge_state(
        read_settings(path), read_series(path), read_events(path)
    )
    return {"state": worst_state(events), "events": events}


def begin(
    folder: Path,
    settings: WatchSettings,
    anchor: Path | None,
    means: WatchMeans,
) -> WatchSettings:
    """Begin a series, or resume: freeze the anchor and judge it twice.

    Raises:
        ConfigError: A setting is wrong, or a text of the anchor has no stratum.
        DataError: The anchor cannot be read.
        RunError: The folder contains another series, or an anchor text has no score.
    """
    if settings.quiet < 2 or not 0 <= settings.margin < math.inf:
        raise ConfigError(
            f"--quiet {settings.quiet} --margin {settings.margin}: expected 2 looks or more, and a"
            " margin of 0 or more"
        )
    # An unknown metric is refused now, and not at the first run.
    make_metric(settings)
    if (folder / SETTINGS).is_file():
        before = read_settings(folder)
        names = ("metric", "judge", "by", "quiet", "margin", "label")
        source = None if anchor is None else digest_data(anchor)
        old_source = before.anchors[0].source if before.anchors else None
        if source != old_source or any(
            getattr(before, name) != getattr(settings, name) for name in names
        ):
            raise RunError(
                f"{folder} contains another series; choose another folder, or repeat its first"
                " command"
            )
        return before
    with locked(folder):
        if anchor is not None:
            frozen, scored = _judge_twice(
                folder, anchor, "anchor", settings, means
            )
            mix, merged = measure_mix(
                scored.stratum_by_picture.values(), settings.by
            )
            settings = msgspec.structs.replace(
                _with_metric(settings, scored),
                anchors=(frozen,),
                mix=mix,
                merged=merged,
            )
        write_settings(folder, settings)
    return settings


def _with_metric(settings: WatchSettings, scored: TextScores) -> WatchSettings:
    return msgspec.structs.replace(
        settings,
        value=scored.value,
        higher_is_better=scored.higher_is_better,
        signature=scored.masked_signature,
    )


def _judge_twice(
    folder: Path,
    data: Path,
    name: str,
    settings: WatchSettings,
    means: WatchMeans,
) -> tuple[AnchorSet, TextScores]:
    """Freeze an anchor and judge it twice; returns it with the first scores."""
    frozen = freeze_anchor(data, folder / f"{name}.jsonl", settings, means)
    first, second = _score_twice(folder, frozen, name, settings, means)
    # A text that failed once has no score to compare later ones with.
    scores = {
        text: score
        for text, score in first.by_id.items()
        if text in second.by_id
    }
    return msgspec.structs.replace(
        frozen, scores=scores, noise=_noise(first, second)
    ), first


def _score_twice(
    folder: Path,
    anchor: AnchorSet,
    name: str,
    settings: WatchSettings,
    means: WatchMeans,
) -> list[TextScores]:
    parts = [
        folder / RUNS / f"{name}-{place}" for place in ("first", "second")
    ]
    return [
        score_anchor(
            folder, anchor, settings, part, with_budget(means, part, parts)
        )
        for part in parts
    ]


def _noise(first: TextScores, second: TextScores) -> float:
    texts = [text for text in first.by_id if text in second.by_id]
    return judge_noise(
        [first.by_id[text] for text in texts],
        [second.by_id[text] for text in texts],
    )


def _parts(
    folder: Path, digest: str, settings: WatchSettings, means: WatchMeans
) -> tuple[Path, Path]:
    """Return the folders of the texts and of the anchor of a run."""
    out = folder / RUNS / _name_run(digest, settings, means)
    return out / "texts", out / "anchor"


def _name_run(subject: str, settings: WatchSettings, means: WatchMeans) -> str:
    """Return a name that differs with options, so that a refused run does not block the next."""
    key = (subject, settings.metric, settings.judge, settings.bridges,
           means.judging, __version__)  # fmt: skip
    return sha256(repr(key).encode()).hexdigest()[:16]


def find_run(runs: Sequence[RunLine], data: Path) -> RunLine | None:
    """Return the run of a series that was made from the same data."""
    digest = digest_data(data)
    return next((run for run in runs if run.digest == digest), None)


def _parse_day(time: str) -> str:
    try:
        return date.fromisoformat(time).isoformat()
    except ValueError:
        raise ConfigError(
            f"--at {time}: expected a date, such as 2026-11-23"
        ) from None


def plan_run(
    folder: Path, data: Path, time: str, means: WatchMeans
) -> list[tuple[Path, RunPlan]]:
    """Return the plans of a run and its anchor; none if it is in the series. Errors as add_run.

    Nothing is asked or written.
    """
    _parse_day(time)
    settings = read_settings(folder)
    if find_run(read_series(folder), data) is not None:
        return []
    read_texts(data, settings, means)
    texts, judged = _parts(folder, digest_data(data), settings, means)
    plans = list(plan_parts([(data, texts)], settings, means))
    if settings.anchor is not None:
        anchor = check_anchor(folder, settings.anchor)
        fresh = WatchMeans(judging=means.judging)
        plans += plan_parts([(anchor, judged)], settings, fresh)
    return plans


def add_run(
    folder: Path, data: Path, time: str, means: WatchMeans
) -> tuple[RunLine, tuple[str, ...]] | None:
    """Score a file and the anchor, and add both to the series; None if it is there already.

    Returns:
        The line of the run, and notes on its rows.

    Raises:
        ConfigError: The date is wrong, or a text has no stratum.
        DataError: The data cannot be read.
        RunError: The signature is not that of the series, the anchor changed, or nothing is scored.
    """
    day = _parse_day(time)
    settings, digest = read_settings(folder), digest_data(data)
    read_texts(data, settings, means)
    with locked(folder):
        settings, runs = read_settings(folder), read_series(folder)
        if find_run(runs, data) is not None:
            return None
        if settings.anchor is not None:
            check_anchor(folder, settings.anchor)
        parts = _parts(folder, digest, settings, means)
        texts, judged = (with_budget(means, part, parts) for part in parts)
        scored = score_texts(data, settings, parts[0], texts)
        if not scored.by_picture:
            raise RunError(
                f"{data}: no text has a score ({scored.n_failed} failed), so there is nothing to"
                " add; see the reasons with `beholder view` of its folder, or run the command again"
            )
        anchor = None
        if settings.anchor is not None:
            anchor = score_anchor(
                folder, settings.anchor, settings, parts[1], judged
            )
        if not settings.mix:
            mix, merged = measure_mix(
                scored.stratum_by_picture.values(), settings.by
            )
            settings = msgspec.structs.replace(
                _with_metric(settings, scored), mix=mix, merged=merged
            )
        scores = list(scored.by_picture.values())
        line = RunLine(
            number=max((run.number for run in runs), default=0) + 1,
            time=day,
            data=data.name,
            digest=digest,
            signature=scored.signature,
            raw=math.fsum(scores) / len(scores),
            n=len(scores),
            n_failed=scored.n_failed,
            n_bad_rows=scored.n_bad_rows,
            strata=describe_strata(scored, settings),
            anchor={} if anchor is None else anchor.by_id,
            judges=scored.judges if anchor is None else anchor.judges,
        )
        # Settings first: a run that is killed here is added again by the same command.
        write_settings(folder, settings)
        write_series(folder, [*runs, line])
    return line, scored.notes


def acknowledge(folder: Path, number: int, why: str) -> None:
    """Begin a new test after a run.

    Raises:
        ConfigError: There is no such run, or no reason.
        RunError: The folder contains no series, or is busy.
    """
    with locked(folder):
        settings, runs = read_settings(folder), read_series(folder)
        if number not in {run.number for run in runs} or not why.strip():
            raise ConfigError(
                f"acknowledge {number} {why!r}: expected the number of a run (1 to {len(runs)})"
                " and a reason"
            )
        baseline = Acknowledgement(number, why)
        if baseline not in settings.baselines:
            baselines = (*settings.baselines, baseline)
            write_settings(
                folder, msgspec.structs.replace(settings, baselines=baselines)
            )
        # Settings first, and each part once: a command that is killed here is repeated.
        events = read_events(folder)
        line = {"acknowledged": number, "why": why}
        if events[-1:] != [line]:
            write_events(folder, [*events, line])


def replace_anchor(folder: Path, data: Path, means: WatchMeans) -> AnchorSet:
    """Begin a new anchor, which continues from the shift of the old one at the last run.

    Raises:
        ConfigError: The anchor is too small, or has no strata.
        DataError: It cannot be read.
        RunError: The folder contains no series with an anchor, or a text has no score.
    """
    with locked(folder):
        settings, runs = read_settings(folder), read_series(folder)
        if not settings.anchors:
            raise RunError(
                f"{folder} has no anchor to replace; begin a new series with --anchor"
            )
        name = f"anchor-{len(settings.anchors) + 1}"
        frozen, _ = _judge_twice(folder, data, name, settings, means)
        carried = 0.0
        if runs:
            last = max(runs, key=lambda run: run.number)
            carried = anchor_shift(settings, move_run(settings, last)).value
        anchor = msgspec.structs.replace(
            frozen,
            after=max((run.number for run in runs), default=0),
            n_bridges=len(settings.bridges),
            carried=carried,
        )
        anchors = (*settings.anchors, anchor)
        if not runs:
            anchors = (anchor,)
        write_settings(
            folder, msgspec.structs.replace(settings, anchors=anchors)
        )
    return anchor


def cross_bridge(folder: Path, judge: str, means: WatchMeans) -> Bridge | None:
    """Judge the anchor by a new judge, and continue the series on its scale.

    None if the last bridge led to this judge and no run was added since.

    Args:
        folder: Folder of the series.
        judge: The new judge; empty for the present one, with another prompt or version.
        means: What scoring may use.

    Raises:
        RunError: There is no anchor or no run, or no bridge leads to the new judge.
    """
    with locked(folder):
        settings, runs = read_settings(folder), read_series(folder)
        last_bridge = settings.bridges[-1] if settings.bridges else None
        last_number = max((run.number for run in runs), default=0)
        # A command that was killed at its very end is repeated.
        if (
            last_bridge is not None
            and last_bridge.after == last_number
            and judge == last_bridge.judge != ""
        ):
            return None
        # A run before an acknowledged alarm shows the level of the old judge as well.
        whole = msgspec.structs.replace(settings, baselines=())
        points = build_points(whole, runs).points
        if settings.anchor is None or not points:
            raise RunError(
                f"{folder}: a bridge needs an anchor ({len(settings.anchors)}) and a run with an"
                f" adjusted mean ({len(points)})"
            )
        check_anchor(folder, settings.anchor)
        last = max(runs, key=lambda run: run.number)
        # An anchor that was replaced since has no scores of a run yet.
        is_judged = anchor_of(settings, last) == settings.anchor
        old = last.anchor if is_judged else settings.anchor.scores
        new_settings = msgspec.structs.replace(
            settings, judge=judge or settings.judge, signature=""
        )
        name = f"bridge-{_name_run('', new_settings, means)}"
        first, second = _score_twice(
            folder, settings.anchor, name, new_settings, means
        )
        level = points[-1].production
        texts = [text for text in old if text in first.by_id]
        bridge = build_bridge(
            [old[text] for text in texts],
            [first.by_id[text] for text in texts],
            level.value,
            variance=level.error**2,
        )
        _check_bridge(bridge, level.value, judge)
        crossed = JudgeBridge(
            after=max(run.number for run in runs),
            judge=new_settings.judge,
            intercept=bridge.intercept,
            slope=bridge.slope.value,
            error=bridge.level.error,
            noise=_noise(first, second),
        )
        bridged = msgspec.structs.replace(
            _with_metric(new_settings, first),
            bridges=(*settings.bridges, crossed),
        )
        write_settings(folder, bridged)
    return bridge


def _check_bridge(bridge: Bridge, level: float, judge: str) -> None:
    problems: Sequence[tuple[bool, str]] = (
        (
            bridge.n < FEWEST_BRIDGED,
            f"{bridge.n} anchor texts, at least {FEWEST_BRIDGED} are needed",
        ),
        (
            bridge.correlation < LEAST_CORRELATION,
            f"correlation {bridge.correlation:.2f}, at least {LEAST_CORRELATION} is needed",
        ),
        (
            not bridge.is_inside,
            f"the level {level:.3f} lies outside the anchor's scores",
        ),
    )
    reasons = "; ".join(text for is_problem, text in problems if is_problem)
    if reasons:
        raise RunError(
            f"no bridge leads to {judge or 'the new scores'}: {reasons}. Start a new series"
        )

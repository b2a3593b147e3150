"""``beholder.watch``: begin a series, add runs to it, and read its state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

import beholder.run.answers as run_answers
from beholder.base import files
from beholder.errors import ConfigError, RunError
from beholder.kinds.scores.door import score
from beholder.kinds.watch.folder import (
    ANCHOR,
    EVENTS,
    RUNS,
    Acknowledgement,
    JudgeBridge,
    PictureScores,
    RunLine,
    WatchSettings,
    check_anchor,
    collect,
    describe_strata,
    file_digest,
    measure_mix,
    read_series,
    read_settings,
    write_series,
    write_settings,
)
from beholder.kinds.watch.series import (
    Event,
    adjust,
    judge_state,
    points_of,
    worst_state,
)
from beholder.options import Options
from beholder.run.session import Quiet
from beholder.stats.drift import Bridge, build_bridge, judge_noise

FEWEST_ANCHORS = 30
LEAST_CORRELATION = 0.7
"""Correlation of two judges on the anchor below which no bridge leads from one to the other."""


class _Fresh(Quiet):
    """Refuses answers that come from the cache, as they would hide every change of the judge."""

    def recalled(self) -> None:
        raise RunError(
            "an answer of the anchor came from the cache, and so says nothing of the judge today:"
            " judge anchors without a cache"
        )


def watch(folder: str | Path) -> dict[str, Any]:
    """Return the state of a series and the event of each tested figure.

    Args:
        folder: Folder that ``beholder watch init`` made.

    Returns:
        ``state`` (``quiet``, ``alarm``, ``better``, ``judge``, ``learning`` or ``gap``) and
        ``events``, production first.

    Raises:
        RunError: The folder contains no series.
    """
    path = Path(folder)
    events = judge_state(read_settings(path), read_series(path))
    return {"state": worst_state(events), "events": events}


def begin(
    folder: Path,
    settings: WatchSettings,
    anchor: Path | None,
    options: Options,
) -> WatchSettings:
    """Begin a series: freeze the anchor and judge it twice.

    Raises:
        ConfigError: A setting is wrong, or a text of the anchor has no stratum.
        RunError: The folder contains another series, or an anchor text has no score.
    """
    if settings.quiet < 2:
        raise ConfigError(
            f"--quiet {settings.quiet}: expected 2 looks or more"
        )
    digest = "" if anchor is None else file_digest(anchor)
    if (folder / "watch.json").is_file():
        before = read_settings(folder)
        names = ("metric", "judge", "by", "quiet", "margin")
        if digest != before.anchor_digest or any(
            getattr(before, name) != getattr(settings, name) for name in names
        ):
            raise RunError(
                f"{folder} contains another series; choose another folder, or repeat its first"
                " command"
            )
        return before
    files.make_folder(folder)
    if anchor is not None:
        files.write_bytes(folder / ANCHOR, anchor.read_bytes())
        settings = _judge_anchor(
            folder,
            msgspec.structs.replace(settings, anchor_digest=digest),
            options,
        )
    write_settings(folder, settings)
    return settings


def _judge_anchor(
    folder: Path, settings: WatchSettings, options: Options
) -> WatchSettings:
    judged = [
        _score_fresh(
            folder, settings, folder / RUNS / f"anchor-{place}", options
        )
        for place in ("first", "second")
    ]
    (first, described), (second, _) = judged
    return msgspec.structs.replace(
        described,
        anchor=first.by_id,
        noise=judge_noise(
            list(first.by_id.values()),
            [second.by_id[text] for text in first.by_id],
        ),
        mix=measure_mix(first.stratum_of.values()),
    )


def _score_fresh(
    folder: Path, settings: WatchSettings, out: Path, options: Options
) -> tuple[PictureScores, WatchSettings]:
    """Judge the anchor without the cache, and return its scores.

    Raises:
        RunError: A text has no score.
    """
    fresh: Options = {**options, "cache": None}
    scored, described = _score(folder / ANCHOR, settings, out, fresh)
    if scored.n_failed:
        raise RunError(
            f"{out}: {scored.n_failed} anchor texts have no score; run the command again to ask"
            " for them"
        )
    return scored, described


def _score(
    data: Path, settings: WatchSettings, out: Path, options: Options
) -> tuple[PictureScores, WatchSettings]:
    """Score a file; return its scores, and the settings with value and signature.

    Raises:
        RunError: The signature is not that of the series.
    """
    is_anchor = data.name == ANCHOR
    run = score(
        data,
        [settings.metric],
        judge=settings.judge or None,
        out=out,
        progress=_Fresh() if is_anchor else None,
        **options,
    )
    asker = run.manifest["metrics"][0]
    value = asker["values"][0]
    if settings.signature and asker["signature"] != settings.signature:
        raise RunError(
            f"{data}: the metric's signature is {asker['signature']}, the series has"
            f" {settings.signature}. For another judge use `beholder watch bridge`; after another"
            " change begin a new series"
        )
    described = msgspec.structs.replace(
        settings,
        value=value["name"],
        higher_is_better=value["higher_is_better"] is not False,
        signature=asker["signature"],
    )
    scored = collect(run.outcomes(asker["name"]), value["name"], settings.by)
    return scored, described


def add_run(
    folder: Path, data: Path, time: str, options: Options
) -> RunLine | None:
    """Score a file and the anchor, and add both to the series; None if it is there already.

    Raises:
        RunError: The signature is not that of the series, or the anchor changed.
    """
    settings, runs = read_settings(folder), read_series(folder)
    digest = file_digest(data)
    if any(run.digest == digest for run in runs):
        return None
    anchor_file = check_anchor(folder, settings)
    out = folder / RUNS / digest[:16]
    scored, settings = _score(data, settings, out / "texts", options)
    if not scored.by_picture:
        raise RunError(
            f"{data}: no text has a score ({scored.n_failed} failed), so there is nothing to add"
        )
    anchor: dict[str, float] = {}
    if anchor_file is not None:
        judged, _ = _score_fresh(folder, settings, out / "anchor", options)
        anchor = dict(judged.by_id)
    if not settings.mix:
        settings = msgspec.structs.replace(
            settings, mix=measure_mix(scored.stratum_of.values())
        )
    scores = list(scored.by_picture.values())
    models = {row.model for row in run_answers.costs(out / "texts")}
    line = RunLine(
        number=max((run.number for run in runs), default=0) + 1,
        time=time,
        data=data.name,
        digest=digest,
        raw=math.fsum(scores) / len(scores),
        n=len(scores),
        n_failed=scored.n_failed,
        strata=describe_strata(scored, settings.mix),
        anchor=anchor,
        judge_model=", ".join(sorted(models)),
    )
    # WatchSettings first: a run that is killed here is added again by the same command.
    write_settings(folder, settings)
    write_series(folder, [*runs, line])
    return line


def log_events(folder: Path, events: Sequence[Event]) -> None:
    """Write the present events; an alarm that is in the file already is not repeated."""
    path = folder / EVENTS
    logged = (
        []
        if not path.is_file()
        else [
            msgspec.json.decode(line)
            for line in path.read_bytes().split(b"\n")
            if line.strip()
        ]
    )
    keys = ("series", "state", "change_point")
    seen = {tuple(event[key] for key in keys) for event in logged}
    fresh = [
        event
        for event in events
        if event["state"] in {"alarm", "better"}
        and tuple(event[key] for key in keys) not in seen
    ]
    if fresh:
        files.write_jsonl(path, [*logged, *fresh])


def acknowledge(folder: Path, number: int, why: str) -> None:
    """Begin a new test after a run.

    Raises:
        ConfigError: There is no such run, or no reason.
    """
    settings, runs = read_settings(folder), read_series(folder)
    if number not in {run.number for run in runs} or not why.strip():
        raise ConfigError(
            f"acknowledge {number} {why!r}: expected the number of a run (1 to {len(runs)}) and a"
            " reason"
        )
    baselines = (*settings.baselines, Acknowledgement(number, why))
    write_settings(
        folder, msgspec.structs.replace(settings, baselines=baselines)
    )


def cross_bridge(folder: Path, judge: str, options: Options) -> Bridge:
    """Judge the anchor by a new judge, and go on with the series on its scale.

    Raises:
        RunError: There is no anchor or no run, or no bridge leads to the new judge.
    """
    settings, runs = read_settings(folder), read_series(folder)
    check_anchor(folder, settings)
    levels = [
        mean for run in runs if (mean := adjust(run, settings.mix)) is not None
    ]
    if not settings.anchor or not levels:
        raise RunError(
            f"{folder}: a bridge needs an anchor ({len(settings.anchor)} texts) and a run"
            f" ({len(levels)} with a mean)"
        )
    old = runs[-1].anchor or settings.anchor
    out = folder / RUNS / f"bridge-{len(settings.bridges) + 1}"
    scored, described = _score_fresh(
        folder,
        msgspec.structs.replace(settings, judge=judge, signature=""),
        out,
        options,
    )
    texts = [text for text in old if text in scored.by_id]
    last = points_of(settings, runs)[-1].production
    bridge = build_bridge(
        [old[text] for text in texts],
        [scored.by_id[text] for text in texts],
        last.value,
        variance=last.error**2,
    )
    problems = [
        problem
        for is_problem, problem in (
            (
                bridge.n < FEWEST_ANCHORS,
                f"{bridge.n} anchor texts of {FEWEST_ANCHORS}",
            ),
            (
                bridge.correlation < LEAST_CORRELATION,
                f"correlation {bridge.correlation:.2f}, below {LEAST_CORRELATION}",
            ),
            (
                not bridge.is_inside,
                f"the level {last.value:.3f} lies outside the anchor's scores",
            ),
        )
        if is_problem
    ]
    if problems:
        raise RunError(
            f"no bridge leads to {judge}: {'; '.join(problems)}. Start a new series"
        )
    crossed = JudgeBridge(
        max(run.number for run in runs),
        judge,
        bridge.intercept,
        bridge.slope.value,
        bridge.level.error,
    )
    write_settings(
        folder,
        msgspec.structs.replace(
            described,
            anchor=scored.by_id,
            bridges=(*settings.bridges, crossed),
        ),
    )
    return bridge

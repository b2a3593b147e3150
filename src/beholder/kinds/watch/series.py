"""What a series says: the state after its last run, the change, and its cause."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy

from beholder.kinds.watch.folder import RunLine, WatchSettings
from beholder.stats.drift import (
    Cause,
    Drift,
    UncertainValue,
    adjusted_mean,
    estimate,
    find_cause,
    find_drift,
)

LEARNING_RUNS = 8
"""Runs before the first test."""
FEWEST_PICTURES = 20
"""PictureScores pictures below which a run is tested together with the next."""
LARGE_STRATUM = 0.05
"""Weight of a stratum without which a run has no adjusted mean."""
LEAST_VARIANCE = 1e-12
"""Variance of a figure without scatter, such as the anchor of a judge that always says the same."""
TESTS = 3
"""Series that share the rate of false alarms: production, anchor, corrected."""

Event: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """A run, or several small ones, in the test.

    Attributes:
        runs: Its runs.
        production: Adjusted mean of the watched texts.
        anchor: Shift of the anchor's mean since the series began.
        failed: Share of texts without a score.
    """

    runs: tuple[RunLine, ...]
    production: UncertainValue
    anchor: UncertainValue
    failed: UncertainValue

    @property
    def last(self) -> RunLine:
        """Its last run."""
        return self.runs[-1]


def adjust(run: RunLine, mix: Mapping[str, float]) -> UncertainValue | None:
    """Return the mean of a run with the fixed mix; None if a large stratum is missing."""
    present = {
        name: weight
        for name, weight in mix.items()
        if name in run.strata and run.strata[name].n > 1
    }
    missing = [name for name in mix if name not in present]
    if not present or any(mix[name] >= LARGE_STRATUM for name in missing):
        return None
    # Small strata that are missing leave their weight to the others.
    total = sum(present.values())
    strata = [run.strata[name] for name in present]
    return adjusted_mean(
        [stratum.mean for stratum in strata],
        [stratum.deviation for stratum in strata],
        [stratum.n for stratum in strata],
        [weight / total for weight in present.values()],
    )


def points_of(settings: WatchSettings, runs: Sequence[RunLine]) -> list[Point]:
    """Return the runs of the present baseline as points; runs without a mean are left out.

    Scores of an old judge are moved to the scale of the new one.
    """
    begin = max((b.after for b in settings.baselines), default=0)
    points: list[Point] = []
    waiting: Point | None = None
    for run in runs:
        production = adjust(run, settings.mix)
        if run.number <= begin or production is None:
            continue
        point = _bridged(
            settings,
            Point(
                (run,), production, _anchor_shift(settings, run), _failed(run)
            ),
        )
        if waiting is not None:
            point = _joined(waiting, point)
        is_small = sum(part.n for part in point.runs) < FEWEST_PICTURES
        waiting = point if is_small else None
        if not is_small:
            points.append(point)
    return points


def _anchor_shift(settings: WatchSettings, run: RunLine) -> UncertainValue:
    common = [text for text in settings.anchor if text in run.anchor]
    shift = (
        float(np.mean([run.anchor[t] - settings.anchor[t] for t in common]))
        if common
        else 0.0
    )
    return estimate(shift, math.sqrt(settings.noise))


def _failed(run: RunLine) -> UncertainValue:
    n = run.n + run.n_failed
    # Half a failure is added, so that no failure among few texts is not certainty.
    share = (run.n_failed + 0.5) / (n + 1)
    return estimate(run.n_failed / n, math.sqrt(share * (1 - share) / n))


def _bridged(settings: WatchSettings, point: Point) -> Point:
    production = point.production
    for bridge in settings.bridges:
        if point.last.number <= bridge.after:
            production = estimate(
                bridge.intercept + bridge.slope * production.value,
                abs(bridge.slope) * production.error,
            )
    return Point(point.runs, production, point.anchor, point.failed)


def _joined(first: Point, second: Point) -> Point:
    """Return two points as one, weighted by information."""
    return Point(
        first.runs + second.runs,
        _pooled([first.production, second.production]),
        second.anchor,
        _pooled([first.failed, second.failed]),
    )


def _pooled(parts: Sequence[UncertainValue]) -> UncertainValue:
    """Return the mean of estimates, weighted by information."""
    weights = [1 / max(part.error**2, LEAST_VARIANCE) for part in parts]
    total = sum(weights)
    values = [part.value for part in parts]
    mean = sum(w * y for w, y in zip(weights, values, strict=True)) / total
    return estimate(mean, 1 / math.sqrt(total))


def judge_numbers(
    settings: WatchSettings, points: Sequence[Point]
) -> list[int]:
    """Return the number of the judge of each point: it grows when the answering model changes."""
    numbers: list[int] = []
    previous: tuple[int, str] | None = None
    for point in points:
        n_bridges = sum(
            point.last.number > bridge.after for bridge in settings.bridges
        )
        judge = (n_bridges, point.last.judge_model)
        is_new = previous is not None and judge != previous
        numbers.append((numbers[-1] if numbers else 0) + is_new)
        previous = judge
    return numbers


def _guard(
    settings: WatchSettings,
    points: Sequence[Point],
    judges: Sequence[int],
    rate: float,
) -> float:
    """Return the least difference between segments of two judges in the corrected series.

    The anchor's sampling error is common to all later runs of a judge and does not average out.
    """
    errors = [bridge.error for bridge in settings.bridges]
    for before, after, one, other in zip(
        points, points[1:], judges, judges[1:], strict=False
    ):
        common = sorted(set(before.last.anchor) & set(after.last.anchor))
        if one != other and len(common) > 1:
            shifts = [
                after.last.anchor[t] - before.last.anchor[t] for t in common
            ]
            errors.append(
                float(np.std(shifts, ddof=1)) / math.sqrt(len(common))
            )
    return float(scipy.special.ndtri(1 - rate / 2)) * max(errors, default=0.0)


def test_series(
    settings: WatchSettings, points: Sequence[Point]
) -> dict[str, Drift]:
    """Return the test of each series by name: production, anchor, corrected, failed.

    Without an anchor there are production and failed alone.
    """
    if not points:
        return {}
    rate = 1 / settings.quiet / TESTS
    judges = judge_numbers(settings, points)
    guard = _guard(settings, points, judges, rate)
    production = [point.production for point in points]
    anchor = [point.anchor for point in points]
    series = {"production": production}
    if settings.anchor:
        series["anchor"] = anchor
        series["corrected"] = [
            estimate(
                texts.value - shift.value, math.hypot(texts.error, shift.error)
            )
            for texts, shift in zip(production, anchor, strict=True)
        ]
    series["failed"] = [point.failed for point in points]
    return {
        name: find_drift(
            [each.value for each in figures],
            [max(each.error**2, LEAST_VARIANCE) for each in figures],
            rate=rate,
            judges=judges,
            guard=guard if name == "corrected" else 0.0,
        )
        for name, figures in series.items()
    }


def find_cause_of(
    settings: WatchSettings, points: Sequence[Point], change_point: int
) -> Cause | None:
    """Return what changed at a point; None without an anchor."""
    before, after = points[:change_point], points[change_point:]
    if not settings.anchor:
        return None
    first = _pooled([point.production for point in before])
    second = _pooled([point.production for point in after])
    production = estimate(
        second.value - first.value, math.hypot(first.error, second.error)
    )
    texts = [
        text
        for text in settings.anchor
        if all(text in point.last.anchor for point in points)
    ]
    means = [
        [float(np.mean([p.last.anchor[text] for p in part])) for text in texts]
        for part in (before, after)
    ]
    strata = [
        stratum
        for point in after
        for run in point.runs
        for stratum in run.strata.values()
    ]
    freedom = max(1, sum(stratum.n - 1 for stratum in strata))
    return find_cause(
        production, *means, freedom=freedom, margin=settings.margin
    )


def judge_state(
    settings: WatchSettings, runs: Sequence[RunLine]
) -> list[Event]:
    """Return an event for each tested series after its last run, production first."""
    points = points_of(settings, runs)
    if not points:
        return []
    is_learning = len(points) < LEARNING_RUNS
    events = []
    for name, drift in test_series(settings, points).items():
        change = None if is_learning else drift.change_point
        cause = (
            None
            if change is None or name == "failed"
            else find_cause_of(settings, points, change)
        )
        events.append(
            _event(settings, points, name, drift, cause, is_learning)
        )
    return events


def _event(
    settings: WatchSettings,
    points: Sequence[Point],
    name: str,
    drift: Drift,
    cause: Cause | None,
    is_learning: bool,
) -> Event:
    last = points[-1].last
    change = None if is_learning else drift.change_point
    later = max(drift.high, drift.low, key=lambda segment: segment.first)
    good = 1 if settings.higher_is_better and name != "failed" else -1
    state = "learning" if is_learning else "quiet"
    if change is not None:
        state = "alarm" if drift.size * good < 0 else "better"
    size = None if change is None else drift.size
    ends = None if cause is None else cause.captions.interval
    verdict = "" if change is None or name == "failed" else "unknown"
    return {
        "time": last.time,
        "run": last.number,
        "metric": settings.metric,
        "series": name,
        "mean": later.mean,
        "low": later.interval.low,
        "high": later.interval.high,
        "n": last.n,
        "n_runs": len(points),
        "tau": math.sqrt(drift.between),
        "state": state,
        "verdict": verdict if cause is None else cause.verdict,
        "change_point": None
        if change is None
        else points[change].runs[0].number,
        "size": size,
        "size_low": None if ends is None else ends.low,
        "size_high": None if ends is None else ends.high,
        "signature": settings.signature,
        "judge_model": last.judge_model,
    }


def worst_state(events: Sequence[Event]) -> str:
    """Return the state of a series: alarm, better, quiet, learning, or gap without an event.

    The production series decides together with the corrected one; a change that the anchor shows to
    be the judge's alone is ``judge``, as it says nothing of the texts.
    """
    if not events:
        return "gap"
    alarms = [event for event in events if event["state"] == "alarm"]
    texts = [
        event
        for event in alarms
        if event["series"] != "anchor" and event["verdict"] != "judge"
    ]
    if texts:
        return "alarm"
    if any(event["verdict"] == "judge" for event in events) or alarms:
        return "judge"
    if any(event["state"] == "better" for event in events):
        return "better"
    return str(events[0]["state"])


def describe(event: Event, runs: Sequence[RunLine]) -> str:
    """Return an event in a sentence."""
    subject = {
        "production": "the watched texts",
        "anchor": "the judge on the anchor",
        "corrected": "the watched texts, less the judge's shift",
        "failed": "the share of texts without a score",
    }[event["series"]]
    ends = f"{event['mean']:.3f} ({event['low']:.3f} to {event['high']:.3f})"
    if event["state"] == "learning":
        return f"learning: {event['n_runs']} of {LEARNING_RUNS} runs; {subject}: {ends}"
    if event["state"] == "quiet":
        return f"quiet: no change of {subject} is shown: {ends}"
    begin = next(r for r in runs if r.number == event["change_point"])
    causes = {
        "": "",
        "unknown": "; captions or judge: unknown, as there is no anchor",
        "captions": "; the captions changed, not the judge",
        "judge": "; the judge changed, not the captions",
        "both": "; captions and judge changed",
        "unclear": "; whether captions or judge changed is not clear",
    }
    by = (
        ""
        if event["size_low"] is None
        else (
            f", the captions' part of it {event['size_low']:+.3f} to {event['size_high']:+.3f}"
        )
    )
    return (
        f"{event['state'].upper()}: {subject} changed by {event['size']:+.3f} from run"
        f" {begin.number} ({begin.time}) on: {ends}{by}{causes[event['verdict']]}"
    )

"""Changes of a series: the tests after its last run, their causes, and the events they make."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy

from beholder.kinds.watch.folder import RunLine, WatchSettings
from beholder.kinds.watch.series import (
    SeriesPoint,
    SeriesPoints,
    anchor_of,
    build_points,
    join_strata,
    move_scores,
    n_bridges_before,
    number_judges,
    present_runs,
)
from beholder.records import Interval
from beholder.stats.drift import (
    Cause,
    Drift,
    MeanSegment,
    UncertainValue,
    agreement_change,
    estimate,
    find_cause,
    find_drift,
    mean_sequence,
    variance_between,
)

LEARNING_RUNS = 8
"""Runs before the first test."""
LEAST_VARIANCE = 1e-12
"""Variance of a figure without scatter, such as texts that all have one score."""
LEAST_STEP = 1e-9
"""Change of the anchor's mean that is more than rounding."""
TESTS = 3
"""Series that share the rate of false alarms: production, anchor, corrected."""
TEXT_SERIES = ("production", "corrected", "failed")
"""Series whose alarms decide; the others say what the judge did."""

Event: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class SeriesTest:
    """A tested series.

    Attributes:
        name: production, anchor, corrected or failed.
        figures: The figure of each point.
        between: Variance between points that is added.
        drift: The change that is shown, or the two segments that differ most.
        since: Place of the first point after the last change.
        begin: Place of the first point that the later ones are compared with.
    """

    name: str
    figures: Sequence[UncertainValue]
    between: float
    drift: Drift
    since: int = 0
    begin: int = 0

    @property
    def values(self) -> list[float]:
        """The figures without their errors."""
        return [figure.value for figure in self.figures]

    @property
    def variances(self) -> list[float]:
        """The squared standard errors."""
        return [max(f.error**2, LEAST_VARIANCE) for f in self.figures]


def rate_of(settings: WatchSettings) -> float:
    """Return the rate of false alarms of one series."""
    return 1 / settings.quiet / TESTS


def quantile_of(settings: WatchSettings) -> float:
    """Return the normal quantile of errors that do not average out in later runs."""
    return float(scipy.special.ndtri(1 - rate_of(settings) / 2))


def run_tests(
    settings: WatchSettings, points: Sequence[SeriesPoint]
) -> list[SeriesTest]:
    """Return the tests, production first; without an anchor there are production and failed."""
    if not points:
        return []
    judges = number_judges(settings, points)
    crossed = [n_bridges_before(settings, point.last) for point in points]
    z = quantile_of(settings)
    bridges = z * max((b.error for b in settings.bridges), default=0.0)
    production = [point.production for point in points]
    shifts = [point.anchor for point in points]
    tests = [_test(settings, "production", production, crossed, bridges)]
    if settings.anchors:
        corrected = [
            estimate(
                texts.value - shift.value, math.hypot(texts.error, shift.error)
            )
            for texts, shift in zip(production, shifts, strict=True)
        ]
        is_exact = not any(shift.error for shift in shifts)
        tests.append(
            _step(points)
            if is_exact
            else _test(settings, "anchor", shifts, crossed, 0.0)
        )
        guard = max(bridges, z * _anchor_error(points, judges))
        tests.append(_test(settings, "corrected", corrected, judges, guard))
    failed = [point.failed for point in points]
    return [*tests, _test(settings, "failed", failed, crossed, 0.0)]


def _anchor_error(
    points: Sequence[SeriesPoint], judges: Sequence[int]
) -> float:
    """Return the largest error of the anchor's shift at a change of judge.

    It is common to all later runs of a judge and does not average out.
    """
    errors = [0.0]
    for place in range(1, len(points)):
        before, after = (
            points[place - 1].last.anchor,
            points[place].last.anchor,
        )
        shifts = [
            after[text] - before[text] for text in before if text in after
        ]
        if judges[place] != judges[place - 1] and len(shifts) > 1:
            errors.append(float(np.std(shifts, ddof=1)) / len(shifts) ** 0.5)
    return max(errors)


def _test(
    settings: WatchSettings,
    name: str,
    figures: Sequence[UncertainValue],
    judges: Sequence[int],
    guard: float,
) -> SeriesTest:
    segment = MeanSegment(0, 0, 0.0, Interval(0.0, 0.0))
    blank = Drift(segment, segment, is_change=False, between=0.0)
    test = SeriesTest(name, figures, 0.0, blank)
    values, variances = test.values, test.variances
    between = variance_between(values, variances)
    since, better = 0, None
    # After an improvement the test continues from there, so that a later fall is not hidden.
    while True:
        drift = find_drift(
            values[since:],
            variances[since:],
            rate=rate_of(settings),
            judges=judges[since:],
            guard=guard,
            between=between,
        )
        drift = _shift_places(drift, since)
        change = drift.change_point
        # The change is from the earlier segment: runs before it may be of another judge or level.
        begin = min(drift.high.first, drift.low.first)
        test = SeriesTest(
            name, figures, between, drift, change or since, begin
        )
        if change is None:
            return better or test
        if not is_better(settings, name, drift.size):
            return test
        since, better = change, test


def _shift_places(drift: Drift, by: int) -> Drift:
    high, low = (
        replace(segment, first=segment.first + by, last=segment.last + by)
        for segment in (drift.high, drift.low)
    )
    return replace(drift, high=high, low=low)


def _step(points: Sequence[SeriesPoint]) -> SeriesTest:
    """Return the test of a judge that repeats itself exactly: the last change, however small."""
    shifts = [point.anchor for point in points]
    changes = [0, *(n for n in range(1, len(points)) if _has_step(points, n))]
    begin, change = changes[-2:] if len(changes) > 1 else (0, len(points))
    segments = []
    for first, last in (
        (begin, change),
        (min(change, len(points) - 1), len(points)),
    ):
        mean = float(np.mean([shift.value for shift in shifts[first:last]]))
        segments.append(
            MeanSegment(first, last - 1, mean, Interval(mean, mean))
        )
    low, high = sorted(segments, key=lambda segment: segment.mean)
    is_change = len(changes) > 1
    drift = Drift(high, low, is_change, 0.0)
    return SeriesTest(
        "anchor", shifts, 0.0, drift, change if is_change else 0, begin
    )


def _has_step(points: Sequence[SeriesPoint], place: int) -> bool:
    """Return whether the anchor's mean moved from the point before a place."""
    before, after = points[place - 1], points[place]
    # The same texts: one that fails in a single run is no change of the judge.
    steps = [
        after.last.anchor[text] - score
        for text, score in before.last.anchor.items()
        if text in after.last.anchor
    ] or [after.anchor.value - before.anchor.value]
    return abs(float(np.mean(steps))) > LEAST_STEP


def is_better(settings: WatchSettings, name: str, size: float) -> bool:
    """Return whether a change is an improvement; the anchor has none."""
    if name == "anchor":
        return False
    is_up_good = settings.higher_is_better and name != "failed"
    return size > 0 if is_up_good else size < 0


def pool(
    figures: Sequence[UncertainValue], between: float = 0.0
) -> UncertainValue:
    """Return the mean of figures, weighted by information."""
    weights = [
        1 / max(figure.error**2 + between, LEAST_VARIANCE)
        for figure in figures
    ]
    values = [figure.value for figure in figures]
    mean = sum(w * y for w, y in zip(weights, values, strict=True))
    return estimate(mean / sum(weights), 1 / math.sqrt(sum(weights)))


def find_size(test: SeriesTest) -> UncertainValue:
    """Return the change of a series at its change point, with the interval of a single look."""
    change = test.drift.change_point or 0
    before, after = (
        pool(part, test.between)
        for part in (test.figures[test.begin : change], test.figures[change:])
    )
    return estimate(
        after.value - before.value, math.hypot(before.error, after.error)
    )


def find_cause_at(
    settings: WatchSettings,
    points: Sequence[SeriesPoint],
    change: int,
    between: float,
) -> Cause | None:
    """Return what changed at a point; None without anchor texts before and after it."""
    if not settings.anchors:
        return None
    anchors = [anchor_of(settings, points[n].last) for n in (0, -1)]
    if anchors[0].after != anchors[1].after:
        return None
    parts = points[:change], points[change:]
    means = [_mean_scores(part) for part in parts]
    # A text that failed in some runs counts by its other scores.
    texts = [text for text in means[0] if text in means[1]]
    if len(texts) < 2:
        return None
    production = [
        pool([point.production for point in part], between) for part in parts
    ]
    later = join_strata(run.strata for p in parts[1] for run in p.runs)
    strata = [
        stratum for name, stratum in later.items() if name in settings.mix
    ]
    freedom = sum(stratum.n for stratum in strata) - len(strata)
    return find_cause(
        estimate(
            production[1].value - production[0].value,
            math.hypot(production[0].error, production[1].error),
        ),
        *([part[text] for text in texts] for part in means),
        freedom=max(1, freedom),
        margin=settings.margin,
    )


def _mean_scores(points: Sequence[SeriesPoint]) -> dict[str, float]:
    """Return the mean score of each anchor text over the points that have one."""
    scores: dict[str, list[float]] = defaultdict(list)
    for point in points:
        for text, score in point.last.anchor.items():
            scores[text].append(score)
    return {text: float(np.mean(each)) for text, each in scores.items()}


def judge_state(
    settings: WatchSettings,
    runs: Sequence[RunLine],
    log: Sequence[Mapping[str, Any]] = (),
) -> list[Event]:
    """Return an event for each series after its last run, production first.

    Args:
        settings: The series.
        runs: Its runs, in the order of time.
        log: Lines of ``events.jsonl``: an alarm stays until it is acknowledged.
    """
    series = build_points(settings, runs)
    points = series.points
    tests = run_tests(settings, points)
    events = [_event(settings, points, test) for test in tests]
    if points and settings.anchor is not None and settings.anchor.labels:
        events += _agreement(settings, points)
    gap = _gap(settings, series, runs)
    if gap is not None:
        events = [gap, *events[1:]] if points else [gap]
    open_alarms = find_open_alarms(log)
    for event in events:
        alarm = open_alarms.get(event["series"])
        if alarm is not None and event["state"] != "alarm":
            names = ("state", "verdict", "change_point", "size", "size_low",
                     "size_high", "before", "after", "judge", "captions")  # fmt: skip
            event |= {name: alarm[name] for name in names}
    return events


def find_open_alarms(log: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the alarms that are not acknowledged, by series."""
    open_alarms: dict[str, Any] = {}
    for line in log:
        if "acknowledged" in line:
            open_alarms.clear()
        elif line.get("state") == "alarm":
            open_alarms[line["series"]] = line
    return open_alarms


def _blank(settings: WatchSettings, run: RunLine, name: str) -> Event:
    return {
        "time": run.time,
        "run": run.number,
        "metric": settings.metric,
        "series": name,
        "mean": None,
        "low": None,
        "high": None,
        "n": run.n,
        "n_runs": 0,
        "tau": None,
        "state": "quiet",
        "verdict": "",
        "change_point": None,
        "size": None,
        "size_low": None,
        "size_high": None,
        "before": None,
        "after": None,
        "judge": None,
        "captions": None,
        "signature": run.signature,
        "judge_model": run.judge_model,
    }


def _gap(
    settings: WatchSettings, series: SeriesPoints, runs: Sequence[RunLine]
) -> Event | None:
    """Return the event of a last run without an adjusted mean; None if it has one."""
    last = runs[-1] if runs else None
    if last is None or (series.points and last.number not in series.missing):
        return None
    n_runs = len(series.points)
    return {
        **_blank(settings, last, "production"),
        "state": "gap",
        "missing": series.missing.get(last.number, []),
        "baseline": None if present_runs(settings, runs) else last.number,
        "n_runs": n_runs,
    }


def _event(
    settings: WatchSettings, points: Sequence[SeriesPoint], test: SeriesTest
) -> Event:
    sequence = mean_sequence(
        test.values,
        test.variances,
        rate=rate_of(settings),
        between=test.between,
        first=test.since,
    )
    ends = sequence[-1].interval
    if test.name == "failed":
        ends = Interval(max(0.0, ends.low), min(1.0, ends.high))
    event = _blank(settings, points[-1].last, test.name) | {
        "mean": sequence[-1].mean,
        "low": ends.low,
        "high": ends.high,
        "n": points[-1].n,
        "n_runs": len(points),
        "tau": math.sqrt(test.between),
    }
    change = test.drift.change_point
    if len(points) < LEARNING_RUNS:
        return event | {"state": "learning"}
    if change is None:
        return event
    size = find_size(test)
    # The anchor of a judge that repeats itself exactly shows each change; of texts, small ones do
    # not count.
    if test.name != "anchor" and abs(test.drift.size) < settings.margin:
        return event
    earlier, later = sorted(
        (test.drift.high, test.drift.low), key=lambda s: (s.first, s.last)
    )
    event |= {
        "state": "alarm",
        "change_point": points[change].runs[0].number,
        "size": test.drift.size,
        "size_low": size.interval.low,
        "size_high": size.interval.high,
        "before": _segment(points, earlier),
        "after": _segment(points, later),
    }
    if is_better(settings, test.name, test.drift.size):
        event["state"] = "better"
    return (
        event
        if test.name == "failed"
        else _with_cause(settings, points, test, event)
    )


def _segment(
    points: Sequence[SeriesPoint], segment: MeanSegment
) -> dict[str, Any]:
    return {
        "first": points[segment.first].runs[0].number,
        "last": points[segment.last].last.number,
        "mean": segment.mean,
        "low": segment.interval.low,
        "high": segment.interval.high,
    }


def _with_cause(
    settings: WatchSettings,
    points: Sequence[SeriesPoint],
    test: SeriesTest,
    event: Event,
) -> Event:
    change = test.drift.change_point or 0
    between = variance_between(
        [point.production.value for point in points],
        [point.production.error**2 for point in points],
    )
    cause = find_cause_at(
        settings, points[test.begin :], change - test.begin, between
    )
    if cause is None:
        return event | {"verdict": "unknown"}
    state, verdict = event["state"], cause.verdict
    # The judge moved and there is a look at each run: at the 95 % of one look a change of judge
    # alone would soon be called both, as the anchor's error stays.
    if (
        verdict == "both"
        and abs(cause.captions.value)
        < quantile_of(settings) * cause.captions.error
    ):
        verdict = "judge"
    if verdict == "judge" or test.name == "anchor":
        state = "judge"
    elif verdict in ("captions", "both"):
        rises = is_better(settings, "production", cause.captions.value)
        state = "better" if rises else "alarm"
    return event | {
        "state": state,
        "verdict": verdict,
        **{
            name: {
                "value": part.value,
                "low": part.interval.low,
                "high": part.interval.high,
            }
            for name, part in (
                ("judge", cause.judge),
                ("captions", cause.captions),
            )
        },
    }


def _agreement(
    settings: WatchSettings, points: Sequence[SeriesPoint]
) -> list[Event]:
    """Return the event of the judge's agreement with people on the anchor, against its begin."""
    anchor, last = settings.anchors[-1], points[-1].last
    texts = [text for text in anchor.labels if text in last.anchor]
    if len(texts) < 3 or anchor_of(settings, last) != anchor:
        return []
    before = move_scores(anchor.scores, settings.bridges[anchor.n_bridges :])
    labels = [anchor.labels[text] for text in texts]
    after = [last.anchor[text] for text in texts]
    change = agreement_change(labels, [before[text] for text in texts], after)
    level = agreement_change(labels, [0.0] * len(texts), after)
    z = float(scipy.special.ndtri(1 - rate_of(settings)))
    is_drop = change.value + z * change.error < 0 and change.value < 0
    return [
        _blank(settings, last, "agreement")
        | {
            "mean": level.value,
            "low": level.interval.low,
            "high": level.interval.high,
            "n": len(texts),
            "n_runs": len(points),
            "state": "judge" if is_drop else "quiet",
            "size": change.value,
            "size_low": change.interval.low,
            "size_high": change.interval.high,
        }
    ]


def worst_state(events: Sequence[Event]) -> str:
    """Return the state of a series: alarm, gap, learning, judge, better or quiet.

    A change that the anchor shows to be the judge's alone is ``judge``, as it says nothing of the
    texts.
    """
    states = {
        event["state"] for event in events if event["series"] in TEXT_SERIES
    }
    if not events:
        return "gap"
    if any(event["state"] == "judge" for event in events):
        states.add("judge")
    order = ("alarm", "gap", "learning", "better", "judge")
    return next((name for name in order if name in states), "quiet")

"""The page of a series: adjusted means, the anchor, the mix, marks, and all of it in a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from beholder.base import files
from beholder.kinds.watch.changes import (
    LEARNING_RUNS,
    LEAST_VARIANCE,
    SeriesTest,
    judge_state,
    rate_of,
    run_tests,
    worst_state,
)
from beholder.kinds.watch.events import describe
from beholder.kinds.watch.folder import (
    NEW,
    RunLine,
    WatchSettings,
    list_some,
    read_events,
    read_series,
    read_settings,
)
from beholder.kinds.watch.series import (
    FEWEST_PICTURES,
    SeriesPoint,
    anchor_of,
    build_points,
    join_strata,
    move_run,
    move_scores,
    number_judges,
    present_runs,
)
from beholder.records import Interval
from beholder.report.numbers import show_tick, ticks
from beholder.report.pages import render_page
from beholder.stats.drift import (
    UncertainValue,
    mean_sequence,
    runs_to_show,
)

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 26, 34
N_BANDS = 6
"""Strata with a band of their own; the rest share one."""


@dataclass
class SeriesChart:
    """A chart over the runs, in units of its view box.

    Attributes:
        title: Title.
        n_runs: Runs on the axis.
        ticks: Round values of the axis.
        points: Mean and ends of its interval by place.
        line: Other values by place, drawn thin.
        sequence: Mean and ends of the sequence by place.
    """

    title: str
    n_runs: int
    ticks: list[float]
    points: Mapping[int, tuple[float, float, float]]
    line: Mapping[int, float] = field(default_factory=dict)
    sequence: Mapping[int, tuple[float, float, float]] = field(
        default_factory=dict
    )

    def x(self, place: int) -> float:
        """Return the horizontal position of a run."""
        share = (place + 0.5) / self.n_runs
        return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (high - value) / (high - low)
        return round(_TOP + share * (HEIGHT - _TOP - _BOTTOM), 1)

    def tick(self, value: float) -> str:
        """Return the label of a value of the axis."""
        return show_tick(value, self.ticks)

    def path(self, values: Mapping[int, float]) -> str:
        """Return the path through values."""
        places = sorted(values)
        steps = [f"{self.x(n)} {self.y(values[n])}" for n in places]
        return f"M{'L'.join(steps)}" if steps else ""

    @property
    def reach(self) -> str:
        """The outline of the sequence."""
        places = sorted(self.sequence)
        upper = [f"{self.x(n)} {self.y(self.sequence[n][2])}" for n in places]
        lower = [f"{self.x(n)} {self.y(self.sequence[n][1])}" for n in places]
        ends = "L".join([*upper, *reversed(lower)])
        return f"M{ends}Z" if places else ""

    @property
    def means(self) -> str:
        """The path of the sequence's mean."""
        return self.path({n: ends[0] for n, ends in self.sequence.items()})


def write_page(folder: Path, out: Path) -> None:
    """Write the page of a series.

    Raises:
        RunError: The folder contains no series.
    """
    settings, runs = read_settings(folder), read_series(folder)
    log = read_events(folder)
    points = build_points(settings, runs).points
    tests = {test.name: test for test in run_tests(settings, points)}
    # Runs before an acknowledged alarm are in no test any more, but they are history.
    n_before = len(runs) - len(present_runs(settings, runs))
    whole = msgspec.structs.replace(settings, baselines=())
    all_points = [*build_points(whole, runs[:n_before]).points, *points]
    place_by_number = {run.number: n for n, run in enumerate(runs)}
    places = [place_by_number[point.last.number] for point in all_points]
    events = judge_state(settings, runs, log)
    charts = []
    if all_points:
        raw = {n: _raw(move_run(settings, r)) for n, r in enumerate(runs)}
        means = [point.production for point in all_points]
        charts.append(
            _chart(
                "Adjusted mean", dict(zip(places, means, strict=True)), raw,
                _sequence(settings, tests.get("production"), places),
                len(runs),
            )
        )  # fmt: skip
        if settings.anchors:
            shifts = [point.anchor for point in all_points]
            charts.append(
                _chart(
                    "Shift of the anchor",
                    dict(zip(places, shifts, strict=True)), {},
                    _sequence(settings, tests.get("anchor"), places),
                    len(runs),
                )
            )  # fmt: skip
    page = render_page(
        "watch.html.j2",
        ("page.css", "watch.css"),
        settings=settings,
        name=folder.absolute().name,
        state=worst_state(events),
        sentences=[describe(event) for event in events],
        charts=charts,
        size={"width": WIDTH, "height": HEIGHT, "left": _LEFT,
              "right": WIDTH - _RIGHT, "top": _TOP,
              "bottom": HEIGHT - _BOTTOM},
        dates=_dates(runs),
        marks=_marks(settings, runs, [*_past_alarms(log), *events]),
        strata=_bands(settings, runs),
        rows=_rows(settings, runs, all_points),
        reach=_find_reach(settings, tests),
        thirds=_shifts_by_third(settings, points),
        merged=list_some(settings.merged),
        runs=runs,
    )  # fmt: skip
    files.write_text(out, page)


def _find_reach(
    settings: WatchSettings, tests: Mapping[str, SeriesTest]
) -> list[tuple[float, int | None]]:
    """Return falls of the adjusted mean, each with the runs until it is shown."""
    if "production" not in tests:
        return []
    test = tests["production"]
    variance = float(np.median(test.variances)) + test.between
    if variance <= LEAST_VARIANCE:
        return []
    n_before = max(LEARNING_RUNS, len(test.values))
    error = math.sqrt(variance)
    # The errors of a run vary with the metric, so the falls are multiples of them.
    return [
        (
            n * error,
            runs_to_show(
                n * error, variance, n_before=n_before, rate=rate_of(settings)
            ),
        )
        for n in (2, 4, 8)
    ]


def _shifts_by_third(
    settings: WatchSettings, points: Sequence[SeriesPoint]
) -> list[float]:
    """Return the last shift of the anchor in the lowest, middle and highest third of old scores.

    If they differ, the judge may have moved otherwise on the texts than on the anchor.
    """
    if settings.anchor is None or not points:
        return []
    anchor, last = settings.anchor, points[-1].last
    old = move_scores(anchor.scores, settings.bridges[anchor.n_bridges :])
    texts = sorted(
        (text for text in old if text in last.anchor), key=lambda t: old[t]
    )
    if anchor_of(settings, last) != anchor or len(texts) < 3:
        return []
    shifts = [last.anchor[text] - old[text] for text in texts]
    return [float(part.mean()) for part in np.array_split(shifts, 3)]


def _ends(value: float, interval: Interval) -> tuple[float, float, float]:
    return value, interval.low, interval.high


def _raw(run: RunLine) -> float:
    return join_strata([{"": part} for part in run.strata.values()])[""].mean


def _sequence(
    settings: WatchSettings, test: SeriesTest | None, places: Sequence[int]
) -> dict[int, tuple[float, float, float]]:
    """Return the sequence of a test since its last change by place; empty without a test."""
    if test is None:
        return {}
    # The tested points are the last ones.
    tested = places[-len(test.figures) :]
    return {
        tested[segment.last]: _ends(segment.mean, segment.interval)
        for segment in mean_sequence(
            test.values,
            test.variances,
            rate=rate_of(settings),
            between=test.between,
            first=test.since,
        )
    }


def _chart(
    title: str,
    figures: Mapping[int, UncertainValue],
    line: Mapping[int, float],
    sequence: Mapping[int, tuple[float, float, float]],
    n_runs: int,
) -> SeriesChart:
    """Return a chart of figures by place, with an axis that holds them."""
    points = {n: _ends(f.value, f.interval) for n, f in figures.items()}
    values = [*line.values(), *(v for ends in points.values() for v in ends)]
    # The first intervals of a sequence are so wide that they would flatten the rest.
    low, high = min(values), max(values)
    spare = (high - low) / 4 or 0.05
    axis = ticks(low - spare, high + spare)
    clipped = {
        place: (
            mean,
            max(axis[0], interval_low),
            min(axis[-1], interval_high),
        )
        for place, (mean, interval_low, interval_high) in sequence.items()
    }
    return SeriesChart(title, n_runs, axis, points, line, clipped)


def _dates(runs: Sequence[RunLine]) -> dict[int, str]:
    """Return the dates of the axis by place: the first, the last, and the middle one."""
    last = len(runs) - 1
    return {n: runs[n].time for n in sorted({0, last // 2, last}) if runs}


def _past_alarms(log: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the alarms of a log that were acknowledged."""
    ends = [n for n, line in enumerate(log) if "acknowledged" in line]
    return [
        line
        for line in log[: max(ends, default=0)]
        if line.get("state") == "alarm"
    ]


def _marks(
    settings: WatchSettings,
    runs: Sequence[RunLine],
    events: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the marks by place of a run: change points, judges, bridges, acknowledgements."""
    places = {run.number: n for n, run in enumerate(runs)}
    marks = []
    for before, run in pairwise(runs):
        if run.judges != before.judges:
            marks.append(("judge", run.number, f"judge: {run.judge_model}"))
    added = sorted(places)
    for bridge in settings.bridges:
        later = next((n for n in added if n > bridge.after), None)
        if later is not None:
            name = bridge.judge or "the same judge"
            marks.append(("bridge", later, f"bridge to {name}"))
    for baseline in settings.baselines:
        text = f"acknowledged: {baseline.why}"
        marks.append(("acknowledged", baseline.after, text))
    changes: dict[tuple[str, int], list[str]] = {}
    for event in events:
        if event["change_point"] is not None:
            key = (event["state"], event["change_point"])
            changes.setdefault(key, []).append(event["series"])
    for (state, number), names in changes.items():
        kind = state if state in ("alarm", "better") else "judge"
        marks.append((kind, number, f"{state} ({', '.join(names)})"))
    return [
        {"kind": kind, "place": places[number], "run": number, "text": text}
        for kind, number, text in sorted(marks, key=lambda m: places[m[1]])
    ]


def _bands(
    settings: WatchSettings, runs: Sequence[RunLine]
) -> list[dict[str, Any]]:
    """Return the strata with the begin and end of their share in each run."""
    names = sorted(settings.mix, key=lambda name: -settings.mix[name])
    largest, rest = names[:N_BANDS], set(names[N_BANDS:])
    names_shown = [*largest, *(["the rest"] if rest else []), NEW]
    ends = [0.0] * len(runs)
    bands = []
    for number, name in enumerate(names_shown):
        parts = []
        for place, run in enumerate(runs):
            members = rest if name == "the rest" else {name}
            n = sum(s.n for key, s in run.strata.items() if key in members)
            parts.append((ends[place], n / run.n))
            ends[place] += n / run.n
        if name != NEW or any(share for _, share in parts):
            bands.append({"name": name, "number": number, "parts": parts})
    return bands


def _rows(
    settings: WatchSettings,
    runs: Sequence[RunLine],
    points: Sequence[SeriesPoint],
) -> list[dict[str, Any]]:
    """Return a row of the table for each run."""
    point_by_number = {p.last.number: p for p in points}
    judges = dict(
        zip(
            (point.last.number for point in points),
            number_judges(settings, points),
            strict=True,
        )
    )
    present = {run.number for run in present_runs(settings, runs)}
    rows = []
    for run in runs:
        point = point_by_number.get(run.number)
        notes = []
        if run.n < FEWEST_PICTURES:
            notes.append("small")
        if run.number not in present:
            notes.append("before the present baseline")
        if point is None:
            notes.append("no adjusted mean of its own")
        if point and len(point.runs) > 1:
            notes.append(f"with {len(point.runs) - 1} small before it")
        if NEW in run.strata:
            notes.append(f"{run.strata[NEW].n} pictures of new strata")
        rows.append(
            {"run": run, "point": point, "notes": ", ".join(notes),
             "judge": judges.get(run.number)}
        )  # fmt: skip
    return rows

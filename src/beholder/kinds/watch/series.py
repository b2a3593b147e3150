"""Runs as points of a test: one scale, one mix, small runs joined."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from beholder.kinds.watch.folder import (
    AnchorSet,
    JudgeBridge,
    RunLine,
    StratumLine,
    WatchSettings,
)
from beholder.stats.drift import UncertainValue, adjusted_mean, estimate

FEWEST_PICTURES = 20
"""Scored pictures below which a run is tested together with the next."""
LARGE_STRATUM = 0.05
"""Weight of a stratum without which a run has no adjusted mean."""
LEAST_WEIGHT = 0.5
"""Weight of all strata that a run must have together for an adjusted mean."""


@dataclass(frozen=True)
class SeriesPoint:
    """A run, or several small ones, in the test.

    Attributes:
        runs: Its runs; strata and anchor on the scale of the present judge.
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

    @property
    def n(self) -> int:
        """Its scored pictures."""
        return sum(run.n for run in self.runs)


@dataclass(frozen=True)
class SeriesPoints:
    """The runs of the present baseline.

    Attributes:
        points: Those with an adjusted mean.
        missing: Large strata that are missing, by number of the run without an adjusted mean.
        waiting: Small runs that wait for the next.
    """

    points: list[SeriesPoint] = field(default_factory=list)
    missing: dict[int, list[str]] = field(default_factory=dict)
    waiting: list[RunLine] = field(default_factory=list)


def join_strata(
    strata: Iterable[Mapping[str, StratumLine]],
) -> dict[str, StratumLine]:
    """Return the strata of several runs as those of one."""
    parts: dict[str, list[StratumLine]] = defaultdict(list)
    for by_name in strata:
        for name, stratum in by_name.items():
            parts[name].append(stratum)
    return {name: _join(each) for name, each in parts.items()}


def _join(parts: Sequence[StratumLine]) -> StratumLine:
    n = sum(part.n for part in parts)
    mean = sum(part.n * part.mean for part in parts) / n
    squares = sum(
        (part.n - 1) * part.deviation**2 + part.n * (part.mean - mean) ** 2
        for part in parts
    )
    return StratumLine(n, mean, math.sqrt(squares / (n - 1)) if n > 1 else 0.0)


def pool_deviations(runs: Sequence[RunLine]) -> dict[str, float]:
    """Return the standard deviation of pictures within runs, by stratum."""
    squares: dict[str, float] = defaultdict(float)
    freedom: dict[str, int] = defaultdict(int)
    for run in runs:
        for name, stratum in run.strata.items():
            squares[name] += (stratum.n - 1) * stratum.deviation**2
            freedom[name] += stratum.n - 1
    return {
        name: math.sqrt(squares[name] / n) for name, n in freedom.items() if n
    }


def find_missing(
    strata: Mapping[str, StratumLine],
    mix: Mapping[str, float],
    pooled: Mapping[str, float],
) -> list[str]:
    """Return the missing strata without which there is no adjusted mean.

    A stratum is missing without pictures, or without a known scatter. One small stratum does not
    matter; many that have most of the weight together do.
    """
    missing = [name for name in mix if not (name in strata and name in pooled)]
    if 1 - sum(mix[name] for name in missing) < LEAST_WEIGHT:
        return missing
    return [name for name in missing if mix[name] >= LARGE_STRATUM]


def adjust(
    strata: Mapping[str, StratumLine],
    mix: Mapping[str, float],
    pooled: Mapping[str, float],
) -> UncertainValue | None:
    """Return the mean with the fixed mix; None if a large stratum is missing.

    Args:
        strata: Pictures by stratum.
        mix: Weights.
        pooled: Deviation of each stratum over all runs. A run's own counts as at least half of it:
            few pictures may be equal by chance, which is not certainty.
    """
    names = [name for name in mix if name in strata and name in pooled]
    if not names or find_missing(strata, mix, pooled):
        return None
    # Small strata that are missing leave their weight to the others.
    total = sum(mix[name] for name in names)
    parts = [strata[name] for name in names]
    deviations = [
        max(part.deviation, pooled[name] / 2) if part.n > 1 else pooled[name]
        for name, part in zip(names, parts, strict=True)
    ]
    return adjusted_mean(
        [part.mean for part in parts],
        deviations,
        [part.n for part in parts],
        [mix[name] / total for name in names],
    )


def build_points(
    settings: WatchSettings, runs: Sequence[RunLine]
) -> SeriesPoints:
    """Return the runs of the present baseline as points.

    Args:
        settings: The series.
        runs: Its runs, in the order of time.
    """
    moved = [move_run(settings, run) for run in present_runs(settings, runs)]
    pooled = pool_deviations(moved)
    series = SeriesPoints()
    for run in moved:
        series.waiting.append(run)
        if sum(part.n for part in series.waiting) < FEWEST_PICTURES:
            continue
        strata = join_strata(part.strata for part in series.waiting)
        production = adjust(strata, settings.mix, pooled)
        group = tuple(series.waiting)
        series.waiting.clear()
        if production is None:
            missing = find_missing(strata, settings.mix, pooled)
            series.missing.update({part.number: missing for part in group})
            continue
        shift = anchor_shift(settings, run)
        series.points.append(
            SeriesPoint(group, production, shift, _failed(group))
        )
    return series


def present_runs(
    settings: WatchSettings, runs: Sequence[RunLine]
) -> list[RunLine]:
    """Return the runs after the last acknowledged one, in the order of time."""
    ends = {baseline.after for baseline in settings.baselines}
    places = [
        place for place, run in enumerate(runs, start=1) if run.number in ends
    ]
    return list(runs[max(places, default=0) :])


def _failed(runs: Sequence[RunLine]) -> UncertainValue:
    n_failed = sum(run.n_failed for run in runs)
    n = sum(run.n for run in runs) + n_failed
    # Half a failure is added, so that no failure among few texts is not certainty.
    share = (n_failed + 0.5) / (n + 1)
    return estimate(n_failed / n, math.sqrt(share * (1 - share) / n))


def n_bridges_before(settings: WatchSettings, run: RunLine) -> int:
    """Return how many bridges were crossed when a run was added."""
    return sum(run.number > bridge.after for bridge in settings.bridges)


def move_run(settings: WatchSettings, run: RunLine) -> RunLine:
    """Return a run on the scale of the present judge."""
    bridges = settings.bridges[n_bridges_before(settings, run) :]
    strata = {
        name: StratumLine(
            stratum.n,
            _move(stratum.mean, bridges),
            stratum.deviation * slope_of(bridges),
        )
        for name, stratum in run.strata.items()
    }
    return msgspec.structs.replace(
        run, strata=strata, anchor=move_scores(run.anchor, bridges)
    )


def move_scores(
    scores: Mapping[str, float], bridges: Sequence[JudgeBridge]
) -> dict[str, float]:
    """Return scores on the scale after some bridges."""
    return {name: _move(score, bridges) for name, score in scores.items()}


def _move(score: float, bridges: Sequence[JudgeBridge]) -> float:
    for bridge in bridges:
        score = bridge.intercept + bridge.slope * score
    return score


def slope_of(bridges: Sequence[JudgeBridge]) -> float:
    """Return the absolute slope of several bridges together."""
    return math.prod(abs(bridge.slope) for bridge in bridges)


def anchor_of(settings: WatchSettings, run: RunLine) -> AnchorSet:
    """Return the anchor that a run was added with."""
    return [a for a in settings.anchors if a.after < run.number][-1]


def anchor_shift(settings: WatchSettings, run: RunLine) -> UncertainValue:
    """Return the shift of the anchor's mean since the series began, on the present scale.

    Args:
        settings: The series.
        run: A run whose anchor is on the present scale.
    """
    if not settings.anchors:
        return estimate(0.0, 0.0)
    anchor = anchor_of(settings, run)
    later = settings.bridges[anchor.n_bridges :]
    before = move_scores(anchor.scores, later)
    common = [text for text in before if text in run.anchor]
    shifts = [run.anchor[text] - before[text] for text in common]
    n_crossed = n_bridges_before(settings, run)
    noise, bridges = anchor.noise, later
    if n_crossed > anchor.n_bridges:
        noise = settings.bridges[n_crossed - 1].noise
        bridges = settings.bridges[n_crossed:]
    return estimate(
        float(np.mean(shifts)) + anchor.carried * slope_of(later),
        math.sqrt(noise) * slope_of(bridges),
    )


def number_judges(
    settings: WatchSettings, points: Sequence[SeriesPoint]
) -> list[int]:
    """Return the number of the judge of each point: it grows when no answering model stays."""
    numbers: list[int] = []
    for place, point in enumerate(points):
        if not place:
            numbers.append(0)
            continue
        runs = points[place - 1].last, point.last
        n_crossed = [n_bridges_before(settings, run) for run in runs]
        # Servers of one model report several configurations, of which some stay.
        models = [set(run.judges) for run in runs]
        is_new = n_crossed[0] != n_crossed[1] or (
            models[0] != models[1] and not models[0] & models[1]
        )
        numbers.append(numbers[-1] + is_new)
    return numbers

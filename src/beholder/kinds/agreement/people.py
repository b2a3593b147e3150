"""How well metrics agree with people, for the page of a run of ``agree``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from beholder.kinds.agreement import results
from beholder.report.drawing import PageSection
from beholder.report.numbers import show_tick, ticks
from beholder.run.store import Store
from beholder.tables import Table

_MOST_POINTS = 400
_BINS = 8
_N_FAR = 6
_SPREAD = 0.2
_WIDTH, _HEIGHT = 320, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 20, 10, 54

Points = list[tuple[float, float]]
Ticks = list[tuple[float, str]]


@dataclass(frozen=True)
class ScatterPlot:
    """Scores of one metric against people's labels, in units of its view box.

    Attributes:
        label: The metric and its value.
        points: A place per datum; of many an even sample. Whole numbers are spread by up to 0.2.
        curve: Mean label of the data in equal parts by score, at their mean score; equal scores are
            in one part.
        x_ticks: Places and texts.
        y_ticks: Likewise.
        n: Data with a score.
        n_shown: Points that are drawn.
        baseline: Whether it is the length of the text.
    """

    label: str
    points: Points
    curve: Points
    x_ticks: Ticks
    y_ticks: Ticks
    n: int
    n_shown: int
    baseline: bool
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


@dataclass(frozen=True)
class Disagreement:
    """A datum that a metric places far from where people place it.

    Attributes:
        id: Id of the text.
        position: Its place in the run, or None.
        other: Id of the text it is compared with, or empty.
        label: What people said.
        score: What the metric said; of a pair the difference.
        share: Share of the data between both places, from -1 (far too low) to 1 (far too high).
        text: The beginning of the text.
    """

    id: str
    position: int | None
    other: str
    label: float
    score: float
    share: float
    text: str


@dataclass(frozen=True)
class PeopleSection:
    """One measure of agreement.

    Attributes:
        name: The measure.
        table: Agreement per metric.
        matrix: Differences of metrics, or None.
        plots: A scatter per metric, the length last.
        far: Per metric the data it places too high, and those too low.
    """

    name: str
    table: Table
    matrix: Table | None
    plots: Sequence[ScatterPlot]
    far: Sequence[tuple[str, Sequence[Disagreement], Sequence[Disagreement]]]


@dataclass(frozen=True)
class People:
    """Agreement with people on one set.

    Attributes:
        name: The set.
        sections: One per measure.
    """

    name: str
    sections: Sequence[PeopleSection]

    @property
    def positions(self) -> list[int]:
        """Positions in the run of all listed data, in the order of the page."""
        found = (
            one.position
            for section in self.sections
            for _, high, low in section.far
            for one in (*high, *low)
        )
        return list(
            dict.fromkeys(place for place in found if place is not None)
        )


def section(store: Store) -> PageSection | None:
    """The section of the page of a run that was compared with people; None for other runs."""
    found = results.read(store.folder)
    if found is None:
        return None
    drawn = people(store, found)
    return PageSection(
        id="people",
        title="Agreement with people",
        template="people.html.j2",
        values={"people": drawn},
        positions=drawn.positions,
    )


def confused(store: Store) -> dict[str, dict[str, str]]:
    """Per metric and label the cell of the confusion table that each text is in.

    A text that several people judged is in the cell of their mean, from one half on of yes.
    """
    found = results.read(store.folder)
    columns: dict[str, dict[str, str]] = {}
    for measure in found.measures if found else ():
        label = measure.name.partition(", ")[2].rpartition(" (")[0]
        data = measure.data
        for row, said in zip(measure.metrics, data.said, strict=False):
            by_text: dict[str, list[float]] = {}
            verdicts = {}
            for text, gold, verdict in zip(
                data.first, data.gold, said, strict=True
            ):
                if verdict is not None and gold is not None:
                    by_text.setdefault(text, []).append(gold)
                    verdicts[text] = verdict
            columns[f"{label}: people, {row.label}"] = {
                text: results.cell(fmean(by_text[text]) >= 0.5, verdict == 1)
                for text, verdict in verdicts.items()
            }
    return columns


def people(
    store: Store, found: results.AgreementResult[results.StoredMeasure]
) -> People:
    """What the page draws of the stored agreement of a run."""
    places = {item.id: place for place, item in store.items()}
    return People(
        found.name,
        [_section(store, found, one, places) for one in found.measures],
    )


def _section(
    store: Store,
    found: results.AgreementResult[results.StoredMeasure],
    measure: results.StoredMeasure,
    places: Mapping[str, int],
) -> PeopleSection:
    # Loads scipy, which pages of runs without human ratings do not need.
    from beholder.kinds.agreement.page_tables import agreement_of, matrix_of

    gold = _floats(measure.data.gold)
    columns = list(
        zip(measure.metrics, map(_floats, measure.data.scores), strict=True)
    )
    far = [
        (row.label, *_far(store, measure.data, gold, scores, places))
        for row, scores in columns
        if not _is_length(row) and np.isfinite(scores).sum() > 2 * _N_FAR
    ]
    plots = [
        _plot(row.label, scores, gold, _is_length(row))
        for row, scores in columns
        if np.isfinite(scores).sum() > 1
    ]
    return PeopleSection(
        measure.name,
        agreement_of(found, measure),
        matrix_of(measure),
        plots,
        far,
    )


def _is_length(row: results.MetricAgreement) -> bool:
    return row.metric.partition("(")[0] == "length"


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array(
        [np.nan if value is None else value for value in values],
        dtype=np.float64,
    )


def _plot(
    label: str,
    scores: NDArray[np.float64],
    gold: NDArray[np.float64],
    baseline: bool,
) -> ScatterPlot:
    known = np.flatnonzero(np.isfinite(scores) & np.isfinite(gold))
    x, y = scores[known], gold[known]
    x_marks, y_marks = (
        ticks(float(v.min()), float(v.max()), 4) for v in (x, y)
    )

    def share(value: float, marks: Sequence[float]) -> float:
        return 0.06 + 0.88 * (value - marks[0]) / (marks[-1] - marks[0])

    def at(score: float, said: float) -> tuple[float, float]:
        return (
            round(
                _LEFT + share(score, x_marks) * (_WIDTH - _LEFT - _RIGHT), 1
            ),
            round(
                _HEIGHT
                - _BOTTOM
                - share(said, y_marks) * (_HEIGHT - _TOP - _BOTTOM),
                1,
            ),
        )

    order = np.argsort(x, kind="stable")
    shown = order[:: max(1, -(-len(order) // _MOST_POINTS))]
    noise = np.random.default_rng(0)
    across, up = (
        v + _SPREAD * noise.uniform(-1, 1, len(v)) * np.all(v % 1 == 0)
        for v in (x, y)
    )
    # The part of a score follows from the mean rank of all within 2 % of the axis.
    near = np.round(50 * (x - x_marks[0]) / (x_marks[-1] - x_marks[0]))
    _, scored, counts = np.unique(
        near, return_inverse=True, return_counts=True
    )
    part_of = ((np.cumsum(counts) - counts / 2) * _BINS / len(x)).astype(int)[
        scored
    ]
    parts = [part_of == number for number in np.unique(part_of)]
    return ScatterPlot(
        label=label,
        points=[at(float(across[i]), float(up[i])) for i in shown],
        curve=[
            at(float(x[part].mean()), float(y[part].mean())) for part in parts
        ],
        x_ticks=[
            (at(mark, y_marks[0])[0], show_tick(mark, x_marks))
            for mark in x_marks
        ],
        y_ticks=[
            (at(x_marks[0], mark)[1], show_tick(mark, y_marks))
            for mark in y_marks
        ],
        n=len(known),
        n_shown=len(shown),
        baseline=baseline,
    )


def _far(
    store: Store,
    data: results.MeasureData,
    gold: NDArray[np.float64],
    scores: NDArray[np.float64],
    places: Mapping[str, int],
) -> tuple[list[Disagreement], list[Disagreement]]:
    """Data with the greatest distance between their places by score and by label."""
    from scipy.stats import (
        rankdata,
    )  # slow to load, and pages of other runs need no ranks

    known = np.flatnonzero(np.isfinite(scores) & np.isfinite(gold))
    distance = (rankdata(scores[known]) - rankdata(gold[known])) / max(
        1, len(known) - 1
    )
    order = np.argsort(-distance, kind="stable")

    def first_of(chosen: NDArray[np.int64]) -> list[Disagreement]:
        found: dict[str, Disagreement] = {}
        for place in chosen.tolist():
            datum = int(known[place])
            text = data.first[datum]
            if (
                text not in found and len(found) < _N_FAR
            ):  # several people may rate one text
                at = places.get(text)
                found[text] = Disagreement(
                    id=text,
                    position=at,
                    other=data.second[datum],
                    label=float(gold[datum]),
                    score=float(scores[datum]),
                    share=float(distance[place]),
                    text=""
                    if at is None
                    else next(iter(store.items([at])))[1].candidate,
                )
        return list(found.values())

    high = first_of(order[distance[order] > 0][: 8 * _N_FAR])
    low = first_of(order[::-1][distance[order[::-1]] < 0][: 8 * _N_FAR])
    return high, low

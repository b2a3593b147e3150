"""Agreement of metrics with people: the section of a run's page, and its scatters as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.kinds.agreement import results
from beholder.report.drawing import PageSection
from beholder.report.numbers import show_tick, ticks
from beholder.run.store import Store
from beholder.stats.checks import Floats
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
    """A datum whose rank by a metric is far from its rank by people.

    Attributes:
        id: Id of the text.
        position: Its place in the run, or None.
        other: Id of the text it is compared with, or empty.
        label: People's label.
        score: The metric's score; of a pair the difference.
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
        positions = (
            disagreement.position
            for section in self.sections
            for _, high, low in section.far
            for disagreement in (*high, *low)
        )
        return list(
            dict.fromkeys(place for place in positions if place is not None)
        )


def section(store: Store) -> PageSection | None:
    """Build the page's section on agreement; None for runs that were not compared with people."""
    result = results.read_result(store.folder)
    if result is None:
        return None
    view = people(store, result)
    return PageSection(
        id="people",
        title="Agreement with people",
        template="people.html.j2",
        values={"people": view},
        positions=view.positions,
    )


def confused(store: Store) -> dict[str, dict[str, str]]:
    """Return, per metric and label, the confusion cell of each text.

    A text that several people judged is a yes if the mean of their verdicts is at least one half.
    """
    result = results.read_result(store.folder)
    columns: dict[str, dict[str, str]] = {}
    for measure in result.measures if result else ():
        # Names are such as "kappa, label (40% yes)"; the filter of the view
        # needs the label.
        label = measure.name.partition(", ")[2].rpartition(" (")[0]
        data = measure.data
        for row, verdicts in zip(measure.metrics, data.said, strict=False):
            ratings = group_by_key(
                (text, (gold, verdict))
                for text, gold, verdict in zip(
                    data.first, data.gold, verdicts, strict=True
                )
                if gold is not None and verdict is not None
            )
            columns[f"{label}: people, {row.label}"] = {
                text: results.cell(
                    fmean(gold for gold, _ in pairs) >= 0.5, pairs[-1][1] == 1
                )
                for text, pairs in ratings.items()
            }
    return columns


def people(store: Store, result: results.AgreementResult) -> People:
    """Build the page's view of the stored agreement of a run."""
    # Loads scipy, which pages of runs without human ratings do not need.
    from beholder.kinds.agreement.page_tables import agreement_of, matrix_of

    places = {item.id: place for place, item in store.items()}
    sections = [
        PeopleSection(
            measure.name,
            agreement_of(result, measure),
            matrix_of(measure),
            scatter_plots(measure),
            _list_far(store, measure, places),
        )
        for measure in result.measures
    ]
    return People(result.name, sections)


def scatter_plots(measure: results.MeasureResult) -> list[ScatterPlot]:
    """Return a scatter per metric with at least two scores."""
    gold = _floats(measure.data.gold)
    plots = []
    for row, column in zip(measure.metrics, measure.data.scores, strict=True):
        scores = _floats(column)
        usable = np.isfinite(scores) & np.isfinite(gold)
        if np.isfinite(scores).sum() > 1:
            x, y = scores[usable], gold[usable]
            plots.append(_plot(row.label, x, y, _is_length(row)))
    return plots


def _is_length(row: results.MetricAgreement) -> bool:
    return row.metric.partition("(")[0] == "length"


def _floats(values: Sequence[float | None]) -> Floats:
    # None becomes NaN.
    return np.array(values, dtype=np.float64)


def _plot(label: str, x: Floats, y: Floats, baseline: bool) -> ScatterPlot:
    x_marks, y_marks = (
        ticks(float(values.min()), float(values.max()), 4) for values in (x, y)
    )

    def place(
        value: float, marks: Sequence[float], start: float, end: float
    ) -> float:
        # A margin of 6 % keeps points off the frame.
        share = 0.06 + 0.88 * (value - marks[0]) / (marks[-1] - marks[0])
        return round(start + share * (end - start), 1)

    def across(score: float) -> float:
        return place(score, x_marks, _LEFT, _WIDTH - _RIGHT)

    def up(rating: float) -> float:
        return place(rating, y_marks, _HEIGHT - _BOTTOM, _TOP)

    order = np.argsort(x, kind="stable")
    # An even sample by score shows the same shape with fewer points to draw.
    sample = order[:: max(1, -(-len(order) // _MOST_POINTS))]
    noise = np.random.default_rng(0)
    # Points on whole numbers would hide each other.
    spread_x, spread_y = (
        values
        + _SPREAD * noise.uniform(-1, 1, len(values)) * np.all(values % 1 == 0)
        for values in (x, y)
    )
    # The part of a score follows from the mean rank of all within 2 % of the axis.
    axis_places = np.round(50 * (x - x_marks[0]) / (x_marks[-1] - x_marks[0]))
    _, group, counts = np.unique(
        axis_places, return_inverse=True, return_counts=True
    )
    part_of_group = (np.cumsum(counts) - counts / 2) * _BINS / len(x)
    part_of = part_of_group.astype(int)[group]
    parts = [part_of == number for number in np.unique(part_of)]
    return ScatterPlot(
        label=label,
        points=[(across(spread_x[i]), up(spread_y[i])) for i in sample],
        curve=[(across(x[part].mean()), up(y[part].mean())) for part in parts],
        x_ticks=[(across(mark), show_tick(mark, x_marks)) for mark in x_marks],
        y_ticks=[(up(mark), show_tick(mark, y_marks)) for mark in y_marks],
        n=len(x),
        n_shown=len(sample),
        baseline=baseline,
    )


def _list_far(
    store: Store, measure: results.MeasureResult, places: Mapping[str, int]
) -> list[tuple[str, list[Disagreement], list[Disagreement]]]:
    """List, per metric, the data whose ranks by score and by label are farthest apart."""
    # Slow to load, and pages of other runs need no ranks.
    from scipy.stats import rankdata

    data = measure.data
    gold = _floats(data.gold)
    disagreements = []
    for row, column in zip(measure.metrics, data.scores, strict=True):
        scores = _floats(column)
        # The length is a baseline, and few data would be listed as too high
        # and too low.
        if _is_length(row) or np.isfinite(scores).sum() <= 2 * _N_FAR:
            continue
        usable = np.flatnonzero(np.isfinite(scores) & np.isfinite(gold))
        distance = np.zeros(len(gold))
        # Ranks, because scores and labels have different units.
        ranks = rankdata(scores[usable]) - rankdata(gold[usable])
        distance[usable] = ranks / max(1, len(usable) - 1)

        def first_of(
            order: Sequence[int],
            scores: Floats = scores,
            distance: Floats = distance,
        ) -> list[Disagreement]:
            by_text: dict[str, Disagreement] = {}
            for datum in order[: 8 * _N_FAR]:
                text = data.first[datum]
                # Several people may rate one text.
                if text in by_text:
                    continue
                position = places.get(text)
                by_text[text] = Disagreement(
                    id=text,
                    position=position,
                    other=data.second[datum],
                    label=float(gold[datum]),
                    score=float(scores[datum]),
                    share=float(distance[datum]),
                    text=_text_at(store, position),
                )
            return list(by_text.values())[:_N_FAR]

        order = usable[np.argsort(-distance[usable], kind="stable")]
        high = first_of([i for i in order.tolist() if distance[i] > 0])
        low = first_of([i for i in order[::-1].tolist() if distance[i] < 0])
        disagreements.append((row.label, high, low))
    return disagreements


def _text_at(store: Store, position: int | None) -> str:
    if position is None:
        return ""
    return next(iter(store.items([position])))[1].candidate


def write_agreement_figures(
    result: results.AgreementResult, folder: Path
) -> list[Path]:
    """Write an SVG per metric and label; measures of the same labels share it.

    Args:
        result: The agreement.
        folder: Folder for the files, created if missing.

    Returns:
        The files.
    """
    files.make_folder(folder)
    # Loads jinja2, which runs without a page do not need.
    from beholder.report.pages import environment

    template = environment().get_template("scatter.svg.j2")
    written: list[Path] = []
    labels = set()
    for number, measure in enumerate(result.measures, start=1):
        name = measure.name.partition(", ")[2] or measure.name
        # Measures of the same labels differ in their statistic only, and would
        # have the same scatter.
        if (name, measure.data.gold) in labels:
            continue
        labels.add((name, measure.data.gold))
        for plot in scatter_plots(measure):
            stem = files.safe_name(f"{number}-{measure.name}-{plot.label}")
            path = folder / f"{stem}.svg"
            text = template.render(plot=plot, measure=name, alone=True)
            files.write_text(path, text)
            written.append(path)
    return written

"""Runs that score items by metrics: configuration, run, plan, and ``score --until``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.data import read_items
from beholder.data.folders import folder_of
from beholder.data.notes import RowNotes
from beholder.data.prepare import Cleaning, cleaning_rules, prepared
from beholder.data.read import good_rows
from beholder.errors import BadRowError, ConfigError, DataError
from beholder.metrics import Metric, fitting
from beholder.options import (
    DataOptions,
    JudgeOptions,
    WorkOptions,
    check_distinct,
)
from beholder.records import Interval, Item
from beholder.run import SCORES, manifest
from beholder.run.inputs import Input
from beholder.run.plan import RunPlan, plan
from beholder.run.session import Engine, Progress, RunContext, Session
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.stats.checks import Ints, cluster_codes
from beholder.stats.sequences import Betting


@dataclass(frozen=True)
class ScoreConfig:
    """The configuration of a run that scores items.

    Attributes:
        data: The data file or run directory as the user named it, or a word for items given in
            Python.
        metrics: The metrics, in the order to report them.
        out: The run directory.
        rows: Selection of rows.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.
        until: When to stop early; None scores everything.
        clean: Parts removed from texts before they are scored.
    """

    data: str
    metrics: tuple[Metric[Any], ...]
    out: Path
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    until: Until | None = None
    clean: Cleaning = "none"

    @property
    def folder(self) -> Path:
        """Return the folder that paths of the items' pictures are relative to.

        The folder of the data file, or of pictures; for items given otherwise ``media_root``, else
        the current directory.
        """
        if manifest.is_run(Path(self.data)):
            return self.rows.media_root or Path()
        return folder_of(self.data, self.rows.media_root)

    @property
    def input(self) -> Input | None:
        """Return the data file; None for a run, a folder or items from Python."""
        path = Path(self.data)
        cleaning = () if self.clean == "none" else (self.clean,)
        return Input(path, self.rows, cleaning) if path.is_file() else None

    @property
    def means(self) -> RunContext:
        """Return the judging, work and cleaning options with the folder of pictures."""
        return RunContext(
            self.judging, self.work, self.folder, cleaning_rules(self.clean)
        )


def run_scores(
    config: ScoreConfig,
    progress: Progress,
    given: Iterable[Item | DataError] | None = None,
    engine: Engine | None = None,
    notes: RowNotes | None = None,
) -> list[DataError]:
    """Score what is missing, and close the run.

    Args:
        config: The run.
        progress: Receives the progress of the run.
        given: Items from Python, or the rows of ``config.data`` as ``open_rows`` returns them.
        engine: Engine that does the work; None for this machine.
        notes: Has what the reader of ``given`` noted.

    Returns:
        The rows that were left out.

    Raises:
        ConfigError: An option is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The run directory is busy or contains another run.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    metrics = _check_metrics(config.metrics)
    with Session.open(
        config.out,
        SCORES,
        means=config.means,
        askers=metrics,
        progress=progress,
        engine=engine,
    ) as session:
        bad_rows: list[DataError] = []
        notes = notes or RowNotes(config.clean)
        rows = read_scored_items(config, bad_rows, given, notes)
        # Rows from Python have no file whose bytes could identify the data.
        is_data = given is None or (isinstance(given, Rows) and given.is_data)
        source = config.input if is_data else None
        n, digest = session.ingest_file(ITEM, source, rows, bad_rows)
        sentences = session.store_notes(digest, notes)
        for metric in metrics:
            session.add(metric, ITEM, n)
        settings = {
            "limit": config.rows.limit,
            "skip_bad_rows": config.rows.skip_bad_rows,
        }
        log = manifest.Log(
            config.data, digest, n, len(bad_rows), sentences, settings
        )
        if session.begin(log):
            if config.until is None:
                session.map(*session.asked)
            else:
                score_until(session, config.until)
            session.close()
    return bad_rows


class Rows:
    """Rows of a data set that a run reads, of which the first can be looked at before.

    Args:
        rows: Items, and errors that stand for wrong rows.
        is_data: Whether they are those of ``ScoreConfig.data``, opened; False for rows given in
            Python.
        unusable: By id, why the pictures of an item cannot be used.
    """

    def __init__(
        self,
        rows: Iterable[Item | DataError],
        *,
        is_data: bool,
        unusable: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._rows = iter(rows)
        self.is_data = is_data
        self.unusable = unusable

    def __iter__(self) -> Iterator[Item | DataError]:
        return self._rows

    def fitting_metric(self, *, judge: bool) -> tuple[str, str]:
        """Return the metric that fits the first rows, and the reason.

        Args:
            judge: Whether the user names a judge.

        Raises:
            ConfigError: None fits without more.
            DataError: The data cannot be read.
        """
        head = list(islice(self._rows, fitting.LOOKED_AT))
        self._rows = chain(head, self._rows)
        items = [row for row in head if isinstance(row, Item)]
        if not items:
            return fitting.HEADLINE, "no row can be used"
        return fitting.fitting(items, judge=judge)


def open_rows(
    data: str, options: DataOptions, notes: RowNotes | None = None
) -> Rows:
    """Return the rows of a data file or run; it is opened when the first row is read.

    Args:
        data: The data file or run directory.
        options: Selection of rows.
        notes: Counts what is odd about rows.
    """
    unusable: dict[str, str] = {}
    rows = _read_rows(data, options, notes, unusable)
    return Rows(rows, is_data=True, unusable=unusable)


def _read_rows(
    data: str,
    options: DataOptions,
    notes: RowNotes | None,
    unusable: dict[str, str],
) -> Iterator[Item | DataError]:
    if not manifest.is_run(Path(data)):
        yield from read_items(data, options, notes=notes, unusable=unusable)
        return
    # The items of a run are stored with it, so a run can be scored again without its file.
    manifest.check_kind(Path(data), SCORES)
    with Store.read(Path(data)) as store:
        yield from (item for _, item in store.items())


def plan_scores(
    config: ScoreConfig,
    given: Iterable[Item | DataError] | None = None,
    notes: RowNotes | None = None,
) -> RunPlan:
    """Read all input and report what the run would do; nothing is scored or written.

    Args:
        config: The run.
        given: As in ``run_scores``.
        notes: Has what the reader of ``given`` noted.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    bad_rows: list[DataError] = []
    metrics, means = _check_metrics(config.metrics), config.means
    means.check(metrics)
    notes = notes or RowNotes(config.clean)
    rows = read_scored_items(config, bad_rows, given, notes)
    return plan(metrics, ITEM, rows, config.out, means, bad_rows, notes=notes)


def _check_metrics(
    metrics: tuple[Metric[Any], ...],
) -> tuple[Metric[Any], ...]:
    if not metrics:
        raise ConfigError(
            "no metric was asked for; name one with -m, such as -m vcs"
        )
    check_distinct("metric", [metric.name for metric in metrics])
    return metrics


def read_scored_items(
    config: ScoreConfig,
    bad_rows: list[DataError],
    rows: Iterable[Item | DataError] | None = None,
    notes: RowNotes | None = None,
) -> Iterator[Item]:
    """Yield the items of a run, prepared for scoring.

    Args:
        config: The run.
        bad_rows: Receives the rows that are left out.
        rows: As ``given`` in ``run_scores``.
        notes: Counts what is odd about rows.

    Raises:
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    if rows is None:
        rows = open_rows(config.data, config.rows, notes)
    unusable = rows.unusable if isinstance(rows, Rows) else {}
    checked = _check_rows(rows, config.metrics, config.data, unusable)
    for item in good_rows(
        checked, config.rows, bad_rows, name=config.data, notes=notes
    ):
        yield prepared(item, config.clean)


def _check_rows(
    rows: Iterable[Item | DataError],
    metrics: Sequence[Metric[Any]],
    name: str,
    unusable: Mapping[str, str],
) -> Iterator[Item | DataError]:
    """Yield the rows; a row with fields that a metric cannot read becomes a DataError."""
    needs_pictures = any(
        "images" in metric.needed_fields for metric in metrics
    )
    for number, row in enumerate(rows, start=1):
        try:
            if isinstance(row, Item):
                # A metric that reads texts alone needs no picture.
                if needs_pictures and row.id in unusable:
                    raise BadRowError(unusable[row.id])
                for metric in metrics:
                    metric.check_row(row)
            yield row
        except BadRowError as error:
            yield DataError(name, str(error), line=number)


FIRST, GROWTH = 40, 1.25
"""Pictures that are scored before the first look, and how many more at each further one."""


@dataclass(frozen=True)
class Until:
    """When to stop.

    Attributes:
        metric: Canonical name of the metric.
        value: Name of its value.
        width: Half the interval that is narrow enough.
        low: Least possible value.
        high: Greatest possible value.
    """

    metric: str
    value: str
    width: float
    low: float
    high: float


@dataclass(frozen=True)
class Reached:
    """The progress of a run towards its goal.

    Attributes:
        interval: Of the mean over pictures; valid however often one looks.
        n_pictures: Pictures scored.
        n_all: Pictures of the data.
    """

    interval: Interval
    n_pictures: int
    n_all: int

    def is_narrow(self, width: float) -> bool:
        """Return whether half the interval is at most ``width``."""
        return self.interval.high - self.interval.low <= 2 * width


def score_until(session: Session, goal: Until) -> None:
    """Score more and more pictures by all metrics, until the goal is reached.

    The order of pictures follows from what they are, so a run that is interrupted and resumed
    stops where another would. Scores of other pictures that an earlier run has made are dropped.

    Raises:
        ConfigError: A tool does not support the operation.
        RunError: The run cannot continue, for instance because its budget is spent.
    """
    # The sample grows by a factor, so that there are few looks; the interval is valid however often
    # one looks (a betting confidence sequence), so stopping early does not bias it.
    n = max(job.n for job in session.asked)
    codes, order = _pictures(session.store, n)
    size = FIRST
    while True:
        positions = np.flatnonzero(np.isin(codes, order[:size])).tolist()
        session.map(*session.asked, positions=positions)
        if size >= len(order) or reached(session.store, goal, n).is_narrow(
            goal.width
        ):
            return
        size = math.ceil(size * GROWTH)


def reached(store: Store, goal: Until, n: int) -> Reached:
    """Return the interval over the pictures scored so far, taken in their order.

    Args:
        store: The scores.
        goal: Of which value.
        n: Items of the run.
    """
    codes, order = _pictures(store, n)
    # A picture with several items counts once, by their mean: the interval is over pictures.
    scores = (
        (p, numbers)
        for p, numbers in store.values(goal.metric, n)
        if goal.value in numbers
    )
    of_picture = group_by_key(
        (int(codes[place]), numbers[goal.value]) for place, numbers in scores
    )
    sequence, n_pictures = Betting(goal.low, goal.high), 0
    for picture in order:
        if values := of_picture.get(picture):
            sequence.add(math.fsum(values) / len(values))
            n_pictures += 1
    return Reached(sequence.interval, n_pictures, len(order))


def _pictures(store: Store, n: int) -> tuple[Ints, Sequence[int]]:
    """Return each item's picture as a code, and the codes in an order independent of the data's."""
    keys = store.sources(n, ITEM)
    codes = cluster_codes(keys, n)
    of_key = dict(zip(keys, codes.tolist(), strict=True))
    return codes, [
        of_key[key]
        for key in sorted(of_key, key=lambda k: hashlib.sha256(k).digest())
    ]

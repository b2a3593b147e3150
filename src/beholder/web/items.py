"""What the viewer knows of a run: numbers, verdicts and groups of all subjects as columns.

The only place of the viewer that reads a store as a whole. Columns are made once and made again
when the run is resumed; a page reads from the store the few subjects that it shows.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beholder.base.optional import load
from beholder.errors import BeholderError, RunError
from beholder.records import ItemScore, MetricResult
from beholder.run import manifest
from beholder.run.export import UNITS
from beholder.run.kind import kinds
from beholder.run.manifest import ValueLog
from beholder.run.reading import COMPLETE, word_incomplete
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.run.subjects import ITEM, KINDS, SubjectKind
from beholder.run.summary import read_columns
from beholder.run.tables_parquet import PARTS

T = TypeVar("T")
GroupColumn: TypeAlias = tuple[Sequence[str], NDArray[np.int32]]
"""Values of a group, and (n,) the place of each subject's value in them, -1 where it has none."""

OPEN, SCORED, FAILED = 0, 1, 2
"""State of a subject under an asker."""

_FIRST = ("item", "reviews", "storyline", "picture")

STATES = ("open", "scored", "failed")
NO_VERDICT = ""
JUDGED = "judgments"
"""What people judged, among the names of askers."""


@dataclass(frozen=True)
class AskerColumns:
    """What a run asked, with what came out, a place per subject.

    Attributes:
        name: Canonical name of the asker.
        kind: Kind of the subjects.
        signature: How outcomes are made.
        values: Its values; the first is the headline. Empty where it only makes texts.
        state: (n,) ``OPEN``, ``SCORED`` or ``FAILED``.
        numbers: (n,) per value; NaN where a subject has none.
        verdicts: (n,) per verdict, how many units of it each subject has.
        result: Means with intervals; None while the run is not complete.
    """

    name: str
    kind: str
    signature: str
    values: tuple[ValueLog, ...]
    state: NDArray[np.int8]
    numbers: Mapping[str, NDArray[np.float64]]
    verdicts: Mapping[str, NDArray[np.int32]]
    result: MetricResult | None

    @property
    def n_done(self) -> int:
        """Subjects with an outcome or a failure."""
        return int((self.state != OPEN).sum())

    @property
    def n_failed(self) -> int:
        """Subjects with a failure."""
        return int((self.state == FAILED).sum())

    def value(self, name: str | None) -> ValueLog | None:
        """A value by name, or the headline; None where it has none such."""
        values_by_name = {value.name: value for value in self.values}
        return (
            values_by_name.get(name) if name else next(iter(self.values), None)
        )


@dataclass(frozen=True)
class SubjectColumns:
    """The subjects of one kind.

    Attributes:
        kind: What they are.
        ids: Their ids.
        groups: By name.
        texts: Their words.
        judged: The numbers that people gave, as an asker ``judgments`` would; None without any.
    """

    kind: SubjectKind[Any]
    ids: Sequence[str]
    groups: Mapping[str, GroupColumn]
    texts: Texts
    judged: AskerColumns | None = None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run at one moment; equal to itself alone.

    Attributes:
        log: The content of ``run.json``.
        subjects: Per kind of subject.
        askers: In the order of the run.
    """

    log: manifest.RunLog
    subjects: Mapping[str, SubjectColumns]
    askers: tuple[AskerColumns, ...]

    def word_incomplete(self, name: str) -> str:
        """The caution of a run that is not complete; empty for a complete one."""
        if self.log.status == COMPLETE:
            return ""
        counts = {
            columns.name: (columns.n_done, len(columns.state))
            for columns in self.askers
        }
        return word_incomplete(name, self.log.status, counts)

    def of_kind(self, kind: str) -> tuple[AskerColumns, ...]:
        """What was asked of a kind of subject."""
        return tuple(
            columns for columns in self.askers if columns.kind == kind
        )

    def listed(self, kind: str) -> tuple[AskerColumns, ...]:
        """The same, and what people judged."""
        judged = self.subjects[kind].judged
        return (*self.of_kind(kind), *([judged] if judged else ()))

    def asker(self, kind: str, name: str) -> AskerColumns | None:
        """One of them by name, or None."""
        by_name = {columns.name: columns for columns in self.listed(kind)}
        return by_name.get(name)

    @property
    def main_kind(self) -> str:
        """The kind of subject that is listed first: pictures of storylines are their parts."""
        return min(self.subjects, key=_FIRST.index)


class RunView:
    """A run that is looked at; follows it while it is made.

    Raises:
        RunError: The folder holds no run that can be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kind = manifest.kind_of(folder)
        self._seen: tuple[object, ...] = ()
        self._refreshing = threading.Lock()
        self.problem = ""
        self.snapshot = Snapshot(manifest.read(folder), {}, ())

    def store(self) -> AbstractContextManager[Store]:
        """The store, to read the subjects of a page."""
        return Store.read(self.folder)

    def try_refresh(self) -> None:
        """As ``refresh``; the pages report an error, and reading is retried."""
        try:
            self.refresh()
        except (BeholderError, OSError) as error:
            self.problem = str(error)
        else:
            self.problem = ""

    def refresh(self) -> bool:
        """Read the columns if the run changed since; whether it did.

        Raises:
            RunError: The run cannot be read.
        """
        with self._refreshing:
            marks = self._file_states()
            if marks == self._seen:
                return False
            log = manifest.read(self.folder)
            with self.store() as store:
                self.snapshot = self._read_snapshot(store, log)
            self._seen = marks
            return True

    def _file_states(self) -> tuple[object, ...]:
        """What changes when the run does."""
        marks: list[object] = []
        names = (manifest.FILE_NAME, FILE_NAME, f"{FILE_NAME}-wal", PARTS)
        for name in names:
            try:
                file = (self.folder / name).stat()
            except FileNotFoundError:
                continue
            marks += [file.st_mtime_ns, file.st_size]
        return tuple(marks)

    def _read_snapshot(self, store: Store, log: manifest.RunLog) -> Snapshot:
        results = manifest.results(log)
        askers = [asker for asker in store.askers() if asker.kind in KINDS]
        subjects = {
            name: self._subjects(store, KINDS[name], log)
            for name in dict.fromkeys(
                [asker.kind for asker in askers] or list(KINDS)
            )
            if store.n_subjects(KINDS[name])
        }
        if ITEM.name in subjects:
            items = subjects[ITEM.name]
            groups = {}
            for part in filter(None, (kind.groups for kind in kinds())):
                for name, by_id in load(part)(store).items():
                    groups[name] = _encode(
                        [by_id.get(item_id) for item_id in items.ids]
                    )
            if groups:
                groups = {**items.groups, **groups}
                subjects[ITEM.name] = replace(items, groups=groups)
        before = {
            columns.name: columns for columns in self._cached(log).askers
        }
        columns_by_asker = []
        for asker in askers:
            if asker.kind not in subjects:
                continue
            n = len(subjects[asker.kind].ids)
            outcomes = read_columns(store, asker.name, n)
            state = np.full(n, OPEN, dtype=np.int8)
            state[outcomes.positions] = SCORED
            state[list(outcomes.failures)] = FAILED
            values = (
                log.askers[asker.name].values
                if asker.name in log.askers
                else ()
            )
            numbers = {value.name: np.full(n, np.nan) for value in values}
            for name in numbers.keys() & outcomes.values.keys():
                numbers[name][outcomes.positions] = outcomes.values[name]
            columns_by_asker.append(
                AskerColumns(
                    name=asker.name,
                    kind=asker.kind,
                    signature=asker.signature,
                    values=values,
                    state=state,
                    numbers=numbers,
                    verdicts={},
                    result=results.get(asker.name),
                )
            )
        if log.status == COMPLETE:
            counts = _read_verdicts(self.folder, columns_by_asker, subjects)
        else:
            counts = {
                columns.name: _count_verdicts(
                    store, columns, before.get(columns.name)
                )
                for columns in columns_by_asker
            }
        done = (
            replace(
                columns, verdicts=dict(sorted(counts[columns.name].items()))
            )
            for columns in columns_by_asker
        )
        return Snapshot(log, subjects, tuple(done))

    def _cached(self, log: manifest.RunLog) -> Snapshot:
        """What was read of this run; nothing if the run was deleted and made again."""
        same = self.snapshot.log.data.sha256 == log.data.sha256
        return self.snapshot if same else Snapshot(log, {}, ())

    def _subjects(
        self, store: Store, kind: SubjectKind[Any], log: manifest.RunLog
    ) -> SubjectColumns:
        cached = self._cached(log).subjects.get(kind.name)
        n = store.n_subjects(kind)
        if cached is not None and len(cached.ids) == n:
            return cached
        ids: list[str] = []
        groups: list[Mapping[str, str]] = []
        judgments: list[Mapping[str, Any]] = []

        def texts() -> Iterator[str]:
            for place, subject in store.subjects(kind):
                if place >= n:
                    return
                ids.append(kind.id(subject))
                groups.append(kind.group(subject))
                judgments.append(getattr(subject, "judgments", {}))
                yield "\n".join(_strings(kind.to_row(subject)))

        folded = Texts(texts())
        columns = {
            name: _encode([group.get(name) for group in groups])
            for name in _keys(groups)
        }
        judged = _judgment_columns(kind.name, judgments)
        return SubjectColumns(kind, ids, columns, folded, judged)


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All keys of rows, in the order in which they are met."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _encode(values: Sequence[str | None]) -> GroupColumn:
    """The different values, and per value its place among them, -1 for None."""
    different = dict.fromkeys(value for value in values if value is not None)
    places: dict[str | None, int] = {v: n for n, v in enumerate(different)}
    codes = [places.get(value, -1) for value in values]
    return tuple(different), np.array(codes, dtype=np.int32)


def _judgment_columns(
    kind: str, judgments: Sequence[Mapping[str, Any]]
) -> AskerColumns | None:
    """The numbers that people gave, as columns of an asker; None without any."""
    numbers = {}
    for name in _keys(judgments):
        column = [
            row[name] if isinstance(row.get(name), int | float) else np.nan
            for row in judgments
        ]
        if not np.isnan(column).all():
            numbers[name] = np.array(column, dtype=np.float64)
    if not numbers:
        return None
    is_judged = ~np.isnan(list(numbers.values())).all(axis=0)
    values = tuple(ValueLog(name, higher_is_better=None) for name in numbers)
    state = np.where(is_judged, SCORED, OPEN).astype(np.int8)
    return AskerColumns(JUDGED, kind, "", values, state, numbers, {}, None)


def _no_counts(n: int) -> dict[str, NDArray[np.int32]]:
    """Verdicts of n subjects; zeros for a verdict that none has yet."""
    return defaultdict(lambda: np.zeros(n, dtype=np.int32))


def _count_verdicts(
    store: Store, columns: AskerColumns, before: AskerColumns | None
) -> dict[str, NDArray[np.int32]]:
    """Verdicts of a run that is being made: those known stay, the new ones are read."""
    n = len(columns.state)
    verdicts = _no_counts(n)
    is_counted = np.zeros(n, dtype=bool)
    if before is not None and len(before.state) == n:
        for verdict, counts in before.verdicts.items():
            verdicts[verdict] = counts.copy()
        is_counted = before.state == SCORED
    new = np.flatnonzero((columns.state == SCORED) & ~is_counted)
    for position in new.tolist():
        outcome = store.score(columns.name, position)
        units = outcome.units if isinstance(outcome, ItemScore) else ()
        for unit in units:
            verdicts[unit.verdict or NO_VERDICT][position] += 1
    return verdicts


def _read_verdicts(
    folder: Path,
    columns: Sequence[AskerColumns],
    subjects: Mapping[str, SubjectColumns],
) -> dict[str, dict[str, NDArray[np.int32]]]:
    """Verdicts of a finished run by asker, from its table of units.

    Raises:
        RunError: The table cannot be read.
    """
    verdicts = {
        asker_columns.name: _no_counts(len(asker_columns.state))
        for asker_columns in columns
    }
    names = ["metric", "verdict", "item"]
    try:
        table = pq.read_table(
            folder / UNITS, columns=names, read_dictionary=names
        ).unify_dictionaries()
    except FileNotFoundError:
        return verdicts  # runs of the first version left no tables
    except (OSError, pa.ArrowException) as error:
        raise RunError(
            f"{folder / UNITS} cannot be read ({error}); run the same command again to write it"
        ) from error
    places = {
        kind: {name: place for place, name in enumerate(columns.ids)}
        for kind, columns in subjects.items()
    }
    kinds_of = {
        asker_columns.name: asker_columns.kind for asker_columns in columns
    }
    counted = table.group_by(names).aggregate([([], "count_all")])
    for row in counted.to_pylist():
        if row["metric"] not in verdicts:
            continue
        at = places[kinds_of[row["metric"]]]
        if row["item"] not in at:
            raise RunError(
                f"{folder / UNITS} contains {row['item']!r}, which the run does not have; run the"
                " same command again to write it"
            )
        counts = verdicts[row["metric"]][row["verdict"] or NO_VERDICT]
        counts[at[row["item"]]] = row["count_all"]
    return verdicts


def _strings(value: Any) -> Iterator[str]:
    """All texts in a row, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


class SnapshotCache:
    """What pages show of runs, made once per state of these runs."""

    def __init__(self) -> None:
        self._kept: dict[object, tuple[list[Snapshot], Any]] = {}

    def get_or_make(
        self, what: str, views: Sequence[RunView], make: Callable[[], T]
    ) -> T:
        """What ``make`` made of the runs as they are now.

        Args:
            what: Names it among other things that are made of the same runs.
            views: The runs.
            make: Makes it.
        """
        key, now = (what, *map(id, views)), [view.snapshot for view in views]
        if key not in self._kept or self._kept[key][0] != now:
            self._kept[key] = now, make()
        content: T = self._kept[key][1]
        return content


@dataclass
class Watcher:
    """Refreshes run views in a thread, for at most a tenth of the time."""

    views: Sequence[RunView]
    pause: float = 2.0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Read all runs, and then every change."""
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop before the next reading."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            started = time.monotonic()
            for view in self.views:
                if self._stop.is_set():
                    return
                view.try_refresh()
            if self._stop.wait(
                max(self.pause, 10 * (time.monotonic() - started))
            ):
                return


class Texts:
    """Texts by position, held without their cases of letters.

    An index of their words would take longer to make than a run to score; a hundred thousand texts
    of a page each are looked through in about a fifth of a second, in any script.

    Args:
        texts: In the order of their positions.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        folded = (text.casefold().encode("utf-8", "replace") for text in texts)
        self._texts = pa.array(folded, type=pa.large_binary())

    def having(self, words: str) -> NDArray[np.int64]:
        """Positions of the texts in which the words stand, in any case of letters, ascending."""
        needle = words.casefold().encode("utf-8", "replace")
        matches = pc.match_substring(self._texts, needle)
        return np.flatnonzero(matches.to_numpy(zero_copy_only=False)).astype(
            np.int64
        )

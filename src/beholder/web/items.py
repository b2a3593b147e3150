"""A run in memory: numbers, verdicts and groups of all its subjects as columns.

Only this module of the viewer reads a store as a whole. Columns are read once, and again when the
run is resumed; a page reads from the store the few subjects that it shows.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beholder.base.optional import load_object
from beholder.errors import BeholderError, RunError
from beholder.records import ItemScore, MetricResult
from beholder.report.tones import is_sure
from beholder.run import manifest
from beholder.run.codec import StoredAsker
from beholder.run.export import UNITS
from beholder.run.kind import features
from beholder.run.manifest import ValueLog
from beholder.run.reading import COMPLETE, word_incomplete
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.run.subjects import ITEM, KINDS, SubjectKind
from beholder.run.summary import read_columns
from beholder.run.tables_parquet import PARTS

GroupColumn: TypeAlias = tuple[Sequence[str], NDArray[np.int32]]
"""Values of a group, and (n,) the place of each subject's value in them, -1 where it has none."""

OPEN, SCORED, FAILED = 0, 1, 2
"""State of a subject under an asker."""

_FIRST = ("item", "reviews", "storyline", "picture")

STATES = ("open", "scored", "failed")
NO_VERDICT = ""
JUDGED = "judgments"
"""Name of the asker of which the values are numbers that people gave."""


@dataclass(frozen=True)
class AskerColumns:
    """The outcomes of an asker, with a place per subject.

    Attributes:
        name: Canonical name of the asker.
        kind: Kind of the subjects.
        signature: Signature of the outcomes.
        values: Its values; the first is the headline. Empty where it only makes texts.
        state: (n,) ``OPEN``, ``SCORED`` or ``FAILED``.
        numbers: (n,) per value; NaN where a subject has none.
        verdicts: (n,) per verdict, how many units of it each subject has.
        result: Means with intervals; None while the run is not complete.
        n_unsure: By verdict, how many units of it the judge is not sure of, if any.
    """

    name: str
    kind: str
    signature: str
    values: tuple[ValueLog, ...]
    state: NDArray[np.int8]
    numbers: Mapping[str, NDArray[np.float64]]
    verdicts: Mapping[str, NDArray[np.int32]]
    result: MetricResult | None
    n_unsure: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_done(self) -> int:
        """Subjects with an outcome or a failure."""
        return int((self.state != OPEN).sum())

    @property
    def n_failed(self) -> int:
        """Subjects with a failure."""
        return int((self.state == FAILED).sum())

    def value(self, name: str | None) -> ValueLog | None:
        """Return a value by name, or the headline without a name; None if there is no such."""
        if not name:
            return next(iter(self.values), None)
        for value in self.values:
            if value.name == name:
                return value
        return None


@dataclass(frozen=True)
class SubjectColumns:
    """The subjects of one kind.

    Attributes:
        kind: Kind of the subjects.
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
        """Return the caution about a run that is not complete; empty for a complete one."""
        if self.log.status == COMPLETE:
            return ""
        counts = {
            columns.name: (columns.n_done, len(columns.state))
            for columns in self.askers
        }
        return word_incomplete(name, self.log.status, counts)

    def of_kind(self, kind: str) -> tuple[AskerColumns, ...]:
        """Return the askers of a kind of subject."""
        return tuple(
            columns for columns in self.askers if columns.kind == kind
        )

    def listed(self, kind: str) -> tuple[AskerColumns, ...]:
        """Return the askers of a kind of subject, and the judgments of people as another."""
        askers = self.of_kind(kind)
        judged = self.subjects[kind].judged
        if judged is None:
            return askers
        return (*askers, judged)

    def asker(self, kind: str, name: str) -> AskerColumns | None:
        """Return one of ``listed`` by name; None if there is no such."""
        by_name = {columns.name: columns for columns in self.listed(kind)}
        return by_name.get(name)

    @property
    def main_kind(self) -> str:
        """Kind of subject that is listed first; pictures come last, as parts of storylines."""
        return min(self.subjects, key=_FIRST.index)


class RunView:
    """A run that is open in the viewer; follows it while it is made.

    Attributes:
        folder: Its folder.
        kind: Its kind.
        snapshot: Its columns, as last read; without subjects before the first reading.
        problem: Why the last reading failed; empty if it did not.

    Raises:
        RunError: The folder contains no run that can be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kind = manifest.kind_of(folder)
        self._seen: tuple[object, ...] = ()
        self._refreshing = threading.Lock()
        self.problem = ""
        self.snapshot = Snapshot(manifest.read_log(folder), {}, ())

    def store(self) -> AbstractContextManager[Store]:
        """Open the store for reading."""
        return Store.read(self.folder)

    def try_refresh(self) -> None:
        """Call ``refresh``; keep an error in ``problem``, which pages show until it succeeds."""
        try:
            self.refresh()
        except (BeholderError, OSError) as error:
            self.problem = str(error)
        else:
            self.problem = ""

    def refresh(self) -> bool:
        """Read the columns if the run has changed; return whether it has.

        Raises:
            RunError: The run cannot be read.
        """
        # The files are looked at before reading: a change during the reading is seen next time.
        with self._refreshing:
            marks = self._file_states()
            if marks == self._seen:
                return False
            log = manifest.read_log(self.folder)
            with self.store() as store:
                self.snapshot = self._read_snapshot(store, log)
            self._seen = marks
            return True

    def _file_states(self) -> tuple[object, ...]:
        """Return times and sizes of the files of the run; they change whenever the run does."""
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
        """Read all columns of a run.

        Raises:
            RunError: The table of units of a finished run cannot be read.
        """
        # Four steps: the subjects; groups that kinds of work add to items; numbers and states of
        # each asker; and verdicts, which a finished run has in a table. In a run that is being
        # made they are counted from outcomes, of which only the new ones are read.
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
            further = _read_further_groups(store, items.ids)
            if further:
                groups = {**items.groups, **further}
                subjects[ITEM.name] = replace(items, groups=groups)
        before = {
            columns.name: columns for columns in self._cached(log).askers
        }
        all_columns = []
        for asker in askers:
            if asker.kind in subjects:
                n = len(subjects[asker.kind].ids)
                columns = _read_outcomes(store, log, asker, n)
                result = results.get(asker.name)
                all_columns.append(replace(columns, result=result))
        if log.status == COMPLETE:
            counts = _read_verdicts(self.folder, all_columns, subjects)
        else:
            counts = {
                columns.name: _count_verdicts(
                    store, columns, before.get(columns.name)
                )
                for columns in all_columns
            }
        with_verdicts = []
        for columns in all_columns:
            verdicts, n_unsure = counts[columns.name]
            with_verdicts.append(
                replace(
                    columns,
                    verdicts=dict(sorted(verdicts.items())),
                    n_unsure=n_unsure,
                )
            )
        return Snapshot(log, subjects, tuple(with_verdicts))

    def _cached(self, log: manifest.RunLog) -> Snapshot:
        """Return the last snapshot; an empty one if the run was deleted and made again."""
        is_same_run = self.snapshot.log.data.sha256 == log.data.sha256
        return self.snapshot if is_same_run else Snapshot(log, {}, ())

    def _subjects(
        self,
        store: Store,
        kind: SubjectKind[Any],
        log: manifest.RunLog,
    ) -> SubjectColumns:
        """Read the subjects of one kind; those of the last snapshot if there are no new ones."""
        # Subjects are only added to a run, so an equal number means the same subjects. A run that
        # is being made may get further ones meanwhile: they are read next time, with their
        # outcomes.
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


def _read_further_groups(
    store: Store,
    ids: Sequence[str],
) -> dict[str, GroupColumn]:
    """Return the group columns that kinds of runs derive from a store, such as categories."""
    groups = {}
    for feature in features():
        if not feature.groups:
            continue
        for name, by_id in load_object(feature.groups)(store).items():
            groups[name] = _encode([by_id.get(item_id) for item_id in ids])
    return groups


def _read_outcomes(
    store: Store,
    log: manifest.RunLog,
    asker: StoredAsker,
    n: int,
) -> AskerColumns:
    """Read state and numbers of n subjects under an asker, without verdicts and result."""
    outcomes = read_columns(store, asker.name, n)
    state = np.full(n, OPEN, dtype=np.int8)
    state[outcomes.positions] = SCORED
    state[list(outcomes.failures)] = FAILED
    values: tuple[ValueLog, ...] = ()
    if asker.name in log.askers:
        values = log.askers[asker.name].values
    numbers = {}
    for value in values:
        column = np.full(n, np.nan)
        if value.name in outcomes.values:
            column[outcomes.positions] = outcomes.values[value.name]
        numbers[value.name] = column
    return AskerColumns(
        name=asker.name,
        kind=asker.kind,
        signature=asker.signature,
        values=values,
        state=state,
        numbers=numbers,
        verdicts={},
        result=None,
    )


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return all keys of rows, in the order of their first row."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _encode(values: Sequence[str | None]) -> GroupColumn:
    """Return the distinct values, and per value its place among them, -1 for None."""
    different = dict.fromkeys(value for value in values if value is not None)
    places: dict[str | None, int] = {v: n for n, v in enumerate(different)}
    codes = [places.get(value, -1) for value in values]
    return tuple(different), np.array(codes, dtype=np.int32)


def _judgment_columns(
    kind: str,
    judgments: Sequence[Mapping[str, Any]],
) -> AskerColumns | None:
    """Return the numbers that people gave, as columns of an asker; None if there are none."""
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


_VerdictCounts: TypeAlias = tuple[dict[str, NDArray[np.int32]], Counter[str]]
"""By verdict (n,) units of each subject, and how many of all of them the judge is not sure of."""


def _no_counts(n: int) -> _VerdictCounts:
    """Return counts by verdict of n subjects, which begin at zero for a new verdict."""
    return defaultdict(lambda: np.zeros(n, dtype=np.int32)), Counter()


def _count_verdicts(
    store: Store,
    columns: AskerColumns,
    before: AskerColumns | None,
) -> _VerdictCounts:
    """Count the verdicts of an asker in a run that is being made.

    Args:
        store: The store of the run.
        columns: The asker, without verdicts.
        before: The asker in the last snapshot; its counts are kept, and only new outcomes read.
    """
    n = len(columns.state)
    verdicts, n_unsure = _no_counts(n)
    is_counted = np.zeros(n, dtype=bool)
    if before is not None and len(before.state) == n:
        for verdict, counts in before.verdicts.items():
            verdicts[verdict] = counts.copy()
        n_unsure.update(before.n_unsure)
        is_counted = before.state == SCORED
    new_positions = np.flatnonzero((columns.state == SCORED) & ~is_counted)
    for position in new_positions.tolist():
        outcome = store.score(columns.name, position)
        units = outcome.units if isinstance(outcome, ItemScore) else ()
        for unit in units:
            verdicts[unit.verdict or NO_VERDICT][position] += 1
            if not is_sure(unit):
                n_unsure[unit.verdict or NO_VERDICT] += 1
    return verdicts, n_unsure


def _read_verdicts(
    folder: Path,
    columns: Sequence[AskerColumns],
    subjects: Mapping[str, SubjectColumns],
) -> dict[str, _VerdictCounts]:
    """Count the verdicts of a finished run by asker, from its table of units.

    Raises:
        RunError: The table cannot be read, or contains an item that the run does not have.
    """
    # Arrow counts the units of each asker, verdict and item; Python only places the counts.
    # Dictionary encoding keeps the three columns small: their values repeat in most rows.
    all_counts = {
        asker_columns.name: _no_counts(len(asker_columns.state))
        for asker_columns in columns
    }
    names = ["metric", "verdict", "item"]
    try:
        table = pq.read_table(
            folder / UNITS, columns=names, read_dictionary=names
        ).unify_dictionaries()
        # Details are long, so only the rows that have the mark stay in memory.
        unsure_rows = pq.read_table(
            folder / UNITS,
            columns=["metric", "verdict"],
            filters=pc.match_substring(pc.field("detail"), _UNSURE),
        )
    except FileNotFoundError:
        # Runs of the first version have no tables.
        return all_counts
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
        if row["metric"] not in all_counts:
            continue
        positions_by_id = places[kinds_of[row["metric"]]]
        if row["item"] not in positions_by_id:
            raise RunError(
                f"{folder / UNITS} contains {row['item']!r}, which the run does not have; run the"
                " same command again to write it"
            )
        counts = all_counts[row["metric"]][0][row["verdict"] or NO_VERDICT]
        counts[positions_by_id[row["item"]]] = row["count_all"]
    for row in unsure_rows.to_pylist():
        if row["metric"] in all_counts:
            all_counts[row["metric"]][1][row["verdict"] or NO_VERDICT] += 1
    return all_counts


_UNSURE = '"unsure":'
"""The key of ``tones.is_sure`` as the table has it; quotes within its texts are escaped."""


def _strings(value: Any) -> Iterator[str]:
    """Yield all texts in a row, also in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


class Texts:
    """Searchable texts by position, with letter case folded.

    An index of their words would take longer to make than a run to score; a hundred thousand texts
    of a page each are searched in about a fifth of a second, in any script.

    Args:
        texts: In the order of their positions.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        folded = (text.casefold().encode("utf-8", "replace") for text in texts)
        self._texts = pa.array(folded, type=pa.large_binary())

    def having(self, words: str) -> NDArray[np.int64]:
        """Return the positions of texts that contain the words, ignoring case, ascending, (m,)."""
        needle = words.casefold().encode("utf-8", "replace")
        matches = pc.match_substring(self._texts, needle)
        return np.flatnonzero(matches.to_numpy(zero_copy_only=False)).astype(
            np.int64
        )

"""Two runs side by side: what differs in the mean, and which items differ most."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from starlette.exceptions import HTTPException

from beholder.errors import BeholderError, ConfigError
from beholder.records import ItemScore
from beholder.report.marking import marked_texts
from beholder.report.tones import count_verdicts
from beholder.run.compare import Comparison, compare, pair_runs
from beholder.run.manifest import ValueLog
from beholder.run.subjects import ITEM, KINDS
from beholder.stats.ranks import subtract
from beholder.web.items import AskerColumns, RunView, Snapshot
from beholder.web.lists import (
    MatchedSubjects,
    PagedList,
    Query,
    pair,
    read_page,
    read_pair,
    read_whole,
    value_choices,
)
from beholder.web.subject_pages import first_text
from beholder.web.watching import SnapshotCache

_ORDERS = ("most", "up", "down")


FloatArray: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]
PairedPlaces: TypeAlias = tuple[Positions, Positions]
"""(n,) positions in the first run and in the second of the subjects that both have."""


@dataclass(frozen=True)
class PairedValue:
    """A value in two runs, of the subjects that both have.

    Attributes:
        columns: The asker in the first run.
        value: The value.
        places: The subjects.
        before: (n,) in the first run, or NaN.
        after: (n,) in the second.
    """

    columns: AskerColumns
    value: ValueLog
    places: PairedPlaces
    before: FloatArray
    after: FloatArray

    @property
    def difference(self) -> FloatArray:
        """Second run minus first, (n,); NaN where a run has no value."""
        return subtract(self.after, self.before)

    def ordered(self, query: Mapping[str, str]) -> Positions:
        """Return the subjects with a difference in the order of a query, as places in ``places``.

        Raises:
            ConfigError: The query asks for an unknown order.
        """
        order = query.get("sort") or _ORDERS[0]
        if order not in _ORDERS:
            raise ConfigError(
                f"sort: expected {', '.join(_ORDERS)}, got {order!r}"
            )
        # Sorted by ascending key; equal ones stay in the order of the data. `only` keeps those
        # that changed in the direction that is sorted by.
        difference = self.difference
        keys = {"most": -np.abs(difference), "up": -difference}
        key = keys.get(order, difference)
        listed = np.isfinite(difference)
        if order != "most" and "only" in query:
            listed &= key < 0
        places = np.flatnonzero(listed)
        return places[np.argsort(key[places], kind="stable")]


@dataclass
class _Tests:
    """Tests of the differences of means, filled in by a thread: they may take longer than a page.

    Attributes:
        comparison: The result; None until the thread has finished.
        problem: Why there is no result; empty if there is one or the thread runs.
    """

    comparison: Comparison | None = None
    problem: str = ""


@dataclass
class Comparisons:
    """Comparisons of runs, each made once per state of its runs."""

    _cache: SnapshotCache = field(default_factory=SnapshotCache)

    def page(
        self,
        a: RunView,
        b: RunView,
        query: Mapping[str, str],
        *,
        whole: bool = False,
    ) -> tuple[str, Mapping[str, Any]]:
        """Return the template of the page of two runs, and its context.

        Args:
            a: The first run.
            b: The second run.
            query: The query of the address.
            whole: Whether all subjects are on one page.

        Raises:
            ConfigError: The query names an unknown value or order, or the runs share no metric.
        """
        # First the value and the order, then the subjects of one page, whose texts are read.
        now = (a.snapshot, b.snapshot)
        if not all(snapshot.subjects for snapshot in now):
            return "compare_reading.html.j2", {}
        paired_value = self._paired(a, b, query)
        ordered = paired_value.ordered(query)
        pages = PagedList(ordered, read_page(query, ordered))
        listed = ordered.tolist() if whole else pages.page_positions
        kind, difference = paired_value.columns.kind, paired_value.difference
        ids = now[0].subjects[kind].ids
        at_a, at_b = (side[listed].tolist() for side in paired_value.places)
        texts_a, texts_b = _texts(a, kind, at_a), _texts(b, kind, at_b)
        return "compare.html.j2", {
            "query": dict(query),
            "paired_value": paired_value,
            "by": value_choices(columns for columns, _ in shared_askers(*now)),
            "chosen_by": pair(
                paired_value.columns.name, paired_value.value.name
            ),
            "order": query.get("sort") or _ORDERS[0],
            "rows": [
                {
                    "at": position_a,
                    "id": ids[position_a],
                    "difference": float(difference[place]),
                    "a": float(paired_value.before[place]),
                    "b": float(paired_value.after[place]),
                    "text_a": texts_a[position_a],
                    "text_b": texts_b[position_b],
                }
                for place, position_a, position_b in zip(
                    listed, at_a, at_b, strict=True
                )
            ],
            "n_common": len(difference),
            "n_a": len(ids),
            "n_b": len(now[1].subjects[kind].ids),
            "n_higher": int((difference > 0).sum()),
            "n_lower": int((difference < 0).sum()),
            "n_equal": int((difference == 0).sum()),
            "pages": pages,
            "tests": self._cache.get_or_make(
                "tests", (a, b), lambda: _start_tests(a, b)
            ),
            "linked": kind == ITEM.name,
        }

    def item(
        self,
        a: RunView,
        b: RunView,
        query: Mapping[str, str],
    ) -> Mapping[str, Any]:
        """Return the context of the page of one item in two runs.

        Raises:
            HTTPException: The item is missing in one of the runs (404).
            ConfigError: The query names an unknown value or order.
        """
        paired_value = self._paired(a, b, query)
        at_a = read_whole(query.get("at", ""))
        places_a, places_b = paired_value.places
        is_item = paired_value.columns.kind == ITEM.name
        if not is_item or at_a is None or at_a not in places_a:
            raise HTTPException(
                404, f"no item {query.get('at', '')[:20]!r} is in both runs"
            )
        at_b = int(places_b[places_a == at_a][0])
        listed = places_a[paired_value.ordered(query)]
        place, before, after = PagedList(listed, 0).neighbours(at_a)
        shared = shared_askers(a.snapshot, b.snapshot)
        of_items = [
            columns.name for columns, _ in shared if columns.kind == ITEM.name
        ]
        return {
            "id": a.snapshot.subjects[ITEM.name].ids[at_a],
            "at_a": at_a,
            "at_b": at_b,
            "asked": paired_value.columns,
            "place": place,
            "n_listed": len(listed),
            "before": before,
            "after": after,
            "others": [(name, pair(name, "")) for name in of_items],
            "sides": [
                _side(a, paired_value.columns.name, at_a),
                _side(b, paired_value.columns.name, at_b),
            ],
            "query": dict(query),
        }

    def match_run(
        self,
        a: RunView,
        b: RunView,
        selection: Query,
        positions: list[int],
    ) -> MatchedSubjects:
        """Return the same subjects in ``b``, of those at positions in ``a`` that ``b`` has."""
        places_a, places_b = self._pairing(a, b, selection.kind)
        listed = np.isin(places_a, positions)
        pairs = zip(
            places_a[listed].tolist(), places_b[listed].tolist(), strict=True
        )
        return _read_matches(b, selection, dict(pairs))

    def match_system(
        self,
        view: RunView,
        selection: Query,
        system: str,
        positions: list[int],
    ) -> MatchedSubjects:
        """Return a system's first item about the same picture, of items at positions of a run."""
        subjects = view.snapshot.subjects[selection.kind]

        def read_sources() -> list[bytes]:
            with view.store() as store:
                return store.sources(len(subjects.ids))

        sources = self._cache.get_or_make("sources", (view,), read_sources)
        systems, codes = subjects.groups["system"]
        # Later entries of a dict replace earlier ones, so the first item of a source comes last.
        last_to_first = np.flatnonzero(codes == systems.index(system))[
            ::-1
        ].tolist()
        first_by_source = {
            sources[position]: position for position in last_to_first
        }
        matched = [
            position
            for position in positions
            if sources[position] in first_by_source
        ]
        pairs = {
            position: first_by_source[sources[position]]
            for position in matched
        }
        return _read_matches(view, selection, pairs)

    def _paired(
        self,
        a: RunView,
        b: RunView,
        query: Mapping[str, str],
    ) -> PairedValue:
        """Return the value that a query asks for; by default the first that the runs share.

        Raises:
            ConfigError: The runs share no metric, or not the value that the query names.
        """
        shared = shared_askers(a.snapshot, b.snapshot)
        if not shared:
            names = [
                ", ".join(columns.name for columns in view.snapshot.askers)
                for view in (a, b)
            ]
            raise ConfigError(
                f"the runs share no metric: {names[0]} against {names[1]}"
            )
        name, value_name = read_pair(query, "by") or (shared[0][0].name, "")
        for columns_a, columns_b in shared:
            value = columns_a.value(value_name or None)
            if columns_a.name == name and value is not None:
                places_a, places_b = self._pairing(a, b, columns_a.kind)
                none = np.full(len(columns_b.state), np.nan)
                after = columns_b.numbers.get(value.name, none)[places_b]
                before = columns_a.numbers[value.name][places_a]
                return PairedValue(
                    columns_a, value, (places_a, places_b), before, after
                )
        raise ConfigError(
            f"by: the runs share no {name!r} with a value {value_name!r}"
        )

    def _pairing(self, a: RunView, b: RunView, kind: str) -> PairedPlaces:
        def make() -> PairedPlaces:
            with a.store() as first, b.store() as second:
                pairing = pair_runs(first, second, KINDS[kind])
            places = np.array(pairing.common, dtype=np.int64)
            return places[:, 0], places[:, 1]

        return self._cache.get_or_make(f"pairing of {kind}", (a, b), make)


def _read_matches(
    view: RunView,
    selection: Query,
    pairs: Mapping[int, int],
) -> MatchedSubjects:
    """Return the second subject of each pair, by the position of the first.

    Args:
        view: The run of the second subjects.
        selection: Names the value that is shown of them.
        pairs: Position in the run by position of the first subject.
    """
    # A subject without the value has NaN, and so have all if the run has no such metric.
    positions = sorted(set(pairs.values()))
    texts = _texts(view, selection.kind, positions)
    n = len(view.snapshot.subjects[selection.kind].ids)
    numbers = np.full(n, np.nan)
    columns = view.snapshot.asker(selection.kind, selection.asker)
    if columns is not None:
        numbers = columns.numbers.get(selection.value, numbers)
    return {
        position: (
            matched_position,
            float(numbers[matched_position]),
            texts[matched_position],
        )
        for position, matched_position in pairs.items()
    }


def _start_tests(a: RunView, b: RunView) -> _Tests:
    """Test the differences of means in a thread; return what it fills in."""
    tests = _Tests()

    def work() -> None:
        try:
            with a.store() as first, b.store() as second:
                tests.comparison = compare(first, second, allow_different=True)
        except BeholderError as error:
            tests.problem = str(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    # Small runs are tested at once, so that their first page has the tests already.
    thread.join(0.1)
    return tests


def shared_askers(
    a: Snapshot,
    b: Snapshot,
) -> list[tuple[AskerColumns, AskerColumns]]:
    """Return the askers with values that both runs have, of the same kind of subject."""
    columns_of_b = {columns.name: columns for columns in b.askers}
    return [
        (columns, columns_of_b[columns.name])
        for columns in a.askers
        if columns.name in columns_of_b
        and columns.kind == columns_of_b[columns.name].kind
        and columns.values
    ]


def _texts(view: RunView, kind: str, positions: list[int]) -> dict[int, str]:
    """Return the beginning of the text of each subject, by position."""
    subjects = view.snapshot.subjects[kind].kind
    with view.store() as store:
        return {
            position: first_text(subject)
            for position, subject in store.subjects(subjects, positions)
        }


def _side(view: RunView, asker: str, position: int) -> Mapping[str, Any]:
    """Return one run's part of an item's page: failure, values, verdicts and marked texts."""
    with view.store() as store:
        [(_, item)] = store.items([position])
        outcome = store.score(asker, position)
    scored = outcome if isinstance(outcome, ItemScore) else ItemScore({})
    failure = None
    if outcome is not None and not isinstance(outcome, ItemScore):
        failure = outcome.message
    texts = marked_texts(item, scored.units)
    counts = count_verdicts(scored.units).items()
    verdicts = [(verdict, *numbers) for verdict, numbers in counts]
    return {
        "item": item,
        "failure": failure,
        "score": scored,
        "texts": texts,
        "verdicts": verdicts,
    }

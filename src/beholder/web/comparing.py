"""Two runs side by side: what differs in the mean, and which items differ most."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from starlette.exceptions import HTTPException

from beholder.errors import BeholderError, ConfigError
from beholder.records import ItemScore
from beholder.report.marking import marked_texts
from beholder.report.tones import by_tone, is_sure
from beholder.run.compare import Comparison, compare, pair_runs
from beholder.run.manifest import ValueLog
from beholder.run.subjects import ITEM, KINDS
from beholder.stats.ranks import subtract
from beholder.web.items import AskedColumns, Remembered, RunView, Snapshot
from beholder.web.lists import PAGE, Query, pair, read_pair, read_whole
from beholder.web.subject_pages import first_text

_ORDERS = ("most", "up", "down")


FloatArray: TypeAlias = NDArray[np.float64]
PairedPlaces: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""(n,) positions in the first run and in the second of the subjects that both have."""


@dataclass
class _Tests:
    """Differences of the means, from a thread of their own: they may take longer than a page."""

    comparison: Comparison | None = None
    problem: str = ""


@dataclass
class Comparisons:
    """Comparisons of runs, each made once per state of its runs."""

    _made: Remembered = field(default_factory=Remembered)

    def page(
        self,
        a: RunView,
        b: RunView,
        query: Mapping[str, str],
        *,
        whole: bool = False,
    ) -> tuple[str, Mapping[str, Any]]:
        """The template of the page of two runs, and its context; ``whole`` puts all on one page.

        Raises:
            ConfigError: The query asks for what is not there, or the runs share nothing.
        """
        now = (a.snapshot, b.snapshot)
        if not all(snapshot.subjects for snapshot in now):
            return "compare_reading.html.j2", {}
        shared = shared_askers(*now)
        if not shared:
            names = [
                ", ".join(one.name for one in snapshot.asked)
                for snapshot in now
            ]
            raise ConfigError(
                f"the runs share no metric: {names[0]} against {names[1]}"
            )
        first, second, value = _chosen(shared, query)
        places = self._pairing(a, b, first.kind)
        before, after = _numbers((first, second), value.name, places)
        difference = subtract(after, before)
        ordered = _ordered(difference, query)
        last = max(0, math.ceil(len(ordered) / PAGE) - 1)
        number = min(read_whole(query.get("page", "0")) or 0, last)
        shown = (
            ordered if whole else ordered[number * PAGE : (number + 1) * PAGE]
        )
        kind = now[0].subjects[first.kind]
        at_a, at_b = (side[shown].tolist() for side in places)
        texts = [
            _texts(view, first.kind, at) for view, at in ((a, at_a), (b, at_b))
        ]
        return "compare.html.j2", {
            "query": dict(query),
            "value": value,
            "asked": first,
            "by": [
                (pair(one.name, known.name), f"{one.name} · {known.name}")
                for one, _ in shared
                for known in one.values
            ],
            "chosen_by": pair(first.name, value.name),
            "order": query.get("sort") or _ORDERS[0],
            "rows": [
                {
                    "at_a": one,
                    "id": kind.ids[one],
                    "difference": float(difference[place]),
                    "score_a": float(before[place]),
                    "score_b": float(after[place]),
                    "text_a": texts[0][one],
                    "text_b": texts[1][other],
                }
                for place, one, other in zip(
                    shown.tolist(), at_a, at_b, strict=True
                )
            ],
            "n_common": len(difference),
            "n_a": len(kind.ids),
            "n_b": len(now[1].subjects[first.kind].ids),
            "n_higher": int((difference > 0).sum()),
            "n_lower": int((difference < 0).sum()),
            "n_equal": int((difference == 0).sum()),
            "n_known": len(ordered),
            "page": number,
            "n_pages": last + 1,
            "tests": self._made.of("tests", (a, b), lambda: _tested(a, b)),
            "linked": first.kind == ITEM.name,
        }

    def item(
        self, a: RunView, b: RunView, query: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """One item in two runs: the context of its page.

        Raises:
            HTTPException: One of the runs has no such item.
            ConfigError: The query asks for what is not there.
        """
        text = query.get("at", "")
        subjects = a.snapshot.subjects.get(ITEM.name)
        at_a = read_whole(text)
        if subjects is None or at_a is None or at_a >= len(subjects.ids):
            raise HTTPException(
                404, f"the first run has no item {text[:20]!r}"
            )
        places = self._pairing(a, b, ITEM.name)
        found = np.flatnonzero(places[0] == at_a)
        if not len(found):
            raise HTTPException(
                404, f"the second run has no item {subjects.ids[at_a]!r}"
            )
        at_b = int(places[1][found[0]])
        shared = shared_askers(a.snapshot, b.snapshot)
        first, second, value = _chosen(shared, query)
        before, after = _numbers((first, second), value.name, places)
        listed = places[0][_ordered(subtract(after, before), query)].tolist()
        place = listed.index(at_a) if at_a in listed else None
        of_items = [one.name for one, _ in shared if one.kind == ITEM.name]
        return {
            "id": subjects.ids[at_a],
            "at_a": at_a,
            "at_b": at_b,
            "asked": first,
            "place": place,
            "n_listed": len(listed),
            "before": listed[place - 1] if place else None,
            "after": None
            if place is None
            else next(iter(listed[place + 1 :]), None),
            "others": [(name, pair(name, "")) for name in of_items],
            "sides": [
                _side(view, first.name, at)
                for view, at in ((a, at_a), (b, at_b))
            ],
            "query": dict(query),
        }

    def beside(
        self, a: RunView, b: RunView, wanted: Query, positions: list[int]
    ) -> dict[int, tuple[int, float, str]]:
        """Of subjects of ``a`` that ``b`` has, too: place, value (or NaN) and text in ``b``."""
        pairs = np.stack(self._pairing(a, b, wanted.kind), axis=1)
        return _shown(
            b, wanted, pairs[np.isin(pairs[:, 0], positions)].tolist()
        )

    def by_system(
        self, view: RunView, wanted: Query, system: str, positions: list[int]
    ) -> dict[int, tuple[int, float, str]]:
        """Of items of a run, the first item of a system about the same picture, as ``beside``."""
        subjects = view.snapshot.subjects[wanted.kind]

        def read() -> list[bytes]:
            with view.store() as store:
                return store.sources(len(subjects.ids))

        sources = self._made.of("sources", (view,), read)
        systems, codes = subjects.groups["system"]
        own = np.flatnonzero(codes == systems.index(system))[::-1].tolist()
        there = {sources[at]: at for at in own}
        pairs = [
            (at, there[sources[at]])
            for at in positions
            if sources[at] in there
        ]
        return _shown(view, wanted, pairs)

    def _pairing(self, a: RunView, b: RunView, kind: str) -> PairedPlaces:
        def make() -> PairedPlaces:
            with a.store() as first, b.store() as second:
                pairing = pair_runs(first, second, KINDS[kind])
            places = np.array(pairing.common, dtype=np.int64)
            return places[:, 0], places[:, 1]

        return self._made.of(f"pairing of {kind}", (a, b), make)


def _shown(
    view: RunView, wanted: Query, pairs: Sequence[tuple[int, int]]
) -> dict[int, tuple[int, float, str]]:
    """Place, value (or NaN) and text of the second of each pair, by the first."""
    texts = _texts(view, wanted.kind, sorted({there for _, there in pairs}))
    asked = {
        one.name: one.numbers for one in view.snapshot.of_kind(wanted.kind)
    }
    none = np.full(len(view.snapshot.subjects[wanted.kind].ids), np.nan)
    numbers = asked.get(wanted.asked, {}).get(wanted.value, none)
    return {
        here: (there, float(numbers[there]), texts[there])
        for here, there in pairs
    }


def _tested(a: RunView, b: RunView) -> _Tests:
    tests = _Tests()

    def work() -> None:
        try:
            with a.store() as first, b.store() as second:
                tests.comparison = compare(first, second, allow_different=True)
        except BeholderError as error:
            tests.problem = str(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(0.1)  # small runs are done at once
    return tests


def shared_askers(
    a: Snapshot, b: Snapshot
) -> list[tuple[AskedColumns, AskedColumns]]:
    """What both runs asked of one kind of subject, and has values."""
    there = {one.name: one for one in b.asked}
    return [
        (one, there[one.name])
        for one in a.asked
        if one.name in there
        and one.kind == there[one.name].kind
        and one.values
    ]


def _chosen(
    shared: list[tuple[AskedColumns, AskedColumns]], query: Mapping[str, str]
) -> tuple[AskedColumns, AskedColumns, ValueLog]:
    name, value = read_pair(query, "by") or (shared[0][0].name, "")
    for first, second in shared:
        found = first.value(value or None)
        if first.name == name and found is not None:
            return first, second, found
    raise ConfigError(f"by: the runs share no {name!r} with a value {value!r}")


def _numbers(
    asked: tuple[AskedColumns, AskedColumns], value: str, places: PairedPlaces
) -> tuple[FloatArray, FloatArray]:
    """A value in both runs of the subjects that both have, or NaN."""
    none = np.full(len(asked[1].state), np.nan)
    return asked[0].numbers[value][places[0]], asked[1].numbers.get(
        value, none
    )[places[1]]


def _ordered(
    difference: FloatArray, query: Mapping[str, str]
) -> NDArray[np.int64]:
    """The places of differences that are known, in the order that the query asks for."""
    order = query.get("sort") or _ORDERS[0]
    if order not in _ORDERS:
        raise ConfigError(
            f"sort: expected {', '.join(_ORDERS)}, got {order!r}"
        )
    known = np.flatnonzero(np.isfinite(difference))
    if order != "most" and "only" in query:
        known = (
            known[difference[known] > 0]
            if order == "up"
            else known[difference[known] < 0]
        )
    key = {"most": -np.abs(difference), "up": -difference, "down": difference}[
        order
    ][known]
    return known[np.argsort(key, kind="stable")]


def _texts(view: RunView, kind: str, positions: list[int]) -> dict[int, str]:
    subjects = view.snapshot.subjects[kind].kind
    with view.store() as store:
        return {
            at: first_text(one)
            for at, one in store.subjects(subjects, positions)
        }


def _side(view: RunView, asked: str, position: int) -> Mapping[str, Any]:
    """An item in one run: why it has no score, its values and units, its texts cut at these."""
    with view.store() as store:
        [(_, item)] = store.items([position])
        outcome = store.score(asked, position)
    scored = outcome if isinstance(outcome, ItemScore) else ItemScore({})
    failure = (
        None
        if outcome is None or isinstance(outcome, ItemScore)
        else outcome.message
    )
    texts = marked_texts(item, scored.units)
    counts = Counter(unit.verdict for unit in scored.units if is_sure(unit))
    verdicts = [(verdict, counts[verdict]) for verdict in by_tone(counts)]
    return {
        "item": item,
        "failure": failure,
        "found": scored,
        "texts": texts,
        "verdicts": verdicts,
    }

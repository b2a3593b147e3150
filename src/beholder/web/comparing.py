"""Two runs side by side: what differs in the mean, and which items differ most."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from starlette.exceptions import HTTPException

from beholder.errors import BeholderError, ConfigError
from beholder.records import Item, ItemScore, Unit
from beholder.report.marking import Piece, marked_texts
from beholder.report.tones import label, strength, tone
from beholder.run.compare import Comparison, compare
from beholder.run.manifest import ValueLog
from beholder.run.subjects import ITEM
from beholder.web.items import AskedColumns, RunView, Snapshot
from beholder.web.lists import PAGE, pair, read_pair, read_whole
from beholder.web.subject_pages import first_text

_ORDERS = ("most", "up", "down")


PairedPlaces: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""(n,) positions in the first run and in the second of the subjects that both have, by id."""


@dataclass(frozen=True, slots=True)
class DrawnPiece:
    """A piece of a text with the tone, title, strength (0 to 4) and height of its mark, if any."""

    text: str
    tone: str | None = None
    title: str = ""
    strength: int = 0
    height: int = 0


@dataclass(frozen=True)
class ItemSide:
    """An item in one run.

    Attributes:
        item: The item.
        failure: Why it has no score, or None.
        values: Its values.
        texts: Title and pieces of each of its texts.
    """

    item: Item
    failure: str | None
    values: Mapping[str, float]
    texts: Sequence[tuple[str, Sequence[DrawnPiece]]]


@dataclass
class _Tests:
    """Differences of the means, from a thread of their own: they may take longer than a page."""

    comparison: Comparison | None = None
    problem: str = ""
    thread: threading.Thread | None = None


@dataclass
class Comparisons:
    """Comparisons of runs, each made once per state of its runs."""

    _pairings: dict[tuple[int, int], tuple[tuple[Snapshot, Snapshot], PairedPlaces]] = field(
        default_factory=dict
    )
    _tests: dict[tuple[int, int], tuple[tuple[Snapshot, Snapshot], _Tests]] = field(
        default_factory=dict
    )

    def page(
        self, a: RunView, b: RunView, query: Mapping[str, str], *, whole: bool = False
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
            names = [", ".join(one.name for one in snapshot.asked) for snapshot in now]
            raise ConfigError(f"the runs share no metric: {names[0]} against {names[1]}")
        first, second, value = _chosen(shared, query)
        pairing = self._pairing(a, b, first.kind)
        difference = _difference(first, second, value.name, pairing)
        order = query.get("sort") or "most"
        if order not in _ORDERS:
            raise ConfigError(f"sort: expected {', '.join(_ORDERS)}, got {order!r}")
        known = np.flatnonzero(np.isfinite(difference))
        if order != "most" and "only" in query:
            known = known[difference[known] > 0] if order == "up" else known[difference[known] < 0]
        key = {"most": -np.abs(difference), "up": -difference, "down": difference}[order][known]
        ordered = known[np.argsort(key, kind="stable")]
        last = max(0, math.ceil(len(ordered) / PAGE) - 1)
        number = min(read_whole(query.get("page", "0")) or 0, last)
        shown = ordered if whole else ordered[number * PAGE : (number + 1) * PAGE]
        places = shown.tolist()
        tests = self._tested(a, b)
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
            "order": order,
            "rows": _rows(a, b, first, second, value.name, pairing, difference, places),
            "n_common": len(pairing[0]),
            "n_a": len(now[0].subjects[first.kind].ids),
            "n_b": len(now[1].subjects[first.kind].ids),
            "n_higher": int((difference > 0).sum()),
            "n_lower": int((difference < 0).sum()),
            "n_equal": int((difference == 0).sum()),
            "n_known": len(known),
            "page": number,
            "n_pages": last + 1,
            "tests": tests,
            "linked": first.kind == ITEM.name,
        }

    def item(self, a: RunView, b: RunView, query: Mapping[str, str]) -> Mapping[str, Any]:
        """One item in two runs: the context of its page.

        Raises:
            HTTPException: One of the runs has no such item.
            ConfigError: The query asks for what is not there.
        """
        now = (a.snapshot, b.snapshot)
        text = query.get("at", "")
        subjects = now[0].subjects.get(ITEM.name)
        at_a = read_whole(text)
        if subjects is None or at_a is None or at_a >= len(subjects.ids):
            raise HTTPException(404, f"the first run has no item {text[:20]!r}")
        pairing = self._pairing(a, b, ITEM.name)
        found = np.flatnonzero(pairing[0] == at_a)
        if not len(found):
            raise HTTPException(404, f"the second run has no item {subjects.ids[at_a]!r}")
        at_b = int(pairing[1][found[0]])
        shared = shared_askers(*now)
        first, _, _ = _chosen(shared, query)
        sides = [_side(view, first.name, at) for view, at in ((a, at_a), (b, at_b))]
        of_items = [one.name for one, _ in shared if one.kind == ITEM.name]
        return {
            "id": subjects.ids[at_a],
            "at_a": at_a,
            "at_b": at_b,
            "asked": first,
            "others": [(name, pair(name, "")) for name in of_items],
            "sides": sides,
            "query": dict(query),
        }

    def _pairing(self, a: RunView, b: RunView, kind: str) -> PairedPlaces:
        now = (a.snapshot, b.snapshot)
        kept = self._pairings.get((id(a), id(b)))
        if kept is not None and all(map(is_, kept[0], now)):
            return kept[1]
        ids_a, ids_b = (snapshot.subjects[kind].ids for snapshot in now)
        there = {name: place for place, name in enumerate(ids_b)}
        common = [(place, there[name]) for place, name in enumerate(ids_a) if name in there]
        if not common:
            raise ConfigError(
                f"the runs share no {kind} id; they are paired by id, so that a picture needs the"
                " same id under both systems"
            )
        places = np.array(common, dtype=np.int64)
        made = (places[:, 0], places[:, 1])
        self._pairings[id(a), id(b)] = (now, made)
        return made

    def _tested(self, a: RunView, b: RunView) -> _Tests:
        key, now = (id(a), id(b)), (a.snapshot, b.snapshot)
        kept = self._tests.get(key)
        if kept is not None and all(map(is_, kept[0], now)):
            return kept[1]
        tests = _Tests()

        def work() -> None:
            try:
                with a.store() as first, b.store() as second:
                    tests.comparison = compare(first, second, allow_different=True)
            except BeholderError as error:
                tests.problem = str(error)

        tests.thread = threading.Thread(target=work, daemon=True)
        tests.thread.start()
        tests.thread.join(0.1)  # small runs are done at once
        self._tests[key] = (now, tests)
        return tests


def shared_askers(a: Snapshot, b: Snapshot) -> list[tuple[AskedColumns, AskedColumns]]:
    """What both runs asked of one kind of subject, and has values."""
    there = {one.name: one for one in b.asked}
    return [
        (one, there[one.name])
        for one in a.asked
        if one.name in there and one.kind == there[one.name].kind and one.values
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


def _difference(
    a: AskedColumns, b: AskedColumns, value: str, pairing: PairedPlaces
) -> NDArray[np.float64]:
    """(n,) second minus first; NaN where one of them has none."""
    there = b.numbers.get(value)
    if there is None:
        return np.full(len(pairing[0]), np.nan)
    return there[pairing[1]] - a.numbers[value][pairing[0]]


def _rows(
    a: RunView,
    b: RunView,
    first: AskedColumns,
    second: AskedColumns,
    value: str,
    pairing: PairedPlaces,
    difference: NDArray[np.float64],
    places: list[int],
) -> list[dict[str, Any]]:
    at_a, at_b = (side[places].tolist() for side in pairing)
    kind = a.snapshot.subjects[first.kind]
    with a.store() as store_a, b.store() as store_b:
        texts_a = {at: first_text(one) for at, one in store_a.subjects(kind.kind, at_a)}
        texts_b = {at: first_text(one) for at, one in store_b.subjects(kind.kind, at_b)}
    return [
        {
            "at_a": one,
            "at_b": other,
            "id": kind.ids[one],
            "difference": float(difference[place]),
            "score_a": float(first.numbers[value][one]),
            "score_b": float(second.numbers[value][other]),
            "text_a": texts_a[one],
            "text_b": texts_b[other],
        }
        for place, one, other in zip(places, at_a, at_b, strict=True)
    ]


def _side(view: RunView, asked: str, position: int) -> ItemSide:
    """An item in one run: its outcome, and its texts cut at the borders of units."""
    with view.store() as store:
        _, item = next(iter(store.items([position])))
        outcome = store.score(asked, position)
    if isinstance(outcome, ItemScore):
        return ItemSide(item, None, outcome.values, drawn_texts(item, outcome.units))
    return ItemSide(item, outcome.message if outcome else None, {}, drawn_texts(item, ()))


def drawn_texts(item: Item, units: Sequence[Unit]) -> list[tuple[str, list[DrawnPiece]]]:
    """The texts of an item with their titles, cut at the borders of units."""

    def drawn(piece: Piece, heights: Mapping[int, int]) -> DrawnPiece:
        if not piece.units:
            return DrawnPiece(piece.text)
        unit = units[piece.units[-1]]
        mark = tone(unit.verdict)
        return DrawnPiece(
            piece.text,
            mark.name,
            f"{mark.symbol} {label(unit.verdict)}",
            min(4, round(4 * strength(unit))),
            heights.get(piece.units[-1], 0),
        )

    return [
        (text.title.capitalize(), [drawn(piece, text.heights) for piece in text.pieces])
        for text in marked_texts(item, units)
    ]

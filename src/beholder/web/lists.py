"""Which subjects of a run an address asks to be listed, in what order, and a page of them.

Subjects are found by the columns of a run alone.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
import numpy as np
from numpy.typing import NDArray

from beholder.errors import ConfigError
from beholder.records import Item
from beholder.web.items import (
    NO_VERDICT,
    STATES,
    AskedColumns,
    Snapshot,
    SubjectColumns,
)
from beholder.web.notes import Notes

T = TypeVar("T")

PAGE = 50
"""Subjects on a page."""

_ORDERS = ("position", "id", "value", "verdict")


@dataclass(frozen=True)
class Query:
    """Which subjects are listed, and in what order.

    Attributes:
        kind: Kind of subject.
        asked: Name of the asker whose values and verdicts count.
        value: Name of the value that is shown, filtered and sorted by.
        low: Least value, or None.
        high: Greatest value, or None.
        verdict: Only with a unit of this verdict; None for any.
        state: One of ``STATES``; empty for any.
        groups: Columns and values; one of several values of a column is enough.
        words: In the texts or the id; empty for any.
        order: ``position``, ``id``, ``value`` or ``verdict`` (its number of units).
        down: Whether the greatest come first.
    """

    kind: str
    asked: str = ""
    value: str = ""
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    state: str = ""
    groups: tuple[tuple[str, str], ...] = ()
    words: str = ""
    order: str = "position"
    down: bool = False


def find(snapshot: Snapshot, wanted: Query) -> NDArray[np.int64]:
    """Positions of the subjects that are wanted, in order; equal ones in the order of the data."""
    subjects = snapshot.subjects[wanted.kind]
    keep = np.ones(len(subjects.ids), dtype=bool)
    asked = snapshot.listed(wanted.kind)
    columns = next((one for one in asked if one.name == wanted.asked), None)
    for name in dict.fromkeys(name for name, _ in wanted.groups):
        values, codes = subjects.groups.get(name, ((), np.full(len(keep), -1)))
        keep &= np.isin(
            codes,
            [
                at
                for at, one in enumerate(values)
                if (name, one) in wanted.groups
            ],
        )
    if columns is not None:
        keep &= _kept_by_outcome(columns, wanted)
    if wanted.words:
        having = np.zeros(len(keep), dtype=bool)
        having[subjects.texts.having(wanted.words)] = True
        keep &= having
    positions = np.flatnonzero(keep)
    if wanted.order == "position":
        return positions[::-1] if wanted.down else positions
    if wanted.order == "id":
        ordered = sorted(
            positions.tolist(),
            key=lambda at: subjects.ids[at],
            reverse=wanted.down,
        )
        return np.array(ordered, dtype=np.int64)
    key: NDArray[np.float64] | NDArray[np.int32] | None = None
    if columns is not None and wanted.order == "verdict":
        key = columns.verdicts.get(wanted.verdict or NO_VERDICT)
    elif columns is not None:
        key = columns.numbers.get(wanted.value)
    if key is None:
        return positions
    chosen = key[positions].astype(np.float64)
    # NaN stays last in both directions.
    return positions[
        np.argsort(-chosen if wanted.down else chosen, kind="stable")
    ]


def verdict_counts(columns: AskedColumns) -> list[tuple[str, int]]:
    """Verdicts with the number of subjects that have one."""
    return [
        (name, int((counts > 0).sum()))
        for name, counts in columns.verdicts.items()
    ]


def group_counts(subjects: SubjectColumns, name: str) -> list[tuple[str, int]]:
    """Values of a group column with the number of subjects, the most frequent first."""
    values, codes = subjects.groups[name]
    counted = Counter(codes[codes >= 0].tolist())
    return [(values[code], n) for code, n in counted.most_common()]


def _kept_by_outcome(
    columns: AskedColumns, wanted: Query
) -> NDArray[np.bool_]:
    keep = np.ones(len(columns.state), dtype=bool)
    if wanted.state in STATES:
        keep &= columns.state == STATES.index(wanted.state)
    if wanted.verdict is not None:
        keep &= (
            columns.verdicts.get(
                wanted.verdict, np.zeros(len(keep), dtype=np.int32)
            )
            > 0
        )
    numbers = columns.numbers.get(wanted.value)
    if numbers is not None:
        if wanted.low is not None:
            keep &= numbers >= wanted.low
        if wanted.high is not None:
            keep &= numbers <= wanted.high
    return keep


@dataclass(frozen=True)
class Listing:
    """A page of a list.

    Attributes:
        wanted: What was asked for.
        positions: (n,) all that match, in order.
        page: Number of the page, from 0.
    """

    wanted: Query
    positions: NDArray[np.int64]
    page: int

    @property
    def shown(self) -> list[int]:
        """Positions on this page."""
        return [
            int(at)
            for at in self.positions[self.page * PAGE : (self.page + 1) * PAGE]
        ]

    @property
    def n_pages(self) -> int:
        """Number of pages; one if nothing matches."""
        return max(1, math.ceil(len(self.positions) / PAGE))

    def beside(
        self, position: int
    ) -> tuple[int | None, int | None, int | None]:
        """Place of a subject in the list, and the subjects before and after it."""
        at = np.flatnonzero(self.positions == position)
        if not len(at):
            return None, None, None
        place = int(at[0])
        before = int(self.positions[place - 1]) if place else None
        after = (
            int(self.positions[place + 1])
            if place + 1 < len(self.positions)
            else None
        )
        return place, before, after


def listing(
    snapshot: Snapshot, query: Mapping[str, str], notes: Notes | None = None
) -> Listing:
    """The list that the query of an address asks for.

    Args:
        snapshot: The run.
        query: Of an address.
        notes: Where tags are, if the query may ask for one.

    Raises:
        ConfigError: A part of it is not what it should be.
    """
    wanted = read_wanted(snapshot, query)
    positions = find(snapshot, wanted)
    if notes is not None and (tag := query.get("tag")):
        tagged = {
            name
            for name, own in notes.all(wanted.kind).items()
            if tag in own.tags
        }
        ids = snapshot.subjects[wanted.kind].ids
        positions = positions[[ids[at] in tagged for at in positions.tolist()]]
    last = max(0, math.ceil(len(positions) / PAGE) - 1)
    page = read_whole(query.get("page", "0"))
    if page is None:
        raise ConfigError(
            f"page: expected a number, got {query['page'][:40]!r}"
        )
    return Listing(wanted, positions, min(page, last))


def read_pairs(name: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """The chosen columns or groups: values of ``pair``, or lists of them; empty ones do not count.

    Raises:
        ConfigError: It is something else.
    """
    found: list[object] = []
    for text in filter(None, texts):
        one = _json(text, name, list[object], "two texts in a list")
        found += one if one and isinstance(one[0], list) else [one]
    return _converted(
        found, name, list[tuple[str, str]], "two texts in a list"
    )


def read_whole(text: str) -> int | None:
    """A number from 0, of 9 digits at most; None for anything else."""
    return (
        int(text)
        if len(text) <= 9 and text.isascii() and text.isdigit()
        else None
    )


def read_wanted(snapshot: Snapshot, query: Mapping[str, str]) -> Query:
    """What the query of an address asks for; what it does not say has a default.

    Raises:
        ConfigError: A part of it is not what it should be.
    """
    kind = query.get("kind") or snapshot.main_kind
    if kind not in snapshot.subjects:
        raise ConfigError(
            f"kind: the run has no {kind!r}; it has {', '.join(snapshot.subjects)}"
        )
    asked = snapshot.listed(kind)
    by = read_pair(query, "by")
    name, value = by or (asked[0].name if asked else "", "")
    columns = next((one for one in asked if one.name == name), None)
    if columns is None and asked:
        raise ConfigError(
            f"by: the run asked nothing called {name!r} of a {kind}"
        )
    shown = columns.value(value or None) if columns else None
    if value and shown is None:
        raise ConfigError(f"by: {name} has no value {value!r}")
    order, state = query.get("sort") or "position", query.get("state", "")
    if order not in _ORDERS:
        raise ConfigError(
            f"sort: expected {', '.join(_ORDERS)}, got {order!r}"
        )
    if state and state not in STATES:
        raise ConfigError(
            f"state: expected {', '.join(STATES)}, got {state!r}"
        )
    verdict = query.get("verdict")
    return Query(
        kind=kind,
        asked=name,
        value=shown.name if shown else "",
        low=_number(query, "low"),
        high=_number(query, "high"),
        verdict=_json(verdict, "verdict", str, "a text in quotes")
        if verdict
        else None,
        state=state,
        groups=tuple(read_pairs("group", [query.get("group", "")])),
        words=query.get("q", "").strip(),
        order=order,
        down=query.get("down") == "1",
    )


def write_wanted(query: Mapping[str, str], **changed: object) -> str:
    """A query with some parts changed, encoded for an address; None removes a part."""
    parts = {
        **query,
        **{
            name: str(value)
            for name, value in changed.items()
            if value is not None
        },
    }
    for name, value in changed.items():
        if value is None:
            parts.pop(name, None)
    return urlencode(
        {name: value for name, value in parts.items() if value != ""}
    )


def pair(first: str, second: str) -> str:
    """Two names as one value of a form."""
    return json.dumps([first, second], ensure_ascii=False)


def read_pair(query: Mapping[str, str], name: str) -> tuple[str, str] | None:
    """Two names that ``pair`` wrote into a query; None where it has none.

    Raises:
        ConfigError: It is something else.
    """
    text = query.get(name)
    return (
        _json(text, name, tuple[str, str], "two texts in a list")
        if text
        else None
    )


def _json(text: str, name: str, kind: type[T], what: str) -> T:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise ConfigError(
            f"{name}: expected JSON, got {text[:80]!r}"
        ) from None
    return _converted(found, name, kind, what)


def _converted(found: object, name: str, kind: type[T], what: str) -> T:
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError:
        raise ConfigError(
            f"{name}: expected {what}, got {str(found)[:80]!r}"
        ) from None


def _number(query: Mapping[str, str], name: str) -> float | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"{name}: expected a number, got {text!r}")
    return value


OF_ITEMS: Mapping[str, Callable[[Item], str]] = {
    "references": lambda item: " / ".join(item.references),
    "judgments": lambda item: ", ".join(
        f"{k}: {v}" for k, v in item.judgments.items()
    ),
    "group": lambda item: ", ".join(
        f"{k}: {v}" for k, v in item.group.items()
    ),
}
"""Columns of a list of items that are no values."""


def cell(
    snapshot: Snapshot,
    column: tuple[str, str],
    position: int,
    subject: Any,
    beside: Mapping[int, tuple[int, float, str]] | None,
) -> tuple[float | str | None, int | None]:
    """The cell of a chosen column, and the place that it links to.

    Args:
        snapshot: The run.
        column: An asker and its value; ``text`` and one of ``OF_ITEMS``; or the text or value of
            another run.
        position: Place of the subject.
        subject: The subject.
        beside: Place, value and text in the other run, by place; None for a column of this run.
    """
    name, value = column
    if beside is not None:
        place, number, text = beside.get(position, (None, math.nan, ""))
        return (
            text if value == "text" else None if math.isnan(number) else number
        ), place
    if name == "text":
        known = value in OF_ITEMS and isinstance(subject, Item)
        return (OF_ITEMS[value](subject) if known else ""), position
    every = [
        one for kind in snapshot.subjects for one in snapshot.listed(kind)
    ]
    asked = next((one for one in every if one.name == name), None)
    if asked is None or value not in asked.numbers:
        return None, None
    number = float(asked.numbers[value][position])
    return (None if math.isnan(number) else number), position


def state_cells(
    columns: AskedColumns | None, value: str, position: int
) -> dict[str, str | float | None]:
    """The state of a subject, and its value."""
    if columns is None:
        return {"state": "", "score": None}
    score = (
        float(columns.numbers[value][position])
        if value in columns.numbers
        else None
    )
    return {"state": STATES[columns.state[position]], "score": score}


def spread(names: Sequence[str]) -> list[str]:
    """Names that differ: a number behind those that are there before."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found

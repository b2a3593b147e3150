"""Lists of a run's subjects: filters and orders of an address, and one page of the result.

Filters and orders use the columns of a run alone; the store is not read.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode

import msgspec
import numpy as np
from numpy.typing import NDArray

from beholder.errors import ConfigError
from beholder.records import Item
from beholder.web.items import (
    NO_VERDICT,
    STATES,
    AskerColumns,
    Snapshot,
    SubjectColumns,
)
from beholder.web.notes import Notes

T = TypeVar("T")

PAGE = 50
"""Subjects on a page."""

_PAIR = "two texts in a list"
_ORDERS = ("position", "id", "value", "verdict")


@dataclass(frozen=True)
class Query:
    """The selection and order of the listed subjects.

    Attributes:
        kind: Kind of subject.
        asker: Name of the asker whose values and verdicts count.
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
    asker: str = ""
    value: str = ""
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    state: str = ""
    groups: tuple[tuple[str, str], ...] = ()
    words: str = ""
    order: str = "position"
    down: bool = False


def find_positions(snapshot: Snapshot, selection: Query) -> NDArray[np.int64]:
    """Return the positions of the selected subjects, in order, (m,).

    Equal subjects stay in the order of the data.
    """
    # Each filter is a mask over all subjects; a filter that is not set keeps everything. Of one
    # group column any of the chosen values will do, of several columns all must match.
    subjects = snapshot.subjects[selection.kind]
    keep = np.ones(len(subjects.ids), dtype=bool)
    columns = snapshot.asker(selection.kind, selection.asker)
    for name in dict.fromkeys(name for name, _ in selection.groups):
        values, codes = subjects.groups.get(name, ((), np.full(len(keep), -1)))
        keep &= np.isin(
            codes,
            [
                code
                for code, value in enumerate(values)
                if (name, value) in selection.groups
            ],
        )
    if columns is not None:
        keep &= _matches_outcome(columns, selection)
    if selection.words:
        having = np.zeros(len(keep), dtype=bool)
        having[subjects.texts.having(selection.words)] = True
        keep &= having
    positions = np.flatnonzero(keep)
    chosen = _sort_key(subjects, columns, selection)[positions]
    # NaN stays last in both directions.
    return positions[
        np.argsort(-chosen if selection.down else chosen, kind="stable")
    ]


def _sort_key(
    subjects: SubjectColumns,
    columns: AskerColumns | None,
    selection: Query,
) -> NDArray[np.float64]:
    """Return the key by which the subjects are sorted, (n,); all equal if none has it."""
    n = len(subjects.ids)
    key: NDArray[Any] = np.zeros(n)
    if selection.order == "position":
        key = np.arange(n)
    elif selection.order == "id":
        ids = np.array(subjects.ids, dtype=object)
        key = np.unique(ids, return_inverse=True)[1]
    elif columns is not None and selection.order == "verdict":
        key = columns.verdicts.get(selection.verdict or NO_VERDICT, key)
    elif columns is not None:
        key = columns.numbers.get(selection.value, key)
    return key.astype(np.float64)


def verdict_counts(columns: AskerColumns) -> list[tuple[str, int]]:
    """Return the verdicts with the number of subjects that have a unit of each."""
    return [
        (name, int((counts > 0).sum()))
        for name, counts in columns.verdicts.items()
    ]


def group_counts(subjects: SubjectColumns, name: str) -> list[tuple[str, int]]:
    """Return the values of a group column with their numbers of subjects, most frequent first."""
    values, codes = subjects.groups[name]
    counted = Counter(codes[codes >= 0].tolist())
    return [(values[code], n) for code, n in counted.most_common()]


def _matches_outcome(
    columns: AskerColumns,
    selection: Query,
) -> NDArray[np.bool_]:
    """Return whether each subject's outcome passes state, verdict and limits, (n,)."""
    # A subject without the value has NaN, which is within no limit.
    keep = np.ones(len(columns.state), dtype=bool)
    if selection.state in STATES:
        keep &= columns.state == STATES.index(selection.state)
    if selection.verdict is not None:
        none = np.zeros(len(keep), dtype=np.int32)
        keep &= columns.verdicts.get(selection.verdict, none) > 0
    numbers = columns.numbers.get(selection.value)
    if numbers is not None:
        if selection.low is not None:
            keep &= numbers >= selection.low
        if selection.high is not None:
            keep &= numbers <= selection.high
    return keep


@dataclass(frozen=True)
class PagedList:
    """A list that is shown a page at a time.

    Attributes:
        positions: (n,) all its positions, in order.
        page: Number of the page, from 0.
    """

    positions: NDArray[np.int64]
    page: int

    @property
    def page_positions(self) -> list[int]:
        """Positions of the subjects on this page."""
        start = self.page * PAGE
        positions: list[int] = self.positions[start : start + PAGE].tolist()
        return positions

    @property
    def n_pages(self) -> int:
        """Number of pages; one if nothing matches."""
        return count_pages(self.positions)

    def neighbours(
        self, position: int
    ) -> tuple[int | None, int | None, int | None]:
        """Return the place of a subject in the list, and the subjects before and after it.

        All are None if the list does not contain it.
        """
        listed = self.positions.tolist()
        if position not in listed:
            return None, None, None
        place = listed.index(position)
        before = listed[place - 1] if place > 0 else None
        is_last = place == len(listed) - 1
        after = None if is_last else listed[place + 1]
        return place, before, after


def count_pages(positions: NDArray[np.int64]) -> int:
    """Return the number of pages of a list; one for an empty list."""
    return max(1, math.ceil(len(positions) / PAGE))


def read_page(query: Mapping[str, str], positions: NDArray[np.int64]) -> int:
    """Return the number of the page that a query asks for, or of the last page.

    Raises:
        ConfigError: It is not a number.
    """
    page = read_whole(query.get("page", "0"))
    if page is None:
        raise ConfigError(
            f"page: expected a number, got {query['page'][:40]!r}"
        )
    return min(page, count_pages(positions) - 1)


@dataclass(frozen=True)
class Listing(PagedList):
    """A page of the subjects of a run.

    Attributes:
        selection: Subjects in their order.
    """

    selection: Query


def listing(
    snapshot: Snapshot,
    query: Mapping[str, str],
    notes: Notes | None = None,
) -> Listing:
    """Return the list that the query of an address asks for.

    Args:
        snapshot: The run.
        query: The query of an address.
        notes: The tags of subjects; None if the query may not filter by tag.

    Raises:
        ConfigError: A parameter of the query is not valid.
    """
    # Tags are in a file and not in columns, because readers write them at any time: they are
    # applied last, to the positions that are left.
    selection = read_selection(snapshot, query)
    positions = find_positions(snapshot, selection)
    if notes is not None and (tag := query.get("tag")):
        tagged = {
            name
            for name, note in notes.all(selection.kind).items()
            if tag in note.tags
        }
        ids = snapshot.subjects[selection.kind].ids
        positions = positions[
            [ids[position] in tagged for position in positions.tolist()]
        ]
    return Listing(positions, read_page(query, positions), selection)


def read_pairs(name: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Parse the chosen columns or groups: values of ``pair``, or lists of them.

    Args:
        name: Parameter of the query, for messages.
        texts: Its values; empty ones are skipped.

    Raises:
        ConfigError: A value is not valid.
    """
    pairs: list[tuple[str, str]] = []
    for text in filter(None, texts):
        if text.startswith("[["):
            pairs += _decode(text, name, list[tuple[str, str]], _PAIR)
        else:
            pairs.append(_decode(text, name, tuple[str, str], _PAIR))
    return pairs


def read_whole(text: str) -> int | None:
    """Parse a number from 0, of 9 digits at most; return None for anything else."""
    # `isdigit` alone accepts digits of other scripts; numbers of a thousand digits take long.
    if len(text) <= 9 and text.isascii() and text.isdigit():
        return int(text)
    return None


def read_selection(snapshot: Snapshot, query: Mapping[str, str]) -> Query:
    """Parse the query of an address; missing parameters have defaults.

    Raises:
        ConfigError: A parameter is not valid, or names what the run does not have.
    """
    # Each name is looked up in the run, so that a link from an older run says what is missing.
    kind = query.get("kind") or snapshot.main_kind
    if kind not in snapshot.subjects:
        raise ConfigError(
            f"kind: expected {', '.join(snapshot.subjects)}, got {kind!r}"
        )
    askers = snapshot.listed(kind)
    first_name = askers[0].name if askers else ""
    name, value = read_pair(query, "by") or (first_name, "")
    columns = snapshot.asker(kind, name)
    if columns is None and askers:
        raise ConfigError(
            f"by: expected {', '.join(asker.name for asker in askers)}, got {name!r}"
        )
    chosen_value = columns.value(value or None) if columns else None
    if value and chosen_value is None:
        names = [log.name for log in columns.values] if columns else []
        raise ConfigError(
            f"by: expected a value of {name} ({', '.join(names)}), got {value!r}"
        )
    order, state = query.get("sort") or "position", query.get("state", "")
    if order not in _ORDERS:
        raise ConfigError(
            f"sort: expected {', '.join(_ORDERS)}, got {order!r}"
        )
    if state and state not in STATES:
        raise ConfigError(
            f"state: expected {', '.join(STATES)}, got {state!r}"
        )
    verdict = None
    if encoded := query.get("verdict"):
        verdict = _decode(encoded, "verdict", str, "a text in quotes")
    return Query(
        kind=kind,
        asker=name,
        value=chosen_value.name if chosen_value else "",
        low=_number(query, "low"),
        high=_number(query, "high"),
        verdict=verdict,
        state=state,
        groups=tuple(read_pairs("group", [query.get("group", "")])),
        words=query.get("q", "").strip(),
        order=order,
        down=query.get("down") == "1",
    )


def write_query(query: Mapping[str, str], **changed: object) -> str:
    """Return a query with some parameters changed, encoded for an address; None removes one."""
    parts = {**query, **changed}
    return urlencode(
        {
            name: value
            for name, value in parts.items()
            if value not in (None, "")
        }
    )


def pair(first: str, second: str) -> str:
    """Return two names as one value of a form, in JSON: names may contain any separator."""
    return json.dumps([first, second], ensure_ascii=False)


def value_choices(askers: Iterable[AskerColumns]) -> list[tuple[str, str]]:
    """Return, per value of askers, its ``pair`` and its label in a form."""
    return [
        (pair(asker.name, value.name), f"{asker.name} · {value.name}")
        for asker in askers
        for value in asker.values
    ]


def read_pair(query: Mapping[str, str], name: str) -> tuple[str, str] | None:
    """Parse two names that ``pair`` wrote into a query; return None if the query has none.

    Raises:
        ConfigError: The parameter is not valid.
    """
    text = query.get(name)
    if not text:
        return None
    return _decode(text, name, tuple[str, str], _PAIR)


def _decode(text: str, name: str, kind: type[T], what: str) -> T:
    """Decode JSON of a parameter.

    Raises:
        ConfigError: It is not JSON of this type.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError):
        raise ConfigError(
            f"{name}: expected {what} as JSON, got {text[:80]!r}"
        ) from None


def _number(query: Mapping[str, str], name: str) -> float | None:
    """Parse a finite number of a query; return None if it has none.

    Raises:
        ConfigError: The parameter is not a finite number.
    """
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
"""Columns of a list of items that show fields of the data."""


MatchedSubjects: TypeAlias = Mapping[int, tuple[int, float, str]]
"""Position, value (or NaN) and text of the matching subject, by position of a subject."""


def cell(
    snapshot: Snapshot,
    column: tuple[str, str],
    position: int,
    subject: Any,
    matched: Mapping[str, MatchedSubjects],
) -> tuple[float | str | None, int | None]:
    """Return the cell of a chosen column, and the position that it links to.

    Args:
        snapshot: The run.
        column: An asker and its value; ``text`` and one of ``OF_ITEMS``; or a name in ``matched``
            with ``text`` or ``value``.
        position: Place of the subject.
        subject: The subject.
        matched: Subjects of other runs or systems.
    """
    name, value = column
    if name in matched:
        place, number, text = matched[name].get(position, (None, math.nan, ""))
        if value == "text":
            return text, place
        return as_number(number), place
    if name == "text":
        if value in OF_ITEMS and isinstance(subject, Item):
            return OF_ITEMS[value](subject), position
        return "", position
    for kind in snapshot.subjects:
        columns = snapshot.asker(kind, name)
        if columns is not None and value in columns.numbers:
            return as_number(columns.numbers[value][position]), position
    return None, None


def as_number(number: float) -> float | None:
    """Return a number, or None for NaN."""
    return None if math.isnan(number) else float(number)


def spread(names: Sequence[str]) -> list[str]:
    """Return distinct names: a name that occurs again gets a number in brackets."""
    n_by_name: dict[str, int] = {}
    distinct = []
    for name in names:
        n_by_name[name] = n_by_name.get(name, 0) + 1
        distinct.append(
            name if n_by_name[name] == 1 else f"{name} ({n_by_name[name]})"
        )
    return distinct

"""What an address asks to be listed, a page of it, and the way from one subject to the next."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from beholder.errors import ConfigError
from beholder.web.finding import Query, find
from beholder.web.items import STATES, Snapshot
from beholder.web.notes import Notes

PAGE = 50
"""Subjects on a page."""

_ORDERS = ("position", "id", "value", "verdict")


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
        return [int(at) for at in self.positions[self.page * PAGE : (self.page + 1) * PAGE]]

    @property
    def n_pages(self) -> int:
        """Number of pages; one if nothing matches."""
        return max(1, math.ceil(len(self.positions) / PAGE))

    def beside(self, position: int) -> tuple[int | None, int | None, int | None]:
        """Place of a subject in the list, and the subjects before and after it."""
        at = np.flatnonzero(self.positions == position)
        if not len(at):
            return None, None, None
        place = int(at[0])
        before = int(self.positions[place - 1]) if place else None
        after = int(self.positions[place + 1]) if place + 1 < len(self.positions) else None
        return place, before, after


def listing(snapshot: Snapshot, query: Mapping[str, str], notes: Notes | None = None) -> Listing:
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
        tagged = {name for name, own in notes.all(wanted.kind).items() if tag in own.tags}
        ids = snapshot.subjects[wanted.kind].ids
        positions = positions[[ids[at] in tagged for at in positions.tolist()]]
    last = max(0, math.ceil(len(positions) / PAGE) - 1)
    page = read_whole(query.get("page", "0"))
    if page is None:
        raise ConfigError(f"page: expected a number, got {query['page'][:40]!r}")
    return Listing(wanted, positions, min(page, last))


def read_columns(texts: Sequence[str]) -> list[tuple[str, str]]:
    """The chosen columns: values of ``pair``, or one list of them.

    Raises:
        ConfigError: It is something else.
    """
    found: list[object] = []
    for text in texts:
        one = _json(text, "col")
        found += one if isinstance(one, list) and one and isinstance(one[0], list) else [one]
    for one in found:
        if not isinstance(one, list) or [type(part) for part in one] != [str, str]:
            raise ConfigError(f"col: expected two texts in a list, got {str(one)[:80]!r}")
    return [(one[0], one[1]) for one in found if isinstance(one, list)]


def read_whole(text: str) -> int | None:
    """A number from 0, of 9 digits at most; None for anything else."""
    return int(text) if len(text) <= 9 and text.isascii() and text.isdigit() else None


def read_wanted(snapshot: Snapshot, query: Mapping[str, str]) -> Query:
    """What the query of an address asks for; what it does not say has a default.

    Raises:
        ConfigError: A part of it is not what it should be.
    """
    kind = query.get("kind") or snapshot.main_kind
    if kind not in snapshot.subjects:
        raise ConfigError(f"kind: the run has no {kind!r}; it has {', '.join(snapshot.subjects)}")
    asked = snapshot.of_kind(kind)
    by = read_pair(query, "by")
    name, value = by or (asked[0].name if asked else "", "")
    columns = next((one for one in asked if one.name == name), None)
    if columns is None and asked:
        raise ConfigError(f"by: the run asked nothing called {name!r} of a {kind}")
    shown = columns.value(value or None) if columns else None
    if value and shown is None:
        raise ConfigError(f"by: {name} has no value {value!r}")
    order, state = query.get("sort") or "position", query.get("state", "")
    if order not in _ORDERS:
        raise ConfigError(f"sort: expected {', '.join(_ORDERS)}, got {order!r}")
    if state and state not in STATES:
        raise ConfigError(f"state: expected {', '.join(STATES)}, got {state!r}")
    verdict = query.get("verdict")
    return Query(
        kind=kind,
        asked=name,
        value=shown.name if shown else "",
        low=_number(query, "low"),
        high=_number(query, "high"),
        verdict=None if not verdict else _text(verdict, "verdict"),
        state=state,
        group=read_pair(query, "group"),
        words=query.get("q", "").strip(),
        order=order,
        down=query.get("down") == "1",
    )


def write_wanted(query: Mapping[str, str], **changed: object) -> str:
    """A query with some parts changed, encoded for an address; None removes a part."""
    parts = {**query, **{name: str(value) for name, value in changed.items() if value is not None}}
    for name, value in changed.items():
        if value is None:
            parts.pop(name, None)
    return urlencode({name: value for name, value in parts.items() if value != ""})


def pair(first: str, second: str) -> str:
    """Two names as one value of a form."""
    return json.dumps([first, second], ensure_ascii=False)


def read_pair(query: Mapping[str, str], name: str) -> tuple[str, str] | None:
    """Two names that ``pair`` wrote into a query; None where it has none.

    Raises:
        ConfigError: It is something else.
    """
    text = query.get(name)
    if not text:
        return None
    found = _json(text, name)
    if not isinstance(found, list) or [type(part) for part in found] != [str, str]:
        raise ConfigError(f"{name}: expected two texts in a list, got {text!r}")
    return found[0], found[1]


def _text(text: str, name: str) -> str:
    found = _json(text, name)
    if not isinstance(found, str):
        raise ConfigError(f"{name}: expected a text in quotes, got {text!r}")
    return found


def _json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(f"{name}: expected JSON, got {text[:80]!r}") from None


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


def spread(names: Sequence[str]) -> list[str]:
    """Names that differ: a number behind those that are there before."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found

"""The most frequent findings over a data set: wrong attributes and missing entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from beholder.records import Unit

LONGEST = 12
"""Rows of a list."""
_GROUPS = 6
"""Groups of a column that are shown, the largest first."""


@dataclass(frozen=True, slots=True)
class Frequent:
    """One list of findings.

    Attributes:
        title: What is listed.
        column: The group column of the counts, or empty.
        groups: The groups whose counts are shown.
        rows: Text, number of items with the finding, and the number per group.
    """

    title: str
    column: str
    groups: Sequence[str]
    rows: Sequence[tuple[str, int, Sequence[int]]]


_LISTS = (
    ("Most frequent wrong attributes", "attribute", "contradicted"),
    ("Most frequent missing entities", "entity", "omission"),
)


def frequent(
    found: Iterable[tuple[int, Sequence[Unit]]], groups: Mapping[str, Sequence[str | None]]
) -> list[Frequent]:
    """Count findings once per item.

    Args:
        found: Positions with the units of one metric whose view is ``scene_graph``.
        groups: Per group column, the value of each item; the first column breaks the counts down.
    """
    column = next(iter(groups), "")
    values = groups.get(column, ())
    sizes = Counter(value for value in values if value is not None)
    shown = [value for value, _ in sizes.most_common(_GROUPS)]
    counts: dict[str, Counter[tuple[str, str | None]]] = {
        title: Counter() for title, _, _ in _LISTS
    }
    for position, units in found:
        group = values[position] if column else None
        for title, kind, verdict in _LISTS:
            told = {
                _words(unit.text, unit.detail.get("of"), unit.detail.get("contradiction"))
                for unit in units
                if unit.kind == kind and unit.verdict == verdict
            }
            for text in told:
                counts[title][text, None] += 1
                if group is not None:
                    counts[title][text, group] += 1
    made = []
    for title, counter in counts.items():
        totals = [(text, n) for (text, group), n in counter.items() if group is None]
        totals.sort(key=lambda row: (-row[1], row[0]))
        rows = [
            (text, n, [counter[text, group] for group in shown]) for text, n in totals[:LONGEST]
        ]
        if rows:
            made.append(Frequent(title, column, shown, rows))
    return made


def _words(text: str, of: object, contradiction: object) -> str:
    told = f"{text.lower()} {of}" if of else text.lower()
    return f"{told} (there: {str(contradiction).lower()})" if contradiction else told

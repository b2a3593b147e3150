"""ALT403: attributes of people that a collection names for some of them only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from beholder.base.grouping import group_by_key
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import GroupHit, Hit
from beholder.lint.wording import names
from beholder.text.languages import base_language

_LEAST_PEOPLE, _LEAST_MARKERS, _WHITE_SHARE = 30, 20, 0.05
_LEAST_MENTIONS, _LEAST_DIFFERENCE = 20, 0.20
_PERSON = r"""
    (?:(?:wo)?m[ae]n|persons?|people|boys?|girls?|child(?:ren)?|lad(?:y|ies)|figures?|students?
    |teachers?|workers?|dancers?|mothers?|fathers?|couples?|teenagers?|bab(?:y|ies)|adults?)"""


def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


_PEOPLE = _expression(rf"\b{_PERSON}\b")
# "again": a word before the person by which the text returns to the same person.
_MENTION = _expression(
    rf"""
    (?:\b(?P<again>the|this|that|these|those)(?:\ [\w-]+){{0,2}}?\ )?\b(?P<head>{_PERSON})\b
    """
)
_ANYONE = re.compile(r"persons?|people|figures?")
_MARKERS = {
    "race": _expression(
        rf"""
        \b(?P<race>black|white|caucasian|asian|african(?:[ -]american)?|indigenous|native\ american
        |latin[oax]|hispanic|middle\ eastern|south\ asian|arab)(?:[ -]\w+)?\ {_PERSON}\b
        """
    ),
    "skin": _expression(
        rf"""
        \b(?:dark|light|brown|fair|pale|black|white|tan)[- ]skin(?:ned)?(?:[ -]\w+)?\ {_PERSON}\b
        """
    ),
    "gender": _expression(
        rf"""
        \b(?:(?:wo)?m[ae]n|boys?|girls?|lad(?:y|ies)|mothers?|fathers?
        |(?:fe)?male(?:[ -]\w+)?\ {_PERSON})\b
        """
    ),
    "age": _expression(
        rf"""
        \b(?:(?:young|old|older|younger|elderly|aged|teenaged?|adult|senior)(?:[ -]\w+)?\ {_PERSON}
        |boys?|girls?|child(?:ren)?|teenagers?|bab(?:y|ies)|adults?)\b
        """
    ),
}
"""Expressions that match a person with a marker of the field, and end where the person ends."""

FIELDS: Mapping[str, str] = {
    name: field
    for field, columns in names("naming").items()
    for name in columns
}
"""The field of a label by the name of its column in ``group``."""


class _LabelNaming(NamedTuple):
    """Mentions of people with one label, and whether they name its field.

    Attributes:
        label: The label.
        mentions: For each mention of a person, its cluster and whether the field is named.
        first: The first picture with the label.
    """

    label: str
    mentions: Sequence[tuple[str, bool]]
    first: Occurrence

    @property
    def n_named(self) -> int:
        """Number of mentions that name the field."""
        return sum(is_named for _, is_named in self.mentions)

    @property
    def rate(self) -> float:
        """Share of mentions that name the field."""
        return self.n_named / len(self.mentions)


def shows_people(occurrence: Occurrence) -> bool:
    """Return whether an English text speaks of people."""
    return base_language(occurrence.language) in ("", "en") and bool(
        _PEOPLE.search(occurrence.text)
    )


def compare_naming(people: Sequence[Occurrence]) -> Iterator[GroupHit]:
    """Yield the findings of ALT403, given the pictures that show people.

    Where the data label who is shown, naming rates of two labels are compared. Without labels
    nothing is known of who is shown; then texts that name a race, but hardly ever "white", are
    found.
    """
    # Too few people say nothing about a habit.
    for field in _MARKERS:
        labelled = [
            occurrence
            for occurrence in people
            if _find_label(occurrence, field)
        ]
        if len(labelled) >= _LEAST_PEOPLE:
            yield from _compare_labels(field, labelled)
    yield from _unlabelled_race(
        [
            occurrence
            for occurrence in people
            if not _find_label(occurrence, "race")
        ]
    )


def _unlabelled_race(people: Sequence[Occurrence]) -> Iterator[GroupHit]:
    markers = Counter(
        match["race"].lower()
        for occurrence in people
        for match in _MARKERS["race"].finditer(occurrence.text)
    )
    n, white = markers.total(), markers["white"] + markers["caucasian"]
    if (
        len(people) >= _LEAST_PEOPLE
        and n >= _LEAST_MARKERS
        and white <= _WHITE_SHARE * n
    ):
        what = f'{n} texts name a race, and {white} of them say "white"'
        yield GroupHit("ALT403", people[:1], Hit(what), n)


def _compare_labels(
    field: str, people: Sequence[Occurrence]
) -> Iterator[GroupHit]:
    namings = []
    for label, places in group_by_key(
        (_find_label(occurrence, field).casefold(), occurrence)
        for occurrence in people
    ).items():
        mentions = [
            (_cluster(occurrence), is_named)
            for occurrence in places
            for is_named in _mentions(occurrence, field)
        ]
        if len(mentions) >= _LEAST_MENTIONS:
            namings.append(_LabelNaming(label, mentions, places[0]))
    if len(namings) < 2:
        return
    low, high = (
        choose(namings, key=lambda naming: naming.rate)
        for choose in (min, max)
    )
    # Shares of small counts differ from 0.2 in the last digits.
    if high.rate - low.rate < _LEAST_DIFFERENCE - 1e-9:
        return
    interval = _interval(low, high)
    if interval is not None and interval[0] > 0:
        what = (
            f"{field} is named for {high.n_named} of {len(high.mentions)} people labelled"
            f' "{_find_label(high.first, field)}" and {low.n_named} of {len(low.mentions)} labelled'
            f' "{_find_label(low.first, field)}": {high.rate:.2f} and {low.rate:.2f}, difference'
            f" {high.rate - low.rate:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"
        )
        yield GroupHit(
            "ALT403",
            [low.first],
            Hit(what),
            len(high.mentions) + len(low.mentions),
        )


def _find_label(occurrence: Occurrence, field: str) -> str:
    """Return what the data say of the people that are shown; empty if they say nothing."""
    labels = (
        value
        for name, value in occurrence.groups.items()
        if FIELDS.get(name) == field
    )
    return next(labels, "")


def _mentions(occurrence: Occurrence, field: str) -> Iterator[bool]:
    """Yield for each person of a text whether a mention names the field."""
    marked = {
        match.end() for match in _MARKERS[field].finditer(occurrence.text)
    }
    named_by_head: dict[tuple[str, int], bool] = {}
    latest_by_head: dict[str, tuple[str, int]] = {}
    person, end = ("", 0), 0
    for match in _MENTION.finditer(occurrence.text):
        head = match["head"].lower()
        before = latest_by_head.get(head)
        if before is None and latest_by_head and _ANYONE.fullmatch(head):
            before = person
        # "The woman" after "a woman" is one person; so are "the person" and "a baby girl".
        is_compound = (
            bool(end)
            and occurrence.text[end : match.start()] == " "
            and not match["again"]
        )
        if not is_compound:
            person = (
                before if match["again"] and before else (head, match.start())
            )
        latest_by_head[head], end = person, match.end()
        named_by_head[person] = (
            named_by_head.get(person, False) or match.end() in marked
        )
    yield from named_by_head.values()


def _cluster(occurrence: Occurrence) -> str:
    """Return the page, else the picture, else the row: its texts may share a habit or a person."""
    return (
        occurrence.page
        or occurrence.identity
        or f"{occurrence.file}:{occurrence.line}:{occurrence.locator}"
    )


def _interval(
    low: _LabelNaming, high: _LabelNaming
) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of the difference of rates; None if it is undefined."""
    import numpy as np

    from beholder.stats.bootstrap import replicate_interval, sum_replicates

    # Named and all mentions of the one label, then of the other.
    counts: dict[str, list[float]] = {}
    for column, naming in ((0, high), (2, low)):
        for cluster, is_named in naming.mentions:
            row = counts.setdefault(cluster, [0.0] * 4)
            row[column] += is_named
            row[column + 1] += 1
    if len(counts) < 2:
        return None
    sums = sum_replicates(
        np.array([counts[cluster] for cluster in sorted(counts)])
    )
    interval = replicate_interval(
        [
            a / m - b / n if m > 0 and n > 0 else None
            for a, m, b, n in sums.tolist()
        ]
    )
    return None if interval is None else (interval.low, interval.high)

"""Shares of pictures with findings by file, language, year, role and group, with intervals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from beholder.base.grouping import group_by_key
from beholder.lint.linting import LintReport
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import rules

_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")


def _find_year(date: str) -> str:
    match = _YEAR.search(date)
    return match[0] if match else ""


_GROUPS: Mapping[str, Callable[[Occurrence], str]] = {
    "all": lambda occurrence: "",
    "file": lambda occurrence: occurrence.file,
    "language": lambda occurrence: occurrence.language,
    "year": lambda occurrence: _find_year(occurrence.date),
    "role": lambda occurrence: occurrence.role,
}


_MOST_VALUES = 200
"""Values of a group at most: one with a value for each row breaks nothing down."""


def _values_by_group(pictures: Sequence[Occurrence]) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for picture in pictures:
        for name, value in picture.groups.items():
            values.setdefault(name, set()).add(value)
    return dict(sorted(values.items()))


def _groups_of(
    pictures: Sequence[Occurrence],
) -> dict[str, Callable[[Occurrence], str]]:
    """Return how pictures are grouped, with the groups that the data name, such as the system."""
    named = {
        f"group.{name}": _value_of(name)
        for name, values in _values_by_group(pictures).items()
        if len(values) <= _MOST_VALUES
    }
    return {**_GROUPS, **named}


def _value_of(name: str) -> Callable[[Occurrence], str]:
    return lambda picture: picture.groups.get(name, "")


def omitted_groups(report: LintReport) -> list[str]:
    """Return a sentence for each group that has too many values for rates."""
    return [
        f"group.{name} has {len(values):,} values; rates are given for at most {_MOST_VALUES}"
        for name, values in _values_by_group(report.occurrences).items()
        if len(values) > _MOST_VALUES
    ]


class LintRate(Struct, frozen=True):
    """The share of pictures with a finding.

    Attributes:
        rule: Id of the rule; empty for any rule.
        by: all, file, language, year or role, or a group of the data, such as group.system.
        value: Value of the group; empty if the source states none.
        n: Pictures that the rule looks at.
        found: Those with a new or known finding.
        rate: ``found / n``.
        low: Lower end of the 95 % interval, whole pages or documents resampled; None if there are
            fewer than 5.
        high: Its upper end.
    """

    rule: str
    by: str
    value: str
    n: int
    found: int
    rate: float
    low: float | None = None
    high: float | None = None


def rates(report: LintReport) -> list[LintRate]:
    """Return the share of pictures with a finding, of any rule and of each rule, in each group."""
    by_rule = defaultdict(set)
    for finding, place in zip(report.findings, report.places, strict=True):
        for rule in ("", finding.rule):
            by_rule[rule].add(place)
    judged = [
        (at, picture)
        for at, picture in enumerate(report.occurrences)
        if not picture.declared
    ]
    everywhere = [at for at, _ in judged]
    with_text = [
        at for at, picture in judged if picture.text and not picture.decorative
    ]
    judged_by_rule = [("", everywhere)]
    # Rules below ALT1 look at every picture, the others at texts.
    judged_by_rule += [
        (rule, everywhere if rule < "ALT1" else with_text) for rule in rules()
    ]
    lint_rates: list[LintRate] = []
    groups_by_name = _groups_of(report.occurrences)
    for rule, looked_at in judged_by_rule:
        hits = by_rule[rule]
        if hits:
            lint_rates += _rates_of_rule(
                rule, report.occurrences, looked_at, hits, groups_by_name
            )
    return lint_rates


def _rates_of_rule(
    rule: str,
    pictures: Sequence[Occurrence],
    looked_at: Sequence[int],
    hits: set[int],
    groups_by_name: Mapping[str, Callable[[Occurrence], str]],
) -> Iterator[LintRate]:
    for by, value_of in groups_by_name.items():
        groups = group_by_key((value_of(pictures[at]), at) for at in looked_at)
        # One group would repeat the rate of all.
        if by != "all" and len(groups) == 1:
            continue
        for value, places in sorted(groups.items()):
            hit = [at in hits for at in places]
            if any(hit) or not rule:
                yield _rate(
                    rule, by, value, [pictures[at] for at in places], hit
                )


def _rate(
    rule: str,
    by: str,
    value: str,
    pictures: Sequence[Occurrence],
    hit: Sequence[bool],
) -> LintRate:
    n, n_found = len(hit), sum(hit)
    clusters = [_cluster(picture) for picture in pictures]
    from beholder.stats import mean_interval

    interval = mean_interval(hit, clusters=clusters).interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return LintRate(rule, by, value, n, n_found, n_found / n, low, high)


def _cluster(occurrence: Occurrence) -> str:
    """Return the page or document that may repeat one mistake; of a table the page or row."""
    row = (
        str(occurrence.line)
        if occurrence.element == "row" and not occurrence.page
        else ""
    )
    return "\0".join((occurrence.file, occurrence.page, row))

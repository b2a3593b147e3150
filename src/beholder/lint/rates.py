"""Shares of pictures with findings by file, language, year and role, with intervals."""

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


class LintRate(Struct, frozen=True):
    """The share of pictures with a finding.

    Attributes:
        rule: Id of the rule; empty for any rule.
        by: all, file, language, year or role.
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
    for rule, looked_at in judged_by_rule:
        hits = by_rule[rule]
        if hits:
            lint_rates += _rates_of_rule(
                rule, report.occurrences, looked_at, hits
            )
    return lint_rates


def _rates_of_rule(
    rule: str,
    pictures: Sequence[Occurrence],
    looked_at: Sequence[int],
    hits: set[int],
) -> Iterator[LintRate]:
    for by, value_of in _GROUPS.items():
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

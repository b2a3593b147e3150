"""The table of rules: ids, severities by profile, and what a check of a rule returns."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from beholder.lint.occurrence import Occurrence

Format: TypeAlias = Literal[
    "text", "json", "sarif", "junit", "markdown", "html"
]
Profile: TypeAlias = Literal[
    "web", "museum", "social", "documents", "audio-description"
]
PROFILES: tuple[Profile, ...] = get_args(Profile)
SEVERITIES = {"E": "error", "W": "warning", "N": "note", "-": "off"}
ORDER = ("error", "warning", "note")


class LintRule(Struct, frozen=True):
    """A rule, with its condition, its severity in each profile, and advice.

    Attributes:
        id: ``ALT101``.
        name: ``file-name``.
        severities: error, warning, note or off, by profile.
        covers: Rules whose findings are not shown beside one of this rule.
        condition: Condition that it finds, as the end of "in this file ...".
        next: Next step.
    """

    id: str
    name: str
    severities: dict[str, str]
    covers: tuple[str, ...]
    condition: str
    next: str


class Hit(NamedTuple):
    """A problem of an occurrence.

    Attributes:
        what: Description of the finding, without the next step.
        span: Range of ``Occurrence.text``, or None for all of it.
        severity: Replaces the severity of the profile, unless the rule is off.
        evidence: Quotations of what the text is compared with.
    """

    what: str
    span: tuple[int, int] | None = None
    severity: str = ""
    evidence: Mapping[str, str] = {}


class LintFinding(Struct, kw_only=True):
    """A finding of a rule at one place; the fields are those of ``lint.json``."""

    rule: str
    name: str
    severity: str
    message: str
    file: str
    line: int | None = None
    column: int | None = None
    locator: str = ""
    element: str = ""
    picture: str = ""
    text: str = ""
    span: tuple[int, int] | None = None
    text_from: str = ""
    role: str = ""
    language: str = ""
    page: str = ""
    evidence: dict[str, str] = {}
    fingerprint: str = ""
    state: Literal["new", "known"] = "new"


class GroupHit(NamedTuple):
    """A finding about several places.

    Attributes:
        rule: Id of the rule.
        places: Places at which it is reported.
        hit: The finding.
        n: Number of texts or pictures that it concerns.
    """

    rule: str
    places: Sequence[Occurrence]
    hit: Hit
    n: int


@dataclass(frozen=True)
class CollectionLengths:
    """Lengths of the texts of a collection, in characters, and the limit that they show.

    A field that cuts texts leaves many of its greatest length and hardly a longer one. A length
    that a few texts share by chance is no limit.

    Attributes:
        n: How many different texts there are.
        limit: The length at which they pile up; 0 if there is none.
    """

    n: int = 0
    limit: int = 0

    @classmethod
    def from_counts(cls, n_by_length: Mapping[int, int]) -> CollectionLengths:
        """Return the summary of the number of different texts by length."""
        n = n_above = 0
        limit = 0
        for length, count in sorted(n_by_length.items(), reverse=True):
            n += count
            near = sum(
                n_by_length.get(length - step, 0)
                for step in range(1, _NEAR + 1)
            )
            is_peak = count >= max(_LEAST_PEAK, _PEAK * near / _NEAR)
            # Few longer texts, from another source, do not hide a limit.
            if not limit and is_peak and n_above <= count / _PEAK:
                limit = length
            n_above += count
        return cls(n, limit if n >= _FEW_TEXTS else 0)

    def has_peak(self, length: int) -> bool:
        """Return whether many texts have a length and hardly one is longer."""
        return length == self.limit

    def is_limit(self, length: int) -> bool:
        """Return whether texts of a length may be cut; a few texts show no peak."""
        if self.limit:
            return length == self.limit
        return self.n < _FEW_TEXTS and length in _USUAL_LIMITS


_LEAST_PEAK, _PEAK, _NEAR = 5, 10, 10
"""Texts of a peak at least, and how often the mean of so many shorter lengths."""
_FEW_TEXTS = 30
_USUAL_LIMITS = frozenset((100, 125, 128, 250, 255, 256, 500, 1000, 1500))


@dataclass(frozen=True)
class LintSetting:
    """Settings of checks.

    Attributes:
        profile: Guide of the limits and severities.
        platform: Social network, whose limit of length counts.
        terms: Active vocabulary.
        lengths: Lengths of all texts of the collection.
    """

    profile: Profile = "web"
    platform: Literal["mastodon", "bluesky"] = "mastodon"
    terms: Sequence[Term] = ()
    lengths: CollectionLengths = CollectionLengths()


Check: TypeAlias = "Callable[[Occurrence, LintSetting], Hit | None]"
CHECKS: dict[str, Check] = {}


def check(rule: str) -> Callable[[Check], Check]:
    """Register the check of a rule that looks at one occurrence with a text."""

    def add(function: Check) -> Check:
        CHECKS[rule] = function
        return function

    return add


@cache
def rules() -> dict[str, LintRule]:
    """Return all rules by id."""
    rule_by_id = {}
    # The profile audio-description has rules of its own, and the others have none of them.
    for row in (*table("rules.tsv"), *table("audio.tsv")):
        severities = {
            profile: SEVERITIES[row.get(profile, "-")] for profile in PROFILES
        }
        fields = {
            **row,
            "severities": severities,
            "covers": row.get("covers", "").split(),
        }
        rule_by_id[row["id"]] = msgspec.convert(fields, LintRule)
    return rule_by_id


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of this package, which is tab-separated."""
    source = files("beholder.lint").joinpath(name).read_text(encoding="utf-8")
    return list(
        csv.DictReader(
            source.split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE
        )
    )


class Term(NamedTuple):
    """A form of a term of a vocabulary, and what to consider instead."""

    form: str
    language: str
    kind: str
    suggestion: str
    exceptions: str

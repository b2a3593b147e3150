"""The options of a filter: rules, duplicates, and thresholds on words and scores."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from beholder.base.optional import require
from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.lint.rules import rules as lint_rules
from beholder.text.languages import language_named

Decision: TypeAlias = Literal["drop", "quarantine", "keep"]
DECISIONS: tuple[Decision, ...] = ("drop", "quarantine", "keep")
"""Decisions on a row, the most severe first."""
TEXT_ENDING = ".txt"
"""Ending of the texts of folders and shards, by default."""
RuleSet: TypeAlias = Literal["training", "tags", "none"]

_BROKEN = "ALT101 ALT102 ALT109 ALT111 ALT112 ALT115 ALT116"
RULE_SETS: Mapping[str, Mapping[Decision, str]] = {
    "training": {
        "drop": f"{_BROKEN} ALT103 ALT107 ALT114",
        # Truncation is guessed from the end of the text.
        "quarantine": "ALT113",
        "keep": "ALT104 ALT106 ALT117",
    },
    # Tags are lists of keywords by design, so rules about prose are off.
    "tags": {"drop": _BROKEN},
    "none": {},
}
"""Rules of ``lint`` by what is done with a row that breaks them."""

INPUT_REASONS: Mapping[str, Decision] = {
    "unreadable": "drop",
    "missing": "drop",
    "no_picture": "drop",
    "broken_sample": "quarantine",
    "language": "drop",
}
"""Reasons that the reader and the language give."""
LATER_REASONS: Mapping[str, Decision] = {
    "duplicate": "drop",
    "near_duplicate": "drop",
    "same_text": "keep",
    "no_score": "quarantine",
}
"""Reasons that come from other rows or from scores."""

REPEATS = frozenset({"duplicate", "near_duplicate", "same_text"})
"""Reasons of rows in whose place a better one stays."""

_EXPRESSION = re.compile(
    r"\s*([\w.]+)\s*(<=|>=|<|>)\s*(-?[\d.]+(?:e-?\d+)?)\s*"
)
_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Threshold(NamedTuple):
    """A condition on a number of a row, such as ``clipscore<0.45``.

    Attributes:
        column: ``words``, a metric, or ``METRIC.VALUE``.
        sign: One of ``<``, ``<=``, ``>``, ``>=``.
        limit: The number that it is compared with.
    """

    column: str
    sign: str
    limit: float

    def __str__(self) -> str:
        return f"{self.column}{self.sign}{self.limit:.15g}"

    def is_met(self, value: float) -> bool:
        """Return whether a value meets the condition."""
        return bool(_OPERATORS[self.sign](value, self.limit))


@dataclass(frozen=True)
class FilterOptions:
    """Options of a filter: what is dropped, and why.

    Attributes:
        rules: Rules of lint that count: training, tags (no rules about prose), or none.
        language: Language of the texts, as a name or code; others are dropped.
        near_duplicates: Similarity of near-duplicate texts of one picture, such as 0.8; if missing,
            only equal ones.
        drop: Rows to drop, by a reason (same_text, ALT104) or limit ("words<3"); repeatable.
        quarantine: Rows to set aside, named likewise; repeatable.
        keep: Reasons that are noted and count no longer; repeatable.
        text_ending: Ending of the texts of a folder or of shards.
        skip_bad_files: Leave out files that are damaged, and count them.

    Raises:
        ConfigError: A number, language, reason or threshold is not valid.
    """

    rules: RuleSet = "training"
    language: str | None = None
    near_duplicates: float | None = None
    drop: tuple[str, ...] = ()
    quarantine: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    text_ending: str = TEXT_ENDING
    skip_bad_files: bool = False

    def __post_init__(self) -> None:
        if self.near_duplicates is not None:
            check_number(
                "--near-duplicates",
                self.near_duplicates,
                0.5,
                1,
                hint="a similarity, such as 0.8",
            )
            require("rensa", extra="filter", purpose="--near-duplicates")
        if self.language and language_named(self.language) is None:
            raise ConfigError(
                f"--language {self.language}: there is no such language; expected a name or code,"
                " such as en"
            )
        if not re.fullmatch(r"\.\w+", self.text_ending):
            raise ConfigError(
                f"--text-ending {self.text_ending}: expected an ending such as .caption"
            )
        for text in self.keep:
            if parse_threshold(text) is not None:
                raise ConfigError(
                    f"--keep {text}: a threshold cannot keep rows; leave it out"
                )
        n_decisions = Counter(
            (*{*self.drop}, *{*self.quarantine}, *{*self.keep})
        )
        for text, n in n_decisions.items():
            if n > 1:
                raise ConfigError(
                    f"{text} has {n} decisions; name it once, with --drop, --quarantine or --keep"
                )
        self.thresholds  # noqa: B018 - checks the expressions
        self.decisions  # noqa: B018

    @cached_property
    def thresholds(self) -> Mapping[Threshold, Decision]:
        """Thresholds in the order of their reasons: those that drop first."""
        parsed: dict[Threshold, Decision] = {}
        for decision in DECISIONS[:2]:
            for text in getattr(self, decision):
                if (threshold := parse_threshold(text)) is not None:
                    parsed.setdefault(threshold, decision)
        return parsed

    @cached_property
    def decisions(self) -> Mapping[str, Decision]:
        """The decision by reason, in the order in which reasons are named."""
        rule_set = RULE_SETS[self.rules]
        decision_by_rule = {
            rule: decision
            for decision, rules in rule_set.items()
            for rule in rules.split()
        }
        decisions: dict[str, Decision] = {
            **INPUT_REASONS,
            **dict(sorted(decision_by_rule.items())),
            **LATER_REASONS,
        }
        for decision in DECISIONS:
            for text in getattr(self, decision):
                if parse_threshold(text) is None:
                    _check_reason(f"--{decision}", text)
                    decisions[text] = decision
        decisions |= {str(t): done for t, done in self.thresholds.items()}
        return decisions

    def without_scores(self) -> FilterOptions:
        """Return these options without the thresholds on scores."""

        def remove_scores(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(
                text
                for text in texts
                if (threshold := parse_threshold(text)) is None
                or threshold.column == "words"
            )

        return replace(
            self,
            drop=remove_scores(self.drop),
            quarantine=remove_scores(self.quarantine),
        )

    @property
    def lint_rules(self) -> tuple[str, ...]:
        """Ids of the rules of lint that are looked at."""
        return tuple(name for name in self.decisions if name.startswith("ALT"))


def parse_threshold(text: str) -> Threshold | None:
    """Return the threshold that a text such as ``words<3`` names; None if it is another text.

    Raises:
        ConfigError: Its number is not valid.
    """
    match = _EXPRESSION.fullmatch(text)
    if match is None:
        return None
    try:
        limit = float(match[3])
    except ValueError:
        limit = math.inf
    if math.isinf(limit):
        raise ConfigError(f"{text!r}: {match[3]!r} is not a number")
    return Threshold(match[1], match[2], limit)


def _check_reason(option: str, name: str) -> None:
    if name in INPUT_REASONS or name in LATER_REASONS:
        return
    if name in lint_rules() and name < "ALT2":
        return
    raise ConfigError(
        f"{option} {name}: expected a threshold such as 'words<3', or a reason:"
        f" {', '.join((*INPUT_REASONS, *LATER_REASONS))}, or a rule of lint from ALT101 to ALT117"
    )


@dataclass(frozen=True)
class FilterConfig:
    """A whole filter.

    Attributes:
        sources: Files or folders, in the order that decides which of two duplicates is first.
        out: Folder of the job.
        options: What is dropped.
        columns: Column by field, as mapped by the user.
        metrics: Specs of metrics, each with defaults filled in.
        media_root: Folder of the pictures; None for that of the first source.
        tools: Judge and embedder of the metrics that name none.
    """

    sources: tuple[str, ...]
    out: Path
    options: FilterOptions = field(default_factory=FilterOptions)
    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    media_root: Path | None = None
    tools: Mapping[str, str] = field(default_factory=dict)

"""Sentence splitters, words and their weights; pieces are ranges of the original text."""

from __future__ import annotations

from beholder.base.registry import Registry
from beholder.text.frequency import weight as weight
from beholder.text.rules import RuleSplitter as RuleSplitter
from beholder.text.rules import Segment as Segment
from beholder.text.rules import Splitter as Splitter
from beholder.text.tokenize import n_spoken as n_spoken
from beholder.text.tokenize import without_marks as without_marks
from beholder.text.tokenize import words as words

SPLITTERS: Registry[Splitter] = Registry(
    kind="splitter",
    base=Splitter,  # type: ignore[type-abstract]
    builtin={
        "rules": "beholder.text.rules:RuleSplitter",
        "sat": "beholder.text.rules:SatSplitter",
    },
    group="beholder.splitters",
)


def splitter(spec: str) -> Splitter:
    """Build a sentence splitter from its spec.

    Args:
        spec: ``rules``, ``sat:NAME`` (extra ``sat``), or ``package/name`` of an outside package.

    Raises:
        UnknownNameError: Nothing has that name.
        ConfigError: The spec cannot be read, or has an argument too many or too few.
        MissingExtraError: The splitter needs a package that is not installed.
    """
    return SPLITTERS.build(spec)

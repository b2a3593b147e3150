"""What people are asked about texts and how their marks are cut and read, by data set."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.records import Item, Side, Span
from beholder.text.tokenize import words

Label: TypeAlias = Literal["mistakes", "omissions"]
SIDES: tuple[tuple[Label, Side], ...] = (("mistakes", "candidate"), ("omissions", "reference"))

SCORE_OF: Mapping[str, str] = {
    "mistakes": "precision",
    "omissions": "recall",
    "overall_quality": "f1",
}
"""Which score of a metric answers which question put to people."""


@dataclass(frozen=True)
class MarkProtocol:
    """How the marks of a set are read.

    Attributes:
        part: What is marked or not, in the plural, for people.
        parts: Places of the parts of a text of an item.
        several: Which score a part takes that several units of a metric touch.
        runs: Whether runs of parts are compared with the marked spans.
        per_text: Whether the published figures are means over texts.
    """

    part: str
    parts: Callable[[Item, str], Sequence[Span]]
    several: Literal["lowest", "highest"]
    runs: bool = True
    per_text: bool = False


_WORD = re.compile(r"[A-Za-z0-9]+(?:[-'.@_][A-Za-z0-9]+)*|[@#]\w+|[\u4e00-\u9fff\u3040-\u30ff]+")
"""Tokens of DetailVerifyBench: compounds, mentions, runs of Chinese or Japanese letters."""

_WORDS = MarkProtocol("words", lambda item, text: words(text), "highest")
_TOKENS = MarkProtocol(
    "words",
    lambda item, text: [match.span() for match in _WORD.finditer(text)],
    "highest",
    per_text=True,
)
_SENTENCES = MarkProtocol(
    "sentences",
    lambda item, text: [(int(start), int(end)) for start, end in item.judgments["sentences"]],
    "lowest",
    runs=False,
)

MARKED: Mapping[str, MarkProtocol] = {
    "docent_granular": _WORDS,
    "detailverifybench": _TOKENS,
    "detailverifybench_synthetic": _TOKENS,
    "docci_critique": _SENTENCES,
    "alignbench": _SENTENCES,
    "haldec_bench": _SENTENCES,
}
"""Sets whose labels are marks; they have no protocol of item scores."""

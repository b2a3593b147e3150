"""Clauses for chunks where a text has too few sentences to have an order.

One chunk cannot be out of place and two hardly can: with them, NAS is 1 whatever a text tells when.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from beholder.text import Segment, words

IDENTITY = "clauses.v1"
"""For signatures; a change that moves a chunk gets a new number."""

FEW_SENTENCES = 3
"""A text of fewer sentences is cut at its clauses."""

CLAUSE_WORDS = 5
"""Least number of words of a clause, so that lists and apposed words stay in one piece."""

# A mark inside a number (1,000 or 10:30) has no space after it. Closing quotes and brackets stay
# with what they close. The marks of Arabic, Chinese and Japanese need no space.
_MARK = re.compile(
    r"[,;:][\"'”’»)\]]*(?=\s)|[،؛、\uff0c\uff1b\uff1a][”’»」』）]*|\s[–—-]{1,2}(?=\s)|—"
)
_VISIBLE = re.compile(r"\S")


def chunks_of(text: str, sentences: Sequence[Segment]) -> list[Segment]:
    """The chunks of a text under ``rules="fixed"``: its sentences, or the clauses of one or two.

    Args:
        text: The text.
        sentences: Its sentences, in order.

    Returns:
        The sentences, if there are three or more. Else each sentence is cut after commas,
        semicolons, colons and dashes that leave at least five words on both sides.
    """
    if len(sentences) >= FEW_SENTENCES:
        return list(sentences)
    starts = [start for start, _ in words(text)]
    return [clause for sentence in sentences for clause in _clauses(text, sentence, starts)]


def _clauses(text: str, sentence: Segment, starts: Sequence[int]) -> list[Segment]:
    found: list[Segment] = []
    start, end = sentence.start, bisect_left(starts, sentence.end)
    for mark in _MARK.finditer(text, sentence.start, sentence.end):
        before = bisect_left(starts, mark.end())
        if min(before - bisect_left(starts, start), end - before) >= CLAUSE_WORDS:
            found.append(Segment(start, mark.end()))
            start = next(_VISIBLE.finditer(text, mark.end())).start()  # a word follows
    return [*found, Segment(start, sentence.end)]

"""Whether a statement says what can be seen, or what its writer makes of it."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from itertools import pairwise

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.numbers import whole
from beholder.language.statements import Statement
from beholder.language.unseen import MOOD, OPINIONS
from beholder.language.words import parse

_REACH = whole("relevance.reach")
_MARKS = re.compile(r"[.,;:!?()\n]|\b(?:but|while|which|who)\b")
"""What ends the reach of a hedge."""
_COMPLEMENTS = frozenset(("to", "like", "as"))
"""Words after which "seems" and "appears" are a guess."""
_EMPTY = frozenset(
    ("the", "a", "an", "and", "is", "are", "very", "quite", "so", "somewhat", "also")
)


def seen(statement: Statement, text: AnalysedText) -> bool:
    """Whether a statement says what can be seen: no guess, no inference, no mood, no mere opinion.

    A guess is what a hedge ("possibly", "seems to", "suggesting") covers in the text: the next few
    words, up to a mark. Inference and mood are also told by words of the statement. Opinion counts
    only where the statement says nothing else.

    Args:
        statement: A statement of the text.
        text: The text that it comes from.
    """
    if any(text.graph.entities[index].kind == "unseen" for index in statement.entities):
        return False
    said = re.findall(r"[a-z]+(?:-[a-z]+)*", statement.text.lower())
    if not (_words("inference") | MOOD).isdisjoint(said):
        return False
    if statement.kind == "attribute":
        own = [w for span in statement.spans for w in text.words[slice(*text.at(span))]]
        bearing = [word for word in own if word not in _EMPTY]
        if bearing and OPINIONS.issuperset(bearing):
            return False
    return not any(_hedged(text, span[0]) for span in statement.spans)


def _hedged(text: AnalysedText, start: int) -> bool:
    """Whether a hedge covers the words that begin at a character."""
    place = text.at((start, start + 1))[0]
    mark = max((m.end() for m in _MARKS.finditer(text.graph.text, 0, start)), default=0)
    first = max(text.at((mark, mark + 1))[0], place - _REACH)
    return any(
        word in _words("hedges") | _words("inference")
        or (word in _words("seeming") and after in _COMPLEMENTS)
        for word, after in pairwise(text.words[first : place + 1])
    )


@cache
def _words(section: str) -> frozenset[str]:
    text = resources.files(__package__).joinpath("inference.txt").read_text(encoding="utf-8")
    return frozenset(" ".join(parse(text)[section]).split())

"""Soft alignment of words, which finds units that graphs miss, as after a wrong parse.

Each word of a text counts with its best squared similarity to a word of the other text, whatever
the order; each two neighbours of its content words with the best two of the other text that are in
the same order, near each other: "a dog chases a cat" is not "a cat chases a dog".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.analysed import AnalysedText, Ints, lower_excluded
from beholder.judges.builtin.numbers import number, whole
from beholder.judges.builtin.reading import analysed
from beholder.judges.operations.align import LexicalAlignment

_IN_ORDER = number("lexical_alignment.in_order")
_CONTENT = number("lexical_alignment.content")
_MAX_GAP = whole("lexical_alignment.apart")
_SETS_KEPT = 512


def align_words(candidate: str, references: Sequence[str]) -> LexicalAlignment:
    """Align the words of a candidate with those of each reference."""
    analysed_candidate, analysed_references = (
        analysed(candidate),
        [analysed(text) for text in references],
    )
    pairs = [
        _align(analysed_candidate, reference)
        for reference in analysed_references
    ]
    return LexicalAlignment(
        _value([forward for forward, _ in pairs], analysed_candidate),
        tuple(
            _value([back], reference)
            for (_, back), reference in zip(
                pairs, analysed_references, strict=True
            )
        ),
        _peers(tuple(references)),
    )


@lru_cache(maxsize=_SETS_KEPT)
def _peers(references: tuple[str, ...]) -> float:
    """Average the recall of each reference by each other one, over all ordered pairs."""
    values = []
    for first, second in combinations(references, 2):
        forward, back = _align(analysed(first), analysed(second))
        values += [
            _value([forward], analysed(first)),
            _value([back], analysed(second)),
        ]
    return float(np.mean(values)) if values else 1.0


@dataclass(frozen=True, slots=True)
class _Matches:
    """Best similarities of a text's words, (n,), and of its neighbours, (c - 1,).

    ``neighbours`` is empty where one of the two texts has less than two content words.
    """

    words: FloatArray
    neighbours: FloatArray


def _align(a: AnalysedText, b: AnalysedText) -> tuple[_Matches, _Matches]:
    """The words of the first text in the second, and of the second in the first."""
    if not a.words or not b.words:
        first, second = (
            _Matches(np.zeros(len(text.words)), np.zeros(0)) for text in (a, b)
        )
        return first, second
    similarity = cosines(a.word_vectors, b.word_vectors)
    lower_excluded(similarity, a.word_values, b.word_values)
    similarity **= 2  # a word that is a little like many says little
    content = similarity[np.ix_(_content(a), _content(b))]
    return (
        _Matches(similarity.max(axis=1), _in_order(content)),
        _Matches(similarity.max(axis=0), _in_order(content.T)),
    )


def _in_order(similarity: FloatArray) -> FloatArray:
    """For each two neighbours the geometric mean of their similarities to the best two in order."""
    n, m = similarity.shape
    if n < 2 or m < 2:
        return np.zeros(0)
    first, second = similarity[:-1], similarity[1:]
    # For each gap up to the limit, both words of a pair must match words in
    # that order; a longer gap is no phrase any more.
    best = np.max(
        [
            (first[:, : m - gap] * second[:, gap:]).max(axis=1)
            for gap in range(1, min(_MAX_GAP, m - 1) + 1)
        ],
        axis=0,
    )
    similarities: FloatArray = np.sqrt(best)
    return similarities


def _value(matches: Sequence[_Matches], text: AnalysedText) -> float:
    """The value of a text whose words are looked for in several others, each at its best."""
    weights = text.word_weights
    if not len(weights) or not matches:
        return 0.0
    value = float(
        np.average(
            np.max([match.words for match in matches], axis=0), weights=weights
        )
    )
    ordered = [match.neighbours for match in matches if len(match.neighbours)]
    if not ordered:
        return value
    content = weights[_content(text)]
    # A pair weighs the geometric mean of its words, so that a pair with a
    # function word counts little.
    neighbours = np.average(
        np.max(ordered, axis=0), weights=np.sqrt(content[:-1] * content[1:])
    )
    return value + _IN_ORDER * (float(neighbours) - value)


def _content(text: AnalysedText) -> Ints:
    """Places of the content words."""
    return np.flatnonzero(text.word_weights > _CONTENT)

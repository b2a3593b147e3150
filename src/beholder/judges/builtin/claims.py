"""Statements against texts and against each other, as the built-in judge sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.settings import settings
from beholder.judges.builtin.view import View
from beholder.language import graph_statements

PRESENT = 3.0
"""Grade from which a unit counts as there."""
_ALIKE = 0.5
"""Word alignment below which two statements are not looked at more closely."""
_CLOSE = 5
"""Statements that are looked at more closely for each claim."""


def supported(claims: Sequence[View], text: View) -> list[bool]:
    """Whether a text says all of each claim: as one of its own statements, or unit by unit."""
    said = {_plain(statement.text) for statement in graph_statements(text.graph)}
    return [_plain(claim.graph.text) in said or support(claim, text) >= PRESENT for claim in claims]


def support(claim: View, text: View) -> float:
    """The lowest grade of a claim's units in a text; 1 for a claim without units."""
    found = find(claim, text, settings())
    return min(
        (
            settings().grade(unit.kind, finding.value)
            for unit, finding in zip(claim.units, found, strict=True)
        ),
        default=1.0,
    )


def matches(claims: Sequence[View], references: Sequence[View]) -> list[int | None]:
    """For each claim the reference that says the same, both ways, or None.

    The same words go first. Of the others, those whose words are nearest are compared unit by unit.
    """
    written = {_plain(view.graph.text): i for i, view in reversed(list(enumerate(references)))}
    alike = np.minimum(_alignment(claims, references), _alignment(references, claims).T)
    found: list[int | None] = []
    for claim, row in zip(claims, alike, strict=True):
        same = written.get(_plain(claim.graph.text))
        if same is None:
            nearest = np.argsort(-row, kind="stable")[:_CLOSE].tolist()
            graded = [
                (min(support(claim, references[i]), support(references[i], claim)), row[i], -i)
                for i in nearest
                if row[i] >= _ALIKE
            ]
            grade, _, place = max(graded, default=(0.0, 0.0, 0))
            same = -place if grade >= PRESENT else None
        found.append(same)
    return found


def _alignment(views: Sequence[View], others: Sequence[View]) -> FloatArray:
    """(views, others): how near the words of the one's units come to any word of the other."""
    rows, columns = _units(views), _units(others)
    if not len(rows[0]) or not len(columns[0]):
        return np.zeros((len(views), len(others)))
    near = np.maximum.reduceat(rows[0] @ columns[0].T, columns[2], axis=1)
    total = np.add.reduceat(np.clip(near, 0.0, 1.0) * rows[1][:, None], rows[2], axis=0)
    found = np.zeros((len(views), len(others)))
    found[np.ix_(rows[3], columns[3])] = total / np.add.reduceat(rows[1], rows[2])[:, None]
    return found


def _units(views: Sequence[View]) -> tuple[FloatArray, FloatArray, list[int], list[int]]:
    """Vectors and weights of all words of units; where each view's begin, and which views."""
    filled = [i for i, view in enumerate(views) if view.unit_words[0]]
    if not filled:
        return np.zeros((0, 0)), np.zeros(0), [], []
    sizes = [len(views[i].unit_words[0]) for i in filled]
    starts = [0, *np.cumsum(sizes)[:-1].tolist()]
    vectors = np.concatenate([views[i].unit_word_vectors for i in filled])
    return vectors, np.concatenate([views[i].unit_word_weights for i in filled]), starts, filled


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()

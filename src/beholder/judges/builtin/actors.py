"""Things of one name, told apart by what they do and how they stand to the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.predicates import Predicate, likeness, verb_likeness
from beholder.judges.builtin.verbs import verb_similarity

_Ends: TypeAlias = dict[int, list[tuple[int, int, bool]]]
"""Per entity its relations: the relation, the other end, and whether it is the subject."""


def relation_agreement(
    source: AnalysedText,
    target: AnalysedText,
    similarity: FloatArray,
    groups: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
) -> FloatArray:
    """(n, m), 0..1: how well the relations of entities agree, within groups of like ones.

    Args:
        source: The text whose entities are looked for.
        target: The text in which they are looked for.
        similarity: (n, m), 0..1, of the things at the other ends.
        groups: Rows and columns that are called the same; all other pairs get 0.
    """
    found = np.zeros_like(similarity)
    if not groups:
        return found
    asked, said = _ends(source), _ends(target)
    verbs = verb_similarity(source, target)
    for rows, columns in groups:
        for row in rows.tolist():
            own = asked.get(row, ())
            for column in columns.tolist() if own else ():
                total = 0.0
                for relation, end, first in own:
                    total += max(
                        (
                            _agrees(
                                source.relations[relation][2],
                                target.relations[other][2],
                                float(verbs[relation, other]),
                                first == leads,
                            )
                            * float(similarity[end, far])
                            for other, far, leads in said.get(column, ())
                            if source.relations[relation][1].polarity
                            == target.relations[other][1].polarity
                        ),
                        default=0.0,
                    )
                found[row, column] = total / len(own)
    return found


def _agrees(a: Predicate, b: Predicate, similarity: float, straight: bool) -> float:
    """How far two relations say the same of an entity that both have at one of their ends."""
    verb = verb_likeness(a, b, similarity)
    return likeness(a, b, verb, float(straight), float(not straight))[0]


def _ends(text: AnalysedText) -> _Ends:
    found: _Ends = defaultdict(list)
    columns, subjects, objects = text.relation_ends
    for column, first, second in zip(columns, subjects.tolist(), objects.tolist(), strict=True):
        found[first].append((column, second, True))
        found[second].append((column, first, False))
    return found

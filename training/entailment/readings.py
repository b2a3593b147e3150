"""Units of two descriptions of a photograph, marked by blind readers (language models)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from beholder.language.statements import GraphUnit
from beholder.records import Span
from training.studies.contradictions import read
from training.studies.photographs import SIDES, texts_of_pairs

Labels: TypeAlias = Callable[[GraphUnit], bool | None]
"""Whether the other text says a unit; None if it is not known."""
THIRD = 3
"""One pair of descriptions in so many is left to fit the decision on."""


def readings(kept_back: bool) -> Iterator[tuple[str, str, Labels]]:
    """Text, other text, and which units of the first the second says.

    Args:
        kept_back: Only the pairs that the model is not trained on; False gives the others.
    """
    texts = texts_of_pairs()
    kept = sorted(texts)[::THIRD]
    marks: dict[tuple[str, str], dict[tuple[str, tuple[Span, ...]], bool]] = {}
    for row in read("units.jsonl"):
        if row["mark"] != "ill" and (row["pair"] in kept) == kept_back:
            key = (row["kind"], tuple((a, b) for a, b in row["spans"]))
            marks.setdefault((row["pair"], row["side"]), {})[key] = row["mark"] == "said"
    for (pair, side), said in marks.items():
        other = texts[pair][SIDES[side == SIDES[0]]]
        yield texts[pair][side], other, partial(_mark, said)


def _mark(said: dict[tuple[str, tuple[Span, ...]], bool], unit: GraphUnit) -> bool | None:
    return said.get((unit.kind, unit.spans))

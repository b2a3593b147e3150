"""Units that blind readers (language models) marked, with the texts that they are from.

``training/readings/units.jsonl`` has all units of two descriptions of 64 photographs;
``units_2.jsonl`` those that words alone did not decide, of 35 more photographs and of the 89 pairs
of IIW-400 and DOCCI (CC-BY-4.0) in ``SHARED_DATA/human_judgments``. The entailment model is trained
on two pairs of three; the others are kept back, to fit the decision of rules and model. Marks are
said, unsaid, contradicted and ill (no statement of its text); readers of the first file did not
tell unsaid from contradicted, so that their mark for both is called open. ``captions.jsonl`` has
first sentences of ImageInWords descriptions (CC-BY-4.0), each beside that of another picture, by
seven readers. A third of these pairs is kept back, too. The entailment model that ships was trained
when four readers had finished.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from beholder.language.statements import GraphUnit
from beholder.records import Span
from training.studies.contradictions import read_rows
from training.studies.photographs import NAMES, SIDES, texts_of_pairs
from training.studies.reading import DATA
from training.studies.reading import SETS as LONG

LATER = ("photographs_4", "photographs_5")
SETS = (NAMES, LATER, LONG)
THIRD = 3
"""Of each of ``SETS``, one pair in so many is kept back."""

Texts: TypeAlias = dict[str, str]
"""Candidate and reference of a pair."""
Key: TypeAlias = tuple[str, tuple[Span, ...]]
Labels: TypeAlias = Callable[[GraphUnit], str | None]
"""The mark of a unit; None if nobody read it."""


def readings(kept_back: bool) -> Iterator[tuple[str, str, Labels]]:
    """Text, other text, and which units of the first the second says.

    Args:
        kept_back: Only the pairs that the model is not trained on; False gives the others.
    """
    texts = texts_of_pairs((*NAMES, *LATER)) | long_texts()
    marks: dict[tuple[str, str], dict[Key, str]] = {}
    for name in ("units.jsonl", "units_2.jsonl"):
        for row in read_rows(name):
            key = (row["kind"], tuple((a, b) for a, b in row["spans"]))
            both = name == "units.jsonl" and row["mark"] == "unsaid"
            marks.setdefault((row["pair"], row["side"]), {})[key] = (
                "open" if both else row["mark"]
            )
    for names in SETS:
        pairs = sorted({p for p, _ in marks if p.partition("/")[0] in names})
        for place, pair in enumerate(pairs):
            if (place % THIRD == 0) == kept_back:
                for side, other_side in (SIDES, SIDES[::-1]):
                    of_text = partial(_mark, marks.get((pair, side), {}))
                    yield texts[pair][side], texts[pair][other_side], of_text


def captions(kept_back: bool) -> Iterator[tuple[str, str, Labels]]:
    """Yield the same for captions of different pictures."""
    for row in read_rows("captions.jsonl"):
        if row["kept"] == kept_back:
            marks = {
                (u["kind"], tuple((a, b) for a, b in u["spans"])): u["mark"]
                for u in row["units"]
            }
            yield row["text"], row["other"], partial(_mark, marks)


def long_texts() -> dict[str, Texts]:
    """Candidate and reference of each pair of ``LONG``, by name of set and id."""
    texts = {}
    for name in LONG:
        for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            both = (row["candidate"], row["references"][0])
            texts[f"{name}/{row['id']}"] = dict(zip(SIDES, both, strict=True))
    return texts


def _mark(of_text: dict[Key, str], unit: GraphUnit) -> str | None:
    return of_text.get((unit.kind, unit.spans))

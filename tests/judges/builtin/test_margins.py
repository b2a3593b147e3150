"""Every golden verdict stands when its evidence moves a little: no decision sits on an exact number.

Evidence moves in three places, by the same amount and all in one direction: the cosine of each two
phrases, on which counterparts, synonyms and likenesses depend; each number of the evidence on a
unit, before it is decided; and what the entailment model says. Numbers stay within 0..1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from tools.kernels import Verdict, golden_verdicts

from beholder.embed import entailment, exact
from beholder.embed.base import FloatArray
from beholder.judges.builtin import analysed as texts
from beholder.judges.builtin import (
    claims,
    entailed,
    entities,
    findings,
    gather,
    lexical_alignment,
    lexis,
)
from beholder.judges.builtin.claims import supported
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed

MOVED = 1e-3
COMPARING = (claims, entities, gather, lexical_alignment, lexis, texts)
"""Modules that compare phrases."""
UNSTABLE = {
    ("A man.", "A woman."): (
        "the cosine of the two nouns is negative and counts as 0; from the least positive cosine on"
        " the names exclude each other, and the woman contradicts the man"
    ),
}
"""Verdicts, by statement or text and the other text, that a move may turn, with the reason."""
VERDICTS = tuple(golden_verdicts())

UNITS = [
    ("A red cup.", "A blue cup.", "red", "contradicted"),
    ("A red cup.", "A red cup.", "red", "there"),
    ("A red cup.", "A cup.", "red", "absent"),
    ("Three dogs sleep.", "Two dogs sleep.", "three", "contradicted"),
    ("Three dogs sleep.", "Three dogs sleep.", "three", "there"),
    ("One player falls.", "The players fall.", "one", "contradicted"),
    ("Three dogs sleep.", "One dog sleeps.", "three", "contradicted"),
    ("Several dogs sleep.", "Three dogs sleep.", "several", "there"),
    ("A metal bench.", "A wooden bench.", "metal", "contradicted"),
    (
        "A woman sits on the left.",
        "A woman sits on the right.",
        "on the left",
        "contradicted",
    ),
    ("A dog.", "An animal.", "dog", "there"),
    ("An animal.", "A dog.", "animal", "there"),
    ("An elephant.", "A cup.", "elephant", "absent"),
    ("A man.", "A woman.", "man", "absent"),
    ("A man holds a cup.", "A cup is held by a man.", "holds", "there"),
    ("A man bites a dog.", "A dog bites a man.", "bites", "contradicted"),
    ("A cup is on a table.", "A cup is under a table.", "on", "absent"),
    (
        "A lamp is above a table.",
        "A table is above a lamp.",
        "above",
        "contradicted",
    ),
    ("A key is at a door.", "A key is in a door.", "at", "there"),
    ("A man wears a hat.", "A man in a hat.", "wears", "there"),
    (
        "A man sits near a dog.",
        "A man sits next to a dog.",
        "sits near",
        "there",
    ),
]
"""Text, other text, a unit of the first, and what the other says of it, by hand."""


@pytest.fixture(params=[-MOVED, MOVED], ids=["down", "up"])
def moved(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[float]:
    by: float = request.param

    def cosines(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.clip(exact.cosines(a, b) + by, 0.0, 1.0)

    def gathered(*arguments: Any) -> tuple[Evidence, ...]:
        return tuple(
            _moved(evidence, by) for evidence in gather.gather(*arguments)
        )

    def entail(pairs: Sequence[tuple[str, str]]) -> FloatArray:
        moved: FloatArray = np.clip(
            entailment.entail(pairs) + np.float32(by), 0.0, 1.0
        )
        return moved

    monkeypatch.setattr(entailed, "entail", entail)
    for module in COMPARING:
        monkeypatch.setattr(module, "cosines", cosines)
    monkeypatch.setattr(findings, "gather", gathered)
    lexis.tie.cache_clear()
    yield by
    lexis.tie.cache_clear()


def _moved(evidence: Evidence, by: float) -> Evidence:
    numbers: dict[str, Any] = {
        field.name: float(
            np.clip(getattr(evidence, field.name) + by, 0.0, 1.0)
        )
        for field in fields(evidence)
        if field.type == "float"
    }
    return replace(evidence, **numbers)


def test_the_table_covers_every_rule_with_both_verdicts() -> None:
    assert len(VERDICTS) >= 150
    assert {row.true for row in VERDICTS} == {True, False}
    assert len({row.rule for row in VERDICTS}) >= 14


def _turned(rows: Iterable[Verdict]) -> list[Verdict]:
    """Rows whose verdict is not that of the table."""
    return [
        row
        for row in rows
        if supported([row.statement], row.text) != [row.true]
    ]


def test_verdicts_are_those_of_the_table() -> None:
    assert _turned(VERDICTS) == []


@pytest.mark.usefixtures("moved")
def test_verdicts_stand_when_their_evidence_moves() -> None:
    stable = [
        row for row in VERDICTS if (row.statement, row.text) not in UNSTABLE
    ]
    assert _turned(stable) == []


def _verdict(text: str, reference: str, unit: str) -> str:
    source = analysed(text)
    findings_by_unit = dict(
        zip(
            (u.text for u in source.units),
            find(source, analysed(reference)),
            strict=True,
        )
    )[unit]
    if findings_by_unit.contradiction:
        return "contradicted"
    return "there" if findings_by_unit.grade >= PRESENT else "absent"


def test_units_are_as_the_table_says() -> None:
    assert [(*row[:3], _verdict(*row[:3])) for row in UNITS] == UNITS


@pytest.mark.usefixtures("moved")
def test_units_stay_so_when_their_evidence_moves() -> None:
    stable = [row for row in UNITS if row[:2] not in UNSTABLE]
    assert [(*row[:3], _verdict(*row[:3])) for row in stable] == stable

"""The numbers of the built-in judge, from ``calibration.json``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

PRESENT = 3.0
"""Grade from which a unit counts as there."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How evidence is weighed; see ``docs/posh.md`` for what each was measured to do.

    Attributes:
        anywhere: Share of an attribute's value that similar words anywhere in the target give.
        entity_anywhere: The same for entities.
        relation_anywhere: The same for relations.
        excluded: Factor on the similarity of values that exclude each other.
        context: How much shared attributes help to tell which entity is meant.
        identity: Power that sharpens which entity is meant.
        contradicted: Highest value of a unit that the target contradicts.
        elsewhere: Factor on the value of an attribute that the target gives to another thing.
        unpaired: Highest value of one of several like things when the target has fewer.
        grades: Per kind, points (value, grade) of a line that never falls.
    """

    anywhere: float
    entity_anywhere: float
    relation_anywhere: float
    excluded: float
    context: float
    identity: float
    contradicted: float
    elsewhere: float
    unpaired: float
    grades: Mapping[str, Sequence[tuple[float, float]]]

    def grade(self, kind: str, value: float) -> float:
        """The grade, 1..5, of a value 0..1."""
        points = self.grades[kind]
        return float(np.interp(value, [x for x, _ in points], [y for _, y in points]))

    def present(self, kind: str) -> float:
        """The least value whose grade says that a unit is there."""
        points = self.grades[kind]
        return float(np.interp(PRESENT, [y for _, y in points], [x for x, _ in points]))


@cache
def settings() -> Settings:
    """The settings that ship with the package."""
    text = resources.files(__package__).joinpath("calibration.json").read_text(encoding="utf-8")
    return Settings(**json.loads(text)["settings"])


@cache
def identity() -> str:
    """What fixes the answers: a digest of ``manifest.json``, which holds those of code and data."""
    manifest = resources.files(__package__).joinpath("manifest.json").read_bytes()
    return f"builtin@{hashlib.sha256(manifest).hexdigest()[:12]}"

"""All numbers of the built-in judge, from ``numbers.json``: value, meaning, how it was set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np

from beholder.embed.base import FloatArray

PRESENT = 3.0
"""Grade from which a unit counts as there."""


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """The table as it is written, by name."""
    text = (
        resources.files(__package__)
        .joinpath("numbers.json")
        .read_text(encoding="utf-8")
    )
    entries: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return entries


def number(name: str) -> float:
    """A number of the table."""
    return float(table()[name]["value"])


def whole(name: str) -> int:
    """A whole number of the table."""
    return int(table()[name]["value"])


@dataclass(frozen=True)
class Numbers:
    """Parameters that turn evidence into grades: ``decide...`` in the table."""

    anywhere: float
    entity_anywhere: float
    relation_anywhere: float
    same: float
    certain: float
    known: float
    narrower: float
    passing: float
    contradicted: float
    unpaired: float
    silent: float
    ends: float
    related: float
    other_verb: float
    sure_named: float
    sure_said: float
    sure_related: float
    points: Sequence[tuple[float, float]]

    def grade(self, value: float) -> float:
        """The grade, 1..5, of a value 0..1: a line that never falls."""
        return self.grades([value])[0]

    def grades(self, values: Sequence[float]) -> list[float]:
        """The grades of several values, which is faster than one by one."""
        grades: list[float] = np.interp(values, *self._line).tolist()
        return grades

    @cached_property
    def present(self) -> float:
        """The least value whose grade says that a unit is there."""
        return float(np.interp(PRESENT, *self._line[::-1]))

    @cached_property
    def _line(self) -> FloatArray:
        """Values and their grades, (2, points)."""
        return np.array(self.points, np.float64).T.copy()


@cache
def numbers() -> Numbers:
    """The numbers that ship with the package."""
    return Numbers(
        **{
            f.name: table()[f"decide.{f.name}"]["value"]
            for f in fields(Numbers)
        }
    )

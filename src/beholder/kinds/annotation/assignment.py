"""Who judges which units, and in which order they and their texts are shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from beholder.data.sample import assign
from beholder.errors import ConfigError
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.kinds.annotation.tasks import Task
from beholder.options import check_count, check_distinct

MAX_NAME = 100
"""Characters of an annotator's name."""


def check_name(name: str) -> None:
    """Refuse what cannot be an annotator's name.

    Raises:
        ConfigError: Names it.
    """
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
        raise ConfigError(
            f"annotator {name[:MAX_NAME]!r}: expected a name of 1 to {MAX_NAME} printable"
            " characters"
        )


@dataclass(frozen=True)
class AnnotationDesign:
    """Who judges.

    Attributes:
        annotators: Their names.
        overlap: How many judge each unit; None for all of them.
        seed: Of who judges what, and of all orders.

    Raises:
        ConfigError: There is nobody, a name is taken or cannot be, or the overlap cannot be.
    """

    annotators: tuple[str, ...]
    overlap: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_distinct("annotator", self.annotators)
        check_count("overlap", self.overlap, "leave it out to have all judge everything")
        if not self.annotators:
            raise ConfigError("a study needs an annotator")
        for name in self.annotators:
            check_name(name)


@dataclass(frozen=True)
class Assignment:
    """Who judges what.

    Attributes:
        shares: Per annotator the positions of the units, in the order of showing.
        n_seen_twice: Units of which somebody sees a text in another unit, too, where none should.
    """

    shares: tuple[tuple[int, ...], ...]
    n_seen_twice: int


@dataclass(frozen=True, slots=True)
class _Item:
    """A unit as ``assign`` deals it: what has one source goes to the same people."""

    id: str
    source: tuple[str, ...]
    position: int


def assign_units(
    task: Task, units: Sequence[AnnotationUnit], design: AnnotationDesign
) -> Assignment:
    """Deal units to annotators, each in an order of their own.

    Loads differ by one picture at most; where nobody should see a text twice, that comes first.

    Raises:
        ConfigError: The overlap is larger than the number of annotators.
    """
    hands = [
        _Item(unit.id, unit.source if task.together else (unit.id,), position)
        for position, unit in enumerate(units)
    ]
    texts: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
    if not task.together:
        texts = {(unit.id,): _texts(unit) for unit in units}
    n = len(design.annotators)
    shares = assign(hands, n, design.overlap or n, design.seed, apart=texts)
    twice = set()
    for share in shares:
        seen: dict[tuple[str, ...], str] = {}
        for hand in share:
            for text in texts.get((hand.id,), ()):
                if text in seen:
                    twice |= {hand.id, seen[text]}
                seen[text] = hand.id
    return Assignment(tuple(tuple(hand.position for hand in share) for share in shares), len(twice))


def _texts(unit: AnnotationUnit) -> tuple[tuple[str, ...], ...]:
    """What is judged in a pair; a text about another picture is another text."""
    return tuple((*unit.source, text) for text in unit.texts[:2])


def order_of(n: int, seed: int, annotator: str, unit: str) -> list[int]:
    """The order in which n texts of a unit are shown to an annotator."""

    def chance(place: int) -> bytes:
        told = json.dumps([seed, "texts", annotator, unit, place])
        return hashlib.sha256(told.encode("utf-8")).digest()

    return sorted(range(n), key=chance)

"""Assignment of units to annotators, and the order of units and of their texts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from beholder.data.sample import assign
from beholder.errors import ConfigError
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.kinds.annotation.tasks import Task
from beholder.options import check_count, check_distinct

_ADDRESS = re.compile(r"https?://[\w.-]+(:\d{1,5})?(/[\w.~%-]+)*/?", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")
GOLD_DISTANCE = 9
"""Units before each gold unit where units are judged in order, since reading may stop early."""

MAX_NAME = 100
"""Characters of an annotator's name."""


def check_name(name: str) -> None:
    """Check the name of an annotator.

    Raises:
        ConfigError: The name is empty, too long or not printable.
    """
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
        raise ConfigError(
            f"annotator {name[:MAX_NAME]!r}: expected a name of 1 to {MAX_NAME} printable"
            " characters"
        )


@dataclass(frozen=True)
class AnnotationDesign:
    """The annotators, and the material that they read and see besides the data.

    Attributes:
        annotators: Their names.
        overlap: Number of annotators of each unit; None for all.
        seed: Random seed of assignment and order.
        adjudicator: Person who decides where finished judgments of a unit differ.
        participants: Whether whoever opens the join link takes the next annotator's place.
        completion_code: Code that participants see at the end; None: a code for each.
        instructions: Markdown that annotators read before the instructions of the task.
        iiif: Address of the IIIF server whose pictures pages load.

    Raises:
        ConfigError: There is no annotator, or a name, the overlap, the code or the address is
            wrong.
    """

    annotators: tuple[str, ...]
    overlap: int | None = None
    seed: int = 0
    adjudicator: str | None = None
    participants: bool = False
    completion_code: str | None = None
    instructions: str | None = None
    iiif: str | None = None

    def __post_init__(self) -> None:
        third = () if self.adjudicator is None else (self.adjudicator,)
        check_distinct("annotator", (*self.annotators, *third))
        if not _CODE.fullmatch(self.completion_code or "-"):
            raise ConfigError(
                f"completion code {self.completion_code!r}: expected 1 to 40 letters and digits"
            )
        if self.iiif is not None and not _ADDRESS.fullmatch(self.iiif):
            raise ConfigError(
                f"IIIF server {self.iiif!r}: expected an address such as https://iiif.example.org/"
            )
        check_count(
            "overlap",
            self.overlap,
            "leave it out to have every annotator judge every unit",
        )
        if not self.annotators:
            raise ConfigError(
                "a study needs an annotator; name one with --annotators"
            )
        for name in (*self.annotators, *third):
            check_name(name)


@dataclass(frozen=True)
class Assignment:
    """The assignment of units to annotators.

    Attributes:
        shares: Per annotator the positions of the units, in the order of showing.
        n_seen_twice: Units of which an annotator sees a text in another unit, though none should.
        n_short_of_readers: Units with fewer annotators than their rows ask for.
    """

    shares: tuple[tuple[int, ...], ...]
    n_seen_twice: int
    n_short_of_readers: int = 0


def assign_units(
    task: Task, units: Sequence[AnnotationUnit], design: AnnotationDesign
) -> Assignment:
    """Assign units to annotators, each in a different order, or all in that of the data.

    Loads differ by at most one picture. For tasks whose units are not ``together``, as few
    annotators as possible see a text twice; this comes before equal loads.

    Raises:
        ConfigError: The overlap is larger than the number of annotators.
    """
    # Units without a known answer are divided among annotators; everybody gets all gold units,
    # which are inserted into the shares afterwards.
    positions = {unit.id: position for position, unit in enumerate(units)}
    items = [unit for unit in units if unit.gold is None]
    texts: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {}
    if not task.together:  # all items of a source go to the same annotators
        texts = {(unit.id,): _texts(task, unit) for unit in items}
        items = [replace(unit, source=(unit.id,)) for unit in items]
    n = len(design.annotators)
    n_short = 0
    if task.in_order:
        shares = _deal(task, items, n, design.overlap)
        n_short = sum(
            task.n_readers(unit) > (design.overlap or n) for unit in items
        )
    else:
        shares = assign(
            items, n, design.overlap or n, design.seed, unique_by_source=texts
        )
    # Count what the assignment could not avoid, for a warning to the owner of the study.
    repeated_ids = set()
    for share in shares:
        first_units: dict[tuple[str, ...], str] = {}
        for item in share:
            for text in texts.get((item.id,), ()):
                if text in first_units:
                    repeated_ids |= {item.id, first_units[text]}
                first_units[text] = item.id
    full_shares = [
        _with_gold(
            [positions[item.id] for item in share],
            units,
            design.seed,
            name,
            GOLD_DISTANCE if task.in_order else None,
        )
        for name, share in zip(design.annotators, shares, strict=True)
    ]
    return Assignment(tuple(full_shares), len(repeated_ids), n_short)


def _deal(
    task: Task,
    units: Sequence[AnnotationUnit],
    n_annotators: int,
    overlap: int | None,
) -> list[list[AnnotationUnit]]:
    """Return the shares of a task whose units are judged in order: dealt out one by one.

    Raises:
        ConfigError: The overlap is larger than the number of annotators.
    """
    if overlap is not None and overlap > n_annotators:
        raise ConfigError(
            f"overlap={overlap}: expected from 1 to the number of annotators, {n_annotators}"
        )
    shares: list[list[AnnotationUnit]] = [[] for _ in range(n_annotators)]
    for place, unit in enumerate(units):
        n = overlap or min(task.n_readers(unit), n_annotators)
        for step in range(n):
            shares[(place + step) % n_annotators].append(unit)
    return shares


def _with_gold(
    share: list[int],
    units: Sequence[AnnotationUnit],
    seed: int,
    annotator: str,
    distance: int | None = None,
) -> tuple[int, ...]:
    """Return a share with the training units first, other gold units at even distances.

    Args:
        share: Positions of the other units.
        units: All units.
        seed: Seed of the order of gold units.
        annotator: The annotator.
        distance: Units between two gold units; None spreads them over the whole share.
    """
    gold_uses = [
        (position, unit.gold.use)
        for position, unit in enumerate(units)
        if unit.gold is not None
    ]
    spread = [position for position, use in gold_uses if use != "training"]
    # Each annotator meets gold units in an order of their own, so that no one can pass on which
    # units are checks. Each insertion shifts the later places by one, hence the `+ n`.
    places = list(share)
    for n, place in enumerate(order_of(len(spread), seed, annotator, "gold")):
        after = (n + 1) * len(share) // (len(spread) + 1)
        if distance is not None:
            after = min((n + 1) * distance, len(share))
        places.insert(after + n, spread[place])
    return (
        *(position for position, use in gold_uses if use == "training"),
        *places,
    )


def _texts(task: Task, unit: AnnotationUnit) -> tuple[tuple[str, ...], ...]:
    """Return (source, text) of the judged texts of a unit, without its reference."""
    # All shuffled texts are judged ones; a task that shuffles none judges all texts (`or None`).
    judged = unit.texts[: task.n_shuffled(unit) or None]
    return tuple((*unit.source, text) for text in judged)


def order_of(n: int, seed: int, annotator: str, unit: str) -> list[int]:
    """Return the order in which an annotator sees the n texts of a unit, a permutation."""
    # Hashes instead of a random generator: the order is the same in all versions of Python, and
    # a unit that is added does not change the orders of others.

    def chance(place: int) -> bytes:
        key = json.dumps([seed, "texts", annotator, unit, place])
        return hashlib.sha256(key.encode("utf-8")).digest()

    return sorted(range(n), key=chance)

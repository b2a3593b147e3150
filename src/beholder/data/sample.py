"""Designs of studies: which pictures are drawn, for which set, and who annotates them.

Pictures are drawn, not rows: all rows of a picture go together. A draw depends on the seed and on
what is drawn, not on the order of the rows, and a larger draw holds the smaller one of its seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias, TypeVar

from beholder.errors import ConfigError
from beholder.options import Rating, SampleDesign
from beholder.records import Item

SEVERAL, NONE = "several", "none"
"""Categories of a picture that fits several categories, or none."""

_RATINGS: tuple[Rating, ...] = ("High", "Medium", "Low")

Source: TypeAlias = tuple[str, ...]


class Assignable(Protocol):
    """A row that can be assigned to annotators."""

    @property
    def id(self) -> str:
        """Unique among all."""

    @property
    def source(self) -> Source:
        """Key of the picture, whose rows all go to the same annotators."""


A = TypeVar("A", bound=Assignable)


def draw(items: Sequence[Item], design: SampleDesign) -> list[Item]:
    """Return the rows of a random sample of pictures, in the order of the data.

    A picture is in one set alone: the random set is drawn first, from all pictures, the
    categories from the rest. Its former category is in ``meta`` under the column's name.

    Args:
        items: The rows.
        design: Sizes and names of the sets.

    Raises:
        ConfigError: Nothing is requested, or there are not enough pictures, no category, or no
            ratings; says how many.
    """
    if (
        design.n is None
        and design.per_category is None
        and design.rated is None
    ):
        raise ConfigError(
            "nothing says what to draw; give n, per_category or rated (--n 200, --per-category 50,"
            " --rated High)"
        )
    # Pictures are drawn and not rows, first the random set and then each
    # category from what is left; all rows of a drawn picture come along.
    pictures = list(dict.fromkeys(item.source for item in items))
    chosen: dict[Source, str | None] = {}
    if design.n is not None:
        chosen |= dict.fromkeys(
            _some(pictures, design.n, design.seed, "the data"), design.random
        )
    if design.per_category is not None or design.rated is not None:
        category = _categories(items, design)
        free = [picture for picture in category if picture not in chosen]
        for name in (
            dict.fromkeys(category.values())
            if design.per_category is not None
            else ()
        ):
            pictures_of_category = [
                picture for picture in free if category[picture] == name
            ]
            count = design.per_category or 0
            chosen |= dict.fromkeys(
                _some(
                    pictures_of_category,
                    count,
                    design.seed,
                    f"category {name!r}",
                )
            )
        # Only ratings were named: every picture that has one is taken.
        if design.n is None and design.per_category is None:
            chosen = dict.fromkeys(free)
    return [
        _in_set(item, design.column, chosen[item.source])
        for item in items
        if item.source in chosen
    ]


def assign(
    items: Sequence[A],
    annotators: int,
    overlap: int,
    seed: int = 0,
    *,
    unique_by_source: Mapping[Source, Iterable[Hashable]] | None = None,
) -> list[list[A]]:
    """Return the rows of each annotator, each in an order of its own.

    Each picture goes, with all its rows, to ``overlap`` annotators: to those who have the fewest
    pictures so far, chance deciding between equals. So loads differ by one picture at most, and any
    two annotators may share some.

    Args:
        items: The rows.
        annotators: Number of annotators.
        overlap: Annotators of each picture; at their full number, all of them see all pictures.
        seed: Of the choice and of the orders.
        unique_by_source: By source, what no annotator should get twice; before loads are looked
            at, a source goes to those who have least of its own.

    Raises:
        ConfigError: The overlap is not from 1 to the number of annotators.
    """
    if not 1 <= overlap <= annotators:
        raise ConfigError(
            f"overlap={overlap}: expected from 1 to the number of annotators, {annotators}"
        )
    # Greedy: pictures come in random order, and each goes to the annotators
    # who have met the fewest of its keys, then to those with the smallest load.
    pictures = dict.fromkeys(item.source for item in items)
    shares: list[set[Source]] = [set() for _ in range(annotators)]
    keys_by_annotator: list[set[Hashable]] = [set() for _ in range(annotators)]
    for picture in sorted(
        pictures, key=lambda source: _chance(seed, "order", source)
    ):
        keys = set((unique_by_source or {}).get(picture, ()))
        by_load = sorted(
            range(annotators),
            key=lambda who: (
                len(keys & keys_by_annotator[who]),
                len(shares[who]),
                _chance(seed, f"annotator {who}", picture),
            ),
        )
        for who in by_load[:overlap]:
            shares[who].add(picture)
            keys_by_annotator[who] |= keys
    return [
        sorted(
            (item for item in items if item.source in share),
            key=lambda item: _chance(seed, f"row {who}", (item.id,)),
        )
        for who, share in enumerate(shares)
    ]


def _some(
    pictures: Iterable[Source], n: int, seed: int, what: str
) -> list[Source]:
    ordered = sorted(
        pictures, key=lambda source: _chance(seed, "draw", source)
    )
    if len(ordered) < n:
        raise ConfigError(
            f"{what} has {len(ordered)} pictures to draw from, and {n} were asked for"
        )
    return ordered[:n]


def _categories(
    items: Sequence[Item], design: SampleDesign
) -> dict[Source, str]:
    """Return the category of each picture that has exactly one, rated high enough."""
    category_by_source: dict[Source, str] = {}
    n_rated = 0
    for item in items:
        name = item.group.get(design.column, "")
        if design.rated is not None:
            ratings = item.meta.get("categories")
            if not isinstance(ratings, list):
                continue
            n_rated += 1
            # A picture with several ratings has no category of its own.
            allowed = _RATINGS[: _RATINGS.index(design.rated) + 1]
            if len(ratings) != 1 or ratings[0].get("rating") not in allowed:
                continue
        if name not in ("", SEVERAL, NONE, design.random):
            category_by_source.setdefault(item.source, name)
    if design.rated is not None and not n_rated:
        raise ConfigError(
            "no row has ratings of categories (meta.categories); beholder classify writes them"
        )
    if not category_by_source:
        raise ConfigError(
            f"no picture has a category of its own in group.{design.column}"
        )
    return category_by_source


def _in_set(item: Item, column: str, name: str | None) -> Item:
    """Return an item in a named set; None leaves its category."""
    if name is None:
        return item
    before = item.group.get(column)
    meta = {**item.meta, column: before} if before else item.meta
    return replace(item, group={**item.group, column: name}, meta=meta)


def _chance(seed: int, purpose: str, source: Source) -> bytes:
    """Return a pseudo-random key that depends on its arguments alone."""
    # A digest and no generator: its result does not depend on how many were
    # drawn before, so a larger draw contains the smaller one.
    return hashlib.sha256(
        json.dumps([seed, purpose, *source]).encode("utf-8")
    ).digest()

"""Quantities as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beholder.language.graph import Entity
from beholder.language.numerals import number

_UNLIKE = 0.1
"""The fit of "several" to one thing, and of "one" to a plain plural."""

_ABOUT = (
    "(?:about|almost|around|approximately|at (?:least|most)|(?:less|more|fewer) than(?: a)?|maybe"
    "|may be|nearly|over|perhaps|possibly|probably|roughly|some|up to)"
)
_OR_SO = "(?: or (?:fewer|more|so)|-odd)"
_BEFORE = 40
"""Characters before a noun in which its number may be written."""

_SHARES = (
    {"all", "every", "each"},
    {"most", "many"},
    {"many", "some", "several", "half", "few", "not all"},
    {"none", "neither", "any"},
)
"""Words for a share of things that may be said of one share."""


def amount(entity: Entity) -> float | None:
    """Count the things of an entity: 1 for a plain singular, None if the text leaves it open."""
    if entity.quantity is not None:
        return number(entity.quantity)
    return None if entity.plural else 1


def amounts_value(
    source: Entity,
    targets: Sequence[Entity],
    neighbours: Sequence[Entity] = (),
    *,
    settled: bool = True,
) -> tuple[float, bool]:
    """Score 0..1 how well an entity's amount fits that of several entities of one name.

    Amounts that are written decide, the best of them. If none fits, totals may: "two boys and
    two girls" are four children, "a dog ... another dog" two, and the other way round. Otherwise it
    is left open where it is not settled which of the targets is meant.

    Args:
        source: The entity whose amount is looked for.
        targets: The entities of the other text that may be it; at least one.
        neighbours: Other entities of its own text that may be in the targets, too.
        settled: Whether it is known which target is meant.

    Returns:
        As ``amount_value``.
    """
    written = [target for target in targets if target.quantity is not None]
    fits = [amount_value(source, target) for target in written or targets]
    # An amount that fits decides. Only if none does, sums are tried.
    best = max(fits, key=lambda fit: fit[0])
    if best[0] > _UNLIKE:
        return best
    source_amount, total = number(source.quantity or ""), _total(targets)
    # "Two boys and two girls" against "four children": the source names parts
    # whose sum is the number of the target.
    parts = (
        len(targets) == 1
        and len(neighbours) > 0
        and _total((source, *neighbours)) == total
    )
    if parts or (
        total > 1 if source_amount is None else total == source_amount
    ):
        return 0.9, False
    return best if settled else (0.5, False)


def _total(entities: Sequence[Entity]) -> float:
    """Sum the amounts of several entities.

    Where amounts are written, only they count: "the first" of "three dogs" is no fourth. Members
    of another are counted with it.
    """
    wholes = [entity for entity in entities if entity.member_of is None]
    written = [entity for entity in wholes if entity.quantity is not None]
    amounts = (amount(entity) for entity in written or wholes)
    return sum(count for count in amounts if count is not None)


def amount_value(source: Entity, target: Entity) -> tuple[float, bool]:
    """Score 0..1 how well the amount of one entity fits that of another.

    Returns:
        Value 0..1, and whether the two amounts contradict each other.
    """
    if source.quantity == target.quantity:
        return 1.0, False
    source_amount, target_amount = (
        number(source.quantity or ""),
        amount(target),
    )
    if source_amount is not None and target_amount is not None:
        return (
            (1.0, False)
            if source_amount == target_amount
            else (0.0, target.quantity is not None)
        )
    if (
        source_amount is None and target_amount is not None
    ):  # "several" against a number
        return (
            (0.9, False)
            if target_amount > 1
            else (_UNLIKE, target.quantity is not None)
        )
    if source_amount == 1:  # "one" against a plain plural
        return (_UNLIKE, True)
    # Left are two texts of which one leaves the number open. A number against
    # a bare plural is undecided; two open amounts nearly agree.
    return (0.5 if source_amount is not None else 0.9), False


def roughly(entity: Entity, text: str) -> bool:
    """Return whether the text gives a number with a margin: "about ten", "four or more"."""
    if entity.quantity is None:
        return False
    quantity = re.escape(entity.quantity)
    margin = re.compile(
        rf"\b{_ABOUT} {quantity}\b|\b{quantity}{_OR_SO}\b", re.IGNORECASE
    )
    spans = (mention.span for mention in entity.mentions)
    return any(
        margin.search(text[max(0, start - _BEFORE) : end])
        for start, end in spans
    )


def counted(entities: Sequence[Entity], places: Sequence[int]) -> int:
    """Count the entities with a written number above one: more than one may be parts."""
    return sum(
        both_counted(entities[place], entities[place]) for place in places
    )


def shares_exclude(source: Entity, target: Entity) -> bool:
    """Return whether two texts give different shares of things: "all", "most of the windows"."""
    both = {source.quantity, target.quantity}
    written = source.rule == target.rule == "share"
    return written and not any(both <= words for words in _SHARES)


def both_counted(source: Entity, target: Entity) -> bool:
    """Return whether both texts write a number above one: "two" against "three"."""
    written = (number(entity.quantity or "") for entity in (source, target))
    return all(count is not None and count > 1 for count in written)


def describe_amount(entity: Entity) -> str:
    """Write out an amount for people; a plain plural is only its name."""
    if entity.quantity is not None:
        return entity.quantity
    return "one" if amount(entity) == 1 else entity.mentions[0].text

"""How many: quantities as numbers."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.language.graph import Entity
from beholder.language.numerals import number


def amount(entity: Entity) -> float | None:
    """How many things an entity stands for: 1 for a plain singular, None if the text leaves it."""
    if entity.quantity is not None:
        return number(entity.quantity)
    return None if entity.plural else 1


def amounts_value(source: Entity, targets: Sequence[Entity]) -> tuple[float, bool]:
    """How well the amount of one entity fits that of several of one name.

    Amounts that are written decide, the best of them; where none is, "a dog ... another dog" are
    two.

    Returns:
        As ``amount_value``.
    """
    written = [target for target in targets if target.quantity is not None]
    fits = [amount_value(source, target) for target in written or targets]
    best = max(fits, key=lambda fit: fit[0])
    if not best[1] or written:
        return best
    asked = number(source.quantity or "")
    total = sum(said for target in targets if (said := amount(target)) is not None)
    return (0.9, False) if (total > 1 if asked is None else total == asked) else best


def amount_value(source: Entity, target: Entity) -> tuple[float, bool]:
    """How well the amount of one entity fits another.

    Returns:
        Value 0..1, and whether the two amounts contradict each other.
    """
    if source.quantity == target.quantity:
        return 1.0, False
    asked, said = number(source.quantity or ""), amount(target)
    if asked is not None and said is not None:
        return (1.0, False) if asked == said else (0.0, True)
    if asked is None and said is not None:  # "several" against a number
        return (0.9, False) if said > 1 else (0.1, True)
    if asked == 1:  # "one" against a plain plural
        return (0.1, True)
    return (0.5 if asked is not None else 0.9), False


def both_counted(source: Entity, target: Entity) -> bool:
    """Whether both texts write how many there are, and mean several: "two" against "three"."""
    written = (number(entity.quantity or "") for entity in (source, target))
    return all(said is not None and said > 1 for said in written)


def told_amount(entity: Entity) -> str:
    """How many there are, in words for people; of a plain plural its name is all that tells."""
    if entity.quantity is not None:
        return entity.quantity
    return "one" if amount(entity) == 1 else entity.mentions[0].text

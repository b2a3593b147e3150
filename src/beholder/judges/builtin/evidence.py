"""A target's evidence on a unit, as features: the same for units of texts and of statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.records import Span

Kind: TypeAlias = Literal["entity", "attribute", "amount", "relation"]


@dataclass(slots=True)
class Evidence:
    """A target's evidence on one unit.

    Similarities are 0..1. The counterpart is the thing of the target that the unit's entity, or the
    entity that has it, is taken to be.

    Attributes:
        kind: ``amount`` is an attribute that says how many.
        affirmed: False if the unit denies something.
        counterpart: Whether the target names anything.
        coverage: Similarity of the unit's words to any words of the target.
        name_likeness: Similarity of the names of entity and counterpart.
        stated: Strength with which the target states the unit of the counterpart, times the
            probability that the counterpart is meant; of an amount, the fit of the two.
        on_counterpart: Attribute: best similarity to what is said of the counterpart.
        on_alike: Attribute: the same over all things of that name.
        between: Relation: strength of both ends of the likest relation, whatever it says.
        ends: Relation: the lower of the similarities of its ends' names to their counterparts'.
        bare: Relation: whether it says no more than where a thing is, or what it belongs to.
        turned: Relation: how well the target says it with its ends exchanged.
        narrower: Entity: whether its name says more than the counterpart's.
        vague: Entity: whether its name may stand for whatever else is named at its place, or is
            mostly that of nothing to be touched. Attribute: whether it says only that a thing is
            there, or where.
        crowded: Entity: whether its like have taken all counterparts.
        denied: Whether the target says it with the other polarity.
        excluded: Whether the target says of the counterpart what excludes the unit.
        repeated: Share of the words of the unit's sentence that the target has, 0..1.
        shared: Mean value of the things that the unit's text names: how far both texts speak of the
            same things, 0..1.
        lone: Whether the counterpart is the only thing of the target that is called so, and the
            unit's entity, or the entity that has it, the only one of its text. An amount: or both
            texts write a number above one.
        exchanged: Whether the target says it of a thing that is another one's counterpart.
        instead: The target's statement in its place, for people to read.
        where: Characters of what the target says.
    """

    kind: Kind
    affirmed: bool = True
    counterpart: bool = True
    coverage: float = 0.0
    name_likeness: float = 0.0
    stated: float = 0.0
    on_counterpart: float = 0.0
    on_alike: float = 0.0
    between: float = 0.0
    turned: float = 0.0
    ends: float = 0.0
    bare: bool = False
    narrower: bool = False
    vague: bool = False
    crowded: bool = False
    denied: bool = False
    excluded: bool = False
    repeated: float = 0.0
    shared: float = 0.0
    lone: bool = False
    exchanged: bool = False
    instead: str = ""
    where: tuple[Span, ...] = ()

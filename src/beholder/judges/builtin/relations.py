"""Relations of one text in another: by predicate, ends and direction."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.nearby import Nearby
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.predicates import Predicate, likeness, verb_likeness
from beholder.judges.builtin.verbs import verb_similarity
from beholder.language.statements import GraphUnit
from beholder.records import Span

_SAME = number("decide.related")
_ENDS = number("decide.ends")
_SHOWN = number("relations.shown")
_OTHER_VERB = number("decide.other_verb")


@dataclass
class _Look:
    """The relations of the target that come nearest to one of the source."""

    best: float = 0.0
    best_at: int = -1
    reverse: float = 0.0
    reverse_at: int = -1
    ends: float = 0.0
    ends_at: int = -1

    def take(self, column: int, right: float, wrong: float, ends: float) -> None:
        """Take note of one relation."""
        if right > self.best:
            self.best, self.best_at = right, column
        if wrong > self.reverse:
            self.reverse, self.reverse_at = wrong, column
        if ends > self.ends:
            self.ends, self.ends_at = ends, column


@dataclass(frozen=True, slots=True)
class UnitSeen:
    """What the target says of one relation; see ``Evidence`` for what each means."""

    stated: float
    between: float
    turned: float
    bare: bool
    order: float
    spared: bool
    elsewhere: bool
    denied: bool
    told: str
    where: tuple[Span, ...]


def related(
    source: AnalysedText,
    target: AnalysedText,
    pairs: Counterparts,
    nearby: Nearby,
    wrong: Collection[int],
) -> dict[int, UnitSeen]:
    """What the target says of each relation of the source, by the place of its unit.

    A relation of a wrong thing is no further mistake if the thing at its other end has it, too.
    """
    spared = pairs
    if wrong:
        strength = pairs.strength.copy()
        strength[list(wrong)] = 1.0
        spared = replace(pairs, strength=strength)
    verbs = verb_similarity(source, target)
    found: dict[int, UnitSeen] = {}
    for row, (place, unit, predicate) in enumerate(source.relations):
        seen = _look(unit, predicate, verbs[row], target, pairs)
        order, excused, denied, told, at = 0.0, False, False, "", seen.best_at
        elsewhere = seen.best < _ENDS and nearby.of_another(unit, predicate)
        if seen.reverse >= _ENDS > seen.best:
            at = seen.reverse_at
            told = _told(target, at)
        elif seen.best >= _ENDS:
            denied = target.relations[at][1].polarity != unit.polarity
            told = _told(target, at) if denied else ""
        else:
            if unit.polarity and not elsewhere:
                order = nearby.relation(unit, predicate, seen.ends >= _SAME)
            excused = (
                not order
                and (unit.subject in wrong) != (unit.object in wrong)
                and _look(unit, predicate, verbs[row], target, spared).best >= _SAME
            )
            if not order and not excused and seen.ends >= _SAME and seen.best < _OTHER_VERB:
                at = seen.ends_at
                told = _told(target, at)
        shown = at >= 0 and (told or seen.best >= _SHOWN)
        where = target.relations[at][1].spans if shown else ()
        found[place] = UnitSeen(
            seen.best,
            seen.ends,
            seen.reverse,
            not predicate.verb and not predicate.verb_turned,
            order,
            excused,
            elsewhere,
            denied,
            told,
            where,
        )
    return found


def _look(
    unit: GraphUnit,
    predicate: Predicate,
    verbs: FloatArray,
    target: AnalysedText,
    pairs: Counterparts,
) -> _Look:
    """Compare one relation with all of the target."""
    seen = _Look()
    if unit.object is None:
        return seen
    first, second = pairs.strength[unit.subject], pairs.strength[unit.object]
    columns, subjects, objects = target.relation_ends
    straight = np.sqrt(first[subjects] * second[objects])
    crossed = np.sqrt(first[objects] * second[subjects])
    for column, *both in zip(columns, straight.tolist(), crossed.tolist(), strict=True):
        ends = max(both)
        # No likeness is above that of the ends, and a reverse counts from _ENDS on.
        known = ends <= seen.reverse or ends < _ENDS
        if not known or ends > min(seen.best, seen.ends):
            said = target.relations[column][2]
            verb = verb_likeness(predicate, said, float(verbs[column]))
            seen.take(column, *likeness(predicate, said, verb, *both), ends)
    return seen


def _told(target: AnalysedText, at: int) -> str:
    """A relation of the target in words."""
    unit = target.relations[at][1]
    entities = target.graph.entities
    object_ = entities[unit.object if unit.object is not None else unit.subject]
    denied = "" if unit.polarity else "not "
    first = entities[unit.subject].mentions[0].text
    return f"{first} {denied}{unit.text} {object_.mentions[0].text}"

"""Relations of one text in another: by predicate, ends and direction."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.nearby import Nearby
from beholder.judges.builtin.predicates import OPPOSITE, Predicate, place_similarity
from beholder.judges.builtin.settings import Settings
from beholder.language.units import GraphUnit
from beholder.records import Span

_ONE_SIDED = 0.9
"""Similarity of two predicates of which only one names the verb, or the place."""
_WEARS_OF = 0.85
"""Similarity of "wears a hat" and "in a hat", "with a hat"."""
_NO_PLACE = 0.5
"""Similarity of a verb without place to a place without verb."""
_SAME = 0.8
_ENDS = 0.6
"""Strength of both ends from which a relation of the target is about the same two things."""
_CERTAIN = 0.9
"""Likeness from which the words of the predicate do not matter."""
_SHOWN = 0.5
"""Likeness from which a relation of the target is shown as the counterpart."""
_OTHER_VERB = 0.45
"""Similarity below which verbs between the same two things say something else."""

Found = dict[int, tuple[float, str, tuple[Span, ...]]]


@dataclass
class _Seen:
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


def relation_findings(
    source: AnalysedText,
    target: AnalysedText,
    pairs: Counterparts,
    anywhere: FloatArray,
    settings: Settings,
    nearby: Nearby,
    wrong: Collection[int],
) -> Found:
    """Value, counterpart and its place for each unit of the source that is a relation.

    A relation of a wrong thing is no further mistake if the thing at its other end has it, too.
    """
    spared = pairs
    if wrong:
        strength = pairs.strength.copy()
        strength[list(wrong)] = 1.0
        spared = replace(pairs, strength=strength)
    verbs = np.clip(source.verb_vectors @ target.verb_vectors.T, 0.0, 1.0)
    found: Found = {}
    for row, (place, unit, predicate) in enumerate(source.relations):
        seen = _look(unit, predicate, verbs[row], target, pairs, settings)
        near = settings.relation_anywhere * float(anywhere[place])
        value = near + (1 - settings.relation_anywhere) * seen.best
        if seen.best >= _CERTAIN:  # "her coffee" says "has" without the word
            value = max(value, seen.best)
        at, told = seen.best_at, ""
        if seen.reverse >= _ENDS > seen.best:
            value, at = min(value, settings.contradicted), seen.reverse_at
            told = _told(target, at)
        elif seen.best >= _ENDS:
            if target.relations[at][1].polarity != unit.polarity:
                value, told = min(value, settings.contradicted), _told(target, at)
        elif unit.polarity and (beside := nearby.relation(unit, predicate, seen.ends >= _SAME)):
            value = max(value, beside)
        elif (unit.subject in wrong) != (unit.object in wrong) and (
            _look(unit, predicate, verbs[row], target, spared, settings).best >= _SAME
        ):
            value = max(value, settings.present("relation"))
        elif seen.ends >= _SAME and seen.best < _OTHER_VERB:
            value, at, told = min(value, near), seen.ends_at, _told(target, seen.ends_at)
        shown = at >= 0 and (told or seen.best >= _SHOWN)
        found[place] = (value, told, target.relations[at][1].spans if shown else ())
    return found


def _look(
    unit: GraphUnit,
    predicate: Predicate,
    verbs: FloatArray,
    target: AnalysedText,
    pairs: Counterparts,
    settings: Settings,
) -> _Seen:
    """Compare one relation with all of the target."""
    seen = _Seen()
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
            verb = _verb(predicate, said, float(verbs[column]), settings.excluded)
            seen.take(column, *_likeness(predicate, said, verb, *both), ends)
    return seen


def _verb(a: Predicate, b: Predicate, similarity: float, excluded: float) -> float:
    if a.verb == b.verb:
        return 1.0
    return similarity * excluded if exclude(values(a.verb), values(b.verb)) else similarity


def _likeness(
    a: Predicate, b: Predicate, verb: float, straight: float, crossed: float
) -> tuple[float, float]:
    """How far two relations say the same, and how far they do with the ends exchanged."""
    if a.verb and b.verb:
        same = a.verb_turned == b.verb_turned
        right = verb * (straight if same else crossed)
        wrong = verb * (crossed if same else straight) if verb >= _SAME else 0.0
        if a.place and b.place:
            along, against = _placed(a, b, straight, crossed)
            return 0.5 * (right + along), max(against, wrong if not b.place else 0.0)
        return (right if a.place == b.place else _ONE_SIDED * right), wrong
    if a.place and b.place:
        along, against = _placed(a, b, straight, crossed)
        return (along if a.verb == b.verb else _ONE_SIDED * along), against
    bare = {a.place, b.place} - {""}
    if "wear" in (a.verb, b.verb) and bare <= {"of", "in", "with"}:
        return _WEARS_OF * max(straight, crossed), 0.0
    return _NO_PLACE * max(straight, crossed), 0.0


def _placed(a: Predicate, b: Predicate, straight: float, crossed: float) -> tuple[float, float]:
    likeness = place_similarity(a.place, b.place)
    if not a.directed or not b.directed:
        return likeness * max(straight, crossed), 0.0
    same = a.place_turned == b.place_turned
    along = likeness * (straight if same else crossed)
    against = crossed if same else straight
    opposed = a.place == b.place and a.place in OPPOSITE
    return along, against if opposed else 0.0


def _told(target: AnalysedText, at: int) -> str:
    """A relation of the target in words."""
    unit = target.relations[at][1]
    entities = target.graph.entities
    object_ = entities[unit.object if unit.object is not None else unit.subject]
    denied = "" if unit.polarity else "not "
    first = entities[unit.subject].mentions[0].text
    return f"{first} {denied}{unit.text} {object_.mentions[0].text}"

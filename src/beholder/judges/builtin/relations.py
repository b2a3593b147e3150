"""Relations of one text in another: by predicate, ends and direction."""

from __future__ import annotations

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.predicates import OPPOSITE, Predicate, place_similarity
from beholder.judges.builtin.settings import Settings
from beholder.judges.builtin.view import View
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
_OTHER_VERB = 0.45
"""Similarity below which verbs between the same two things say something else."""

Found = dict[int, tuple[float, str, tuple[Span, ...]]]


def relation_findings(
    source: View, target: View, pairs: Counterparts, anywhere: FloatArray, settings: Settings
) -> Found:
    """Value, counterpart and its place for each unit of the source that is a relation."""
    share = settings.relation_anywhere
    verbs = np.clip(source.verb_vectors @ target.verb_vectors.T, 0.0, 1.0)
    found: Found = {}
    for row, (place, unit, predicate) in enumerate(source.relations):
        if unit.object is None:
            continue
        best, best_at, reverse, reverse_at, other_at = 0.0, -1, 0.0, -1, -1
        same_ends = 0.0
        for column, (_, there, said) in enumerate(target.relations):
            if there.object is None:
                continue
            straight = _ends(pairs, unit.subject, unit.object, there.subject, there.object)
            crossed = _ends(pairs, unit.subject, unit.object, there.object, there.subject)
            if max(straight, crossed) <= 0.0:
                continue
            verb = _verb(predicate, said, float(verbs[row, column]), settings.excluded)
            right, wrong = _likeness(predicate, said, verb, straight, crossed)
            if right > best:
                best, best_at = right, column
            if wrong > reverse:
                reverse, reverse_at = wrong, column
            if max(straight, crossed) > same_ends:
                same_ends, other_at = max(straight, crossed), column
        value = share * float(anywhere[place]) + (1 - share) * best
        at, said_instead = best_at, ""
        if reverse >= _ENDS > best and reverse > best:
            value, at = min(value, settings.contradicted), reverse_at
            said_instead = _told(target, at)
        elif best >= _ENDS and best_at >= 0:
            if target.relations[best_at][1].polarity != unit.polarity:
                value = min(value, settings.contradicted)
                said_instead = _told(target, best_at)
        elif same_ends >= _SAME and best < _OTHER_VERB:
            at, said_instead = other_at, _told(target, other_at)
            value = min(value, settings.relation_anywhere * float(anywhere[place]))
        spans = target.relations[at][1].spans if at >= 0 and (said_instead or best >= 0.5) else ()
        found[place] = (value, said_instead, spans)
    return found


def _ends(pairs: Counterparts, subject: int, object: int, first: int, second: int) -> float:
    return float(np.sqrt(pairs.strength[subject, first] * pairs.strength[object, second]))


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


def _told(target: View, at: int) -> str:
    """A relation of the target in words."""
    unit = target.relations[at][1]
    entities = target.graph.entities
    object_ = entities[unit.object if unit.object is not None else unit.subject]
    denied = "" if unit.polarity else "not "
    first = entities[unit.subject].mentions[0].text
    return f"{first} {denied}{unit.text} {object_.mentions[0].text}"

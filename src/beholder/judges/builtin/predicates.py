"""Predicates in a normal form with a direction: "held by" is "hold" with the ends exchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from beholder.judges.builtin.classes import (
    EXCLUDED,
    exclude,
    sections,
    values,
    word_set,
)
from beholder.judges.builtin.numbers import number, table

_SIDE = re.compile(r"^(?:on|at|in|to) (left|right)(?:-hand)? side of$")


def _by_name(section: str) -> dict[str, str]:
    """Return the place of each name, from lines such as ``on: onto, upon``."""
    rows = [line.split(": ") for line in sections("predicates.txt")[section]]
    return {name: place for place, names in rows for name in names.split(", ")}


_SAME = _by_name("places")
_INVERSE = _by_name("exchanged places")
_VERB_PLACES = _by_name("verbs of places")
_EXCHANGED_PLACES = _by_name("exchanged verbs of places")


def _verbs(section: str) -> frozenset[str]:
    return word_set("predicates.txt", section)


_STAYING, _LEADING = _verbs("staying"), _verbs("leading")
_FASTENED, _MADE_OF = _verbs("fastened"), _verbs("made")
_BEARING = _verbs("bearing")
_MUTUAL = _verbs("mutual")
"""Verbs that hold of both ends: "a man faces a woman"."""
BEING_THERE = _verbs("being there")
"""Verbs that, alone and finite, say no more than that a thing is there."""
_WEAR = frozenset(sections("predicates.txt")["wear"])
_SYMMETRIC_PLACES = frozenset(sections("predicates.txt")["beside"])
"""Places that hold of both ends alike, and so does who only is there: "poses beside"."""
_OF_DOER = _verbs("of doer")
_NO_DIRECTION = _SYMMETRIC_PLACES | _verbs("no direction")
_AKIN: dict[tuple[str, ...], float] = {
    both: likeness
    for pair, likeness in table()["predicates.akin"]["value"].items()
    for both in permutations(pair.split("|"))
}
_OTHER_PLACE = number("predicates.other_place")
_RELATED = number("decide.related")
_ONE_SIDED = number("predicates.one_sided")
_WEARS_OF = number("predicates.wears_of")
_NO_PLACE = number("predicates.no_place")
_ALIKE = number("predicates.alike")
_OPPOSITE = frozenset(sections("predicates.txt")["opposite"])
"""Places that a pair of things cannot have in both directions."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate in normal form.

    Attributes:
        verb: Base form, or empty.
        verb_turned: Whether the verb's ends are exchanged against the text.
        place: Preposition in normal form, or empty.
        place_turned: Whether the place's ends are exchanged against the text.
        undergone: Whether the subject undergoes the verb and the place may be of its doer: branches
            "wrapped in lights" are wrapped by them, a dog "reflected in water" is not.
    """

    verb: str
    verb_turned: bool
    place: str
    place_turned: bool
    undergone: bool = False

    @property
    def directed(self) -> bool:
        """Return whether exchanging the ends changes the meaning of the place."""
        return self.place not in _NO_DIRECTION

    @property
    def mutual(self) -> bool:
        """Return whether the predicate is symmetric: "faces", "poses beside"."""
        is_symmetric = (
            self.place in _SYMMETRIC_PLACES and self.verb in BEING_THERE
        )
        return self.verb in _MUTUAL or is_symmetric


@lru_cache(maxsize=1 << 14)
def normal(predicate: str, verb: bool, passive: bool = False) -> Predicate:
    """The normal form of a predicate in base form.

    Args:
        predicate: Such as ``hold by``, ``to left of``, ``sit on``.
        verb: Whether it begins with a verb.
        passive: Whether its subject undergoes the verb.
    """
    name = " ".join(predicate.lower().replace(" the ", " ").split())
    if verb and name in _WEAR:
        return Predicate("wear", False, "", False)
    turned = False
    if verb and passive and name.endswith(" by"):
        name, turned = name.removesuffix(" by"), True
    if verb and name in _VERB_PLACES:
        return Predicate("", False, _VERB_PLACES[name], turned)
    if verb and name in _EXCHANGED_PLACES:
        return Predicate("", False, _EXCHANGED_PLACES[name], not turned)
    head, _, rest = name.partition(" ") if verb else ("", "", name)
    head, rest = _bare(head, rest)
    place, exchanged = _place(rest)
    turned_place = (
        bool(rest) and turned
    )  # "sat on by": the verb takes its place along
    undergone = passive and not turned and bool(head) and place in _OF_DOER
    return Predicate(
        head,
        turned and bool(head),
        place,
        exchanged != turned_place,
        undergone,
    )


def _bare(verb: str, place: str) -> tuple[str, str]:
    """A verb with its place, or the place alone where the verb says no more than it."""
    if verb in _MADE_OF and place in ("of", "from", "out of"):
        return "", "of"
    if verb in _BEARING and place in ("with", "in", "by"):
        return "", "with"
    if verb in _FASTENED and place in ("to", "from", "in", "at"):
        return "", "on"
    if (verb in _STAYING or verb in _LEADING) and place:
        return "", place
    return verb, place


def alike_predicates(
    a: Predicate, b: Predicate, similarity: float
) -> tuple[bool, bool]:
    """Return whether two predicates mean the same with ends in order, and with ends exchanged.

    Args:
        a: A predicate.
        b: Another.
        similarity: Of their verbs' vectors.
    """
    verb = verb_likeness(a, b, similarity)
    if a.verb and b.verb and verb < _ALIKE:
        return False, False  # quick: no likeness is above that of the verbs
    return (
        likeness(a, b, verb, 1.0, 0.0)[0] >= _ALIKE,
        likeness(a, b, verb, 0.0, 1.0)[0] >= _ALIKE,
    )


def verb_likeness(a: Predicate, b: Predicate, similarity: float) -> float:
    """Score how alike two verbs are, by the cosine of their vectors and by their classes."""
    if a.verb == b.verb:
        return 1.0
    return (
        similarity * EXCLUDED
        if exclude(values(a.verb), values(b.verb))
        else similarity
    )


def likeness(
    a: Predicate, b: Predicate, verb: float, straight: float, crossed: float
) -> tuple[float, float]:
    """Score how alike two relations are with ends in order, and with ends exchanged."""
    same, same_place = (
        a.verb_turned == b.verb_turned,
        a.place_turned == b.place_turned,
    )
    if a.undergone != b.undergone or (a.mutual and b.mutual):
        straight, crossed = max(straight, crossed), 0.0
        same = same_place = True
    if a.verb and b.verb:
        right = verb * (straight if same else crossed)
        wrong = (
            verb * (crossed if same else straight) if verb >= _RELATED else 0.0
        )
        if a.place and b.place:
            along, against = _placed(a, b, straight, crossed, same_place)
            taken_along = (
                wrong if a.place == b.place and a.directed else 0.0
            )  # "looks at"
            return min(right, along), max(against, taken_along)
        return (right if a.place == b.place else _ONE_SIDED * right), wrong
    if a.place and b.place:
        along, against = _placed(a, b, straight, crossed, same_place)
        return (along if a.verb == b.verb else _ONE_SIDED * along), against
    bare = {a.place, b.place} - {""}
    if "wear" in (a.verb, b.verb) and bare <= {"of", "in", "with"}:
        return _WEARS_OF * max(straight, crossed), 0.0
    return _NO_PLACE * max(straight, crossed), 0.0


def _placed(
    a: Predicate, b: Predicate, straight: float, crossed: float, same: bool
) -> tuple[float, float]:
    same_place = a.place == b.place
    likeness = (
        1.0 if same_place else _AKIN.get((a.place, b.place), _OTHER_PLACE)
    )
    if not a.directed or not b.directed:
        return likeness * max(straight, crossed), 0.0
    along = likeness * (straight if same else crossed)
    against = crossed if same else straight
    opposed = same_place and a.place in _OPPOSITE
    return along, against if opposed else 0.0


def _place(name: str) -> tuple[str, bool]:
    name = _SIDE.sub(r"\1 of", name)
    name = _SAME.get(name, name)
    return (_INVERSE[name], True) if name in _INVERSE else (name, False)

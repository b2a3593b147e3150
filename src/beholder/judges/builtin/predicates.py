"""Predicates in a normal form with a direction: "held by" is "hold" with the ends exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from beholder.judges.builtin.numbers import akin, number

_SAME = {
    "over": "above",
    "on top of": "on",
    "onto": "on",
    "upon": "on",
    "atop": "on",
    "inside": "in",
    "inside of": "in",
    "within": "in",
    "into": "in",
    "beside": "next to",
    "alongside": "next to",
    "adjacent to": "next to",
    "by": "next to",
    "close to": "near",
    "nearby": "near",
    "part of": "of",
    "to left of": "left of",
    "on left of": "left of",
    "at left of": "left of",
    "to right of": "right of",
    "on right of": "right of",
    "at right of": "right of",
    "below": "under",
    "beneath": "under",
    "underneath": "under",
    "in back of": "behind",
    "'s": "with",
}
_INVERSE = {
    "under": "above",
    "behind": "in front of",
    "right of": "left of",
    "with": "of",
}
"""Places that say the same as another with the ends exchanged."""
_AS_PLACE = {
    "contain": ("in", True),
    "hold up": ("on", True),
    "support": ("on", True),
    "have": ("of", True),
    "own": ("of", True),
    "possess": ("of", True),
    "feature": ("of", True),
    "belong to": ("of", False),
    "flank": ("next to", False),
    "surround": ("around", False),
}
"""Verbs that say the same as a place, and whether with the ends exchanged."""
_WEAR = frozenset(("dress in", "clothe in", "have on", "clad in"))
_NO_DIRECTION = frozenset(
    ["next to", "near", "around", "along with", "across from", "opposite", "between", "of"]
)
_AKIN = {frozenset(pair.split("|")): likeness for pair, likeness in akin().items()}
_OTHER_PLACE = number("predicates.other_place")
OPPOSITE = frozenset(("above", "in front of", "left of"))
"""Places that a pair of things cannot have in both directions."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate in normal form.

    Attributes:
        verb: Base form, or empty.
        verb_turned: Whether the verb's ends are exchanged against the text.
        place: Preposition in normal form, or empty.
        place_turned: Whether the place's ends are exchanged against the text.
    """

    verb: str
    verb_turned: bool
    place: str
    place_turned: bool

    @property
    def directed(self) -> bool:
        """Whether the place says something else with the ends exchanged."""
        return self.place not in _NO_DIRECTION


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
    if verb and name in _AS_PLACE:
        place, exchanged = _AS_PLACE[name]
        return Predicate("", False, place, exchanged != turned)
    head, _, rest = name.partition(" ") if verb else ("", "", name)
    place, exchanged = _place(rest)
    return Predicate(head, turned, place, exchanged)


def place_similarity(a: str, b: str) -> float:
    """How near two places in normal form are, 0..1."""
    return 1.0 if a == b else _AKIN.get(frozenset((a, b)), _OTHER_PLACE)


def _place(name: str) -> tuple[str, bool]:
    name = _SAME.get(name, name)
    return (_INVERSE[name], True) if name in _INVERSE else (name, False)

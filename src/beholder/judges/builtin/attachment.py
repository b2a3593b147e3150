"""Whether a text gives a claim's relations their own two ends, not only the same words."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.embed.exact import cosines
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.lexis import content, saying, tie
from beholder.judges.builtin.numbers import number, whole
from beholder.judges.builtin.predicates import Predicate
from beholder.language.units import GraphUnit
from beholder.records import Span

_NAMESAKE = number("attachment.namesake")
_AFTER = whole("attachment.after")
_REACH = whole("attachment.reach")
_OWNING = frozenset(("", "of", "with", "in", "on"))
"""Places that do no more than say what belongs to what."""
_POSSESSIVE = frozenset(("its", "his", "her", "their"))
_BESIDE = whole("attachment.beside")


def related(claim: AnalysedText, unit: GraphUnit, text: AnalysedText) -> bool:
    """Whether some relation of a text has ends of these names, in either order."""
    first, second = _called(claim, unit.subject, text), _called(claim, unit.object, text)
    return any(
        (there.subject in first and there.object in second)
        or (there.object in first and there.subject in second)
        for _, there, _ in text.relations
    )


def in_order(
    claim: AnalysedText, unit: GraphUnit, predicate: Predicate, text: AnalysedText
) -> bool:
    """Whether a sentence has subject, predicate and object, and no other thing before the object.

    Of what only says what belongs to what, it is enough that the two stand side by side, or that
    one stands after a possessive ("its tail"): which thing is meant, the parse often misses.

    Args:
        claim: The claim.
        unit: One of its relations.
        predicate: The relation's normal form.
        text: The text in which it is looked for.
    """
    words = [predicate.verb] if predicate.verb else content(unit.value)
    places = [p for word in words for w in saying(word, text.places) for p in text.places[w]]
    owning = not predicate.verb and predicate.place in _OWNING
    subjects = [m for entity in _called(claim, unit.subject, text) for m in text.mentions[entity]]
    objects = [m for entity in _called(claim, unit.object, text) for m in text.mentions[entity]]
    if predicate.verb_turned:
        subjects, objects = objects, subjects
    return any(
        (owning and _beside(subject, object_, text)) or _ordered(subject, object_, places, text)
        for subject in subjects
        for object_ in objects
        if subject != object_ and text.sentences[subject[0]] == text.sentences[object_[0]]
    ) or (predicate.place == "of" and not predicate.verb and _possessed(subjects, objects, text))


def _called(claim: AnalysedText, entity: int | None, text: AnalysedText) -> set[int]:
    """The things of a text that have the name of a thing of the claim."""
    if entity is None:
        return set()
    head = claim.graph.entities[entity].head.lower()
    near = cosines(text.heads, claim.heads[[entity]])[:, 0] >= _NAMESAKE
    return {
        other.index
        for other in text.graph.entities
        if (known := tie(head, other.head.lower())) in ("same", "more")
        or (near[other.index] and known != "other")
    }


def _beside(a: Span, b: Span, text: AnalysedText) -> bool:
    first, second = sorted((a, b))
    return second[0] - first[1] <= _BESIDE and not _between(first[1], second[0], text)


def _possessed(subjects: Sequence[Span], objects: Sequence[Span], text: AnalysedText) -> bool:
    """Whether one thing is named after a possessive that may stand for the other, named before."""
    return any(
        not _POSSESSIVE.isdisjoint(text.words[max(0, part[0] - _BESIDE) : part[0]])
        for wholes, parts in ((subjects, objects), (objects, subjects))
        for part in parts
        if any(whole[1] <= part[0] for whole in wholes)
    )


def _ordered(subject: Span, object_: Span, places: Sequence[int], text: AnalysedText) -> bool:
    return any(
        subject[1] <= place <= subject[1] + _REACH
        and place < object_[0] <= place + _AFTER
        and not _between(place + 1, object_[0], text)
        for place in places
    )


def _between(first: int, last: int, text: AnalysedText) -> bool:
    """Whether another thing is named in a range of words."""
    return any(place in text.named_at for place in range(first, last))

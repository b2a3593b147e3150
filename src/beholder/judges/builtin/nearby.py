"""What the words of a text say where its parse does not: near which things a word stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.classes import values
from beholder.judges.builtin.lexis import content, saying, says
from beholder.judges.builtin.numbers import number, whole
from beholder.judges.builtin.predicates import Predicate
from beholder.language.statements import GraphUnit
from beholder.records import Span

ATTACHED = number("nearby.attached")
SENTENCE = number("nearby.sentence")
LOOSE = number("nearby.loose")

_CONTEXT = whole("nearby.context")
_LONG = whole("nearby.long")
_WINDOW = whole("nearby.window")
_BESIDE = whole("nearby.beside")
_TOGETHER = whole("nearby.together")
_GOVERNED = whole("nearby.governed")
_FAR = whole("nearby.far")
_REACH = whole("nearby.reach")
_BEARING = frozenset(("", "of", "wear", "in", "on"))
"""Verbs and places that say no more than that two things belong together."""


class Nearby:
    """Evidence on units of a source from the order of words in a target.

    Args:
        source: The text whose units are looked for.
        target: The text in which they are looked for.
        alike: (n, m), which entities of the target bear the name of one of the source.
    """

    def __init__(
        self, source: AnalysedText, target: AnalysedText, alike: npt.NDArray[np.bool_]
    ) -> None:
        self._source = source
        self._target = target
        self._alike = alike
        self._quotes = Quotes(source.words, target.words)
        self._like: dict[str, list[int]] = {}

    def quoted(self, unit: GraphUnit, contradicted: bool) -> bool:
        """Whether a unit is in the target word by word, with its ends or in a long context.

        Args:
            unit: The unit.
            contradicted: Whether the target seems to say otherwise; then the ends must be there.
        """
        source = self._source
        own = [source.at(span) for span in unit.spans]
        own = [(a, b) for a, b in own if a < b]
        if not own:
            return False
        if not contradicted and all(self._quotes.run(a, b) >= _LONG for a, b in own):
            return True
        ends = [unit.subject] if unit.object is None else [unit.subject, unit.object]
        window = [*own, *(m for end in ends for m in self._nearest(end, own[0]))]
        if len(window) < len(own) + len(ends):
            return False
        first, last = min(a for a, _ in window), max(b for _, b in window)
        if last - first > _WINDOW:
            return False
        # At the end of a sentence there is less context to share.
        return self._quotes.run(first, last) >= last - first + _CONTEXT

    def attribute(self, unit: GraphUnit) -> float:
        """Value of an attribute by where its words are in the target; 0 if they are not there."""
        target = self._target
        wanted = content(unit.value)
        found = [self._places(word) for word in wanted]
        if not found or not all(found):
            return 0.0
        owners = np.flatnonzero(self._alike[unit.subject])
        mentions = [
            (first, last, owner)
            for owner in owners.tolist()
            for first, last in target.mentions[owner]
        ]
        mates = set().union(*(target.listed.get(owner, ()) for owner in owners.tolist()))
        best = 0.0
        for place in found[-1]:
            if self._taken(place, unit, mates):
                continue
            if any(all(abs(place - p) > _TOGETHER for p in others) for others in found[:-1]):
                continue
            for first, last, owner in mentions:
                if target.sentences[place] != target.sentences[first]:
                    continue
                gap = first - place if place < first else place - last + 1
                if gap > _FAR:
                    continue
                if gap <= _BESIDE and not self._between(place, first, last, owner):
                    return ATTACHED
                best = SENTENCE
        return best

    def relation(self, unit: GraphUnit, predicate: Predicate, stated: bool) -> float:
        """Value of a relation by subject, predicate and object in the order of the target.

        Args:
            unit: The relation.
            predicate: Its normal form.
            stated: Whether the target says how the same two things stand to each other.
        """
        if unit.object is None:
            return 0.0
        target = self._target
        subjects = self._mentions(unit.subject)
        objects = self._mentions(unit.object)
        if predicate.verb_turned:
            subjects, objects = objects, subjects
        words = [predicate.verb] if predicate.verb else content(unit.value) or [unit.value]
        if predicate.verb and predicate.place:  # "sits under" is not "sits on"
            words = unit.value.split()[-1:]
        belongs = predicate.place == "of" and not predicate.verb
        in_class = [word for word in content(unit.value) if values(word)]
        sides = [{target.sentences[place] for place in self._places(word)} for word in in_class]
        bearing = (
            not sides and not stated and predicate.verb in _BEARING and predicate.place in _BEARING
        )
        places = [place for word in words for place in self._places(word)]
        if belongs and subjects and objects and not self._owned(unit):
            return LOOSE
        for subject in subjects:
            for object_ in objects:
                sentence = target.sentences[subject[0]]
                if sentence != target.sentences[object_[0]] or subject == object_:
                    continue
                if all(sentence in there for there in sides) and (
                    (bearing and _apart(subject, object_) < _BESIDE)
                    or _in_order(subject, object_, places, not predicate.verb)
                ):
                    return SENTENCE
        if predicate.verb and not stated and not sides and subjects and objects:
            near = {target.sentences[a] for a, _ in (*subjects, *objects)}
            turned = any(_in_order(o, s, places, False) for s in subjects for o in objects)
            if not turned and not near.isdisjoint(target.sentences[p] for p in places):
                return LOOSE
        return 0.0

    def of_another(self, unit: GraphUnit, predicate: Predicate) -> bool:
        """Whether the target says of another thing, and not of this one, what it does to the other.

        Args:
            unit: A relation.
            predicate: Its normal form.
        """
        if unit.object is None or not predicate.verb:
            return False
        ends = (unit.subject, unit.object)
        doer, done = ends[::-1] if predicate.verb_turned else ends
        found = False
        for _, there, said in self._target.relations:
            if there.object is None or not says(predicate.verb, said.verb):
                continue
            ends = (there.subject, there.object)
            other, same = ends[::-1] if said.verb_turned else ends
            if self._alike[done, same]:
                if self._alike[doer, other]:
                    return False
                found = True
        return found

    def _owned(self, unit: GraphUnit) -> bool:
        """Whether the target says that either end belongs to something else."""
        ends = (self._alike[unit.subject], self._alike[unit.object or 0])
        for _, there, said in self._target.relations:
            owning = ("of",) if there.verb else ("of", "on", "in")
            if said.verb or said.place not in owning or there.object is None:
                continue
            part, whole = there.subject, there.object
            if said.place_turned:
                part, whole = whole, part
            if any(own[part] and not other[whole] for own, other in (ends, ends[::-1])):
                return True
        return False

    def _mentions(self, entity: int) -> list[Span]:
        owners = np.flatnonzero(self._alike[entity])
        return [mention for owner in owners for mention in self._target.mentions[owner]]

    def _nearest(self, entity: int, to: Span) -> Iterator[Span]:
        """The mention of an entity in the sentence of some words that stands nearest to them."""
        source = self._source
        near = [
            m for m in source.mentions[entity] if source.sentences[m[0]] == source.sentences[to[0]]
        ]
        if near:
            yield min(near, key=lambda m: abs(m[0] - to[0]))

    def _places(self, word: str) -> list[int]:
        """Where the target has a word that says what this one says."""
        if word not in self._like:
            places = self._target.places
            self._like[word] = [p for other in saying(word, places) for p in places[other]]
        return self._like[word]

    def _taken(self, place: int, unit: GraphUnit, mates: set[int]) -> bool:
        """Whether the target says a word of something else, or denies it.

        What is said of a thing is free for those that are listed with it (``mates``).
        """
        said = self._target.said_of.get(place, ())
        if not said:
            return False
        own = self._alike[unit.subject].copy()
        for _, there, _said in self._target.relations:  # a fence of orange mesh is orange
            if there.value == "of" and own[there.subject] and there.object is not None:
                own[there.object] = True
        own[list(mates)] = True
        return not any(own[u.subject] and u.polarity == unit.polarity for u in said)

    def _between(self, place: int, first: int, last: int, owner: int) -> bool:
        """Whether another thing, not of the same list, is named between a word and a mention.

        Words of a class ("gray") are no things here, even where the parse makes them some.
        """
        between = range(place + 1, first) if place < first else range(last, place)
        target = self._target
        mates = target.listed.get(owner, ())
        return any(
            p in target.named_at and target.named_at[p] not in mates and not values(target.words[p])
            for p in between
        )


def _apart(a: Span, b: Span) -> int:
    """Words from one range to another."""
    return max(a[0], b[0]) - min(a[1], b[1])


def _in_order(subject: Span, object_: Span, places: Sequence[int], governs: bool) -> bool:
    """Whether a predicate stands between its ends, or just before the noun that it governs."""
    start = object_[0]
    if subject[1] <= start <= subject[1] + _REACH and any(subject[1] <= p < start for p in places):
        return True
    return governs and any(0 < start - p <= _GOVERNED for p in places)


class Quotes:
    """All runs of words that two texts share.

    Args:
        source: Words of the text that is looked for.
        target: Words of the text in which it is looked for.
    """

    def __init__(self, source: Sequence[str], target: Sequence[str]) -> None:
        n, m = len(source), len(target)
        numbers = {word: place for place, word in enumerate(dict.fromkeys((*source, *target)))}
        a = np.array([numbers[word] for word in source], np.intp)
        b = np.array([numbers[word] for word in target], np.intp)
        # Rows that are one longer than they are read shift by one each: what is in one column
        # continues word by word in both texts (the target is reversed).
        width = n + m
        equal = np.zeros((n, width + 1), np.bool_)
        equal[:, :m] = a[:, None] == b[::-1]
        lines = equal.ravel()[: n * width].reshape(n, width)
        places = np.arange(n, dtype=np.int32)[:, None]
        begins = np.maximum.accumulate(np.where(lines, 0, places + 1), axis=0)
        ends = np.minimum.accumulate(np.where(lines, n, places)[::-1], axis=0)[::-1]
        # (n + 1, n + m), words of the shared run that ends before a word, and that begins with it.
        self._before: npt.NDArray[np.int32] = np.zeros((n + 1, width), np.int32)
        self._after: npt.NDArray[np.int32] = np.zeros((n + 1, width), np.int32)
        self._before[1:] = places + 1 - begins
        self._after[:-1] = ends - places

    def run(self, first: int, last: int) -> int:
        """Words of the longest shared run over the source's words first..last, 0 if there is none.

        Args:
            first: The first word that it must have.
            last: One past the last word that it must have.
        """
        before, after = self._before[last], self._after[last]
        length = (before + after)[before >= last - first]
        return int(length.max(initial=0))

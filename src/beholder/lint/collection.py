"""Rules that compare the texts of a collection: ALT203, ALT401 to ALT404."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from beholder.base.grouping import group_by_key
from beholder.lint.naming import compare_naming, shows_people
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import GroupHit, Hit

_MANY_TARGETS = 3
_LEAST_BOILERPLATE, _BOILERPLATE_SHARE, _EDGE = 20, 0.3, 4


class Traits(NamedTuple):
    """Numbers of 64 bits by which a text is compared with the others of a collection.

    Numbers take a tenth of the memory of the texts, of which a collection may have millions.

    Attributes:
        text: Of the folded text and its system; 0 for a text that is not compared.
        picture: Of the picture, and of all that gives one picture rightly two texts; 0 if unknown.
        target: Of the text on its page, for pictures that are alone in their link; else 0.
        first: Of the first words; 0 for a text of up to four words, which ALT401 compares.
        last: Of the last words.
        shows_people: Whether the text speaks of people.
    """

    text: int
    picture: int
    target: int
    first: int
    last: int
    shows_people: bool

    @classmethod
    def from_occurrence(cls, occurrence: Occurrence) -> Traits:
        """Return the traits of a picture with a text."""
        fold, system = occurrence.fold, occurrence.system
        has_text = bool(fold) and not occurrence.functional
        # Texts of another system, role, language or kind may rightly differ.
        role = "functional" if occurrence.functional else ""
        kind = (role, occurrence.language, str(occurrence.is_long), system)
        is_link = occurrence.image_only and occurrence.link
        first, last = _edges(occurrence)
        return cls(
            text=_number(system, fold) if has_text else 0,
            picture=_number(occurrence.identity, *kind)
            if occurrence.identity
            else 0,
            target=_number(occurrence.file, occurrence.page, fold)
            if is_link
            else 0,
            first=_number(*first) if first else 0,
            last=_number(*last) if last else 0,
            shows_people=shows_people(occurrence),
        )


def _edges(occurrence: Occurrence) -> tuple[list[str], list[str]]:
    text_words = occurrence.words
    if len(text_words) <= _EDGE:
        return [], []
    return (
        [word.casefold() for word in text_words[:_EDGE]],
        [word.casefold() for word in text_words[-_EDGE:]],
    )


def _number(*parts: str) -> int:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return number >> 1 or 1


class Collection:
    """Pictures with a text, added one after the other, and the findings about all of them."""

    def __init__(self) -> None:
        self._occurrences: list[Occurrence] = []
        self._people: list[Occurrence] = []
        self._targets, self._texts, self._pictures, self._first, self._last = (
            array("q") for _ in range(5)
        )

    def add(self, occurrence: Occurrence, traits: Traits) -> None:
        """Add a picture with a text."""
        self._occurrences.append(occurrence)
        if traits.shows_people:
            self._people.append(occurrence)
        self._targets.append(traits.target)
        self._texts.append(traits.text)
        self._pictures.append(traits.picture)
        self._first.append(traits.first)
        self._last.append(traits.last)

    def _repeated(self, numbers: array[int]) -> list[list[Occurrence]]:
        """Return the occurrences that share a number, in the order of the first of each."""
        # Sorted, and no dictionary of all numbers: most are alone.
        repeated = {
            number
            for number, other in pairwise(sorted(numbers))
            if number == other
        } - {0}
        groups = group_by_key(
            (number, occurrence)
            for number, occurrence in zip(
                numbers, self._occurrences, strict=True
            )
            if number in repeated
        )
        return list(groups.values())

    def findings(self) -> Iterator[GroupHit]:
        """Yield the findings about the collection."""
        yield from self._same_on_many_targets()
        yield from self._same_on_different()
        yield from self._different_on_same()
        yield from self._boilerplate()
        yield from compare_naming(self._people)

    def _same_on_many_targets(self) -> Iterator[GroupHit]:
        for places in self._repeated(self._targets):
            n = len({place.link for place in places})
            if n >= _MANY_TARGETS:
                what = f'"{places[0].text}" names {n} different targets of this page'
                yield GroupHit("ALT203", places, Hit(what), n)

    def _same_on_different(self) -> Iterator[GroupHit]:
        for places in self._repeated(self._texts):
            # A picture without an address is one of its own, at its place.
            pictures = {
                place.identity or f"{place.file}:{place.line}:{place.locator}"
                for place in places
            }
            # Pictures of one figure share its caption, so they may share a text.
            one_set = (
                places[0].group and len({place.group for place in places}) == 1
            )
            if len(pictures) > 1 and not one_set:
                what = f'{len(pictures)} different pictures have the text "{places[0].text}"'
                yield GroupHit("ALT401", places, Hit(what), len(pictures))

    def _different_on_same(self) -> Iterator[GroupHit]:
        for places in self._repeated(self._pictures):
            texts = list(dict.fromkeys(place.fold for place in places))
            if len(texts) > 1:
                what = (
                    f"the picture has {len(texts)} texts, such as"
                    f' "{texts[0]}" and "{texts[1]}"'
                )
                yield GroupHit("ALT402", places, Hit(what), len(texts))

    def _boilerplate(self) -> Iterator[GroupHit]:
        n_all = len(self._occurrences)
        for name, keys in (("first", self._first), ("last", self._last)):
            for key, n in Counter(keys).items():
                if (
                    key
                    and n >= _LEAST_BOILERPLATE
                    and n > _BOILERPLATE_SHARE * n_all
                ):
                    place = self._occurrences[keys.index(key)]
                    first, last = _edges(place)
                    shared = first if name == "first" else last
                    what = (
                        f"{n} of {n_all} texts share the {name} words"
                        f' "{" ".join(shared)}"'
                    )
                    # Reported once, at the first place: the finding is about the
                    # collection.
                    yield GroupHit("ALT404", [place], Hit(what), n)

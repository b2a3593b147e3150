"""Rules that compare the pictures of a collection: ALT203 of pages, ALT401 to ALT404."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit

_MANY_TARGETS = 3
_LEAST_BOILERPLATE, _BOILERPLATE_SHARE, _EDGE = 20, 0.3, 4
_LEAST_PEOPLE, _LEAST_MARKERS, _WHITE_SHARE = 30, 20, 0.05
_PERSON = (
    r"(?:wo)?m[ae]n|persons?|people|boys?|girls?|child(?:ren)?|lad(?:y|ies)|figures?|students?"
    r"|teachers?|workers?|dancers?|mothers?|fathers?|couples?|teenagers?|bab(?:y|ies)|adults?"
)
_PEOPLE = re.compile(rf"\b(?:{_PERSON})\b", re.I)
_RACE = re.compile(
    r"\b(?P<race>black|white|caucasian|asian|african(?:[ -]american)?|indigenous|native american"
    rf"|latin[oax]|hispanic|middle eastern|south asian|arab)(?:[ -]\w+)? (?:{_PERSON})\b",
    re.I,
)


class GroupHit(NamedTuple):
    """A finding about several places.

    Attributes:
        rule: Id of the rule.
        places: Where it is reported.
        hit: What was found.
        n: How many texts or pictures it is about.
    """

    rule: str
    places: Sequence[Occurrence]
    hit: Hit
    n: int


def compare_all(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    """Findings of all rules about a collection, given its pictures with a text."""
    yield from _same_on_many_targets(found)
    yield from _same_on_different(found)
    yield from _different_on_same(found)
    yield from _boilerplate(found)
    yield from _naming(found)


def _same_on_many_targets(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    links = defaultdict(list)
    for one in found:
        if one.image_only and one.link:
            links[one.file, one.page, one.fold].append(one)
    for places in links.values():
        n = len({one.link for one in places})
        if n >= _MANY_TARGETS:
            what = f'"{places[0].text}" names {n} different targets of this page'
            yield GroupHit("ALT203", places, Hit(what), n)


def _same_on_different(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    texts = defaultdict(list)
    for one in found:
        if not one.functional and one.fold:
            texts[one.fold].append(one)
    for places in texts.values():
        pictures = {one.identity or f"{one.file}:{one.line}:{one.locator}" for one in places}
        one_set = places[0].group and len({one.group for one in places}) == 1
        if len(pictures) > 1 and not one_set:
            what = f'{len(pictures)} different pictures have the text "{places[0].text}"'
            yield GroupHit("ALT401", places, Hit(what), len(pictures))


def _different_on_same(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    pictures = defaultdict(list)
    for one in found:
        if one.identity:
            role = "functional" if one.functional else ""
            pictures[one.identity, role, one.language[:2].lower(), one.is_long].append(one)
    for places in pictures.values():
        texts = list(dict.fromkeys(one.fold for one in places))
        if len(texts) > 1:
            what = f'the picture has {len(texts)} texts, such as "{texts[0]}" and "{texts[1]}"'
            yield GroupHit("ALT402", places, Hit(what), len(texts))


def _boilerplate(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    for name, edge in (("first", slice(None, _EDGE)), ("last", slice(-_EDGE, None))):
        edges = defaultdict(list)
        for one in found:
            if len(one.words) > _EDGE:
                edges[tuple(word.casefold() for word in one.words[edge])].append(one)
        for shared, places in edges.items():
            n = len(places)
            if n >= _LEAST_BOILERPLATE and n > _BOILERPLATE_SHARE * len(found):
                what = f'{n} of {len(found)} texts share the {name} words "{" ".join(shared)}"'
                yield GroupHit("ALT404", places[:1], Hit(what), n)


def _naming(found: Sequence[Occurrence]) -> Iterator[GroupHit]:
    english = [one for one in found if one.language[:2].lower() in ("", "en")]
    people = [one for one in english if _PEOPLE.search(one.text)]
    markers = Counter(match["race"].lower() for one in people for match in _RACE.finditer(one.text))
    n, white = markers.total(), markers["white"] + markers["caucasian"]
    if len(people) >= _LEAST_PEOPLE and n >= _LEAST_MARKERS and white <= _WHITE_SHARE * n:
        what = f'{n} texts name a race, and {white} of them say "white"'
        yield GroupHit("ALT403", people[:1], Hit(what), n)

"""Contents of pictures: the units of all texts about a picture, merged if they say the same.

This asks no judge: the run contains the matches of both directions. A unit of a person and one of
a model are **the same content** if each was matched to the other (the symmetric part of the two
matchings), and so are units in the same words; people's units are merged with each other through
the models' units that both equal. A text **mentions** a content if one of its units is in the
content, or was matched in either direction to one that is. People's units that no model mentions
are merged across people by their words alone, so counts of speakers per content are a lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from beholder.kinds.bidirectional.pairs import Fact, PairGroup, TextPair, by

Node: TypeAlias = tuple[str, str, int]
"""``people`` or ``model``; the person's text or the system; index of the unit in that text."""

PEOPLE, MODEL = "people", "model"
_WORDS = re.compile(r"[^\s.,;:!?\u0964\"'()]+")


@dataclass(frozen=True)
class Content:
    """One content of a picture.

    Attributes:
        image: Key of the picture.
        category: Category of the picture.
        text: One of its units; a person's, if there is one.
        subject: What it is about, without number (``dog``); empty if no unit states it.
        people: The people's texts that mention it.
        systems: The systems that mention it.
        n_people: People's texts about the picture.
        n_systems: Systems that describe the picture.
        by_people: Whether it contains a person's unit, and was not only matched to one.
        supported: Whether one of its units was verified; None if none was checked.
    """

    image: str
    category: str
    text: str
    subject: str
    people: frozenset[str]
    systems: frozenset[str]
    n_people: int
    n_systems: int
    by_people: bool
    supported: bool | None

    @property
    def gap(self) -> float:
        """Share of people who mention it minus share of systems, in -1..1."""
        return len(self.people) / self.n_people - len(self.systems) / self.n_systems

    @property
    def weight(self) -> float:
        """Size of the gap, in 0..1, with half a text added for and half against on each side.

        A content that the only person mentions ranks below one that all of five mention.
        """
        people = (len(self.people) + 0.5) / (self.n_people + 1)
        return abs(people - (len(self.systems) + 0.5) / (self.n_systems + 1))


def contents(pairs: Sequence[TextPair]) -> list[Content]:
    """The contents of each picture that has units of both sides.

    Args:
        pairs: Pairs of one data set and language.
    """
    found: list[Content] = []
    for picture in by("image")(PairGroup(pairs)):
        units = _Units()
        for pair in picture.pairs:
            units.add(pair)
        if units.voices and units.systems:
            found += units.contents(picture.pairs[0])
    return found


def stem(subject: str) -> str:
    """An identifier without the number of the individual: ``dog_1`` is ``dog``."""
    return re.sub(r"[_\s]*\d+$", "", subject.strip()).replace("_", " ").casefold()


@dataclass
class _Units:
    """Units about one picture and the links between them."""

    facts: dict[Node, Fact] = field(default_factory=dict)
    from_models: set[tuple[Node, Node]] = field(default_factory=set)
    from_people: set[tuple[Node, Node]] = field(default_factory=set)

    @property
    def voices(self) -> set[str]:
        """The people's texts."""
        return {name for kind, name, _ in self.facts if kind == PEOPLE}

    @property
    def systems(self) -> set[str]:
        """The systems."""
        return {name for kind, name, _ in self.facts if kind == MODEL}

    def add(self, pair: TextPair) -> None:
        """Add the units of one pair; units of a text that was added before stay."""
        if not pair.values:
            return
        human, model = _human_nodes(pair), [
            (MODEL, pair.system, place) for place in range(len(pair.model_facts))
        ]  # fmt: skip
        for node, fact in zip(human + model, pair.human_facts + pair.model_facts, strict=True):
            known = self.facts.get(node)
            if known is None or (fact.verified and not known.verified):
                self.facts[node] = fact
        for node, fact in zip(model, pair.model_facts, strict=True):
            self.from_models |= {(node, human[place]) for place in fact.matches}
        for node, fact in zip(human, pair.human_facts, strict=True):
            self.from_people |= {(model[place], node) for place in fact.matches}

    def _same_words(self) -> set[tuple[Node, Node]]:
        first: dict[tuple[str, ...], Node] = {}
        return {
            (first.setdefault(tuple(_WORDS.findall(fact.text.casefold())), node), node)
            for node, fact in self.facts.items()
        }

    def contents(self, picture: TextPair) -> Iterator[Content]:
        """The merged units."""
        links = (self.from_models & self.from_people) | self._same_words()
        groups = _groups(self.facts, links)
        group_of = {node: number for number, nodes in enumerate(groups) for node in nodes}
        people: list[set[str]] = [set() for _ in groups]
        systems: list[set[str]] = [set() for _ in groups]
        for node, number in group_of.items():
            (people if node[0] == PEOPLE else systems)[number].add(node[1])
        for model, human in self.from_models | self.from_people:
            people[group_of[model]].add(human[1])
            systems[group_of[human]].add(model[1])
        for number, nodes in enumerate(groups):
            said = sorted(nodes, key=lambda node: (node[0] != PEOPLE, len(self.facts[node].text)))
            facts = [self.facts[node] for node in said]
            verdicts = [fact.verified for fact in facts if fact.verified is not None]
            yield Content(
                image=picture.image,
                category=picture.category,
                text=facts[0].text,
                subject=next((stem(fact.subject) for fact in facts if fact.subject), ""),
                people=frozenset(people[number]),
                systems=frozenset(systems[number]),
                n_people=len(self.voices),
                n_systems=len(self.systems),
                by_people=said[0][0] == PEOPLE,
                supported=any(verdicts) if verdicts else None,
            )


def _human_nodes(pair: TextPair) -> list[Node]:
    """A node per unit of people, with its text and its index among the units of that text."""
    places: dict[int, int] = {}
    nodes = []
    for fact in pair.human_facts:
        place = places.get(fact.voice, 0)
        places[fact.voice] = place + 1
        nodes.append((PEOPLE, pair.references[fact.voice], place))
    return nodes


def _groups(nodes: dict[Node, Fact], links: set[tuple[Node, Node]]) -> list[list[Node]]:
    """Connected components, in the order of their first nodes."""
    place = {node: at for at, node in enumerate(nodes)}
    ends = [[place[a] for a, _ in links], [place[b] for _, b in links]]
    edges = coo_array((np.ones(len(links)), ends), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(edges, directed=False)
    groups: dict[int, list[Node]] = {}
    for node, label in zip(nodes, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(node)
    return list(groups.values())

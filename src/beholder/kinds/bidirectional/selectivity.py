"""What people choose to say and models do not, and the reverse; how far people agree.

The tables count **contents** of pictures: the units of all texts about a picture, merged if they
say the same.

This asks no judge: the run contains the matches of both directions. A unit of a person and one of
a model are **the same content** if each was matched to the other (the symmetric part of the two
matchings), and so are units in the same words; people's units are merged with each other through
the models' units that both equal. A text **mentions** a content if one of its units is in the
content, or was matched in either direction to one that is. People's units that no model mentions
are merged across people by their words alone, so counts of speakers per content are a lower bound.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from beholder.grouping import by_key
from beholder.kinds.bidirectional.pairs import (
    TABLES,
    Cells,
    Fact,
    PairGroup,
    TextPair,
    by,
    grouped,
    mean_cells,
    sets,
)
from beholder.tables import Table, estimate

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
    def weight(self) -> float:
        """Difference of both shares, in 0..1, with half a text added for and half against each.

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
    places: Counter[int] = Counter()
    nodes = []
    for fact in pair.human_facts:
        nodes.append((PEOPLE, pair.references[fact.voice], places[fact.voice]))
        places[fact.voice] += 1
    return nodes


def _groups(nodes: dict[Node, Fact], links: set[tuple[Node, Node]]) -> list[list[Node]]:
    """Connected components, in the order of their first nodes."""
    joined = DisjointSet(nodes)
    for a, b in links:
        joined.merge(a, b)
    return list(by_key((joined[node], node) for node in nodes).values())


ALL = "all"
MAX_SUBJECTS = 200
_OF_CONTENT = (
    *("image", "category", "text", "subject"),
    *("people", "n_people", "systems", "n_systems", "supported"),
)


def consensus_by_image(found: Sequence[Content]) -> dict[str, list[float]]:
    """Per picture with several speakers: how many of them mention each content of people."""
    return by_key(
        (content.image, float(len(content.people)))
        for content in found
        if content.by_people and content.n_people > 1
    )


def consensus_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """How many speakers of a picture mention the same content, per category."""

    def cells(group: PairGroup) -> Iterator[Cells]:
        found = contents(group.pairs)
        speakers = {content.image: float(content.n_people) for content in found}
        for name in (ALL, *categories):
            counts = consensus_by_image([c for c in found if name in (ALL, c.category)])
            everything = [(image, n) for image, own in counts.items() for n in own]
            if counts:
                yield {
                    "category": name,
                    "n_images": len(counts),
                    "n": len(everything),
                    "speakers": float(np.mean([speakers[image] for image in counts])),
                    **estimate("consensus", [float(np.mean(own)) for own in counts.values()]),
                    **mean_cells("once", [(image, n == 1) for image, n in everything]),
                }

    return TABLES["consensus"].of(grouped(pairs, (sets,), cells))


def selectivity_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Share of what people say that no model mentions, and the reverse, per category."""
    table = TABLES["selectivity"]
    shares = [column.key for column in table.columns if column.interval]

    def cells(group: PairGroup) -> Iterator[Cells]:
        found = _images(group)
        for name in (ALL, *categories):
            own = [row for row in found if name in (ALL, row["category"])]
            if own:
                shown: Cells = {"category": name, "n": len(own)}
                for key in shares:
                    values = (row[key] for row in own)
                    shown |= estimate(key, [float(v) for v in values if v is not None])
                yield shown

    return table.of(grouped(pairs, (sets,), cells))


def image_table(pairs: Sequence[TextPair]) -> Table:
    """The pictures, starting with those of which people say most that no model mentions."""
    return TABLES["selectivity_images"].of(grouped(pairs, (sets,), _images))


def _images(group: PairGroup) -> list[Cells]:
    """Per picture, the share of people's contents that no model mentions, and the reverse."""
    pictures = by_key((content.image, content) for content in contents(group.pairs))
    rows: list[Cells] = []
    for image, found in pictures.items():
        n_people = sum(bool(content.people) for content in found)
        n_models = sum(bool(content.systems) for content in found)
        both = sum(bool(content.people and content.systems) for content in found)
        rows.append(
            {
                "image": image,
                "category": found[0].category,
                "n_people": found[0].n_people,
                "n_systems": found[0].n_systems,
                "people_contents": n_people,
                "model_contents": n_models,
                "both": both,
                "people_alone": (n_people - both) / n_people if n_people else None,
                "models_alone": (n_models - both) / n_models if n_models else None,
            }
        )
    return sorted(rows, key=lambda row: -float(row["people_alone"] or 0.0))


def content_table(pairs: Sequence[TextPair]) -> Table:
    """The contents that one side alone mentions, ranked by the share of that side."""
    return TABLES["selectivity_contents"].of(grouped(pairs, (sets,), _alone))


def _alone(group: PairGroup) -> Iterator[Cells]:
    alone = [c for c in contents(group.pairs) if not (c.people and c.systems)]
    for content in sorted(alone, key=lambda c: (-c.weight, not c.supported)):
        shown = {name: getattr(content, name) for name in _OF_CONTENT}
        counts = {name: len(shown[name]) for name in ("people", "systems")}
        yield {"side": "people" if content.people else "models", **shown, **counts}


def subject_table(pairs: Sequence[TextPair]) -> Table:
    """What units are about: in how many pictures people mention it, and models."""
    return TABLES["selectivity_subjects"].of(grouped(pairs, (sets,), _subjects), most=MAX_SUBJECTS)


def _subjects(group: PairGroup) -> Iterator[Cells]:
    shares, n_images = _mentions(group)
    totals = {
        name: [sum(side.get(name, {}).values()) for side in shares]
        for name in {**shares[0], **shares[1]}
    }
    ranked = sorted(totals, key=lambda name: (-abs(totals[name][0] - totals[name][1]), name))
    for name in ranked[:MAX_SUBJECTS]:
        ours, theirs = (side.get(name, {}) for side in shares)
        images = list(ours | theirs)
        gaps = [ours.get(image, 0.0) - theirs.get(image, 0.0) for image in images]
        gaps += [0.0] * (n_images - len(images))  # pictures if no one mentions it
        yield {
            "subject": name,
            "n": len(images),
            "n_images": n_images,
            "people": totals[name][0] / n_images,
            "models": totals[name][1] / n_images,
            **estimate("gap", gaps),
        }


def _mentions(group: PairGroup) -> tuple[tuple[_Shares, _Shares], int]:
    """Shares of people's texts and of systems that mention a subject; number of pictures."""
    shares: tuple[_Shares, _Shares] = ({}, {})
    n_images = 0
    for picture in by("image")(group):
        voices: dict[str, set[str]] = {}
        systems: dict[str, set[str]] = {}
        for pair in picture.pairs:
            for voice, text in enumerate(pair.references):
                facts = [fact for fact in pair.human_facts if fact.voice == voice]
                if facts:
                    voices.setdefault(text, {stem(fact.subject) for fact in facts})
            if pair.model_facts:
                found = {stem(fact.subject) for fact in pair.model_facts}
                systems.setdefault(pair.system, set()).update(found)
        if voices and systems:
            n_images += 1
            image = picture.pairs[0].image
            for side, texts in zip(shares, (voices, systems), strict=True):
                for subject in filter(None, chain.from_iterable(texts.values())):
                    side.setdefault(subject, defaultdict(float))[image] += 1 / len(texts)
    return shares, n_images


_Shares: TypeAlias = dict[str, dict[str, float]]
"""By subject and picture."""

"""Contents that people mention and models do not, the reverse, and consensus among people.

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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from statistics import fmean
from typing import Annotated, TypeAlias

from msgspec import Struct
from scipy.cluster.hierarchy import DisjointSet

from beholder.base.grouping import group_by_key
from beholder.kinds.bidirectional.pairs import (
    Category,
    Fact,
    Mean,
    PairGroup,
    Pairs,
    Pictures,
    TextPair,
    interval_heading,
    mean_of,
    mean_over_pictures,
    pair_table,
    sets,
    split_by,
)
from beholder.tables import Table, heading

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
        subject: Subject without number (``dog``); empty if no unit states it.
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
        """Return the difference of both shares, in 0..1, smoothed by half a text for and against.

        A content that the only person mentions ranks below one that all of five mention.
        """
        people = (len(self.people) + 0.5) / (self.n_people + 1)
        return abs(people - (len(self.systems) + 0.5) / (self.n_systems + 1))


def contents(pairs: Pairs) -> list[Content]:
    """Return the contents of each picture that has units of both sides.

    Args:
        pairs: Pairs of one data set and language.
    """
    all_contents: list[Content] = []
    for picture in split_by("image")(PairGroup(pairs)):
        units = _Units()
        for pair in picture.pairs:
            units.add(pair)
        if units.authors(PEOPLE) and units.authors(MODEL):
            all_contents += units.contents(picture.pairs[0])
    return all_contents


def stem(subject: str) -> str:
    """Return an identifier without the number of the individual: ``dog`` for ``dog_1``."""
    return (
        re.sub(r"[_\s]*\d+$", "", subject.strip()).replace("_", " ").casefold()
    )


@dataclass
class _Units:
    """Units about one picture and the links between them."""

    facts: dict[Node, Fact] = field(default_factory=dict)
    from_models: set[tuple[Node, Node]] = field(default_factory=set)
    from_people: set[tuple[Node, Node]] = field(default_factory=set)

    def authors(self, kind: str) -> frozenset[str]:
        """Return the people's texts, or the systems."""
        return frozenset(node[1] for node in self.facts if node[0] == kind)

    def add(self, pair: TextPair) -> None:
        """Add the units of one pair; units of a text that was added before stay."""
        if not pair.values:
            return
        # Nodes of people are named by their text: the same text is in the items of all systems.
        human = _human_nodes(pair)
        model = [
            (MODEL, pair.system, place)
            for place in range(len(pair.model_facts))
        ]
        for node, fact in zip(human, pair.human_facts, strict=True):
            self._add_fact(node, fact)
            self.from_people |= {
                (model[place], node) for place in fact.matches
            }
        for node, fact in zip(model, pair.model_facts, strict=True):
            self._add_fact(node, fact)
            self.from_models |= {
                (node, human[place]) for place in fact.matches
            }

    def _add_fact(self, node: Node, fact: Fact) -> None:
        earlier = self.facts.get(node)
        # The same unit can come from several items; a verified one says most.
        if earlier is None or (fact.verified and not earlier.verified):
            self.facts[node] = fact

    def _groups(self) -> list[list[Node]]:
        """Return the nodes that are the same content, in the order of their first nodes."""
        groups = DisjointSet(self.facts)
        # The symmetric part of both matchings, then units in the same words.
        for a, b in self.from_models & self.from_people:
            groups.merge(a, b)
        first: dict[tuple[str, ...], Node] = {}
        for node, fact in self.facts.items():
            words = tuple(_WORDS.findall(fact.text.casefold()))
            groups.merge(first.setdefault(words, node), node)
        by_content = group_by_key((groups[node], node) for node in self.facts)
        return list(by_content.values())

    def contents(self, picture: TextPair) -> Iterator[Content]:
        """Yield the merged units."""
        mentioned_with: dict[Node, list[Node]] = group_by_key(
            (node, linked_node)
            for pair in self.from_models | self.from_people
            for node, linked_node in (pair, pair[::-1])
        )
        # Shares are of all texts about the picture, also of those that mention nothing.
        n_people, n_systems = map(len, map(self.authors, (PEOPLE, MODEL)))
        # A text that was matched to a unit of a content mentions it without being part of it.
        for nodes in self._groups():
            linked_nodes = chain(
                nodes, *(mentioned_with.get(node, ()) for node in nodes)
            )
            authors = frozenset(node[:2] for node in linked_nodes)
            # A person's words come first, the shortest of them.
            nodes.sort(
                key=lambda node: (
                    node[0] != PEOPLE,
                    len(self.facts[node].text),
                )
            )
            facts = [self.facts[node] for node in nodes]
            verdicts = [fact.verified for fact in facts]
            subjects = (stem(fact.subject) for fact in facts if fact.subject)
            yield Content(
                image=picture.image,
                category=picture.category,
                text=facts[0].text,
                subject=next(subjects, ""),
                people=frozenset(n for kind, n in authors if kind == PEOPLE),
                systems=frozenset(n for kind, n in authors if kind == MODEL),
                n_people=n_people,
                n_systems=n_systems,
                by_people=nodes[0][0] == PEOPLE,
                supported=None if set(verdicts) == {None} else any(verdicts),
            )


def _human_nodes(pair: TextPair) -> list[Node]:
    """Return a node per unit of people: its text, and its index among the units of that text."""
    places: Counter[int] = Counter()
    nodes = []
    for fact in pair.human_facts:
        nodes.append((PEOPLE, pair.references[fact.voice], places[fact.voice]))
        places[fact.voice] += 1
    return nodes


ALL = "all"
MAX_SUBJECTS = 200
_MERGING = (
    "A person's and a model's unit are the same content when each was matched to the other, and so"
    " are units in the same words; people's units are merged through the models' units that equal"
    " both. No judge was asked again."
)


def consensus_by_image(
    picture_contents: Sequence[Content],
) -> dict[str, list[float]]:
    """Return, per picture with several speakers, how many mention each content of people."""
    return group_by_key(
        (content.image, float(len(content.people)))
        for content in picture_contents
        if content.by_people and content.n_people > 1
    )


class ConsensusRow(Struct, frozen=True):
    """Speakers who mention the same content of a picture, by category of pictures."""

    category: Category
    n_images: Pictures
    n: Annotated[int, heading("Contents", "count")]
    speakers: Annotated[float, heading("Speakers per picture", "tenths")]
    consensus: Annotated[Mean, interval_heading("Speakers per content")]
    once: Annotated[Mean, interval_heading("Said by one only", "percent")]


def consensus_table(pairs: Pairs, categories: Sequence[str]) -> Table:
    """Return how many speakers of a picture mention the same content, per category."""

    def consensus(group: PairGroup) -> Iterator[ConsensusRow]:
        all_contents = contents(group.pairs)
        for name in (ALL, *categories):
            in_category = [
                c for c in all_contents if name in (ALL, c.category)
            ]
            counts = consensus_by_image(in_category)
            # A category without a picture of several speakers has no row.
            if counts:
                speakers = {c.image: c.n_people for c in in_category}
                mentions = [
                    (i, n) for i, numbers in counts.items() for n in numbers
                ]
                yield ConsensusRow(
                    category=name,
                    n_images=len(counts),
                    n=len(mentions),
                    speakers=fmean(speakers[image] for image in counts),
                    consensus=mean_over_pictures(
                        [fmean(numbers) for numbers in counts.values()]
                    ),
                    once=mean_of([(image, n == 1) for image, n in mentions]),
                )

    return pair_table(
        "consensus",
        "Consensus of speakers",
        ConsensusRow,
        pairs,
        (sets,),
        consensus,
        [
            "Mean over the contents of a picture, then over pictures with several speakers.",
            _MERGING,
            "What no model says is merged across speakers by its words alone: a lower bound.",
        ],
    )


class SelectivityRow(Struct, frozen=True):
    """Means over the pictures of a category of what one side alone mentions."""

    category: Category
    n: Pictures
    people_alone: Annotated[
        Mean,
        interval_heading("Of people's contents, no model mentions", "percent"),
    ]
    models_alone: Annotated[
        Mean,
        interval_heading("Of models' contents, no person mentions", "percent"),
    ]
    people_contents: Annotated[
        Mean, interval_heading("Contents of people", "tenths")
    ]
    model_contents: Annotated[
        Mean, interval_heading("Contents of models", "tenths")
    ]


def selectivity_table(pairs: Pairs, categories: Sequence[str]) -> Table:
    """Return the share of what people say that no model mentions, and the reverse, per category."""

    def means(group: PairGroup) -> Iterator[SelectivityRow]:
        pictures = _images(group)
        for name in (ALL, *categories):
            in_category = [
                row for row in pictures if name in (ALL, row.category)
            ]
            if in_category:
                yield SelectivityRow(
                    category=name,
                    n=len(in_category),
                    people_alone=_mean_of_field(in_category, "people_alone"),
                    models_alone=_mean_of_field(in_category, "models_alone"),
                    people_contents=_mean_of_field(
                        in_category, "people_contents"
                    ),
                    model_contents=_mean_of_field(
                        in_category, "model_contents"
                    ),
                )

    return pair_table(
        "selectivity",
        "What one side says and the other does not",
        SelectivityRow,
        pairs,
        (sets,),
        means,
        [_MERGING, "Means over pictures; all texts about a picture together."],
    )


def _mean_of_field(rows: Sequence[ImageRow], name: str) -> Mean:
    values = (getattr(row, name) for row in rows)
    return mean_over_pictures([value for value in values if value is not None])


class ImageRow(Struct, frozen=True):
    """Contents of a picture that people and models mention."""

    image: Annotated[str, heading("Picture", "text")]
    category: Category
    n_people: Annotated[int, heading("People", "count")]
    n_systems: Annotated[int, heading("Systems", "count")]
    people_contents: Annotated[int, heading("Contents of people", "count")]
    model_contents: Annotated[int, heading("Contents of models", "count")]
    both: Annotated[int, heading("Both", "count")]
    people_alone: Annotated[
        float | None, heading("No model mentions", "percent")
    ]
    models_alone: Annotated[
        float | None, heading("No person mentions", "percent")
    ]


def image_table(pairs: Pairs) -> Table:
    """Return the pictures, starting with those of which people say most that models do not."""
    return pair_table(
        "selectivity_images",
        "Pictures by what people say and models do not",
        ImageRow,
        pairs,
        (sets,),
        _images,
    )


def _images(group: PairGroup) -> list[ImageRow]:
    """Return per picture the share of people's contents that no model mentions, and the reverse."""
    pictures = group_by_key(
        (content.image, content) for content in contents(group.pairs)
    )
    rows: list[ImageRow] = []
    for image, picture_contents in pictures.items():
        # Each content is mentioned by people, by models, or by both.
        sides = Counter(
            (bool(c.people), bool(c.systems)) for c in picture_contents
        )
        both, people, models = (
            sides[place]
            for place in ((True, True), (True, False), (False, True))
        )
        rows.append(
            ImageRow(
                image=image,
                category=picture_contents[0].category,
                n_people=picture_contents[0].n_people,
                n_systems=picture_contents[0].n_systems,
                people_contents=people + both,
                model_contents=models + both,
                both=both,
                people_alone=_share(people, people + both),
                models_alone=_share(models, models + both),
            )
        )
    return sorted(rows, key=lambda row: -(row.people_alone or 0.0))


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


class ContentRow(Struct, frozen=True):
    """A content of a picture that one side alone mentions."""

    side: Annotated[str, heading("Said by", "text")]
    text: Annotated[str, heading("Content", "text")]
    subject: Annotated[str, heading("About", "text")]
    image: Annotated[str, heading("Picture", "text")]
    category: Category
    people: Annotated[int, heading("People", "count")]
    n_people: Annotated[int, heading("of", "count")]
    systems: Annotated[int, heading("Systems", "count")]
    n_systems: Annotated[int, heading("of", "count")]
    supported: Annotated[bool | None, heading("Supported", "mark")]


def content_table(pairs: Pairs) -> Table:
    """Return the contents that one side alone mentions, ranked by the share of that side."""
    note = (
        "Ranked by the difference of the shares of both sides, each with half a text added for and"
        " half against, so that one of one ranks below five of five."
    )
    return pair_table(
        "selectivity_contents",
        "Contents that one side alone mentions",
        ContentRow,
        pairs,
        (sets,),
        _one_sided,
        [note],
    )


def _one_sided(group: PairGroup) -> Iterator[ContentRow]:
    # Of contents with equal weights those that a judge verified come first.
    one_sided = [
        c for c in contents(group.pairs) if not (c.people and c.systems)
    ]
    for content in sorted(
        one_sided, key=lambda c: (-c.weight, not c.supported)
    ):
        yield ContentRow(
            side="people" if content.people else "models",
            text=content.text,
            subject=content.subject,
            image=content.image,
            category=content.category,
            people=len(content.people),
            n_people=content.n_people,
            systems=len(content.systems),
            n_systems=content.n_systems,
            supported=content.supported,
        )


class SubjectRow(Struct, frozen=True):
    """A subject of units: the pictures in which people mention it, and models."""

    subject: Annotated[str, heading("Subject", "text")]
    n: Annotated[int, heading("Pictures with it", "count")]
    n_images: Pictures
    people: Annotated[float, heading("People", "percent", scale=(0.0, 1.0))]
    models: Annotated[float, heading("Models", "percent", scale=(0.0, 1.0))]
    gap: Annotated[Mean, interval_heading("People − models", "signed")]


def subject_table(pairs: Pairs) -> Table:
    """Return the subjects of units: in how many pictures people mention each, and models."""
    note = (
        "Share of the texts about a picture with a unit about the subject, averaged over all"
        " pictures. Subjects are the judge's identifiers as written; the"
        f" {MAX_SUBJECTS} with the widest gaps are shown, so some gaps are wide by chance: trust"
        " the intervals."
    )
    return pair_table(
        "selectivity_subjects",
        "What people mention and models do not, by subject",
        SubjectRow,
        pairs,
        (sets,),
        _subjects,
        [note],
    )


def _subjects(group: PairGroup) -> Iterator[SubjectRow]:
    # Per picture, the share of texts of each side with a unit about each subject; pictures without
    # texts of both sides are skipped. Subjects are then sorted by the gap of both sums.
    gaps: dict[str, list[tuple[bool, float]]] = {}
    totals: dict[str, Counter[str]] = {PEOPLE: Counter(), MODEL: Counter()}
    n_images = 0
    for picture in split_by("image")(group):
        subjects = _subjects_by_text(picture.pairs)
        # A picture that one side does not describe says nothing on what that side leaves out.
        if not all(subjects.values()):
            continue
        n_images += 1
        shares: dict[str, Counter[str]] = {}
        for side, texts in subjects.items():
            counts = Counter(chain.from_iterable(texts.values()))
            shares[side] = Counter(
                {name: n / len(texts) for name, n in counts.items() if name}
            )
            totals[side].update(shares[side])
        for name in shares[PEOPLE] | shares[MODEL]:
            gap = shares[PEOPLE][name] - shares[MODEL][name]
            gaps.setdefault(name, []).append((not shares[PEOPLE][name], gap))
    ranked = sorted(
        gaps,
        key=lambda name: (
            -abs(totals[PEOPLE][name] - totals[MODEL][name]),
            name,
        ),
    )
    for name in ranked[:MAX_SUBJECTS]:
        # Pictures in which people mention it come first, those in which no one does last.
        values = [gap for _, gap in sorted(gaps[name], key=itemgetter(0))]
        # Pictures in which no one mentions the subject have a gap of 0.
        values += [0.0] * (n_images - len(values))
        yield SubjectRow(
            subject=name,
            n=len(gaps[name]),
            n_images=n_images,
            people=totals[PEOPLE][name] / n_images,
            models=totals[MODEL][name] / n_images,
            gap=mean_over_pictures(values),
        )


def _subjects_by_text(
    pairs: Pairs,
) -> dict[str, dict[str, set[str]]]:
    """Return the subjects of each person's text and of each system, by side."""
    voices: dict[str, set[str]] = {}
    systems: dict[str, set[str]] = {}
    # A person's text is counted once, however many systems are paired with it.
    for pair in pairs:
        facts = group_by_key((fact.voice, fact) for fact in pair.human_facts)
        for voice, voice_facts in facts.items():
            subjects = {stem(fact.subject) for fact in voice_facts}
            voices.setdefault(pair.references[voice], subjects)
        if pair.model_facts:
            subjects = {stem(fact.subject) for fact in pair.model_facts}
            systems.setdefault(pair.system, set()).update(subjects)
    return {PEOPLE: voices, MODEL: systems}

"""A text as the built-in judge reads it: graph, units, words, and their vectors."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from beholder.base.grouping import group_by_key
from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.classes import (
    EXCLUDED,
    Values,
    exclude,
    is_teen,
    values,
    word_values,
)
from beholder.judges.builtin.lexis import word_likeness
from beholder.judges.builtin.predicates import BEING_THERE, Predicate, normal
from beholder.judges.builtin.vectors import vectors
from beholder.language import lemmas
from beholder.language.graph import SceneGraph
from beholder.language.lexicon import DIRECTING
from beholder.language.statements import GraphUnit, graph_units
from beholder.records import Span
from beholder.text import frequency
from beholder.text import words as word_spans
from beholder.text.layout import without_layout
from beholder.text.tokenize import lower_words

Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]
_FLOOR = 1e-9
_PLACED = re.compile(r"(?:across|along|at|in|near|on|over|to|with) ")
PARTS = frozenset(["depth", "side", "vertical"])
"""Classes of the parts of a picture or a thing: left, upper, front."""
_SENTENCE_END = re.compile(r"[.!?\n\u2029]")


@dataclass(slots=True)
class Property:
    """A property of one entity in a text: an attribute, a modifier in its name, or an action.

    Attributes:
        entity: The entity.
        text: As written.
        value: In base form.
        spans: Its characters.
        polarity: False if the text denies it.
        derived: Whether it follows from a relation, and so excludes nothing.
        quantity: Whether it says how many there are.
    """

    entity: int
    text: str
    value: str
    spans: tuple[Span, ...]
    polarity: bool = True
    derived: bool = False
    quantity: bool = False


class AnalysedText:
    """One text, ready to be aligned with others.

    Attributes:
        graph: Its scene graph.
        units: The graph's units.
        plain: The text without its layout; a place in it is the same place in the text.
    """

    def __init__(self, graph: SceneGraph) -> None:
        self.graph = graph
        self.plain = without_layout(graph.text)
        self.units: tuple[GraphUnit, ...] = graph_units(graph)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words of the text, lower case."""
        return tuple(lower_words(self.plain))

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """Return the first characters of the words and the characters after their last."""
        spans = word_spans(self.plain)
        return [start for start, _ in spans], [end for _, end in spans]

    def is_state(self, unit: GraphUnit) -> bool:
        """Return whether an attribute is an action or posture ("sleeps"), not a quality."""
        return ("state", unit.subject, unit.value) in self._kinds

    def says_little(self, unit: GraphUnit) -> bool:
        """Return whether an attribute only locates a thing: "sits", "on the left"."""
        there = unit.value in BEING_THERE and not unit.text.lower().endswith(
            "ing"
        )
        where = not PARTS.isdisjoint(name for name, _ in values(unit.value))
        return (
            there
            or where
            or ("position", unit.subject, unit.value) in self._kinds
        )

    @cached_property
    def _kinds(self) -> set[tuple[str, int, str]]:
        """The kinds of attributes that are no qualities, each with the entity and the value."""
        attributes = self.graph.attributes
        return {
            (a.kind, a.entity, a.value)
            for a in attributes
            if a.kind != "quality"
        }

    def at(self, span: Span) -> Span:
        """The words that lie in a range of characters, as first and one past the last."""
        starts, ends = self.places
        first = bisect_right(ends, span[0])
        return first, bisect_left(starts, span[1], first)

    @cached_property
    def sentences(self) -> list[int]:
        """(words,), the sentence of each word; cut at marks only, for both texts alike."""
        text, sentence_of_word, number = self.plain, [], 0
        starts, ends = self.places
        # A blank between two words is the usual case and never ends a
        # sentence; testing it first saves most of the searches.
        for before, start in zip((*starts[:1], *ends), starts, strict=False):
            if text[before:start] != " " and _SENTENCE_END.search(
                text, before, start
            ):
                number += 1
            sentence_of_word.append(number)
        return sentence_of_word

    @cached_property
    def sentence_texts(self) -> list[str]:
        """The sentences that have words, without layout; numbered as in ``sentences``."""
        text, cuts = self.plain, [0]
        starts, ends = self.places
        for number, end, start in zip(
            self.sentences[1:], ends[:-1], starts[1:], strict=True
        ):
            if number == len(cuts):
                mark = _SENTENCE_END.search(text, end, start)
                cuts.append(mark.end() if mark else start)
        cuts.append(len(text))
        return [" ".join(text[a:b].split()) for a, b in pairwise(cuts)]

    @cached_property
    def mentions(self) -> list[tuple[Span, ...]]:
        """Per entity, the words of its mentions."""
        places = (
            (self.at(m.span) for m in e.mentions) for e in self.graph.entities
        )
        return [tuple((a, b) for a, b in spans if a < b) for spans in places]

    @cached_property
    def named_at(self) -> dict[int, int]:
        """The entity whose mention ends at a word, by word."""
        entities = self.graph.entities
        places = (
            (self.at(m.span), e.index) for e in entities for m in e.mentions
        )
        return {
            last - 1: index for (first, last), index in places if first < last
        }

    @cached_property
    def word_vectors(self) -> FloatArray:
        """(words, D)."""
        return vectors(self.words)

    @cached_property
    def word_values(self) -> list[tuple[int, Values]]:
        """The words that are in a class, by their place."""
        return word_values(self.words)

    @cached_property
    def unit_words(self) -> tuple[tuple[str, ...], Ints]:
        """The words of all units, in the form they are in, and for each word its unit."""
        entities = self.graph.entities
        written = [
            _words(
                entities[unit.subject].mentions[0].text
                if unit.kind == "entity"
                else unit.text
            )
            for unit in self.units
        ]
        owners = np.repeat(
            np.arange(len(written)), [len(words) for words in written]
        )
        return tuple(chain.from_iterable(written)), owners

    @cached_property
    def word_weights(self) -> FloatArray:
        """(words,), the weight of each."""
        return np.array(frequency.weights(self.words))

    @cached_property
    def unit_word_weights(self) -> FloatArray:
        """(unit words,), the weight of each."""
        return np.array(frequency.weights(self.unit_words[0])) + _FLOOR

    @cached_property
    def names(self) -> FloatArray:
        """(entities, D), vectors of whole names."""
        return vectors([entity.name.lower() for entity in self.graph.entities])

    @cached_property
    def heads(self) -> FloatArray:
        """(entities, D), vectors of the last words of names."""
        return vectors([entity.head.lower() for entity in self.graph.entities])

    @cached_property
    def head_values(self) -> list[tuple[int, Values]]:
        """The heads that are in a class, by entity."""
        head_classes = (
            (e.index, values(e.head.lower())) for e in self.graph.entities
        )
        return [(place, classes) for place, classes in head_classes if classes]

    @cached_property
    def properties(self) -> tuple[Property, ...]:
        """All properties of single entities."""
        # Plan: what attributes say comes first, in the order of the units,
        # since callers index the first rows by attribute. Then what verbs say,
        # what "of" and "in front of" imply, and last the names of the entities
        # themselves.
        properties = [
            Property(
                u.subject,
                u.text,
                u.value,
                u.spans,
                u.polarity,
                quantity=u.quantity,
            )
            for u in self.units
            if u.kind == "attribute"
        ]
        properties += [
            Property(
                u.subject, u.text, u.value.split()[0], u.spans, u.polarity
            )
            for u in self.units
            if u.kind == "relation" and u.verb
        ]
        # "The handle of the cup": being of a cup describes the handle. "In
        # front of" puts one end in the foreground and the other in the
        # background.
        for _, unit, predicate in self.relations:
            if (
                predicate.place == "of"
                and not predicate.verb
                and unit.object is not None
            ):
                part, whole = (unit.subject, unit.object)[
                    :: -1 if predicate.place_turned else 1
                ]
                name = self.graph.entities[whole].name
                properties.append(
                    Property(
                        part,
                        name,
                        name,
                        unit.spans,
                        unit.polarity,
                        derived=True,
                    )
                )
            if (
                predicate.place == "in front of"
                and unit.polarity
                and unit.object is not None
            ):
                first, last = ("background", "foreground")[
                    :: -1 if not predicate.place_turned else 1
                ]
                properties += [
                    Property(
                        end,
                        unit.text,
                        f"in the {where}",
                        unit.spans,
                        derived=True,
                    )
                    for end, where in (
                        (unit.subject, first),
                        (unit.object, last),
                    )
                ]
        # A text may say as a name what the other says as an attribute: "a
        # wooden table", "a table made of wood".
        for entity in self.graph.entities:
            first_time = entity.mentions[0]
            properties.append(
                Property(
                    entity.index,
                    first_time.text,
                    entity.name.lower(),
                    (first_time.span,),
                )
            )
        return tuple(properties)

    @cached_property
    def property_vectors(self) -> FloatArray:
        """(properties, D)."""
        return vectors(
            [property_.value.lower() for property_ in self.properties]
        )

    @cached_property
    def property_owners(self) -> Ints:
        """(properties,), the entity of each."""
        return np.array(
            [property_.entity for property_ in self.properties], np.intp
        )

    @cached_property
    def property_values(self) -> list[tuple[int, Values]]:
        """The properties that are in a class, by their place."""
        rows = []
        for place, property_ in enumerate(self.properties):
            value = property_.value.lower()
            classes = frozenset() if property_.derived else values(value)
            # Where something comes from or turns to is no place that excludes where it is.
            if not classes or value.startswith(("from ", "toward")):
                continue
            # After a preposition of place only places count: "on the red
            # chair" does not make a thing red.
            classes = _of_place(classes) if _PLACED.match(value) else classes
            first = property_.text.lower().split()[:1]
            if first and lemmas.verb(first[0]) in DIRECTING:
                classes = _of_direction(classes)
            rows.append((place, classes))
        return [(place, classes) for place, classes in rows if classes]

    @cached_property
    def values_at(self) -> dict[int, Values]:
        """Map the index of each property that is in a class to its classes."""
        return dict(self.property_values)

    @cached_property
    def sentences_of(self) -> list[frozenset[int]]:
        """The parsed sentences that name each entity."""
        return [
            frozenset(m.sentence for m in e.mentions)
            for e in self.graph.entities
        ]

    @cached_property
    def values_of(self) -> list[Sequence[Values]]:
        """List for each entity the classes of its properties, one set per property."""
        classes_by_entity = group_by_key(
            (self.properties[place].entity, v)
            for place, v in self.property_values
        )
        return [
            classes_by_entity.get(entity.index, ())
            for entity in self.graph.entities
        ]

    @cached_property
    def youths(self) -> frozenset[int]:
        """Entities between child and adult: young men and women, teenagers, who is 13 to 25."""
        grown = {
            i
            for i, value in self.head_values
            if not value.isdisjoint(values("adult"))
        }
        return frozenset(
            i
            for i, classes in enumerate(self.values_of)
            if any(
                is_teen(value) or (i in grown and values("young") <= value)
                for value in classes
            )
        )

    @cached_property
    def relations(self) -> tuple[tuple[int, GraphUnit, Predicate], ...]:
        """Units that are relations, with place and normal form."""
        return tuple(
            (
                place,
                unit,
                normal(
                    unit.value, unit.verb, unit.passive or _undergoes(unit)
                ),
            )
            for place, unit in enumerate(self.units)
            if unit.kind == "relation"
        )

    @cached_property
    def relation_ends(self) -> Ints:
        """(2, relations), the subjects and the objects."""
        ends = [(unit.subject, unit.object) for _, unit, _ in self.relations]
        return np.array(ends, np.intp).reshape(-1, 2).T

    @cached_property
    def verb_vectors(self) -> FloatArray:
        """(relations, D), of verbs in base form; zero where a relation has none."""
        return vectors([predicate.verb for _, _, predicate in self.relations])

    @cached_property
    def verbs_written(self) -> list[str]:
        """(relations,), verbs in the form they are in; empty where a relation has none."""
        return [
            unit.text.lower().split()[0] if predicate.verb else ""
            for _, unit, predicate in self.relations
        ]


@lru_cache(maxsize=1)  # several parts of the judge ask for the same pair
def verb_similarity(source: AnalysedText, target: AnalysedText) -> FloatArray:
    """(relations, relations), 0..1: by base forms, or by the forms in the texts where nearer.

    "Located" and "situated" share a sense and a context that "locate" and "situate" do not.
    """
    base = cosines(source.verb_vectors, target.verb_vectors)
    if not base.size:
        return base
    return np.maximum(
        base, word_likeness(source.verbs_written, target.verbs_written)
    )


def lower_excluded(
    similarity: FloatArray,
    rows: Sequence[tuple[int, Values]],
    columns: Sequence[tuple[int, Values]],
) -> list[tuple[int, int]]:
    """Lower the similarity of values that exclude each other, in place.

    Static vectors put "red" beside "blue": they are in like sentences.

    Returns:
        The pairs that exclude each other.
    """
    # Only pairs that share a class can exclude each other, so columns are
    # looked up by class; most values are in none.
    by_class = group_by_key(
        (name, (j, b)) for j, b in columns for name, _ in b
    )
    excluded = {}
    for a in {a for _, a in rows}:
        of_one_class = {
            column for name, _ in a for column in by_class.get(name, ())
        }
        excluded[a] = [j for j, b in sorted(of_one_class) if exclude(a, b)]
    pairs = [(i, j) for i, a in rows for j in excluded[a]]
    for i, j in pairs:
        similarity[i, j] *= EXCLUDED
    return pairs


def _undergoes(unit: GraphUnit) -> bool:
    """Return whether a relation reads like "brightened by", however it was parsed."""
    words = unit.text.lower().split()
    return (
        unit.verb
        and len(words) == 2
        and words[1] == "by"
        and words[0].endswith("ed")
    )


def _words(value: str) -> list[str]:
    return lower_words(value) or re.findall(r"\S+", value.lower())


def _of_place(classes: Values) -> Values:
    """Return only classes of places: "on an orange background" is no statement about colour."""
    return frozenset(
        (name, line)
        for name, line in classes
        if name in PARTS or name == "place"
    )


def _of_direction(classes: Values) -> Values:
    """Rename classes of place to directions ("side": "to the side"), which exclude no location."""
    return frozenset(
        (f"to the {name}" if name in PARTS else name, line)
        for name, line in classes
    )

"""CHAIR: which objects does a description name that the picture does not have?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

import msgspec

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges.builtin.lexis import Tie, named_apart, tie
from beholder.language.graph import Mention, SceneGraph
from beholder.language.lemmas import noun
from beholder.language.lexicon import (
    FEMALE,
    HYPERNYMS,
    MALE,
    PEOPLE,
    PERSONAL,
    SELECTORS,
)
from beholder.language.reading import GraphReader, english_graphs_together
from beholder.language.statements import graph_units
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore, Span, Unit
from beholder.text.kinds import is_kind, parents, parts_of_speech, senses
from beholder.text.synonyms import are_synonyms

Names: TypeAlias = tuple[str, ...]
"""One object under all its names."""

_OWN_KINDS = {
    "hot dog": "sausage", "teddy bear": "toy", "stuffed animal": "toy", "stuffed bear": "toy",
    "sea lion": "seal", "prairie dog": "marmot", "guinea pig": "hamster",
}  # fmt: skip
"""Names that are not a kind of their last word (a hot dog is no dog), each with a stand-in."""


@dataclass(frozen=True, slots=True)
class NamedObject:
    """An object of a text.

    Attributes:
        name: Its name in base form.
        mentions: Mentions by a noun, in order; never empty.
    """

    name: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class ObjectEvidence:
    """The objects of an item.

    Attributes:
        candidate: Objects that the candidate names.
        references: Objects that each reference names.
        listed_objects: Objects of the row field ``objects``.
    """

    candidate: Sequence[NamedObject]
    references: Sequence[Sequence[NamedObject]]
    listed_objects: Sequence[Names]


@dataclass(frozen=True)
class CHAIR(Metric[ObjectEvidence]):
    """CHAIR: the share of named objects that are neither in the references nor in a given list.

    An object is a noun of the candidate that names a thing; each mention by a noun counts.
    Pronouns, things that the text denies, moods, and words for the picture itself are no objects.
    The row field ``objects`` lists what the picture shows: a list of names, or of lists of
    synonyms. A mention is supported if a name of that list or an object of any reference is the
    same (by name or synonym), a kind of it (``dog`` for ``animal``), or what it is a kind of
    (``person`` for ``man``). Two names that both say which of their kind is meant must agree in
    that (``stop sign``, ``street sign``).

    ``chair_i`` is the share of mentions without support, ``chair_s`` is 1 if there is one, else 0.
    ``recall`` is the share of listed objects (without a list: of distinct objects of the
    references) that the candidate names under this, or a more specific, name. Range 0..1; for
    ``chair_i`` and ``chair_s`` lower is better. ``corpus_chair_i`` is CHAIR_i as papers report it
    (0 if no text names an object).

    A candidate that names no object has no ``chair_i``, and ``detail["flags"]`` says so. An item
    without a list needs references that name an object. No model is needed. English only.

    Source: after Rohrbach et al. 2018 (Object Hallucination in Image Captioning), who count the 80
    kinds of COCO alone; here every named thing counts.
    """

    parser: str = param(
        "builtin", "English parser: builtin or spacy:NAME", tool="parser"
    )

    registered_name = "chair"
    required_fields = frozenset()
    bounds = Bounds(characters=100_000, compares="names")
    values = (
        ValueInfo(
            "chair_i",
            "share of named objects without support",
            higher_is_better=False,
        ),
        ValueInfo(
            "chair_s",
            "1 if a named object has no support, else 0",
            higher_is_better=False,
        ),
        ValueInfo(
            "recall",
            "share of the listed objects, or the references', that are named",
        ),
        ValueInfo(
            "objects",
            "named objects of the candidate",
            high=1e9,
            higher_is_better=None,
        ),
    )
    corpus_values = (
        ValueInfo(
            "corpus_chair_i",
            "chair_i of all texts together",
            higher_is_better=False,
        ),
    )

    def check_item(self, item: Item) -> None:
        """Refuse an item with neither references nor objects.

        Raises:
            ItemError: Both are missing, or the field ``objects`` has another form.
        """
        super().check_item(item)
        if not given_objects(item) and not item.references:
            raise ItemError(
                "chair needs references or objects, and this item has neither"
            )

    async def gather(self, item: Item, tools: Tools) -> ObjectEvidence:
        """Find the objects of all texts.

        Raises:
            ItemError: A text is not English, or the references name nothing and no list is given.
        """
        texts = (item.candidate, *item.references)
        graphs = await english_graphs_together(
            texts, GraphReader(parser=self.parser)
        )
        candidate, *references = map(named_objects, graphs)
        listed_objects = given_objects(item)
        sizes = [len(listed_objects), *map(len, references)]
        if not any(sizes):
            raise ItemError(
                "no object was found in the references: there are none to compare"
            )
        self.bounds.check_pairs(
            max(len(candidate), sum(sizes)), sizes, self.registered_name
        )
        return ObjectEvidence(candidate, references, listed_objects)

    def score_item(self, item: Item, evidence: ObjectEvidence) -> ItemScore:
        """Compare the names and count those without support."""
        candidate_names = dict.fromkeys(
            named_object.name for named_object in evidence.candidate
        )
        units = _candidate_units(evidence)
        n_wrong = sum(unit.verdict == "unstated" for unit in units)
        values = {"chair_s": float(n_wrong > 0), "objects": float(len(units))}
        detail: dict[str, Any] = {"statistics": [n_wrong, len(units)]}
        if units:
            values["chair_i"] = n_wrong / len(units)
        # A share of no objects is not defined; 0 would praise a text that
        # names nothing.
        else:
            detail["flags"] = [
                "the candidate names no object: chair_i is not defined"
            ]
        # Recall counts listed objects if a row has a list, else those of the
        # references.
        if evidence.listed_objects:
            hits = [
                _is_named(names, candidate_names)
                for names in evidence.listed_objects
            ]
            detail["missing"] = [
                n[0]
                for n in evidence.listed_objects
                if not _is_named(n, candidate_names)
            ]
        else:
            units += _reference_units(evidence, candidate_names)
            hits = [
                unit.verdict == "match"
                for unit in units
                if unit.side == "reference"
            ]
        values["recall"] = sum(hits) / len(hits)
        stated = {
            value.name: values[value.name]
            for value in self.values
            if value.name in values
        }
        return ItemScore(stated, tuple(units), detail=detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return the share of objects without support among all named objects."""
        n_wrong, n_named = statistics
        return {"corpus_chair_i": float(n_wrong / max(n_named, 1))}


def given_objects(item: Item) -> list[Names]:
    """Return the row field ``objects``: each object under its names; empty if the row has none.

    Raises:
        ItemError: The field has another form.
    """
    try:
        entries = msgspec.convert(
            item.meta.get("objects") or [], list[str | list[str]]
        )
        objects = [
            (entry,) if isinstance(entry, str) else tuple(entry)
            for entry in entries
        ]
        # An empty name would be a synonym of nothing, and is most likely a broken cell.
        for place, names in enumerate(objects):
            if not names or not all(map(str.strip, names)):
                raise msgspec.ValidationError(
                    f"an object without a name - at `$[{place}]`"
                )
    except msgspec.ValidationError as error:
        raise ItemError(
            f"objects: {error}; expected a list of names, or of lists of synonyms, such as"
            " ['dog', ['couch', 'sofa']]"
        ) from None
    return objects


def named_objects(graph: SceneGraph) -> list[NamedObject]:
    """Return the objects that nouns of a text name, in order; without those it denies."""
    objects = []
    for unit in graph_units(graph):
        if unit.kind == "entity" and unit.asked and unit.polarity:
            mentions = graph.entities[unit.subject].mentions
            nouns = tuple(
                m
                for m in mentions
                if m.text.lower() not in PERSONAL | SELECTORS
            )
            if nouns:
                # "hot dog" is one name, though the graph has it as a dog that
                # is hot.
                before = graph.text[: nouns[0].span[0]].split()[-1:]
                name = " ".join((*before, noun(nouns[0].text))).lower()
                objects.append(
                    NamedObject(
                        name if name in _OWN_KINDS else unit.value, nouns
                    )
                )
    return objects


@lru_cache(maxsize=1 << 17)
def object_tie(query_name: str, text_name: str) -> Tie:
    """Return how the names of two objects relate; see ``Tie``.

    Args:
        query_name: One or more words, the last names the kind.
        text_name: Likewise.
    """
    # Compared in this order: equal words, names that exclude each other,
    # WordNet, our own hypernyms, and last synonyms.
    first, second = (
        _words(_OWN_KINDS.get(name, name)) for name in (query_name, text_name)
    )
    if "".join(first) == "".join(second):
        return "same"
    if named_apart(" ".join(first), " ".join(second)):
        return ""
    a, b = first[-1], second[-1]
    if a == b:
        return "same"
    # WordNet has senses such as "chair" for a person who chairs.
    if _is_person(a) != _is_person(b):
        return ""
    a_placed, b_placed = _placed_word(a), _placed_word(b)
    relation = tie(a_placed, b_placed)
    # Near kinds of one object: a puppy may be called a dog.
    if relation == "less" and tie(b_placed, a_placed) == "same":
        relation = "same"
    if relation in ("", "other") and b in HYPERNYMS.get(a, ()):
        return "more"
    if relation in ("", "other") and a in HYPERNYMS.get(b, ()):
        return "less"
    # Of a word outside WordNet nothing is known but that it may be the other.
    if _is_unplaced(a):
        if _is_unplaced(b):
            return ""
        return "less" if relation in ("same", "more") else relation
    if _is_unplaced(b) and relation == "same":
        return "more"
    return relation or ("same" if are_synonyms(a, b) else "")


@lru_cache(maxsize=1 << 15)
def _words(name: str) -> Names:
    """Return the lower-case words of a name, the last in base form."""
    *first, last = re.findall(r"[^\s_-]+", name.lower()) or [name]
    return (*first, last if "n" in parts_of_speech(last) else noun(last))


@lru_cache(maxsize=1 << 15)
def _placed_word(word: str) -> str:
    """Return a word; for people outside WordNet the sex or "person": skier, crowd."""
    if word not in PEOPLE or is_kind(word, "person"):
        return word
    if word in MALE:
        return "man"
    return "woman" if word in FEMALE else "person"


def _is_unplaced(word: str) -> bool:
    """Return whether a word names people that WordNet does not have: skier, but not crowd."""
    return _placed_word(word) != word and "n" not in parts_of_speech(word)


@lru_cache(maxsize=1 << 14)
def _is_person(word: str) -> bool:
    # All senses must be people: a chair is a seat as well.
    noun_senses = senses(word, "n")
    return word in PEOPLE or (
        bool(noun_senses) and all(map(_is_human, noun_senses))
    )


@cache
def _is_human(sense: int) -> bool:
    return sense in senses("person", "n") or any(
        map(_is_human, parents(sense))
    )


def _is_named(names: Iterable[str], text_names: Iterable[str]) -> bool:
    """Return whether a text names an object, by this name or a more specific one."""
    return any(
        object_tie(name, text_name) in ("same", "more")
        for name in names
        for text_name in text_names
    )


def _candidate_units(evidence: ObjectEvidence) -> list[Unit]:
    """Return one unit for each mention of an object."""
    known_names = dict.fromkeys(
        name for names in evidence.listed_objects for name in names
    )
    known_names |= dict.fromkeys(
        named_object.name
        for objects in evidence.references
        for named_object in objects
    )
    units = []
    for named_object in evidence.candidate:
        # An equal name is the quick and common case; ties are looked up for
        # all others.
        support = (
            named_object.name
            if named_object.name in known_names
            else _support(named_object.name, tuple(known_names))
        )
        score, verdict = (1.0, "match") if support else (0.0, "unstated")
        detail = {"support": support} if support else {}
        units += [
            Unit(
                "entity",
                at.text,
                "candidate",
                (at.span,),
                score,
                verdict,
                None,
                detail,
            )
            for at in named_object.mentions
        ]
    return sorted(units, key=lambda unit: unit.spans)


def _support(name: str, names: Sequence[str]) -> str | None:
    """Return the nearest of the names that support this one; None if there is none."""
    # Reversed, so that of several names with one tie the first is kept.
    ties = {
        object_tie(name, known_name): known_name
        for known_name in reversed(names)
    }
    return ties.get("same") or ties.get("more") or ties.get("less")


def _reference_units(
    evidence: ObjectEvidence, text_names: Iterable[str]
) -> list[Unit]:
    """Return one unit for each distinct object of the references, at its first reference."""
    by_name: dict[str, list[tuple[int, Span, str]]] = defaultdict(list)
    for place, objects in enumerate(evidence.references):
        for named_object in objects:
            by_name[named_object.name] += [
                (place, mention.span, named_object.name)
                for mention in named_object.mentions
            ]
    # Names are grouped if each is the same object as all others: synonyms
    # count once.
    groups: list[list[str]] = []
    for name in sorted(by_name):
        for group in groups:
            if all(object_tie(name, member) == "same" for member in group):
                group.append(name)
                break
        else:
            groups.append([name])
    units = []
    for group in groups:
        mentions = sorted(
            mention for name in group for mention in by_name[name]
        )
        place, _, name = mentions[0]
        spans = tuple(span for index, span, _ in mentions if index == place)
        score, verdict = (
            (1.0, "match")
            if _is_named(group, text_names)
            else (0.0, "omission")
        )
        units.append(
            Unit("entity", name, "reference", spans, score, verdict, place)
        )
    return sorted(units, key=lambda unit: (unit.reference_index, unit.spans))

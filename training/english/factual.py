"""FACTUAL captions with their gold graphs."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path

from beholder.language import lemmas
from beholder.language.graph import Attribute, Entity, Relation, SceneGraph
from beholder.language.lexicon import ANIMALS, MATERIALS, NUMBER_WORDS, PEOPLE
from beholder.text.word_lists import parse

Triple = tuple[str, str, str]

_TRIPLE = re.compile(r"\(\s*(.*?)\s*\)(?=\s*,\s*\(|\s*$)")


@dataclass(frozen=True)
class Caption:
    """A caption and its graph as (subject, relation, object); "is" marks an attribute."""

    text: str
    triples: tuple[Triple, ...]


def read_captions(path: Path) -> list[Caption]:
    """All captions of a ``.csv.gz`` file with the columns ``caption`` and ``scene_graph``."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [
            Caption(row["caption"].strip(), _triples(row["scene_graph"]))
            for row in csv.DictReader(io.StringIO(file.read()))
        ]


def _triples(graph: str) -> tuple[Triple, ...]:
    triples = []
    for match in _TRIPLE.finditer(graph.strip()):
        parts = [part.strip() for part in match.group(1).split(" , ")]
        if len(parts) == 3 and all(parts):
            triples.append((parts[0], parts[1], parts[2]))
        elif len(parts) == 1 and parts[0]:
            triples.append((parts[0], "", ""))
    return tuple(triples)


Tuples = frozenset[tuple[str, ...]]
"""Objects (o,), attributes (o, a) and relations (s, r, o), lemmatised."""


def gold_tuples(caption: Caption) -> Tuples:
    """Return the gold graph as tuples of base forms."""
    tuples_of_caption: set[tuple[str, ...]] = set()
    for subject, relation, target in caption.triples:
        owner = base(subject)
        tuples_of_caption.add((owner,))
        if relation in ("is", "are"):
            tuples_of_caption.add((owner, base(target)))
        elif relation:
            tuples_of_caption |= {
                (base(target),),
                (owner, base_relation(relation), base(target)),
            }
    return frozenset(tuples_of_caption)


_WORDS = parse(
    Path(__file__).with_name("factual.txt").read_text(encoding="utf-8")
)
CLOTHES = frozenset(" ".join(_WORDS["clothes"]).split())
LOOSE = frozenset(" ".join(_WORDS["loose"]).split())
"""First words that FACTUAL cuts off a compound as an attribute."""
SIDED = frozenset(" ".join(_WORDS["sided"]).split())
"""Parts of the body whose side belongs to their name: "left hand"."""
BODY = frozenset(" ".join(_WORDS["body"]).split())
"""Parts that one has, also where the caption says "with"."""
HOLDERS, BEARERS, FULL, PORTIONS = (
    frozenset(" ".join(_WORDS[name]).split())
    for name in ("holders", "bearers", "full of", "portions")
)
"""What "of" means after it: wine in a glass, food on a plate, a bowl that has fruit."""
JOINED = frozenset(" ".join(_WORDS["joined"]).split())
"""First words that FACTUAL writes together with the second: "cellphone"."""
NAMES = dict(line.split(" = ") for line in _WORDS["names"])
WORDS = dict(line.split(" = ") for line in _WORDS["relation words"])
RELATIONS = dict(line.split(" = ") for line in _WORDS["relations"])


def graph_tuples(graph: SceneGraph) -> Tuples:
    """Return a scene graph in the conventions of FACTUAL, as its train split shows them.

    FACTUAL writes numbers as attributes in digits, clothes as worn, an agent as the subject of an
    active verb, and leaves out denied facts and kinds. ``factual.txt`` lists the words it changes.
    """
    tuples_of_graph: set[tuple[str, ...]] = set()
    names = {}
    for entity in graph.entities:
        if entity.kind == "thing" and entity.polarity:
            sides = {a.value for a in graph.attributes_of(entity.index)} & {
                "left",
                "right",
            }
            names[entity.index], tuples = _object(
                entity, min(sides, default="")
            )
            tuples_of_graph |= tuples
    for attribute in graph.attributes:
        if attribute.polarity and attribute.entity in names:
            tuples_of_graph |= _attribute(attribute, names[attribute.entity])
    joined = {
        (r.subject, r.object)
        for r in graph.relations
        if r.kind != "possessive"
    }
    acts = {
        (r.subject, r.spans[0][0])
        for r in graph.relations
        if r.rule == "verb" and r.spans
    }
    for relation in graph.relations:
        if _has(relation) and (relation.object, relation.subject) in joined:
            continue  # "the plate has fruit on it": the fruit is on the plate
        if (
            relation.kind == "possessive"
            and (relation.subject, relation.object) in joined
        ):
            continue  # "swings his bat": the verb is enough
        if (
            relation.polarity
            and relation.subject in names
            and relation.object in names
        ):
            with_object = (
                bool(relation.spans)
                and (relation.subject, relation.spans[0][0]) in acts
            )
            tuples_of_graph.add(
                _relation(
                    relation,
                    names[relation.subject],
                    names[relation.object],
                    with_object,
                )
            )
    return frozenset(tuples_of_graph)


def _object(entity: Entity, side: str) -> tuple[str, set[tuple[str, ...]]]:
    """Return the name of an entity, and what its name and number say."""
    first, _, other_words = entity.name.partition(" ")
    name = base(other_words if other_words and first in LOOSE else entity.name)
    if entity.plural and name == "person":
        name = "people"
    if other_words and first in JOINED:
        name = base(first + other_words)
    if side and name in SIDED:
        name = f"{side} {name}"
    tuples_of_name: set[tuple[str, ...]] = {(name,)}
    if other_words and first in LOOSE:
        tuples_of_name.add((name, first))
    if other_words and first in PEOPLE | ANIMALS and " " not in other_words:
        owner, name = base(first), base(other_words)
        tuples_of_name = {(name,), (owner,), (owner, "have", name)}
    for word in (entity.quantity or "").split():
        number = NUMBER_WORDS.get(word)
        if word in PORTIONS:
            tuples_of_name.add((name, word))
        elif word == "group":
            tuples_of_name.add((name, "group of"))
        elif number is not None and number > 1:
            tuples_of_name.add((name, str(number)))
        elif word.isdigit():
            tuples_of_name.add((name, word))
    return name, tuples_of_name


def _attribute(attribute: Attribute, name: str) -> set[tuple[str, ...]]:
    if attribute.kind == "kind" and attribute.value not in MATERIALS:
        return set()
    if attribute.kind == "position":
        preposition, _, place = base_relation(attribute.text).partition(" ")
        if place in ("background", "foreground"):
            return {(place,), (name, preposition, place)}
        return (
            {(name, attribute.text)}
            if place in ("left", "right", "distance")
            else set()
        )
    if attribute.kind == "state":
        return {(name, attribute.text)}
    value = {"wood": "wooden"}.get(attribute.value, base(attribute.value))
    if value in ("visible", "colored") or value in name.split():
        return set()
    return {(name, value)}


def _relation(
    relation: Relation, subject: str, target: str, with_object: bool
) -> tuple[str, ...]:
    predicate = base_relation(relation.predicate)
    if relation.rule == "verb place" and with_object:
        predicate = predicate.split()[
            -1
        ]  # "holds an umbrella in the rain": he is in the rain
    predicate = RELATIONS.get(predicate, predicate)
    if predicate == "of":
        return _of(subject, target)
    if predicate == "with" and target in BODY:
        return subject, "have", target
    if predicate in ("in", "dress in") and target.split()[-1] in CLOTHES:
        return subject, "wear", target
    if relation.passive and predicate.endswith(" by"):
        return target, predicate.removesuffix(" by"), subject
    if predicate in ("cover in", "cover with", "surround with"):
        return target, predicate.split()[0], subject
    return subject, predicate, target


def _has(relation: Relation) -> bool:
    return relation.predicate in ("have", "with")


def _of(owner: str, content: str) -> tuple[str, ...]:
    """Read "X of Y": the Y has the X, unless the X holds the Y."""
    if owner in HOLDERS:
        return content, "in", owner
    if owner in BEARERS:
        return content, "on", owner
    return (
        (owner, "have", content) if owner in FULL else (content, "have", owner)
    )


def base(text: str) -> str:
    """Return every word of a name or value in base form, as a noun where it ends in -s."""
    singular = (lemmas.noun(word) for word in text.lower().split())
    name = " ".join(singular)
    return NAMES.get(name, name)


def base_relation(text: str) -> str:
    """Return a predicate in base form without articles."""
    words = [
        word
        for word in text.lower().split()
        if word not in ("the", "a", "an", "is", "be")
    ]
    bare = (lemmas.verb(word) for word in words)
    return " ".join(WORDS.get(word, word) for word in bare)


def tuple_f1(candidate: Tuples, gold: Tuples) -> float:
    """F1 of the tuples of one caption; 1 if both are empty."""
    if not candidate and not gold:
        return 1.0
    return 2 * len(candidate & gold) / (len(candidate) + len(gold))

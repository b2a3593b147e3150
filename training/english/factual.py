"""FACTUAL captions with their gold graphs."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path

from beholder.language import lemmas
from beholder.language.graph import Attribute, Relation, SceneGraph
from beholder.language.lexicon import MATERIALS, NUMBER_WORDS

Triple = tuple[str, str, str]

_TRIPLE = re.compile(r"\(\s*(.*?)\s*\)(?=\s*,\s*\(|\s*$)")


@dataclass(frozen=True)
class Caption:
    """A caption and its graph as (subject, relation, object); "is" marks an attribute."""

    text: str
    triples: tuple[Triple, ...]


def read(path: Path) -> list[Caption]:
    """All captions of a ``.csv.gz`` file with the columns ``caption`` and ``scene_graph``."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [
            Caption(row["caption"].strip(), _triples(row["scene_graph"]))
            for row in csv.DictReader(io.StringIO(file.read()))
        ]


def _triples(graph: str) -> tuple[Triple, ...]:
    found = []
    for match in _TRIPLE.finditer(graph.strip()):
        parts = [part.strip() for part in match.group(1).split(" , ")]
        if len(parts) == 3 and all(parts):
            found.append((parts[0], parts[1], parts[2]))
        elif len(parts) == 1 and parts[0]:
            found.append((parts[0], "", ""))
    return tuple(found)


Tuples = frozenset[tuple[str, ...]]
"""Objects (o,), attributes (o, a) and relations (s, r, o), lemmatised."""


def gold_tuples(caption: Caption) -> Tuples:
    """The gold graph as tuples of base forms."""
    found: set[tuple[str, ...]] = set()
    for subject, relation, target in caption.triples:
        owner = base(subject)
        found.add((owner,))
        if relation in ("is", "are"):
            found.add((owner, base(target)))
        elif relation:
            found |= {(base(target),), (owner, base_relation(relation), base(target))}
    return frozenset(found)


CLOTHES = frozenset(
    [
        "shirt",
        "t-shirt",
        "jacket",
        "coat",
        "hat",
        "cap",
        "shorts",
        "dress",
        "suit",
        "jeans",
        "pants",
        "shoe",
        "boot",
        "sock",
        "helmet",
        "glove",
        "tie",
        "vest",
        "sweater",
        "uniform",
        "skirt",
        "sunglasses",
        "glasses",
        "goggles",
        "backpack",
        "scarf",
        "belt",
        "hoodie",
        "wetsuit",
        "wet",
        "sandal",
        "sneaker",
        "robe",
        "gown",
        "bikini",
        "swimsuit",
        "trunk",
        "clothes",
        "clothing",
        "outfit",
        "top",
        "blouse",
        "apron",
        "mask",
    ]
)
NAMES = {"guy": "person", "guys": "people", "tee shirt": "t-shirt"}
WORDS = {"lie": "lay", "underneath": "under", "beneath": "under", "below": "under", "has": "have"}
LOOSE = frozenset(["computer", "rock", "chocolate", "stripe", "gravel", "cheese"])
"""First words that FACTUAL cuts off a compound as an attribute."""


def graph_tuples(graph: SceneGraph) -> Tuples:
    """A scene graph in the conventions of FACTUAL.

    FACTUAL writes numbers as attributes in digits, clothes as worn, an agent as the subject of an
    active verb, and leaves out denied facts, kinds and positions.
    """
    found: set[tuple[str, ...]] = set()
    names = {}
    for entity in graph.entities:
        if entity.kind != "thing" or not entity.polarity:
            continue
        first, _, rest = entity.name.partition(" ")
        name = base(rest if rest and first in LOOSE else entity.name)
        names[entity.index] = name = NAMES.get(name, name)
        found.add((name,))
        if rest and first in LOOSE:
            found.add((name, first))
        for word in (entity.quantity or "").split():
            number = NUMBER_WORDS.get(word)
            if word == "group":
                found.add((name, "group of"))
            elif number is not None and number > 1:
                found.add((name, str(number)))
            elif word.isdigit():
                found.add((name, word))
    for attribute in graph.attributes:
        if attribute.polarity and attribute.entity in names:
            found |= {(names[attribute.entity], value) for value in _values(attribute)}
    for relation in graph.relations:
        if relation.polarity and relation.subject in names and relation.object in names:
            found.add(_relation(relation, names[relation.subject], names[relation.object]))
    return frozenset(found)


def _values(attribute: Attribute) -> list[str]:
    if attribute.kind == "kind" and attribute.value not in MATERIALS:
        return []
    if attribute.kind == "position":
        return [attribute.text] if attribute.text in ("on the left", "on the right") else []
    if attribute.kind == "state":
        return [attribute.text]
    return [{"wood": "wooden"}.get(attribute.value, base(attribute.value))]


def _relation(relation: Relation, subject: str, target: str) -> tuple[str, ...]:
    predicate = base_relation(relation.predicate)
    if predicate == "of":
        return target, "have", subject
    if predicate in ("in", "with", "dress in") and target.split()[-1] in CLOTHES:
        return subject, "wear", target
    if relation.passive and predicate.endswith(" by"):
        return target, predicate.removesuffix(" by"), subject
    if predicate in ("cover in", "cover with", "surround with"):
        return target, predicate.split()[0], subject
    return subject, predicate, target


def base(text: str) -> str:
    """Every word of a name or value in base form, as a noun where it ends in -s."""
    singular = (lemmas.noun(word) for word in text.lower().split())
    name = " ".join(singular)
    return NAMES.get(name, name)


def base_relation(text: str) -> str:
    """A predicate in base form without articles."""
    words = [word for word in text.lower().split() if word not in ("the", "a", "an", "is", "be")]
    bare = (lemmas.verb(word) for word in words)
    return " ".join(WORDS.get(word, word) for word in bare)


def tuple_f1(found: Tuples, gold: Tuples) -> float:
    """F1 of the tuples of one caption; 1 if both are empty."""
    if not found and not gold:
        return 1.0
    return 2 * len(found & gold) / (len(found) + len(gold))

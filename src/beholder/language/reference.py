"""Rule set "reference": the graph of the published PoSh metric, with its faults.

Re-implemented from a description of its behaviour: mentions become entities, and the links between
components become attributes and relations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, product

from beholder.language.dialects import Node, to_clear
from beholder.language.document import Document, Word
from beholder.language.graph import (
    Attribute,
    Entity,
    Mention,
    Relation,
    RelationKind,
    SceneGraph,
    spans,
)
from beholder.language.links import Links

_NOUNS = ("NOUN", "PROPN")
_CONJUNCTION_REACH = 8


@dataclass(slots=True, eq=False)
class GraphComponent:
    """Words that act as one; ``head`` is the word that made it."""

    kind: str
    head: int
    words: list[int]
    modified: list[GraphComponent] = field(default_factory=list)
    subjects: list[GraphComponent] = field(default_factory=list)
    objects: list[GraphComponent] = field(default_factory=list)
    attached_to: list[GraphComponent] = field(default_factory=list)

    @property
    def place(self) -> int:
        """Index of its first word in the document."""
        return self.words[0]


class Components:
    """The linked components of a document, sentence by sentence.

    Args:
        document: The parsed text.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = to_clear(
            [
                Node(
                    text=w.text,
                    pos=w.pos,
                    dep=w.dep,
                    head=w.head,
                )
                for w in document
            ]
        )
        self.children: dict[int, list[int]] = defaultdict(list)
        for place, node in enumerate(self.nodes):
            if node.head != place:
                self.children[node.head].append(place)
        self.of_word: dict[int, GraphComponent] = {}
        self.adjectival = {
            place
            for place, node in enumerate(self.nodes)
            if node.dep in ("amod", "nmod", "compound")
            and node.head != place
            and {node.pos, self.nodes[node.head].pos} <= {*_NOUNS}
        }
        # The order matters: a word belongs to the first component that claims it.
        self._make_components()
        self.all = sorted(
            _unique(self.of_word.values()), key=lambda c: c.place
        )
        self._in_sentence: dict[int, list[GraphComponent]] = defaultdict(list)
        for component in self.all:
            self._in_sentence[document.words[component.head].sentence].append(
                component
            )
        for component in self.all:
            self._link(component)
        self._copy_over_conjunctions()

    # Components

    def _conjunct_of_adjective(self, place: int) -> bool:
        node = self.nodes[place]
        adjective = (
            self.nodes[node.head].pos == "ADJ" or node.head in self.adjectival
        )
        return node.dep == "conj" and adjective

    def _make_components(self) -> None:
        # Nouns first, then adjectives, verbs and prepositions: a word belongs to the first
        # component that takes it.
        nodes = self.nodes
        for place, node in enumerate(nodes):
            noun = node.pos in (*_NOUNS, "PRON") and node.dep != "poss"
            if (
                noun
                and place not in self.adjectival
                and not self._conjunct_of_adjective(place)
            ):
                self._add("noun", place)
        for place in filter(self._is_adjective, range(len(nodes))):
            below = self.children[place]
            joined = (
                c
                for c in below
                if nodes[c].dep == "compound" or c in self.adjectival
            )
            self._add("adjective", place, joined)
        for place, node in enumerate(nodes):
            if node.pos == "VERB" and node.dep != "amod":
                below = self.children[place]
                adverbs = {
                    c for c in below if nodes[c].pos == "ADV" and c > place
                }
                self._add(
                    "verb",
                    place,
                    (
                        c
                        for c in below
                        if nodes[c].dep == "prt" or c in adverbs
                    ),
                )
        for place, node in enumerate(nodes):
            if node.pos == "ADP" and node.dep in (
                "prep",
                "case",
                "conj",
                "agent",
            ):
                self._add("preposition", place)

    def _is_adjective(self, place: int) -> bool:
        node = self.nodes[place]
        return (
            node.pos in ("ADJ", "NUM")
            or place in self.adjectival
            or node.dep == "poss"
            or (
                node.pos in (*_NOUNS, "ADJ", "VERB")
                and self._conjunct_of_adjective(place)
            )
            or (node.pos == "VERB" and node.dep == "amod")
            or (node.pos == "ADV" and self.nodes[node.head].pos in _NOUNS)
        )

    def _add(self, kind: str, place: int, joined: Iterable[int] = ()) -> None:
        if place not in self.of_word:
            words = sorted(
                [place, *(word for word in joined if word not in self.of_word)]
            )
            self.of_word.update(
                dict.fromkeys(words, GraphComponent(kind, place, words))
            )

    # Links inside a sentence

    def _nouns(
        self, places: Iterable[int], *deps: str
    ) -> list[GraphComponent]:
        """The nouns at some places; with names, only those of these relations."""
        components = (
            self.of_word.get(p)
            for p in places
            if not deps or self.nodes[p].dep in deps
        )
        return [c for c in components if c is not None and c.kind == "noun"]

    def _link(self, component: GraphComponent) -> None:
        if component.kind == "adjective":
            component.modified = self._modified(component)
        elif component.kind == "verb":
            component.subjects = self._subjects(component.head)
            component.objects = self._nouns(
                self.children[component.head], "dobj", "obj"
            )
        elif component.kind == "preposition":
            node = self.nodes[component.head]
            head = self.of_word.get(node.head)
            component.attached_to = (
                [head] if head is not None and head is not component else []
            )
            component.objects = self._nouns(
                self.children[component.head], "pobj", "obj"
            )

    def _modified(self, component: GraphComponent) -> list[GraphComponent]:
        nouns: list[GraphComponent] = []
        for place in component.words:
            head = self.nodes[place].head
            # Climb: dark -> blue -> dress.
            for _ in range(len(self.nodes)):
                if self.nodes[head].dep != "amod":
                    break
                head = self.nodes[head].head
            node = self.nodes[head]
            if node.pos in _NOUNS:
                nouns += self._nouns([head])
            elif node.pos == "AUX":
                nouns += self._named_nouns(self.children[head])
        below = (c for place in component.words for c in self.children[place])
        return _unique(nouns or self._named_nouns(below))

    def _named_nouns(self, places: Iterable[int]) -> list[GraphComponent]:
        """The nouns at some places but for pronouns."""
        return [
            c for c in self._nouns(places) if self.nodes[c.head].pos in _NOUNS
        ]

    def _subjects(self, place: int) -> list[GraphComponent]:
        node = self.nodes[place]
        head = self.nodes[node.head]
        nouns = (
            self._nouns([node.head]) if head.pos in (*_NOUNS, "PRON") else []
        )
        nouns += self._nouns(self.children[place], "nsubj", "nsubjpass")
        if head.pos == "AUX":
            nouns += self._nouns(self.children[node.head], "nsubj")
        return _unique(nouns)

    def _copy_over_conjunctions(self) -> None:
        # What is linked to the first of two joined components is linked to the second, too: in "a
        # man and a woman sit" both sit.
        for place, node in enumerate(self.nodes):
            first = self.of_word.get(node.head)
            second = self.of_word.get(place)
            near = (
                node.dep == "conj"
                and abs(place - node.head) <= _CONJUNCTION_REACH
            )
            if (
                not near
                or not first
                or not second
                or first is second
                or first.kind != second.kind
            ):
                continue
            if first.kind == "preposition":
                second.attached_to = list(first.attached_to)
                first.objects = first.objects or list(second.objects)
                continue
            if first.kind == "noun":
                for component in self.near(first):
                    if (
                        first in component.objects
                        and second not in component.objects
                    ):
                        component.objects.append(second)
                self._share("modified", first, second)
                self._share("subjects", first, second)
            else:
                second.modified = second.modified or list(first.modified)
                second.subjects = second.subjects or list(first.subjects)
                second.objects = second.objects or list(first.objects)
            self._share("attached_to", first, second)

    def _share(
        self, name: str, first: GraphComponent, second: GraphComponent
    ) -> None:
        """Link the first component's links to the second, too, unless a link to it exists."""
        if not any(second in getattr(c, name) for c in self.near(second)):
            for component in self.near(first):
                if first in getattr(component, name):
                    getattr(component, name).append(second)

    def near(self, component: GraphComponent) -> list[GraphComponent]:
        """Return all components of its sentence, itself included, in text order."""
        return self._in_sentence[self.document.words[component.head].sentence]

    def is_linked(self, component: GraphComponent) -> bool:
        """Return whether any component is linked to this one."""
        return any(
            component
            in (
                *neighbour.modified,
                *neighbour.subjects,
                *neighbour.objects,
                *neighbour.attached_to,
            )
            for neighbour in self.near(component)
        )


def _unique(components: Iterable[GraphComponent]) -> list[GraphComponent]:
    return list({id(c): c for c in components}.values())


def reference_graph(document: Document, links: Links) -> SceneGraph:
    """The graph of a document by the rules of the published metric."""
    return _Extractor(document, links).graph()


class _Extractor:
    def __init__(self, document: Document, links: Links) -> None:
        self.document = document
        self.components = Components(document)
        self.cluster = _clusters(links)
        # Cluster to the first entity made from it.
        self.owner: dict[int | None, int] = {}
        self.entities: list[Entity] = []
        self.entity_of: dict[int, int] = {}
        self.attributes: dict[tuple[int, str], Attribute] = {}
        self.relations: dict[tuple[int, int, str], Relation] = {}

    def graph(self) -> SceneGraph:
        of_kind: dict[str, list[GraphComponent]] = defaultdict(list)
        for component in self.components.all:
            of_kind[component.kind].append(component)
        for noun in of_kind["noun"]:
            self._place(noun)
        # Verbs come first: a preposition that a verb used makes no relation of its own.
        used = set().union(*map(self._verb, of_kind["verb"]))
        for adjective in of_kind["adjective"]:
            self._adjective(adjective)
        for preposition in of_kind["preposition"]:
            if preposition.head not in used:
                self._preposition(preposition)
        attributes = tuple(
            sorted(self.attributes.values(), key=lambda a: a.spans)
        )
        relations = tuple(
            sorted(self.relations.values(), key=lambda r: r.spans)
        )
        return SceneGraph(
            text=self.document.text,
            entities=tuple(self.entities),
            attributes=attributes,
            relations=relations,
            rules="reference",
            parser=self.document.parser,
        )

    def _words(self, components: Iterable[GraphComponent]) -> list[Word]:
        return [
            self.document.words[place] for c in components for place in c.words
        ]

    def _place(self, component: GraphComponent) -> None:
        word = self.document.words[component.head]
        if word.pos == "PRON" and not self.components.is_linked(component):
            return
        mention = Mention(word.text, word.span, word.sentence)
        cluster = self.cluster.get(component.head)
        index = self.owner.get(cluster, len(self.entities))
        if index < len(self.entities):
            entity = self.entities[index]
            self.entities[index] = replace(
                entity, mentions=(*entity.mentions, mention)
            )
        else:
            new_entity = Entity(
                index=index,
                name=word.lemma,
                head=word.lemma,
                mentions=(mention,),
                plural=word.is_plural,
            )
            self.entities.append(new_entity)
        self.entity_of[component.head] = index
        if cluster is not None:
            self.owner[cluster] = index

    def _adjective(self, component: GraphComponent) -> None:
        words = self._words([component])
        if self.components.nodes[component.head].dep != "poss":
            self._attributes(component.modified, words, "adjective")
            return
        owner = self.owner.get(self.cluster.get(component.head))
        for noun in component.modified:
            self._relation(
                self.entity_of.get(noun.head),
                owner,
                words,
                "possessive",
                "part of",
            )

    def _attributes(
        self, nouns: list[GraphComponent], words: list[Word], rule: str
    ) -> None:
        text = " ".join(word.text for word in words)
        fields = (text, text.lower(), spans(words), words[0].sentence)
        for noun in nouns:
            entity = self.entity_of.get(noun.head)
            if entity is not None:
                self.attributes.setdefault(
                    (entity, text), Attribute(entity, *fields, rule=rule)
                )

    def _relation(
        self,
        subject: int | None,
        target: int | None,
        words: list[Word],
        kind: RelationKind,
        text: str = "",
    ) -> None:
        if subject is None or target is None or not words:
            return
        written = text or " ".join(word.text for word in words)
        base = text or " ".join(
            w.lemma if w.pos == "VERB" else w.lower for w in words
        )
        relation = Relation(
            subject=subject,
            object=target,
            text=written,
            predicate=base,
            spans=spans(words),
            sentence=words[0].sentence,
            kind=kind,
            rule=kind,
        )
        self.relations.setdefault((subject, target, written), relation)

    def _after(self, component: GraphComponent) -> list[GraphComponent]:
        """The prepositions attached to a verb after it, and those attached to them."""
        near = self.components.near(component)
        # Prepositions may be chained: "walks out of the door onto the street".
        later = [
            c
            for c in near
            if c.kind == "preposition" and c.place > component.place
        ]
        queue = [component]
        for top in queue:
            queue += [
                c for c in later if top in c.attached_to and c not in queue
            ]
        return sorted(queue[1:], key=lambda c: c.place)

    def _verb(self, component: GraphComponent) -> set[int]:
        """Relations of a verb, or a state if it has no object; returns the prepositions used."""
        prepositions = self._after(component)
        pieces = [component, *prepositions]
        behind = [o for p in prepositions for o in p.objects]
        first, second = (
            (component.objects, behind) if component.objects else (behind, [])
        )
        if not first:
            self._attributes(component.subjects, self._words(pieces), "verb")
        for first_end, second_end in chain(
            product(component.subjects, first), product(first, second)
        ):
            words = self._words(
                c
                for c in pieces
                if first_end.place < c.place < second_end.place
            )
            ends = (
                self.entity_of.get(first_end.head),
                self.entity_of.get(second_end.head),
            )
            self._relation(*ends, words, "verb")
        return {c.head for c in prepositions if c.objects}

    def _preposition(self, component: GraphComponent) -> None:
        for head, noun in product(component.attached_to, component.objects):
            ends = (
                self.entity_of.get(head.head),
                self.entity_of.get(noun.head),
            )
            self._relation(*ends, self._words([component]), "preposition")


def _clusters(links: Links) -> dict[int, int]:
    """Word index to cluster; a group ("they") merges into its first member."""
    cluster: dict[int, int] = {}
    for mention, earlier in links.same.items():
        root = cluster.get(earlier[0], earlier[0])
        cluster[earlier[0]] = cluster[mention] = root
    return cluster

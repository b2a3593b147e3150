"""Rule set "reference": the graph of the published PoSh metric, with its faults.

Re-implemented from a description of its behaviour: mentions become entities, and the links between
components become attributes and relations.
"""

from __future__ import annotations

from beholder.language.document import Document, Word
from beholder.language.facts import spans
from beholder.language.graph import (
    Attribute,
    Entity,
    Mention,
    Relation,
    RelationKind,
    SceneGraph,
)
from beholder.language.links import Links
from beholder.language.reference_components import Components, GraphComponent


def reference_graph(document: Document, links: Links) -> SceneGraph:
    """The graph of a document by the rules of the published metric."""
    return _Extractor(document, links).graph()


class _Extractor:
    def __init__(self, document: Document, links: Links) -> None:
        self.document = document
        self.components = Components(document)
        self.cluster = _clusters(links)
        self.owner: dict[int, int] = {}  # cluster to the first entity made from it
        self.entities: list[Entity] = []
        self.entity_of: dict[int, int] = {}
        self.attributes: dict[tuple[int, str], Attribute] = {}
        self.relations: dict[tuple[int, int, str], Relation] = {}

    def graph(self) -> SceneGraph:
        for component in self.components.all:
            if component.kind == "noun":
                self._place(component)
        used: set[int] = set()
        for component in self.components.all:
            if component.kind == "verb":
                used |= self._verb(component)
        for component in self.components.all:
            if component.kind == "adjective":
                self._adjective(component)
        for component in self.components.all:
            if component.kind == "preposition" and component.head not in used:
                self._preposition(component)
        return SceneGraph(
            self.document.text,
            tuple(self.entities),
            tuple(sorted(self.attributes.values(), key=lambda a: a.spans)),
            tuple(sorted(self.relations.values(), key=lambda r: r.spans)),
            rules="reference",
            parser=self.document.parser,
        )

    def _words(self, component: GraphComponent) -> list[Word]:
        return [self.document.words[place] for place in component.words]

    def _place(self, component: GraphComponent) -> None:
        word = self.document.words[component.head]
        if word.pos == "PRON" and not self.components.is_linked(component):
            return
        mention = Mention(word.text, word.span, word.sentence)
        cluster = self.cluster.get(component.head)
        known = self.owner.get(cluster) if cluster is not None else None
        if known is not None:
            index = known
            entity = self.entities[index]
            self.entities[index] = Entity(
                index, entity.name, entity.head, (*entity.mentions, mention), plural=entity.plural
            )
        else:
            index = len(self.entities)
            self.entities.append(
                Entity(index, word.lemma, word.lemma, (mention,), plural=word.is_plural)
            )
        self.entity_of[component.head] = index
        if cluster is not None:
            self.owner.setdefault(cluster, index)

    def _entity(self, component: GraphComponent) -> int | None:
        return self.entity_of.get(component.head)

    def _adjective(self, component: GraphComponent) -> None:
        if component.possessive:
            self._part_of(component)
            return
        for noun in component.modified:
            self._attribute(noun, self._words(component), "adjective")

    def _attribute(self, noun: GraphComponent, words: list[Word], rule: str) -> None:
        entity = self._entity(noun)
        text = " ".join(word.text for word in words)
        if entity is not None:
            found = Attribute(
                entity, text, text.lower(), spans(words), words[0].sentence, rule=rule
            )
            self.attributes.setdefault((entity, text), found)

    def _part_of(self, component: GraphComponent) -> None:
        cluster = self.cluster.get(component.head)
        owner = self.owner.get(cluster) if cluster is not None else None
        for noun in component.modified:
            entity = self._entity(noun)
            if owner is not None and entity is not None:
                self._relation(entity, owner, self._words(component), "possessive", "part of")

    def _relation(
        self,
        subject: int,
        target: int,
        words: list[Word],
        kind: RelationKind,
        text: str | None = None,
    ) -> None:
        written = text or " ".join(word.text for word in words)
        key = (subject, target, written)
        if not written or key in self.relations:
            return
        base = text or " ".join(w.lemma if w.pos == "VERB" else w.lower for w in words)
        self.relations[key] = Relation(
            subject, target, written, base, spans(words), words[0].sentence, kind, rule=kind
        )

    def _after(self, component: GraphComponent) -> list[GraphComponent]:
        """The prepositions attached to a verb after it, and those attached to them."""
        found: list[GraphComponent] = []
        queue = [component]
        while queue:
            top = queue.pop(0)
            for other in self.components.near(component):
                if (
                    other.kind == "preposition"
                    and top in other.attached_to
                    and other.place > component.place
                    and other not in found
                ):
                    found.append(other)
                    queue.append(other)
        return sorted(found, key=lambda c: c.place)

    def _verb(self, component: GraphComponent) -> set[int]:
        """Relations of a verb, or a state if it has no object; returns the prepositions used."""
        prepositions = self._after(component)
        behind = [o for p in prepositions for o in p.objects]
        first, second = (component.objects, behind) if component.objects else (behind, [])
        if component.subjects and not first:
            words = [w for c in [component, *prepositions] for w in self._words(c)]
            for subject in component.subjects:
                self._attribute(subject, words, "verb")
        pieces = [component, *prepositions]
        for start, ends in [(component.subjects, first), (first, second)]:
            for one in start:
                for other in ends:
                    self._between(one, other, pieces)
        return {c.head for c in prepositions if c.objects}

    def _between(
        self, one: GraphComponent, other: GraphComponent, pieces: list[GraphComponent]
    ) -> None:
        subject, target = self._entity(one), self._entity(other)
        words = [w for c in pieces if one.place < c.place < other.place for w in self._words(c)]
        if subject is not None and target is not None and words:
            self._relation(subject, target, words, "verb")

    def _preposition(self, component: GraphComponent) -> None:
        for head in component.attached_to:
            for noun in component.objects:
                subject, target = self._entity(head), self._entity(noun)
                if head.kind == "noun" and subject is not None and target is not None:
                    self._relation(subject, target, self._words(component), "preposition")


def _clusters(links: Links) -> dict[int, int]:
    """Word index to cluster; a group ("they") merges into its first member."""
    cluster: dict[int, int] = {}
    for mention, earlier in links.same.items():
        root = cluster.get(earlier[0], earlier[0])
        cluster[earlier[0]] = cluster[mention] = root
    return cluster

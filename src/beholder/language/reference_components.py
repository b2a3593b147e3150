"""Components of rule set "reference": words grouped by what they do, and the links between them.

Words are grouped in components (noun, adjective, verb, preposition), components are linked inside
their sentence, and links are copied over conjunctions. The rules were written for ClearNLP trees,
so the tree is turned into one first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from beholder.language.dialects import Node, to_clear
from beholder.language.document import Document

_NOUNS = ("NOUN", "PROPN")
_CONJUNCTION_REACH = 8


@dataclass(slots=True, eq=False)
class GraphComponent:
    """Words that act as one; ``head`` is the word that made it."""

    kind: str
    head: int
    words: list[int]
    possessive: bool = False
    modified: list[GraphComponent] = field(default_factory=list)
    subjects: list[GraphComponent] = field(default_factory=list)
    objects: list[GraphComponent] = field(default_factory=list)
    attached_to: list[GraphComponent] = field(default_factory=list)

    @property
    def place(self) -> int:
        """Where it begins in the document."""
        return self.words[0]


class Components:
    """The linked components of a document, sentence by sentence.

    Args:
        document: The parsed text.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = to_clear([Node(w.text, w.pos, w.dep, w.head) for w in document])
        self.children: dict[int, list[int]] = defaultdict(list)
        for place, node in enumerate(self.nodes):
            if node.head != place:
                self.children[node.head].append(place)
        self.of_word: dict[int, GraphComponent] = {}
        self.adjectival = {p for p in range(len(self.nodes)) if self._is_adjectival(p)}
        self._make_components()
        self.all = sorted(_unique(self.of_word.values()), key=lambda c: c.place)
        self._in_sentence: dict[int, list[GraphComponent]] = defaultdict(list)
        for component in self.all:
            self._in_sentence[document.words[component.head].sentence].append(component)
        for component in self.all:
            self._link(component)
        self._copy_over_conjunctions()

    # Components

    def _is_adjectival(self, place: int) -> bool:
        node = self.nodes[place]
        head = self.nodes[node.head]
        return (
            node.pos in _NOUNS
            and node.dep in ("amod", "nmod", "compound")
            and head.pos in _NOUNS
            and node.head != place
        )

    def _conjunct_of_adjective(self, place: int) -> bool:
        node = self.nodes[place]
        return node.dep == "conj" and (
            self.nodes[node.head].pos == "ADJ" or node.head in self.adjectival
        )

    def _make_components(self) -> None:
        order = range(len(self.nodes))
        for place in order:
            node = self.nodes[place]
            if (
                node.pos in (*_NOUNS, "PRON")
                and place not in self.adjectival
                and not self._conjunct_of_adjective(place)
                and node.dep != "poss"
            ):
                self._add("noun", place, [])
        for place in order:
            if place not in self.of_word and self._is_adjective(place):
                joined = [
                    c
                    for c in self.children[place]
                    if (self.nodes[c].dep == "compound" or c in self.adjectival)
                    and c not in self.of_word
                ]
                self._add("adjective", place, joined, possessive=self.nodes[place].dep == "poss")
        for place in order:
            if self.nodes[place].pos == "VERB" and self.nodes[place].dep != "amod":
                joined = [
                    c
                    for c in self.children[place]
                    if self.nodes[c].dep == "prt" or (self.nodes[c].pos == "ADV" and c > place)
                ]
                self._add("verb", place, [c for c in joined if c not in self.of_word])
        for place in order:
            node = self.nodes[place]
            if node.pos == "ADP" and node.dep in ("prep", "case", "conj", "agent"):
                self._add("preposition", place, [])

    def _is_adjective(self, place: int) -> bool:
        node = self.nodes[place]
        return (
            node.pos in ("ADJ", "NUM")
            or place in self.adjectival
            or node.dep == "poss"
            or (node.pos in (*_NOUNS, "ADJ", "VERB") and self._conjunct_of_adjective(place))
            or (node.pos == "VERB" and node.dep == "amod")
            or (node.pos == "ADV" and self.nodes[node.head].pos in _NOUNS)
        )

    def _add(self, kind: str, place: int, joined: list[int], possessive: bool = False) -> None:
        if place in self.of_word:
            return
        component = GraphComponent(kind, place, sorted([place, *joined]), possessive)
        for word in component.words:
            self.of_word[word] = component

    # Links inside a sentence

    def _nouns(self, places: Iterable[int]) -> list[GraphComponent]:
        found = (self.of_word.get(p) for p in places)
        return [c for c in found if c is not None and c.kind == "noun"]

    def _link(self, component: GraphComponent) -> None:
        if component.kind == "adjective":
            component.modified = self._modified(component)
        elif component.kind == "verb":
            component.subjects = self._subjects(component.head)
            component.objects = self._nouns(
                c for c in self.children[component.head] if self.nodes[c].dep in ("dobj", "obj")
            )
        elif component.kind == "preposition":
            node = self.nodes[component.head]
            head = self.of_word.get(node.head)
            component.attached_to = [head] if head is not None and head is not component else []
            component.objects = self._nouns(
                c for c in self.children[component.head] if self.nodes[c].dep in ("pobj", "obj")
            )

    def _modified(self, component: GraphComponent) -> list[GraphComponent]:
        found: list[GraphComponent] = []
        for place in component.words:
            head = self.nodes[place].head
            for _ in range(len(self.nodes)):  # climb: dark -> blue -> dress
                if self.nodes[head].dep != "amod":
                    break
                head = self.nodes[head].head
            node = self.nodes[head]
            if node.pos in _NOUNS:
                found += self._nouns([head])
            elif node.pos == "AUX":
                found += [
                    c for c in self._nouns(self.children[head]) if self.nodes[c.head].pos in _NOUNS
                ]
        if not found:
            below = [c for place in component.words for c in self.children[place]]
            found = [c for c in self._nouns(below) if self.nodes[c.head].pos in _NOUNS]
        return _unique(found)

    def _subjects(self, place: int) -> list[GraphComponent]:
        node = self.nodes[place]
        head = self.nodes[node.head]
        found = self._nouns([node.head]) if head.pos in (*_NOUNS, "PRON") else []
        found += self._nouns(
            c for c in self.children[place] if self.nodes[c].dep in ("nsubj", "nsubjpass")
        )
        if head.pos == "AUX":
            found += self._nouns(
                c for c in self.children[node.head] if self.nodes[c].dep == "nsubj"
            )
        return _unique(found)

    def _copy_over_conjunctions(self) -> None:
        for place, node in enumerate(self.nodes):
            first, second = self.of_word.get(node.head), self.of_word.get(place)
            if node.dep != "conj" or first is None or second is None or first is second:
                continue
            if first.kind != second.kind or abs(place - node.head) > _CONJUNCTION_REACH:
                continue
            if first.kind == "preposition":
                second.attached_to = list(first.attached_to)
                first.objects = first.objects or list(second.objects)
            elif first.kind == "noun":
                self._copy_noun(first, second)
            else:
                self._copy_lists(first, second)

    def _copy_lists(self, first: GraphComponent, second: GraphComponent) -> None:
        second.modified = second.modified or list(first.modified)
        second.subjects = second.subjects or list(first.subjects)
        second.objects = second.objects or list(first.objects)
        attached = [c for c in self.near(second) if second in c.attached_to]
        if not attached:
            for other in self.near(first):
                if first in other.attached_to:
                    other.attached_to.append(second)

    def _copy_noun(self, first: GraphComponent, second: GraphComponent) -> None:
        has_modifier = any(second in c.modified for c in self.near(second))
        is_subject = any(second in c.subjects for c in self.near(second))
        has_preposition = any(second in c.attached_to for c in self.near(second))
        for other in self.near(first):
            if first in other.objects and second not in other.objects:
                other.objects.append(second)
            if first in other.modified and not has_modifier:
                other.modified.append(second)
            if first in other.subjects and not is_subject:
                other.subjects.append(second)
            if first in other.attached_to and not has_preposition:
                other.attached_to.append(second)

    def near(self, component: GraphComponent) -> list[GraphComponent]:
        """The components of the same sentence, in text order."""
        return self._in_sentence[self.document.words[component.head].sentence]

    def is_linked(self, component: GraphComponent) -> bool:
        """Whether any component is linked to this one."""
        return any(
            component in links
            for other in self.near(component)
            for links in (other.modified, other.subjects, other.objects, other.attached_to)
        )


def _unique(components: Iterable[GraphComponent]) -> list[GraphComponent]:
    return list({id(c): c for c in components}.values())

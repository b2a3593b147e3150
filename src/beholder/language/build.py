"""From facts about words to a graph of entities: mentions merged, members named, repeats joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from beholder.language.absence import AFFIRMED
from beholder.language.document import Document, Word
from beholder.language.facts import AttributeFact, RelationFact, spans
from beholder.language.graph import Attribute, Entity, Mention, Relation, SceneGraph
from beholder.language.lexicon import PEOPLE_BY_NUMBER
from beholder.language.links import Links
from beholder.language.phrases import Phrase, Phrases


class Builder:
    """Collects entities, then facts about them.

    Args:
        document: The parsed text.
        phrases: Its noun phrases.
        links: Which mentions mean the same.
    """

    def __init__(self, document: Document, phrases: Phrases, links: Links) -> None:
        self.document = document
        self.phrases = phrases
        self.links = links
        self.entities: list[Entity] = []
        self.attributes: dict[tuple[object, ...], Attribute] = {}
        self.relations: dict[tuple[object, ...], Relation] = {}
        self._of_word: dict[int, tuple[int, ...]] = {}
        for index, phrase in phrases.by_word.items():
            if index not in self._of_word:
                self._place(index, phrase)

    def _place(self, index: int, phrase: Phrase) -> None:
        mention = Mention(
            " ".join(w.text for w in phrase.name),
            (phrase.name[0].start, phrase.name[-1].end),
            phrase.word.sentence,
        )
        earlier = self.links.same.get(index)
        meant = tuple(e for word in earlier or () for e in self._of_word.get(word, ()))
        if meant:
            self._of_word[index] = meant
            if len(meant) == 1:
                self._add_mention(meant[0], mention, phrase)
            return
        group = self.links.member_of.get(index)
        if group is not None and group in self.phrases.by_word and group not in self._of_word:
            self._place(group, self.phrases.by_word[group])  # "some of the rocks"
        owner = self._of_word.get(group, ()) if group is not None else ()
        bare = len(phrase.name) == 1 and phrase.plural and not phrase.word.is_plural
        people = bare and phrase.word.lemma in PEOPLE_BY_NUMBER
        head = "people" if people else phrase.word.lemma
        last = "people" if people else phrase.name[-1].lemma
        entity = Entity(
            index=len(self.entities),
            name=" ".join([*(w.lower for w in phrase.name[:-1]), last]),
            head=head,
            mentions=(mention,),
            quantity=phrase.quantity,
            plural=phrase.plural,
            kind=phrase.kind,
            polarity=phrase.polarity,
            rule=phrase.rule,
        )
        if owner:
            whole = self.entities[owner[0]]
            entity = replace(
                entity,
                name=whole.name,
                head=whole.head,
                member_of=whole.index,
                quantity=phrase.word.lower,
            )
        self._of_word[index] = (entity.index,)
        self.entities.append(entity)

    def _add_mention(self, index: int, mention: Mention, phrase: Phrase) -> None:
        entity = self.entities[index]
        entity = replace(entity, mentions=(*entity.mentions, mention))
        if entity.kind == "pronoun" and phrase.kind == "thing":
            entity = replace(
                entity, kind="thing", name=mention.text.lower(), head=phrase.word.lemma
            )
        if phrase.quantity is not None and entity.quantity is None:
            entity = replace(entity, quantity=phrase.quantity)
        self.entities[index] = entity

    def meant(self, index: int) -> tuple[int, ...]:
        """The entities that a word stands for: none, one, or the members of a group."""
        target = self.phrases.entity(index)
        if target is not None:
            return self._of_word.get(target, ())
        word = self.phrases.word_meant(index)  # a possessive pronoun has no phrase of its own
        earlier = self.links.same.get(word, ())
        return tuple(e for word in earlier for e in self.meant(word))

    def add(self, facts: Iterable[AttributeFact | RelationFact]) -> None:
        """Add facts; those about words that stand for no entity are dropped."""
        for fact in facts:
            if isinstance(fact, AttributeFact):
                self._add_attribute(fact)
            else:
                self._add_relation(fact)

    def _add_attribute(self, fact: AttributeFact) -> None:
        for entity in self.meant(fact.noun):
            key = (entity, fact.value, fact.polarity)
            known = self.attributes.get(key)
            found = spans(fact.words)
            if known is not None:
                found = tuple(dict.fromkeys((*known.spans, *found)))
                self.attributes[key] = replace(known, spans=found)
                continue
            self.attributes[key] = Attribute(
                entity=entity,
                text=_written(fact.words),
                value=fact.value,
                spans=found,
                sentence=fact.words[0].sentence,
                kind=fact.kind,
                polarity=fact.polarity,
                rule=fact.rule,
            )

    def _add_relation(self, fact: RelationFact) -> None:
        for subject in self.meant(fact.subject):
            for target in self.meant(fact.object):
                if subject != target:
                    self._add_pair(fact, subject, target)

    def _add_pair(self, fact: RelationFact, subject: int, target: int) -> None:
        text = fact.text or " ".join(AFFIRMED.get(w.lower, w.lower) for w in fact.words)
        predicate = _base(fact)
        affirmed = self.entities[subject].polarity and self.entities[target].polarity
        polarity = fact.polarity and affirmed
        key = (subject, target, predicate, polarity)
        found = spans(fact.words)
        known = self.relations.get(key)
        if known is not None:
            found = tuple(dict.fromkeys((*known.spans, *found)))
            self.relations[key] = replace(known, spans=found)
            return
        self.relations[key] = Relation(
            subject=subject,
            object=target,
            text=text,
            predicate=predicate,
            spans=found,
            sentence=fact.words[0].sentence if fact.words else 0,
            kind=fact.kind,
            passive=fact.passive,
            polarity=polarity,
            rule=fact.rule,
        )

    def graph(self, rules: str) -> SceneGraph:
        """The finished graph; pronouns that name nothing and say nothing are left out."""
        used = {a.entity for a in self.attributes.values()}
        used |= {i for r in self.relations.values() for i in (r.subject, r.object)}
        kept = [e for e in self.entities if e.kind == "thing" or e.index in used]
        if len(kept) < len(self.entities):
            self._renumber(kept)
        # The same words can be read in two ways ("stylized" as adjective and verb): once is enough.
        attributes = {(a.entity, a.spans): a for a in reversed(self.attributes.values())}
        return SceneGraph(
            text=self.document.text,
            entities=tuple(self.entities),
            attributes=tuple(sorted(attributes.values(), key=lambda a: a.spans)),
            relations=tuple(sorted(self.relations.values(), key=lambda r: r.spans)),
            rules=rules,
            parser=self.document.parser,
        )

    def _renumber(self, kept: Sequence[Entity]) -> None:
        """Leave out all other entities."""
        place = {entity.index: new for new, entity in enumerate(kept)}
        self.entities = [
            replace(
                entity,
                index=new,
                member_of=None if entity.member_of is None else place.get(entity.member_of),
            )
            for new, entity in enumerate(kept)
        ]
        self.attributes = {
            key: replace(a, entity=place[a.entity]) for key, a in self.attributes.items()
        }
        self.relations = {
            key: replace(r, subject=place[r.subject], object=place[r.object])
            for key, r in self.relations.items()
        }


def _written(words: Iterable[Word]) -> str:
    return " ".join(word.lower for word in words)


def _base(fact: RelationFact) -> str:
    if fact.kind == "possessive":
        return "have"
    parts = [
        w.lemma if w.pos == "VERB" else AFFIRMED.get(w.lower, w.lower)
        for w in fact.words
        if w.pos != "DET"
    ]
    if fact.text is not None and fact.text.endswith(" to"):
        parts.append("to")
    return " ".join(parts)

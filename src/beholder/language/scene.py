"""Builder of the scene graph of a parsed text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product, starmap
from operator import attrgetter
from typing import Literal, TypeAlias, TypeVar, get_args

from beholder.errors import ConfigError
from beholder.language import (
    certainty,
    clauses,
    coreference,
    reference,
    unseen,
)
from beholder.language.clauses import AFFIRMED
from beholder.language.describe import attribute_facts
from beholder.language.document import Document, Word
from beholder.language.graph import (
    Attribute,
    AttributeFact,
    Entity,
    Mention,
    Relation,
    RelationFact,
    SceneGraph,
    spans,
)
from beholder.language.lexicon import DATING, PEOPLE_BY_NUMBER, WEATHER
from beholder.language.links import Coref, Links
from beholder.language.numerals import YEAR, labels
from beholder.language.phrases import (
    Phrase,
    Phrases,
    find_phrases,
    follows_verb,
    named_subject,
)
from beholder.language.relate import relation_facts
from beholder.records import Span

P = TypeVar("P", bound=Attribute | Relation)


class Builder:
    """Collects entities, then facts about them.

    Args:
        phrases: Its noun phrases.
        links: Mentions of the same thing.
    """

    def __init__(self, phrases: Phrases, links: Links) -> None:
        self.document = phrases.document
        self.phrases = phrases
        self.links = links
        self.entities: list[Entity] = []
        self._attributes: list[tuple[AttributeFact, int]] = []
        self._relations: list[tuple[RelationFact, int, int]] = []
        self._of_word: dict[int, tuple[int, ...]] = {}
        for index, phrase in phrases.by_word.items():
            if index not in self._of_word:
                self._place(index, phrase)

    def _place(self, index: int, phrase: Phrase) -> None:
        span = (phrase.name[0].start, phrase.name[-1].end)
        mention = Mention(
            " ".join([w.text for w in phrase.name]), span, phrase.word.sentence
        )
        earlier = self.links.same.get(index, ())
        if meant := tuple(
            e for word in earlier for e in self._of_word.get(word, ())
        ):
            # A mention of a known entity adds no entity; of a group ("they") it means all members.
            self._of_word[index] = meant
            if len(meant) == 1:
                self._add_mention(meant[0], mention, phrase)
            return
        group = self.links.member_of.get(index, -1)
        if group in self.phrases.by_word and group not in self._of_word:
            # As in "some of the rocks".
            self._place(group, self.phrases.by_word[group])
        owner = self._of_word.get(group, ())
        bare = (
            len(phrase.name) == 1
            and phrase.plural
            and not phrase.word.is_plural
        )
        head = phrase.word.lemma
        last = phrase.name[-1].lemma
        if bare and head in PEOPLE_BY_NUMBER:
            head = last = "people"
        name = " ".join([*[w.lower for w in phrase.name[:-1]], last])
        quantity = phrase.quantity
        member_of = None
        if owner:
            group_entity = self.entities[owner[0]]
            name = group_entity.name
            head = group_entity.head
            member_of = group_entity.index
            quantity = phrase.word.lower
        self._of_word[index] = (len(self.entities),)
        doubt = certainty.doubt("entity", certainty.features(phrase.name))
        entity = Entity(
            index=len(self.entities),
            name=name,
            head=head,
            mentions=(mention,),
            quantity=quantity,
            plural=phrase.plural,
            kind=phrase.kind,
            polarity=phrase.polarity,
            member_of=member_of,
            rule=phrase.rule,
            doubt=doubt,
        )
        self.entities.append(entity)

    def _add_mention(
        self, index: int, mention: Mention, phrase: Phrase
    ) -> None:
        entity = self.entities[index]
        entity = replace(entity, mentions=(*entity.mentions, mention))
        if entity.kind == "pronoun" and phrase.kind == "thing":
            name = mention.text.lower()
            head = phrase.word.lemma
            entity = replace(entity, kind="thing", name=name, head=head)
        if phrase.quantity is not None and entity.quantity is None:
            entity = replace(entity, quantity=phrase.quantity)
        self.entities[index] = entity

    def meant(self, index: int) -> tuple[int, ...]:
        """The entities that a word stands for: none, one, or the members of a group."""
        target = self.phrases.entity(index)
        if target is not None:
            return self._of_word.get(target, ())
        # A possessive pronoun has no phrase of its own.
        word = self.phrases.word_meant(index)
        earlier = self.links.same.get(word, ())
        return tuple(e for word in earlier for e in self.meant(word))

    def add(self, facts: Iterable[AttributeFact | RelationFact]) -> None:
        """Add facts; those about words that stand for no entity are dropped."""
        for fact in facts:
            if isinstance(fact, AttributeFact):
                self._attributes += [
                    (fact, entity) for entity in self.meant(fact.noun)
                ]
                continue
            for subject, target in product(
                self.meant(fact.subject), self.meant(fact.object)
            ):
                if subject != target:
                    self._relations.append((fact, subject, target))

    def _attribute(self, fact: AttributeFact, entity: int) -> Attribute:
        text = " ".join([word.lower for word in fact.words])
        sure = certainty.features(fact.words, [self.document.words[fact.noun]])
        doubt = certainty.doubt("attribute", sure)
        return Attribute(
            entity=entity,
            text=text,
            value=fact.value,
            spans=spans(fact.words),
            sentence=fact.words[0].sentence,
            kind=fact.kind,
            polarity=fact.polarity,
            rule=fact.rule,
            doubt=doubt,
        )

    def _relation(
        self, fact: RelationFact, subject: int, target: int
    ) -> Relation:
        text = fact.text or " ".join(
            [AFFIRMED.get(w.lower, w.lower) for w in fact.words]
        )
        affirmed = (
            self.entities[subject].polarity and self.entities[target].polarity
        )
        sentence = fact.words[0].sentence if fact.words else 0
        ends = (
            self.document.words[fact.subject],
            self.document.words[fact.object],
        )
        doubt = certainty.doubt(
            "relation", certainty.features(fact.words, ends)
        )
        return Relation(
            subject=subject,
            object=target,
            text=text,
            predicate=_base(fact),
            spans=spans(fact.words),
            sentence=sentence,
            kind=fact.kind,
            passive=fact.passive,
            polarity=fact.polarity and affirmed,
            rule=fact.rule,
            doubt=doubt,
        )

    def graph(self, rules: str) -> SceneGraph:
        """The finished graph; pronouns that name nothing and say nothing are left out."""
        used = {entity for _, entity in self._attributes}
        used.update(entity for _, *ends in self._relations for entity in ends)
        self._keep(
            [e for e in self.entities if e.kind == "thing" or e.index in used]
        )
        merged = _merged(
            starmap(self._attribute, self._attributes), "entity", "value"
        )
        # The same words can be read in two ways ("stylized" as adjective and verb): once is enough.
        once = {(a.entity, a.spans): a for a in reversed(merged)}
        attributes = tuple(sorted(once.values(), key=lambda a: a.spans))
        linked = _merged(
            starmap(self._relation, self._relations),
            "subject",
            "object",
            "predicate",
        )
        relations = tuple(sorted(linked, key=lambda r: r.spans))
        return SceneGraph(
            text=self.document.text,
            entities=tuple(self.entities),
            attributes=attributes,
            relations=relations,
            rules=rules,
            parser=self.document.parser,
        )

    def _keep(self, used_entities: Sequence[Entity]) -> None:
        """Leave out all other entities, and number those that stay again."""
        if len(used_entities) == len(self.entities):
            return
        place: dict[int | None, int] = {
            entity.index: new for new, entity in enumerate(used_entities)
        }
        self.entities = [
            e
            if e.index == new
            else replace(e, index=new, member_of=place.get(e.member_of))
            for new, e in enumerate(used_entities)
        ]
        self._attributes = [
            (fact, place[entity]) for fact, entity in self._attributes
        ]
        self._relations = [
            (fact, place[a], place[b]) for fact, a, b in self._relations
        ]


def _merged(facts: Iterable[P], *key_fields: str) -> list[P]:
    """Return facts without repetitions; a repeated fact has the spans of all its places."""
    unique: dict[object, P] = {}
    key = attrgetter(*key_fields, "polarity")
    for fact in facts:
        earlier = unique.setdefault(key(fact), fact)
        if earlier is not fact:
            spans = tuple(dict.fromkeys((*earlier.spans, *fact.spans)))
            doubt = min(earlier.doubt, fact.doubt)
            unique[key(fact)] = replace(earlier, spans=spans, doubt=doubt)
    return list(unique.values())


def _base(fact: RelationFact) -> str:
    if fact.kind == "possessive":
        return "have"
    words = [w for w in fact.words if w.pos != "DET"]
    parts = [
        w.lemma if w.pos == "VERB" else AFFIRMED.get(w.lower, w.lower)
        for w in words
    ]
    # "Gives to" and "to left of" end with a word that is not written.
    written = fact.text or ""
    for added in ("to", "of"):
        if written.endswith(f" {added}") and parts[-1:] != [added]:
            parts.append(added)
    return " ".join(parts)


Rules: TypeAlias = Literal["reference", "fixed"]


def scene_graph(
    document: Document, rules: Rules = "fixed", coref: Coref = "builtin"
) -> SceneGraph:
    """The scene graph of a parsed text.

    Args:
        document: From ``parse``.
        rules: ``"fixed"``, or ``"reference"``, which repeats the published metric's graph with its
            faults.
        coref: ``"builtin"``, ``"none"``, a name of ``links.COREFERENCES`` (``"fastcoref"``), or a
            function from the text to clusters of character ranges.

    Raises:
        ConfigError: The rule set or the coreference is unknown.
    """
    if rules not in get_args(Rules):
        raise ConfigError(
            f"there are no rules {rules!r}; use one of {', '.join(get_args(Rules))}"
        )
    if rules == "reference":
        links = coreference.resolve(find_phrases(document), coref)
        return reference.reference_graph(document, links)
    # Plan: join runs that are one name; find phrases; set apart what no picture shows; link
    # mentions; collect attributes, numerals and relations of the entities.
    document = _quoted_as_objects(document.joined(_runs(document)))
    phrases = find_phrases(document)
    unseen.mark_unseen_phrases(phrases)
    links = coreference.resolve(phrases, coref)
    name_pronouns(phrases, links)
    builder = Builder(phrases, links)
    builder.add(attribute_facts(phrases))
    builder.add(numeral_facts(phrases))
    builder.add(relation_facts(phrases))
    return builder.graph(rules)


_QUOTED = re.compile(r'"[^"\n]{3,80}"|“[^”\n]{3,80}”')
_MOST_QUOTED = 8
"""Words of the longest quotation that is one name: signs, titles."""
_NAME = ("PROPN", "NNP")
_CLAUSES = ("ccomp", "xcomp", "parataxis", "advcl")


def _runs(document: Document) -> dict[Span, tuple[str, str]]:
    """Runs of words that are one: quotations, names with "of", prices and shares."""
    runs: dict[Span, tuple[str, str]] = {}
    for quoted in _QUOTED.finditer(document.text):
        begin, end = quoted.span()
        inside = [
            word for word in document if begin < word.start and word.end < end
        ]
        if (
            1 < len(inside) <= _MOST_QUOTED
            and inside[0].sentence == inside[-1].sentence
        ):
            runs[inside[0].index, inside[-1].index + 1] = _NAME
    for first, second in pairwise(document):
        if (
            first.pos in ("NOUN", "PROPN")
            and second.lower == "of"
            and _is_proper(first)
        ):
            last = document.words[second.index + 1 : second.index + 3]
            last = last[1:] if last and last[0].lower == "the" else last[:1]
            if last and _is_proper(last[0]):
                runs[first.index, last[0].index + 1] = _NAME
        symbol = first.pos == "SYM" or second.pos == "SYM"
        if symbol and _NUMERAL.fullmatch(
            document.text[first.start : second.end]
        ):
            runs[first.index, second.index + 1] = ("NUM", "CD")
    return runs


def _is_proper(word: Word) -> bool:
    # As in "the Statue of Liberty".
    noun = word.pos == "NOUN" and word.index > 0
    return (noun or word.pos == "PROPN") and word.text[:1].isupper()


def _quoted_as_objects(document: Document) -> Document:
    """The document with quotations that were read as clauses as the objects of their verbs."""
    quoted = [
        word for word in document if " " in word.text and word.dep in _CLAUSES
    ]
    if not quoted:
        return document
    words = list(document)
    for word in quoted:
        words[word.index] = word._replace(dep="obj")
    return Document(document.text, words, document.sentences, document.parser)


def name_pronouns(phrases: Phrases, links: Links) -> None:
    """Resolve "It is a dog", in place: the earlier thing is a dog, or "it" stands for the dog."""
    for word in map(phrases.word, list(links.same)):
        head = word.governor if word.lower == "it" else None
        if head is not None and head.lemma in WEATHER:
            del links.same[word.index]
    for index in list(phrases.by_word):
        noun = phrases.word(index)
        subject = named_subject(noun)
        if (
            subject is None
            or subject.pos != "PRON"
            or subject.index not in phrases.by_word
        ):
            continue
        antecedents = [*map(phrases.word, links.same.get(subject.index, ()))]
        bare = not noun.child("det", "nmod:poss")
        if (
            subject.lower == "it"
            and antecedents
            and bare
            and not noun.is_plural
        ):
            # As in "A dress lies there. It is sunset.".
            del links.same[subject.index]
        if subject.index in links.same:
            same = len(antecedents) == 1 and antecedents[0].lemma == noun.lemma
            phrases.stands_for[index] = (
                antecedents[0].index if same else subject.index
            )
            del phrases.by_word[index]
        elif index not in links.same:
            phrases.stands_for[subject.index] = index
            del phrases.by_word[subject.index]


_NUMERAL = re.compile(r"[$€£#]? ?\d[\d.,:/]*(?: ?[%°])?", re.ASCII)


def numeral_facts(phrases: Phrases) -> Iterator[AttributeFact]:
    """Years, and bare numerals, of the noun or the subject that they say something of.

    A year behind a preposition is said of the noun before it or of what its verb is said of; other
    numerals as in "shows 4:40".
    """
    numerals = [
        word for word in phrases.document if _NUMERAL.fullmatch(word.text)
    ]
    numerals = [word for word in numerals if word.index not in phrases.by_word]
    for word in numerals:
        cases = [c for c in word.children("case") if c.lower in DATING]
        head = word.governor
        if cases and head is not None and YEAR.fullmatch(word.text):
            polarity = not clauses.is_denied(head)
            for noun in _dated(head, phrases):
                yield AttributeFact(
                    noun=noun,
                    words=(*cases, word),
                    value=word.text,
                    kind="quality",
                    rule="year",
                    polarity=polarity,
                )
    for word in numerals:
        if YEAR.fullmatch(word.text) and word.child("case"):
            continue
        anchor = word
        head = word.governor
        head_phrase = None if head is None else phrases.by_word.get(head.index)
        if head_phrase is not None and word in head_phrase.name:
            continue
        if (
            head is not None
            and word.dep == "nummod"
            and head.index > word.index
        ):
            # As in "12 degrees".
            measure = head_phrase is None or head_phrase.kind == "unseen"
            if not measure and not labels(word, head):
                # How many there are.
                continue
            amount = head.child("cop") or head.dep in (
                "obj",
                "obl",
                "obl:unmarked",
            )
            if measure and (not amount or head.head_word.pos == "ADJ"):
                continue
            anchor = head if measure else word
        before = word.previous if follows_verb(word) else None
        owners = clauses.subjects(before) if before else []
        owners = (
            owners or clauses.subjects(anchor) or _governing(anchor, phrases)
        )
        for owner in owners[:1]:
            polarity = not clauses.is_denied(anchor.head_word)
            words = tuple(sorted({anchor, word}))
            value = " ".join(each.text.lower() for each in words)
            yield AttributeFact(
                noun=owner.index,
                words=words,
                value=value,
                kind="quality",
                rule="number",
                polarity=polarity,
            )


def _governing(word: Word, phrases: Phrases) -> list[Word]:
    """Return the noun above a word, or the subject of the verb above it."""
    above = word.governor
    if above is None or above.index in phrases.by_word:
        return [] if above is None else [above]
    return clauses.subjects(above) or _governing(above, phrases)


def _dated(head: Word, phrases: Phrases) -> list[int]:
    if head.index in phrases.by_word:
        return [head.index]
    if head.dep.startswith("acl") and head.head in phrases.by_word:
        return [head.head]
    return [subject.index for subject in clauses.subjects(head)]

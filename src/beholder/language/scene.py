"""The way from a parsed text to its scene graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from beholder.errors import ConfigError
from beholder.language import clauses, coreference, reference, unseen
from beholder.language.build import Builder
from beholder.language.describe import attribute_facts
from beholder.language.document import Document, Word
from beholder.language.facts import AttributeFact
from beholder.language.graph import SceneGraph
from beholder.language.lexicon import DATING
from beholder.language.links import Coref, Links
from beholder.language.phrases import Phrases, find_phrases, named_subject
from beholder.language.relate import relation_facts

Rules: TypeAlias = Literal["reference", "fixed"]


def scene_graph(document: Document, rules: Rules = "fixed", coref: Coref = "builtin") -> SceneGraph:
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
        raise ConfigError(f"there are no rules {rules!r}; use one of {', '.join(get_args(Rules))}")
    phrases = find_phrases(document)
    if rules == "fixed":
        unseen.validate_params(document, phrases)
    links = coreference.resolve(document, phrases, coref)
    if rules == "reference":
        return reference.reference_graph(document, links)
    name_pronouns(document, phrases, links)
    builder = Builder(document, phrases, links)
    builder.add(attribute_facts(document, phrases))
    builder.add(year_facts(document, phrases))
    builder.add(numeral_facts(document, phrases))
    builder.add(relation_facts(document, phrases))
    return builder.graph(rules)


def name_pronouns(document: Document, phrases: Phrases, links: Links) -> None:
    """Settle "It is a dog": what "it" repeats is a dog, or "it" is the dog that is named here."""
    for index in list(phrases.by_word):
        subject = named_subject(document, document.words[index])
        if subject is None or subject.pos != "PRON" or subject.index not in phrases.by_word:
            continue
        if subject.index in links.same:
            phrases.stands_for[index] = subject.index
        elif index not in links.same:
            phrases.stands_for[subject.index] = index
            del phrases.by_word[subject.index]
            continue
        else:
            continue
        del phrases.by_word[index]


_YEAR = re.compile(r"1\d{3}|20\d{2}", re.ASCII)


def year_facts(document: Document, phrases: Phrases) -> Iterator[AttributeFact]:
    """Years behind a preposition, of the noun before them or of what their verb is said of."""
    for word in document:
        if not _YEAR.fullmatch(word.text) or word.index in phrases.by_word:
            continue
        cases = [c for c in document.children(word, "case") if c.lower in DATING]
        head = document.head(word)
        if not cases or head is None:
            continue
        polarity = not clauses.is_denied(document, head)
        for noun in _dated(document, head, phrases):
            yield AttributeFact(noun, (*cases, word), word.text, "quality", "year", polarity)


_NUMERAL = re.compile(r"[$€£#]?\d[\d.,:/]*[%°]?", re.ASCII)


def numeral_facts(document: Document, phrases: Phrases) -> Iterator[AttributeFact]:
    """Bare numerals, of the noun or the subject that they say something of: "shows 4:40"."""
    for word in document:
        head = document.head(word)
        dated = _YEAR.fullmatch(word.text) and document.child(word, "case")
        if not _NUMERAL.fullmatch(word.text) or word.index in phrases.by_word or dated:
            continue
        said = word
        if head is not None and word.dep == "nummod" and head.index > word.index:
            if head.index in phrases.by_word or head.dep not in ("obj", "obl"):
                continue  # how many there are
            said = head
        elif head is not None and head.pos == "SYM":
            said = head
        owners = clauses.subjects(document, said) or _governing(document, said, phrases)
        for owner in owners[:1]:
            polarity = not clauses.is_denied(document, document.words[said.head])
            words = tuple(sorted({said, word}))
            value = " ".join(each.text.lower() for each in words)
            yield AttributeFact(owner.index, words, value, "quality", "number", polarity)


def _governing(document: Document, word: Word, phrases: Phrases) -> list[Word]:
    """The noun above a word, or what the verb above it is said of."""
    above = document.head(word)
    if above is None or above.index in phrases.by_word:
        return [] if above is None else [above]
    return clauses.subjects(document, above) or _governing(document, above, phrases)


def _dated(document: Document, head: Word, phrases: Phrases) -> list[int]:
    if head.index in phrases.by_word:
        return [head.index]
    if head.dep.startswith("acl") and head.head in phrases.by_word:
        return [head.head]
    return [subject.index for subject in clauses.subjects(document, head)]

"""Copies of treebank sentences with visual words put in the places of their own.

Treebanks hold few of the verbs, nouns and adjectives of image descriptions, and a small parser then
reads "the fixture projects" as two nouns. Trees stay right when a word is replaced by another of
the same class, so visual words are swapped in: third-person verbs (also for past ones), nouns by
number, and adjectives. The words come from the graphs of the FACTUAL *train* captions, counted
here; only the counts are used, and no caption is copied.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from beholder.language.words import parse
from training.english.factual import Caption
from training.english.ud import Sentence

PRESENT = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"
LENGTH = 30
_HAND = parse(Path(__file__).with_name("words.txt").read_text(encoding="utf-8"))
NOT_VERBS, NOT_SINGULAR, TRANSITIVE, INTRANSITIVE, ADJECTIVES = (
    " ".join(_HAND[name]).split()
    for name in ("not verbs", "not singular", "transitive", "intransitive", "adjectives")
)
NOUN_PLACES = frozenset(["nsubj", "obj", "obl", "nmod", "root", "conj", "nsubj:pass", "nmod:poss"])


@dataclass(frozen=True)
class VisualWords:
    """Words by class, each with its count."""

    singular: Counter[str]
    plural: Counter[str]
    adjectives: Counter[str]
    transitive: Counter[str]
    intransitive: Counter[str]


def visual_words(captions: list[Caption], floor: int = 4) -> VisualWords:
    """Word classes as the gold graphs show them."""
    objects: Counter[str] = Counter()
    attributes: Counter[str] = Counter()
    transitive: Counter[str] = Counter()
    intransitive: Counter[str] = Counter()
    for caption in captions:
        for subject, relation, target in caption.triples:
            words = relation.split()
            if words == ["is"]:
                attributes[target] += 1
            elif words and words[0] not in NOT_VERBS:
                (transitive if len(words) == 1 else intransitive)[words[0]] += 1
            objects[subject.split()[-1]] += 1
            if target and words != ["is"]:
                objects[target.split()[-1]] += 1
    for verb in TRANSITIVE:
        transitive[verb] += 25
    for verb in INTRANSITIVE:
        intransitive[verb] += 25
    for adjective in ADJECTIVES:
        attributes[adjective] += 25
    plural = {w for w in objects if w.endswith("s") and objects[w[:-1]] > 0 and len(w) > 3}

    def common(counts: Counter[str], drop: set[str]) -> Counter[str]:
        return Counter(
            {w: n for w, n in counts.items() if n >= floor and w.isalpha() and w not in drop}
        )

    return VisualWords(
        singular=common(
            objects, plural | set(NOT_SINGULAR) | {w for w in objects if w.endswith("s")}
        ),
        plural=common(objects, set(objects) - plural),
        adjectives=common(
            attributes, {w for w in attributes if objects[w] > attributes[w] or w.endswith("ing")}
        ),
        transitive=common(transitive, set(attributes)),
        intransitive=common(intransitive, set(attributes)),
    )


def third_person(verb: str) -> str:
    """The form in -s of a base form."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + "s"


def swap_copies(
    sentences: list[Sentence], words: VisualWords, rng: random.Random, limit: int
) -> Iterator[Sentence]:
    """Up to ``limit`` copies, of sentences in random order, each with two or more words swapped."""
    made = 0
    for sentence in rng.sample(sentences, len(sentences)):
        if made == limit:
            return
        if not 4 <= len(sentence) <= LENGTH:
            continue
        copy = _swap(sentence, words, rng)
        if sum(a.form != b.form for a, b in zip(sentence, copy, strict=True)) >= 2:
            made += 1
            yield copy


def _swap(sentence: Sentence, words: VisualWords, rng: random.Random) -> Sentence:
    copy = list(sentence)
    for place, word in enumerate(sentence):
        if rng.random() < 0.35:
            continue
        form = feats = None
        xpos = word.xpos
        if word.xpos == "NN" and word.deprel in NOUN_PLACES and word.form.islower():
            form = _draw(words.singular, rng)
        elif word.xpos == "NNS" and word.deprel in NOUN_PLACES and word.form.islower():
            form = _draw(words.plural, rng)
        elif word.xpos == "JJ" and word.deprel in ("amod", "root") and word.form.islower():
            form = _draw(words.adjectives, rng)
        elif word.upos == "VERB" and _is_third_person(sentence, place):
            has_object = any(w.head == place and w.deprel == "obj" for w in sentence)
            form = third_person(_draw(words.transitive if has_object else words.intransitive, rng))
            xpos, feats = "VBZ", PRESENT
        if form is not None:
            copy[place] = replace(word, form=form, xpos=xpos, feats=feats or word.feats)
            _mend_article(copy, place, form)
    return copy


def _is_third_person(sentence: Sentence, place: int) -> bool:
    word = sentence[place]
    if word.xpos not in ("VBZ", "VBD") or word.form.lower() in ("has", "had"):
        return False
    if any(w.head == place and w.deprel in ("ccomp", "xcomp", "iobj") for w in sentence):
        return False
    subjects = [w for w in sentence if w.head == place and w.deprel == "nsubj"]
    return any(w.xpos in ("NN", "NNP") or w.form.lower() in ("he", "she", "it") for w in subjects)


def _mend_article(copy: Sentence, place: int, form: str) -> None:
    before = copy[place - 1] if place else None
    if before is not None and before.form in ("a", "an"):
        copy[place - 1] = replace(before, form="an" if form[0] in "aeiou" else "a")


def _draw(counts: Counter[str], rng: random.Random) -> str:
    # The square root of the count lets rare words come more often than they would in captions.
    return rng.choices(list(counts), [n**0.5 for n in counts.values()])[0]

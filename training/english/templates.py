"""Small sentences made from templates, for constructs that descriptions have and treebanks lack.

A word of a template is ``form|tag|head|relation``; heads count from 1, 0 is the root. Capital
letters stand for visual words: N singular noun, P plural noun, A adjective, V verb in -s (T with an
object), G verb in -ing (H with an object), B bare verb (with a plural subject). Forms in lower case
stay as they are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from training.english.swaps import PRESENT, VisualWords, third_person
from training.english.ud import Sentence, Word

TEMPLATES = Path(__file__).with_name("templates.txt").read_text(encoding="utf-8").splitlines()

DOUBLED = frozenset(
    {
        "sit",
        "run",
        "swim",
        "step",
        "drag",
        "set",
        "get",
        "put",
        "jut",
        "dip",
        "strap",
        "wrap",
        "hit",
    }
    | {"cut", "spot", "flip", "grip", "grab", "stop", "hug", "pet"}
)
"""Verbs that double their last letter before -ing."""

_UPOS = {
    "DT": "DET", "NN": "NOUN", "NNS": "NOUN", "JJ": "ADJ", "VBZ": "VERB", "VBP": "VERB",
    "VBG": "VERB", "VBN": "VERB", "IN": "ADP", "CD": "NUM", "CC": "CCONJ", "RB": "ADV",
    ".": "PUNCT", ",": "PUNCT", "POS": "PART",
}  # fmt: skip
_FEATS = {
    "NN": "Number=Sing", "NNS": "Number=Plur", "JJ": "Degree=Pos", "VBZ": PRESENT,
    "VBP": "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin", "VBG": "VerbForm=Ger",
    "VBN": "Tense=Past|VerbForm=Part", "CD": "NumForm=Word|NumType=Card",
}  # fmt: skip


def template_sentences(words: VisualWords, rng: random.Random, each: int) -> Iterator[Sentence]:
    """``each`` sentences of every template; some begin with a capital, some as captions do."""
    for template in TEMPLATES:
        for _ in range(each):
            yield _filled(template, words, rng)


def _filled(template: str, words: VisualWords, rng: random.Random) -> Sentence:
    sentence: Sentence = []
    caption = rng.random() < 0.4
    for place, entry in enumerate(template.split()):
        form, tag, head, relation = entry.split("|")
        form = _visual(form, words, rng)
        upos = "AUX" if form == "is" else _UPOS[tag]
        feats = "Definite=Ind|PronType=Art" if form == "a" else _FEATS.get(tag, "_")
        sentence.append(
            Word(form, upos, tag, feats, int(head) - 1 if head != "0" else place, relation, True)
        )
    for place, word in enumerate(sentence[:-1]):
        following = sentence[place + 1].form
        form = "an" if word.form == "a" and following[0] in "aeiou" else word.form
        space = following not in (".", ",", "'s")
        sentence[place] = Word(
            form, word.upos, word.xpos, word.feats, word.head, word.deprel, space
        )
    if caption:
        return sentence
    first = sentence[0]
    capital = first.form[0].upper() + first.form[1:]
    sentence[0] = Word(
        capital, first.upos, first.xpos, first.feats, first.head, first.deprel, first.space
    )
    return sentence


def _visual(form: str, words: VisualWords, rng: random.Random) -> str:
    classes = {
        "N": words.singular, "P": words.plural, "A": words.adjectives, "V": words.intransitive,
        "T": words.transitive, "B": words.intransitive, "G": words.intransitive,
        "H": words.transitive,
    }  # fmt: skip
    if form not in classes:
        return form
    counts = classes[form]
    word = rng.choices(list(counts), [count**0.5 for count in counts.values()])[0]
    if form in "VT":
        return third_person(word)
    return _gerund(word) if form in "GH" else word


def _gerund(verb: str) -> str:
    if verb in DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"

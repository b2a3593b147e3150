"""Captions made of trees: pieces of sentences, clauses turned to phrases, and filled templates.

Treebanks hold few captions, and a parser that never saw one reads "zebra grazing on grass" as a
compound. Trees stay right when a sentence is cut, put in lower case and robbed of its articles;
and a clause becomes a phrase when its verb becomes a participle: "The zebra grazes." becomes "zebra
grazing". ``templates.txt`` holds what descriptions say and treebanks hardly do; the words to fill
it are counted in trees.

A word of a template is ``form|tag|head|relation``; heads count from 1, 0 is the root. Capital
letters stand for words: N singular noun, P plural noun, A adjective, V verb in -s (T with an
object), G verb in -ing (H with an object), B bare verb. Forms in lower case stay as they are.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from beholder.language.lemmas import lemma
from training.english.ud import CAPTION_LENGTH, Sentence, Word, caption_copies

TEMPLATES = (
    Path(__file__)
    .with_name("templates.txt")
    .read_text(encoding="utf-8")
    .splitlines()
)
PER_TEMPLATE = 120
_FLOOR = 3
"""How often a word is seen to be put into templates."""
_PARTS = {
    "DT": "DET",
    "NN": "NOUN",
    "NNS": "NOUN",
    "JJ": "ADJ",
    "VBZ": "VERB",
    "VBP": "VERB",
    "VBG": "VERB",
    "VBN": "VERB",
    "IN": "ADP",
    "CD": "NUM",
    "CC": "CCONJ",
    "RB": "ADV",
    ".": "PUNCT",
    ",": "PUNCT",
    "POS": "PART",
}
_VERBS = {"VBZ": ("V", "T"), "VBG": ("G", "H"), "VBP": ("B", None)}
"""Letters of verbs without and with an object."""
_BE, _HAVE = (
    frozenset(["am", "is", "are", "was", "were"]),
    frozenset(["has", "have", "had"]),
)
_ARTICLES = frozenset(["a", "an", "the"])
_ADJUNCTS = frozenset(
    [
        "aux",
        "aux:pass",
        "cop",
        "case",
        "mark",
        "expl",
        "ccomp",
        "csubj",
        "xcomp",
    ]
)
"""Relations below a predicate that decide whether it can modify its subject."""
_FOLLOWING = frozenset(
    ["obj", "iobj", "obl", "obl:npmod", "advmod", "compound:prt", "nmod"]
)
"""Relations of what a phrase keeps of what follows its predicate."""


class Words:
    """Forms by class, as the trees show them, with how often each stands there."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._participles: dict[str, str] = {}
        for sentence in sentences:
            owners = {w.head for w in sentence if w.deprel == "obj"}
            for place, word in enumerate(sentence):
                kind = _kind(word, place in owners)
                if (
                    kind
                    and word.form.isalpha()
                    and word.form.islower()
                    and word.form not in _BE
                ):
                    counts[kind][word.form] += 1
                    if word.xpos == "VBG" and word.upos == "VERB":
                        self._participles[lemma(word.form, "VERB", "VBG")] = (
                            word.form
                        )
        self._common = {
            kind: {form: n**0.5 for form, n in forms.items() if n >= _FLOOR}
            for kind, forms in counts.items()
        }

    def draw(self, kind: str, rng: random.Random) -> str:
        """Return some form of a class; rare ones come more often than in the trees."""
        weights = self._common[kind]
        return rng.choices(list(weights), list(weights.values()))[0]

    def participle(self, verb: Word) -> str | None:
        """Return the form in -ing of a verb, if the trees have it."""
        return self._participles.get(
            lemma(verb.form.lower(), "VERB", verb.xpos)
        )


def _kind(word: Word, has_object: bool) -> str | None:
    """Return the capital letter of a word's class in templates."""
    if word.upos == "NOUN":
        return {"NN": "N", "NNS": "P"}.get(word.xpos)
    if word.xpos == "JJ":
        return "A" if word.deprel == "amod" else None
    if word.upos == "VERB":
        without, with_one = _VERBS.get(word.xpos, (None, None))
        return with_one if has_object else without
    return None


def captions(
    sentences: Sequence[Sentence], words: Words, rng: random.Random
) -> Iterator[Sentence]:
    """Captions cut from sentences: whole ones, noun phrases, and clauses turned to phrases."""
    for copy in caption_copies(sentences, rng):
        if copy:
            yield _robbed(copy, rng)
    for sentence in sentences:
        for phrase in _phrases(sentence, words):
            yield _robbed(phrase, rng)


def templates(words: Words, rng: random.Random) -> Iterator[Sentence]:
    """Yield every template with words, ``PER_TEMPLATE`` times."""
    for template in TEMPLATES:
        for _ in range(PER_TEMPLATE):
            yield _filled(template, words, rng)


def _phrases(sentence: Sentence, words: Words) -> Iterator[Sentence]:
    """Clauses with a noun before their predicate, as a noun with what it does, or where it is."""
    for subject, word in enumerate(sentence):
        top = word.head
        if (
            word.upos != "NOUN"
            or word.deprel not in ("nsubj", "nsubj:pass")
            or subject > top
        ):
            continue
        turned = _turned(sentence, top, words)
        if turned is None:
            continue
        subtree = sorted(_subtree(sentence, subject))
        while sentence[subtree[-1]].deprel == "punct":
            subtree.pop()
        places_kept = [*subtree, *_predicate(sentence, top)]
        copy = list(sentence)
        copy[subject] = replace(word, head=subject, deprel="root")
        copy[top] = replace(turned, head=subject)
        closed = {copy[place].head for place in places_kept} <= set(
            places_kept
        )
        if (
            closed
            and len(subtree) == subtree[-1] - subtree[0] + 1
            and len(places_kept) <= CAPTION_LENGTH
        ):
            yield [
                replace(w, form=w.form.lower())
                for w in _cut(copy, places_kept)
            ]


def _turned(sentence: Sentence, top: int, words: Words) -> Word | None:
    """Return the predicate as what modifies its subject, if it can be that."""
    word = sentence[top]
    under = {
        w.deprel: w
        for w in sentence
        if w.head == top and w.deprel in _ADJUNCTS
    }
    if (
        word.upos == "NOUN"
        and set(under) == {"cop", "case"}
        and word.deprel == "root"
    ):
        return replace(word, deprel="nmod")
    if word.upos != "VERB" or word.form.lower() in _HAVE:
        return None
    if word.xpos in ("VBZ", "VBP", "VBD") and not under:
        form = words.participle(word)
        return (
            replace(word, form=form, xpos="VBG", deprel="acl")
            if form
            else None
        )
    progressive = word.xpos == "VBG" and set(under) == {"aux"}
    passive = word.xpos == "VBN" and set(under) == {"aux:pass"}
    plain = all(w.form.lower() in _BE for w in under.values())
    return (
        replace(word, deprel="acl")
        if (progressive or passive) and plain
        else None
    )


def _predicate(sentence: Sentence, top: int) -> list[int]:
    """The places of a predicate and of what follows it, up to a clause, comma or conjunction."""
    case = [
        p
        for p, w in enumerate(sentence)
        if w.head == top and w.deprel == "case"
    ]
    first = min((*case, top))
    places_kept = list(range(first, top + 1))
    inside = _subtree(sentence, top)
    for place in range(top + 1, len(sentence)):
        branch = place
        while branch in inside and sentence[branch].head != top:
            branch = sentence[branch].head
        if branch not in inside or sentence[branch].deprel not in _FOLLOWING:
            break
        places_kept.append(place)
    while sentence[places_kept[-1]].deprel in ("punct", "case", "det", "cc"):
        places_kept.pop()
    return places_kept


def _subtree(sentence: Sentence, top: int) -> set[int]:
    inside = {top}
    grown = True
    while grown:
        more = {p for p, w in enumerate(sentence) if w.head in inside} - inside
        grown = bool(more)
        inside |= more
    return inside


def _robbed(sentence: Sentence, rng: random.Random) -> Sentence:
    """Half of them without their articles."""
    if rng.random() < 0.5:
        return sentence
    heads = {word.head for word in sentence}
    places_kept = [
        place
        for place, word in enumerate(sentence)
        if place in heads
        or word.deprel != "det"
        or word.form.lower() not in _ARTICLES
    ]
    return _cut(sentence, places_kept)


def _cut(sentence: Sentence, places_kept: Sequence[int]) -> Sentence:
    """Return some words of a sentence, among them the head of each."""
    places = {old: new for new, old in enumerate(places_kept)}
    return [
        replace(sentence[old], head=places[sentence[old].head])
        for old in places_kept
    ]


def _filled(template: str, words: Words, rng: random.Random) -> Sentence:
    """Return a template with words; some begin with a capital, some as captions do."""
    forms, rows = [], [entry.split("|") for entry in template.split()]
    for form, *_ in rows:
        forms.append(words.draw(form, rng) if form.isupper() else form)
    for place, following in enumerate(forms[1:]):
        if forms[place] == "a" and following[0] in "aeiou":
            forms[place] = "an"
    if rng.random() < 0.6:
        forms[0] = forms[0].capitalize()
    elif forms[-1] == ".":
        forms.pop()
    return [
        Word(
            form,
            "AUX" if form == "is" else _PARTS[tag],
            tag,
            "_",
            int(head) - 1 if head != "0" else place,
            relation,
            True,
        )
        for place, (form, (_, tag, head, relation)) in enumerate(
            zip(forms, rows, strict=False)
        )
    ]

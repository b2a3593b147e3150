"""Small sentences made from templates, for constructs that descriptions have and treebanks lack.

A word of a template is ``form|tag|head|relation``; heads count from 1, 0 is the root. Capital
letters stand for visual words: N singular noun, P plural noun, A adjective, V verb in -s (T with an
object), G verb in -ing (H with an object), B bare verb (with a plural subject). Forms in lower case
stay as they are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from training.english.swaps import PRESENT, VisualWords, third_person
from training.english.ud import Sentence, Word

TEMPLATES = """
behind|IN|3|case the|DT|3|det N|NN|4|obl V|VBZ|0|root a|DT|6|det N|NN|4|nsubj .|.|4|punct
on|IN|3|case the|DT|3|det N|NN|4|obl V|VBZ|0|root a|DT|7|det A|JJ|7|amod N|NN|4|nsubj .|.|4|punct
in|IN|3|case the|DT|3|det background|NN|4|obl B|VBP|0|root two|CD|7|nummod A|JJ|7|amod P|NNS|4|nsubj .|.|4|punct
above|IN|3|case the|DT|3|det N|NN|4|obl V|VBZ|0|root a|DT|6|det N|NN|4|nsubj with|IN|9|case A|JJ|9|amod P|NNS|6|nmod .|.|4|punct
to|IN|3|case the|DT|3|det left|NN|7|obl of|IN|6|case the|DT|6|det N|NN|3|nmod V|VBZ|0|root a|DT|9|det N|NN|7|nsubj .|.|7|punct
at|IN|3|case the|DT|3|det top|NN|0|root of|IN|6|case the|DT|6|det N|NN|3|nmod is|VBZ|3|cop a|DT|9|det N|NN|3|nsubj .|.|3|punct
in|IN|2|case front|NN|0|root of|IN|5|case the|DT|5|det N|NN|2|nmod is|VBZ|2|cop a|DT|9|det A|JJ|9|amod N|NN|2|nsubj .|.|2|punct
behind|IN|3|case the|DT|3|det N|NN|0|root is|VBZ|3|cop a|DT|6|det N|NN|3|nsubj .|.|3|punct
attached|VBN|0|root to|IN|4|case the|DT|4|det N|NN|1|obl is|VBZ|1|aux:pass a|DT|7|det N|NN|1|nsubj:pass .|.|1|punct
two|CD|2|nummod P|NNS|3|nsubj B|VBP|0|root .|.|3|punct
the|DT|2|det N|NN|3|nsubj V|VBZ|0|root .|.|3|punct
a|DT|2|det N|NN|3|nsubj V|VBZ|0|root from|IN|6|case the|DT|6|det N|NN|3|obl .|.|3|punct
the|DT|3|det A|JJ|3|amod N|NN|4|nsubj V|VBZ|0|root from|IN|7|case the|DT|7|det N|NN|4|obl .|.|4|punct
one|CD|5|nsubj of|IN|4|case the|DT|4|det P|NNS|1|nmod V|VBZ|0|root .|.|5|punct
one|CD|5|nsubj of|IN|4|case the|DT|4|det P|NNS|1|nmod T|VBZ|0|root a|DT|7|det N|NN|5|obj .|.|5|punct
a|DT|2|det N|NN|3|nsubj V|VBZ|0|root on|IN|6|case a|DT|6|det N|NN|3|obl H|VBG|3|advcl a|DT|9|det N|NN|7|obj .|.|3|punct
the|DT|2|det N|NN|4|nsubj is|VBZ|4|aux G|VBG|0|root on|IN|7|case the|DT|7|det N|NN|4|obl ,|,|9|punct H|VBG|4|advcl a|DT|11|det N|NN|9|obj .|.|4|punct
one|CD|2|nsubj T|VBZ|0|root a|DT|4|det N|NN|2|obj .|.|2|punct
the|DT|2|det other|JJ|3|nsubj T|VBZ|0|root a|DT|5|det N|NN|3|obj .|.|3|punct
N|NN|0|root G|VBG|1|acl on|IN|4|case N|NN|2|obl
N|NN|0|root H|VBG|1|acl N|NN|2|obj
N|NN|0|root H|VBG|1|acl a|DT|5|det A|JJ|5|amod N|NN|2|obj
a|DT|3|det A|JJ|3|amod N|NN|0|root G|VBG|3|acl
P|NNS|0|root G|VBG|1|acl in|IN|5|case the|DT|5|det N|NN|2|obl
N|NN|0|root on|IN|4|case a|DT|4|det N|NN|1|nmod
N|NN|0|root underneath|IN|4|case the|DT|4|det N|NN|1|nmod
N|NN|0|root next|JJ|5|advmod to|IN|5|case a|DT|5|det N|NN|1|nmod
A|JJ|2|amod N|NN|0|root next|JJ|2|amod to|IN|6|case the|DT|6|det N|NN|3|obl
N|NN|0|root the|DT|3|det N|NN|5|nsubj is|VBZ|5|aux H|VBG|1|acl:relcl
the|DT|2|det N|NN|0|root the|DT|4|det N|NN|5|nsubj V|VBZ|2|acl:relcl on|IN|5|obl
the|DT|2|det N|NN|6|nsubj the|DT|4|det N|NN|5|nsubj T|VBZ|2|acl:relcl V|VBZ|0|root .|.|6|punct
the|DT|2|det N|NN|3|nsubj T|VBZ|0|root a|DT|5|det N|NN|3|obj and|CC|7|cc V|VBZ|3|conj .|.|3|punct
the|DT|2|det N|NN|3|nsubj appears|VBZ|0|root A|JJ|3|xcomp and|CC|6|cc A|JJ|4|conj .|.|3|punct
the|DT|2|det N|NN|4|nsubj is|VBZ|4|cop A|JJ|0|root and|CC|6|cc T|VBZ|4|conj a|DT|8|det N|NN|6|obj .|.|4|punct
a|DT|2|det N|NN|6|nsubj with|IN|5|case a|DT|5|det N|NN|2|nmod V|VBZ|0|root in|IN|9|case the|DT|9|det N|NN|6|obl .|.|6|punct
a|DT|2|det N|NN|7|nsubj ,|,|4|punct H|VBG|2|acl P|NNS|4|obj ,|,|4|punct V|VBZ|0|root .|.|7|punct
a|DT|2|det N|NN|4|nmod:poss 's|POS|2|case N|NN|5|nsubj V|VBZ|0|root above|IN|8|case the|DT|8|det N|NN|5|obl .|.|5|punct
a|DT|2|det N|NN|9|nsubj next|JJ|6|advmod to|IN|6|case a|DT|6|det N|NN|2|nmod is|VBZ|9|cop very|RB|9|advmod A|JJ|0|root .|.|9|punct
""".strip().split("\n")

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
    """``each`` sentences of every template; half with a capital, half as captions."""
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
    if verb in (
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
        "cut",
        "spot",
        "flip",
        "grip",
        "grab",
        "stop",
        "hug",
        "pet",
    ):
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"

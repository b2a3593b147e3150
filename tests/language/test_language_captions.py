"""Captions that the parser's training makes of trees."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from training.english import captions
from training.english.ud import Sentence, Word

from toy.cases import each_case

TEMPLATE = "a|DT|2|det N|NN|0|root G|VBG|2|acl .|.|2|punct"


def sentence(text: str) -> Sentence:
    """``form|part|tag|head|relation`` a word; heads count from 1, 0 is the root."""
    words = []
    for place, entry in enumerate(text.split()):
        form, part, tag, head, relation = entry.split("|")
        words.append(
            Word(
                form,
                part,
                tag,
                "_",
                int(head) - 1 if head != "0" else place,
                relation,
                True,
            )
        )
    return words


def lines(phrases: Iterator[Sentence]) -> list[str]:
    return [
        " ".join(f"{w.form}|{w.xpos}|{0 if w.head == p else w.head + 1}|{w.deprel}" for p, w in enumerate(phrase))
        for phrase in phrases
    ]  # fmt: skip


GRAZING = sentence(
    "A|DET|DT|2|det cow|NOUN|NN|3|nsubj grazing|VERB|VBG|0|root"
)
ZEBRA = "The|DET|DT|2|det zebra|NOUN|NN|{top}|nsubj "


@pytest.mark.parametrize(
    ("clause", "phrase"),
    [
        (
            ZEBRA.format(top=3)
            + "grazes|VERB|VBZ|0|root on|ADP|IN|5|case grass|NOUN|NN|3|obl "
            ".|PUNCT|.|3|punct",
            "the|DT|2|det zebra|NN|0|root grazing|VBG|2|acl on|IN|5|case grass|NN|3|obl",
        ),
        (
            ZEBRA.format(top=4)
            + "is|AUX|VBZ|4|aux grazing|VERB|VBG|0|root ,|PUNCT|,|6|punct "
            "sleeping|VERB|VBG|4|advcl",
            "the|DT|2|det zebra|NN|0|root grazing|VBG|2|acl",
        ),
        (
            ZEBRA.format(top=5)
            + "is|AUX|VBZ|5|cop on|ADP|IN|5|case grass|NOUN|NN|0|root",
            "the|DT|2|det zebra|NN|0|root on|IN|4|case grass|NN|2|nmod",
        ),
        (
            ZEBRA.format(top=4).replace("nsubj", "nsubj:pass")
            + "was|AUX|VBD|4|aux:pass seen|VERB|VBN|0|root",
            "the|DT|2|det zebra|NN|0|root seen|VBN|2|acl",
        ),
    ],
)
def test_a_clause_becomes_a_phrase(clause: str, phrase: str) -> None:
    words = captions.Words([GRAZING])
    assert lines(captions._phrases(sentence(clause), words)) == [phrase]


@each_case(
    "clause",
    [
        ZEBRA.format(top=3)
        + "sleeps|VERB|VBZ|0|root",  # no participle is known
        ZEBRA.format(top=3) + "has|VERB|VBZ|0|root stripes|NOUN|NNS|3|obj",
        ZEBRA.format(top=4) + "may|AUX|MD|4|aux graze|VERB|VB|0|root",
        ZEBRA.format(top=4) + "has|AUX|VBZ|4|aux grazing|VERB|VBG|0|root",
        ZEBRA.format(top=4) + "is|AUX|VBZ|4|cop black|ADJ|JJ|0|root",
        "It|PRON|PRP|2|nsubj grazes|VERB|VBZ|0|root",
    ],
)
def test_other_clauses_do_not(clause: str) -> None:
    assert not lines(
        captions._phrases(sentence(clause), captions.Words([GRAZING]))
    )


def test_articles_go_without_breaking_the_tree() -> None:
    text = "the|DET|DT|2|det dog|NOUN|NN|0|root near|ADP|IN|5|case a|DET|DT|5|det cup|NOUN|NN|2|nmod"
    robbed = "dog|NN|0|root near|IN|3|case cup|NN|1|nmod"
    whole = (
        "the|DT|2|det dog|NN|0|root near|IN|5|case a|DT|5|det cup|NN|2|nmod"
    )
    rng = random.Random(0)
    sentences = {
        lines(iter([captions._robbed(sentence(text), rng)]))[0]
        for _ in range(40)
    }
    assert sentences == {robbed, whole}


def test_templates_take_words_of_their_class_that_are_seen_often_enough() -> (
    None
):
    often = sentence("owl|NOUN|NN|0|root perching|VERB|VBG|1|acl")
    seldom = sentence(
        "moth|NOUN|NN|0|root eating|VERB|VBG|1|acl moths|NOUN|NNS|2|obj"
    )
    words = captions.Words([often] * 3 + [seldom] * 2)
    rng = random.Random(0)
    sentences = set(
        lines(iter(captions._filled(TEMPLATE, words, rng) for _ in range(60)))
    )
    middle = "|DT|2|det owl|NN|0|root perching|VBG|2|acl"
    assert sentences == {f"An{middle} .|.|2|punct", f"an{middle}"}

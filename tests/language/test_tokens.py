"""Tokens beside those of spaCy's tokenizer, and long runs of signs."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.lang.en import English

from beholder.language import parse
from beholder.language.tokens import tokens
from toy.cases import each_case

SPACY = English().tokenizer
SAMPLE = [
    text
    for line in (resources.files("beholder.samples") / "descriptions.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
    for row in [json.loads(line)]
    for text in (row["candidate"], *row["references"])
]
TEXTS = [
    'A dog\'s "red" ball (see https://example.org/a?b=c&d=e#f) - and so on...',
    "They don't, can't and won't; it's he'd, we've, I'm and you'll. Cannot, gonna, Dr. Who, e.g. 8 a.m.",
    "A 5km run, 12kg, $12.50, 15%, 4:40, US$3, £4, 20°C., +5, 5+3, 2-3, 1930s, 1/2 and 3.5.",
    "well-lit, black-and-white, T-shirt, and/or, x=y, a<b, sky.The end,then more--or—less…",
    "  A dog.\n\nTwo  cats sit \t here. 'Quoted' ‘words’ “stand” «there» [1] {2} <b> #tag @me 😀!",
    "U.S. and U.K. flags; N.Y. No. 5. The end",
    "A dog——a cat; 5——6, a-—b and a—-—b, (——) x—— ——x",
    "www.a.org, a.b.com/c, me@mail.org, 1.2.3.4:80 and nearby.ATTACHED",
]


@each_case("text", [*SAMPLE, *TEXTS])
def test_tokens_are_those_of_spacy(text: str) -> None:
    assert tokens(text) == [(token.text, token.idx) for token in SPACY(text)]


@given(st.text(alphabet="aB1 .,-—'\"()$%:é…😀\n", max_size=30))
@example("a-b.C")
def test_nothing_of_a_text_is_lost(text: str) -> None:
    pieces = tokens(text)
    assert all(
        text[start : start + len(word)] == word for word, start in pieces
    )
    ends = [0, *(start + len(word) for word, start in pieces)]
    starts = [*(start for _, start in pieces), len(text)]
    assert {text[a:b] for a, b in zip(ends, starts, strict=True)} <= {"", " "}


@pytest.mark.parametrize("sign", ['"', "(", ")", "$", "!", "😀", "="])
def test_long_runs_of_signs_are_cut(sign: str) -> None:
    text = f"A dog {sign * 300} and a cat."
    assert tokens(text) == [(token.text, token.idx) for token in SPACY(text)]
    text = f"A dog {sign * 50_000} and a cat."
    assert [word for word, _ in tokens(text) if word.isalpha()] == [
        "A",
        "dog",
        "and",
        "a",
        "cat",
    ]


def test_places_of_words_stand_in_the_original() -> None:
    text = f"A dog {'(' * 300} and a cat."
    words = parse(text).words
    assert [text[word.start : word.end] for word in words] == [
        word.text for word in words
    ]
    assert [w.text for w in words if w.text.isalpha()] == [
        "A",
        "dog",
        "and",
        "a",
        "cat",
    ]

"""The treebanks as the training reads them."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import spacy

from training.english import ud
from training.english.examples import Document, Sentence, aligned

TREEBANKS = ("en_ewt", "en_gum_open")


def path(data: Path, name: str, split: str) -> Path:
    """Where a part of a treebank lies."""
    return data / "ud_english" / f"{name}-ud-{split}.conllu.xz"


def treebanks(data: Path, split: str) -> list[Document]:
    """The open treebanks of one split, on the tokens that the tokenizer makes."""
    nlp = spacy.blank("en")
    return [
        document
        for name in TREEBANKS
        for document in aligned(nlp, ud.documents(nlp.vocab, path(data, name, split)))
    ]


def captions(docs: Sequence[Document], rng: random.Random) -> list[Document]:
    """Copies of sentences that look like captions, each a document."""
    sentences = [sentence.as_words() for doc in docs for sentence in doc if _whole(sentence)]
    return [[Sentence.of(copy)] for copy in ud.caption_copies(sentences, rng) if copy]


def _whole(sentence: Sentence) -> bool:
    return min(sentence.heads) >= 0


def descriptions(path: Path) -> Iterator[str]:
    """The texts of the unlabelled descriptions."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]

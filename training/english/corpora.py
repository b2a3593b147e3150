"""The treebanks as the training reads them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy

from training.english import ud
from training.english.examples import Document, Sentence, aligned

TREEBANKS = ("en_ewt", "en_gum_open")


def path(data: Path, name: str, split: str) -> Path:
    """Return the path of a part of a treebank."""
    return data / "ud_english" / f"{name}-ud-{split}.conllu.xz"


def treebanks(data: Path, split: str) -> list[Document]:
    """Return the open treebanks of one split, on the tokens that the tokenizer makes."""
    nlp = spacy.blank("en")
    return [
        document
        for name in TREEBANKS
        for document in aligned(
            nlp, ud.documents(nlp.vocab, path(data, name, split))
        )
    ]


def complete_sentences(docs: Iterable[Document]) -> list[ud.Sentence]:
    """Return the sentences whose every head is known."""
    return [s.as_words() for doc in docs for s in doc if min(s.heads) >= 0]


def alone(sentences: Iterable[ud.Sentence]) -> list[Document]:
    """Return each sentence as a document."""
    return [[Sentence.from_words(sentence)] for sentence in sentences]


def descriptions(path: Path) -> Iterator[str]:
    """Yield the texts of the unlabelled descriptions."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]

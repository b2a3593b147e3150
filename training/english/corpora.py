"""What each training stage reads: documents and the spaCy files they are kept in."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from training.english import factual, swaps, templates, ud

TREEBANKS = ("en_ewt", "en_gum_open")
SWAP_COPIES = 6000
PER_TEMPLATE = 80


def ud_documents(vocab: Vocab, data: Path, split: str) -> list[Doc]:
    """The open treebanks of one split."""
    return [
        doc
        for name in TREEBANKS
        for doc in ud.documents(vocab, data / "ud_english" / f"{name}-ud-{split}.conllu.xz")
    ]


def copies(
    vocab: Vocab,
    data: Path,
    captions: list[factual.Caption],
    seed: int,
    per_template: int = 0,
) -> list[Doc]:
    """Caption-like and swapped copies of the training sentences, and template sentences."""
    rng = random.Random(seed)
    sentences = [
        sentence
        for name in TREEBANKS
        for _, sentence in ud.read(data / "ud_english" / f"{name}-ud-train.conllu.xz")
    ]
    words = swaps.visual_words(captions)
    made = list(ud.caption_copies(sentences, rng))
    made += swaps.swap_copies(sentences, words, rng, SWAP_COPIES)
    made += templates.template_sentences(words, rng, per_template)
    return [ud.make_doc(vocab, [sentence]) for sentence in made if sentence]


def save(docs: Iterable[Doc], path: Path) -> None:
    """Write documents as a ``.spacy`` file."""
    DocBin(docs=docs, store_user_data=False).to_disk(path)

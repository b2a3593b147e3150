"""Universal Dependencies treebanks as spaCy documents, with caption-like copies."""

from __future__ import annotations

import lzma
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

SENTENCES_PER_DOC = 8
CAPTION_LENGTH = 25
"""Longest sentence, in words, of which a caption-like copy is made."""


@dataclass(frozen=True)
class Word:
    """One line of a treebank; ``head`` is a place in the sentence from 0, its own for the root."""

    form: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str
    space: bool


Sentence = list[Word]


def read_sentences(path: Path) -> Iterator[tuple[bool, Sentence]]:
    """Sentences of an ``.conllu.xz`` file, each with whether it starts a new document."""
    lines: list[str] = []
    new_document = True
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("# newdoc"):
                new_document = True
            elif line and not line.startswith("#"):
                lines.append(line)
            elif not line and lines:
                yield new_document, _sentence(lines)
                lines, new_document = [], False
    if lines:
        yield new_document, _sentence(lines)


def _sentence(lines: list[str]) -> Sentence:
    words: list[Word] = []
    joined_until, joined_space = (
        0,
        True,
    )  # a range line (don't = do + n't) holds the spacing
    for line in lines:
        column = line.split("\t")
        if "." in column[0]:  # an empty node
            continue
        space = "SpaceAfter=No" not in column[9]
        if "-" in column[0]:
            joined_until, joined_space = int(column[0].split("-")[1]), space
            continue
        place = int(column[0])
        if place <= joined_until:
            space = joined_space if place == joined_until else False
        head = int(column[6]) - 1 if column[6] != "0" else place - 1
        words.append(
            Word(
                column[1],
                column[3],
                column[4],
                column[5],
                head,
                column[7],
                space,
            )
        )
    return words


def make_doc(vocab: Vocab, sentences: list[Sentence]) -> Doc:
    """One document of several sentences."""
    words = [word for sentence in sentences for word in sentence]
    heads, starts, offset = [], [], 0
    for sentence in sentences:
        heads += [offset + word.head for word in sentence]
        starts += [place == 0 for place in range(len(sentence))]
        offset += len(sentence)
    return Doc(
        vocab,
        words=[word.form for word in words],
        spaces=[word.space for word in words],
        tags=[word.xpos for word in words],
        pos=[word.upos for word in words],
        morphs=["" if word.feats == "_" else word.feats for word in words],
        heads=heads,
        deps=[
            "ROOT" if word.deprel == "root" else word.deprel for word in words
        ],
    )


def documents(vocab: Vocab, path: Path) -> Iterator[Doc]:
    """Yield a treebank as documents of a few sentences, never across a document boundary."""
    batch: list[Sentence] = []
    for new_document, sentence in read_sentences(path):
        if batch and (new_document or len(batch) == SENTENCES_PER_DOC):
            yield make_doc(vocab, batch)
            batch = []
        batch.append(sentence)
    if batch:
        yield make_doc(vocab, batch)


def caption_copies(
    sentences: Sequence[Sentence], rng: random.Random
) -> Iterator[Sentence]:
    """Copies that look like captions: lower case, no full stop; sentences and noun phrases."""
    for sentence in sentences:
        if 3 <= len(sentence) <= CAPTION_LENGTH and rng.random() < 0.45:
            yield _as_caption(sentence)
        phrase = _noun_phrase(sentence, rng)
        if phrase is not None and rng.random() < 0.5:
            yield _as_caption(phrase) if rng.random() < 0.8 else phrase


def _as_caption(sentence: Sentence) -> Sentence:
    words = list(sentence)
    last = len(words) - 1
    if words[last].form in ".!" and all(
        w.head != last or w is words[last] for w in words
    ):
        words = words[:last]
        if words:
            words[-1] = replace(words[-1], space=False)
    return [replace(word, form=word.form.lower()) for word in words]


def _noun_phrase(sentence: Sentence, rng: random.Random) -> Sentence | None:
    """Return the longest subtree of a random noun, as a sentence of its own."""
    nouns = [
        p
        for p, w in enumerate(sentence)
        if w.upos == "NOUN" and w.deprel != "root"
    ]
    if not nouns:
        return None
    top = rng.choice(nouns)
    inside = {top}
    grown = True
    while grown:
        more = {p for p, w in enumerate(sentence) if w.head in inside} - inside
        grown = bool(more)
        inside |= more
    # The preposition, comma or conjunction that ties the phrase to its sentence stays behind.
    inside -= {
        p
        for p in inside
        if sentence[p].head == top
        and sentence[p].deprel in ("case", "punct", "cc", "mark")
    }
    first, last = min(inside), max(inside)
    is_contiguous = last - first + 1 == len(inside)
    closed = all(p == top or sentence[p].head in inside for p in inside)
    if not (2 <= len(inside) <= CAPTION_LENGTH and is_contiguous and closed):
        return None
    place = {old: new for new, old in enumerate(range(first, last + 1))}
    return [
        replace(
            sentence[p],
            head=place[p] if p == top else place[sentence[p].head],
            deprel="root" if p == top else sentence[p].deprel,
        )
        for p in range(first, last + 1)
    ]

"""Silver trees: the teacher's trees of descriptions without any annotation."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from beholder.language.network import sentence_bounds
from beholder.language.trees import best_tree
from training.english.examples import Document, Labels, Sentence, bare, batches
from training.english.nets import Below, Heads, Pieces, Scores, Teacher

_LENGTH = 200
"""Pieces after which a text is cut at the next full stop; the encoder reads 254."""


def descriptions(path: Path) -> Iterator[str]:
    """The texts of the unlabelled descriptions."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def trees(teacher: Teacher, labels: Labels, texts: Sequence[list[str]]) -> list[Document]:
    """The sentences of texts, given as words, as the teacher reads them; in no fixed order."""
    pieces, below = Pieces(), Below()
    parts = [part for words in texts for part in _parts(words, pieces)]
    found = []
    for batch in batches([[bare(words)] for words in parts], 3500, random.Random(0)):
        docs = [doc[0].words for doc in batch]
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            scores = teacher(pieces.batch(docs), below([pieces.flat(doc) for doc in docs]))
            found += decoded(teacher.heads, scores, docs, labels)
    return found


def _parts(words: Sequence[str], pieces: Pieces) -> Iterator[list[str]]:
    part: list[str] = []
    length = 0
    for word in words:
        part.append(word)
        length += len(pieces(word))
        if length > _LENGTH + 40 or (length > 0.7 * _LENGTH and word in (".", "!", "?")):
            yield part
            part, length = [], 0
    if part:
        yield part


def decoded(
    heads: Heads, scores: Scores, docs: Sequence[list[str]], labels: Labels
) -> Iterator[Document]:
    """The best reading of each document of a batch: its sentences with tags and trees."""
    starts, arcs = scores.starts.numpy(), scores.arcs.numpy()
    chosen = torch.zeros(starts.shape, dtype=torch.long)
    bounds = [sentence_bounds(starts[row, : len(doc)]) for row, doc in enumerate(docs)]
    for row, own in enumerate(bounds):
        for low, high in pairwise(own):
            tree = best_tree(arcs[row, low:high, low:high])
            chosen[row, low:high] = torch.from_numpy(tree + low)
    relations = heads.relation_scores(scores, chosen)
    relations[..., labels.relations.index("root")] = -torch.inf
    best = {
        "tags": _named(scores.tags, labels.tags),
        "parts": _named(scores.parts, labels.parts),
        "relations": _named(relations, labels.relations),
    }
    for row, doc in enumerate(docs):
        yield [
            Sentence(
                doc[low:high],
                best["tags"][row][low:high],
                best["parts"][row][low:high],
                [int(head) - low for head in chosen[row, low:high]],
                [
                    "root" if head == place else relation
                    for place, (head, relation) in enumerate(
                        zip(chosen[row, low:high], best["relations"][row][low:high], strict=True),
                        start=low,
                    )
                ],
            )
            for low, high in pairwise(bounds[row])
        ]


def _named(scores: Tensor, names: list[str]) -> list[list[str]]:
    return [[names[place] for place in row] for row in scores.argmax(-1).tolist()]

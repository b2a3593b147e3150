"""The network of ``beholder.language.network`` in torch, which can be trained.

It reads batches of documents, words padded to a common length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from beholder.embed import minilm
from beholder.language.network import (
    FAR,
    N_BLOCKS,
    N_HEADS,
    N_SHAPES,
    SUFFIXES,
    WIDTH,
    piece_ids,
    shape,
    suffix,
)
from training.english.examples import Document, Labels

NO = -100
"""Target that no loss reads."""


@dataclass
class Batch:
    """Documents of words.

    Attributes:
        pieces: (p,) word pieces of all words, one document after the other.
        words: (p,) the word of each piece, counted over B * L padded places.
        shapes, suffixes: (B, L) as ``beholder.language.network`` counts them.
        present: (B, L) whether a word stands there.
    """

    pieces: Tensor
    words: Tensor
    shapes: Tensor
    suffixes: Tensor
    present: Tensor


@dataclass
class Scores:
    """What a network says of a batch; all logits.

    Attributes:
        tags, parts: (B, L, number of labels).
        starts: (B, L) that a sentence starts.
        arcs: (B, L, L) of each word as head of each; on the diagonal that a word is a root.
        dependents, heads: (B, L, R) whose sum, rectified, gives the relations.
    """

    tags: Tensor
    parts: Tensor
    starts: Tensor
    arcs: Tensor
    dependents: Tensor
    heads: Tensor


class Pieces:
    """Word pieces of words, each word by itself."""

    def __init__(self) -> None:
        self._tokenizer = minilm.tokenizer()
        self._known: dict[str, list[int]] = {}

    def __call__(self, word: str) -> list[int]:
        """Return the pieces of one word."""
        ids = self._known.get(word)
        if ids is None:
            ids = piece_ids(self._tokenizer, word)
            self._known[word] = ids
        return ids

    def flat(self, words: Sequence[str]) -> list[int]:
        """Return the pieces of some words, one after the other."""
        return [piece for word in words for piece in self(word)]

    def batch(self, docs: Sequence[Sequence[str]]) -> Batch:
        """Documents side by side."""
        n, length = len(docs), max(map(len, docs))
        shapes = np.zeros((n, length), dtype=np.int64)
        suffixes = np.zeros((n, length), dtype=np.int64)
        present = np.zeros((n, length), dtype=bool)
        pieces: list[int] = []
        words: list[int] = []
        for row, doc in enumerate(docs):
            present[row, : len(doc)] = True
            for place, word in enumerate(doc):
                piece_numbers = self(word)
                pieces += piece_numbers
                words += [row * length + place] * len(piece_numbers)
                shapes[row, place] = shape(word)
                suffixes[row, place] = suffix(word)
        return Batch(
            torch.tensor(pieces),
            torch.tensor(words),
            torch.tensor(shapes),
            torch.tensor(suffixes),
            torch.tensor(present),
        )


class Heads(nn.Module):
    """From vectors of words to scores."""

    def __init__(
        self,
        width: int,
        arc: int,
        relation: int,
        labels: Labels,
        dropout: float,
    ) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.tags = nn.Linear(width, len(labels.tags))
        self.parts = nn.Linear(width, len(labels.parts))
        self.starts = nn.Linear(width, 1)
        self.roots = nn.Linear(width, 1)
        self.arc_dependent = nn.Linear(width, arc)
        self.arc_head = nn.Linear(width, arc)
        self.arc = nn.Linear(arc, arc)
        self.relation_dependent = nn.Linear(width, relation)
        self.relation_head = nn.Linear(width, relation, bias=False)
        self.relations = nn.Linear(relation, len(labels.relations))

    def forward(self, x: Tensor) -> Scores:
        """Scores of words from their vectors (B, L, width)."""
        x = self.drop(x)
        dependent = self.drop(functional.relu(self.arc_dependent(x)))
        head = self.drop(functional.relu(self.arc_head(x)))
        arcs = (self.arc(dependent) @ head.transpose(1, 2)).float()
        arcs = arcs / dependent.shape[-1] ** 0.5
        roots = self.roots(x).float()
        eye = torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        arcs = torch.where(eye, roots, arcs)
        return Scores(
            self.tags(x).float(),
            self.parts(x).float(),
            self.starts(x).float().squeeze(-1),
            arcs,
            self.relation_dependent(x).float(),
            self.relation_head(x).float(),
        )

    def relation_scores(self, scores: Scores, heads: Tensor) -> Tensor:
        """(B, L, n_relations) of each word to the head given."""
        index = heads.clamp(min=0).unsqueeze(-1).expand_as(scores.heads)
        hidden = functional.relu(
            scores.dependents + scores.heads.gather(1, index)
        )
        return self.relations(hidden)


def targets(docs: Sequence[Document], labels: Labels) -> dict[str, Tensor]:
    """The answers to a batch, (B, L) each; ``sentence`` numbers the sentences of a document."""
    length = max(sum(len(s.words) for s in doc) for doc in docs)
    arrays = {
        name: np.full((len(docs), length), NO, dtype=np.int64)
        for name in ("tags", "parts", "heads", "relations", "sentence")
    }
    arrays["starts"] = np.zeros((len(docs), length), dtype=np.int64)
    tags, parts, relations = (
        {label: place for place, label in enumerate(names)}
        for names in (labels.tags, labels.parts, labels.relations)
    )
    for row, doc in enumerate(docs):
        low = 0
        for number, sentence in enumerate(doc):
            span = (row, slice(low, low + len(sentence.words)))
            arrays["tags"][span] = [tags.get(tag, NO) for tag in sentence.tags]
            arrays["parts"][span] = [
                parts.get(part, NO) for part in sentence.parts
            ]
            arrays["heads"][span] = [
                head + low if head >= 0 else NO for head in sentence.heads
            ]
            arrays["relations"][span] = [
                relations.get(relation, NO) if head >= 0 else NO
                for head, relation in zip(
                    sentence.heads, sentence.relations, strict=True
                )
            ]
            arrays["sentence"][span] = number
            arrays["starts"][row, low] = 1
            low += len(sentence.words)
    return {name: torch.tensor(value) for name, value in arrays.items()}


def losses(net: Heads, scores: Scores, answers: dict[str, Tensor]) -> Tensor:
    """Sum of the mean cross-entropies of all heads over the places whose answer is known."""
    sentence = answers["sentence"]
    present = sentence != NO
    is_same_sentence = (
        sentence[:, :, None] == sentence[:, None, :]
    ) & present[:, None, :]
    starts = functional.binary_cross_entropy_with_logits(
        scores.starts[present], answers["starts"][present].float()
    )

    def entropy(logits: Tensor, name: str) -> Tensor:
        return functional.cross_entropy(
            logits.flatten(0, 1), answers[name].flatten(), ignore_index=NO
        )

    return (
        entropy(scores.arcs.masked_fill(~is_same_sentence, -1e4), "heads")
        + entropy(net.relation_scores(scores, answers["heads"]), "relations")
        + 0.5 * entropy(scores.tags, "tags")
        + 0.5 * entropy(scores.parts, "parts")
        + starts
    )


class Trainable(nn.Module):
    """Vectors of word pieces, convolutions and attention in turn, heads."""

    def __init__(self, labels: Labels, dropout: float) -> None:
        super().__init__()
        pieces = torch.tensor(
            minilm.token_vectors(range(minilm.tokenizer().get_vocab_size()))
        )
        self.register_buffer("pieces", pieces, persistent=False)
        self.embed = nn.Linear(pieces.shape[1], WIDTH)
        self.suffixes = nn.Embedding(SUFFIXES, WIDTH)
        self.shapes = nn.Embedding(N_SHAPES, WIDTH)
        nn.init.normal_(self.suffixes.weight, std=0.1)
        nn.init.normal_(self.shapes.weight, std=0.1)
        self.norm = nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block(dropout) for _ in range(N_BLOCKS))
        self.last = nn.LayerNorm(WIDTH)
        self.drop = nn.Dropout(dropout)
        self.heads = Heads(WIDTH, WIDTH, WIDTH, labels, dropout)

    def forward(self, batch: Batch) -> Scores:
        """Scores of documents."""
        n, length = batch.shapes.shape
        places = n * length
        total = torch.zeros(places, self.pieces.shape[1])
        total = total.index_add(0, batch.words, self.pieces[batch.pieces])
        counts = torch.bincount(batch.words, minlength=places).clamp(min=1)
        words = (total / counts[:, None]).view(n, length, -1)
        if self.training:  # now and then a word is known by its letters alone
            words = words * (torch.rand(n, length, 1) > 0.05)
        x = (
            self.embed(words)
            + self.suffixes(batch.suffixes)
            + self.shapes(batch.shapes)
        )
        x = self.drop(self.norm(x.float()))
        distances = (
            torch.arange(length)[None] - torch.arange(length)[:, None]
        ).clamp(-FAR, FAR) + FAR
        hidden = torch.zeros(n, 1, 1, length).masked_fill(
            ~batch.present[:, None, None], -1e4
        )
        for block in self.blocks:
            x = block(x, batch.present, distances, hidden)
        scores: Scores = self.heads(self.last(x))
        return scores


class Block(nn.Module):
    """A convolution over three words, rectified by the greater of two; then attention."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.near_norm, self.wide_norm = (
            nn.LayerNorm(WIDTH),
            nn.LayerNorm(WIDTH),
        )
        self.near = nn.Linear(3 * WIDTH, 2 * WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.attended = nn.Linear(WIDTH, WIDTH)
        self.distances = nn.Parameter(torch.zeros(N_HEADS, 2 * FAR + 1))
        self.drop = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, present: Tensor, distances: Tensor, hidden: Tensor
    ) -> Tensor:
        """Return the vectors (B, L, width) above this block."""
        n, length, _ = x.shape
        y = self.near_norm(x) * present[..., None]
        y = functional.pad(y, (0, 0, 1, 1))
        y = self.near(torch.cat([y[:, :-2], y[:, 1:-1], y[:, 2:]], -1))
        x = x + self.drop(torch.maximum(y[..., :WIDTH], y[..., WIDTH:]))
        y = self.qkv(self.wide_norm(x)).view(
            n, length, 3, N_HEADS, WIDTH // N_HEADS
        )
        q, k, v = y.permute(2, 0, 3, 1, 4)
        scores = (q * (WIDTH // N_HEADS) ** -0.5) @ k.transpose(2, 3)
        scores = scores + (self.distances[:, distances] + hidden).to(
            scores.dtype
        )
        mixed = (scores.softmax(-1, dtype=scores.dtype) @ v).transpose(1, 2)
        return x + self.drop(self.attended(mixed.reshape(n, length, WIDTH)))

"""The built-in embedder: one vector a token, made once from a small sentence-transformer.

The files in ``static_model`` have the layout of the package model2vec, which can load them and
gives the same vectors (a test compares). Its arithmetic is repeated here in a few lines, because
importing it and copying the tokenizer take longer than loading the model itself.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from beholder.embed.base import Embedder, FloatArray

FOLDER = Path(__file__).parent / "static_model"
_LOADING = threading.Lock()
_PADDING = 0
"""A token whose vector is zero."""


@dataclass(frozen=True)
class _StaticModel:
    tokenizer: Tokenizer
    vectors: npt.NDArray[np.int8]  # (tokens, D)
    weights: FloatArray  # (tokens,), float32
    unknown: int | None


class StaticEmbedder(Embedder):
    """Built-in static token embedding (spec ``static``): no download, no torch.

    The vector of a text is the weighted sum of the vectors of its tokens, scaled to length one;
    frequent words weigh little. The model knows English; of other scripts it knows single letters
    at best, and a text without any known token gets zeros. The same text gives the same bits,
    whatever the batch and the process. How it was made and what it reaches is in
    ``docs/embeddings.md``.
    """

    batch_size: ClassVar[int] = 1024
    per_process: ClassVar[bool] = True
    english_only: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        """Name in signatures; see ``registry.versioned_identity``."""
        return "static"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts; see ``Embedder.embed``."""
        rows = np.zeros(
            (len(texts), self._n_parts * width()), dtype=np.float32
        )
        for row, text in zip(rows, texts, strict=True):
            tokens = token_vectors(text)
            if len(tokens):
                row[:] = self._vector(tokens)
        return rows

    _n_parts: ClassVar[int] = 1

    def _vector(self, tokens: FloatArray) -> FloatArray:
        # Plain sums of rows in order, not a matrix product: the same bits everywhere.
        return to_unit_length(tokens.sum(axis=0, dtype=np.float64))


def token_vectors(text: str) -> FloatArray:
    """Return vectors of the known tokens of a text in order, each times its weight: (n, D)."""
    return _weigh(_known_tokens(text))


def phrase_vectors(texts: Sequence[str]) -> FloatArray:
    """Return the vectors of ``StaticEmbedder`` for short texts, in one pass and so in memory.

    Args:
        texts: The phrases; at least one.
    """
    tokens = [_known_tokens(text) or [_PADDING] for text in texts]
    starts = [0, *accumulate(map(len, tokens[:-1]))]
    weighted = _weigh(list(chain.from_iterable(tokens))).astype(np.float64)
    # reduceat sums the tokens from each start to the next, in order, as
    # ``_vector`` does.
    return to_unit_length(np.add.reduceat(weighted, starts, axis=0)).astype(
        np.float32
    )


def _known_tokens(text: str) -> list[int]:
    model = _load()
    # The quick path: for plain lower-case words the tokenizer would only split
    # at the spaces.
    if text.isascii() and text.islower() and text.replace(" ", "").isalpha():
        word_tokens = map(model.tokenizer.token_to_id, text.split())
        tokens = [token for token in word_tokens if token is not None]
        # Each word is a token; otherwise a word has parts, which the tokenizer must find.
        if len(tokens) == text.count(" ") + 1:
            return tokens
    # One text at a time: the batch call of tokenizers starts threads, which the worker processes of
    # a run do not need, and which forbid forking.
    ids = model.tokenizer.encode(text, add_special_tokens=False).ids
    return [token for token in ids if token != model.unknown]


def _weigh(tokens: Sequence[int]) -> FloatArray:
    model = _load()
    vectors: FloatArray = model.vectors[tokens] * model.weights[tokens, None]
    return vectors


def to_unit_length(total: FloatArray) -> FloatArray:
    """Return a vector, or each row of a matrix, scaled to length one; zeros stay zeros."""
    length = np.sqrt((total * total).sum(axis=-1, keepdims=True))
    scaled: FloatArray = total / np.maximum(length, 1e-32)
    return scaled


def width() -> int:
    """Return the length of the vector of a token."""
    return int(_load().vectors.shape[1])


def _load() -> _StaticModel:
    with _LOADING:  # threads that start together load once
        return _read_model()


@cache
def _read_model() -> _StaticModel:
    tensors = load_file(FOLDER / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    return _StaticModel(
        tokenizer=tokenizer,
        vectors=tensors["embeddings"],
        weights=tensors["weights"],
        unknown=tokenizer.token_to_id("[UNK]"),
    )


ORDER = 0.03
"""Share of a similarity that the order of words makes up; ``docs/embeddings.md`` says why."""

NEIGHBOURS = (1.0, 0.5)
"""Weights of the pair of a token and the next one, and of that with the one after it."""


class OrderedEmbedder(StaticEmbedder):
    """Built-in static token embedding with word order (spec ``ordered``): no download, no torch.

    The vector of a text has two parts. The one is that of ``static``. The other is the sum over
    pairs of near tokens of the product, number by number, of the first token's vector and the
    second's turned by half its length: "dog chases" and "chases dog" have different products, and
    "dog chases" and "puppy follows" like ones. Each part has length one, and their squares are
    weighted 1 - ``ORDER`` to ``ORDER``, so that a cosine is the weighted mean of the two parts'
    cosines. It knows the same words as ``static`` and gives the same bits everywhere, too.
    """

    @property
    def identity(self) -> str:
        """Name in signatures; see ``registry.versioned_identity``."""
        return "ordered"

    _n_parts: ClassVar[int] = 2

    def _vector(self, tokens: FloatArray) -> FloatArray:
        pairs = to_unit_length(_pairs(tokens))
        # A text of one token has no pairs: its words make up the whole vector.
        share = ORDER if pairs.any() else 0.0
        return np.concatenate(
            [
                np.sqrt(1 - share) * super()._vector(tokens),
                np.sqrt(share) * pairs,
            ]
        )


def _pairs(tokens: FloatArray) -> FloatArray:
    # Turning makes the product differ by order: a * turn(b) is not b *
    # turn(a).
    turned = np.roll(tokens, tokens.shape[1] // 2, axis=1)
    total = np.zeros(tokens.shape[1])
    for distance, weight in enumerate(NEIGHBOURS, start=1):
        products = tokens[:-distance] * turned[distance:]
        total += weight * products.sum(axis=0, dtype=np.float64)
    return total

"""The built-in static tokens with a part that tells who stands beside whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from beholder.embed.base import Embedder, FloatArray
from beholder.embed.static import directed, revision, token_vectors, width

ORDER = 0.03
"""Share of a similarity that the order of words makes up; ``docs/embeddings.md`` says why."""

NEIGHBOURS = (1.0, 0.5)
"""What the pair of a token and the next one counts, and that with the one after it."""


class OrderedEmbedder(Embedder):
    """Built-in static token embedding with word order (spec ``ordered``): no download, no torch.

    The vector of a text has two parts. The one is that of ``static``. The other is the sum over
    pairs of near tokens of the product, number by number, of the first token's vector and the
    second's turned by half its length: "dog chases" and "chases dog" have different products, and
    "dog chases" and "puppy follows" like ones. Each part has length one, and their squares are
    weighted 1 - ``ORDER`` to ``ORDER``, so that a cosine is the weighted mean of the two parts'
    cosines. It knows the same words as ``static`` and gives the same bits everywhere, too.
    """

    batch_size: ClassVar[int] = 1024
    per_process: ClassVar[bool] = True
    english_only: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        """``ordered.v1@REVISION``: a hash of the files of ``static``."""
        return f"ordered.v1@{revision()}"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """See ``Embedder.embed``."""
        n = width()
        rows = np.zeros((len(texts), 2 * n), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            tokens = token_vectors(text)
            if len(tokens):
                words = directed(tokens.sum(axis=0, dtype=np.float64))
                pairs = directed(_pairs(tokens))
                # A text of one token has no pairs.
                share = ORDER if pairs.any() else 0.0
                row[:n] = np.sqrt(1 - share) * words
                row[n:] = np.sqrt(share) * pairs
        return rows


def _pairs(tokens: FloatArray) -> FloatArray:
    turned = np.roll(tokens, tokens.shape[1] // 2, axis=1)
    total = np.zeros(tokens.shape[1])
    for distance, weight in enumerate(NEIGHBOURS, start=1):
        products = tokens[:-distance] * turned[distance:]
        total += weight * products.sum(axis=0, dtype=np.float64)
    return total

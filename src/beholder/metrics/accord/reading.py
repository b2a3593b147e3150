"""A text as words in their context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.contextual import TokenVectors
from beholder.embed.images import unit_rows
from beholder.errors import ConfigError
from beholder.text import frequency, words


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A text, word by word and as a whole.

    Attributes:
        words: Its n words in lower case.
        weights: (n,), how much each says, 0..1.
        vectors: (n, D), of each word in its context; rows of length one, or zero where the encoder
            has no token for a word.
        whole: (D,), of the text; length one.
    """

    words: tuple[str, ...]
    weights: FloatArray
    vectors: FloatArray
    whole: FloatArray


def read(text: str, tokens: TokenVectors) -> Reading:
    """Join the tokens of a text to words: a word's vector is the mean of those of its tokens.

    Raises:
        ConfigError: The encoder does not tell where its tokens stand.
    """
    if tokens.spans is None:
        raise ConfigError("this encoder does not tell where its tokens stand; take minilm")
    places = words(text)
    starts, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
    first, last = tokens.spans[:, 0], tokens.spans[:, 1]
    inside = (first < ends[:, None]) & (last > starts[:, None]) & ~tokens.special
    vectors = unit_rows(inside.astype(np.float64) @ tokens.vectors)
    found = tuple(text[start:end].lower() for start, end in places)
    weights = np.array([frequency.weight(word) for word in found])
    return Reading(found, weights, vectors, unit_rows(tokens.vectors.mean(axis=0)[None])[0])

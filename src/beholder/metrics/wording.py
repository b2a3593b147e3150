"""Texts as words in their context, and the similarity of texts by words; no judge takes part."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.contextual import TokenService, TokenVectors
from beholder.embed.exact import products
from beholder.embed.images import unit_rows
from beholder.errors import ConfigError
from beholder.text import frequency, words
from beholder.text.tokenize import lower_words


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A text, word by word and as a whole.

    Attributes:
        words: Its n words in lower case.
        weights: (n,), the information of each, 0..1.
        vectors: (n, D), of each word in its context; rows of length one, or zero where the encoder
            has no token for a word.
        whole_text: (D,), of the text; length one.
    """

    words: tuple[str, ...]
    weights: FloatArray
    vectors: FloatArray
    whole_text: FloatArray


def join_tokens(text: str, tokens: TokenVectors) -> Reading:
    """Join the tokens of a text to words: a word's vector is the mean of those of its tokens.

    Raises:
        ConfigError: The encoder does not return the places of its tokens.
    """
    if tokens.spans is None:
        raise ConfigError(
            "this encoder does not return the places of its tokens; use minilm"
        )
    # A token belongs to each word whose characters it shares.
    places = words(text)
    starts, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
    first, last = tokens.spans[:, 0], tokens.spans[:, 1]
    inside = (
        (first < ends[:, None]) & (last > starts[:, None]) & ~tokens.special
    )
    vectors = unit_rows(inside.astype(np.float64) @ tokens.vectors)
    word_texts = tuple(lower_words(text))
    weights = np.array(frequency.weights(word_texts))
    return Reading(
        word_texts,
        weights,
        vectors,
        unit_rows(tokens.vectors.mean(axis=0)[None])[0],
    )


async def read_all(
    texts: Sequence[str], service: TokenService
) -> tuple[Reading, ...]:
    """Encode texts by the encoder's last layer and join the tokens to words.

    Raises:
        ConfigError: The encoder does not return the places of its tokens.
    """
    layer = service.encoder.n_layers
    encoded = await asyncio.gather(
        *(service.encode(text, layer) for text in texts)
    )
    return tuple(
        join_tokens(text, tokens)
        for text, tokens in zip(texts, encoded, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Wording:
    """Similarity of the words of a candidate and its references, in their contexts.

    Attributes:
        precision: Of the candidate's words in the references, each at the one where it comes best.
        recall: Of a reference's words in the candidate, mean over references.
    """

    precision: float
    recall: float


def compare_words(
    candidate: Reading, references: Sequence[Reading]
) -> Wording:
    """Match each word to its nearest word on the other side."""
    # A word of the candidate is right if any reference has it; a reference's
    # words are all due.
    pairs = [_nearest(candidate, reference) for reference in references]
    best = np.max([forward for forward, _ in pairs], axis=0)
    recalls = [
        _mean(back, reference)
        for (_, back), reference in zip(pairs, references, strict=True)
    ]
    return Wording(_mean(best, candidate), math.fsum(recalls) / len(recalls))


def recalled_by_peers(references: Sequence[Reading]) -> float:
    """Return the mean recall by words over all ordered pairs of references, 0..1.

    People choose different things to say; this is how much of one's words another has. 1 for a
    single reference.
    """
    recalls = []
    for first, second in combinations(references, 2):
        forward, back = _nearest(first, second)
        recalls += [_mean(forward, first), _mean(back, second)]
    # Summed exactly, so that the order of references changes no digit.
    return math.fsum(recalls) / len(recalls) if recalls else 1.0


def peer_adjusted_recall(recall: float, peers: float) -> float:
    """Adjust recall by what the references recall of one another: r / (r + q (1 - r)).

    r is the recall, q that of the peers. 0 and 1 stay, as does all with q = 1; the less
    people agree on what to say, the less a candidate is blamed for saying something else.
    """
    return recall / (recall + peers * (1 - recall)) if recall else 0.0


def _nearest(a: Reading, b: Reading) -> tuple[FloatArray, FloatArray]:
    """Return the best cosine, 0..1, of each word of a text in the other, in both directions."""
    if not a.words or not b.words:
        return np.zeros(len(a.words)), np.zeros(len(b.words))
    similarity = np.clip(products(a.vectors, b.vectors), 0.0, 1.0)
    return similarity.max(axis=1), similarity.max(axis=0)


def _mean(values: FloatArray, text: Reading) -> float:
    # A text without words that the encoder knows has no weight to divide by.
    return (
        float((values * text.weights).sum() / text.weights.sum())
        if text.words
        else 0.0
    )

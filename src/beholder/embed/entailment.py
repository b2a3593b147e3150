"""The entailment model: does one sentence follow from another, or exclude it?

It is the encoder ``minilm``, trained further on sentence pairs that people labelled
(``training/entailment``). It reads both sentences at once. English only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.exact import exp
from beholder.embed.sessions import GraphSession, batch_by_length

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
_CACHE_SIZE = 1 << 14
_SAME = np.array([1, 0, 0], dtype=np.float32)
_MODEL = GraphSession(minilm.FOLDER / "entailment.onnx")
_cache: dict[tuple[str, str], FloatArray | None] = {}
"""The last answers, by premise and hypothesis."""


def entail(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """Return probabilities that each hypothesis follows from its premise, is open, or is excluded.

    A pair has the same answer, to the bit, in any batch. A sentence entails itself. Of
    a premise, what does not fit the window of the encoder is not read.

    Args:
        pairs: Premise and hypothesis.

    Returns:
        (pairs, 3), float32: probabilities of entailment, neutral and contradiction; rows sum to 1.
    """
    rows = {
        pair: _SAME if pair[0] == pair[1] else _cache.get(pair)
        for pair in pairs
    }
    new = [pair for pair, row in rows.items() if row is None]
    rows.update(zip(new, _probabilities(new), strict=True))
    # Cleared as a whole: an eviction order would cost more than a few repeated
    # questions.
    if len(_cache) > _CACHE_SIZE:
        _cache.clear()
    _cache.update({pair: rows[pair] for pair in new})
    return np.array([rows[pair] for pair in pairs], dtype=np.float32).reshape(
        -1, 3
    )


@lru_cache(maxsize=1 << 12)
def _ids(text: str) -> tuple[int, ...]:
    return tuple(minilm.read_tokens(text).ids)


def read_pair(premise: str, hypothesis: str) -> tuple[list[int], int]:
    """Return the tokens of both, the hypothesis's first, and the number of the hypothesis's."""
    hypothesis_ids = _ids(hypothesis)[: minilm.WINDOW]
    return [*hypothesis_ids, *_ids(premise)[1:]][: minilm.WINDOW], len(
        hypothesis_ids
    )


def model_inputs(
    pairs: Sequence[tuple[list[int], int]],
) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs of the model's graph for pairs from ``read_pair``."""
    inputs = minilm.layer_inputs([ids for ids, _ in pairs])
    sizes = np.array([n for _, n in pairs])[:, None]
    inside = np.arange(inputs["keys"].shape[1]) < sizes
    # Queries are computed for the hypothesis alone, as long as the longest of
    # the batch.
    n_queries = sizes.max()
    inputs["sides"] = inside.ravel()[inputs["kept"]].astype(np.int64)
    inputs["inside"] = inside[:, :n_queries, None]
    inputs["queries"] = inputs["keys"][:, :n_queries]
    return inputs


def _probabilities(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    encoded_pairs = [read_pair(*pair) for pair in pairs]
    scores = np.empty((len(pairs), 3))
    for batch in batch_by_length([len(ids) for ids, _ in encoded_pairs]):
        scores[batch] = _MODEL(
            ["scores"], model_inputs([encoded_pairs[i] for i in batch])
        )[0]
    # Softmax, with the greatest score subtracted so that no exponential
    # overflows.
    chances = exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances.astype(np.float32)

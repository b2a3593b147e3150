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
_KEPT = 1 << 14
_SAME = np.array([1, 0, 0], dtype=np.float32)
_MODEL = GraphSession(minilm.FOLDER / "entailment.onnx")
_known: dict[tuple[str, str], FloatArray | None] = {}
"""The last answers, by premise and hypothesis."""


def entail(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """How likely each second sentence follows from the first, is open, or is excluded by it.

    A pair has the same answer, to the bit, whatever it is asked with. A sentence entails itself. Of
    a premise, what does not fit the window of the encoder is not read.

    Args:
        pairs: Premise and hypothesis.

    Returns:
        (pairs, 3), float32: probabilities of entailment, neutral and contradiction; rows sum to 1.
    """
    rows = {
        pair: _SAME if pair[0] == pair[1] else _known.get(pair)
        for pair in pairs
    }
    new = [pair for pair, row in rows.items() if row is None]
    rows.update(zip(new, _probabilities(new), strict=True))
    if len(_known) > _KEPT:
        _known.clear()
    _known.update({pair: rows[pair] for pair in new})
    return np.array([rows[pair] for pair in pairs], dtype=np.float32).reshape(
        -1, 3
    )


@lru_cache(maxsize=1 << 12)
def _ids(text: str) -> tuple[int, ...]:
    return tuple(minilm.read_tokens(text).ids)


def read_pair(premise: str, hypothesis: str) -> tuple[list[int], int]:
    """The tokens of both, those of the hypothesis first, and how many are the hypothesis's."""
    own = _ids(hypothesis)[: minilm.WINDOW]
    return [*own, *_ids(premise)[1:]][: minilm.WINDOW], len(own)


def model_inputs(
    pairs: Sequence[tuple[list[int], int]],
) -> dict[str, npt.NDArray[Any]]:
    """The inputs of the model's graph for pairs as ``read_pair`` gives them."""
    inputs = minilm.layer_inputs([ids for ids, _ in pairs])
    sizes = np.array([n for _, n in pairs])[:, None]
    inside = np.arange(inputs["keys"].shape[1]) < sizes
    n_queries = sizes.max()
    inputs["sides"] = inside.ravel()[inputs["kept"]].astype(np.int64)
    inputs["inside"] = inside[:, :n_queries, None]
    inputs["queries"] = inputs["keys"][:, :n_queries]
    return inputs


def _probabilities(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    read = [read_pair(*pair) for pair in pairs]
    scores = np.empty((len(pairs), 3))
    for batch in batch_by_length([len(ids) for ids, _ in read]):
        scores[batch] = _MODEL(
            ["scores"], model_inputs([read[i] for i in batch])
        )[0]
    chances = exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances.astype(np.float32)

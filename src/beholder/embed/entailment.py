"""The built-in entailment model: does one sentence follow from another, or exclude it?

The encoder ``minilm``, trained further on sentence pairs that people labelled
(``training/entailment``). It reads both sentences at once, and shares tokens and places with the
encoder; only its layers are its own. English only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from beholder.embed import minilm
from beholder.embed.base import FloatArray

FILE = Path(__file__).parent / "minilm_model" / "entailment.safetensors"
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
_AT_ONCE = 64
"""Pairs in memory at a time."""
_KEPT = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    layers: tuple[minilm.Layer, ...]
    sides: FloatArray  # (2, D), added to the tokens of the premise and of the hypothesis
    head: minilm.Linear  # (3 D, 3)


def entail(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """How likely each second sentence follows from the first, is open, or is excluded by it.

    A pair has the same answer, to the bit, whatever it is asked with. Of a premise, what does not
    fit the window of the encoder is not read.

    Args:
        pairs: Premise and hypothesis.

    Returns:
        (pairs, 3), float32: probabilities of entailment, neutral and contradiction; rows sum to 1.
    """
    known = _answers()
    found = {pair: known.get(pair) for pair in pairs}
    asked = sorted((p for p, row in found.items() if row is None), key=lambda p: len(p[0] + p[1]))
    for start in range(0, len(asked), _AT_ONCE):
        part = asked[start : start + _AT_ONCE]
        found.update(zip(part, _probabilities(part), strict=True))
    if len(known) > _KEPT:
        known.clear()
    known.update({pair: found[pair] for pair in asked})
    return np.array([found[pair] for pair in pairs], dtype=np.float32).reshape(-1, 3)


def identity() -> str:
    """``entailment@REVISION``: a hash of the model's weights and of the encoder's."""
    digest = hashlib.sha256(minilm.identity().encode())
    digest.update(FILE.read_bytes())
    return f"entailment@{digest.hexdigest()[:12]}"


@cache
def _answers() -> dict[tuple[str, str], FloatArray | None]:
    """What was asked last, by premise and hypothesis."""
    return {}


@lru_cache(maxsize=1 << 12)
def _ids(text: str) -> tuple[int, ...]:
    return tuple(minilm.read_tokens(text).ids)


def _probabilities(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    model = _load()
    own = [_ids(hypothesis)[: minilm.WINDOW] for _, hypothesis in pairs]
    texts = [
        [*ids, *_ids(premise)[1:]][: minilm.WINDOW]
        for ids, (premise, _) in zip(own, pairs, strict=True)
    ]
    sides = [
        np.repeat(model.sides[::-1], (len(ids), len(text) - len(ids)), axis=0)
        for ids, text in zip(own, texts, strict=True)
    ]
    states = minilm.through(model.layers, texts, minilm.embedded(texts) + np.concatenate(sides))
    made = np.stack([_pooled(state[: len(ids)]) for state, ids in zip(states, own, strict=True)])
    # One pair at a time: a row of a product may depend on the others.
    scores = np.concatenate([row[None] @ model.head.weight for row in made]) + model.head.bias
    scores -= scores.max(axis=1, keepdims=True)
    chances: FloatArray = np.exp(scores)
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _pooled(states: FloatArray) -> FloatArray:
    """First, mean and largest of the hypothesis's tokens, (3 D,)."""
    return np.concatenate([states[0], states.mean(axis=0), states.max(axis=0)])


@cache
def _load() -> _Model:
    stored = load_file(FILE)
    head = minilm.Linear(np.ascontiguousarray(stored["head.weight"].T), stored["head.bias"])
    return _Model(minilm.layers(stored), stored["sides"], head)

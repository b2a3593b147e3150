"""Entailment models: does one sentence follow from another, or exclude it?

The built-in one is the encoder ``minilm``, trained further on sentence pairs that people labelled
(``training/entailment``). It reads both sentences at once, and shares tokens and places with the
encoder; only its layers are its own. English only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from beholder.backends.calls import too_long
from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.exact import exp, on_grid
from beholder.errors import ConfigError
from beholder.optional import require

FILE = Path(__file__).parent / "minilm_model" / "entailment.safetensors"
INPUTS = FILE.with_name("entailment_inputs.safetensors")
"""See ``whole.factors``."""
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
_AT_ONCE = 32
"""Pairs in memory at a time."""
_KEPT = 1 << 14
_PLACES = 16
"""Binary places of what the last product gets."""
_SAME = np.array([1, 0, 0], dtype=np.float32)
_known: dict[tuple[str, str], FloatArray | None] = {}
"""What was asked last, by premise and hypothesis."""


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    layers: tuple[minilm.Layer, ...]
    sides: FloatArray  # (2, D), added to the tokens of the premise and of the hypothesis
    head: npt.NDArray[np.float64]  # (3 D, 3)
    bias: FloatArray  # (3,)


def entail(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """How likely each second sentence follows from the first, is open, or is excluded by it.

    A pair has the same answer, to the bit, whatever it is asked with. A sentence entails itself. Of
    a premise, what does not fit the window of the encoder is not read.

    Args:
        pairs: Premise and hypothesis.

    Returns:
        (pairs, 3), float32: probabilities of entailment, neutral and contradiction; rows sum to 1.
    """
    found = {pair: _SAME if pair[0] == pair[1] else _known.get(pair) for pair in pairs}
    asked = sorted((p for p, row in found.items() if row is None), key=lambda p: len(p[0] + p[1]))
    for start in range(0, len(asked), _AT_ONCE):
        part = asked[start : start + _AT_ONCE]
        found.update(zip(part, _probabilities(part), strict=True))
    if len(_known) > _KEPT:
        _known.clear()
    _known.update({pair: found[pair] for pair in asked})
    return np.array([found[pair] for pair in pairs], dtype=np.float32).reshape(-1, 3)


@lru_cache(maxsize=1 << 12)
def _ids(text: str) -> tuple[int, ...]:
    return tuple(minilm.read_tokens(text).ids)


def _probabilities(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    model = _load()
    made = np.stack(list(map(_pooled, states(model.layers, model.sides, pairs))))
    scores = on_grid(made, _PLACES) @ model.head + model.bias
    chances = exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances.astype(np.float32)


def states(
    layers: Sequence[minilm.Layer], sides: FloatArray, pairs: Sequence[tuple[str, str]]
) -> list[FloatArray]:
    """Of each pair, the states of its hypothesis, (tokens, D), as they leave the last layer."""
    own = [_ids(hypothesis)[: minilm.WINDOW] for _, hypothesis in pairs]
    texts = [
        [*ids, *_ids(premise)[1:]][: minilm.WINDOW]
        for ids, (premise, _) in zip(own, pairs, strict=True)
    ]
    added = [
        np.repeat(sides[::-1], (len(ids), len(text) - len(ids)), axis=0)
        for ids, text in zip(own, texts, strict=True)
    ]
    x = minilm.embedded(texts) + np.concatenate(added)
    return minilm.through(layers, texts, x, [*map(len, own)])


def _pooled(states: FloatArray) -> FloatArray:
    """First, mean and largest of the hypothesis's tokens, (3 D,)."""
    return np.concatenate([states[0], states.mean(axis=0), states.max(axis=0)])


@cache
def _load() -> _Model:
    with safe_open(str(FILE), framework="np") as file:
        sides, weight, bias = map(file.get_tensor, ("sides", "head.weight", "head.bias"))
        return _Model(minilm.layers(file, INPUTS), sides, on_grid(weight.T, _PLACES), bias)


_LABELS = {
    ENTAILMENT: ("entailment", "entail", "entails", "entailed", "supports", "supported"),
    NEUTRAL: ("neutral", "not_entailment", "not_entailed", "not_enough_info", "unsupported"),
    CONTRADICTION: ("contradiction", "contradicts", "contradicted", "refutes", "refuted"),
}
"""What models call their classes. A model of two says only whether a pair is entailed."""
_CLASSES = {label: one for one, labels in _LABELS.items() for label in labels}


def classes_of(found: Sequence[str], stated: str | None, model: str) -> tuple[int, ...]:
    """The class of each output of a model: ``ENTAILMENT``, ``NEUTRAL`` or ``CONTRADICTION``.

    Args:
        found: The labels of its configuration, in the order of the outputs.
        stated: Labels to take instead, separated by commas; or None.
        model: Its name, for messages.

    Raises:
        ConfigError: The labels are not entailment and one or two other classes.
    """
    labels = list(found) if stated is None else stated.split(",")
    classes = [
        _CLASSES.get(label.strip().lower().replace("-", "_").replace(" ", "_")) for label in labels
    ]
    known = [one for one in classes if one is not None]
    fits = len(known) == len(found) and len(set(known)) == len(known) >= 2
    if not fits or len(labels) != len(found) or ENTAILMENT not in known:
        what = f"labels={stated!r}" if stated is not None else "its configuration"
        raise ConfigError(
            f"{model} has {len(found)} outputs, labelled {', '.join(map(repr, found))}, and {what}"
            " does not say which of them are entailment, neutral and contradiction; state them in"
            " the order of the outputs, each once, for example"
            " labels='contradiction,entailment,neutral' or labels='entailment,not_entailment'"
        )
    return tuple(known)


class HFEntailment:
    """What a sequence classifier of the transformers library says of pairs of sentences.

    The configuration is read at once, the weights on first use.

    Args:
        name: Name on a hub, or a folder.
        device: ``cpu``, ``cuda``...; None takes a GPU if there is one.
        dtype: ``float32``, ``bfloat16``...; None takes 16 bits on a GPU, 32 on the CPU.
        revision: Commit or tag on the hub.
        labels: See ``classes_of``.
        batch_size: Pairs per forward pass at most.

    Attributes:
        classes: See ``classes_of``.
        identity: Name, version of the weights, number format, and labels in order.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ConfigError: There is no such model, or its labels cannot be mapped.
    """

    def __init__(
        self,
        name: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        revision: str | None = None,
        labels: str | None = None,
        batch_size: int = 32,
    ) -> None:
        for module in ("torch", "transformers"):
            require(module, extra="hf", purpose=f"the judge nli:{name}")
        if batch_size < 1:
            raise ConfigError(f"batch_size={batch_size!r}: expected a number above 0")
        from beholder.backends.hf_model import describe, read_config

        config = read_config(name, revision, "nli")
        told = [str(config.id2label[i]) for i in sorted(config.id2label)]
        self.classes = classes_of(told, labels, f"nli:{name}")
        able = describe(name, device=device, dtype=dtype, revision=revision)
        self.identity = f"{able.model},{','.join(_LABELS[one][0] for one in self.classes)}"
        self._name, self._revision = name, revision
        self._device, self._dtype = device, dtype
        self._batch_size = batch_size
        self._lock = threading.Lock()

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """As ``embed.entailment.entail``; a class that the model does not have is 0.

        Raises:
            ItemError: A pair is longer than the model takes; it is not cut.
        """
        found: FloatArray = np.zeros((len(pairs), len(_LABELS)), np.float32)
        order = sorted(range(len(pairs)), key=lambda i: sum(map(len, pairs[i])))
        with self._lock:
            for start in range(0, len(order), self._batch_size):
                part = order[start : start + self._batch_size]
                found[np.ix_(part, self.classes)] = self._chances([pairs[i] for i in part])
        return found

    def _chances(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        import torch

        tokenizer, model, room = self._loaded
        inputs = tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
        n_tokens = int(inputs["input_ids"].shape[1])
        if n_tokens > room:
            raise too_long(f"nli:{self._name}", str(n_tokens), room)
        with torch.inference_mode():
            logits = model(**inputs.to(model.device)).logits
        made: FloatArray = torch.softmax(logits.float(), dim=-1).cpu().numpy()
        return made

    @cached_property
    def _loaded(self) -> tuple[Any, Any, int]:
        """Tokenizer, model, and how many tokens it takes."""
        import transformers

        from beholder.backends.hf_model import device_of, dtype_of

        device = device_of(self._device)
        tokenizer = transformers.AutoTokenizer.from_pretrained(self._name, revision=self._revision)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            self._name,
            revision=self._revision,
            dtype=dtype_of(self._dtype, device),
            use_safetensors=True,  # other formats can run code while they are read
        )
        room = getattr(model.config, "max_position_embeddings", 0) or tokenizer.model_max_length
        return tokenizer, model.to(device).eval(), min(room, tokenizer.model_max_length)

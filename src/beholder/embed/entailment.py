"""Entailment models: does one sentence follow from another, or exclude it?

The built-in one is the encoder ``minilm``, trained further on sentence pairs that people labelled
(``training/entailment``). It reads both sentences at once. English only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from beholder.backends.calls import too_long
from beholder.base.optional import require
from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.exact import exp
from beholder.embed.sessions import GraphSession, batch_by_length
from beholder.errors import ConfigError

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


_LABELS = {
    ENTAILMENT: (
        "entailment",
        "entail",
        "entails",
        "entailed",
        "supports",
        "supported",
    ),
    NEUTRAL: (
        "neutral",
        "not_entailment",
        "not_entailed",
        "not_enough_info",
        "unsupported",
    ),
    CONTRADICTION: (
        "contradiction",
        "contradicts",
        "contradicted",
        "refutes",
        "refuted",
    ),
}
"""What models call their classes. A model of two says only whether a pair is entailed."""
_CLASSES = {label: one for one, labels in _LABELS.items() for label in labels}


def classes_of(
    found: Sequence[str], stated: str | None, model: str
) -> tuple[int, ...]:
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
        _CLASSES.get(label.strip().lower().replace("-", "_").replace(" ", "_"))
        for label in labels
    ]
    known = [one for one in classes if one is not None]
    fits = len(known) == len(found) and len(set(known)) == len(known) >= 2
    if not fits or len(labels) != len(found) or ENTAILMENT not in known:
        what = (
            f"labels={stated!r}" if stated is not None else "its configuration"
        )
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
            raise ConfigError(
                f"batch_size={batch_size!r}: expected a number above 0"
            )
        from beholder.backends.hf_model import describe, read_config

        config = read_config(name, revision, "nli")
        told = [str(config.id2label[i]) for i in sorted(config.id2label)]
        self.classes = classes_of(told, labels, f"nli:{name}")
        able = describe(name, device=device, dtype=dtype, revision=revision)
        self.identity = (
            f"{able.model},{','.join(_LABELS[one][0] for one in self.classes)}"
        )
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
        order = sorted(
            range(len(pairs)), key=lambda i: sum(map(len, pairs[i]))
        )
        with self._lock:
            for start in range(0, len(order), self._batch_size):
                part = order[start : start + self._batch_size]
                found[np.ix_(part, self.classes)] = self._chances(
                    [pairs[i] for i in part]
                )
        return found

    def _chances(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        import torch

        tokenizer, model, room = self._loaded
        inputs = tokenizer(
            *map(list, zip(*pairs, strict=True)),
            padding=True,
            return_tensors="pt",
        )
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
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            self._name, revision=self._revision
        )
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            self._name,
            revision=self._revision,
            dtype=dtype_of(self._dtype, device),
            use_safetensors=True,  # other formats can run code while they are read
        )
        room = (
            getattr(model.config, "max_position_embeddings", 0)
            or tokenizer.model_max_length
        )
        return (
            tokenizer,
            model.to(device).eval(),
            min(room, tokenizer.model_max_length),
        )

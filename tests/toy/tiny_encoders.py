"""Tiny CLIP and BERT models of random weights, and their forward passes written out in numpy.

The forward passes take one text or picture at a time, so that they know nothing of batches,
padding or attention masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import erf

Array: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = Mapping[str, Array]

HEADS = 2
CORPUS = [
    "A photo depicts a small dog that runs along the sunny beach with a red ball.",
    "Two men in blue coats sit on a wooden bench and look at the river.",
    "The tall woman holds an umbrella while a child plays near the fountain.",
]
# Of the training of CLIP (Radford et al. 2021), as its processor states them.
MEAN = np.array([0.48145466, 0.4578275, 0.40821073])
DEVIATION = np.array([0.26862954, 0.26130258, 0.27577711])


def _tokenizer(begin: str, end: str, max_length: int) -> Any:
    import transformers
    from tokenizers import (
        Tokenizer,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    raw = Tokenizer(models.BPE(unk_token="[UNK]"))
    raw.normalizer = normalizers.Lowercase()
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [begin, end, "[PAD]", "[UNK]"]
    raw.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=120, special_tokens=special, show_progress=False
        ),
    )
    raw.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, 0), (end, 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token=begin,
        eos_token=end,
        cls_token=begin,
        sep_token=end,
        pad_token="[PAD]",
        unk_token="[UNK]",
        model_max_length=max_length,
    )


def _randomise(model: Any, seed: int) -> None:
    import torch

    generator = torch.Generator().manual_seed(seed)
    with (
        torch.no_grad()
    ):  # far from the tame start of training, so that every part matters
        for name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=generator)
            norm = "norm" in name.lower() and name.endswith("weight")
            parameter.copy_(
                1 + 0.2 * values
                if norm
                else values * (0.1 if values.ndim < 2 else 0.5)
            )


def make_clip(folder: Path, *, max_tokens: int = 16) -> Path:
    """A CLIP model with processor and tokenizer; pictures of 32 x 32 pixels."""
    import transformers

    tokenizer = _tokenizer("<start>", "<end>", max_tokens)
    tokenizer.save_pretrained(folder)
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": HEADS,
    }
    config = transformers.CLIPConfig(
        vision_config={**sizes, "image_size": 32, "patch_size": 16},
        text_config={
            **sizes,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": max_tokens,
            "bos_token_id": 0,
            "eos_token_id": 1,
            "pad_token_id": 2,
        },
        projection_dim=8,
    )
    model = transformers.CLIPModel(config)
    _randomise(model, 0)
    model.save_pretrained(folder)
    transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size=32
    ).save_pretrained(folder)
    return folder


def make_bert(folder: Path, *, max_tokens: int = 24) -> Path:
    """A BERT of three layers with its tokenizer."""
    import transformers

    tokenizer = _tokenizer("[CLS]", "[SEP]", max_tokens)
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=3,
        num_attention_heads=HEADS,
        max_position_embeddings=max_tokens,
        pad_token_id=2,
    )
    model = transformers.BertModel(config)
    _randomise(model, 1)
    model.save_pretrained(folder)
    return folder


def weights(folder: Path) -> Weights:
    """The weights of a saved model."""
    from safetensors.numpy import load_file

    tensors = load_file(folder / "model.safetensors")
    return {
        name: np.asarray(array, dtype=np.float64)
        for name, array in tensors.items()
    }


def token_ids(folder: Path, text: str, limit: int) -> list[int]:
    """Ids of a text; of one that is too long the beginning and the end marker."""
    from tokenizers import Tokenizer

    ids: list[int] = (
        Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    )
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def clip_text(folder: Path, text: str, limit: int = 16) -> Array:
    """The vector of a text, length 1."""
    w, ids = weights(folder), token_ids(folder, text, limit)
    x = w["text_model.embeddings.token_embedding.weight"][ids]
    x = x + w["text_model.embeddings.position_embedding.weight"][: len(ids)]
    x = _clip_layers(w, "text_model", x, causal=True)
    x = _norm(w, "text_model.final_layer_norm", x, 1e-5)
    return _unit(
        w["text_projection.weight"] @ x[-1]
    )  # the end marker stands last


def clip_picture(folder: Path, pixels: npt.NDArray[np.uint8]) -> Array:
    """The vector, length 1, of a picture of shape (32, 32, 3)."""
    w = weights(folder)
    normalized = ((pixels / 255.0 - MEAN) / DEVIATION).transpose(2, 0, 1)
    filters = w["vision_model.embeddings.patch_embedding.weight"]
    patches = [
        np.tensordot(filters, normalized[:, i : i + 16, j : j + 16], axes=3)
        for i in (0, 16)
        for j in (0, 16)
    ]
    x = np.stack([w["vision_model.embeddings.class_embedding"], *patches])
    x = x + w["vision_model.embeddings.position_embedding.weight"]
    x = _norm(w, "vision_model.pre_layrnorm", x, 1e-5)
    x = _clip_layers(w, "vision_model", x, causal=False)
    x = _norm(w, "vision_model.post_layernorm", x[:1], 1e-5)
    return _unit(w["visual_projection.weight"] @ x[0])


def bert_layer(folder: Path, text: str, layer: int, limit: int = 24) -> Array:
    """(n, D) vectors of length 1 of all tokens at a layer, end markers included."""
    w, ids = weights(folder), token_ids(folder, text, limit)
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = _norm(
        w,
        "embeddings.LayerNorm",
        x + w["embeddings.token_type_embeddings.weight"][0],
        1e-12,
    )
    for index in range(layer):
        at = f"encoder.layer.{index}"
        names = [
            f"{at}.attention.self.{name}" for name in ("query", "key", "value")
        ]
        mixed = _linear(
            w,
            f"{at}.attention.output.dense",
            _attention(w, names, x, causal=False),
        )
        x = _norm(w, f"{at}.attention.output.LayerNorm", x + mixed, 1e-12)
        inner = _linear(w, f"{at}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = _norm(
            w,
            f"{at}.output.LayerNorm",
            x + _linear(w, f"{at}.output.dense", inner),
            1e-12,
        )
    return np.stack([_unit(row) for row in x])


def _clip_layers(w: Weights, part: str, x: Array, *, causal: bool) -> Array:
    for index in range(2):
        at = f"{part}.encoder.layers.{index}"
        names = [f"{at}.self_attn.{name}_proj" for name in ("q", "k", "v")]
        before = _norm(w, f"{at}.layer_norm1", x, 1e-5)
        mixed = _attention(w, names, before, causal=causal)
        x = x + _linear(w, f"{at}.self_attn.out_proj", mixed)
        inner = _linear(
            w, f"{at}.mlp.fc1", _norm(w, f"{at}.layer_norm2", x, 1e-5)
        )
        inner = inner / (1 + np.exp(-1.702 * inner))
        x = x + _linear(w, f"{at}.mlp.fc2", inner)
    return x


def _attention(
    w: Weights, names: Sequence[str], x: Array, *, causal: bool
) -> Array:
    q, k, v = (_linear(w, name, x) for name in names)
    size = q.shape[1] // HEADS
    heads = []
    for start in range(0, q.shape[1], size):
        part = slice(start, start + size)
        scores = q[:, part] @ k[:, part].T / np.sqrt(size)
        if causal:
            scores[np.triu_indices(len(x), 1)] = -np.inf
        share = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(share / share.sum(axis=1, keepdims=True) @ v[:, part])
    return np.concatenate(heads, axis=1)


def _linear(w: Weights, name: str, x: Array) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def _norm(w: Weights, name: str, x: Array, eps: float) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    return np.asarray(
        centred / spread * w[f"{name}.weight"] + w[f"{name}.bias"]
    )


def _unit(row: Array) -> Array:
    return np.asarray(row / np.linalg.norm(row))

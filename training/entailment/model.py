"""The built-in entailment model in torch: the layers of the built-in encoder, three classes.

``distill.py`` trains it; ``save`` writes it as the graph that ``beholder.embed.entailment`` runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from beholder.embed import minilm
from training import encoders, inputs
from training.graphs import read_tensors

DROP, LONGEST = 0.1, 110
"""Share of numbers that are dropped in training; tokens of a text that are read."""
D, HEADS = 384, 12

Row: TypeAlias = tuple[list[int], list[int]]
"""Tokens of premise and hypothesis."""


class Layer(nn.Module):
    """One layer of BERT, with the weights of the built-in encoder to start with."""

    def __init__(self, stored: dict[str, Any], i: int) -> None:
        super().__init__()
        self.qkv, self.attended = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.attended_norm, self.norm = (
            nn.LayerNorm(D, 1e-12),
            nn.LayerNorm(D, 1e-12),
        )
        with torch.no_grad():
            for name, module in self.named_children():
                norm = isinstance(module, nn.LayerNorm)
                weight = stored[
                    f"{i}.{name}.weight" if norm else f"{i}.{name}"
                ]
                module.weight.copy_(torch.tensor(weight))
                module.bias.copy_(torch.tensor(stored[f"{i}.{name}.bias"]))

    def forward(self, x: Tensor, mask: Tensor, drop: float) -> Tensor:
        """States (n, tokens, D) to states."""
        n, long, _ = x.shape
        q, k, v = (
            self.qkv(x)
            .view(n, long, 3, HEADS, D // HEADS)
            .permute(2, 0, 3, 1, 4)
        )
        mixed = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask
        )
        mixed = self.attended(mixed.transpose(1, 2).reshape(n, long, D))
        x = self.attended_norm(
            x + functional.dropout(mixed, drop, self.training)
        )
        hidden = self.down(functional.gelu(self.up(x)))
        return self.norm(x + functional.dropout(hidden, drop, self.training))


class Model(nn.Module):
    """Both sentences at once: ``[CLS] hypothesis [SEP] premise [SEP]``."""

    def __init__(self, start: Path | None = None) -> None:
        super().__init__()
        n_tokens = minilm.tokenizer().get_vocab_size()
        self.register_buffer(
            "tokens", torch.tensor(minilm.token_vectors(range(n_tokens)))
        )
        stored = read_tensors(minilm.FOLDER / "encoder.onnx")
        self.register_buffer(
            "places", torch.tensor(stored["places table"].astype(np.float32))
        )
        self.first = nn.LayerNorm(D, 1e-12).requires_grad_(False)
        self.first.weight.copy_(torch.tensor(stored["norm.weight"]))
        self.first.bias.copy_(torch.tensor(stored["norm.bias"]))
        self.sides = nn.Parameter(torch.zeros(2, D))
        self.head = nn.Linear(3 * D, 3)
        if start is not None:
            stored = read_tensors(start)
            with torch.no_grad():
                self.sides.copy_(torch.tensor(stored["sides table"]))
                self.head.weight.copy_(torch.tensor(stored["head.weight"].T))
                self.head.bias.copy_(torch.tensor(stored["head.bias"]))
        weights = encoders.layer_weights(stored)
        self.layers = nn.ModuleList(
            Layer(weights, i) for i in range(minilm.N_LAYERS)
        )

    def forward(self, rows: Sequence[Row], drop: float = DROP) -> Tensor:
        """Scores (rows, 3) of the labels."""
        device = self.tokens.device
        n_own = torch.tensor([len(row[1]) for row in rows], device=device)
        texts = [torch.tensor([*row[1], *row[0][1:]]) for row in rows]
        padded = nn.utils.rnn.pad_sequence(
            texts, batch_first=True, padding_value=-1
        ).to(device)
        mask = (padded >= 0)[:, None, None, :]
        inside = (
            torch.arange(padded.shape[1], device=device)[None] < n_own[:, None]
        )
        inside = inside[..., None]
        x = self.first(
            self.tokens[padded.clamp(min=0)] + self.places[: padded.shape[1]]
        )
        x = x + torch.where(inside, self.sides[1], self.sides[0])
        with torch.autocast(device.type, torch.bfloat16):
            for layer in self.layers:
                x = layer(x, mask, drop)
        x = x.float()
        mean = (x * inside).sum(1) / n_own[:, None]
        maximum = x.masked_fill(~inside, -1e4).amax(1)
        pooled = torch.cat([x[:, 0], mean, maximum], 1)
        logits: Tensor = self.head(
            functional.dropout(pooled, drop, self.training)
        )
        return logits


@lru_cache(maxsize=1 << 17)
def token_ids(text: str) -> list[int]:
    """Tokens of a text, as many as are read."""
    return minilm.read_tokens(text).ids[:LONGEST]


def save(model: Model, about: dict[str, Any]) -> None:
    """Write the graph, whose products are of whole numbers, and what was measured."""
    layers: dict[str, np.ndarray] = {}
    for i, layer in enumerate(model.layers):
        for name, module in layer.named_children():
            is_norm = isinstance(module, nn.LayerNorm)
            layers[f"{i}.{name}.weight" if is_norm else f"{i}.{name}"] = (
                module.weight.detach().cpu().numpy()
            )
            layers[f"{i}.{name}.bias"] = module.bias.detach().cpu().numpy()
    encoder = read_tensors(minilm.FOLDER / "encoder.onnx")
    other_tensors = {
        name: encoder[name]
        for name in ("places table", "norm.weight", "norm.bias")
    }
    other_tensors["sides table"] = model.sides.detach().cpu().numpy()
    head = model.head.weight.detach().cpu().numpy().T.astype(np.float64)
    other_tensors["head.weight"] = (
        np.rint(head * 2**encoders.PLACES) * 2.0**-encoders.PLACES
    )
    other_tensors["head.bias"] = (
        model.head.bias.detach().cpu().numpy().astype(np.float64)
    )
    factors = inputs.entailment_factors(
        other_tensors | encoders.step_weights(layers, None)
    )
    graph = encoders.entailment_graph(
        other_tensors | encoders.step_weights(layers, factors)
    )
    graph.write(minilm.FOLDER / "entailment.onnx")
    text = json.dumps(about, indent=2) + "\n"
    (minilm.FOLDER / "entailment.json").write_text(text, encoding="utf-8")

"""Trained weights as the graphs that ``beholder.language.network`` runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from beholder.language.network import N_HEADS, WIDTH
from training import inputs
from training.english import graphs
from training.english.nets import Trainable
from training.packing import decode, fit_codes

BITS = 8


def export(net: Trainable, labels: dict[str, object], folder: Path) -> None:
    """Write the graphs, first with eight bits a weight; scales of scores are part of weights."""
    stored: dict[str, np.ndarray] = {}

    def codes_of(weight: Tensor) -> tuple[np.ndarray, np.ndarray]:
        return fit_codes(weight.detach().numpy().astype(np.float32), BITS)

    def linear(
        name: str, layer: nn.Linear, scale: Tensor | float = 1.0
    ) -> None:
        scale = torch.as_tensor(scale).expand(layer.out_features)
        stored[name] = decode(*codes_of(layer.weight * scale[:, None]))
        bias = (
            layer.bias
            if layer.bias is not None
            else torch.zeros(layer.out_features)
        )
        stored[f"{name}.bias"] = (bias * scale).detach().numpy()

    def norm(name: str, layer: nn.LayerNorm) -> None:
        stored[f"{name}.weight"] = layer.weight.detach().numpy()
        stored[f"{name}.bias"] = layer.bias.detach().numpy()

    linear("embed", net.embed)
    for name in ("suffixes", "shapes"):
        codes, scales = codes_of(getattr(net, name).weight)
        stored |= {f"{name}.codes": codes, f"{name}.scales": scales}
    norm("norm", net.norm)
    norm("last", net.last)
    queries = torch.ones(3 * WIDTH)
    queries[:WIDTH] = (WIDTH // N_HEADS) ** -0.5
    for i, block in enumerate(net.blocks):
        norm(f"{i}.near_norm", block.near_norm)
        norm(f"{i}.wide_norm", block.wide_norm)
        linear(f"{i}.near", block.near)
        linear(f"{i}.qkv", block.qkv, queries)
        linear(f"{i}.attended", block.attended)
        stored[f"{i}.distances"] = block.distances.detach().numpy()
    heads = net.heads
    linear("arc", heads.arc, WIDTH**-0.5)
    for name in (
        "tags",
        "parts",
        "starts",
        "roots",
        "arc_dependent",
        "arc_head",
        "relation_dependent",
        "relation_head",
        "relations",
    ):
        linear(name, getattr(heads, name))
    names = json.dumps(labels)
    factors = inputs.parser_factors(graphs.step_weights(stored, None), names)
    folder.mkdir(exist_ok=True)
    graphs.write(graphs.step_weights(stored, factors), names, folder)

"""Trained weights in the form that ``beholder.language.network`` reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import Tensor, nn

from beholder.language.network import N_HEADS, WIDTH
from training.english.nets import Trainable
from training.packing import pack

BITS = 8


def export(net: Trainable, labels: dict[str, object], path: Path) -> None:
    """Write the weights, eight bits a number; scales of scores are multiplied into them."""
    stored: dict[str, np.ndarray] = {}

    def matrix(name: str, weight: Tensor) -> None:
        found = pack(weight.detach().numpy().astype(np.float32), BITS)
        stored[f"{name}.planes"], stored[f"{name}.scales"] = found.planes, found.scales

    def linear(name: str, layer: nn.Linear, scale: Tensor | float = 1.0) -> None:
        scale = torch.as_tensor(scale).expand(layer.out_features)
        matrix(name, layer.weight * scale[:, None])
        bias = layer.bias if layer.bias is not None else torch.zeros(layer.out_features)
        stored[f"{name}.bias"] = (bias * scale).detach().numpy()

    def norm(name: str, layer: nn.LayerNorm) -> None:
        stored[f"{name}.weight"] = layer.weight.detach().numpy()
        stored[f"{name}.bias"] = layer.bias.detach().numpy()

    linear("embed", net.embed)
    matrix("suffixes", net.suffixes.weight)
    matrix("shapes", net.shapes.weight)
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
    for name in ("tags", "parts", "starts", "roots", "arc_dependent", "arc_head",
                 "relation_dependent", "relation_head", "relations"):  # fmt: skip
        linear(name, getattr(heads, name))
    save_file(
        {name: np.ascontiguousarray(value) for name, value in stored.items()},
        path,
        metadata={"labels": json.dumps(labels)},
    )

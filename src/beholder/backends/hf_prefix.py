"""The common beginning of prompts, computed once. Synchronous torch.

Many questions about one text begin alike. Their beginning goes through the model once, and what
follows it continues from copies of its attention cache, padded on the right, which reaches no token
before it and so changes no number.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

LEAST_SHARED = 16
"""Tokens below which a common beginning is not worth a pass of its own."""


def last_logits(
    forward: Callable[..., Any], prompts: Sequence[list[int]], device: str
) -> torch.Tensor | None:
    """Return the logits after the last token of each prompt, shape (prompts, vocabulary).

    None where the prompts have hardly anything in common, or where the model keeps what it
    computed in a form that cannot be shared.

    Args:
        forward: One pass of the model; ``keep`` are the places after which logits are wanted.
        prompts: Token ids.
        device: Device of the model.
    """
    # The shared beginning goes through the model once. Its cache is repeated for each prompt, and
    # what differs continues from it; logits are computed only where a prompt ends.
    n_shared = _count_common_tokens(prompts)
    if len(prompts) < 2 or n_shared < LEAST_SHARED:
        return None
    start = torch.tensor([prompts[0][:n_shared]], device=device)
    before = forward(keep=-1, input_ids=start, use_cache=True).past_key_values
    if not can_be_shared(before):
        return None
    continuations = [prompt[n_shared:] for prompt in prompts]
    cache_copy = copy_cache(before)
    cache_copy.batch_select_indices(
        torch.zeros(len(continuations), dtype=torch.long, device=device)
    )
    last = torch.tensor(
        [len(continuation) - 1 for continuation in continuations],
        device=device,
    )
    end_places, place = last.unique(return_inverse=True)
    rows = pad_rows(continuations, device)
    out = forward(
        keep=end_places,
        input_ids=rows,
        past_key_values=cache_copy,
        use_cache=True,
    )
    logits: torch.Tensor = out.logits[
        torch.arange(len(continuations), device=device), place
    ]
    return logits


def _count_common_tokens(prompts: Sequence[list[int]]) -> int:
    """Return the length of the common beginning; at least one token of each prompt is left."""
    # In sorted order, the first and the last prompt differ earliest.
    first, last = min(prompts), max(prompts)
    limit = min(map(len, prompts)) - 1
    return next((i for i in range(limit) if first[i] != last[i]), limit)


def pad_rows(rows: Sequence[list[int]], device: str) -> torch.Tensor:
    """Return token ids as one tensor, shape (rows, longest), with zeros after each row's end."""
    longest = max(map(len, rows))
    return torch.tensor(
        [row + [0] * (longest - len(row)) for row in rows], device=device
    )


def has_positions(model: torch.nn.Module) -> bool:
    """Return whether a model stores the positions of its last prompt (Qwen-VL's rope_deltas)."""
    return any(hasattr(module, "rope_deltas") for module in model.modules())


def can_be_shared(cache: Any) -> bool:
    """Return whether rows of a cache can be selected."""
    return hasattr(cache, "batch_select_indices")


def copy_cache(cache: Any) -> Any:
    """Return a copy of a cache; selecting rows of the copy leaves the original's tensors alone."""
    if not hasattr(cache, "layers"):  # one with caches inside
        return copy.deepcopy(cache)
    cache_copy = copy.copy(cache)
    cache_copy.layers = [copy.copy(layer) for layer in cache.layers]
    return cache_copy

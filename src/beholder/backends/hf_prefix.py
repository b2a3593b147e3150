"""The beginning that prompts have in common, computed once. Synchronous torch.

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
    """Logits after the last token of each prompt, shape (prompts, vocabulary).

    None where the prompts have hardly anything in common, or where the model keeps what it
    computed in a form that cannot be shared.

    Args:
        forward: One pass of the model; ``keep`` are the places after which logits are wanted.
        prompts: Token ids.
        device: Where the model computes.
    """
    shared = _common(prompts)
    if len(prompts) < 2 or shared < LEAST_SHARED:
        return None
    start = torch.tensor([prompts[0][:shared]], device=device)
    before = forward(keep=-1, input_ids=start, use_cache=True).past_key_values
    if not can_be_shared(before):
        return None
    rests = [prompt[shared:] for prompt in prompts]
    own = copied(before)
    own.batch_select_indices(
        torch.zeros(len(rests), dtype=torch.long, device=device)
    )
    last = torch.tensor([len(rest) - 1 for rest in rests], device=device)
    kept, place = last.unique(return_inverse=True)
    rows = padded(rests, device)
    out = forward(
        keep=kept, input_ids=rows, past_key_values=own, use_cache=True
    )
    found: torch.Tensor = out.logits[
        torch.arange(len(rests), device=device), place
    ]
    return found


def _common(prompts: Sequence[list[int]]) -> int:
    """How many tokens all prompts begin with; each keeps one of its own."""
    first, last = min(prompts), max(prompts)
    most = min(map(len, prompts)) - 1
    return next((i for i in range(most) if first[i] != last[i]), most)


def padded(rows: Sequence[list[int]], device: str) -> torch.Tensor:
    """Token ids as one table, zeros after the end of each row."""
    longest = max(map(len, rows))
    return torch.tensor(
        [row + [0] * (longest - len(row)) for row in rows], device=device
    )


def holds_positions(model: torch.nn.Module) -> bool:
    """Whether a model keeps the positions of its last prompt in itself."""
    return any(hasattr(module, "rope_deltas") for module in model.modules())


def can_be_shared(cache: Any) -> bool:
    """Whether rows of a cache can be taken out."""
    return hasattr(cache, "batch_select_indices")


def copied(cache: Any) -> Any:
    """A cache that can be written to; selecting rows of it leaves the first one's tensors alone."""
    if not hasattr(cache, "layers"):  # one with caches inside
        return copy.deepcopy(cache)
    own = copy.copy(cache)
    own.layers = [copy.copy(layer) for layer in cache.layers]
    return own

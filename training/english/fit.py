"""The training of the network."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import torch
from torch import nn

from training.english.examples import (
    Document,
    Labels,
    batches,
    chunks,
    words_of,
)
from training.english.nets import Pieces, Trainable, losses, targets

RATE = 1.6e-3
_LIMITS = (80, 100, 130)
"""Words of a document: sentences stand in other company in each pass."""
_PLACES = 800
"""Words of a batch, padding counted."""


def study(
    docs: Sequence[Document],
    extra: Sequence[tuple[Sequence[Document], float]],
    labels: Labels,
    *,
    steps: int,
    falling: int,
    start: Trainable | None = None,
) -> Trainable:
    """Train the network; what is given back is the moving mean of its weights.

    Args:
        docs: The treebanks, all read in each pass.
        extra: Further documents, each kind with the share of it that is read in a pass.
        labels: Labels to tell apart.
        steps: Batches to learn from.
        falling: How many of the last of them are learned from at a falling rate.
        start: Weights to begin with; at random where there are none.
    """
    torch.manual_seed(0)
    rng = random.Random(0)
    net, pieces = Trainable(labels, dropout=0.1), Pieces()
    if start is not None:
        net.load_state_dict(start.state_dict())
    optimiser = torch.optim.AdamW(
        net.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.02
    )
    mean = torch.optim.swa_utils.AveragedModel(
        net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.996)
    )
    total, waiting = 0.0, []  # type: float, list[list[Document]]
    for step in range(1, steps + 1):
        if not waiting:
            limit = rng.choice(_LIMITS)
            parts = list(_regrouped(chunks(docs, limit), rng))
            for kind, share in extra:
                parts += chunks(
                    rng.sample(kind, int(share * len(kind))), limit
                )
            waiting = batches(parts, _PLACES, rng)
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(
                1, step / 100, max(0.01, (steps - step) / max(1, falling))
            )
        batch = waiting.pop()
        loss = losses(
            net.heads,
            net(pieces.batch(words_of(batch))),
            targets(batch, labels),
        )
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimiser.step()
        mean.update_parameters(net)
        total += loss.item()
        if step % 100 == 0:
            print(
                f"step {step} of {steps}: loss {total / 100:.3f}", flush=True
            )
            total = 0.0
    module: Trainable = mean.module.eval()
    return module


def _regrouped(
    docs: Iterable[Document], rng: random.Random
) -> Iterable[Document]:
    """Return a third of the documents in two, so that texts of one sentence are known too."""
    for doc in docs:
        if len(doc) > 1 and rng.random() < 0.3:
            cut = rng.randrange(1, len(doc))
            yield doc[:cut]
            yield doc[cut:]
        else:
            yield doc

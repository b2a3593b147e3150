"""Exact perplexity of texts under a transformers model. Synchronous torch.

The prompt, with its pictures, is computed once for all texts that follow it, and its attention
cache is shared; prompts of one shape are computed together. Texts are sorted by length and padded
on the right, which reaches no token before it and so changes no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from beholder.backends.base import Message, Surprisal, TextSet
from beholder.backends.hf_prefix import (
    can_be_shared,
    copied,
    holds_positions,
    padded,
)
from beholder.errors import ItemError

if TYPE_CHECKING:
    from beholder.backends.hf_model import HFModel


Found: TypeAlias = list[Surprisal] | Exception


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Model inputs of a prompt, and the token ids of the texts after it."""

    inputs: Mapping[str, torch.Tensor]
    ids: list[list[int]]


def perplexities(model: HFModel, sets: Sequence[TextSet]) -> list[Found]:
    """Negative log-likelihoods of each set's texts, or why a set has none."""
    found: dict[int, Found] = {}
    prepared: dict[int, _Prepared] = {}
    for n, one in enumerate(sets):
        try:
            prepared[n] = _prepare(model, one)
        except ItemError as error:
            found[n] = error
    with torch.inference_mode():
        for stack in _stacks(model, prepared):
            losses = _losses(model, [prepared[n] for n in stack])
            for place, n in enumerate(stack):
                pairs = zip(sets[n].texts, prepared[n].ids, strict=True)
                found[n] = [
                    Surprisal(losses[place, t], len(ids), len(text))
                    for t, (text, ids) in enumerate(pairs)
                ]
    return [found[n] for n in range(len(sets))]


def _prepare(model: HFModel, one: TextSet) -> _Prepared:
    if not all(one.texts):
        raise ItemError("an empty text has no perplexity")
    message = Message("user", (*one.images, one.prompt))
    inputs = dict(model.encode([model.render((message,))], one.images))
    ids = [
        model.tokenizer(text, add_special_tokens=False)["input_ids"]
        for text in one.texts
    ]
    n_tokens = inputs["input_ids"].shape[1] + max(len(row) for row in ids)
    if model.context and n_tokens > model.context:
        raise ItemError(
            f"prompt and text have {n_tokens} tokens, the model takes {model.context}"
        )
    return _Prepared(inputs, ids)


def _stacks(
    model: HFModel, prepared: Mapping[int, _Prepared]
) -> Iterable[list[int]]:
    """Sets whose prompts have one shape, so that no padding is needed between them."""
    groups: dict[object, list[int]] = {}
    # Models that keep the positions of the last prompt in themselves take one prompt at a time.
    alone = holds_positions(model.model)
    for n, one in prepared.items():
        shapes = tuple(
            (name, tuple(value.shape))
            for name, value in sorted(one.inputs.items())
        )
        groups.setdefault(n if alone else shapes, []).append(n)
    size = max(
        1, model.batch_size // 2
    )  # their caches lie beside those of a batch of texts
    for group in groups.values():
        for start in range(0, len(group), size):
            yield group[start : start + size]


def _losses(
    model: HFModel, stack: Sequence[_Prepared]
) -> dict[tuple[int, int], float]:
    """Total loss by place in the stack and number of the text."""
    inputs = {
        name: torch.cat([one.inputs[name] for one in stack])
        for name in stack[0].inputs
    }
    before = model.forward(keep=-1, **inputs, use_cache=True)
    keys = [
        (place, t)
        for place, one in enumerate(stack)
        for t in range(len(one.ids))
    ]
    keys.sort(key=lambda key: len(stack[key[0]].ids[key[1]]))
    if not can_be_shared(before.past_key_values):
        return {
            (place, t): _whole(model, stack[place], t) for place, t in keys
        }
    first = torch.log_softmax(before.logits[:, -1].float(), dim=-1)
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(keys), model.batch_size):
        chosen = keys[start : start + model.batch_size]
        rows = torch.tensor(
            [place for place, _ in chosen], device=model.device
        )
        ids = [stack[place].ids[t] for place, t in chosen]
        nll = _continue(model, before.past_key_values, rows, first[rows], ids)
        found |= dict(zip(chosen, nll, strict=True))
    return found


def _continue(
    model: HFModel,
    cache: Any,
    rows: torch.Tensor,
    first: torch.Tensor,
    ids: list[list[int]],
) -> list[float]:
    """Total loss of continuations of the prompts in these rows of a cache.

    ``first`` holds the log-probabilities of each one's first token, shape (texts, tokens).
    """
    lengths = torch.tensor([len(row) for row in ids])
    longest = int(lengths.max())
    told_ids = padded(ids, model.device)
    real = (torch.arange(longest)[None] < lengths[:, None]).to(model.device)
    losses = -first.gather(1, told_ids[:, :1])[:, 0].double()
    if longest > 1:
        own = copied(cache)
        own.batch_select_indices(rows)
        # No mask: a token sees only those before it, so padding on the right reaches none.
        out = model.forward(
            input_ids=told_ids, past_key_values=own, use_cache=True
        )
        logprobs = torch.log_softmax(out.logits[:, :-1].float(), dim=-1)
        told = logprobs.gather(2, told_ids[:, 1:, None])[..., 0].double()
        losses = losses - (told * real[:, 1:]).sum(dim=1)
    return [float(loss) for loss in losses]


def _whole(model: HFModel, one: _Prepared, t: int) -> float:
    """Prompt and text in one pass: for models whose cache cannot be shared."""
    row = torch.tensor([one.ids[t]], device=model.device)
    n_prompt = one.inputs["input_ids"].shape[1]
    inputs = dict(one.inputs)
    for name, after in (
        ("input_ids", row),
        ("attention_mask", torch.ones_like(row)),
        ("mm_token_type_ids", torch.zeros_like(row)),
    ):
        if name in inputs:
            inputs[name] = torch.cat(
                [inputs[name], after.to(inputs[name].dtype)], dim=1
            )
    logits = model.forward(**inputs).logits[0, n_prompt - 1 : -1]
    logprobs = torch.log_softmax(logits.float(), dim=-1)
    return -float(logprobs.gather(1, row.T).double().sum())

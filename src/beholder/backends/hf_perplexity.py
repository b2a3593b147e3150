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
    copy_cache,
    has_positions,
    pad_rows,
)
from beholder.errors import ItemError

if TYPE_CHECKING:
    from beholder.backends.hf_model import HFModel


SetResult: TypeAlias = list[Surprisal] | Exception


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Model inputs of a prompt, and the token ids of the texts after it."""

    inputs: Mapping[str, torch.Tensor]
    ids: list[list[int]]


def perplexities(model: HFModel, sets: Sequence[TextSet]) -> list[SetResult]:
    """Return the surprisals of each set's texts, or the error of a set that has none."""
    results: dict[int, SetResult] = {}
    prepared: dict[int, _Prepared] = {}
    for n, text_set in enumerate(sets):
        try:
            prepared[n] = _prepare(model, text_set)
        except ItemError as error:
            results[n] = error
    with torch.inference_mode():
        for stack in _stacks(model, prepared):
            losses = _losses(model, [prepared[n] for n in stack])
            for place, n in enumerate(stack):
                pairs = zip(sets[n].texts, prepared[n].ids, strict=True)
                results[n] = [
                    Surprisal(losses[place, t], len(ids), len(text))
                    for t, (text, ids) in enumerate(pairs)
                ]
    return [results[n] for n in range(len(sets))]


def _prepare(model: HFModel, text_set: TextSet) -> _Prepared:
    if not all(text_set.texts):
        raise ItemError("an empty text has no perplexity")
    message = Message("user", (*text_set.images, text_set.prompt))
    inputs = dict(model.encode([model.render((message,))], text_set.images))
    ids = [
        model.tokenizer(text, add_special_tokens=False)["input_ids"]
        for text in text_set.texts
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
    """Yield groups of sets whose prompts have one shape, so that no padding is needed."""
    groups: dict[object, list[int]] = {}
    # Models that keep the positions of the last prompt in themselves take one prompt at a time.
    alone = has_positions(model.model)
    for n, entry in prepared.items():
        shapes = tuple(
            (name, tuple(value.shape))
            for name, value in sorted(entry.inputs.items())
        )
        groups.setdefault(n if alone else shapes, []).append(n)
    # The caches of prompts are in memory together with those of a batch of texts.
    size = max(1, model.batch_size // 2)
    for group in groups.values():
        for start in range(0, len(group), size):
            yield group[start : start + size]


def _losses(
    model: HFModel, stack: Sequence[_Prepared]
) -> dict[tuple[int, int], float]:
    """Return the total loss in nats by (place in the stack, number of the text)."""
    inputs = {
        name: torch.cat([entry.inputs[name] for entry in stack])
        for name in stack[0].inputs
    }
    # One run of the prompts gives their cache and the distribution of each first token. The
    # texts follow from copies of that cache, those of similar length together.
    before = model.forward(keep=-1, **inputs, use_cache=True)
    keys = [
        (place, t)
        for place, entry in enumerate(stack)
        for t in range(len(entry.ids))
    ]
    keys.sort(key=lambda key: len(stack[key[0]].ids[key[1]]))
    if not can_be_shared(before.past_key_values):
        return {
            (place, t): _loss_in_one_pass(model, stack[place], t)
            for place, t in keys
        }
    first = torch.log_softmax(before.logits[:, -1].float(), dim=-1)
    losses: dict[tuple[int, int], float] = {}
    for start in range(0, len(keys), model.batch_size):
        batch = keys[start : start + model.batch_size]
        rows = torch.tensor([place for place, _ in batch], device=model.device)
        ids = [stack[place].ids[t] for place, t in batch]
        nll = _continue(model, before.past_key_values, rows, first[rows], ids)
        losses |= dict(zip(batch, nll, strict=True))
    return losses


def _continue(
    model: HFModel,
    cache: Any,
    rows: torch.Tensor,
    first: torch.Tensor,
    ids: list[list[int]],
) -> list[float]:
    """Return the total losses of continuations of the prompts in these rows of a cache.

    ``first`` holds the log-probabilities of each one's first token, shape (texts, tokens).
    """
    # The first token's loss comes from the prompt's pass; the others' from one run of the texts,
    # where position i predicts token i + 1. Padding is masked out of the sums, which are in
    # float64: float32 would lose digits over long texts.
    lengths = torch.tensor([len(row) for row in ids])
    longest = int(lengths.max())
    token_ids = pad_rows(ids, model.device)
    real = (torch.arange(longest)[None] < lengths[:, None]).to(model.device)
    losses = -first.gather(1, token_ids[:, :1])[:, 0].double()
    if longest > 1:
        cache_copy = copy_cache(cache)
        cache_copy.batch_select_indices(rows)
        # No mask: a token sees only those before it, so padding on the right reaches none.
        out = model.forward(
            input_ids=token_ids, past_key_values=cache_copy, use_cache=True
        )
        logprobs = torch.log_softmax(out.logits[:, :-1].float(), dim=-1)
        token_logprobs = logprobs.gather(2, token_ids[:, 1:, None])[
            ..., 0
        ].double()
        losses = losses - (token_logprobs * real[:, 1:]).sum(dim=1)
    return [float(loss) for loss in losses]


def _loss_in_one_pass(model: HFModel, prepared: _Prepared, t: int) -> float:
    """Return the loss of a text from one run of prompt and text.

    For models whose cache cannot be shared.
    """
    row = torch.tensor([prepared.ids[t]], device=model.device)
    n_prompt = prepared.inputs["input_ids"].shape[1]
    inputs = dict(prepared.inputs)
    for name, after in (
        ("input_ids", row),
        ("attention_mask", torch.ones_like(row)),
        ("mm_token_type_ids", torch.zeros_like(row)),
    ):
        if name in inputs:
            inputs[name] = torch.cat(
                [inputs[name], after.to(inputs[name].dtype)], dim=1
            )
    # Position i predicts token i + 1.
    logits = model.forward(**inputs).logits[0, n_prompt - 1 : -1]
    logprobs = torch.log_softmax(logits.float(), dim=-1)
    return -float(logprobs.gather(1, row.T).double().sum())

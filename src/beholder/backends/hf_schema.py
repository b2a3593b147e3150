"""JSON schemas enforced while a transformers model writes, by llguidance."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers

from beholder.backends.base import JsonObject
from beholder.errors import ItemError

IS_AVAILABLE = importlib.util.find_spec("llguidance") is not None
"""True if llguidance is installed; environments from before the extra had it do without."""


class Binder:
    """Binds the answers of one model.

    Args:
        tokenizer: Its tokenizer.
        n_tokens: Width of its logits.
        ends: The tokens that end an answer.
    """

    def __init__(
        self, tokenizer: Any, n_tokens: int, ends: Sequence[int]
    ) -> None:
        from llguidance.hf import from_tokenizer

        self._ends = list(ends)
        self._tokens = from_tokenizer(
            tokenizer, n_vocab=n_tokens, eos_token=self._ends
        )

    def bind(
        self, schemas: Sequence[JsonObject]
    ) -> transformers.LogitsProcessorList:
        """Return the processor that lets each row of a batch write only what its schema allows.

        Raises:
            ItemError: A schema cannot be enforced.
        """
        from llguidance import LLMatcher

        matchers = []
        for schema in schemas:
            # Small models lose themselves in blanks.
            grammar = LLMatcher.grammar_from_json_schema(
                json.dumps(schema), overrides={"whitespace_flexible": False}
            )
            matchers.append(LLMatcher(self._tokens, grammar))
            if matchers[-1].is_error():
                raise ItemError(
                    f"the schema cannot be enforced: {matchers[-1].get_error()[:200]}"
                )
        return transformers.LogitsProcessorList([_Bound(matchers, self._ends)])


class _Bound(transformers.LogitsProcessor):  # type: ignore[misc]
    """Leaves each row the tokens that its matcher allows."""

    def __init__(self, matchers: Sequence[Any], ends: list[int]) -> None:
        self._matchers = matchers
        self._ends = ends
        self._begun = False

    def __call__(
        self, input_ids: torch.Tensor, scores: torch.Tensor
    ) -> torch.Tensor:
        # The first call comes before any token was written, so nothing is consumed then.
        for row, matcher in enumerate(self._matchers):
            if self._begun and not matcher.is_stopped():
                matcher.consume_token(int(input_ids[row, -1]))
            allowed = torch.zeros(scores.shape[-1], dtype=torch.bool)
            if matcher.is_stopped():  # nothing may follow
                allowed[self._ends] = True
            else:
                mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
                # The mask has one bit a token, and may be shorter or longer than the logits.
                bits = np.unpackbits(mask, bitorder="little")[: len(allowed)]
                allowed[: len(bits)] = torch.from_numpy(bits.astype(bool))
            scores[row] = scores[row].masked_fill(
                ~allowed.to(scores.device), -torch.inf
            )
        self._begun = True
        return scores

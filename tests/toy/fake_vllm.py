"""A package ``vllm`` whose engine answers "3" to everything, for tests without weights."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOM = 200
"""Words that fit into a prompt."""


class Params(SimpleNamespace):
    """Sampling parameters: whatever is given."""


class Engine:
    """Answers each conversation with as many samples as asked for."""

    def __init__(self, **options: Any) -> None:
        if "no_such_option" in options:
            raise TypeError(
                "LLM got an unexpected keyword argument 'no_such_option'"
            )

    def chat(
        self, conversations: list[Any], sampling_params: Any, **options: Any
    ) -> list[Any]:
        each = (
            sampling_params
            if isinstance(sampling_params, list)
            else [sampling_params]
        )
        if any(len(str(turns).split()) > ROOM for turns in conversations):
            raise ValueError(
                f"The prompt is longer than the maximum model length of {ROOM}."
            )
        params = each * len(conversations) if len(each) == 1 else each
        return [
            _output(*pair) for pair in zip(conversations, params, strict=True)
        ]


def _output(turns: list[dict[str, Any]], params: Any) -> Any:
    words = " ".join(str(turn["content"]) for turn in turns).split()
    row = {
        7: SimpleNamespace(logprob=-0.25, decoded_token="3"),
        8: SimpleNamespace(logprob=-1.5, decoded_token="4"),
    }
    logprobs = [row] if getattr(params, "logprobs", None) else None
    sample = SimpleNamespace(
        text="3", finish_reason="stop", logprobs=logprobs, token_ids=[7]
    )
    return SimpleNamespace(
        prompt_token_ids=list(range(len(words))),
        prompt_logprobs=[None]
        + [{1: SimpleNamespace(logprob=-2.0)}] * (len(words) - 1),
        outputs=[sample] * getattr(params, "n", 1),
        num_cached_tokens=0,
    )


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have ``import vllm`` find it."""
    module: Any = ModuleType("vllm")
    module.__spec__ = SimpleNamespace(name="vllm")
    module.SamplingParams, module.LLM = Params, Engine
    module.sampling_params = SimpleNamespace(StructuredOutputsParams=Params)
    module.platforms = SimpleNamespace(
        current_platform=SimpleNamespace(is_cpu=lambda: True)
    )
    monkeypatch.setitem(sys.modules, "vllm", module)

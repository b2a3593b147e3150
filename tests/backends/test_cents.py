"""Thoughts, caches, refusals and safety blocks of every vendor, counted to the cent by hand.

Prices of the tests: 1,000 dollars a million prompt tokens, 100 cached, 2,000 written to the cache,
10,000 of answers. A good answer tells 100 prompt tokens, 20 of them cached, and 10 of its own:
80 x 1,000 + 20 x 100 + 10 x 10,000 = 182,000 millionths of a dollar.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.errors import ItemError
from beholder.judges import Budget
from beholder.judges.operations import Rewrite
from servers.faults import (
    FaultServer,
    completion,
    probe_answer,
    run_beside,
    serving,
)
from servers.vendors import VendorServer

Whole = dict[str, Any]
PRICE = {"input": 1000, "cached": 100, "written": 2000, "output": 10_000}
GOOD = 0.182
THOUGHT = 0.682  # 50 more tokens of answer, at 10,000 a million

_A = {"input_tokens": 80, "cache_read_input_tokens": 20, "output_tokens": 10}
_G = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 20,
    "candidatesTokenCount": 10,
}
_O = {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 20}}
_NO_TEXT = {"content": {"role": "model"}}


def _of_openai(usage: Whole, **choice: Any) -> Whole:
    return {
        "usage": {**_O, "completion_tokens": 10, **usage},
        "choice": choice,
    }


def _of_gemini(usage: Whole, **candidate: Any) -> Whole:
    return {"usageMetadata": {**_G, **usage}, "candidate": candidate}


def _of_anthropic(usage: Whole, **message: Any) -> Whole:
    return {"usage": {**_A, **usage}, **message}


THOUGHTS_IN = {"completion_tokens_details": {"reasoning_tokens": 50}}
CASES: list[tuple[str, str, Whole, float, bool]] = [
    ("openai", "thoughts in the answer", _of_openai({"completion_tokens": 60, **THOUGHTS_IN}), THOUGHT, True),
    ("openai", "thoughts left out", _of_openai({"total_tokens": 160, **THOUGHTS_IN}), THOUGHT, True),
    ("openai", "nothing cached", _of_openai({"prompt_tokens_details": None}), 0.2, True),
    ("openai", "refusal", _of_openai({}, message={"content": None, "refusal": "no"}), GOOD, False),
    ("openai", "filtered", _of_openai({}, finish_reason="content_filter"), GOOD, False),
    ("openai", "cut", _of_openai({}, finish_reason="length"), GOOD, False),
    ("openai", "broken, then good", _of_openai({}, message=None), 2 * GOOD, True),
    ("anthropic", "thoughts", _of_anthropic({"output_tokens": 60, "output_tokens_details": {"thinking_tokens": 50}}), THOUGHT, True),
    # 30 tokens at 2,000 a million more.
    ("anthropic", "written", _of_anthropic({"cache_creation_input_tokens": 30}), 0.242, True),
    ("anthropic", "all cached", _of_anthropic({"input_tokens": 0, "cache_read_input_tokens": 40_000}), 4.1, True),
    ("anthropic", "refusal", _of_anthropic({}, content=[], stop_reason="refusal"), GOOD, False),
    ("anthropic", "refusal at once", _of_anthropic({"output_tokens": 0}, content=[], stop_reason="refusal"), 0.082, False),
    ("anthropic", "cut", _of_anthropic({}, stop_reason="max_tokens"), GOOD, False),
    ("anthropic", "broken, then good", _of_anthropic({}, stop_reason="pause_turn"), 2 * GOOD, True),
    ("gemini", "thoughts", _of_gemini({"thoughtsTokenCount": 50, "totalTokenCount": 160}), THOUGHT, True),
    ("gemini", "thoughts in the total", _of_gemini({"totalTokenCount": 160}), THOUGHT, True),
    ("gemini", "tool use", _of_gemini({"toolUsePromptTokenCount": 5, "totalTokenCount": 115}), 0.187, True),
    ("gemini", "nothing cached", _of_gemini({"cachedContentTokenCount": None}), 0.2, True),
    ("gemini", "safety", _of_gemini({}, finishReason="SAFETY"), GOOD, False),
    ("gemini", "recitation", _of_gemini({}, finishReason="RECITATION", **_NO_TEXT), GOOD, False),
    ("gemini", "prompt blocked", {"candidates": None, "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {**_G, "candidatesTokenCount": None}}, 0.082, False),
    ("gemini", "thought to the end", _of_gemini({"candidatesTokenCount": 0, "thoughtsTokenCount": 50}, finishReason="MAX_TOKENS", **_NO_TEXT), 0.582, False),
    ("gemini", "other, then good", _of_gemini({}, finishReason="OTHER"), 2 * GOOD, True),
    ("gemini", "no parts, then good", _of_gemini({}, **_NO_TEXT), 2 * GOOD, True),
]  # fmt: skip


def odd(good: Whole, change: Whole) -> Whole:
    """A good answer with other fields; ``choice`` and ``candidate`` stand for the first of them."""
    for name, value in change.items():
        if name in ("choice", "candidate"):
            good["choices" if name == "choice" else "candidates"][0] |= value
        else:
            good[name] = value
    return good


@pytest.mark.parametrize(
    ("vendor", "change", "dollars", "answers"),
    [pytest.param(v, *rest, id=f"{v}: {kind}") for v, kind, *rest in CASES],
)
def test_an_answer_costs_what_the_vendor_charges(
    vendor: str, change: Whole, dollars: float, answers: bool, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {"served-1": PRICE}}))

    def reply(body: Whole) -> Whole:
        return probe_answer(body) or completion("a phrase")

    server: Any = (
        FaultServer(reply)
        if vendor == "openai"
        else VendorServer(vendor, reply)
    )
    good, n_odd = server.reply, 0

    def once_odd(body: Whole) -> Whole:
        nonlocal n_odd
        if "odd thing" not in json.dumps(body) or n_odd:
            return dict(good(body))
        n_odd += 1
        return odd(good(body), change)

    server.reply = once_odd
    budget = Budget()
    with serving(server):
        address = server.url if vendor == "openai" else server.base
        judge = judges.judge(
            f"{vendor}:m", budget=budget, base_url=address, prices=str(prices)
        )
        run_beside(server, judge.ask(Rewrite("first thing")))
        before = budget.spent
        if answers:
            assert (
                run_beside(server, judge.ask(Rewrite("odd thing")))
                == "a phrase"
            )
        else:
            with pytest.raises(ItemError, match=r"refused|cut off"):
                run_beside(server, judge.ask(Rewrite("odd thing")))
    assert n_odd == 1
    assert budget.spent - before == pytest.approx(dollars, abs=1e-9)

"""Estimates without asking: counts and costs by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beholder import judges
from beholder.backends import Image
from beholder.judges import Judge, Question, Shot, Tally

PICTURE = Image(b"x", "image/png")
NOWHERE = "http://127.0.0.1:9/v1"  # nobody listens: an estimate must not need anybody


async def image_of_study(judge: Judge, n_models: int) -> None:
    """One image of a study of captions in both directions."""
    human = [s.text for s in await judge.decompose("A man stands on a bridge in the rain.")]
    for model in range(n_models):
        own = [s.text for s in await judge.decompose(f"A man {model} walks over a bridge.")]
        for one, other in ((own, human), (human, own)):
            await judge.match(one, other)
            await judge.verify(one, images=[PICTURE], reference=f"caption {model} of {one[0]}")


def test_calls_of_a_study_are_one_plus_five_per_model() -> None:
    tally = Tally()
    asyncio.run(image_of_study(judges.judge("openai:m", base_url=NOWHERE, tally=tally), 4))
    assert tally.n_calls == 1 + 5 * 4


def test_equal_questions_count_once_and_replicates_apart() -> None:
    tally = Tally()
    judge = judges.judge("openai(model='m', replicates=3)", base_url=NOWHERE, tally=tally)
    questions = [Question("entity", "cat"), Question("entity", "cat"), Question("entity", "dog")]
    asyncio.run(judge.presence(questions, "A cat."))
    asyncio.run(judge.presence(questions, "A cat."))
    assert tally.n_calls == 2 * 3


def test_cost_is_tokens_times_price_and_unknown_without_a_price(tmp_path: Path) -> None:
    prices = tmp_path / "p.json"
    prices.write_text('{"models": {"m": {"input": 1000, "output": 0}}}')
    tally = Tally()
    judge = judges.judge("openai:m", base_url=NOWHERE, prices=str(prices), tally=tally)
    asyncio.run(judge.rewrite("man holds cup"))
    assert tally.cost == pytest.approx(tally.prompt_tokens * 1000 / 1e6)
    # The prompt has about 700 bytes, a token is at most 4 of them and rarely under 3.
    assert 150 <= tally.prompt_tokens <= 300
    tally = Tally()
    asyncio.run(judges.judge("openai:m", base_url=NOWHERE, tally=tally).rewrite("x"))
    assert tally.cost is None


def test_every_operation_has_a_typical_answer_that_can_be_read() -> None:
    tally = Tally()
    judge = judges.judge("openai:m", base_url=NOWHERE, tally=tally)
    shots = [Shot(caption="a"), Shot(caption="b")]

    async def ask() -> None:
        await judge.presence([Question("entity", "cat")], "A cat.")
        await judge.rewrite("x y")
        await judge.decompose("A cat.")
        await judge.match(["a"], ["b"])
        await judge.verify(["a"], reference="b")
        await judge.caption([PICTURE])
        await judge.review([PICTURE], ["fair", "unfair"])
        await judge.rate_sequence(shots)
        await judge.rate_transition(*shots)
        await judge.rank(["a", "b"])
        await judge.classify({"a": "A"}, text="x")
        await judge.translate("x", source="a", target="b")
        await judge.perplexity(["x"], prompt="y")

    asyncio.run(ask())
    assert tally.n_calls == 12
    assert tally.completion_tokens > 0
    assert "prompts@" in judge.identity

"""Estimates without asking: counts and costs by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beholder import judges
from beholder.backends import Image, Message, Request, Sampling, Scripted
from beholder.backends.money import Price
from beholder.judges import Judge, Tally
from beholder.judges.llm import DryAsker
from beholder.judges.operations import (
    Caption,
    Classify,
    Decompose,
    JudgedFrame,
    MatchStatements,
    MeasureSurprisal,
    Presence,
    Question,
    Rank,
    RateSequence,
    RateTransition,
    Review,
    Rewrite,
    Translate,
    Verify,
)

PICTURE = Image(b"x", "image/png")
NOWHERE = "http://127.0.0.1:9/v1"  # nobody listens: an estimate must not need anybody


async def image_of_study(judge: Judge, n_models: int) -> None:
    """One image of a study of captions in both directions."""
    human = [
        s.text
        for s in await judge.ask(
            Decompose("A man stands on a bridge in the rain.")
        )
    ]
    for model in range(n_models):
        statements = [
            s.text
            for s in await judge.ask(
                Decompose(f"A man {model} walks over a bridge.")
            )
        ]
        for first, second in ((statements, human), (human, statements)):
            await judge.ask(MatchStatements(first, second))
            await judge.ask(
                Verify(
                    first,
                    images=[PICTURE],
                    reference=f"caption {model} of {first[0]}",
                )
            )


def test_calls_of_a_study_are_one_plus_five_per_model() -> None:
    tally = Tally()
    asyncio.run(
        image_of_study(
            judges.judge("openai:m", base_url=NOWHERE, tally=tally), 4
        )
    )
    assert tally.n_calls == 1 + 5 * 4


def test_equal_questions_count_once_and_replicates_apart() -> None:
    tally = Tally()
    judge = judges.judge(
        "openai(model='m', replicates=3)", base_url=NOWHERE, tally=tally
    )
    questions = [
        Question("entity", "cat"),
        Question("entity", "cat"),
        Question("entity", "dog"),
    ]
    asyncio.run(judge.ask(Presence(questions, "A cat.")))
    asyncio.run(judge.ask(Presence(questions, "A cat.")))
    assert tally.n_calls == 2 * 3


def test_cost_is_tokens_times_price_and_unknown_without_a_price(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "p.json"
    prices.write_text('{"models": {"m": {"input": 1000, "output": 0}}}')
    tally = Tally()
    judge = judges.judge(
        "openai:m", base_url=NOWHERE, prices=str(prices), tally=tally
    )
    asyncio.run(judge.ask(Rewrite("man holds cup")))
    assert tally.cost == pytest.approx(tally.prompt_tokens * 1000 / 1e6)
    # The prompt has about 700 bytes, a token is at most 4 of them and rarely under 3.
    assert 150 <= tally.prompt_tokens <= 300
    tally = Tally()
    asyncio.run(
        judges.judge("openai:m", base_url=NOWHERE, tally=tally).ask(
            Rewrite("x")
        )
    )
    assert tally.cost is None


def test_every_operation_has_a_typical_answer_that_can_be_read() -> None:
    tally = Tally()
    judge = judges.judge("openai:m", base_url=NOWHERE, tally=tally)
    shots = [JudgedFrame(caption="a"), JudgedFrame(caption="b")]

    async def ask() -> None:
        await judge.ask(Presence([Question("entity", "cat")], "A cat."))
        await judge.ask(Rewrite("x y"))
        await judge.ask(Decompose("A cat."))
        await judge.ask(MatchStatements(["a"], ["b"]))
        await judge.ask(Verify(["a"], reference="b"))
        await judge.ask(Caption([PICTURE]))
        await judge.ask(Review([PICTURE], ["fair", "unfair"]))
        await judge.ask(RateSequence(shots))
        await judge.ask(RateTransition(shots[0], shots[1]))
        await judge.ask(Rank(["a", "b"]))
        await judge.ask(Classify({"a": "A"}, text="x"))
        await judge.ask(Translate("x", source="a", target="b"))
        await judge.ask(MeasureSurprisal(["x"], prompt="y"))

    asyncio.run(ask())
    assert tally.n_calls == 12
    assert tally.completion_tokens > 0
    assert "prompts@" in judge.identity


def _request(text: str, n: int = 1) -> Request:
    return Request((Message("user", (text,)),), Sampling(max_tokens=5, n=n))


def test_a_tally_by_hand() -> None:
    tally = Tally()
    first, second = _request("x" * 288), _request("y" * 288, n=3)
    tally.add("b", first, "word " * 6, Price(2.0, 8.0))
    # 288 bytes and 12 for the turn, three to a token; 30 bytes of answer.
    assert (tally.n_calls, tally.prompt_tokens, tally.completion_tokens) == (
        1,
        100,
        10,
    )
    assert tally.cost == pytest.approx((100 * 2 + 10 * 8) / 1e6)
    tally.add("b", first, "word " * 6, Price(2.0, 8.0))
    assert tally.n_calls == 1  # an equal question counts once
    tally.add("b", second, "5", Price(2.0, 8.0))
    assert (tally.prompt_tokens, tally.completion_tokens) == (
        200,
        13,
    )  # a token for each answer
    tally.add("another", first, "", None)
    assert (tally.n_calls, tally.cost) == (3, None)
    tally.add("third", first, "", Price(2.0, 8.0))
    assert tally.cost is None  # a sum with an unknown part is unknown


def test_surprisal_of_a_dry_run_is_a_nat_for_four_letters() -> None:
    asker = DryAsker(Scripted(lambda request: "x"), Tally())
    surprisals = asyncio.run(
        asker.surprisal(["abcdefgh", "abc"], prompt="p", images=())
    )
    assert [(s.nll, s.n_tokens, s.n_characters) for s in surprisals] == [
        (2.0, 2, 8),
        (1.0, 1, 3),
    ]


def test_surprisal_of_a_text_is_a_nat_for_four_characters() -> None:
    question = DryAsker(Scripted(lambda _: "x"), tally=Tally()).surprisal(
        ["nine sign", "abc"], prompt="", images=()
    )
    first, second = asyncio.run(question)
    assert (first.nll, first.n_tokens, first.n_characters) == (2.25, 3, 9)
    assert (second.nll, second.n_tokens, second.n_characters) == (1.0, 1, 3)

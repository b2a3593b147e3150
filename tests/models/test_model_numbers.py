"""The same weights give the same numbers over every engine, and those of a pass by hand."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from importlib import resources
from typing import Any

import pytest
from tools.engines import Engines

from beholder import judges, stats
from beholder.backends import Image, Message, Request, Sampling
from beholder.judges.grades import Grade
from beholder.judges.operations import MeasureSurprisal, Presence, Question
from servers.ledger import Ledger
from toy.tiny_models import loss_by_hand, picture

PROMPT = "Write one sentence about the picture."
THERE = ("a woman", "a red van", "two children", "lemons")


def texts() -> list[str]:
    """Sentences of the sample that ships, twelve of them."""
    sample = resources.files("beholder.samples").joinpath("descriptions.jsonl")
    rows = [
        json.loads(line)
        for line in sample.read_text(encoding="utf-8").splitlines()
    ]
    sentences = [
        s.strip() + "."
        for row in rows
        for s in row["candidate"].split(".")
        if s.strip()
    ]
    return sentences[:12]


def need(engines: Engines, *names: str) -> None:
    missing = set(names) - set(engines.names)
    if missing:
        pytest.skip(f"without {', '.join(sorted(missing))}")


GRADES: dict[str, list[Grade]] = {}
"""The grades of each engine that was asked."""


def grades(engines: Engines, ledger: Ledger, engine: str) -> list[Grade]:
    """Twelve texts, four questions each; each engine is asked once."""
    if engine in GRADES:
        return GRADES[engine]
    questions = [Question("entity", text) for text in THERE]
    judge = judges.judge(engines.spec(engine))

    async def ask() -> list[list[Grade]]:
        return await asyncio.gather(
            *(judge.ask(Presence(questions, text)) for text in texts())
        )

    with ledger.asking(engine):
        GRADES[engine] = [grade for row in asyncio.run(ask()) for grade in row]
    return GRADES[engine]


def compared(
    engines: Engines,
    ledger: Ledger,
    first: str,
    second: str,
    what: str = "",
    column: str = "",
) -> tuple[float, float]:
    """Correlation and largest difference of two engines' grades, which are noted."""
    a, b = (
        [grade.value for grade in grades(engines, ledger, engine)]
        for engine in (first, second)
    )
    r = stats.pearson(a, b).value
    assert r is not None
    largest_gap = max(abs(x - y) for x, y in zip(a, b, strict=True))
    finding = f"r = {r:.6f}, {largest_gap:.1e} apart at most"
    ledger.note(column or second, f"grades beside {first}{what}", finding)
    return r, largest_gap


@pytest.mark.parametrize("other_engine", ["vllm", "vllm-server"])
def test_grades_by_transformers_and_by_vllm_are_the_same(
    other_engine: str, engines: Engines, ledger: Ledger
) -> None:
    need(engines, "hf", other_engine)
    r, largest_gap = compared(engines, ledger, "hf", other_engine)
    assert r >= 0.9999
    assert largest_gap < 1e-4


def test_grades_by_transformers_and_by_llama_cpp_are_the_same_where_both_have_32_bits(
    engines: Engines, ledger: Ledger
) -> None:
    need(engines, "hf", "llama-server")
    r, largest_gap = compared(
        engines,
        ledger,
        "hf",
        "llama-f32-server",
        ", 32-bit weights",
        "llama-server",
    )
    assert r >= 0.99
    assert largest_gap < 0.02


def test_grades_by_four_bit_weights_are_like_those_of_the_same_weights_unpacked(
    engines: Engines, ledger: Ledger
) -> None:
    need(engines, "hf", "llama-server")
    _, largest_gap = compared(engines, ledger, "hf", "llama-server")
    assert (
        largest_gap < 0.3
    )  # llama.cpp computes in 8 bits where the weights have 4


def test_vllm_says_the_same_in_this_process_and_served(
    engines: Engines, ledger: Ledger
) -> None:
    need(engines, "vllm", "vllm-server")
    _, largest_gap = compared(engines, ledger, "vllm", "vllm-server")
    assert (
        largest_gap < 1e-5
    )  # batches differ on a busy machine, and with them the last bits


@pytest.mark.parametrize("telling", ["hf", "vllm", "vllm-server"])
def test_perplexity_equals_a_forward_pass_by_hand(
    telling: str, engines: Engines, ledger: Ledger
) -> None:
    need(engines, telling)
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(engines.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        engines.model
    ).eval()
    # The template by hand: what this model was trained on.
    system = (
        "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    )
    before = (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{PROMPT}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    prompt = tokenizer(before, add_special_tokens=False)["input_ids"]
    judge = judges.judge(engines.spec(telling))
    with ledger.asking(telling):
        surprisals: list[Any] = asyncio.run(
            judge.ask(MeasureSurprisal(texts(), prompt=PROMPT))
        )
    worst = 0.0
    for text, surprisal in zip(texts(), surprisals, strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        expected = loss_by_hand(model, prompt + ids, len(prompt))
        assert surprisal.n_tokens == len(ids)
        assert surprisal.nll == pytest.approx(expected, rel=1e-5)
        worst = max(worst, abs(surprisal.nll / expected - 1.0))
    ledger.note(
        telling,
        "perplexity beside a pass by hand",
        f"{worst:.1e} apart at most",
    )


def counter(address: str, name: str) -> float:
    """A counter of a vLLM server."""
    with urllib.request.urlopen(
        address.removesuffix("/v1") + "/metrics", timeout=30
    ) as answer:
        exposition = answer.read().decode()
    return sum(
        float(n)
        for n in re.findall(
            rf"^vllm:{name}_total\{{.*\}} (\S+)$", exposition, re.M
        )
    )


def test_questions_about_one_text_find_it_in_the_servers_cache(
    engines: Engines, ledger: Ledger
) -> None:
    need(engines, "vllm-server")
    address = engines.server("vllm-server").address
    names = ("prefix_cache_queries", "prefix_cache_hits")
    questions = [
        Question("entity", f"{n} of {text}")
        for n in range(8)
        for text in THERE
    ]
    text = " ".join(texts())
    before = [counter(address, name) for name in names]
    judge = judges.judge(engines.spec("vllm-server"))
    with ledger.asking("vllm-server"):
        asyncio.run(judge.ask(Presence(questions, text)))
    n_queries, hit = (
        counter(address, name) - b
        for name, b in zip(names, before, strict=True)
    )
    assert (
        n_queries > 32 * len(text) / 6
    )  # tokens of all prompts, each with the text
    assert hit / n_queries > 0.6
    ledger.note(
        "vllm-server",
        "its own counters, 32 questions on one text",
        f"{hit / n_queries:.0%} hit",
    )


def test_guided_json_of_a_vllm_server_holds_little_white_space(
    engines: Engines,
) -> None:
    need(engines, "vllm-server")
    backend = judges.judge(engines.spec("vllm-server")).backend  # type: ignore[attr-defined]
    numbers = {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 9,
        "maxItems": 9,
    }
    schema = {
        "type": "object",
        "properties": {"n": numbers},
        "required": ["n"],
    }
    request = Request(
        (Message("user", ("Count to nine.",)),),
        Sampling(max_tokens=200),
        schema,
    )

    async def ask() -> tuple[str | None, str]:
        able = await backend.capabilities(schema=True)
        return able.structure, (await backend.chat(request)).text

    structure, text = asyncio.run(ask())
    assert structure == "tag"
    assert len(json.loads(text)["n"]) == 9
    assert re.search(r"\s\s", text) is None


def test_pictures_reach_a_model_behind_a_server(engines: Engines) -> None:
    need(engines, "transformers-server")
    spec = engines.spec("transformers-server", engines.weights / "llava")
    backend = judges.judge(spec).backend  # type: ignore[attr-defined]  # it is a model

    def ask(*pictures: Image) -> tuple[str, int]:
        parts: tuple[Image | str, ...] = (*pictures, "What is it?")
        request = Request((Message("user", parts),), Sampling(max_tokens=12))
        answer = asyncio.run(backend.chat(request))
        return answer.text, answer.usage.prompt

    red, blue = picture((250, 20, 10)), picture((0, 30, 240))
    assert ask(red) == ask(red)
    assert ask(red)[0] != ask(blue)[0]
    n_blind = ask()[1]
    # 2 x 2 patches each, which the server counts as tokens of the prompt.
    assert [ask(*pictures)[1] - n_blind for pictures in ((red,), (red, blue), (red, blue, red))] == [
        4, 8, 12,
    ]  # fmt: skip

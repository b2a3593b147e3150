"""PoSh by a real model on one vLLM engine, beside the way in which the public code asks.

    .venv-models/engines/bin/python benchmarks/posh_vllm.py --model FOLDER [--pairs 20] [--words 60]

Same weights, same graphs, same engine with prefix caching; its cache is emptied between the ways.
The public way, from a description of that code (prompts are our own in its layout): every candidate
name of every entity is asked, names made of attributes and relations are first written anew by the
model (20 tokens at most, temperature 0; what it writes is not used, so that both ways ask about the
same names), five tokens are drawn a question, precision is asked with both texts in the prompt.
Texts are the ends and beginnings of the sample that ships. Times are processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

from beholder import PoSh
from beholder.backends import (
    BACKENDS,
    Answer,
    Message,
    Request,
    Sampling,
    Usage,
)
from beholder.backends.vllm import VLLM
from beholder.judges.grades import from_first_token
from beholder.judges.operations import Question
from beholder.judges.reading import BadAnswer
from beholder.language import SceneGraph, parse, scene_graph
from beholder.language.scene import Rules
from beholder.metrics import Tools
from beholder.records import Item

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from benchmarks.posh_builtin import texts  # noqa: E402
from outside.posh_protocol import published  # noqa: E402

ENGINE: dict[str, Any] = {
    "dtype": "float32",
    "max_model_len": 4096,
    "enforce_eager": True,
    "max_num_seqs": 32,
}
RatingCondition = Callable[
    [str, list[tuple[str, str]]], Coroutine[Any, Any, None]
]
THRESHOLD = 2.0
LEGEND = (
    "5 = surely there, 4 = probably there, 3 = perhaps, 2 = probably not, 1 = surely not there."
    " Answer with one whole number from 1 to 5."
)


@BACKENDS.register("counted")
class Counted(VLLM):
    """Counts what it is asked; all of them share one engine."""

    shared: ClassVar[Any] = None
    calls: ClassVar[int] = 0
    usage: ClassVar[Usage] = Usage()

    def __init__(self, model: str) -> None:
        super().__init__(model, **ENGINE)

    def _start_engine(self) -> Any:
        if Counted.shared is None:
            Counted.shared = super()._start_engine()
        return Counted.shared

    async def chat(self, request: Request) -> Answer:
        """Ask once, and count it."""
        answer = await super().chat(request)
        Counted.calls += 1
        Counted.usage += answer.usage
        return answer


def format_question(question: Question) -> str:
    """Return a question in the public code's manner."""
    if question.kind == "entity":
        return f"Is there any mention of {question.text}?"
    if question.kind == "attribute":
        return f"Is {question.subject} described as {question.text}?"
    return f"Does it say {question.subject} {question.text} {question.object}?"


async def public(model: str, pairs: list[tuple[str, str]]) -> None:
    """Both directions of all pairs at once, as its batches do."""
    backend = Counted(model)
    loop = asyncio.get_running_loop()

    def ask(
        text: str, max_tokens: int, temperature: float, top: int
    ) -> Answer:
        sampling = Sampling(temperature, max_tokens, top_logprobs=top)
        request = Request((Message("user", (text,)),), sampling)
        return asyncio.run_coroutine_threadsafe(
            backend.chat(request), loop
        ).result()

    def direction(graph: SceneGraph, context: str) -> None:
        def grade(question: Question) -> float:
            answer_text = ask(
                f"{context}\n\n{format_question(question)}\n{LEGEND}",
                5,
                1.0,
                20,
            )
            try:
                return from_first_token(
                    answer_text.samples[0].first or (), 1, 5
                ).value
            except BadAnswer:
                return 1.0

        def rewrite(text: str) -> object:
            return ask(
                f"Write this as a noun phrase, and nothing else: {text}",
                20,
                0.0,
                0,
            )

        published(graph, grade, THRESHOLD, rewrite)

    jobs = []
    with ThreadPoolExecutor(max_workers=2 * len(pairs)) as pool:
        for candidate, reference in pairs:
            candidate_graph, reference_graph = (
                scene_graph(parse(t), "reference")
                for t in (candidate, reference)
            )
            both = f"Reference:\n{reference}\n\nDescription:\n{candidate}"
            jobs.append(
                loop.run_in_executor(pool, direction, candidate_graph, both)
            )
            jobs.append(
                loop.run_in_executor(
                    pool,
                    direction,
                    reference_graph,
                    f"Description:\n{candidate}",
                )
            )
        await asyncio.gather(*jobs)


def beholder(rules: Rules) -> RatingCondition:
    """PoSh by its own way of asking."""

    async def measure_way(model: str, pairs: list[tuple[str, str]]) -> None:
        # The public code does not ask what is said instead.
        metric = PoSh(
            judge=f"counted({model!r})", rules=rules, contradictions=False
        )
        items = [Item(str(i), c, (r,)) for i, (c, r) in enumerate(pairs)]
        tools = Tools()
        await asyncio.gather(*(metric.gather(item, tools) for item in items))

    return measure_way


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--words", type=int, default=60)
    options = parser.parse_args()
    os.environ.setdefault(
        "VLLM_ENABLE_V1_MULTIPROCESSING", "0"
    )  # else its time is not ours
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
    pair_texts = texts(2 * options.pairs, options.words)
    pairs = list(zip(pair_texts[::2], pair_texts[1::2], strict=True))
    asyncio.run(
        Counted(options.model).chat(
            Request((Message("user", ("Hello",)),), Sampling())
        )
    )
    ways: dict[str, RatingCondition] = {
        "public way": public,
        "rules=reference": beholder("reference"),
        "rules=fixed": beholder("fixed"),
    }
    print(f"{options.pairs} pairs of {options.words} words")
    print(
        "| way | calls | prompt tokens | of them cached | answer tokens | CPU s | public / this |"
    )
    print("|---|---|---|---|---|---|---|")
    first = 0.0
    for name, run_way in ways.items():
        Counted.shared.reset_prefix_cache()
        Counted.calls, Counted.usage = 0, Usage()
        start = time.process_time()
        asyncio.run(run_way(options.model, pairs))
        took = time.process_time() - start
        first = first or took
        token_usage = Counted.usage
        print(
            f"| {name} | {Counted.calls:,} | {token_usage.prompt:,} | {token_usage.cached:,}"
            f" ({token_usage.cached / token_usage.prompt:.0%})"
            f" | {token_usage.completion:,} | {took:.0f} | {first / took:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

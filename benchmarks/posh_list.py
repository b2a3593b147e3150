"""Calls and prompt tokens of PoSh with all units in one question, beside one question a unit.

    python benchmarks/posh_list.py [--words 235] [--pairs 3] [--data ORACLE_FACTS.jsonl]
    .venv-torch/bin/python benchmarks/posh_list.py --model FOLDER --words 60 --pairs 10

Without a model a local server counts what arrives: calls, and prompt tokens as ``--dry-run``
estimates them (a token for three bytes). The public way is that of ``posh_vllm.py``: its
prompts in our words, each name of each entity, with rewrites; half of what it asks is surely there.
With a model (``hf:FOLDER``) both forms are answered by it; printed are the tokens of its tokenizer
and how far the verdicts on the same units agree. Texts: the captions of the data that are nearest
to so many words, in pairs; the sample that ships if there is no such file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beholder import PoSh
from beholder.backends import Answer, Backend, Message, Request, Usage, backend
from beholder.errors import ItemError
from beholder.judges import LLMJudge
from beholder.judges.grades import from_first_token
from beholder.judges.operations.presence import HIGHEST, LOWEST, Question
from beholder.language import parse, scene_graph
from beholder.records import Item, ItemScore
from beholder.stats import spearman

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from benchmarks.posh_calls import DATA, first_token, texts  # noqa: E402
from benchmarks.posh_vllm import LEGEND, format_question  # noqa: E402
from outside.posh_protocol import published  # noqa: E402
from servers.faults import FaultServer, completion, probe_answer, serving  # noqa: E402
from toy.tools import OneJudge  # noqa: E402

Pair = tuple[str, str]


class Counted(Backend):
    """Counts what another backend is asked."""

    def __init__(self, real: Backend) -> None:
        self.real, self.name = real, real.name
        self.calls, self.usage = 0, Usage()

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Any:
        """See ``Backend.capabilities``."""
        return await self.real.capabilities(schema=schema, images=images)

    async def chat(self, request: Request) -> Answer:
        """Ask once, and count it."""
        answer = await self.real.chat(request)
        self.calls += 1
        self.usage += answer.usage
        return answer


def pairs_of(path: Path, words: int, n: int) -> list[Pair]:
    """Texts of about so many words, each with the next."""
    by_length = sorted(
        texts(path), key=lambda text: abs(len(text.split()) - words)
    )[: 2 * n]
    return list(zip(by_length[::2], by_length[1::2], strict=True))


def public(pairs: list[Pair]) -> list[Request]:
    """Return the requests of the public way, both directions."""
    sent: list[Request] = []

    def ask(text: str) -> str:
        sent.append(Request((Message("user", (text,)),)))
        return text

    for candidate, reference in pairs:
        contexts = (
            f"Reference:\n{reference}\n\nDescription:\n{candidate}",
            candidate,
        )
        for text, context in zip(
            (candidate, reference), contexts, strict=True
        ):

            def grade(question: Question, context: str = context) -> float:
                prompt = ask(
                    f"{context}\n\n{format_question(question)}\n{LEGEND}"
                )
                return from_first_token(
                    first_token(prompt, 0.5), LOWEST, HIGHEST
                ).value

            graph = scene_graph(parse(text), "reference")
            published(
                graph,
                grade,
                2.0,
                lambda name: ask(f"Write this as a noun phrase: {name}"),
            )
    return sent


def counting(pairs: list[Pair], form: str) -> list[dict[str, Any]]:
    """Return the bodies that a server gets; it grades every unit 5."""

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        units = (
            body["messages"][-1]["content"]
            .partition("<unit>")[2]
            .partition("</unit>")[0]
        )
        ids = re.findall(r"^(\d+) ", units, re.MULTILINE)
        rows = [{"id": int(i), "grade": 1, "quote": None} for i in ids]
        answer_text = json.dumps({"rows": rows}) if rows else "5"
        return probe_answer(body) or completion(
            answer_text, first={"5": -0.01, "4": -5.0}
        )

    with serving(FaultServer(reply)) as server:
        scores(pairs, form, backend("openai", "m", base_url=server.url))
        return [
            body
            for body in server.bodies
            if "Description" in str(body["messages"])
        ]


def scores(pairs: list[Pair], form: str, model: Backend) -> Iterator[Any]:
    """Yield the score of each pair, or why there is none."""
    metric = PoSh(judge="openai:m", asking=form, contradictions=False)  # type: ignore[arg-type]
    judge = OneJudge(LLMJudge(model))

    async def score_pair(number: int, pair: Pair) -> ItemScore | ItemError:
        try:
            return await metric.evaluate(
                Item(str(number), pair[0], (pair[1],)), judge
            )
        except ItemError as error:
            return error

    async def all_of() -> list[ItemScore | ItemError]:
        return [await score_pair(i, pair) for i, pair in enumerate(pairs)]

    return iter(asyncio.run(all_of()))


def row(
    name: str, n: int, calls: int, prompt: int, public_tokens: int
) -> None:
    print(
        f"| {name} | {calls / n:,.0f} | {prompt / n:,.0f} | {public_tokens / prompt:.1f} |",
        flush=True,
    )


def on_a_server(pairs: list[Pair]) -> None:
    n, sent = len(pairs), public(pairs)
    public_tokens = sum(request.estimated_tokens() for request in sent)
    print(
        "| form | calls a pair | prompt tokens | public / this |\n|---|---|---|---|"
    )
    row("public way", n, len(sent), public_tokens, public_tokens)
    for form in ("one", "list"):
        bodies = counting(pairs, form)
        whole_prompts = [
            *(
                message["content"] + 12 * " "
                for body in bodies
                for message in body["messages"]
            ),
            *(
                json.dumps(body.get("response_format") or "")
                for body in bodies
            ),
        ]
        prompt = sum(len(text.encode()) for text in whole_prompts) // 3
        row(f"asking='{form}'", n, len(bodies), prompt, public_tokens)


def on_a_model(pairs: list[Pair], folder: str) -> None:
    scores_by_form = {}
    for form in ("one", "list"):
        counted = Counted(backend("hf", folder))
        start = time.process_time()
        scores_by_form[form] = list(scores(pairs, form, counted))
        token_usage = counted.usage
        print(
            f"{form}: {counted.calls} calls, {token_usage.prompt:,} prompt and"
            f" {token_usage.completion:,} answer tokens, {time.process_time() - start:.0f} CPU s"
        )
    both = [
        (single, listed)
        for single, listed in zip(
            scores_by_form["one"], scores_by_form["list"], strict=True
        )
        if isinstance(single, ItemScore) and isinstance(listed, ItemScore)
    ]
    for error in scores_by_form["list"]:
        if isinstance(error, ItemError):
            print(f"no score: {str(error)[:200]}")
    units = [
        pair
        for single, listed in both
        for pair in zip(single.units, listed.units, strict=True)
    ]
    graded = [
        (a, b) for a, b in units if a.score is not None and b.score is not None
    ]
    yes = [(a.verdict == "match", b.verdict == "match") for a, b in graded]
    if not yes:
        print(f"{len(both)} of {len(pairs)} pairs have scores of both forms")
        return
    share_same = sum(a == b for a, b in yes) / len(yes)
    shares = [sum(pair[side] for pair in yes) / len(yes) for side in (0, 1)]
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    rho = spearman(
        *zip(
            *((a.score or 0.0, b.score or 0.0) for a, b in graded), strict=True
        )
    )
    print(
        f"{len(both)} of {len(pairs)} pairs, {len(yes)} units: equal verdicts"
        f" {share_same:.3f}, kappa {(share_same - chance) / (1 - chance):.3f},"
        f" found {shares[0]:.2f} and {shares[1]:.2f}, Spearman of grades {rho.value or 0:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=235)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", help="folder of a transformers model")
    options = parser.parse_args()
    pairs = pairs_of(options.data, options.words, options.pairs)
    lengths = [str(len(text.split())) for pair in pairs for text in pair]
    print(f"{len(pairs)} pairs; words: {', '.join(lengths)}")
    if options.model:
        on_a_model(pairs, options.model)
    else:
        on_a_server(pairs)


if __name__ == "__main__":
    main()

"""Judge calls of PoSh per pair of long descriptions, beside those of the public implementation.

    python benchmarks/posh_calls.py [--pairs 40] [--data ORACLE_FACTS.jsonl]

The public implementation asks for every candidate name of every entity and has most of them
rewritten first; what it would ask is counted by walking through its protocol
(``tests/outside/posh_protocol.py``, which gives E + 3A + H + R per direction where everything is
present and unique). ``rules="reference"`` asks in waves and stops at the first name that is surely
there, so the scores must be equal; ``rules="fixed"`` asks once per unit.

The judges are scripted: each grades by a hash of its prompt, so that a given share of what it is
asked is surely there (grade 5), and the rest is spread over all grades. Pairs are neighbours of
oracle_facts (about 190 words each; measuring only), or of the sample that ships where that file is
missing.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import sys
from collections.abc import Iterator
from importlib import resources
from itertools import pairwise
from pathlib import Path

from beholder import PoSh
from beholder.backends import BACKENDS, Answer, Request, Sample, Scripted
from beholder.judges.grades import from_first_token
from beholder.judges.operations.presence import (
    HIGHEST,
    LOWEST,
    Question,
    render,
)
from beholder.judges.templates import Templates
from beholder.language import parse, scene_graph
from beholder.language.scene import Rules
from beholder.metrics import Tools
from beholder.records import Item

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from outside.posh_protocol import Outcome, published  # noqa: E402

DATA = ROOT / "../shared/data/oracle_facts.jsonl"
SURELY = (1.0, 0.8, 0.5, 0.0)
"""Shares of questions that the scripted judges answer by a sure yes."""

First = tuple[tuple[str, float], ...]


def first_token(prompt: str, surely: float) -> First:
    """Log-probabilities of the first token, from the prompt's hash alone."""
    digest = hashlib.sha256(prompt.encode("utf-8")).digest()
    if digest[0] < 256 * surely:
        return (("5", math.log(0.97)), ("4", math.log(0.03)))
    low = 1 + digest[1] % 4
    share = (1 + digest[2]) / 257
    return ((str(low), math.log(share)), (str(low + 1), math.log(1 - share)))


@BACKENDS.register("hashed")
class Hashed(Scripted):
    """Grades by hash; the model's name is the share of sure answers."""

    latest: Hashed

    def __init__(self, model: str) -> None:
        def answer(request: Request) -> Answer:
            first = first_token(request.messages[-1].text, float(model))
            return Answer((Sample(first[0][0], "length", first),), model)

        super().__init__(answer, model=model, top_logprobs=20)
        Hashed.latest = self


def texts(path: Path) -> Iterator[str]:
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["candidate"]
        return
    print(f"{path} is missing: texts of the sample that ships")
    sample = resources.files("beholder.samples").joinpath("descriptions.jsonl")
    for line in sample.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["references"][0]


def exhaustive(source: str, target: str, surely: float) -> Outcome:
    """Return the calls and scores of the public implementation for units of the source."""
    template = Templates()["presence"]

    def grade(question: Question) -> float:
        prompt = render(template, question, target)[-1].text
        return from_first_token(
            first_token(prompt, surely), LOWEST, HIGHEST
        ).value

    return published(scene_graph(parse(source), "reference"), grade, 2.0)


def own_outcome(
    rules: Rules, surely: float, candidate: str, reference: str
) -> tuple[int, float, float]:
    """Calls, precision and recall."""
    # The public code does not ask what is said instead.
    metric = PoSh(judge=f"hashed:{surely}", rules=rules, contradictions=False)
    item = Item("pair", candidate, (reference,))
    evidence = asyncio.run(metric.gather(item, Tools()))
    values = metric.score_item(item, evidence).values
    return len(Hashed.latest.requests), values["precision"], values["recall"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    pairs = list(pairwise(texts(options.data)))[: options.pairs]
    print(f"{len(pairs)} pairs; calls per pair, both directions")
    print("surely there  rules      calls  public  ratio  scores")
    for surely in SURELY:
        public = [
            (exhaustive(c, r, surely), exhaustive(r, c, surely))
            for c, r in pairs
        ]
        n_public = sum(
            o.questions + o.rewrites for both in public for o in both
        ) / len(pairs)
        for rules in ("reference", "fixed"):
            outcomes = [own_outcome(rules, surely, c, r) for c, r in pairs]
            n_calls = sum(n for n, _, _ in outcomes) / len(pairs)
            equal = all(
                math.isclose(p, forward.mean, rel_tol=1e-12)
                and math.isclose(q, back.mean, rel_tol=1e-12)
                for (_, p, q), (forward, back) in zip(
                    outcomes, public, strict=True
                )
            )
            scale_note = (
                "own scale"
                if rules == "fixed"
                else "equal"
                if equal
                else "DIFFERENT"
            )
            print(
                f"{surely:12.0%}  {rules:9}  {n_calls:5.0f}  {n_public:6.0f}"
                f"  {n_calls / n_public:5.2f}  {scale_note}"
            )


if __name__ == "__main__":
    main()

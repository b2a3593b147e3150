"""PoSh with a model as judge: what reaches the backend, and in which order."""

from __future__ import annotations

import asyncio
import hashlib
import math
from itertools import groupby

import pytest

from beholder.backends import BACKENDS, Answer, Request, Sample, Scripted
from beholder.metrics import Tools
from beholder.metrics.posh import PoSh
from beholder.metrics.posh.plan import Rules
from beholder.records import Item

TARGETS = ("A tall man holds a red cup.", "A man with a cup sits.", "An old man smiles.")


class Recorder(Scripted):
    """Grades by a hash of the prompt, with log-probabilities for ``logprobs`` and bare digits else.

    Attributes:
        last: The one that was made last.
    """

    last: Recorder

    def __init__(self, model: str) -> None:
        def answer(request: Request) -> str | Answer:
            low = hashlib.sha256(request.messages[-1].text.encode()).digest()[0] % 4 + 1
            if model != "logprobs":
                return str(low)
            first = ((str(low), math.log(0.4)), (str(low + 1), math.log(0.6)))
            return Answer((Sample(str(low), "length", first),), model)

        super().__init__(answer, model=model, top_logprobs=20 if model == "logprobs" else 0)
        Recorder.last = self


if "recorder" not in BACKENDS.names():
    BACKENDS.register("recorder")(Recorder)


def asked(rules: Rules, *items: Item, model: str = "logprobs") -> list[Request]:
    """What reached the backend for items that are scored one after the other."""
    metric, tools = PoSh(judge=f"recorder:{model}", rules=rules), Tools()
    for item in items:
        metric.score_item(item, asyncio.run(metric.gather(item, tools)))
    return Recorder.last.requests


def target(request: Request) -> str:
    """The one text that a prompt shows."""
    (shown,) = [text for text in TARGETS if text in request.messages[-1].text]
    return shown


@pytest.mark.parametrize("rules", ["reference", "fixed"])
def test_questions_about_one_text_follow_each_other_and_begin_alike(rules: Rules) -> None:
    requests = asked(rules, Item("a", TARGETS[0], TARGETS[1:]))
    runs = [key for key, _ in groupby(requests, target)]
    per_wave = [TARGETS[1], TARGETS[2], TARGETS[0]]  # the candidate's two directions are one run
    assert runs[:3] == per_wave
    if rules == "fixed":
        assert runs == per_wave, "one wave"
    for text in TARGETS:
        prompts = [r.messages[-1].text for r in requests if target(r) == text]
        end = prompts[0].index("</target>")
        assert len({prompt[:end] for prompt in prompts}) == 1
        assert len({prompt[end:] for prompt in prompts}) == len(prompts), "each is asked once"


def test_one_token_is_drawn_where_log_probabilities_are_told_and_samples_elsewhere() -> None:
    item = Item("a", TARGETS[0], TARGETS[1:2])
    told = {(r.sampling.max_tokens, r.sampling.n) for r in asked("reference", item)}
    assert told == {(1, 1)}
    drawn = {(r.sampling.n, r.sampling.temperature) for r in asked("fixed", item, model="mute")}
    assert drawn == {(5, 1.0)}


@pytest.mark.parametrize("rules", ["reference", "fixed"])
def test_equal_units_of_two_systems_are_asked_of_their_reference_once(rules: Rules) -> None:
    first = Item("a", "A tall man holds a cup.", ("A man with a cup sits.",))
    second = Item("b", "A tall man holds a hat.", ("A man with a cup sits.",))
    requests = asked(rules, first, second)
    prompts = [r.messages[-1].text for r in requests]
    assert len(set(prompts)) == len(prompts)
    of_reference = [p for p in prompts if "sits.\n</target>" in p]
    assert sum("<text>\ntall\n" in p for p in of_reference) <= 1
    assert sum("<text>\nman\n" in p for p in of_reference) == 1

"""PoSh with a model as judge: what reaches the backend, and in which order."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from itertools import groupby
from typing import Any, ClassVar

import pytest

from beholder.backends import BACKENDS, Answer, Request, Sample, Scripted
from beholder.language.scene import Rules
from beholder.metrics import Tools
from beholder.metrics.posh import PoSh
from beholder.records import Item, Unit

STATEMENT = re.compile(r'<statement id="(\d+)">')
TARGETS = (
    "A tall man holds a red cup.",
    "A man with a cup sits.",
    "An old man smiles.",
)


class Recorder(Scripted):
    """Grades by a hash of the prompt, with log-probabilities for ``logprobs`` and bare digits else.

    Attributes:
        last: The one that was made last.
    """

    last: Recorder

    def __init__(self, model: str) -> None:
        def answer(request: Request) -> str | Answer:
            prompt = request.messages[-1].text
            rows = [
                {"id": int(i), "instead": None}
                for i in STATEMENT.findall(prompt)
            ]
            if rows:
                return json.dumps({"rows": rows})
            low = hashlib.sha256(prompt.encode()).digest()[0] % 4 + 1
            if model != "logprobs":
                return str(low)
            first = ((str(low), math.log(0.4)), (str(low + 1), math.log(0.6)))
            return Answer((Sample(str(low), "length", first),), model)

        super().__init__(
            answer, model=model, top_logprobs=20 if model == "logprobs" else 0
        )
        Recorder.last = self


if "recorder" not in BACKENDS.names():
    BACKENDS.register("recorder")(Recorder)


def requests_for(
    rules: Rules, *items: Item, model: str = "logprobs"
) -> list[Request]:
    """The questions for units of items that are scored one after the other."""
    metric, tools = (
        PoSh(judge=f"recorder:{model}", rules=rules, asking="one"),
        Tools(),
    )
    for item in items:
        metric.score_item(item, asyncio.run(metric.gather(item, tools)))
    return [
        r
        for r in Recorder.last.requests
        if not STATEMENT.search(r.messages[-1].text)
    ]


def target(request: Request) -> str:
    """The one text that a prompt shows."""
    (target,) = [text for text in TARGETS if text in request.messages[-1].text]
    return target


@pytest.mark.parametrize("rules", ["reference", "fixed"])
def test_questions_about_one_text_follow_each_other_and_begin_alike(
    rules: Rules,
) -> None:
    requests = requests_for(rules, Item("a", TARGETS[0], TARGETS[1:]))
    runs = [key for key, _ in groupby(requests, target)]
    per_wave = [
        TARGETS[1],
        TARGETS[2],
        TARGETS[0],
    ]  # the candidate's two directions are one run
    assert runs[:3] == per_wave
    if rules == "fixed":
        assert runs == per_wave, "one wave"
    for text in TARGETS:
        prompts = [r.messages[-1].text for r in requests if target(r) == text]
        end = prompts[0].index("</target>")
        assert len({prompt[:end] for prompt in prompts}) == 1
        assert len({prompt[end:] for prompt in prompts}) == len(prompts), (
            "each is asked once"
        )


def test_one_token_is_drawn_where_log_probabilities_are_told_and_samples_elsewhere() -> (
    None
):
    item = Item("a", TARGETS[0], TARGETS[1:2])
    limits = {
        (r.sampling.max_tokens, r.sampling.n)
        for r in requests_for("reference", item)
    }
    assert limits == {(1, 1)}
    samplings = {
        (r.sampling.n, r.sampling.temperature)
        for r in requests_for("fixed", item, model="mute")
    }
    assert samplings == {(5, 1.0)}


@pytest.mark.parametrize("rules", ["reference", "fixed"])
def test_equal_units_of_two_systems_are_asked_of_their_reference_once(
    rules: Rules,
) -> None:
    first = Item("a", "A tall man holds a cup.", ("A man with a cup sits.",))
    second = Item("b", "A tall man holds a hat.", ("A man with a cup sits.",))
    requests = requests_for(rules, first, second)
    prompts = [r.messages[-1].text for r in requests]
    assert len(set(prompts)) == len(prompts)
    of_reference = [p for p in prompts if "sits.\n</target>" in p]
    assert sum("<text>\ntall\n" in p for p in of_reference) <= 1
    assert sum("<text>\nman\n" in p for p in of_reference) == 1


class Witness(Scripted):
    """Finds the man and nothing else, and says what stands there instead."""

    says: ClassVar[dict[str, str]] = {}
    last: ClassVar[Witness]

    def __init__(self, model: str) -> None:
        def answer(request: Request) -> str:
            prompt = request.messages[-1].text
            if not STATEMENT.search(prompt):
                return "5" if "<text>\nman\n</text>" in prompt else "1"
            stated = re.findall(
                r'<statement id="(\d+)">(.*?)</statement>', prompt
            )
            rows = [
                {"id": int(i), "instead": self.says.get(text)}
                for i, text in stated
            ]
            return json.dumps({"rows": rows})

        super().__init__(answer, model=model)
        Witness.last = self


if "witness" not in BACKENDS.names():
    BACKENDS.register("witness")(Witness)


def witnessed(
    says: dict[str, str], *references: str, **options: Any
) -> dict[str, Unit]:
    """The candidate's units by what they say."""
    Witness.says = says
    metric = PoSh(judge="witness:m", asking="one", **options)
    item = Item("a", "A tall man sits.", references)
    score = metric.score_item(item, asyncio.run(metric.gather(item, Tools())))
    return {
        unit.text: unit for unit in score.units if unit.side == "candidate"
    }


def test_a_model_tells_what_the_reference_says_instead() -> None:
    units = witnessed(
        {"man: tall": "SHORT  man"}, "A man.", "A short man stands."
    )
    assert units["man"].verdict == "match"
    assert units["tall"].verdict == "contradicted"
    assert units["tall"].detail["contradiction"] == "short man", (
        "as it stands in the reference"
    )
    assert units["sits"].verdict == "unstated", "the reference is silent"


@pytest.mark.parametrize(
    "words",
    ["a dwarf", "shor", "A short man stands. " * 6, "", " \n", ".", "None"],
    ids=repr,
)
def test_words_that_do_not_stand_in_the_reference_are_not_believed(
    words: str,
) -> None:
    assert (
        witnessed({"man: tall": words}, "A short man stands.")["tall"].verdict
        == "unstated"
    )


def test_contradictions_are_asked_of_unstated_units_alone_and_can_be_left_out() -> (
    None
):
    witnessed({}, "A man.", "A short man stands.")
    prompts = [r.messages[-1].text for r in Witness.last.requests]
    stated = [
        re.findall(r'<statement id="\d+">(.*?)</statement>', prompt)
        for prompt in prompts
    ]
    statement_lists = [sorted(rows) for rows in stated if rows]
    assert statement_lists == [["man: sits", "man: tall"]] * 2, (
        "once for each reference, never the man"
    )
    witnessed(
        {"man: tall": "short"}, "A short man stands.", contradictions=False
    )
    assert not any(
        STATEMENT.search(r.messages[-1].text) for r in Witness.last.requests
    )


def test_what_a_judge_must_be_able_to_do_depends_on_the_protocol() -> None:
    """Names are asked for under published rules alone, contradictions under ours (docs/posh.md)."""
    operations_by_options: dict[tuple[str, ...], list[dict[str, Any]]] = {
        ("presence", "contradict"): [{}, {"identifiers": "judge"}],
        ("presence",): [{"contradictions": False}, {"rules": "reference"}],
        ("presence", "rewrite"): [
            {"rules": "reference", "identifiers": "judge"}
        ],
        ("presence_list",): [{"asking": "list"}],
    }
    for operations, cases in operations_by_options.items():
        for options in cases:
            metric = PoSh(**options)
            assert metric.operations_asked == operations, options

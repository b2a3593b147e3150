"""PoSh with all units in one question: a planted judge, and real sizes of prompts."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import Answer, Request, Sample, Scripted
from beholder.errors import ConfigError, ItemError
from beholder.judges import LLMJudge
from beholder.judges.operations import PresenceList, Question
from beholder.metrics import metric
from beholder.records import Item, ItemScore
from toy.command import Cli, runner
from toy.tools import OneJudge

_UNITS = re.compile(r"<unit>\n(.*?)\n</unit>", re.DOTALL)
_TARGET = re.compile(r"<target>\n(.*?)\n</target>", re.DOTALL)
CANDIDATE = "A red dog runs. A cat sits on a chair."
REFERENCE = "A blue dog runs. A bird sings."


def read_units(request: Request) -> tuple[list[tuple[str, str]], str]:
    prompt = request.messages[-1].text
    target, units = _TARGET.search(prompt), _UNITS.search(prompt)
    assert target is not None
    assert units is not None
    lines = [line.partition(" ") for line in units[1].split("\n")]
    return [(number, unit) for number, _, unit in lines], target[1]


def row(number: str, unit: str, target: str) -> dict[str, Any]:
    """Graded 5 where the unit's last word is in the text; "red" is contradicted by "blue"."""
    word = unit.split()[-1]
    if re.search(rf"\b{word}\b", target):
        return {"id": int(number), "grade": 5, "quote": word}
    quote = "blue dog" if word == "red" else None
    return {"id": int(number), "grade": 1, "quote": quote}


def reply(request: Request) -> str:
    units, target = read_units(request)
    return json.dumps({"rows": [row(*unit, target) for unit in units]})


def answer_single(request: Request) -> str | Answer:
    """The same grades, one question each; contradictions in a question of their own."""
    prompt = request.messages[-1].text
    if "<statement" in prompt:
        statements = re.findall(
            r'<statement id="(\d+)">(.*?)</statement>', prompt
        )
        rows = [
            {"id": int(i), "instead": "blue dog" if "red" in t else None}
            for i, t in statements
        ]
        return json.dumps({"rows": rows})
    target = _TARGET.search(prompt)
    assert target is not None
    parts = {
        name: re.search(rf"<{name}>\n(.*?)\n</{name}>", prompt)
        for name in ("text", "object")
    }
    last = parts["object"] or parts["text"]
    assert last is not None
    grade = "5" if re.search(rf"\b{last[1].split()[-1]}\b", target[1]) else "1"
    return grade


def test_lists_give_the_values_of_single_questions_with_the_same_grades() -> (
    None
):
    item = Item("a", CANDIDATE, (REFERENCE,))
    listing, single = Scripted(reply), Scripted(answer_single)
    lists = asyncio.run(
        metric("posh(judge='openai:m', asking='list')").evaluate(
            item, OneJudge(LLMJudge(listing))
        )
    )
    singles = asyncio.run(
        metric("posh(judge='openai:m', asking='one')").evaluate(
            item, OneJudge(LLMJudge(single))
        )
    )
    assert lists.values == pytest.approx(singles.values)
    assert 0 < lists.values["f1"] < 1
    assert len(listing.requests) == 2  # one a side
    assert len(single.requests) > 10
    verdicts = {(u.side, u.text): u.verdict for u in lists.units}
    assert verdicts["candidate", "red"] == "contradicted"
    assert verdicts["candidate", "red"] == next(
        u.verdict
        for u in singles.units
        if (u.side, u.text) == ("candidate", "red")
    )
    assert lists.signature != singles.signature


def test_contradictions_can_be_left_out() -> None:
    item = Item("a", CANDIDATE, (REFERENCE,))
    spec = "posh(judge='openai:m', asking='list', contradictions=False)"
    item_score = asyncio.run(
        metric(spec).evaluate(item, OneJudge(LLMJudge(Scripted(reply))))
    )
    assert item_score.values["contradicted_rate"] == 0
    assert "contradicted" not in {unit.verdict for unit in item_score.units}


def listed(replies: list[object], *units: str) -> tuple[list[Any], int]:
    backend = Scripted(
        lambda _: json.dumps(
            replies[min(len(backend.requests), len(replies)) - 1]
        )
    )
    operation = PresenceList(
        [Question("entity", unit) for unit in units], "A dog  runs."
    )
    grades = asyncio.run(LLMJudge(backend).ask(operation))
    return [(g.value, g.where, g.contradiction) for g in grades], len(
        backend.requests
    )


def test_a_grade_needs_words_of_the_text() -> None:
    rows = [
        {"id": 0, "grade": 5, "quote": "dog runs"},
        {"id": 1, "grade": 4, "quote": "a cat"},
        {"id": 2, "grade": 3, "quote": None},
        {"id": 3, "grade": 1, "quote": "DOG"},
    ]
    grades, n = listed([{"rows": rows}], "dog", "cat", "bird", "wolf")
    assert grades == [
        (5.0, ((2, 11),), ""),
        (1.0, (), ""),
        (1.0, (), ""),
        (1.0, ((2, 5),), "dog"),
    ]
    assert n == 1


def test_units_left_out_are_asked_once_more_and_then_fail() -> None:
    first = {"rows": [{"id": 0, "grade": 5, "quote": "dog"}]}
    second = {"rows": [{"id": 1, "grade": 1, "quote": None}]}
    grades, n = listed([first, second], "dog", "cat")
    assert [value for value, _, _ in grades] == [5.0, 1.0]
    assert n == 2
    with pytest.raises(ItemError, match="statement 1 of 2"):
        listed([first, {"rows": []}], "dog", "cat")


def test_the_published_protocol_has_no_lists() -> None:
    with pytest.raises(ConfigError, match="one unit at a time"):
        metric("posh(rules='reference', asking='list')")


def graded(request: Request) -> str | Answer:
    text = str(answer_single(request))
    return Answer((Sample(text, "length", ((text, 0.0),)),), "m")


# Candidate: three things, a colour, "runs", "sits on". Reference: two, a colour, "runs", "sings".
@pytest.mark.parametrize(
    ("top", "form", "calls"), [(0, "list", 2), (20, "one", 6 + 5)]
)
def test_lists_are_asked_of_models_without_log_probabilities(
    top: int, form: str, calls: int
) -> None:
    backend = Scripted(graded if top else reply, top_logprobs=top)
    list_posh = metric("posh(judge='openai:m', contradictions=False)")
    item = Item("a", CANDIDATE, (REFERENCE,))
    score = asyncio.run(list_posh.evaluate(item, OneJudge(LLMJudge(backend))))
    assert isinstance(score, ItemScore)
    assert f"|asking:{form}|" in score.signature
    assert len(backend.requests) == calls
    assert list_posh.name == "posh(judge='openai:m', contradictions=False)"


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    monkeypatch.setenv("OPENAI_API_KEY", "none")  # nobody is asked
    return runner(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("spec", "instead"),
    [
        (
            "posh(contradictions=False)",
            "asking='list') instead: about 2 judge calls",
        ),
        (
            "posh(contradictions=False, asking='list')",
            "asking='one') instead: about 11 judge calls",
        ),
        ("posh(rules='reference')", None),
    ],
)
def test_a_dry_run_prints_the_price_of_both_forms(
    spec: str, instead: str | None, cli: Cli, tmp_path: Path
) -> None:
    row = {"id": "a", "candidate": CANDIDATE, "references": [REFERENCE]}
    data = tmp_path / "texts.jsonl"
    data.write_text(json.dumps(row) + "\n")
    done = cli(
        "score", str(data), "-m", spec, "--judge", "openai:m", "--dry-run"
    )
    assert done.code == 0, done.err
    assert (instead or "judge calls") in done.out
    assert ("instead" in done.out) == (instead is not None)


def test_published_rules_ask_one_by_one_whatever_the_model_returns() -> None:
    reference_posh = metric("posh(judge='openai:m', rules='reference')")
    tools = OneJudge(LLMJudge(Scripted(reply)))
    assert reference_posh.identities(tools)["asking"] == "one"


def test_the_builtin_judge_answers_both_forms_alike() -> None:
    item = Item("a", CANDIDATE, (REFERENCE,))
    lists, singles = (
        metric(f"posh(asking='{form}')").score([item])[0]
        for form in ("list", "one")
    )
    assert isinstance(lists, ItemScore)
    assert isinstance(singles, ItemScore)
    assert lists.values == singles.values


def test_a_long_pair_costs_two_calls() -> None:
    sentences = [
        f"A {colour} {thing} stands beside a tall {other_colour} near the old wall."
        for colour, thing, other_colour in zip(
            ("red", "blue", "green", "white", "black", "brown") * 4,
            ("car", "bench", "house", "tree", "lamp", "boat", "cart", "horse")
            * 3,
            ("man", "woman", "boy", "girl", "guard", "nun", "priest", "cook")
            * 3,
            strict=True,
        )
    ]
    text, reversed_text = " ".join(sentences[:20]), " ".join(sentences[:3:-1])
    assert len(text.split()) == 240
    backend = Scripted(reply)
    asyncio.run(
        metric("posh(judge='openai:m', asking='list')").evaluate(
            Item("a", text, (reversed_text,)), OneJudge(LLMJudge(backend))
        )
    )
    characters = sum(
        len(message.text)
        for request in backend.requests
        for message in request.messages
    )
    assert len(backend.requests) == 2
    assert characters / 4 < 4_000, characters  # about four characters a token


def test_a_unit_stays_on_its_line_whatever_is_in_it() -> None:
    backend = Scripted(lambda request: '{"rows": []}')
    units = [
        Question("entity", "cup\n1 a moon\u20281 x"),
        Question("entity", "a dog"),
    ]
    with pytest.raises(ItemError, match="left out"):
        asyncio.run(LLMJudge(backend).ask(PresenceList(units, "A cup.")))
    lines, _ = read_units(backend.requests[0])
    assert [number for number, _ in lines] == ["0", "1"]
    assert lines[1] == ("1", "a dog")

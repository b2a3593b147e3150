"""Every command that asks a judge, with every engine: it ends with values, or says what failed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tools.engines import Engines

from beholder import judges
from beholder.backends import Answer, Backend, Request
from beholder.records import ItemFailure
from beholder.run.store import Store
from servers.ledger import Ledger
from toy.command import Cli, runner

ITEMS = [
    {
        "id": "bridge",
        "candidate": "A man in a red coat holds an umbrella.",
        "references": ["A tall man in a red coat stands on a wooden bridge."],
    },
]
REVIEWS = [
    {
        "id": "bridge",
        "texts": [
            "The bridge leads the eye to the red coat.",
            "The sky is too bright.",
            "A picture.",
        ],
        "ranks": {"anna": [1, 2, 3], "ben": [1, 2, 3], "cleo": [1, 3, 2]},
    }
]
STORY = {
    "id": "voyage",
    "source": "human",
    "frames": [
        {
            "id": "a",
            "image": "a.png",
            "caption": "A ship lies in the harbour.",
        },
        {"id": "b", "image": "b.png", "caption": "People wave from its deck."},
        {
            "id": "c",
            "image": "c.png",
            "caption": "The ship is far out at sea.",
        },
    ],
}
CATEGORIES = {
    "people": "somebody is in it",
    "places": "a place without people",
}
TELLS_TEXTS = ("vllm", "vllm-server", "hf")
"""Engines that tell the probability of a given text."""

TELLS_DIGITS = (*TELLS_TEXTS, "llama-server")
"""Engines that tell the probability of digits; by samples, this model gives no grade."""

COMMANDS = {
    "posh": "score items.jsonl -m posh(judge={judge},contradictions=False) -o out",
    "posh with contradictions": "score items.jsonl -m posh(judge={judge}) -o out",
    "dcscore": "score items.jsonl -m dcscore(judge={judge}) -o out",
    "clair": "score items.jsonl -m clair(judge={judge}) -o out",
    "direct_assessment": "score items.jsonl -m direct_assessment(judge={judge}) -o out",
    "perplexity": "rank reviews.jsonl -s perplexity(judge={judge},image=False) -o out",
    "response": "rank reviews.jsonl -s response(judge={judge},image=False) -o out",
    "narrate": "narrate judge story.jsonl --by captions -K 2 --judge {judge} -o out",
    "classify": "classify items.jsonl --by candidate --categories categories.json --judge {judge}"
    " -o out.jsonl",
    "translate": "translate items.jsonl --from English --to French --judge {judge} -o out.jsonl",
}


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    Path("items.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in ITEMS)
    )
    Path("reviews.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in REVIEWS)
    )
    Path("story.jsonl").write_text(json.dumps(STORY) + "\n")
    Path("categories.json").write_text(json.dumps(CATEGORIES))
    return runner(monkeypatch, capsys)


def arguments(command: str, judge: str) -> list[str]:
    return [word.format(judge=judge) for word in COMMANDS[command].split()]


def outcomes(folder: Path) -> tuple[int, list[str]]:
    """Return the number of subjects with values, and the reasons of the others."""
    n_values, reasons = 0, []
    with Store.read(folder) as store:
        for asker in store.askers():
            for position, _ in store.subjects(store.kind_of(asker.name)):
                outcome = store.score(asker.name, position)
                if isinstance(outcome, ItemFailure):
                    reasons.append(outcome.message)
                else:
                    assert outcome is not None, (
                        f"{asker.name}: neither value nor reason"
                    )
                    n_values += 1
    return n_values, reasons


@pytest.mark.parametrize("command", COMMANDS)
def test_it_ends_with_values_or_says_why_not(
    engine: str, command: str, engines: Engines, ledger: Ledger, cli: Cli
) -> None:
    with ledger.asking(engine):
        done = cli(*arguments(command, engines.spec(engine)))
    if command == "perplexity" and engine not in TELLS_TEXTS:
        ledger.command(engine, command, "says that it cannot")
        assert (done.code, "a vLLM server (openai:NAME" in done.err) == (
            2,
            True,
        ), done.err
        return
    assert done.code in (0, 1), done.err
    n_values, reasons = outcomes(
        Path("out" if Path("out").is_dir() else "out.jsonl.run")
    )
    # Of some runs a failure is a part of what a subject's value would have been made of.
    assert (done.code == 1) == ("failed (--allow-failed 0)" in done.err), (
        done.err
    )
    assert done.code == 1 or not reasons, done.err
    assert all(len(reason) > 20 for reason in reasons)
    ledger.command(engine, command, f"{n_values} of {n_values + len(reasons)}")
    if command == "perplexity" or (
        command == "posh" and engine in TELLS_DIGITS
    ):
        assert not reasons


SLOW = {("transformers-server", "judge-check")}
"""Not waited for: 200 probes, one after the other, a whole answer and a repair request each."""


@pytest.mark.parametrize("command", ["doctor", "judge-check"])
def test_what_it_finds_out_is_told_to_the_end(
    engine: str, command: str, engines: Engines, ledger: Ledger, cli: Cli
) -> None:
    if (engine, command) in SLOW:
        pytest.skip("too slow")
    judge = engines.spec(engine)
    command_line = (
        ["doctor", "--judge", judge]
        if command == "doctor"
        else ["judge-check", judge]
    )
    with ledger.asking(engine):
        done = cli(*command_line)
    assert done.code in (0, 1), done.err
    unfit = (
        done.code == 1 or re.search(r"verdict\W+unfit", done.out) is not None
    )
    ledger.command(
        engine,
        command,
        "ends, finds it unfit" if unfit else "ends, finds it fit",
    )
    assert len(done.out.splitlines()) > 5


def test_a_resumed_run_asks_the_engine_nothing(
    engine: str, engines: Engines, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = engines.spec(engine)
    kind = type(judges.judge(spec).backend)  # type: ignore[attr-defined]  # it is a model
    chat, n_asked = kind.chat, 0

    async def counted(backend: Backend, request: Request) -> Answer:
        nonlocal n_asked
        n_asked += 1
        answer: Answer = await chat(backend, request)
        return answer

    monkeypatch.setattr(kind, "chat", counted)
    command_line = arguments("posh", spec)
    first = cli(*command_line)
    assert first.code == (0 if engine in TELLS_DIGITS else 1), first.err
    assert n_asked > 0
    before, n_before = outcomes(Path("out")), n_asked
    assert cli(*command_line).code == first.code
    assert outcomes(Path("out")) == before
    assert n_asked == n_before

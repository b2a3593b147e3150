"""``beholder score`` with PoSh and a model behind an address: the whole way, with a real server."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from pathlib import Path
from typing import Any

import pytest

from beholder.api import Run
from beholder.judges.templates import Templates
from servers.faults import FaultServer, Refusal, completion, serving
from toy.command import Cli, Done, runner

DOGS = {
    "id": "dogs",
    "candidate": "A red dog chases a cat.",
    "references": ["A cat sleeps."],
}
SAME = {
    "id": "same",
    "candidate": "A black dog chases a cat.",
    "references": ["A cat sleeps."],
}
MORE = {
    "id": "more",
    "candidate": "A tall man holds a cup.",
    "references": ["A man with a red cup.", "An old man smiles."],
}
REFERENCE = "posh(judge='openai:m', rules='reference')"


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Cli:
    """Runs ``beholder score`` on items in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")

    command = runner(monkeypatch, capsys, "score", "d.jsonl")

    def run(url: str, items: list[dict[str, Any]], *arguments: str) -> Done:
        Path("d.jsonl").write_text(
            "".join(json.dumps(item) + "\n" for item in items)
        )
        common = ["--base-url", url, "--cache", "off", *arguments]
        return command(*common)

    return run


def grader(body: dict[str, Any]) -> dict[str, Any]:
    """A model with opinions on every prompt, between two grades."""
    prompt = body["messages"][-1]["content"]
    rows = [
        {"id": int(i), "instead": None}
        for i in re.findall(r'<statement id="(\d+)">', prompt)
    ]
    if rows:
        return completion(json.dumps({"rows": rows}))
    if "Your digit" not in prompt:
        return completion("ready", first={"ready": 0.0})
    low = hashlib.sha256(prompt.encode()).digest()[0] % 4 + 1
    return completion(
        str(low), first={str(low): math.log(0.4), str(low + 1): math.log(0.6)}
    )


def questions(server: FaultServer) -> list[str]:
    """Every prompt that came, the probe left out."""
    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    return [prompt for prompt in prompts if "Your digit" in prompt]


def test_dry_run_tells_the_calls_and_the_most_there_can_be(cli: Cli) -> None:
    # By hand. Candidate: dog, cat, red, chases; reference: cat, sleeps. All found at once: 6. If
    # nothing is sure, "red dog" and "sleeps cat" are tried, too: 8. Of the other system, "black"
    # is new, and both questions about its own text: 6 + 3.
    nowhere = "http://127.0.0.1:9/v1"
    done = cli(nowhere, [DOGS], "-m", REFERENCE, "--dry-run")
    assert done.code == 0, done.err
    assert "about 6 judge calls" in done.out
    assert "at most 8 judge calls" in done.out
    both = cli(nowhere, [DOGS, SAME], "-m", REFERENCE, "--dry-run")
    assert "about 9 judge calls" in both.out
    fixed = cli(nowhere, [DOGS], "-m", "posh(judge='openai:m')", "--dry-run")
    assert "about 6 judge calls" in fixed.out
    assert "at most 7 judge calls" in fixed.out, (
        "what the reference says instead is one question"
    )
    silent = cli(
        nowhere,
        [DOGS],
        "-m",
        "posh(judge='openai:m', contradictions=False)",
        "--dry-run",
    )
    assert "about 6 judge calls" in silent.out
    assert "at most" not in silent.out
    assert not Path("runs").exists()


@pytest.mark.parametrize("rules", ["reference", "fixed"])
def test_run_is_complete_drawn_and_costs_no_second_call(
    cli: Cli, rules: str
) -> None:
    metric = f"posh(judge='openai:m', rules='{rules}')"
    with serving(FaultServer(grader)) as server:
        done = cli(server.url, [DOGS, SAME, MORE], "-m", metric)
        assert done.code == 0, done.err
        assert "3 scored now, 0 failed now" in done.err
        n_read = re.search(
            r"judges read ([\d,]+) tokens \([\d,]+/s\) and wrote", done.err
        )
        assert n_read is not None, done.err
        assert f"{n_read[1]} prompt tokens" in done.out, (
            "as the run says of its judge"
        )
        first = questions(server)
        again = cli(server.url, [DOGS, SAME, MORE], "-m", metric)
        assert "0 scored now, 0 failed now, 3 reused" in again.err
        assert "judges read" not in again.err
        assert questions(server) == first
    assert len(set(first)) == len(first), (
        "equal questions of two systems are asked once"
    )
    html = Path("runs/d/report.html").read_text("utf-8")
    assert "served-1(logprobs" in html
    (result,) = Run(Path("runs/d")).summary.values()
    assert result.n_scored == 3
    assert 0.0 <= result.values["f1"].mean <= 1.0


def test_every_question_asks_for_one_token_about_one_text(cli: Cli) -> None:
    with serving(FaultServer(grader)) as server:
        cli(server.url, [MORE], "-m", REFERENCE)
    prompts = [
        b
        for b in server.bodies
        if "Your digit" in b["messages"][-1]["content"]
    ]
    assert prompts
    assert {body["max_tokens"] for body in prompts} == {1}
    assert all(
        body["logprobs"] and body["top_logprobs"] == 20 for body in prompts
    )
    texts = [MORE["candidate"], *MORE["references"]]
    for body in prompts:
        lines = [
            text for text in texts if text in body["messages"][-1]["content"]
        ]
        assert len(lines) == 1, (
            "the text that is asked about, and not the one that asks"
        )


def test_interrupted_run_goes_on_without_asking_again(cli: Cli) -> None:
    ill = True

    def sometimes(body: dict[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        if ill and "An old man smiles." in prompt and "Your digit" in prompt:
            raise Refusal(503, "model is being moved")
        return grader(body)

    metric = "posh(judge=\"openai(model='m', attempts=2, wait=0.01)\", rules='reference')"
    with serving(FaultServer(sometimes)) as server:
        done = cli(server.url, [DOGS, MORE], "-m", metric)
        assert done.code == 1
        assert "1 scored now, 1 failed now" in done.err
        assert "HTTP 503: model is being moved" in done.out
        ill = False
        again = cli(server.url, [DOGS, MORE], "-m", metric)
        assert again.code == 0, again.err
        assert "1 scored now, 0 failed now, 1 reused" in again.err
    assert set(server.paid.values()) == {1}, "no answer was paid for twice"


def test_text_beyond_the_models_room_is_a_failure_that_says_so(
    cli: Cli,
) -> None:
    def small(body: dict[str, Any]) -> dict[str, Any]:
        if len(body["messages"][-1]["content"]) > 2000:
            raise Refusal(
                400, "This model's maximum context length is 512 tokens."
            )
        return grader(body)

    long = {
        "id": "long",
        "candidate": "A cat.",
        "references": ["A cat sits on a mat. " * 150],
    }
    models = {"data": [{"id": "m", "max_model_len": 512}]}
    with serving(FaultServer(small, models=models)) as server:
        done = cli(server.url, [DOGS, long], "-m", REFERENCE)
    assert done.code == 1
    assert "1 scored now, 1 failed now" in done.err
    reasons = Path("runs/d/run.json").read_text("utf-8")
    assert (
        "takes 512. It is not cut: shorten the text or use a judge with more room"
        in reasons
    )
    sent = [prompt for prompt in questions(server) if len(prompt) > 2000]
    assert sent
    assert all(long["references"][0].strip() in prompt for prompt in sent), (
        "never a cut text"
    )


def test_nobody_at_the_address_is_told_before_any_item(cli: Cli) -> None:
    done = cli("http://127.0.0.1:9/v1", [DOGS], "-m", REFERENCE)
    assert done.code == 2
    assert (
        "is the server running, and is http://127.0.0.1:9/v1 its address?"
        in done.err
    )


def test_an_address_for_judges_goes_past_metrics_with_built_in_tools(
    cli: Cli,
) -> None:
    with serving(FaultServer(grader)) as server:
        done = cli(
            server.url,
            [DOGS],
            "-m",
            "vcs",
            "-m",
            "posh(judge='openai:m')",
            "-m",
            "posh",
        )
    assert done.code == 0, done.err
    assert "3 scored now, 0 failed now" in done.err
    assert questions(server)


def test_options_of_judges_reach_the_server(cli: Cli) -> None:
    Path("prompts").mkdir()
    shipped = Templates()["presence"]
    sections = {**shipped.sections, "system": "Answer as a sailor."}
    text = "".join(
        f"[{section}]\n{text}\n" for section, text in sections.items()
    )
    Path("prompts/presence.v7.txt").write_text(text)
    options = ("--temperature", "0.3", "--prompts", "prompts")
    with serving(FaultServer(grader)) as server:
        done = cli(
            server.url, [DOGS], "-m", "posh(judge='openai:m')", *options
        )
    assert done.code == 0, done.err
    prompts = [
        b
        for b in server.bodies
        if "Your digit" in b["messages"][-1]["content"]
    ]
    assert {body["temperature"] for body in prompts} == {0.3}
    assert all(
        b["messages"][0]["content"].startswith("Answer as a sailor.\n")
        for b in prompts
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prompts", "nowhere"], "nowhere is not a folder of prompts"),
        (
            ["--temperature", "9"],
            "temperature=9.0: expected a number from 0 to 2",
        ),
    ],
)
def test_options_that_cannot_be_kept_are_told_before_any_question(
    cli: Cli, options: list[str], message: str
) -> None:
    done = cli("http://127.0.0.1:9/v1", [DOGS], "-m", REFERENCE, *options)
    assert done.code == 2
    assert message in done.err


def test_a_dry_run_tells_what_the_cache_answers_and_the_run_that_all_came_from_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    command = runner(monkeypatch, capsys, "score")
    Path("prices.json").write_text(
        '{"models": {"served-1": {"input": 1000, "output": 0}}}'
    )
    judge = "openai(model='m', prices='prices.json')"

    def score(
        url: str, name: str, items: list[dict[str, Any]], *more: str
    ) -> Done:
        Path(f"{name}.jsonl").write_text(
            "".join(json.dumps(item) + "\n" for item in items)
        )
        metric = f'posh(judge="{judge}", contradictions=False, rules="fixed")'
        return command(
            f"{name}.jsonl",
            "-m",
            metric,
            "--base-url",
            url,
            "--cache",
            "c",
            *more,
        )

    with serving(FaultServer(grader)) as server:
        fresh = score(server.url, "a", [DOGS], "--dry-run")
        assert "about 6 judge calls" in fresh.out, fresh.err
        assert "in the cache" not in fresh.out, (
            "nothing is known of the server"
        )
        assert not Path("c").exists()
        assert not server.bodies
        done = score(server.url, "a", [DOGS])
        assert done.code == 0, done.err
        assert "from the cache" not in done.err
        n_before = len(server.bodies)
        plan = score(server.url, "b", [DOGS], "--dry-run")
        assert (
            "6 of 6 calls are already in the cache; the others cost about $0.0000"
            in plan.out
        )
        # By hand, as in the test above: "black" of the other text is new, and so is what the
        # second text is asked of.
        more = score(server.url, "c", [DOGS, SAME], "--dry-run")
        match = re.search(
            r"  6 of 9 calls are already in the cache; .* about \$([\d.]+)\n",
            more.out,
        )
        assert match is not None, more.out
        assert 0.1 < float(match[1]) < 3.0, (
            "three prompts of 100 to 1,000 tokens"
        )
        assert len(server.bodies) == n_before, "a dry run asks nobody"
        assert not Path("runs/b").exists()
        again = score(server.url, "b", [DOGS])
        assert again.code == 0, again.err
        assert "; all answers (6) of judges came from the cache\n" in again.err
        mixed = score(server.url, "c", [DOGS, SAME])
        assert "; 6 of 9 answers of judges came from the cache\n" in mixed.err


def test_a_dry_run_knows_of_answers_without_probabilities_and_of_servers_that_were_asked_long_ago(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    command = runner(monkeypatch, capsys, "score", "d.jsonl")
    Path("d.jsonl").write_text(json.dumps(DOGS) + "\n")

    def draws(body: dict[str, Any]) -> dict[str, Any]:
        is_rating = "Your digit" in body["messages"][-1]["content"]
        return completion("4" if is_rating else "ready")

    with serving(FaultServer(draws)) as server:
        shared = ("-m", REFERENCE, "--base-url", server.url, "--cache", "c")
        assert command(*shared, "-o", "one").code == 0
    monkeypatch.setattr(time, "time", lambda: 4e9)  # in the year 2096
    planned = command(*shared, "-o", "two", "--dry-run")
    match = re.search(
        r"(\d+) of (\d+) calls are already in the cache", planned.out
    )
    assert match is not None, planned.out
    assert match[1] == match[2] != "0"

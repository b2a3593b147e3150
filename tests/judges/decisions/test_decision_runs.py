"""Whole commands with a decision model: calls, money, secrets, resumption, equal values."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.chaos import smallest_answer

import beholder
from beholder.api import Run
from beholder.records import ItemFailure
from servers.decisions import DecisionServer, says_words
from servers.faults import FaultServer, serving
from toy.command import Cli, runner

KEY = "sk-Pl4nted-0123456789"
PAIR = {
    "id": "pair",
    "candidate": "A red dog chases a cat on the old bridge. A man looks on.",
    "references": ["A cat sleeps on a red sofa. A man looks at the dog."],
}
ITEMS = [
    {
        "id": str(i),
        "candidate": f"A red dog chases cat {i} on the old bridge.",
        "references": [f"A cat sleeps on sofa {i}. A man looks at the dog."],
    }
    for i in range(8)
]


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("BEHOLDER_CACHE", "off")
    write(ITEMS)
    prices = {"m": {"input": 100.0, "output": 0.0}}
    Path("prices.json").write_text(json.dumps({"models": prices}))
    return runner(monkeypatch, capsys)


@pytest.fixture
def server() -> Iterator[DecisionServer]:
    with serving(DecisionServer(says_words)) as running:
        yield running


def write(items: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(item) + "\n" for item in items)
    Path("d.jsonl").write_text(lines, "utf-8")


def outcomes(folder: str) -> list[tuple[Any, Any]]:
    """Items of a run with one metric, each with its outcome."""
    run = Run(Path(folder))
    [name] = run.summary
    return list(run.outcomes(name))


def posh(server: DecisionServer, judge: str, *more: str) -> list[str]:
    common = ["score", "d.jsonl", "-m", "posh", "--judge", judge]
    return [*common, "--base-url", server.url, *more]


PRICED = "decisions('m', prices='prices.json')"


@pytest.mark.parametrize("kind", ["decisions", "systemone"])
def test_a_pair_takes_three_calls_with_the_probe(
    cli: Cli, server: DecisionServer, kind: str
) -> None:
    write([PAIR])
    done = cli(*posh(server, f"{kind}:m", "-o", "run"))
    assert done.code == 0, done.err
    assert len(server.calls) == 3
    [(_, row)] = outcomes("run")
    # Every distribution is kept, and the grades of units are 1 + 4p.
    decisions = row.detail["decisions"]
    asked = [q for call in server.calls[1:] for q in call.questions]
    assert len(decisions) == len(asked)
    assert {d["operation"] for d in decisions} == {"presence"}
    assert {tuple(d["probabilities"]) for d in decisions} == {
        (0.875,),
        (0.125,),
    }
    grades = {unit.detail.get("grade") for unit in row.units} - {None}
    assert grades <= {1.5, 4.5}
    words = " ".join(str(d["question"]) for d in decisions)
    assert "a red dog" in words or "dog" in words


def test_a_dry_run_is_exact_and_no_cheaper_than_the_bill(
    cli: Cli, server: DecisionServer
) -> None:
    plan = cli(*posh(server, PRICED, "--dry-run"))
    assert server.calls == []
    found = re.search(
        r"about (\d+) judge calls, about ([\d,]+) prompt and 0 answer"
        r" tokens, \$([\d.]+)",
        plan.out,
    )
    assert found, plan.out
    n_calls, tokens = int(found[1]), int(found[2].replace(",", ""))
    done = cli(*posh(server, PRICED, "-o", "run"))
    assert done.code == 0, done.err
    assert len(server.calls) == n_calls + 1  # and the probe
    probe = DecisionServer()
    probe._answer(server.calls[0])
    charged = server.charged - probe.charged
    assert charged <= tokens <= 2 * charged
    assert charged * 100 / 1e6 <= float(found[3])


@pytest.mark.parametrize("sums_state", [False, True])
def test_the_limit_on_cost_is_never_passed(cli: Cli, sums_state: bool) -> None:
    limit = 1.5 if sums_state else 0.5
    with serving(DecisionServer(says_words, sums_state=sums_state)) as server:
        arguments = posh(server, PRICED, "-o", "run", "--max-cost", str(limit))
        done = cli(*arguments)
        assert done.code != 0
        assert "--max-cost" in done.err
        assert 0 < server.charged * 100 / 1e6 <= limit
        n_calls = len(server.calls)
        assert n_calls > 1
        again = cli(*arguments)
        assert again.code != 0
        assert server.charged * 100 / 1e6 <= limit


def test_a_limit_without_a_price_is_refused(
    cli: Cli, server: DecisionServer
) -> None:
    done = cli(*posh(server, "decisions:m", "--max-cost", "1"))
    assert done.code == 2
    assert "no known price" in done.err
    done = cli(*posh(server, PRICED, "--max-cost", "9", "-o", "run"))
    assert done.code == 0, done.err


def test_nothing_is_asked_twice_by_a_second_start(
    cli: Cli, server: DecisionServer
) -> None:
    write(ITEMS[:3])
    cli(*posh(server, "decisions:m", "-o", "run"))
    write(ITEMS)
    cli(*posh(server, "decisions:m", "-o", "other", "--limit", "3"))
    n_calls = len(server.calls)
    cli(*posh(server, "decisions:m", "-o", "other", "--limit", "3"))
    assert len(server.calls) == n_calls
    done = cli(*posh(server, "decisions:m", "-o", "other"))
    assert done.code == 0, done.err
    # The two runs share no answers; each asked every question once.
    assert max(server.paid.values()) <= 2


@pytest.mark.slow  # a command that is killed and started again
def test_a_killed_run_asks_again_only_what_was_under_way(
    cli: Cli, server: DecisionServer
) -> None:
    victim: list[subprocess.Popen[bytes]] = []

    def kill() -> None:
        if victim and len(server.calls) == 6:
            os.kill(victim[0].pid, signal.SIGKILL)
            victim[0].wait()

    server.before_answer = kill  # type: ignore[method-assign]
    server.reply = lambda call: (
        (503, "gone") if victim and len(server.calls) == 6 else None
    )
    arguments = posh(server, "decisions('m', concurrency=1)", "-o", "run")
    command = [sys.executable, "-m", "beholder", *arguments]
    victim.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
    assert victim[0].wait(timeout=120) == -signal.SIGKILL
    victim.clear()
    done = cli(*arguments)
    assert done.code == 0, done.err
    # The answer before the last may not have been stored yet.
    assert sum(server.paid.values()) - len(server.paid) <= 1
    assert len(outcomes("run")) == len(ITEMS)


def test_values_do_not_depend_on_order_and_company(
    cli: Cli, server: DecisionServer
) -> None:
    runs: list[dict[str, Any]] = []
    for items, *more in (
        (ITEMS, "--concurrency", "1"),
        (ITEMS[::-1], "--concurrency", "8"),
        (ITEMS[3:] + ITEMS[:3],),
    ):
        write(items)
        name = f"run{len(runs)}"
        done = cli(*posh(server, "decisions:m", "-o", name, *more))
        assert done.code == 0, done.err
        runs.append(
            {
                item.id: (row.values, row.detail["decisions"])
                for item, row in outcomes(name)
            }
        )
    assert runs[0] == runs[1] == runs[2]


def test_a_key_is_in_no_file_and_on_no_screen(
    cli: Cli, server: DecisionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server repeats the key wherever a text may be; some items get an error with it."""
    monkeypatch.setenv("MY_KEY", KEY)
    server.edit = lambda r: {**r, "model": f"served {KEY}", KEY: KEY}
    server.reply = lambda call: (
        (400, {"error": {"message": f"{KEY} may not"}})
        if "sofa 3" in json.dumps(call.body)
        else None
    )
    done = cli(
        *posh(server, "decisions:m", "-o", "run", "--key-env", "MY_KEY")
    )
    assert server.calls[-1].headers["authorization"] == f"Bearer {KEY}"
    assert "1 failed" in done.out
    screens = done.out + done.err
    for path in Path("run").rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in screens
    details = [str(row) for row in outcomes("run")]
    assert KEY not in "".join(details)


def test_refused_questions_fail_their_item_with_the_reason(
    cli: Cli, server: DecisionServer
) -> None:
    def edit(response: dict[str, Any]) -> dict[str, Any]:
        if "sofa 3" in json.dumps(server.calls[-1].body):
            response["answers"][0] = {"type": "refusal"}
        return response

    server.edit = edit
    done = cli(*posh(server, "decisions:m", "-o", "run", "--concurrency", "1"))
    assert "7 scored, 1 failed" in done.out
    assert "refused" in done.out + done.err
    [failed] = [
        (item.id, row)
        for item, row in outcomes("run")
        if isinstance(row, ItemFailure)
    ]
    assert failed[0] == "3"
    assert "refused" in failed[1].message
    assert any(d.get("reason") for d in failed[1].detail["decisions"])


def test_dcscore_with_a_writer(cli: Cli, server: DecisionServer) -> None:
    write(ITEMS[:2])

    def knows(words: str, outcomes: Any, state: str) -> list[float]:
        if not outcomes:
            return [0.75]
        return [0.75, *[0.25 / (len(outcomes) - 1)] * (len(outcomes) - 1)]

    server.knows = knows
    alone = cli(
        *("score", "d.jsonl", "-m", "dcscore", "--judge", "decisions:m"),
        *("--base-url", server.url),
    )
    assert alone.code == 2
    assert "writer=" in alone.err
    assert server.calls == []
    with serving(FaultServer(smallest_answer)) as writer:
        judge = (
            "decisions('m', writer=openai('w', base_url='" + writer.url + "'))"
        )
        metric = f"dcscore(judge={judge})"
        arguments = ("score", "d.jsonl", "-m", metric, "-o", "run")
        plan = cli(*arguments, "--base-url", server.url, "--dry-run")
        assert plan.code == 0, plan.err
        done = cli(*arguments, "--base-url", server.url)
        assert done.code == 0, done.err
        assert writer.bodies
        assert all("questions" not in body for body in writer.bodies)
        assert not writer.keys
    assert "2 scored" in done.out
    row = outcomes("run")[0][1]
    operations = {d["operation"] for d in row.detail["decisions"]}
    assert operations == {"match", "verify"}
    assert "+writer=openai:" in done.out.replace("\n", "")


def test_the_page_and_the_viewer_show_such_a_run(
    cli: Cli, server: DecisionServer
) -> None:
    write([PAIR])
    done = cli(*posh(server, PRICED, "-o", "run"))
    assert re.search(r"judges: 2 answers, [\d,]+ prompt tokens", done.out)
    page = Path("run/report.html").read_text("utf-8")
    assert "2 answers" in page
    assert cli("report", "run").code == 0


def test_doctor_and_judge_check_ask_a_decision_model(
    cli: Cli, server: DecisionServer
) -> None:
    def knows(words: str, outcomes: Any, state: str) -> list[float]:
        if outcomes:
            return [1 / len(outcomes)] * len(outcomes)
        return [*says_words(words, outcomes, state)]

    server.knows = knows
    base = ("--base-url", server.url)
    done = cli("doctor", "--judge", "decisions:m", *base)
    assert "decider-1" in done.out
    assert "takes no pictures" in done.out
    assert "it writes nothing" in done.out
    assert "12 right" in done.out
    done = cli("doctor", "--judge", "decisions('m', writer=builtin)", *base)
    assert "statements from 4 clauses" in done.out


def test_scores_in_python(server: DecisionServer, tmp_path: Path) -> None:
    run = beholder.score(
        [PAIR],
        metrics=["posh(judge='decisions:m')"],
        base_url=server.url,
        out=tmp_path / "run",
    )
    assert run is not None
    assert len(server.calls) == 3

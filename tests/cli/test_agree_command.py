"""``beholder agree`` on the command line: its judge, its plan, what it may cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servers.faults import FaultServer, completion, serving
from toy.command import Cli

ANSWER = {
    "reason": "So it is.",
    "overall": 4,
    "mistakes": 4,
    "omissions": 4,
    "same_picture": 90,
}


@pytest.fixture
def cli(cli: Cli) -> Cli:
    rows = [
        {
            "id": str(i),
            "candidate": "A cat sits." * i,
            "references": ["A dog."],
        }
        | {"judgments": {"overall": i}}
        for i in (1, 2, 3)
    ]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rule = {"contains": "", "answer": ANSWER}
    Path("rules.jsonl").write_text(json.dumps(rule) + "\n")
    return cli


JUDGED = (
    "agree",
    "d.jsonl",
    "-m",
    "direct_assessment",
    "--resamples",
    "0",
    "--cache",
    "off",
)


def test_the_judge_is_named_for_all_metrics(cli: Cli) -> None:
    done = cli(
        *JUDGED, "--judge", "scripted:rules.jsonl", "--json", "-o", "out"
    )
    assert done.code == 0, done.err
    signatures = json.loads(done.out)["signatures"]
    assert (
        "judge:scripted:"
        in signatures["direct_assessment(judge='scripted:rules.jsonl')"]
    )


def test_a_dry_run_tells_what_would_be_asked_and_writes_nothing(
    cli: Cli,
) -> None:
    done = cli(
        *JUDGED, "--judge", "scripted:rules.jsonl", "--dry-run", "-o", "out"
    )
    assert done.code == 0, done.err
    assert "3 items" in done.out
    assert "3 judge calls" in done.out
    assert "length: 3 to score" in done.out  # the baseline beside every metric
    assert not Path("out").exists()


def test_a_limit_of_cost_stops_before_the_question_that_would_pass_it(
    cli: Cli,
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return completion(json.dumps(ANSWER))

    Path("prices.json").write_text(
        '{"models": {"served-1": {"input": 1000, "output": 1000}}}'
    )
    with serving(FaultServer(answer)) as server:
        judge = "openai('m', prices='prices.json')"
        options = ("--judge", judge, "--base-url", server.url, "-o", "out")
        stopped = cli(*JUDGED, *options, "--max-cost", "0.01")
        n_questions = sum("A cat sits" in str(body) for body in server.bodies)
        assert (stopped.code, n_questions) == (2, 0)
        assert "pass --max-cost 0.01" in stopped.err
        assert cli(*JUDGED, *options, "--max-cost", "100").code == 0
        assert sum("A cat sits" in str(body) for body in server.bodies) == 3


def test_what_failed_is_told_with_its_reason(cli: Cli) -> None:
    Path("rules.jsonl").write_text(
        json.dumps({"contains": "", "answer": "no idea"}) + "\n"
    )
    done = cli(*JUDGED, "--judge", "scripted:rules.jsonl", "-o", "out")
    assert (
        "direct_assessment(judge='scripted:rules.jsonl'): 3 failed: "
        in done.err
    )
    assert "it said 'no idea'" in done.err


def test_columns_of_own_data_are_named(cli: Cli) -> None:
    rows = [
        json.loads(line) for line in Path("d.jsonl").read_text().splitlines()
    ]
    table_names = [
        {"text" if key == "candidate" else key: row[key] for key in row}
        for row in rows
    ]
    Path("named.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in table_names)
    )
    common = ("-m", "length", "--resamples", "0", "--json")
    mapped = cli(
        "agree", "named.jsonl", *common, "--map", "candidate=text", "-o", "a"
    )
    assert mapped.code == 0, mapped.err
    plain = cli("agree", "d.jsonl", *common, "-o", "b")
    assert (
        json.loads(mapped.out)["measures"] == json.loads(plain.out)["measures"]
    )


def test_measures_of_one_label_share_a_scatter(cli: Cli) -> None:
    rows = [
        {
            "id": str(i),
            "candidate": "A cat sits." * (i + 1),
            "references": ["A dog."],
        }
        | {"judgments": {"right": i % 2}}
        for i in range(4)
    ]
    Path("two.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    command = (
        "agree",
        "two.jsonl",
        "-m",
        "length",
        "--statistic",
        "verdicts",
        "--label",
        "right",
    )
    done = cli(*command, "--resamples", "0", "-o", "out")
    assert done.code == 0, done.err
    assert [file.suffix for file in Path("out/agreement").iterdir()] == [
        ".svg"
    ]

"""Several judges in a suite: one table with agreement, calibration, cost and time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import ConfigError
from beholder.kinds.agreement.judge_table import (
    describe_missing,
    expand_judges,
    load_minimal_pairs,
)
from toy.command import Cli
from toy.planted_decisions import BelievesAllButDogs

JUDGE, OTHER = (BelievesAllButDogs(model).name for model in "mn")


@pytest.fixture
def cli(cli: Cli) -> Cli:
    # The wrong text of each pair has a dog, or the right one in two of eight.
    rows = [
        {
            "dataset": "foil",
            "id": str(number),
            "image": f"{number}.jpg",
            "references": ["A cat sits on a mat."],
            "candidate": f"A {right} sits on a mat.",
            "candidate_b": f"A {wrong} sits on a mat.",
            "judgments": {"preferred": 1, "category": "noun"},
        }
        for number, (right, wrong) in enumerate(
            [("cat", "dog")] * 6 + [("dog", "cat")] * 2
        )
    ]
    Path("sets").mkdir()
    Path("sets/foil.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    return cli


@pytest.mark.slow
def test_judges_stand_in_one_table_with_what_they_cost(cli: Cli) -> None:
    suite = ("agree", "--suite", "sets", "-m", "posh", "--limit", "8")
    judges = ("--judge", OTHER, "--judge", JUDGE)
    options = ("--resamples", "200", "-o", "out", "--no-report", "--json")
    done = cli(*suite, *judges, *options)
    assert done.code == 0, done.err
    other, planted, length = json.loads(done.out)["judges"]
    assert [row["judge"] for row in (other, planted, length)] == [
        OTHER,
        JUDGE,
        "none",
    ]
    # The planted judge finds the text without a dog better: right in six of eight.
    assert (planted["foil"], planted["foil_n"]) == (0.75, 8)
    # It says .9 to all 200 probes, of which half are stated (none has "dog" but one text).
    assert planted["n"] == other["n"] == 200
    assert 0.35 < planted["error"] < 0.45
    # 16 texts of the set, and 16 of our minimal pairs.
    assert planted["n_texts"] == other["n_texts"] == 32
    assert planted["n_calls"] > 2
    assert planted["cost"] is None  # nobody knows the price of a planted model
    assert planted["seconds"] > 0
    assert "not measured: haldec_bench" in done.err
    written = Path("out/tables/judges.csv").read_text()
    assert JUDGE in written

    # A second start scores nothing, so it has no time.
    done = cli(*suite, *judges, *options)
    assert [row.get("seconds") for row in json.loads(done.out)["judges"]] == [
        None
    ] * 3
    assert Path("out/tables/judges.csv").read_text() == written


def test_what_cannot_be_compared_is_refused(cli: Cli) -> None:
    for arguments, message in (
        (("-m", "rouge"), "-m rouge is the same with every --judge"),
        (("--judge", "builtin"), "--judge builtin is given twice"),
    ):
        done = cli(
            *("agree", "--suite", "sets", *arguments),
            *("--judge", "builtin", "--judge", JUDGE),
        )
        assert done.code == 2
        assert message in done.err
    done = cli(
        *("agree", "sets/foil.jsonl", "-m", "posh"),
        *("--judge", "builtin", "--judge", JUDGE),
    )
    assert done.code == 2
    assert "several --judge are compared by --suite" in done.err


def test_minimal_pairs_are_spread_over_their_kinds() -> None:
    whole, some = load_minimal_pairs(None), load_minimal_pairs(40)
    assert (len(whole.items), len(some.items)) == (240, 40)
    kinds = [
        {str(item.judgments["category"]) for item in judged.items}
        for judged in (whole, some)
    ]
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) == 20


def test_missing_sets_are_named_with_their_place() -> None:
    sentences = list(describe_missing(["sugarcrepe", "foil", "caparena"]))
    assert len(sentences) == 2
    assert "arxiv.org/abs/2603.15253" in sentences[0]
    assert "put its files into the folder alignbench" in sentences[1]


def test_each_metric_gets_each_judge() -> None:
    entries = expand_judges(["posh", "fleur"], ["openai:a", "openai:b"], {})
    assert [(e.judge, e.metric) for e in entries] == [
        ("openai:a", "posh"),
        ("openai:a", "fleur"),
        ("openai:b", "posh"),
        ("openai:b", "fleur"),
    ]
    with pytest.raises(ConfigError, match="asks no judge"):
        expand_judges(["posh", "rouge"], ["openai:a", "openai:b"], {})

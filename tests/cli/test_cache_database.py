"""``--cache postgresql://...`` on the command line and in Python: shared answers, unseen password."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import beholder
from beholder.records import Item
from toy.command import Cli, Done

RULES = Path(__file__).parents[1] / "toy" / "assess_rules.jsonl"
METRIC = f"direct_assessment(judge=scripted({str(RULES)!r}))"


@pytest.fixture
def cli(cli: Cli) -> Cli:
    rows = [
        {"id": str(i), "candidate": f"A {i}.", "references": ["A dog."]}
        for i in range(3)
    ]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return cli


def score(out: str, *cache: str) -> tuple[str, ...]:
    return ("score", "d.jsonl", "-m", METRIC, "-o", out, *cache)


def secret(url: str) -> str:
    return url.split(":")[2].split("@")[0]


def check_unseen(url: str, *done: Done) -> None:
    """The password stands in nothing that was printed or written."""
    written = [path for path in Path().rglob("*") if path.is_file()]
    assert len(written) > 5
    for text in (
        *(path.read_bytes() for path in written),
        *map(str.encode, map(str, done)),
    ):
        assert secret(url).encode() not in text


def test_runs_share_answers_and_the_password_is_nowhere(
    cli: Cli, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cli(*score("first", "--cache", postgres_url))
    assert "judges read" in first.err
    bare = postgres_url.replace(f":{secret(postgres_url)}", "")
    monkeypatch.setenv("BEHOLDER_CACHE", bare)
    monkeypatch.setenv("PGPASSWORD", secret(postgres_url))
    second = cli(*score("second"))
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert "judges read" not in second.err, "nothing was asked again"
    assert "; all answers (3) of judges came from the cache\n" in second.err
    assert (
        Path("second/scores.parquet").read_bytes()
        == Path("first/scores.parquet").read_bytes()
    )

    stats = cli("cache", "stats")
    assert "assess" in stats.out
    assert f"{bare}: 0.1 MB" in stats.out
    export = cli("cache", "export", "answers.jsonl")
    assert export.out == "3 answers written to answers.jsonl\n"
    assert len(Path("answers.jsonl").read_text().splitlines()) == 3
    verify = cli("cache", "verify")
    assert verify.out == f"3 answers of {bare} can be read, 0 were removed\n"
    pruned = cli("cache", "prune", "--days", "1")
    assert pruned.out == f"0 answers removed from {bare}\n"
    gone = cli("cache", "prune", "--days", "0")
    assert gone.out == f"3 answers removed from {bare}\n"
    check_unseen(
        postgres_url, first, second, stats, export, verify, pruned, gone
    )


def test_python_takes_the_same_address(cli: Cli, postgres_url: str) -> None:
    items = [Item("a", "A dog.", ("A cat.",))]
    for out in ("first", "second"):
        beholder.score(items, [METRIC], out=out, cache=postgres_url)
    shared = cli("cache", "stats", "--cache", postgres_url)
    assert "assess" in shared.out
    check_unseen(postgres_url, shared)


def test_a_wrong_password_and_an_unreadable_address_are_told_without_it(
    cli: Cli, postgres_url: str
) -> None:
    wrong = postgres_url.replace(secret(postgres_url), "guessed-one")
    refused = cli(*score("first", "--cache", wrong))
    assert refused.code == 2
    assert "refuses: password authentication failed" in refused.err
    unread = cli(
        *score("first", "--cache", "postgresql://me:guessed-one@/host/d")
    )
    assert unread.code == 2
    assert (
        "cannot be read: write postgresql://USER@HOST:PORT/NAME" in unread.err
    )
    for done in (refused, unread):
        assert "guessed-one" not in done.out + done.err

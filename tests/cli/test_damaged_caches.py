"""A shared cache that is damaged or another program's: one line with the way out, in every command."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from toy.command import Cli, runner

RULES = Path(__file__).parent.parent / "toy" / "assess_rules.jsonl"
CACHE = Path("cache") / "answers.sqlite"
Damage = Callable[[Path], None]


def sql(*statements: str) -> Damage:
    def change(file: Path) -> None:
        connection = sqlite3.connect(file)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return change


def written(data: Callable[[bytes], bytes]) -> Damage:
    def change(file: Path) -> None:
        file.write_bytes(data(file.read_bytes()))

    return change


def scattered(data: bytes) -> bytes:
    """The file with a byte that is no text in each of its answers."""
    assert data.count(b'"finish"') >= 3
    return data.replace(b'"finish"', b'"fini\xffh"')


UNUSABLE: dict[str, Damage] = {
    "cut": written(lambda data: data[: len(data) // 2]),
    "a text": written(lambda data: b"hello"),
    "noise": written(lambda data: random.Random(2).randbytes(9000)),
    "another schema": sql("ALTER TABLE answers DROP COLUMN cost"),
    "another program's": sql("DROP TABLE answers", "CREATE TABLE answers (a)"),
}
MENDED: dict[str, Damage] = {
    "answers that are junk": sql("UPDATE answers SET answer = '{'"),
    "answers that are bytes": sql("UPDATE answers SET answer = x'ff00'"),
    "fields of other types": sql(
        "UPDATE answers SET model = x'ff', replicate = 'x', cost = 'much'"
    ),
    "answers of other questions": sql(
        "UPDATE answers SET operation = 'caption'"
    ),
    "bytes that are no text": written(scattered),
    "odd notes": sql("INSERT INTO notes VALUES ('x', x'ff', 'never')"),
    "odd charges": sql("INSERT INTO charges VALUES ('much', 'never')"),
    "empty": written(lambda data: b""),
}


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": str(i), "candidate": f"A {i}.", "references": ["A dog."]}
        for i in range(3)
    ]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = runner(monkeypatch, capsys)
    assert run(*score("first")).code == 0
    return run


def score(out: str) -> tuple[str, ...]:
    arguments = (
        "-m",
        "direct_assessment",
        "--judge",
        f"scripted:{RULES}",
        "--no-report",
    )
    return ("score", "d.jsonl", *arguments, "-o", out, "--cache", "cache")


LOOKS = (
    ("cache", "stats", "--cache", "cache"),
    ("cache", "export", "answers.jsonl", "--cache", "cache"),
    ("cache", "verify", "--cache", "cache"),
    ("cache", "prune", "--days", "1", "--cache", "cache"),
)


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_cache_that_cannot_be_used_is_one_line_with_the_way_out(
    name: str, cli: Cli
) -> None:
    UNUSABLE[name](CACHE)
    for command in (score("second"), *LOOKS):
        done = cli(*command)
        assert done.code == 2
        assert f"{CACHE} cannot be used to keep answers" in done.err
        assert (
            "take another with --cache FOLDER (or off), or delete it"
            in done.err
        )
        assert len(done.err.splitlines()) == 1
    CACHE.unlink()
    assert cli(*score("second")).code == 0


@pytest.mark.parametrize("name", MENDED)
def test_what_is_broken_in_a_cache_is_asked_for_again(
    name: str, cli: Cli
) -> None:
    MENDED[name](CACHE)
    assert cli(*LOOKS[0]).code == 0
    assert cli(*score("second")).code == 0
    assert (
        Path("second/scores.parquet").read_bytes()
        == Path("first/scores.parquet").read_bytes()
    )
    for command in LOOKS:
        assert cli(*command).code == 0

"""Secrets that lie where a run meets them stand in no file that it leaves, and on no screen."""

from __future__ import annotations

import base64
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from benchmarks.chaos import ENGINES, smallest_answer, write_data

from servers.faults import FaultServer, Refusal, serving
from toy.command import Cli

KEY = "sk-Pl4nted-0123456789"
PASSWORD = "Passw0rd-9876543210"
BASIC = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
PLANTED = f"{KEY} {PASSWORD} {BASIC}"


@pytest.fixture
def cli(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("BEHOLDER_CACHE", str(tmp_path / "cache"))
    write_data(tmp_path)
    return cli


def telling(body: dict[str, Any]) -> dict[str, Any]:
    """Answers that repeat the key wherever a text may stand; every fifth row gets an error."""
    if "number 5 is" in str(body["messages"]):
        raise Refusal(400, f"{PLANTED} may not ask this")
    whole = smallest_answer(body)
    whole["system_fingerprint"] = f"fp {PLANTED}"
    whole["model"] = f"served {PLANTED}"
    if "response_format" not in body and not body.get("logprobs"):
        whole["choices"][0]["message"]["content"] += (
            f" A sign says {PLANTED}, a mirror {KEY[::-1]}."
        )
    return whole


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All that stands in files, packed cells of stores and tables unpacked."""
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        yield path.name, path.read_bytes()
        if path.suffix == ".parquet":
            yield path.name, str(pq.read_table(path).to_pylist()).encode()
        if path.suffix == ".sqlite":
            database = sqlite3.connect(path)
            names = database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
            for (name,) in names:
                for row in database.execute(f"SELECT * FROM {name}"):
                    packed = [
                        cell
                        for cell in row
                        if isinstance(cell, bytes) and cell[:1] == b"\x78"
                    ]
                    yield (
                        f"{path.name}: {name}",
                        b" ".join(
                            [repr(row).encode(), *map(zlib.decompress, packed)]
                        ),
                    )
            database.close()


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("score direct", KEY),
        ("caption", KEY),
        ("caption", PASSWORD),
        ("rank", KEY),
    ],
)
def test_no_secret_of_keys_addresses_and_answers_is_told(
    name: str, sent: str, cli: Cli, tmp_path: Path
) -> None:
    with serving(FaultServer(telling)) as server:
        before = f"user:{PASSWORD}@" if sent == PASSWORD else ""
        address = server.url.replace("http://", f"http://{before}")
        judge = "openai(model='m', key_env='OPENAI_API_KEY', wait=0.01, attempts=2)"
        command = [
            part.replace("JUDGE", judge)
            for part in ENGINES[name]
            if part != "--no-report"
        ]
        judge_options = () if name == "rank" else ("--judge", judge)
        out = "out.jsonl" if name == "caption" else "out"
        done = cli(*command, *judge_options, "--base-url", address, "-o", out)
    assert server.keys == {f"Basic {BASIC}" if before else f"Bearer {KEY}"}
    assert done.code in (0, 1), done.err
    # What was never sent as a secret is no secret of this run, but a word of the server's.
    places = dict.fromkeys((PASSWORD, BASIC, KEY) if before else (KEY,), "")
    everything = [
        ("screen", (done.out + done.err).encode()),
        *contents(tmp_path),
    ]
    for place, data in everything:
        for secret in places:
            if secret.encode() in data:
                places[secret] += f" {place}"
    assert set(places.values()) == {""}
    if name == "caption":
        assert any(KEY[::-1].encode() in data for _, data in everything), (
            "answers were looked at"
        )
    assert {place.partition(":")[0] for place, _ in everything} >= {
        "screen",
        "store.sqlite",
        "answers.sqlite",
    }


@pytest.mark.parametrize("name", ["score direct", "caption"])
def test_a_secret_in_a_spec_leaves_nothing_behind(
    name: str, cli: Cli, tmp_path: Path
) -> None:
    for option in (
        f"base_url='http://u:{PASSWORD}@host/v1'",
        f"api_key='{PASSWORD}'",
        f"key_env='{PASSWORD}'",
    ):
        out = "out.jsonl" if name == "caption" else "out"
        done = cli(
            *ENGINES[name], "--judge", f"openai('m', {option})", "-o", out
        )
        assert done.code == 2
        assert PASSWORD not in done.out + done.err
    assert all(PASSWORD.encode() not in data for _, data in contents(tmp_path))

"""Output files of every command: a FIFO in their place gets the bytes and stays a FIFO."""

from __future__ import annotations

import ast
import json
import os
import stat
from pathlib import Path
from threading import Thread

import pytest
from PIL import Image

import beholder
from toy.command import Cli

SOURCES = Path(beholder.__file__).parent

COMMANDS = {
    "lint d.csv --format html --fail-on never -o FIFO": b"<!doctype html>",
    "lint d.csv --format json --fail-on never -o FIFO": b"{",
    "lint d.csv --write-baseline FIFO": b"{",
    "compare a b -o FIFO": b"<!doctype html>",
    "compare a b --markdown FIFO": b"#",
    "report a -o FIFO": b"<!doctype html>",
    "leaderboard a --latex FIFO": b"\\begin{table}",
    "graph A_red_cat. --svg FIFO": b"<svg",
    "sample d.jsonl --n 2 -o FIFO": b'{"id"',
}
"""Commands, and how their files begin."""

WRITERS = {
    "kinds/filtering/duplicates.py: open",  # in a temporary folder
    "web/notes.py: open",  # notes are appended to a file of the run
}


@pytest.fixture
def cli(cli: Cli) -> Cli:
    rows = []
    for number in range(3):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(f"{number}.png")
        text = "A cat sits. " * (number + 1)
        rows.append(
            {"id": str(number), "candidate": text, "images": [f"{number}.png"]}
        )
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("d.csv").write_text("picture,alt\na.png,Image of a dog\n")
    return cli


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fifo_gets_what_a_command_writes(cli: Cli, command: str) -> None:
    if " a" in command:
        for name in ("a", "b"):
            assert (
                cli("score", "d.jsonl", "-m", "length", "-o", name).code == 0
            )
    fifo = Path("FIFO")
    os.mkfifo(fifo)
    received: list[bytes] = []
    # Whoever opens a FIFO for writing waits for its reader.
    reader = Thread(
        target=lambda: received.append(fifo.read_bytes()), daemon=True
    )
    reader.start()
    done = cli(*command.split())
    assert stat.S_ISFIFO(fifo.stat().st_mode), done
    assert done.code == 0, done.err
    reader.join()
    assert received[0].lower().startswith(COMMANDS[command])


@pytest.mark.parametrize(
    "command",
    [
        "caption d.jsonl --judge x:y -o FIFO",
        "translate d.jsonl --from en --to de --judge x:y -o FIFO",
    ],
)
def test_commands_that_keep_work_beside_their_file_refuse_a_fifo(
    cli: Cli, command: str
) -> None:
    os.mkfifo("FIFO")
    done = cli(*command.split())
    assert (done.code, "FIFO is not a regular file" in done.err) == (
        2,
        True,
    ), done
    assert not Path("FIFO.run").exists()


OPENERS = (".rename", ".mkstemp", ".NamedTemporaryFile", ".open")


def test_only_listed_modules_open_files_for_writing() -> None:
    writers = set()
    for path in set(SOURCES.rglob("*.py")) - {SOURCES / "base" / "files.py"}:
        text = path.read_text("utf-8")
        if not any(name in text for name in OPENERS):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(
                node.func, ast.Attribute
            ):
                continue
            # ``unfinished`` is the name for the path that ``files.replacing`` yields.
            if (
                isinstance(node.func.value, ast.Name)
                and node.func.value.id == "unfinished"
            ):
                continue
            modes = [a.value for a in node.args if isinstance(a, ast.Constant)]
            is_written = any(
                str(mode)[:1] in ("w", "a", "x") for mode in modes
            )
            name = node.func.attr
            if f".{name}" in OPENERS and (name != "open" or is_written):
                writers.add(f"{path.relative_to(SOURCES).as_posix()}: {name}")
    assert writers == WRITERS

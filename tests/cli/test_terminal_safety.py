"""Nothing that stands in data can steer the terminal it is printed on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from beholder.base.visible import for_terminal
from beholder.report.study_tables import SafeConsole
from toy.command import Cli

EVIL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\u202eevil\u2066\x08\r"
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def test_every_control_character_is_shown_as_a_picture() -> None:
    text = (
        "".join(map(chr, range(0x20)))
        + "\x7f"
        + "".join(map(chr, range(0x80, 0xA0)))
    )
    assert STEERING.sub("", for_terminal(text)) == for_terminal(text)
    assert (
        for_terminal("a\tb\nc é 漢 \u200d \u200f")
        == "a\tb\nc é 漢 \u200d \u200f"
    )
    assert for_terminal("\x1b") == "␛"


def test_a_table_of_hostile_cells_and_captions_is_inert(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Table(EVIL, title=EVIL, caption=EVIL)
    table.add_row(Text(EVIL))
    SafeConsole(width=200).print(table)
    out = capsys.readouterr().out
    assert "PWNED" in out
    assert STEERING.findall(out) == []


def test_names_and_values_of_wrong_rows_are_inert(cli: Cli) -> None:
    rows = [
        {"id": EVIL, "candidate": "x", "group": {EVIL: []}},
        {
            "id": "2",
            "candidate": "x",
            "judgments": {EVIL: {"a": object.__name__}},
            "references": [""],
        },
    ]
    Path("d.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    for command in (
        ("score", "d.jsonl", "-m", "length"),
        ("agree", "d.jsonl", "-m", "length"),
    ):
        done = cli(*command)
        assert done.code == 2
        assert STEERING.findall(done.out + done.err) == []


def test_labels_of_judgments_are_inert_in_captions(cli: Cli) -> None:
    rows = [
        {"id": str(n), "candidate": "word " * n, "judgments": {EVIL: n % 3}}
        for n in range(1, 9)
    ]
    Path("d.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    done = cli(
        "agree", "d.jsonl", "-m", "length", "--resamples", "20", "--no-figures"
    )
    assert done.code == 0, done.err
    assert STEERING.findall(done.out + done.err) == []

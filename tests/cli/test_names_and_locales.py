"""File names that are not UTF-8, and terminals that cannot show every character."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import beholder
from beholder.data import read_frames, read_items
from beholder.errors import ConfigError, DataError
from beholder.kinds.generation.engine import read_pictured
from beholder.options import DataOptions
from toy.photos import make_collection

BAD = os.fsdecode(b"caf\xe9")
ROW = {"id": "1", "candidate": "A café – ↔ 猫.", "references": ["A red cup."]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a data file of each kind of name, where the disk takes such names."""
    for name in ("ok", BAD):
        try:
            (tmp_path / f"{name}.jsonl").write_text(
                json.dumps(ROW) + "\n", "utf-8"
            )
        except OSError:
            pytest.skip("this disk takes UTF-8 names alone")
    return tmp_path


def _run(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    call = [sys.executable, "-m", "beholder", *arguments]
    env = {
        **os.environ,
        "COLUMNS": "200",
        "BEHOLDER_CACHE": "off",
        **environment,
    }
    return subprocess.run(
        call, cwd=folder, env=env, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    "arguments",
    [(f"{BAD}.jsonl", "-o", "run"), ("ok.jsonl", "-o", BAD)],
    ids=["data", "run"],
)
def test_a_name_on_the_command_line_is_refused_before_any_work(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    done = _run(folder, "score", *arguments, "-m", "length")
    assert done.returncode == 2
    assert b"'caf\\udce9" in done.stderr
    assert b"is not UTF-8; give it another name" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (folder / "run").exists()
    assert not (folder / BAD).exists()


def test_a_name_given_in_python_is_refused_before_any_work(
    folder: Path,
) -> None:
    with pytest.raises(ConfigError, match="is not UTF-8"):
        beholder.score(
            folder / f"{BAD}.jsonl", metrics=["length"], out=folder / "run"
        )
    with pytest.raises(ConfigError, match="is not UTF-8"):
        beholder.score(
            folder / "ok.jsonl", metrics=["length"], out=folder / BAD
        )
    assert not (folder / BAD).exists()


def test_a_picture_of_such_a_name_is_one_wrong_row(folder: Path) -> None:
    make_collection(folder, n=3)
    files = sorted((folder / "img").iterdir())
    files[1].rename(folder / "img" / f"{BAD}{files[1].suffix}")
    pictures = str(folder / "img")
    for reader in (read_pictured, read_items, read_frames):
        rows = list(reader(pictures))
        wrong = [str(row) for row in rows if isinstance(row, DataError)]
        assert len(rows) == 3
        assert (
            sum(
                r"'caf\udce9" in message and "is not UTF-8" in message
                for message in wrong
            )
            == 1
        )
    (folder / "img" / f"{BAD}.mp4").write_bytes(b"")
    films = list(read_pictured(pictures, DataOptions(frames=1)))
    assert (
        sum(
            "is not UTF-8" in str(row)
            for row in films
            if isinstance(row, DataError)
        )
        == 2
    )


LATIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_escapes(folder: Path) -> None:
    plain = _run(
        folder, "score", "ok.jsonl", "-m", "length", "-o", "a", **LATIN
    )
    assert plain.returncode == 0, plain.stderr.decode()
    as_json = _run(
        folder, "graph", "A café – ↔ 猫.", "--json", PYTHONIOENCODING="ascii"
    )
    assert as_json.returncode == 0, as_json.stderr.decode()
    assert "café" in json.dumps(json.loads(as_json.stdout), ensure_ascii=False)
    graph = _run(folder, "graph", "A black café.", PYTHONIOENCODING="ascii")
    assert graph.returncode == 0, graph.stderr.decode()
    assert b"caf\\xe9" in graph.stdout


def test_arguments_of_a_locale_without_unicode_are_refused_with_the_way_out(
    folder: Path,
) -> None:
    done = _run(folder, "score", "café.jsonl", "-m", "length", **LATIN)
    assert done.returncode == 2
    assert b"try PYTHONUTF8=1" in done.stderr

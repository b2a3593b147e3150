"""Nothing is sent and nothing left behind: libraries would write ids and ask for servers by default."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beholder.base.optional import SWITCHES

ROW = '{"id": "1", "candidate": "A man walks a dog.", "references": ["A man with a small dog."]}\n'


def score(folder: Path, *before: str, **variables: str) -> None:
    """Score one row with the built-in judge, encoder, parser and entailment model."""
    (folder / "rows.jsonl").write_text(ROW, encoding="utf-8")
    (folder / "home").mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in SWITCHES
    }
    kept = {
        name: value
        for name, value in kept.items()
        if not name.startswith("XDG_")
    }
    environment = kept | {"HOME": str(folder / "home")} | variables
    command = [
        sys.executable,
        "-m",
        "beholder",
        "score",
        "rows.jsonl",
        "-m",
        "accord",
        "-o",
        "run",
    ]
    subprocess.run(
        [*before, *command],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )


def test_a_run_with_the_built_in_judge_leaves_no_file_at_home(
    tmp_path: Path,
) -> None:
    score(tmp_path)
    assert [*(tmp_path / "home").rglob("*")] == []


@pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed"
)
def test_a_run_with_the_built_in_judge_connects_to_nothing(
    tmp_path: Path,
) -> None:
    log = tmp_path / "calls.txt"
    score(
        tmp_path, "strace", "-f", "-e", "trace=connect,sendto", "-o", str(log)
    )
    assert not re.search(
        r"AF_INET|sin_port|:53", log.read_text(encoding="utf-8")
    )


def test_libraries_are_told_before_they_are_imported_and_users_have_the_last_word() -> (
    None
):
    code = "import os, sys, beholder.embed.sessions\n"
    code += f"print(*(os.environ[name] for name in {[*SWITCHES]}), 'onnxruntime' in sys.modules)"
    environment = {k: v for k, v in os.environ.items() if k not in SWITCHES}
    environment["RAY_USAGE_STATS_ENABLED"] = "1"
    output = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    expected = SWITCHES | {"RAY_USAGE_STATS_ENABLED": "1"}
    assert output.split() == [*expected.values(), "False"]

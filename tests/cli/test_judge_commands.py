"""``judge-check`` and ``cache`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from beholder.backends import Answer, Sample, Usage
from beholder.cli.cache import cache, cache_file
from beholder.cli.judge_check import judge_check, print_diagnosis
from beholder.judges.answers import AnswerFile, Record

runner = CliRunner()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    file = AnswerFile(tmp_path / "answers.sqlite")
    answer = Answer((Sample("5", "stop"),), "m-1", usage=Usage(1200, 0, 3))
    file.put_answer(
        Record("digest", "presence", "presence.v1@x", "openai:m", "m-1", 0, answer, 0.5)
    )
    file.close()
    return tmp_path


def test_cache_commands_count_export_and_prune(place: Path, tmp_path: Path) -> None:
    shown = runner.invoke(cache, ["stats", "--cache", str(place)], env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    assert "presence" in shown.output
    assert "1,200" in shown.output
    out = tmp_path / "answers.jsonl"
    exported = runner.invoke(cache, ["export", str(out), "--cache", str(place)])
    assert exported.exit_code == 0
    assert json.loads(out.read_text())["request"] == "digest"
    pruned = runner.invoke(cache, ["prune", "--days", "0", "--cache", str(place)])
    assert "1 answers removed" in pruned.output


def test_missing_cache_is_a_usage_error(tmp_path: Path) -> None:
    result = runner.invoke(cache, ["stats", "--cache", str(tmp_path / "none")])
    assert result.exit_code == 2


def test_cache_place_is_the_option_then_the_variable_then_the_platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BEHOLDER_CACHE", "/somewhere")
    assert cache_file("elsewhere") == Path("elsewhere/answers.sqlite")
    assert cache_file(None) == Path("/somewhere/answers.sqlite")
    assert cache_file("off") is None
    monkeypatch.delenv("BEHOLDER_CACHE")
    path = cache_file(None)
    assert path is not None
    assert path.name == "answers.sqlite"
    assert "beholder" in str(path)


def rules(folder: Path) -> str:
    """A judge that says 4 to everything and ranks by place."""
    path = folder / "rules.jsonl"
    rows = [
        {"contains": "single digit", "answer": "4"},
        {"contains": '"ranks"', "answer": {"ranks": [1, 2, 3, 4]}},
        {"contains": "", "answer": {"statements": []}},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return f"scripted:{path}"


def test_judge_check_prints_consistency_and_bias(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(judge_check)
    result = runner.invoke(app, [rules(tmp_path)], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    assert "undefined" in result.output  # a judge that always says the same has no reliability
    assert "-3.00" in result.output
    assert "64 questions" in result.output


def test_diagnosis_of_a_bad_judge_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_diagnosis(rules(tmp_path), None) is False
    assert "6 of 12 right" in capsys.readouterr().out

"""What the command line answers to input that almost fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toy.command import Cli


def _csv(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_metrics_are_listed_with_commas(cli: Cli, tmp_path: Path) -> None:
    data = _csv(tmp_path / "d.csv", "candidate,references\na dog,the dog\n")
    done = cli(
        "score",
        data,
        "-m",
        "bleu,rouge",
        "-m",
        "vcs(lct=1, rules='paper')",
        "--dry-run",
    )
    assert done.code == 0, done.err
    for name in ("bleu", "rouge", "vcs"):
        assert name in done.out + done.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("-m", "BLEU"), "did you mean 'bleu'"),
        (("-m", "posh", "--judge", "gpt-4o"), "write openai:gpt-4o"),
        (
            ("-m", "posh", "--judge", "mistral:flash"),
            "openai:flash with --base-url",
        ),
        (("-m", "posh", "--judge", "opnai:m"), "did you mean 'openai'"),
        (
            ("-m", "bleu", "--embedder", "minilm"),
            "--embedder minilm is not used",
        ),
        (("-m", "bleu", "--map", "imag=x"), "did you mean image?"),
    ],
)
def test_a_near_miss_names_what_fits(
    cli: Cli, tmp_path: Path, given: tuple[str, ...], said: str
) -> None:
    data = _csv(tmp_path / "d.csv", "candidate,references\na dog,the dog\n")
    assert said in cli("score", data, *given, "-o", str(tmp_path / "run")).err


def test_a_misspelt_field_is_named(cli: Cli, tmp_path: Path) -> None:
    data = tmp_path / "d.jsonl"
    data.write_text(
        json.dumps({"candidate": "a dog", "refernces": ["the dog"]}) + "\n"
    )
    done = cli("score", str(data), "-m", "bleu", "-o", str(tmp_path / "run"))
    assert done.code == 1
    output = " ".join(done.out.split())
    assert "it has 'refernces': did you mean references?" in output


def test_a_missing_run_is_explained_and_found(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "There is none in runs/." in cli("view").err
    assert (
        "leaderboard RUN` ranks the systems of one run"
        in cli("compare", "runs/a").err
    )
    _csv(tmp_path / "d.csv", "candidate,references\na dog,the dog\n")
    assert cli("score", "d.csv", "-m", "length").code == 0
    assert "There are: runs/d." in cli("compare", "runs/d").err
    assert (
        "See beholder narrate extract --help."
        in cli("narrate", "extract", "d.csv").err
    )


def test_wrong_rows_of_one_kind_are_one_message(
    cli: Cli, tmp_path: Path
) -> None:
    data = _csv(
        tmp_path / "d.csv",
        "text;ref\n"
        + "".join(f"a;['elsewhere {i}', 'b']\n" for i in range(9)),
    )
    done = cli("score", data, "-m", "length", "--map", "candidate=text")
    assert done.code == 2
    assert "(all 9 rows are like this)" in done.err
    assert done.err.count("elsewhere") == 1


def test_agree_names_columns_of_numbers(cli: Cli, tmp_path: Path) -> None:
    rows = "".join(f"a dog {i},the dog {i},{i % 5}\n" for i in range(12))
    data = _csv(tmp_path / "d.csv", f"candidate,references,overall\n{rows}")
    done = cli("agree", data, "-m", "length")
    assert done.code == 2
    assert "--map judgments.overall=overall" in done.err
    mapped = (
        "--map",
        "judgments.overall=overall",
        "-o",
        str(tmp_path / "run"),
    )
    assert cli("agree", data, "-m", "length", *mapped).code == 0


def test_a_folder_that_is_no_run_gets_one_text(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text("x")
    commands = ("view", "report", "cache export a.jsonl --run", "compare")
    hints = {
        cli(*name.split(), *[str(tmp_path)] * (1 + (name == "compare"))).err
        for name in commands
    }
    assert hints == {
        f"beholder: {tmp_path} is not a run directory, which has run.json and store.sqlite;"
        " commands such as `beholder score` write one\n"
    }


@pytest.mark.parametrize(
    ("cell", "n"), [("the dog | a dog", 1), ("the dog|a dog", 0)]
)
def test_a_bar_in_a_reference_is_named(
    cli: Cli, tmp_path: Path, cell: str, n: int
) -> None:
    data = _csv(
        tmp_path / "d.csv",
        f"candidate,references\na dog,{cell}\na cat,a cat\n",
    )
    output = cli(
        "score",
        data,
        "-m",
        "length",
        "-o",
        str(tmp_path / "run"),
        "--no-report",
    ).err
    assert (
        "caution: 1 references contain ' | ' and were read as one text"
        in output
    ) is bool(n)


def test_a_lack_of_memory_ends_in_words(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beholder.cli import runs

    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(runs, "runs_hint", fail)
    done = cli("view")  # without a run it lists those that are there
    assert (done.code, "there is not enough memory" in done.err) == (2, True)

"""Outputs never replace what a command reads or what belongs to a run; errors name their option."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from beholder.cli.main import app
from beholder.errors import OutputError
from beholder.terminal.outputs import OUTPUTS, find_option
from toy.cases import each_case
from toy.command import Cli, runner

pytestmark = pytest.mark.usefixtures("few_resamples")

INPUTS = frozenset(
    {
        *("against", "answers", "baseline", "categories", "data", "gold"),
        *("certificate", "definition", "instructions", "labels", "prefill"),
        *("not_worse_than", "proof", "job", "anchor", "replace"),
        *(
            "folder",
            "like",
            "media_root",
            "prompts",
            "references_from",
            "run",
            "run_a",
        ),
        *("run_b", "runs", "source", "study", "subset", "suite", "worse_than"),
    }
)
"""Parameters that name what a command reads, or the study that it works on."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a page, a file, a FIFO and a finished run."""
    made = tmp_path_factory.mktemp("outputs")
    rows = [
        {"id": str(n), "candidate": f"A cat {n}.", "references": ["A cat."]}
        for n in range(3)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (made / "d.jsonl").write_text(text)
    (made / "link.jsonl").symlink_to("d.jsonl")
    (made / "file").write_text("x")
    os.mkfifo(made / "fifo")
    (made / "site").mkdir()
    (made / "site" / "a.html").write_text('<img src="a.png" alt="Image">')
    return made


@pytest.fixture
def cli(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    monkeypatch.chdir(folder)
    run = runner(monkeypatch, capsys)
    if not Path("r").exists():
        assert run("score", "d.jsonl", "-m", "length", "-o", "r").code == 0
        Path("r/mine.md").write_text("notes\n")
    return run


SCORE = ("score", "d.jsonl", "-m", "length", "-o", "r")


@pytest.mark.parametrize(
    ("command", "reason", "option"),
    [
        ((*SCORE, "--markdown", "d.jsonl"), "read by this command", "--markdown"),
        ((*SCORE, "--markdown=link.jsonl"), "read by this command", "--markdown"),
        ((*SCORE, "--markdown", "r/run.json"), "belongs to the run", "--markdown"),
        ((*SCORE, "--markdown", "r/report.html"), "belongs to the run", "--markdown"),
        ((*SCORE, "--references-from", "file", "--markdown", "file"),
         "read by this command (--references-from)", "--markdown"),
        ((*SCORE, "--markdown", "file/x.md"), "file is a file, not a folder", "--markdown"),
        (("score", "d.jsonl", "-m", "length", "-o", "file/x"), "file is a file", "-o"),
        (("score", "d.jsonl", "-m", "length", "--output", "d.jsonl"), "d.jsonl is a file", "--output"),
        (("compare", "r", "r", "-o", "r/report.html"), "belongs to the run", "-o"),
        (("compare", "r", "r", "-o", "r/scores.parquet"), "belongs to the run", "-o"),
        (("leaderboard", "r", "--tables", "r"), "belongs to the run", "--tables"),
        (("leaderboard", "r", "--tables", "file"), "file is a file, not a folder", "--tables"),
        (("leaderboard", "r", "--tables", "fifo"), "fifo is a file, not a folder", "--tables"),
        (("leaderboard", "r", "--latex", "file/t.tex"), "file is a file, not a folder", "--latex"),
        (("leaderboard", "r", "--latex", "t", "--markdown", "t"), "would be written by", "--markdown"),
        (("leaderboard", "r", "--latex", "r/units.parquet"), "belongs to the run", "--latex"),
        (("report", "r", "--figures", "file"), "file is a file, not a folder", "--figures"),
        (("report", "r", "-o", "r/store.sqlite"), "belongs to the run", "-o"),
        (("lint", "site", "-o", "site/a.html"), "is a file that is checked", "-o"),
        (("lint", "site/a.html", "-o", "site/a.html"), "read by this command", "-o"),
        (("lint", "site", "--write-baseline", "site/a.html"), "is checked", "--write-baseline"),
        (("lint", "site", "-o", "new.txt", "--write-baseline", "new.txt"), "would be written by", "-o"),
        (("graph", "A cat.", "--svg", "file/x.svg"), "file is a file, not a folder", "--svg"),
        (("sample", "d.jsonl", "-o", "d.jsonl"), "read by this command", "-o"),
    ],
)  # fmt: skip
def test_an_output_that_would_replace_something_is_refused(
    cli: Cli, folder: Path, command: tuple[str, ...], reason: str, option: str
) -> None:
    def content() -> dict[str, bytes]:
        files = (p for p in folder.rglob("*") if p.is_file())
        return {str(path): path.read_bytes() for path in files}

    before = content()
    done = cli(*command)
    assert done.code == 2
    assert reason in done.err
    assert done.err.endswith(f"choose another place with {option}\n"), done.err
    assert len(done.err.splitlines()) == 1
    assert content() == before


def test_outputs_beside_what_is_read_are_written(cli: Cli) -> None:
    for command in (
        (*SCORE, "--markdown", "r/mine.md"),  # not the run's own
        ("report", "r", "-o", "r/report.html"),
        ("lint", "site", "--write-baseline", "known.json"),
        ("lint", "site", "--baseline", "known.json", "--write-baseline", "known.json"),
        ("lint", "site", "-o", "/dev/null"),
        ("score", "d.jsonl", "-m", "length", "-o", "r", "--references-from", "d.jsonl"),
        ("leaderboard", "r", "--markdown", "-"),
    ):  # fmt: skip
        done = cli(*command)
        assert "choose another place" not in done.err, done.err


def _commands(group: App) -> Iterator[App]:
    for name in group:
        if not name.startswith("-"):
            command = group[name]
            if command.default_command is not None:
                yield command
            yield from _commands(command)


def test_every_parameter_that_names_a_path_is_an_input_or_an_output() -> None:
    options_by_name: dict[str, set[str]] = {}
    for command in _commands(app):
        for argument in command.assemble_argument_collection():
            if "Path" in str(argument.hint):
                names = options_by_name.setdefault(
                    argument.field_info.name, set()
                )
                names.update(argument.names)
    unknown = options_by_name.keys() - INPUTS - OUTPUTS.keys()
    assert not unknown, "name each among INPUTS here, or among OUTPUTS"
    assert not INPUTS & OUTPUTS.keys()
    for name, option in OUTPUTS.items():
        assert name == "markdown" or option in options_by_name[name]


@each_case(
    ("path", "arguments", "option"),
    [
        ("a", ["-o", "a"], "-o"),
        ("a", ["--output=a"], "--output"),
        ("a/b/c", ["-o", "a", "--tables", "a/b"], "--tables"),
        ("a", ["--latex", "a/t.tex"], "--latex"),
        ("a", ["--latex", "a/b/t.tex"], ""),
        ("a", ["d", "--labels", "a"], ""),
        ("a", ["-o"], ""),
        ("a", [], ""),
    ],
)
def test_the_option_of_a_place_is_found(
    path: str, arguments: list[str], option: str
) -> None:
    assert find_option(Path(path), arguments) == option


def test_an_error_of_an_output_can_be_sent_to_another_process() -> None:
    import pickle

    error = OutputError(Path("a"), "a is full")
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.path) == (str(error), error.path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("is_buffered", [True, False])
@pytest.mark.parametrize(
    "command", [("show", "bleu"), ("leaderboard", "r"), ("leaderboard", "r", "--json")]
)  # fmt: skip
def test_standard_output_without_room_is_named(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    is_buffered: bool,
) -> None:
    import io

    raw = io.FileIO("/dev/full", "w")
    stream = io.TextIOWrapper(
        io.BufferedWriter(raw), write_through=not is_buffered
    )
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        done = cli(*command)
    assert done.code == 2
    assert done.err == ("beholder: standard output: No space left on device\n")
    stream.close()

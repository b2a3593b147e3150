"""A disk that is full, and places that cannot be written: told in words, and nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from PIL import Image

from beholder.base.files import check_folder
from beholder.errors import RunError
from beholder.judges import AnswerFile
from servers.faults import FaultServer, completion, serving
from toy.command import Cli
from toy.reviewer import write_reviews


@pytest.fixture
def cli(cli: Cli) -> Cli:
    rows = []
    for i in range(6):
        Image.new("RGB", (8, 8), (i, 0, 0)).save(f"{i}.png")
        text = "A cat sits. " * (i + 1)
        group = {"group": {"system": "a"}, "judgments": {"overall": i}}
        rows.append(
            {
                "id": str(i),
                "candidate": text,
                "references": ["A dog."],
                "images": [f"{i}.png"],
            }
            | group
        )
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_reviews(Path("reviews.jsonl"), n=4)
    return cli


@contextmanager
def room_for(n_bytes: int) -> Iterator[None]:
    """No file may get longer than so many bytes: writing more fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


COMMANDS: dict[str, tuple[str, ...]] = {
    "score": ("score", "d.jsonl", "-m", "vcs", "-m", "bleu", "-o", "out"),
    "agree": (
        "agree",
        "d.jsonl",
        "-m",
        "length",
        "--resamples",
        "20",
        "-o",
        "out",
    ),
    "rank": (
        "rank",
        "reviews.jsonl",
        "-s",
        "length",
        "--resamples",
        "20",
        "-o",
        "out",
    ),
    "graph": ("graph", "A red cat.", "--svg", "cat.svg"),
}


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix
        in (".json", ".parquet", ".html", ".csv", ".png", ".svg")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_told_in_words_and_the_run_goes_on_with_room(
    name: str, cli: Cli, tmp_path: Path
) -> None:
    command = COMMANDS[name]
    assert cli(*command).code == 0
    calm = files(tmp_path)
    for path in tmp_path.rglob("*.html"):
        path.unlink()
    if (tmp_path / "out").exists():
        (tmp_path / "out").rename(tmp_path / "calm")
    refused = 0
    for room in (200, 10_000, 120_000):
        with room_for(room):
            done = cli(*command)
        if done.code:
            refused += 1
            assert done.code == 2, done.err
            assert done.err.startswith("beholder: "), done.err
            assert len(done.err.splitlines()) < 4
    assert refused >= 1
    assert cli(*command).code == 0
    paths = files(tmp_path)
    assert {name: paths[name] for name in calm} == calm
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("place", ["file/out", "/proc/out"])
def test_a_place_that_cannot_be_written_is_told_in_words(
    name: str, place: str, cli: Cli
) -> None:
    Path("file").write_text("x")
    command = [
        {"out": place, "cat.svg": f"{place}.svg"}.get(part, part)
        for part in COMMANDS[name]
    ]
    done = cli(*command)
    assert done.code == 2
    assert done.err.startswith("beholder: ")
    assert place.partition("/")[0] in done.err
    assert len(done.err.splitlines()) < 4


def test_whatever_else_the_disk_refuses_is_no_traceback(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(
            errno.EACCES, "Permission denied", "/models/words"
        )

    monkeypatch.setattr("beholder.language.parse", refuse)
    done = cli("graph", "A red cat.")
    assert (done.code, done.err) == (
        2,
        "beholder: /models/words: Permission denied\n",
    )


PLACED: dict[str, tuple[str, ...]] = {
    "score": ("score", "d.jsonl", "-m", "length"),
    "agree": ("agree", "d.jsonl", "-m", "length"),
    "rank": ("rank", "reviews.jsonl", "-s", "length"),
    "narrate compare": (
        "narrate",
        "compare",
        "d.jsonl",
        "--embedder",
        "handcrafted",
    ),
}


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=("run", "dry run"))
@pytest.mark.parametrize("name", PLACED)
def test_a_file_is_no_run_directory_and_is_told_before_data_are_read(
    name: str, dry: tuple[str, ...], cli: Cli
) -> None:
    Path("file").write_text("x")
    for row in ("d.jsonl", "reviews.jsonl"):
        Path(row).write_text("no row\n")  # whoever reads it says so
    for place in ("file", "file/out"):
        done = cli(*PLACED[name], *dry, "-o", place)
        assert done.code == 2
        assert (
            done.err
            == "beholder: file is a file, not a folder; choose another place with -o\n"
        )
    assert Path("file").read_text() == "x"


def test_a_folder_without_permission_is_told_before_anything_is_made() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)  # nobody
        else:
            folder.chmod(0o555)
        try:
            with pytest.raises(
                RunError,
                match="may not be written by you; choose another place",
            ):
                check_folder(folder / "a" / "b")
        finally:
            os.seteuid(before)
            folder.chmod(0o755)
        check_folder(folder / "a" / "b")
        assert not list(folder.iterdir())


REFUSED: dict[str, tuple[str, ...]] = {
    "score": ("score", "d.jsonl", "-m", "posh", "--judge", "openai:m"),
    "rank": ("rank", "reviews.jsonl", "-s", "response(judge='openai:m')"),
    "caption": ("caption", "d.jsonl", "--judge", "openai:m"),
}


@pytest.mark.parametrize("command", REFUSED.values(), ids=REFUSED)
def test_a_run_that_is_refused_leaves_no_folder_that_it_made(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    before = set(Path().rglob("*"))
    refused = cli(*command, "-o", "runs/refused")
    assert refused.code == 2
    assert "OPENAI_API_KEY" in refused.err
    assert set(Path().rglob("*")) == before
    Path("runs").mkdir()
    Path("runs/other").mkdir()
    cli(*command, "-o", "runs/refused")
    assert list(Path("runs").iterdir()) == [Path("runs/other")]


def test_a_refused_run_keeps_a_folder_that_was_there_and_one_that_paid(
    cli: Cli,
) -> None:
    Path("there").mkdir()
    nowhere = ("--base-url", "http://127.0.0.1:9/v1")
    command = ("score", "d.jsonl", "-m", "posh", "--judge")
    assert cli(*command, "openai:m", *nowhere, "-o", "there").code == 2
    assert Path("there").is_dir()

    def answer_other(body: dict[str, Any]) -> dict[str, Any]:
        return completion("ready", model="dear")

    # What the server is costs money to find out only if it has a price, and it has none here.
    with serving(FaultServer(answer_other)) as server:
        served = ("--base-url", server.url, "--max-cost", "1")
        refused = cli(*command, "openai:m", *served, "-o", "unpriced")
        assert (refused.code, len(server.bodies)) == (2, 1), refused.err
        assert "price" in refused.err
        assert not Path("unpriced").exists()

    def breaks(body: dict[str, Any]) -> dict[str, Any]:
        return {**completion("ready"), "choices": []}

    Path("prices.json").write_text(
        '{"models": {"m": {"input": 1, "output": 1}}}'
    )
    with serving(FaultServer(breaks)) as server:
        judge = "openai('m', prices='prices.json', attempts=1)"
        refused = cli(*command, judge, "--base-url", server.url, "-o", "paid")
        assert (refused.code, len(server.bodies)) == (2, 1), refused.err
        with closing(AnswerFile(Path("paid/store.sqlite"))) as file:
            assert file.cost() == pytest.approx(110 / 1e6), (
                "100 tokens read, 10 written"
            )

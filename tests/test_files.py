"""Files are written whole or not at all, and what a spreadsheet would run is inert."""

from __future__ import annotations

import csv
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from beholder.base import files
from beholder.errors import RunError
from toy.cases import each_case


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of each pause, which are not waited for."""
    seconds: list[float] = []
    monkeypatch.setattr("time.sleep", seconds.append)
    return seconds


def test_an_error_while_writing_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    files.write_jsonl(path, [{"a": 1}])

    def rows() -> Iterator[dict[str, Any]]:
        yield {"a": 2}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_jsonl(path, rows())
    assert path.read_text() == '{"a": 1}\n'


def test_a_text_is_written_with_its_folder_and_the_same_line_ends_everywhere(
    tmp_path: Path,
) -> None:
    files.write_text(tmp_path / "new" / "page.html", "a\nb\n")
    assert (tmp_path / "new" / "page.html").read_bytes() == b"a\nb\n"
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@x", "\tx", " =1", "＝1", "\u00a0=1"]
)
def test_csv_makes_formulas_of_texts_inert_and_leaves_numbers(
    tmp_path: Path, formula: str
) -> None:
    path = tmp_path / "t.csv"
    files.write_csv(path, [["name", "value"], [formula, -1.5], [None, True]])
    lines = path.read_bytes().decode().split("\n")
    assert lines[0] == "name,value"
    assert lines[1].lstrip('"').startswith("'")
    assert lines[1].endswith(",-1.5")
    assert lines[2] == ",1"


@pytest.mark.parametrize(
    "end", ["\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"]
)
def test_no_end_of_a_line_in_a_text_begins_a_row(
    tmp_path: Path, end: str
) -> None:
    path = tmp_path / "t.csv"
    files.write_csv(path, [["name", "value"], [f"{end}=1{end}x", 2]])
    # read as a spreadsheet does: only a quoted end of a line stays inside its cell
    with path.open(newline="", encoding="utf-8") as lines:
        assert list(csv.reader(lines)) == [
            ["name", "value"],
            ["'\n=1\nx", "2"],
        ]
    assert path.read_bytes() == b'name,value\n"\'\n=1\nx",2\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "it is not there"),
        ("{", "cannot be read"),
        ('{"format": 2}', "no run log of format 1"),
        ("[]", "no run log of format 1"),
    ],
)
def test_json_that_cannot_be_used_says_why(
    tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(RunError, match=message):
        files.read_json(
            path, form=1, kind="run log", missing_message="it is not there"
        )


def read_in_background(fifo: Path) -> tuple[Thread, list[bytes]]:
    """Start to read a FIFO: whoever opens it for writing waits for its reader."""
    received: list[bytes] = []
    thread = Thread(
        target=lambda: received.append(fifo.read_bytes()), daemon=True
    )
    thread.start()
    return thread, received


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_fifo_gets_the_bytes_and_stays(
    tmp_path: Path, is_linked: bool
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    path = fifo
    if is_linked:
        path = tmp_path / "link"
        path.symlink_to("fifo")
    thread, received = read_in_background(fifo)
    files.write_text(path, "a page\n")
    thread.join()
    assert received == [b"a page\n"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert path.is_symlink() is is_linked
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        {"fifo", path.name}
    )


@pytest.mark.parametrize(
    ("minor", "message"), [(3, None), (7, "No space left on device")]
)
def test_a_device_is_not_replaced_by_a_file(
    tmp_path: Path, minor: int, message: str | None
) -> None:
    node = tmp_path / "node"
    try:
        # 1:3 takes all that is written, as /dev/null; 1:7 is always full, as /dev/full.
        os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(1, minor))
        node.open("wb").close()
    except PermissionError:
        pytest.skip("devices cannot be made or opened here")
    if message is None:
        files.write_text(node, "a page\n")
    else:
        with pytest.raises(RunError, match=message):
            files.write_text(node, "a page\n")
    assert stat.S_ISCHR(node.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["node"]


def test_a_disk_is_refused(tmp_path: Path) -> None:
    node = tmp_path / "disk"
    try:
        os.mknod(node, 0o600 | stat.S_IFBLK, os.makedev(240, 0))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    with pytest.raises(RunError, match="it is a disk"):
        files.write_text(node, "a page\n")
    assert stat.S_ISBLK(node.stat().st_mode)


def test_a_socket_and_a_folder_are_refused_and_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(RunError, match="socket cannot be written"):
            files.write_text(Path("socket"), "a page\n")
        assert stat.S_ISSOCK(Path("socket").stat().st_mode)
    Path("folder").mkdir()
    Path("link").symlink_to("folder")
    for name in ("folder", "link"):
        with pytest.raises(RunError, match="it is a folder"):
            files.write_text(Path(name), "a page\n")
    assert sorted(p.name for p in tmp_path.rglob("*")) == [
        "folder",
        "link",
        "socket",
    ]


def test_a_link_stays_and_the_file_that_it_leads_to_is_replaced(
    tmp_path: Path,
) -> None:
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "elsewhere" / "page.html"
    links = {
        "old": "elsewhere/page.html",
        "chain": "old",
        "new": "elsewhere/new.html",
    }
    for link, target in links.items():
        (tmp_path / link).symlink_to(target)
    for link, name in (
        ("old", "page.html"),
        ("chain", "page.html"),
        ("new", "new.html"),
    ):
        file.write_text("before")
        files.write_text(tmp_path / link, "after")
        assert str((tmp_path / link).readlink()) == links[link]
        assert (file.parent / name).read_text() == "after"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RunError, match="loop cannot be written"):
        files.write_text(tmp_path / "loop", "after")


@pytest.mark.parametrize("name", ["/proc/self/fd/1", "link"])
def test_standard_output_gets_the_bytes_between_those_that_are_printed(
    tmp_path: Path, name: str
) -> None:
    # Not /dev/stdout, which leads there: a failing test run by root would replace it.
    if not Path("/proc/self/fd/1").exists():
        pytest.skip("this system has no names of open files")
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    code = (
        "import sys; from pathlib import Path; from beholder.base import files; print('before');"
        f" files.write_text(Path({name!r}), 'a page\\n'); print('after')"
    )
    into_file = tmp_path / "out"
    with into_file.open("wb") as out:
        subprocess.run(
            [sys.executable, "-c", code], check=True, cwd=tmp_path, stdout=out
        )
    piped = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=tmp_path,
        capture_output=True,
    )
    assert into_file.read_bytes() == piped.stdout == b"before\na page\nafter\n"


@each_case(
    ("data", "message"),
    [
        (b'{"a": 1}', "Expected `str`, got `int`"),
        (b"[", "Expected `object`, got `array`"),
        (b'{"a": ', "not JSON: "),
        (b'{"a": "\xff"}', "not UTF-8: "),
        ('{"a": "\\ud800"}', "not JSON: half of a surrogate pair"),
        (b'{"a": "\\udfff x"}', "not JSON: half of a surrogate pair"),
    ],
)
def test_json_of_others_that_is_no_record_says_why(
    data: bytes | str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        files.decode_json(data, dict[str, str])
    assert files.decode_json('{"a": "\\ud83d\\ude00"}', dict[str, str]) == {
        "a": "😀"
    }
    with pytest.raises(ValueError, match="nested too deeply"):
        files.decode_json(b"[" * 200_000, list[Any])


def test_a_pipe_that_nobody_reads_is_refused_and_not_waited_for(
    tmp_path: Path, pauses: list[float]
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(RunError, match="a pipe that no program reads"):
        files.write_text(fifo, "text")
    assert sum(pauses) == pytest.approx(2)  # a reader that starts now has time

"""Picture files that want something else: to run a program, to hang, to show what lies elsewhere."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from beholder.asking.tools import Pictures, for_model
from beholder.errors import ItemError
from beholder.media import (
    FORMATS,
    check_image,
    file_sha256,
    inside,
    load_image,
)

EPS = b"""%!PS-Adobe-3.0 EPSF-3.0
%%BoundingBox: 0 0 100 100
%%EndComments
showpage
%%EOF
"""


def test_postscript_under_the_name_of_a_picture_starts_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    log = tmp_path / "log"
    (programs / "gs").write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    (programs / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    file = tmp_path / "e.png"
    file.write_bytes(EPS)
    for read_picture in (check_image, load_image, for_model):
        with pytest.raises(
            ItemError,
            match=r"e\.png: not a picture in a format that can be read",
        ):
            read_picture(file)
    assert not log.exists()


@pytest.mark.parametrize("kind", ["PPM", "ICO", "TGA", "PCX", "SGI"])
def test_formats_beyond_the_list_are_refused(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "a.png"
    Image.new("RGB", (16, 16)).save(file, kind)
    with pytest.raises(ItemError, match=r"a\.png: not a picture .*JPEG, PNG"):
        load_image(file)


@pytest.mark.parametrize("kind", FORMATS)
def test_formats_of_the_list_are_read(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "a"
    Image.new("RGB", (16, 9)).save(file, kind)
    assert load_image(file).size == (16, 9)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    os.mkfifo(file)
    for read_picture in (check_image, load_image, for_model, file_sha256):
        with pytest.raises(
            ItemError,
            match=r"a\.png: cannot be read \(it is not a regular file\)",
        ):
            read_picture(file)


def test_a_device_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.symlink_to("/dev/zero")
    for read_picture in (check_image, load_image, for_model, file_sha256):
        with pytest.raises(ItemError, match="it is not a regular file"):
            read_picture(file)


def test_a_file_beyond_the_limit_of_bytes_is_refused_unread(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.png"
    with file.open("wb") as large:
        large.truncate(200_000_001)  # takes no room on the disk
    with pytest.raises(
        ItemError, match="200000001 bytes are more than the 200000000 read"
    ):
        load_image(file)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    elsewhere = tmp_path / "elsewhere"
    data.mkdir()
    elsewhere.mkdir()
    Image.new("RGB", (2, 2)).save(elsewhere / "private.png")
    (data / "file.png").symlink_to(elsewhere / "private.png")
    (data / "folder").symlink_to(elsewhere)
    for name in ("file.png", "folder/private.png", "../elsewhere/private.png"):
        with pytest.raises(
            ItemError, match=r"leads out of .*data by a link; copy the picture"
        ):
            Pictures(data).files([name])


def test_links_inside_the_folder_and_a_folder_that_is_a_link_are_good(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (2, 2)).save(data / "a.png")
    (data / "b.png").symlink_to(data / "a.png")
    (tmp_path / "link").symlink_to(data)
    assert load_image(inside(data, "b.png")).size == (2, 2)
    assert load_image(inside(tmp_path / "link", "b.png")).size == (2, 2)


def test_a_ring_of_links_is_an_item_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ItemError):
        load_image(inside(tmp_path, "a"))


def test_a_million_frames_are_not_counted(tmp_path: Path) -> None:
    header = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6)
    frame = (
        b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    )
    file = tmp_path / "a.gif"
    file.write_bytes(header + frame * 1_000_000 + b";")
    seeks = 0
    real = Image.Image.seek

    def counted(self: Image.Image, frame: int) -> None:
        nonlocal seeks
        seeks += 1
        real(self, frame)

    assert check_image(file).notes == (
        "holds several frames: the first is used",
    )
    assert load_image(file).size == (1, 1)
    assert seeks == 0


def test_text_that_unpacks_to_far_more_is_an_item_error(
    tmp_path: Path,
) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + crc

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    bomb = b"a\0\0" + zlib.compress(bytes(50_000_000))
    parts = chunk(b"IHDR", head) + chunk(b"zTXt", bomb) + chunk(b"IEND", b"")
    file = tmp_path / "a.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
    with pytest.raises(ItemError, match=r"a\.png: the picture is damaged"):
        load_image(file)

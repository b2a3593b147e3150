"""Each kind of picture file has one clear outcome."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest
from PIL import Image

from beholder.errors import ItemError
from beholder.media import (
    check_image,
    encode_jpeg,
    file_sha256,
    fit,
    inside,
    load_image,
)


def _png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and has no pixels: 60 bytes on disk."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + crc

    header = chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    )
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    "side", [11_000, 60_000]
)  # Pillow warns of the first, refuses the second
def test_a_decompression_bomb_is_refused_before_decoding(
    tmp_path: Path, side: int
) -> None:
    file = tmp_path / "bomb.png"
    file.write_bytes(_png_header(side, side))
    with pytest.raises(ItemError, match=r"bomb\.png: .*pixels"):
        load_image(file)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        (b"", "not a picture"),
        (b"no picture at all", "not a picture"),
    ],
)
def test_missing_and_foreign_files_are_named(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "a.jpg"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ItemError, match=rf"a\.jpg: {reason}"):
        load_image(file)


def test_a_folder_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(ItemError, match="cannot be read"):
        check_image(tmp_path)


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_a_truncated_picture_is_damaged_not_half_grey(
    tmp_path: Path, kind: str
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, kind)
    file = tmp_path / f"cut.{kind}"
    file.write_bytes(buffer.getvalue()[: len(buffer.getvalue()) // 2])
    with pytest.raises(ItemError, match="the picture is damaged"):
        load_image(file)


def test_an_animation_gives_its_first_frame_and_says_so(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.gif"
    red, blue = (
        Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")
    )
    red.save(file, save_all=True, append_images=[blue])
    assert load_image(file).getpixel((0, 0)) == (255, 0, 0)
    assert check_image(file).notes == (
        "holds several frames: the first is used",
    )


def test_a_rotated_picture_is_turned_upright(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    lying = Image.new("RGB", (4, 2), "black")
    lying.putpixel((0, 0), (255, 255, 255))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to see it upright
    lying.save(file, exif=exif)
    picture = check_image(file)
    assert (picture.width, picture.height) == (2, 4)
    upright = load_image(file)
    assert upright.size == (2, 4)
    assert upright.getpixel((1, 0)) == (
        255,
        255,
        255,
    )  # top left turned to top right


def test_grey_cmyk_16_bit_and_transparent_become_rgb(tmp_path: Path) -> None:
    Image.new("L", (2, 2), 77).save(tmp_path / "grey.png")
    Image.new("CMYK", (2, 2), (0, 255, 255, 0)).save(tmp_path / "cmyk.tiff")
    Image.fromarray(np.full((2, 2), 0x8040, np.uint16)).save(
        tmp_path / "deep.png"
    )
    Image.new("RGBA", (2, 2), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    assert load_image(tmp_path / "grey.png").getpixel((0, 0)) == (77, 77, 77)
    assert load_image(tmp_path / "cmyk.tiff").getpixel((0, 0)) == (255, 0, 0)
    assert load_image(tmp_path / "deep.png").getpixel((0, 0)) == (
        0x80,
        0x80,
        0x80,
    )
    assert load_image(tmp_path / "clear.png").getpixel((0, 0)) == (
        255,
        255,
        255,
    )
    assert "CMYK" in check_image(tmp_path / "cmyk.tiff").notes[0]


def test_floating_point_pixels_are_refused(tmp_path: Path) -> None:
    Image.new("F", (2, 2), 0.5).save(tmp_path / "a.tiff")
    with pytest.raises(ItemError, match="no agreed range"):
        load_image(tmp_path / "a.tiff")


def test_the_exif_date_of_taking_is_told(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "1928:03:07 10:11:12"
    Image.new("L", (2, 2)).save(tmp_path / "a.jpg", exif=exif)
    assert check_image(tmp_path / "a.jpg").date == "1928:03:07 10:11:12"


def test_fit_keeps_the_shape_and_never_enlarges() -> None:
    assert fit(Image.new("L", (1024, 512)), 256).size == (256, 128)
    assert fit(Image.new("L", (10, 5)), 256).size == (10, 5)
    assert fit(Image.new("L", (5000, 1)), 10).size == (10, 1)


def test_loading_small_gives_the_wanted_side(tmp_path: Path) -> None:
    Image.new("RGB", (900, 600), "green").save(tmp_path / "a.jpg")
    assert load_image(tmp_path / "a.jpg", max_side=90).size == (90, 60)


def test_encoding_drops_metadata(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    Image.new("RGB", (2, 2)).save(tmp_path / "a.jpg", exif=exif)
    assert b"secret" in (tmp_path / "a.jpg").read_bytes()
    assert b"secret" not in encode_jpeg(load_image(tmp_path / "a.jpg"))


def test_file_hash_is_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert file_sha256(tmp_path / "a").startswith(
        "ba7816bf8f01cfea414140de5dae2223"
    )
    with pytest.raises(ItemError, match="there is no such file"):
        file_sha256(tmp_path / "b")


@pytest.mark.parametrize(("disk", "table"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_is_found_in_both_forms_of_its_accents(
    tmp_path: Path, disk: Literal["NFC", "NFD"], table: Literal["NFC", "NFD"]
) -> None:
    name = "\u00e9t\u00e9/f\u00eate.png"
    file = tmp_path / normalize(disk, name)
    file.parent.mkdir()
    Image.new("RGB", (2, 2)).save(file)
    assert inside(tmp_path, normalize(table, name)) == file
    missing = normalize(table, "\u00e9t\u00e9/caf\u00e9.png")
    assert inside(tmp_path, missing).name == Path(missing).name

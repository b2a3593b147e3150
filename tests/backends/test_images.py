"""Pictures of all kinds, readable or not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image as PILImage

from beholder.backends.images import load_image
from beholder.errors import ItemError


def opened(data: bytes) -> PILImage.Image:
    return PILImage.open(io.BytesIO(data))


def test_plain_file_is_sent_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    PILImage.new("RGB", (30, 20), (200, 10, 10)).save(path)
    image = load_image(path, longest_side=30)
    assert image.data == path.read_bytes()
    assert image.media_type == "image/png"


def test_large_picture_is_scaled_with_its_shape_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    PILImage.new("RGB", (400, 100)).save(path)
    image = load_image(path, longest_side=200)
    assert opened(image.data).size == (200, 50)
    assert image.media_type == "image/jpeg"


def test_rotated_picture_is_turned_upright(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = PILImage.Exif()
    exif[0x0112] = 6  # to be turned a quarter
    PILImage.new("RGB", (40, 20)).save(path, exif=exif)
    assert opened(load_image(path).data).size == (20, 40)


@pytest.mark.parametrize(("mode", "suffix"), [("CMYK", "jpg"), ("P", "gif"), ("I;16", "png")])
def test_unusual_formats_become_jpeg(tmp_path: Path, mode: str, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    PILImage.new(mode, (8, 8)).save(path)
    found = opened(load_image(path).data)
    assert (found.format, found.mode) == ("JPEG", "RGB")


def test_missing_broken_and_cut_off_files_are_named(tmp_path: Path) -> None:
    whole = io.BytesIO()
    PILImage.effect_noise((200, 200), 50).save(whole, "PNG")
    cut = tmp_path / "cut.png"
    cut.write_bytes(whole.getvalue()[:2000])
    text = tmp_path / "text.png"
    text.write_text("no picture")
    for path in (tmp_path / "none.png", text, cut, tmp_path):
        with pytest.raises(ItemError, match="cannot be read"):
            load_image(path)


def test_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.png"
    PILImage.new("L", (200, 200)).save(path)
    monkeypatch.setattr(PILImage, "MAX_IMAGE_PIXELS", 10_000)
    with pytest.raises(ItemError, match="cannot be read"):
        load_image(path)

"""Pictures of pages: small, encoded anew, from one folder only."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from starlette.requests import Request

from beholder.errors import ItemError
from beholder.web.pictures import SmallPictures


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    exif = Image.Exif()
    exif[0x010E] = "a secret description"
    Image.new("RGB", (800, 400), "red").save(folder / "a.png")
    Image.new("RGB", (80, 40), "red").save(folder / "b.jpg", exif=exif)
    Image.new("RGB", (80, 40), "blue").save(tmp_path / "outside.png")
    (folder / "note.jpg").write_text(
        "<script>no picture</script>", encoding="utf-8"
    )
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    return folder


def test_a_picture_is_made_smaller_and_encoded_anew(root: Path) -> None:
    image = Image.open(io.BytesIO(SmallPictures(root).jpeg("a.png", 240)))
    assert (image.format, image.size) == ("JPEG", (240, 120))


def test_small_pictures_have_no_metadata(root: Path) -> None:
    assert b"secret" in (root / "b.jpg").read_bytes()
    assert b"secret" not in SmallPictures(root).jpeg("b.jpg", 240)


@pytest.mark.parametrize(
    "name",
    ["../outside.png", "link.png", "/etc/passwd", "a.png/../../outside.png", "\x00", "none.png",
     "note.jpg", "", ".", "..", "/dev/zero"],
)  # fmt: skip
def test_files_outside_the_folder_and_files_that_are_not_pictures_are_refused(
    root: Path, name: str
) -> None:
    with pytest.raises(ItemError):
        SmallPictures(root).jpeg(name, 240)


def test_absolute_names_must_be_inside_the_folder(root: Path) -> None:
    SmallPictures(root).jpeg(str(root / "a.png"), 240)
    with pytest.raises(ItemError, match="outside"):
        SmallPictures(root).jpeg(str(root.parent / "outside.png"), 240)


def test_a_changed_file_is_read_again(root: Path) -> None:
    import os

    pictures = SmallPictures(root)
    before = pictures.jpeg("a.png", 240)
    Image.new("RGB", (800, 400), "green").save(root / "a.png")
    os.utime(root / "a.png", ns=(1, 1))
    assert pictures.jpeg("a.png", 240) != before


def test_a_browser_that_has_the_picture_gets_status_304(root: Path) -> None:
    def request_with_tag(tag: str) -> Request:
        return Request(
            {"type": "http", "headers": [(b"if-none-match", tag.encode())]}
        )

    pictures = SmallPictures(root)
    answer = pictures.response(request_with_tag("x"), "a.png", 240)
    assert (answer.status_code, answer.media_type) == (200, "image/jpeg")
    again = pictures.response(
        request_with_tag(answer.headers["etag"]), "a.png", 240
    )
    assert (again.status_code, again.body) == (304, b"")

"""What is sent of each kind of picture file, through each door, is what the page shows of it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from PIL import Image

from beholder.asking.tools import for_model
from beholder.backends import Scripted
from beholder.errors import ItemError
from beholder.judges import LLMJudge
from beholder.kinds.generation.askers import CaptionRow
from beholder.kinds.narratives.judging import by_sight
from beholder.metrics import Tools
from beholder.records import Frame, Item
from beholder.run.thumbs import thumb, write_thumbs
from toy.cases import each_case

Colour: TypeAlias = tuple[int, int, int]
SIDE = 96


def _plain(colour: Any, mode: str = "RGB") -> Image.Image:
    return Image.new(mode, (64, 32), colour)


def _half_clear() -> Image.Image:
    """Left half a red seen by half, right half clear over a hidden black."""
    image = _plain((0, 0, 0, 0), "RGBA")
    image.paste((255, 0, 0, 128), (0, 0, 32, 32))
    return image


def _deep() -> Image.Image:
    tones = np.full((32, 64), 0x4000, np.uint16)
    tones[:, 32:] = 0xC000
    return Image.fromarray(tones)


def _left_red(mode: str = "RGB") -> Image.Image:
    image = _plain((0, 0, 255))
    image.paste((255, 0, 0), (0, 0, 32, 32))
    return image.convert(mode)


def _palette_with_clear_entry() -> Image.Image:
    image = _left_red("P")
    image.info["transparency"] = image.getpixel((60, 10))
    return image


def _turned(orientation: int) -> dict[str, Any]:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return {"exif": exif}


RED = (255, 0, 0)
BLUE = (0, 0, 255)
WHITE = (255, 255, 255)
BLACK = (0, 0, 0)
# File, picture, how it is saved, size as sent, colours near the upper left and lower right corner,
# whether the file is sent as it is.
CASES: dict[str, tuple[str, Image.Image, dict[str, Any], tuple[int, int], Colour, Colour, bool]] = {
    "rgb": ("a.png", _left_red(), {}, (64, 32), RED, BLUE, True),
    "jpeg": ("a.jpg", _plain((10, 200, 30)), {}, (64, 32), (10, 200, 30), (10, 200, 30), True),
    "webp": ("a.webp", _left_red(), {"lossless": True}, (64, 32), RED, BLUE, True),
    "greyscale": ("a.png", _plain(77, "L"), {}, (64, 32), (77, 77, 77), (77, 77, 77), True),
    "black and white": ("a.png", _plain(1, "1"), {}, (64, 32), WHITE, WHITE, False),
    # 255 * 128/255 of red over 255 * 127/255 of white: red stays 255, green and blue are 127
    "alpha": ("a.png", _half_clear(), {}, (64, 32), (255, 127, 127), WHITE, False),
    "grey with alpha": ("a.png", _plain((0, 0), "LA"), {}, (64, 32), WHITE, WHITE, False),
    "clear colour": (
        "a.png", _left_red(), {"transparency": (0, 0, 255)}, (64, 32), RED, WHITE, False
    ),
    "palette": ("a.gif", _left_red("P"), {}, (64, 32), RED, BLUE, False),
    "palette with clear entry": (
        "a.png", _palette_with_clear_entry(), {}, (64, 32), RED, WHITE, False
    ),
    "16-bit grey": ("a.png", _deep(), {}, (64, 32), (0x40,) * 3, (0xC0,) * 3, False),
    "16-bit grey tiff": ("a.tiff", _deep(), {}, (64, 32), (0x40,) * 3, (0xC0,) * 3, False),
    # No cyan and full magenta and yellow is red; half black halves white
    "cmyk": ("a.tiff", _plain((0, 255, 255, 0), "CMYK"), {}, (64, 32), RED, RED, False),
    "cmyk jpeg": (
        "a.jpg", _plain((0, 0, 0, 127), "CMYK"), {}, (64, 32), (128,) * 3, (128,) * 3, False
    ),
    # EXIF: 6 is seen upright after a quarter clockwise, so that left comes to the top; 8 is the
    # quarter back, and left comes to the bottom; 3 is upside down
    "rotated 6": ("a.jpg", _left_red(), _turned(6), (32, 64), RED, BLUE, False),
    "rotated 8": ("a.jpg", _left_red(), _turned(8), (32, 64), BLUE, RED, False),
    "rotated 3": ("a.png", _left_red(), _turned(3), (64, 32), BLUE, RED, False),
    "animated": (
        "a.gif", _plain(RED), {"save_all": True, "append_images": [_plain(BLUE)]},
        (64, 32), RED, RED, False,
    ),
    "animated png": (
        "a.png", _plain(RED), {"save_all": True, "append_images": [_plain(BLUE)]},
        (64, 32), RED, RED, False,
    ),
    "bitmap": ("a.bmp", _left_red(), {}, (64, 32), RED, BLUE, False),
}  # fmt: skip


def _by_metric(file: Path) -> bytes:
    (image,) = asyncio.run(
        Tools(folder=file.parent).pictures.read([file.name], SIDE)
    )
    return image.data


def _by_caption(file: Path) -> bytes:
    backend = Scripted(
        lambda request: "word " * 40
    )  # of the length that is asked for
    item = Item("a", "", images=(file.name,))
    asyncio.run(
        CaptionRow("j").make(
            item, LLMJudge(backend), Tools(folder=file.parent)
        )
    )
    ((image,),) = (request.images for request in backend.requests)
    return image.data


def _by_sight(file: Path) -> bytes:
    context = asyncio.run(
        by_sight(Frame("a", file.name), Tools(folder=file.parent), SIDE)
    )
    assert context.image is not None
    return context.image.data


def _by_thumbnail(file: Path) -> bytes:
    assert (
        write_thumbs(file.parent, file.parent, [("a", file.name)], SIDE) == []
    )
    return thumb(file.parent, 0).read_bytes()


DOORS = {
    "metric": _by_metric,
    "caption": _by_caption,
    "narrate": _by_sight,
    "thumbnail": _by_thumbnail,
}


def _saved(case: str, folder: Path) -> Path:
    name, image, options, *_ = CASES[case]
    image.save(folder / name, **options)
    return folder / name


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", CASES)
def test_every_door_shows_the_same_picture(
    case: str, door: str, tmp_path: Path
) -> None:
    *_, size, upper_left, lower_right, _ = CASES[case]
    with Image.open(io.BytesIO(DOORS[door](_saved(case, tmp_path)))) as sent:
        assert getattr(sent, "n_frames", 1) == 1
        assert "exif" not in sent.info
        assert not sent.has_transparency_data
        assert sent.size == size
        pixels = np.asarray(sent.convert("RGB"), dtype=int)
    width, height = size
    corners = pixels[4, 4], pixels[height - 5, width - 5]
    # JPEG rounds, and halves the resolution of colours: a few of 255 tones
    assert (
        np.abs(np.array(corners) - np.array((upper_left, lower_right))).max()
        <= 4
    )


@each_case("case", CASES)
def test_a_file_is_sent_as_it_is_only_where_every_reader_sees_the_same(
    case: str, tmp_path: Path
) -> None:
    file = _saved(case, tmp_path)
    sent = for_model(file)
    assert (sent.data == file.read_bytes()) is CASES[case][-1]
    with Image.open(io.BytesIO(sent.data)) as image:
        assert image.mode in ("RGB", "L")
        assert sent.media_type == Image.MIME[image.format or ""]


@pytest.mark.parametrize(("max_side", "size"), [(None, (64, 32)), (64, (64, 32)), (63, (63, 32)), (16, (16, 8))])  # fmt: skip
def test_a_picture_is_scaled_only_where_it_is_too_large(
    max_side: int | None, size: tuple[int, int], tmp_path: Path
) -> None:
    file = _saved("rgb", tmp_path)
    sent = for_model(file, max_side)
    assert Image.open(io.BytesIO(sent.data)).size == size
    assert (sent.data == file.read_bytes()) is (size == (64, 32))


def _cut(file: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(file, "PNG")
    file.write_bytes(file.read_bytes()[:4000])


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda file: None, "there is no such file"),
    "foreign": (lambda file: file.write_text("no picture"), "not a picture"),
    "cut off": (_cut, "the picture is damaged"),
    "a folder": (lambda file: file.mkdir(), "cannot be read"),
    "too large": (
        lambda file: Image.new("1", (10_001, 10_000)).save(file), "10001 x 10000 pixels are more"
    ),
}  # fmt: skip


@pytest.mark.parametrize("door", ["metric", "caption", "narrate"])
@pytest.mark.parametrize("case", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_with_its_reason(
    case: str, door: str, tmp_path: Path
) -> None:
    make, reason = UNREADABLE[case]
    make(tmp_path / "b.png")
    with pytest.raises(ItemError, match=rf"b\.png: {reason}"):
        DOORS[door](tmp_path / "b.png")


@pytest.mark.parametrize(
    "name", ["https://example.org/a.png", "data:image/png;base64,AAAA"]
)
def test_a_picture_on_the_web_is_refused(name: str) -> None:
    with pytest.raises(
        ItemError, match="is not a file; fetch it and name the file"
    ):
        asyncio.run(Tools().pictures.read([name]))

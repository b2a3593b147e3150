"""Large pictures: how much memory they take, one and several at once, and that pixels stay."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from beholder.media import load_image, pixels
from beholder.media.limits import Room

SIDE = 5_000
MEGABYTES = 4 * SIDE * SIDE / 2**20  # of one copy, as Pillow holds RGB

_CHILD = """
import os, sys, threading
from pathlib import Path
from typing import Any
from beholder.asking.tools import for_model
from beholder.media import limits

def peak():
    line, = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x]
    return int(line.split()[1]) / 1024

groups = [[Path(name) for name in group.split(":")] for group in sys.argv[1:]]
for_model(groups[0][0].with_name("small.png"), 512)  # all that is loaded on first use
for group in groups:
    if os.fork():
        assert os.wait()[1] == 0
        continue
    limits._room = limits.Room(25_000_000)  # a fork begins with its own
    before = peak()
    threads = [threading.Thread(target=for_model, args=(file, 512)) for file in group]
    for one in threads: one.start()
    for one in threads: one.join()
    print(peak() - before, flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of one colour: a few kB each, and 25 million pixels."""
    folder = tmp_path_factory.mktemp("pictures")
    for mode in ("I;16", "LA", "RGBA", "RGB"):
        file = folder / f"{mode.replace(';', '')}.png"
        Image.new(mode, (SIDE, SIDE)).save(file, compress_level=1)
    Image.new("1", (SIDE, SIDE)).save(folder / "1.tif", compression="group4")
    Image.new("RGB", (16, 16)).save(folder / "small.png")
    return folder


def _grown(*groups: list[Path]) -> list[float]:
    """Megabytes of each group of pictures at its peak; a group is read at once, by a fork."""
    arguments = [":".join(map(str, files)) for files in groups]
    call = [sys.executable, "-c", _CHILD, *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="peak memory is read in /proc",
)
@pytest.mark.slow
class TestMemory:
    """Bounds are the pixels that are decoded, and 90 MB of bands and results."""

    def test_one_picture_is_never_copied_whole(self, folder: Path) -> None:
        copies_by_name = {
            "I16.png": 0.5,
            "LA.png": 1,
            "RGBA.png": 1,
            "RGB.png": 1,
            "1.tif": 0.25,
        }
        grown = _grown(*([folder / name] for name in copies_by_name))
        outside = {
            name: megabytes
            for (name, copies), megabytes in zip(
                copies_by_name.items(), grown, strict=True
            )
            if not 0 < megabytes < copies * MEGABYTES + 90
        }
        assert not outside

    def test_six_at_once_take_far_less_than_six_times_one(
        self, folder: Path
    ) -> None:
        files = [
            folder / f"{mode}.png"
            for mode in ("RGBA", "LA", "I16", "RGBA", "LA", "RGB")
        ]
        (megabytes,) = _grown(files)
        assert megabytes < 2.5 * MEGABYTES + 90


@pytest.mark.parametrize(
    "kind", ["L", "I;16", "LA", "RGBA", "P", "1", "RGB", "clear"]
)
@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_bands_give_the_pixels_of_the_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    orientation: int,
) -> None:
    noise = np.random.default_rng(5).integers(
        0, 256, (301, 211, 4), dtype=np.uint8
    )
    if kind == "I;16":
        picture = Image.fromarray(
            noise.astype(np.uint16)[..., 0] * 256 + noise[..., 1]
        )
    else:
        picture = Image.fromarray(noise).convert(
            "RGB" if kind == "clear" else kind
        )
    extra: dict[str, Any] = (
        {"transparency": (255, 0, 0)} if kind == "clear" else {}
    )
    exif = Image.Exif()
    exif[0x112] = orientation
    picture.save(tmp_path / "a.png", exif=exif, **extra)
    # The same by Pillow alone, of the whole picture.
    whole: Image.Image = Image.open(tmp_path / "a.png")
    if kind == "I;16":
        whole = Image.fromarray((np.asarray(whole) >> 8).astype(np.uint8))
    elif whole.has_transparency_data:
        rgba = whole.convert("RGBA")
        whole = Image.alpha_composite(
            Image.new("RGBA", rgba.size, "white"), rgba
        )
    rgb = whole.convert("RGB")
    rgb.getexif()[0x112] = orientation
    upright = ImageOps.exif_transpose(rgb)
    size = (
        (50, round(50 * 211 / 301))
        if orientation == 6
        else (round(50 * 211 / 301), 50)
    )
    expected = np.asarray(
        upright.resize(size, Image.Resampling.LANCZOS), dtype=int
    )
    monkeypatch.setattr(pixels, "BAND_PIXELS", 3_000)
    assert np.array_equal(
        np.asarray(load_image(tmp_path / "a.png", max_side=50)), expected
    )
    assert np.array_equal(
        np.asarray(load_image(tmp_path / "a.png")), np.asarray(upright)
    )
    monkeypatch.setattr(pixels, "LARGE", 0)
    scaled = np.asarray(load_image(tmp_path / "a.png", max_side=50), dtype=int)
    # Rows and columns are scaled one after the other, and what comes between is rounded to bytes.
    assert scaled.shape == expected.shape
    assert np.abs(scaled - expected).max() <= (0 if orientation == 1 else 3)


def test_only_so_many_pixels_are_decoded_at_once() -> None:
    room = Room(100)
    lock = threading.Lock()
    running: list[int] = []
    running_counts: list[list[int]] = []

    def decode(n_pixels: int) -> None:
        with room.reserve(n_pixels):
            with lock:
                running.append(n_pixels)
                running_counts.append(running.copy())
            threading.Event().wait(0.002)
            with lock:
                running.remove(n_pixels)

    sizes = random.Random(3).choices([10, 40, 60, 100, 250], k=40)
    threads = [threading.Thread(target=decode, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(running_counts) == 40
    assert all(sum(some) <= 100 or len(some) == 1 for some in running_counts)
    assert any(
        len(some) > 1 for some in running_counts
    )  # small ones go together


def test_a_wait_that_is_broken_off_leaves_the_room_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    room = Room(100)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with room.reserve(100):
        monkeypatch.setattr(room._changed, "wait_for", interrupted)
        with pytest.raises(KeyboardInterrupt), room.reserve(10):
            pass
        monkeypatch.undo()
    with room.reserve(100):
        pass

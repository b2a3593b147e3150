"""How many words of drawn pictures the reader of ``lint --read-pictures`` reads, and how many more.

    make .venv-ocr/.ready
    .venv-ocr/bin/python -m benchmarks.words_in_pictures [--pictures N] [--keep FOLDER]

Each picture has one to three lines of words and numbers in a font, size, colour, rotation (up to 10
degrees) and background that are drawn by chance. Fonts are those that matplotlib brings. A word
counts as read if it is among the clear words of the picture, letter for letter but for case.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from beholder.media.reading import clear_words, picture_reader
from beholder.text.edits import plain_words, words_left_out

TEXTS = (
    "Grand opening Saturday",
    "Closed on Mondays",
    "Free entry until 17:30",
    "Sale 50 percent",
    "Mind the gap",
    "Platform 12",
    "Please do not touch",
    "Fresh bread daily",
    "Harbour tours 1998",
    "Emergency exit",
    "Annual report 2025",
    "Visitors 48 210",
    "Lost and found",
    "Bicycle parking",
    "Library reading room",
    "Kein Zutritt",
    "Vorsicht Stufe",
    "Öffnungszeiten täglich",
    "Bäckerei Müller",
    "Ausgang links",
    "Défense de fumer",
    "Entrée libre",
    "Prochaine séance 20 heures",
    "Salida de emergencia",
    "Museo cerrado",
    "Niños gratis",
    "Temperature in degrees",
    "Wanted reward 500 dollars",
    "Vote for change",
    "Speed limit 30",
)
FONTS = (
    *("DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique"),
    *("DejaVuSansMono", "DejaVuSerif", "DejaVuSerif-Bold"),
    *("DejaVuSerif-Italic", "STIXGeneral", "STIXGeneralBol"),
    "STIXGeneralItalic",
)
SIZES = (14, 18, 24, 36, 56)
BACKGROUNDS = ("plain", "gradient", "noise", "stripes")
_LEAST_CONTRAST = 3.0
"""Least contrast of large text by WCAG 2.2 (1.4.3)."""


@dataclass(frozen=True)
class Drawing:
    """A picture with known words.

    Attributes:
        image: The picture.
        words: Words that are drawn, of two characters and more.
        traits: Values of what was drawn by chance, by name.
    """

    image: Image.Image
    words: tuple[str, ...]
    traits: dict[str, str]


def luminance(colour: tuple[int, int, int]) -> float:
    """Return the relative luminance of WCAG 2.2, from 0 to 1."""
    channels = [value / 255 for value in colour]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(
    first: tuple[int, int, int], second: tuple[int, int, int]
) -> float:
    """Return the contrast of two colours by WCAG 2.2, from 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def _colours(
    rng: random.Random,
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    while True:
        ink, ground = (
            (rng.randrange(256), rng.randrange(256), rng.randrange(256))
            for _ in range(2)
        )
        if contrast(ink, ground) >= _LEAST_CONTRAST:
            return ink, ground


def _ground(
    kind: str, size: tuple[int, int], colour: tuple[int, int, int], seed: int
) -> Image.Image:
    """Return a background around a colour: what changes is at most 24 of 255."""
    width, height = size
    shift = np.zeros((height, width, 1))
    if kind == "gradient":
        shift += np.linspace(-24, 24, width)[None, :, None]
    elif kind == "noise":
        shift += np.random.default_rng(seed).integers(
            -24, 25, (height, width, 1)
        )
    elif kind == "stripes":
        shift += 24 * ((np.arange(height) // 12) % 2)[:, None, None]
    pixels = np.clip(np.array(colour) + shift, 0, 255)
    return Image.fromarray(pixels.astype(np.uint8))


def draw(seed: int, fonts: Path) -> Drawing:
    """Return the drawing of a seed."""
    rng = random.Random(seed)
    lines = rng.sample(TEXTS, rng.randint(1, 3))
    name, size = rng.choice(FONTS), rng.choice(SIZES)
    kind, angle = rng.choice(BACKGROUNDS), rng.uniform(-10, 10)
    ink, colour = _colours(rng)
    font = ImageFont.truetype(str(fonts / f"{name}.ttf"), size)
    text = "\n".join(lines)
    mask = Image.new("L", (1, 1))
    box = ImageDraw.Draw(mask).multiline_textbbox((0, 0), text, font)
    margin = 2 * size
    mask = Image.new("L", (int(box[2]) + 2 * margin, int(box[3]) + 2 * margin))
    ImageDraw.Draw(mask).multiline_text((margin, margin), text, 255, font)
    mask = mask.rotate(angle, Image.Resampling.BICUBIC, expand=True)
    image = _ground(kind, mask.size, colour, seed)
    image.paste(ink, mask=mask)
    words = tuple(word for word in plain_words(text) if len(word) > 1)
    steep = "5 to 10 degrees" if abs(angle) > 5 else "up to 5 degrees"
    ratio = "contrast under 4.5" if contrast(ink, colour) < 4.5 else "4.5 up"
    return Drawing(
        image,
        words,
        {
            "size": f"{size} px",
            "rotation": steep,
            "background": kind,
            "contrast": ratio,
            "font": name,
        },
    )


def measure(
    drawings: list[Drawing], read: Callable[[Image.Image], list[str]]
) -> None:
    """Print the shares of words, of all drawings and by each trait."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    n_false = n_read_words = 0
    for drawing in drawings:
        read_words = read(drawing.image)
        folded = {word.casefold() for word in read_words}
        n_read_words += len(read_words)
        false_words = words_left_out(read_words, drawing.words)
        n_false += len(false_words)
        if false_words:
            print(f"not drawn: {false_words} in {drawing.words}")
        words = {word.casefold() for word in drawing.words}
        present = words - set(words_left_out(words, read_words))
        for trait in [("all", "all"), *drawing.traits.items()]:
            row = counts[trait]
            row[0] += len(words)
            row[1] += len(words & folded)
            row[2] += len(present)
    for (name, value), (n, n_exact, n_present) in sorted(counts.items()):
        print(
            f"{name:10} {value:20} {n:4} words: {n_exact / n:.3f} letter for letter,"
            f" {n_present / n:.3f} as lint compares"
        )
    print(f"words that were not drawn: {n_false} of {n_read_words} read")


def main() -> None:
    """Draw, read and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder for the drawings")
    options = parser.parse_args()
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    drawings = [draw(seed, fonts) for seed in range(options.pictures)]
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        for seed, drawing in enumerate(drawings):
            drawing.image.save(options.keep / f"{seed}.png")
    reader = picture_reader("rapidocr")
    began = time.perf_counter()
    measure(drawings, lambda image: clear_words(reader.lines(image)))
    seconds = (time.perf_counter() - began) / len(drawings)
    print(f"{reader.identity}: {seconds:.1f} s a picture")


if __name__ == "__main__":
    main()

"""Words in pictures, read by optical character recognition (extra ``ocr``)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from PIL import Image

from beholder.base.optional import require
from beholder.errors import ConfigError, ItemError
from beholder.media.image import load_image
from beholder.text.edits import is_dense, plain_words

READ_SIDE = 1600
"""Pixels of the longer side at which a picture is read."""

CONFIDENCE = 0.9
"""Least confidence of a line whose words count. Clear print has 0.95 and more; what is read into
leaves, fences and patterns mostly has less."""

MOST_WORDS = 200
"""Words of a picture that count, the first from the top: a scanned page has more."""

_LEAST_SIDE = 16
"""Pixels below which no letter can be recognised: rules, dots and tracking pixels."""

_MOST_ASPECT = 4
"""Longer side by the shorter one at most, the rest is padded: the recogniser enlarges the shorter
side to 736 pixels, and would need gigabytes for a strip."""

_WEIGHTS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}


class TextLine(NamedTuple):
    """A line of text in a picture.

    Attributes:
        text: Its characters.
        confidence: How sure the recogniser is, from 0 to 1.
    """

    text: str
    confidence: float


class PictureReader(Protocol):
    """A recogniser of text in pictures.

    Attributes:
        identity: Name and version, as signatures and reports state them.
        per_process: Whether every worker process may create its own.
    """

    identity: str
    per_process: ClassVar[bool]

    def lines(self, picture: Image.Image) -> Sequence[TextLine]:
        """Return the lines of an RGB picture, from the top.

        Raises:
            ItemError: The recogniser fails on this picture.
        """


class RapidReader:
    """PP-OCRv6 (Latin and Chinese scripts) by rapidocr, with the weights of its wheel.

    Nothing is fetched. About 2 s a picture on two cores; the confidences may differ in the last
    digits between processors.

    Raises:
        ConfigError: The wheel's weights are not where this version has them.
        MissingExtraError: The extra ``ocr`` is not installed.
    """

    per_process: ClassVar[bool] = False

    def __init__(self) -> None:
        package = require(
            "rapidocr", extra="ocr", purpose="reading words in pictures"
        )
        self.identity = f"rapidocr@{version('rapidocr')}"
        folder = Path(str(package.__file__)).parent / "models"
        # Named, as rapidocr fetches what it does not find under its own names.
        settings: dict[str, object] = {"Global.log_level": "critical"}
        for part, name in _WEIGHTS.items():
            if not (folder / name).is_file():
                raise ConfigError(
                    f"{self.identity} has no weights {name}; reinstall it: rapidocr>=3.10,<3.11"
                )
            settings[f"{part}.model_path"] = str(folder / name)
        self._recogniser = package.RapidOCR(params=settings)
        # It keeps the sizes of the picture at hand in its attributes.
        self._lock = threading.Lock()

    def lines(self, picture: Image.Image) -> Sequence[TextLine]:
        """Return the lines of an RGB picture, as ``PictureReader`` says."""
        if min(picture.size) < _LEAST_SIDE:
            return ()
        # BGR, as OpenCV has it.
        pixels = np.asarray(_padded(picture))[:, :, ::-1]
        try:
            with self._lock:
                result = self._recogniser(pixels)
        # A library that reads pictures of strangers may raise anything.
        except Exception as error:
            raise ItemError(
                f"{self.identity} fails on the picture ({type(error).__name__}: {error})"
            ) from error
        return [
            TextLine(text, float(confidence))
            for text, confidence in zip(
                result.txts or (), result.scores or (), strict=True
            )
        ]


def _padded(picture: Image.Image) -> Image.Image:
    """Return a strip on a white ground, so that it is at most so much longer than wide."""
    width, height = picture.size
    size = (
        max(width, height // _MOST_ASPECT),
        max(height, width // _MOST_ASPECT),
    )
    if size == picture.size:
        return picture
    ground = Image.new("RGB", size, "white")
    ground.paste(picture)
    return ground


def picture_reader(spec: str) -> PictureReader:
    """Return the reader that a spec names; there is one, ``rapidocr``.

    Raises:
        ConfigError: There is no reader of this name.
        MissingExtraError: Its package is not installed.
    """
    if spec != "rapidocr":
        raise ConfigError(
            f"reader={spec!r}: there is no such reader of pictures; expected 'rapidocr'"
        )
    return RapidReader()


def clear_words(lines: Iterable[TextLine]) -> list[str]:
    """Return the words that are read with confidence, each once, as the picture has them.

    A single character is no word, except in scripts without blanks: most are borders and icons.
    """
    words_by_fold: dict[str, str] = {}
    for line in lines:
        if line.confidence < CONFIDENCE:
            continue
        for word in plain_words(line.text):
            if len(word) > 1 or is_dense(word):
                words_by_fold.setdefault(word.casefold(), word)
    return list(words_by_fold.values())[:MOST_WORDS]


def read_words(reader: PictureReader, file: Path) -> list[str]:
    """Return the clear words of a picture file, scaled to at most ``READ_SIDE``.

    Raises:
        ItemError: It is missing, damaged, no picture, or too large; or the reader fails on it.
    """
    return clear_words(reader.lines(load_image(file, max_side=READ_SIDE)))

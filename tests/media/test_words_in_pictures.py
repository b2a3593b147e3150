"""Words in pictures: which count, which a text has, and what the recogniser reads offline."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from beholder.errors import ConfigError, MissingExtraError
from beholder.media.reading import (
    MOST_WORDS,
    TextLine,
    clear_words,
    picture_reader,
    read_words,
)
from beholder.text.edits import words_left_out
from toy.without import without


def test_words_of_sure_lines_count_once() -> None:
    lines = [
        TextLine("Open  OPEN daily, 9-17", 0.97),
        TextLine("leaves", 0.6),
        TextLine("a | x 出口", 0.95),
    ]
    assert clear_words(lines) == ["Open", "daily", "17", "出", "口"]
    many = TextLine(" ".join(f"w{n}" for n in range(1000)), 1.0)
    assert len(clear_words([many])) == MOST_WORDS


def test_words_left_out_forgive_errors_of_reading_and_no_other() -> None:
    cases = [
        (["STOP"], "A sign: stop", []),
        (["Grandopening"], "Grand opening today", []),  # a lost blank
        (["restau", "rant"], "The restaurant", []),  # a blank too many
        (["Resteurant"], "The restaurant", []),  # one wrong of ten
        (["Rasteurand"], "The restaurant", ["Rasteurand"]),  # three of ten
        (["cat"], "A category", ["cat"]),  # a short part is no word
        (["1998"], "Built in 1999", ["1998"]),  # another number
        (["17"], "Open to 17:30", []),
        (["ÖFFNUNG"], "Öffnung um neun", []),
        (["出", "口"], "出口の看板", []),
        (["入"], "出口の看板", ["入"]),
        (["Sale", "Mon"], "", ["Sale", "Mon"]),
    ]
    for picture_words, text, missing in cases:
        assert words_left_out(picture_words, [text]) == missing, text


def test_a_reader_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match=r"'tesseract'.*expected 'rapidocr'"):
        picture_reader("tesseract")
    without(monkeypatch, "rapidocr")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"beholder\[ocr\]"):
        picture_reader("rapidocr")


def test_the_recogniser_reads_a_drawing_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidocr", reason="runs with `make test-ocr`")

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    picture = Image.new("RGB", (500, 160), "white")
    font = ImageFont.load_default(40)
    ImageDraw.Draw(picture).text(
        (30, 20), "Grand opening\nSaturday 14 March", "navy", font
    )
    picture.save(tmp_path / "sign.png")
    reader = picture_reader("rapidocr")
    assert reader.identity.startswith("rapidocr@3.10.")
    drawn_words = read_words(reader, tmp_path / "sign.png")
    assert drawn_words == ["Grand", "opening", "Saturday", "14", "March"]
    # Without text; a strip that would be enlarged to gigabytes; a tracking pixel.
    for size in ((300, 200), (1600, 20), (20, 1600), (1, 1)):
        assert list(reader.lines(Image.new("RGB", size, "grey"))) == []

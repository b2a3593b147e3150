"""Marks of speech in transcripts are no words, wherever words are counted."""

from __future__ import annotations

import pytest

from beholder.text import n_spoken, without_marks


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("एक <noise> लाल </noise> स्कूटर {scooter} है", ["एक", "लाल", "स्कूटर", "{scooter}", "है"]),
        ("a <long pause> b <long-pause/> c <pause /> d", ["a", "b", "c", "d"]),
        ("<b>5 < 6</b> and 7 > 3", ["5", "<", "6", "and", "7", ">", "3"]),
        ("</ noise> <1> <> < noise>", ["</", "noise>", "<1>", "<>", "<", "noise>"]),
    ],
)
def test_marks_become_blanks_of_their_length_and_nothing_else_does(
    text: str, left: list[str]
) -> None:
    cleaned = without_marks(text)
    assert len(cleaned) == len(text)
    assert cleaned.split() == left
    assert n_spoken(text) == len(left)

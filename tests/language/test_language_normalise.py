from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beholder.language.normalise import paragraphs
from toy.cases import each_case


@each_case(
    ("text", "expected"),
    [
        ("a  red\tcup", ["a red cup"]),
        ("  a cup \n", ["a cup"]),
        ("“A cup”, it’s red…", ['"A cup", it\'s red...']),
        ("A dog.\n\nA cat.", ["A dog.", "A cat."]),
        ("A dog sits\non a mat.", ["A dog sits on a mat."]),
        ("A dog.\nA cat.", ["A dog.", "A cat."]),
        ("Seen:\n- a dog\n- a cat", ["Seen:", "a dog", "a cat"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("a\u200bb\ufb01n", ["abfin"]),
        ("a\x00b\x1bc", ["a b c"]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_text_is_evened(text: str, expected: list[str]) -> None:
    assert [p.text for p in paragraphs(text)] == expected


def test_spans_lead_back_to_the_original() -> None:
    text = "A  “cafe\u0301”\n\n  is…  open"
    first, second = paragraphs(text)
    start = first.text.index("caf")
    assert text[first.starts[start] : first.ends[start + 3]] == "cafe\u0301"
    assert text[second.starts[0] : second.ends[4]] == "is…"


@given(st.text(max_size=200))
def test_every_character_comes_from_the_original_in_order(text: str) -> None:
    last = 0
    for paragraph in paragraphs(text):
        assert paragraph.text == paragraph.text.strip(" ")
        assert "  " not in paragraph.text
        assert "\n" not in paragraph.text
        for start, end in zip(paragraph.starts, paragraph.ends, strict=True):
            assert last <= start < end <= len(text)
            last = start

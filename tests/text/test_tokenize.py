from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.text import words
from beholder.text.tokenize import folded_words
from toy.cases import each_case

# One row a case: the text, an arrow, the words with bars between them; all by hand.
CASES = """
A man, sitting. -> A|man|sitting
don't rock'n'roll ’tis the dogs’ -> don't|rock'n'roll|tis|the|dogs
don’t well-known - 3-legged x-ray -> don’t|well-known|3-legged|x-ray
1,000.5 at 10:30, 3/4 of 7. -> 1,000.5|at|10:30|3/4|of|7
$3.50 (50%) 42nd x2 -> 3.50|50|42nd|x2
snake_case "quoted" it...is -> snake|case|quoted|it|is
café naïve straße Ωμέγα Ёлка -> café|naïve|straße|Ωμέγα|Ёлка
नमस्ते दुनिया, कुर्सी पर क़िला। -> नमस्ते|दुनिया|कुर्सी|पर|क़िला
বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം -> বাংলা|தமிழ்|తెలుగు|ಕನ್ನಡ|മലയാളം
שָׁלוֹם مُحَمَّد‎ 한국어 텍스트 -> שָׁלוֹם|مُحَمَّد|한국어|텍스트
你好world世界 -> 你|好|world|世|界
東京タワーへ行くひとびと -> 東|京|タワー|へ|行|くひとびと
🔥🔥 :) -- … ->
"""


@each_case("row", CASES.strip().splitlines())
def test_words_of_many_scripts(row: str) -> None:
    text, _, expected = row.partition(" ->")
    tokens = [text[start:end] for start, end in words(text)]
    assert "|".join(tokens) == expected.strip()


def test_a_decomposed_accent_stays_with_its_letter() -> None:
    text = unicodedata.normalize("NFD", "café crème")
    assert [text[start:end] for start, end in words(text)] == text.split()


def test_marks_of_all_scripts_stay_inside_words() -> None:
    # A mark between two letters never cuts a word, whatever the script.
    marks = [
        chr(i)
        for i in range(0x0300, 0xFE30)
        if unicodedata.category(chr(i)) in ("Mn", "Mc")
        and not chr(i).isalnum()
    ]
    cut = [f"{ord(m):04x}" for m in marks if len(words(f"a{m}b")) != 1]
    assert not cut


@given(st.text(max_size=80))
def test_spans_are_ordered_and_hold_every_letter_and_digit(text: str) -> None:
    spans = words(text)
    flat = [position for span in spans for position in span]
    assert flat == sorted(flat)
    covered = {i for start, end in spans for i in range(start, end)}
    assert {i for i, c in enumerate(text) if c.isalnum()} <= covered


def test_a_hundred_thousand_characters_take_linear_time() -> None:
    assert len(words("a-" * 50_000)) == 1
    assert len(words("1," * 50_000)) == 1


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_plain_ascii_is_cut_as_any_text(text: str) -> None:
    # a word of another script at the end takes the text off the ASCII path
    with_han = words(text + " \u4e00")[:-1]
    assert words(text) == with_han


@pytest.mark.parametrize(
    "text", ["3.5km 10:30", "1,000.5x", "a-b-c'd", "_x_y 3-legged", "1/2/3a"]
)
def test_hard_ascii_cases_are_cut_as_any_text(text: str) -> None:
    assert words(text) == words(text + " \u4e00")[:-1]


@given(
    st.one_of(st.text(), st.text(alphabet=st.characters(max_codepoint=127)))
)
def test_folded_words_are_the_words_case_folded(text: str) -> None:
    folded = folded_words(text)
    assert all(folded)
    # Each typographic or full-width character stands for one of the keyboard, or for none.
    places = words(text)
    assert len(folded) == len(places)
    if not re.search(
        "[’‘ʼ´\u2032\u2010\u2011\u2212\u00ad\u2060\ufeff\uff01-\uff5e]", text
    ):
        assert folded == tuple(text[a:b].casefold() for a, b in places)

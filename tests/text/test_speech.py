"""Marks of speech in transcripts are no words, wherever words are counted."""

from __future__ import annotations

from beholder.text import n_spoken, without_marks
from toy.cases import each_case


@each_case(
    ("text", "cleaned_text"),
    [
        (
            "एक <noise> लाल </noise> स्कूटर {scooter} है",
            ["एक", "लाल", "स्कूटर", "है"],
        ),
        ("a <long pause> b <long-pause/> c <pause /> d", ["a", "b", "c", "d"]),
        # The transcript of the paper's table 1.
        (
            "<noise> Hindi: इस फोटो {photo} Hindi: में ब्लू {blue} Hindi: टी-शर्ट {t-shirt} </noise>",
            ["इस", "फोटो", "में", "ब्लू", "टी-शर्ट"],
        ),
        ("वह ब्लू {sky blue} है {don't} {3 o'clock}", ["वह", "ब्लू", "है"]),
        ("<b>5 6</b> and 7", ["5", "6", "and", "7"]),
        ("< noise> <1> {} {a", ["<", "noise>", "<1>", "{}", "{a"]),
        ("{_x} {'a': 1} [noise]", ["{_x}", "{'a':", "1}", "[noise]"]),
        (
            "Hindi: a language. Zimmer: Öl",
            ["Hindi:", "a", "language.", "Zimmer:", "Öl"],
        ),
    ],
)
def test_marks_become_blanks_of_their_length_and_nothing_else_does(
    text: str, cleaned_text: list[str]
) -> None:
    cleaned = without_marks(text)
    assert len(cleaned) == len(text)
    assert cleaned.split() == cleaned_text


@each_case(
    ("text", "n"),
    [
        ("यह एक मशीन है </noise> ।", 4),
        ("यह एक मशीन है।", 4),
        ("a dog - on a mat !", 5),
        ("फोटो {photo} में", 2),
        ("<noise> । </noise>", 0),
        ("3 – 4", 2),
        ("", 0),
    ],
)
def test_marks_and_signs_that_stand_alone_are_no_words(
    text: str, n: int
) -> None:
    assert n_spoken(text) == n

from __future__ import annotations

import pytest

from beholder.language import parse, statements


def texts(text: str) -> list[str]:
    return [s.text for s in statements(parse(text))]


def test_each_statement_says_one_thing() -> None:
    assert set(texts("A tall man is holding a red cup.")) == {
        "There is a man.",
        "The man is tall.",
        "The man is holding the cup.",
        "The cup is red.",
    }


def test_quantity_and_denial_are_said() -> None:
    assert "There are two dogs." in texts("Two dogs are sleeping.")
    assert "There are no people." in texts("There are no people on the beach.")
    assert "The door is not open." in texts("The door is not open.")
    assert texts("The sedan has no visible passengers.") == [
        "There is a sedan.",
        "The sedan does not have any passengers.",
        "There are no passengers.",
    ]
    assert texts("There are no red cars.") == ["There are no red cars."]
    assert texts("No people are visible in the picture.") == [
        "There are no people."
    ]
    assert "The dog does not chase the cat." in texts(
        "The dog does not chase the cat."
    )


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "A street without cars.",
            {
                "There is a street.",
                "The street is not with any cars.",
                "There are no cars.",
            },
        ),
        (
            "A man walks without shoes.",
            {
                "There is a man.",
                "The man walks.",
                "The man is not with any shoes.",
                "There are no shoes.",
            },
        ),
        (
            "A man is not wearing a hat.",
            {
                "There is a man.",
                "The man is not wearing any hat.",
                "There is no hat.",
            },
        ),
        (
            "There are no clouds in the sky.",
            {
                "There are no clouds.",
                "No clouds are in the sky.",
                "There is a sky.",
            },
        ),
        (
            "The man is not wearing the hat.",
            {
                "There is a man.",
                "The man is not wearing the hat.",
                "There is a hat.",
            },
        ),
    ],
)
def test_what_is_not_there_is_denied_once(
    text: str, sentences: set[str]
) -> None:
    assert set(texts(text)) == sentences


def test_words_for_the_picture_are_no_statement() -> None:
    assert texts("The image shows a dog.") == ["There is a dog."]


def test_spans_point_at_the_words_that_say_it() -> None:
    text = "There is a  red cup."
    red = next(
        s for s in statements(parse(text)) if s.text == "The cup is red."
    )
    assert [text[a:b] for a, b in red.spans] == ["red"]
    assert red.kind == "attribute"


def test_empty_text_says_nothing() -> None:
    assert texts("") == []

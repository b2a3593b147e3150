"""What can be seen and what its writer makes of it: the reach of hedges, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from beholder.judges.builtin import judge as relevance
from beholder.judges.builtin.reading import analysed
from toy.cases import each_case


@each_case(
    ("text", "word", "expected"),
    [
        ("Perhaps a cup.", "cup", True),
        ("A cup perhaps.", "cup", False),
        ("A jug, perhaps cup.", "cup", True),  # right before it
        ("A cup perhaps blue.", "perhaps", False),  # it does not cover itself
        (
            "Perhaps one two three four five cup.",
            "cup",
            True,
        ),  # six words before
        ("Perhaps one two three four five six cup.", "cup", False),
        ("Perhaps a jug, a cup.", "cup", False),  # up to a mark
        ("Perhaps a jug while a cup.", "cup", False),
        ("Perhaps a whilecup.", "whilecup", True),
        ("A jug. Perhaps a jug, a cup.", "cup", False),  # the last mark
        ("A jug, a jug. Perhaps a cup.", "cup", True),
        ("A jug appears to hold a cup.", "cup", True),
        ("A jug appears like a cup.", "cup", True),
        ("A jug appears on a cup.", "cup", False),  # no guess
        ("A jug to a cup.", "cup", False),
        ("It suggests a cup.", "cup", True),
        ("Cup.", "Cup", False),
    ],
)
def test_a_hedge_hides_the_words_that_it_covers(
    text: str, word: str, expected: bool
) -> None:
    assert relevance._hedged(analysed(text), text.index(word)) is expected


def is_statement_visible(
    text: str,
    words: str,
    *spans: str,
    kind: str = "entity",
    unseen: bool = False,
) -> bool:
    """Return whether a statement at some words of a text is visible."""
    analysed_text = analysed(text)
    graph = SimpleNamespace(
        text=text,
        entities=[
            SimpleNamespace(kind="thing"),
            SimpleNamespace(kind="unseen"),
        ],
    )
    text_view: Any = SimpleNamespace(
        graph=graph, words=analysed_text.words, at=analysed_text.at
    )
    statement: Any = SimpleNamespace(
        text=words,
        kind=kind,
        entities=(0, 1) if unseen else (0,),
        spans=[
            (text.index(part), text.index(part) + len(part)) for part in spans
        ],
    )
    return relevance.is_visible(statement, text_view)


@each_case(
    ("text", "words", "spans", "kind", "expected"),
    [
        ("A red cup.", "There is a cup.", ["cup"], "entity", True),
        ("Perhaps a red cup.", "There is a cup.", ["cup"], "entity", False),
        (
            "A cup perhaps red.",
            "There is a cup.",
            ["cup perhaps"],
            "entity",
            True,
        ),  # its begin
        (
            "A cup, perhaps a jug.",
            "A cup by a jug.",
            ["cup", "jug"],
            "relation",
            False,
        ),
        (
            "A cup on a jug.",
            "The cup evokes a jug.",
            ["cup"],
            "relation",
            False,
        ),
        (
            "A cup on a jug.",
            "The Cup SUGGESTS a jug.",
            ["cup"],
            "relation",
            False,
        ),
        # opinion counts only where nothing else is said, and of attributes only
        (
            "A beautiful cup.",
            "The cup is beautiful.",
            ["beautiful"],
            "attribute",
            False,
        ),
        (
            "A cup is very beautiful.",
            "The cup is so.",
            ["very beautiful"],
            "attribute",
            False,
        ),
        (
            "A beautiful red cup.",
            "The cup is so.",
            ["beautiful red"],
            "attribute",
            True,
        ),
        ("A red cup.", "The cup is red.", ["red"], "attribute", True),
        ("A very cup.", "The cup is very.", ["very"], "attribute", True),
        ("A beautiful cup.", "There is a cup.", ["beautiful"], "entity", True),
    ],
)
def test_statements_of_what_can_be_seen(
    text: str, words: str, spans: list[str], kind: str, expected: bool
) -> None:
    assert is_statement_visible(text, words, *spans, kind=kind) is expected


def test_statements_on_unseen_things_are_not_visible() -> None:
    assert is_statement_visible("A red cup.", "There is a cup.", "cup")
    assert not is_statement_visible(
        "A red cup.", "There is a cup.", "cup", unseen=True
    )

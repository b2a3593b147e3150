"""Texts cut by the spans of units."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beholder.base.visible import make_visible
from beholder.records import Unit
from beholder.report.marking import Piece, heights, mark, pieces


def test_nested_and_crossing_spans_are_cut_at_every_border() -> None:
    # "a tall man holds": 0..6 "a tall", 0..10 "a tall man", 7..16 "man holds"
    text_pieces = pieces(
        "a tall man holds", [(0, (0, 10)), (1, (2, 6)), (2, (7, 16))]
    )
    assert text_pieces == [
        Piece("a ", (0,)),
        Piece("tall", (0, 1)),
        Piece(" ", (0,)),
        Piece("man", (0, 2)),
        Piece(" holds", (2,)),
    ]


def test_wider_unit_comes_first_whatever_the_order_of_units() -> None:
    assert pieces("abcd", [(7, (1, 2)), (3, (0, 4))])[1] == Piece("b", (3, 7))


def test_spans_outside_the_text_and_empty_spans_mark_nothing() -> None:
    assert pieces("abc", [(0, (2, 2)), (1, (5, 9)), (2, (-4, 0))]) == [
        Piece("abc")
    ]
    assert pieces("abc", [(0, (2, 99))]) == [Piece("ab"), Piece("c", (0,))]
    assert pieces("", [(0, (0, 3))]) == []


@given(
    st.text(max_size=30),
    st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=12),
)
def test_pieces_join_to_the_text_and_cover_as_each_character_says(
    text: str, spans: list[tuple[int, int]]
) -> None:
    text_pieces = pieces(text, list(enumerate(spans)))
    assert "".join(piece.text for piece in text_pieces) == text
    at = 0
    for piece in text_pieces:
        for place in range(at, at + len(piece.text)):
            covering = {
                key
                for key, (start, end) in enumerate(spans)
                if start <= place < end
            }
            assert set(piece.units) == covering
        at += len(piece.text)


def test_a_line_goes_below_the_lines_of_all_marks_inside() -> None:
    text_pieces = pieces("abcdef", [(0, (0, 6)), (1, (0, 3)), (2, (1, 2))])
    assert heights(text_pieces) == {0: 2, 1: 1, 2: 0}


def test_units_of_a_reference_are_marked_in_that_reference_only() -> None:
    units = [
        Unit("entity", "cat", "reference", ((0, 3),), reference_index=1),
        Unit("entity", "cat", "reference", ((0, 3),)),
        Unit("entity", "cat", "candidate", ((0, 3),)),
    ]
    assert mark("cat", units, "reference", 1) == [Piece("cat", (0,))]
    assert mark("cat", units, "reference", 0) == [Piece("cat", (1,))]
    assert mark("cat", units, "candidate") == [Piece("cat", (2,))]


def test_control_characters_become_pictures_of_the_same_length() -> None:
    # U+241B is the picture of escape, U+2400 of null, U+2421 of delete (Unicode, Control Pictures)
    assert (
        make_visible("a\x1b[2Jb\x00\x7f\x9b")
        == "a\u241b[2Jb\u2400\u2421\ufffd"
    )
    assert (
        make_visible("one\r\ntwo\tthree\rfour") == "one \ntwo\tthree\u240dfour"
    )
    assert make_visible("שלום नमस्ते 👩‍👩‍👧") == "שלום नमस्ते 👩‍👩‍👧"


def test_what_is_not_sure_is_not_marked() -> None:
    sure = Unit("entity", "cat", "candidate", ((0, 3),), 0.0, "unstated")
    unsure = Unit(
        "entity",
        "red",
        "candidate",
        ((4, 7),),
        0.0,
        "unstated",
        None,
        {"unsure": True},
    )
    assert mark("cat red", [sure, unsure], "candidate") == [
        Piece("cat", (0,)),
        Piece(" red"),
    ]

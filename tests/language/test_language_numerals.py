"""Numbers as texts write them: read by hand, and found on trees drawn by hand."""

from __future__ import annotations

import pytest

from beholder.language import parse, scene_graph
from beholder.language.numerals import is_numeral, number
from beholder.language.phrases import find_phrases
from beholder.language.repairs import reattach_numbers_of_clauses
from beholder.language.statements import graph_units
from toy.cases import each_case
from toy.graphs import document

NUMBERS = {
    "two": 2,
    "12": 12,
    "zero": 0,
    "single": 1,
    "both": 2,
    "a pair": 2,
    "one pair": 2,
    "three pairs": 3,
    "twenty-one": 21,
    "ninety nine": 99,
    "hundred": 100,
    "a hundred": 100,
    "two hundred": 200,
    "two hundred and fifty-six": 256,
    "three thousand five hundred": 3500,
    "two million three hundred thousand": 2_300_000,
    "five hundred thousand and one": 500_001,
    "2,000": 2000,
    "1,234,567": 1_234_567,
    "1.5": 1.5,
    "1.5 million": 1_500_000,
    "two and a half million": 2_500_000,
    "half a million": 500_000,
    "dozen": 12,
    "two dozen": 24,
    "half a dozen": 6,
    "a couple hundred": 200,
    "about 12": 12,
}


@each_case(("words", "expected"), NUMBERS.items())
def test_a_number_is_read_whole(words: str, expected: float) -> None:
    assert number(words) == expected
    assert number(words.upper()) == expected


@each_case(
    "words",
    ["", "several", "few hundred", "several dozen", "two or three", "two to three", "10-12",
     "two three", "dozens", "hundreds", "2,00", "1,2", "\u00b2", "9" * 5000],
)  # fmt: skip
def test_what_is_no_single_number(words: str) -> None:
    assert number(words) is None


@each_case(
    ("compound", "expected"),
    [("twenty-one", True), ("two-hundred", True), ("12-year-old", False), ("10-12", False),
     ("off-white", False), ("one", True)],
)  # fmt: skip
def test_which_compounds_are_numbers(compound: str, expected: bool) -> None:
    assert is_numeral(compound) is expected


@each_case(
    ("tree", "expected"),
    [
        ("Two/NUM/CD/compound/2 hundred/NUM/CD/nummod/3 men/NOUN/NNS/ROOT/0", "two hundred"),
        ("Two/NUM/CD/nummod/2 dozen/NUM/CD/nummod/3 men/NOUN/NNS/ROOT/0", "two dozen"),
        ("Half/DET/PDT/det:predet/4 a/DET/DT/det/4 dozen/NUM/CD/nummod/4 eggs/NOUN/NNS/ROOT/0",
         "half a dozen"),
        ("Two/NUM/CD/nummod/5 hundred/NUM/CD/nummod/5 and/CCONJ/CC/cc/4 fifty/NUM/CD/conj/2"
         " men/NOUN/NNS/ROOT/0", "two hundred and fifty"),
        ("Two/NUM/CD/nummod/4 to/ADP/IN/case/3 three/NUM/CD/nmod/1 men/NOUN/NNS/ROOT/0",
         "two to three"),
        ("Several/ADJ/JJ/amod/2 dozen/NUM/CD/nummod/3 men/NOUN/NNS/ROOT/0", "several dozen"),
        ("A/DET/DT/det/4 few/ADJ/JJ/amod/4 hundred/NUM/CD/nummod/4 men/NOUN/NNS/ROOT/0",
         "few hundred"),
        ("All/DET/PDT/det:predet/3 three/NUM/CD/nummod/3 men/NOUN/NNS/ROOT/0", "three"),
        # what stands between counts nothing: the first number only
        ("Two/NUM/CD/nummod/4 red/ADJ/JJ/amod/4 three/NUM/CD/conj/1 men/NOUN/NNS/ROOT/0", "two"),
        ("men/NOUN/NNS/ROOT/0 12/NUM/CD/nummod/1", None),
        ("Two/NUM/CD/compound/2 hundred/NUM/CD/nummod/3 pairs/NOUN/NNS/ROOT/0 of/ADP/IN/case/5"
         " shoes/NOUN/NNS/nmod/3", "two hundred pairs"),
    ],
)  # fmt: skip
def test_the_whole_number_is_the_quantity(
    tree: str, expected: str | None
) -> None:
    (phrase,) = find_phrases(document(tree)).by_word.values()
    assert phrase.quantity == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Two hundred and fifty soldiers stand in a row.",
            "Two hundred and fifty",
        ),
        ("Half a dozen eggs lie in a bowl.", "Half a dozen"),
        ("There are 2,000 people in the street.", "2,000"),
        ("1.5 million visitors came.", "1.5 million"),
        ("Twenty-one boats float.", "Twenty-one"),
    ],
)
def test_a_number_stands_where_all_its_words_are(
    text: str, words: str
) -> None:
    (unit,) = (
        unit for unit in graph_units(scene_graph(parse(text))) if unit.quantity
    )
    assert text[slice(*unit.spans[0])] == words
    assert unit.asked


@pytest.mark.parametrize(
    ("tree", "heads"),
    [
        (
            "2,000/NUM/CD/nummod/3 people/NOUN/NNS/nsubj/3 march/VERB/VBP/ROOT/0",
            [1, 2, 2],
        ),
        (
            "three/NUM/CD/nummod/3 stone/NOUN/NN/compound/3 walls/NOUN/NNS/ROOT/0",
            [2, 2, 2],
        ),
        (
            "three/NUM/CD/nummod/2 men/NOUN/NNS/nsubj/3 march/VERB/VBP/ROOT/0",
            [1, 2, 2],
        ),
    ],
)
def test_a_number_counts_the_noun_and_no_clause(
    tree: str, heads: list[int]
) -> None:
    assert [
        word.head for word in reattach_numbers_of_clauses(document(tree).words)
    ] == heads

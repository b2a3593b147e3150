"""Each perturbation does what its name says, by hand-made expectations."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.kinds.agreement.suites.perturb import PERTURBATIONS, sentences
from toy.cases import each_case

TEXT = "One dog runs. It is black. A cat sits on the left. Two birds fly."
OTHER_TEXT = "A boat sails. The sea is calm. Clouds pass."


def apply(name: str, text: str = TEXT, seed: int = 0) -> str:
    return PERTURBATIONS[name].apply(
        text, np.random.default_rng(seed), OTHER_TEXT
    )


def test_reverse_swap_and_truncate() -> None:
    assert (
        apply("reverse")
        == "Two birds fly. A cat sits on the left. It is black. One dog runs."
    )
    assert apply("swap_blocks") == (
        "A cat sits on the left. Two birds fly. One dog runs. It is black."
    )
    assert apply("truncate") == "One dog runs. It is black."
    assert apply("repeat") == TEXT + " One dog runs."


@pytest.mark.parametrize("seed", range(5))
def test_shuffle_keeps_every_sentence_and_never_the_order(seed: int) -> None:
    shuffled = apply("shuffle", seed=seed)
    assert sorted(sentences(shuffled)) == sorted(sentences(TEXT))
    assert shuffled != TEXT


@pytest.mark.parametrize("seed", range(5))
def test_delete_leaves_out_a_third_and_insert_adds_a_third(seed: int) -> None:
    remaining = sentences(apply("delete", seed=seed))
    assert len(remaining) == 3
    assert [
        sentence for sentence in sentences(TEXT) if sentence in remaining
    ] == remaining
    added = sentences(apply("insert", seed=seed))
    assert len(added) == 5
    assert "A boat sails." in added
    assert [
        sentence for sentence in added if sentence in sentences(TEXT)
    ] == sentences(TEXT)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_and_colours_become_others_in_the_same_case(seed: int) -> None:
    changed = apply("swap_numbers", "One of 15 boats has 2 masts.", seed)
    first, _, digits, _, _, single, _ = changed.split()
    assert first[0].isupper()
    assert first != "One"
    assert digits != "15"
    assert len(digits) == 2
    assert single != "2"
    assert len(single) == 1
    assert "Black" not in apply("swap_colours", "Black and black.", seed)
    assert apply("swap_colours", "A dog.", seed) == "A dog."


def test_directions_become_their_opposites() -> None:
    changed_text = apply(
        "swap_directions", "Left of the top, right below the upright lamp."
    )
    assert changed_text == "Right of the bottom, left above the upright lamp."


def test_sentences_are_split_and_merged() -> None:
    text = "A dog runs, and a cat sits; it sleeps."
    assert (
        apply("split_sentences", text) == "A dog runs. A cat sits. It sleeps."
    )
    assert (
        apply("merge_sentences", "A dog. A cat. A cow.")
        == "A dog; a cat. A cow."
    )


@pytest.mark.parametrize("seed", range(5))
def test_mild_reorder_moves_no_sentence_by_more_than_one_place(
    seed: int,
) -> None:
    text = " ".join(f"Number {'abcdefghij'[i]} is here." for i in range(10))
    before, after = (
        sentences(text),
        sentences(apply("reorder_mildly", text, seed)),
    )
    moved = [
        abs(before.index(sentence) - place)
        for place, sentence in enumerate(after)
    ]
    assert max(moved) == 1


def test_contraction_case_and_punctuation() -> None:
    assert (
        apply("contract", "It is red. They aren't.")
        == "It's red. They are not."
    )
    assert apply("lower_case", "A Dog.") == "a dog."
    assert (
        apply("strip_punctuation", 'A well-known "dog", (red).')
        == "A well known dog red."
    )


def test_the_same_seed_gives_the_same_text() -> None:
    for name in PERTURBATIONS:
        assert apply(name, seed=3) == apply(name, seed=3)


@each_case("name", PERTURBATIONS)
def test_a_text_that_offers_nothing_is_left_as_it_was(name: str) -> None:
    changes_always = {"repeat", "insert", "preface"}
    if name not in changes_always:
        assert apply(name, "dogs.") == "dogs."


def test_both_kinds_are_there() -> None:
    kinds = [perturbation.kind for perturbation in PERTURBATIONS.values()]
    assert kinds.count("breaking") == 13
    assert kinds.count("preserving") == 10
    assert all(
        perturbation.change.__doc__ for perturbation in PERTURBATIONS.values()
    )


def test_two_things_of_a_sentence_change_places_and_so_do_two_colours() -> (
    None
):
    assert apply(
        "exchange_things", "It rains. The dog chases a cat into the house."
    ) == ("It rains. The cat chases a dog into the house.")
    assert apply("exchange_things", "The dog sees the dog. Rain falls.") == (
        "The dog sees the dog. Rain falls."
    )
    assert apply(
        "exchange_colours", "Red cars and a red van meet a blue bus."
    ) == ("Red cars and a blue van meet a red bus.")
    assert apply("exchange_colours", "A dog.") == "A dog."


@pytest.mark.parametrize("seed", range(5))
def test_scrambled_sentences_keep_their_words_and_their_places(
    seed: int,
) -> None:
    scrambled = sentences(apply("scramble", seed=seed))
    assert [sorted(s.rstrip(".").split()) for s in scrambled] == [
        sorted(s.rstrip(".").split()) for s in sentences(TEXT)
    ]
    assert " ".join(scrambled) != TEXT


def test_preserving_perturbations_change_words_only() -> None:
    assert apply("same_words", "A small couch beside big rocks.") == (
        "A little sofa next to large stones."
    )
    assert (
        apply("spelling", "Gray color in the centre.")
        == "Grey colour in the center."
    )
    assert (
        apply("digits", "Two of 12 men and one dog.")
        == "2 of twelve men and one dog."
    )
    assert apply("preface", "A dog.") == "Here is what can be seen. A dog."

"""Who has, does and is what, exchanged between things: texts of the same words."""

from __future__ import annotations

import pytest

from beholder import PoSh
from beholder.judges.builtin.claims import respelt
from toy.cases import each_case

PAIRS = {
    "actions, told by clothes": (
        "The woman in the white dress holds a gold chalice. The woman in the blue dress watches.",
        "The woman in the blue dress holds a gold chalice. The woman in the white dress watches.",
    ),
    "actions, told by looks": (
        "A tall boy is riding a horse. A short boy is reading a book.",
        "A short boy is riding a horse. A tall boy is reading a book.",
    ),
    "actions of unlike things": (
        "The woman is holding a ferret while the man is sitting on a bench.",
        "The man is holding a ferret while the woman is sitting on a bench.",
    ),
    "clothes of like things": (
        "One man wears a red hat and is reading a book. Another man wears a blue scarf and is"
        " holding a cup.",
        "One man wears a blue scarf and is reading a book. Another man wears a red hat and is"
        " holding a cup.",
    ),
    "clothes of unlike things": (
        "A man wears a white cap. A woman wears a pink shirt.",
        "A man wears a pink shirt. A woman wears a white cap.",
    ),
    "parts of like things": (
        "The green house has a tall chimney. The brown house has a broken window.",
        "The brown house has a tall chimney. The green house has a broken window.",
    ),
    "parts of unlike things": (
        "The horse has a wooden saddle. The boat has a yellow sail.",
        "The boat has a wooden saddle. The horse has a yellow sail.",
    ),
    "sides in brackets": (
        "A man (left) and a woman (right) sit on a bench.",
        "A man (right) and a woman (left) sit on a bench.",
    ),
    "colours, told by parts": (
        "The table with a drawer is gray. The table with a lamp is orange.",
        "The table with a lamp is gray. The table with a drawer is orange.",
    ),
}


def verdicts(candidate: str, reference: str) -> list[str | None]:
    units = PoSh().score_text(candidate, reference).units
    return [unit.verdict for unit in units if unit.side == "candidate"]


@pytest.mark.parametrize("name", PAIRS)
def test_an_exchange_is_contradicted(name: str) -> None:
    assert "contradicted" in verdicts(*PAIRS[name])


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_in_the_other_order_is_not(name: str) -> None:
    text = PAIRS[name][0]
    assert set(verdicts(text, text)) == {"match"}
    parts = text.split(". ")
    if len(parts) == 2 and not text.startswith("One"):
        turned = f"{parts[1].rstrip('.')}. {parts[0]}."
        assert set(verdicts(turned, text)) == {"match"}


PANELS = "The left panel shows Adam; the right panel shows Eve."


@pytest.mark.parametrize(
    ("text", "exchanged"),
    [
        ("The right panel shows Eve and the left panel shows Adam.", False),
        ("The right panel shows Adam and the left panel shows Eve.", True),
    ],
)
def test_things_of_one_name_and_one_verb_in_two_clauses(
    text: str, exchanged: bool
) -> None:
    for candidate, reference in ((PANELS, text), (text, PANELS)):
        assert ("contradicted" in verdicts(candidate, reference)) is exchanged


def test_units_that_both_things_have_are_not_exchanged() -> None:
    both = "A man wears a hat. A woman wears a hat."
    apart_facts = "A man stands on a road. A woman wears a hat."
    assert "contradicted" not in verdicts(both, apart_facts)


def test_a_unit_moved_from_a_whole_to_its_part_is_no_exchange() -> None:
    assert "contradicted" not in verdicts(
        "A wooden table has a top.", "A table has a wooden top."
    )


def test_one_thing_under_two_names_is_no_exchange() -> None:
    """A flycatcher is a bird: coreference may have made two things of one."""
    text = "A white flycatcher sits on a branch. The bird is small."
    reference = "A small flycatcher sits on a branch. The bird is white."
    assert "contradicted" not in verdicts(text, reference)


def test_things_of_which_there_are_several_are_no_exchange_of_two_names() -> (
    None
):
    text = "A man wears a white cap. A woman wears a pink shirt. Another woman waves."
    reference = "A man wears a pink shirt. A woman wears a white cap. Another woman waves."
    both = "A man wears a pink shirt. A woman wears a white cap."
    exchanged = "A man wears a white cap. A woman wears a pink shirt."
    assert "contradicted" in verdicts(exchanged, both)
    assert "contradicted" not in verdicts(text, reference)


@each_case(
    ("word", "words", "expected"),
    [
        ("oudoor", {"outdoor"}, "outdoor"),
        ("appers", {"appears"}, "appears"),
        ("mrual", {"mural"}, "mural"),
        ("sculptur", {"sculpture"}, "sculpture"),
        ("sculpturee", {"sculpture"}, "sculpture"),
        ("mxral", {"mural"}, "mural"),
        ("mural", {"moral"}, "mural"),  # a word
        ("mrl", {"mrul"}, "mrl"),  # too short
        ("xural", {"mural"}, "xural"),  # another first letter
        ("mraul", {"moral"}, "mraul"),  # two edits
        ("zoomss", {"zooms", "zoomes"}, "zoomss"),  # one of two
    ],
)
def test_an_unknown_word_is_read_as_the_one_that_is_one_edit_away(
    word: str, words: set[str], expected: str
) -> None:
    assert (
        respelt(f"The {word} is red.", words | {"red"})
        == f"The {expected} is red."
    )

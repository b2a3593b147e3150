"""``consistent`` from the rule alone: truth and omission cost nothing, contradictions cost."""

from __future__ import annotations

import pytest

from beholder import metric

KITCHEN = (
    "A chef in a white hat slices onions. A pot of soup steams on the stove. "
    "Two waiters wait at the door."
)
SHORE = (
    "An old lighthouse stands on a cliff above the sea. Gulls circle around its lantern. "
    "A fisherman repairs a net on the rocks below."
)
ROAD = (
    "Four cyclists ride up a steep mountain road. The leader wears a yellow jersey. "
    "A blue car follows them."
)


def consistent(candidate: str, reference: str) -> float:
    return (
        metric("accord").score_text(candidate, reference).values["consistent"]
    )


@pytest.mark.parametrize("text", [KITCHEN, SHORE, ROAD])
@pytest.mark.parametrize(
    "places", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (2, 1, 0), (0, 0)]
)
def test_sentences_of_the_reference_are_consistent(
    text: str, places: tuple[int, ...]
) -> None:
    sentences = text.split(". ")
    part = " ".join(sentences[place].rstrip(".") + "." for place in places)
    assert consistent(part, text) == 1


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        ("Waiters wait at the door.", KITCHEN), ("Waiters wait.", KITCHEN),
        ("A chef slices onions.", KITCHEN), ("Soup steams on the stove.", KITCHEN),
        ("A chef in a hat slices onions. A pot steams.", KITCHEN),
        ("A lighthouse stands on a cliff.", SHORE), ("A man repairs a net.", SHORE),
        ("Gulls circle.", SHORE), ("There is a lighthouse by the sea.", SHORE),
        ("Cyclists ride up a road.", ROAD), ("The leader wears a jersey.", ROAD),
        ("A car follows them.", ROAD), ("Some people ride bicycles in the mountains.", ROAD),
    ],
)  # fmt: skip
def test_an_omission_is_no_contradiction(
    candidate: str, reference: str
) -> None:
    assert consistent(candidate, reference) == 1


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (ROAD, "yellow", "green"), (ROAD, "blue car", "red car"), (KITCHEN, "white", "black"),
        (ROAD, "Four", "Seven"), (KITCHEN, "Two", "Five"), (KITCHEN, "the door", "the window"),
        (SHORE, "on a cliff above the sea", "in a forest valley"), (ROAD, "ride up", "ride down"),
        (KITCHEN, "slices onions", "washes dishes"), (SHORE, "repairs a net", "eats lunch"),
        (ROAD, "A blue car follows", "No car follows"), (SHORE, "An old", "A modern"),
        (KITCHEN, "slices", "does not slice"), (ROAD, "Four cyclists", "Four hundred cyclists"),
        (KITCHEN, "A pot of soup steams", "There is nothing"),
    ],
)  # fmt: skip
def test_a_contradiction_costs(text: str, old: str, new: str) -> None:
    assert consistent(text.replace(old, new), text) < 1


@pytest.mark.parametrize(
    "wrapper",
    [
        "This is a photo. {}",
        "{} It is a nice picture.",
        "Here is what the picture shows. {}",
    ],
)
@pytest.mark.parametrize(
    "text", ["A chef in a white hat slices onions.", "Waiters wait at a door."]
)
def test_a_wrapper_is_no_gain(text: str, wrapper: str) -> None:
    accord = metric("accord")
    plain = accord.score_text(text, KITCHEN).values
    wrapped = accord.score_text(wrapper.format(text), KITCHEN).values
    assert plain["accord"] >= wrapped["accord"]
    assert plain["consistent"] >= wrapped["consistent"]

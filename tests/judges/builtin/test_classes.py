"""Which values exclude each other, by hand: of words, and of what two texts say of one thing."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.classes import exclude, values, word_values
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from toy.cases import each_case


def findings(source: str, target: str) -> dict[str, Finding]:
    text = analysed(source)
    results = find(text, analysed(target))
    return dict(zip((unit.text for unit in text.units), results, strict=True))


def contradictions(source: str, target: str) -> dict[str, str]:
    """Map each contradicted unit to the words of the target."""
    findings_by_unit = findings(source, target)
    return {
        text: finding.contradiction
        for text, finding in findings_by_unit.items()
        if finding.contradiction
    }


@each_case(
    ("a", "b", "expected"),
    [
        ("old", "young", True),
        ("ten-year-old", "young", False),
        ("ten years old", "new", False),
        ("six-month-old", "young", False),
        ("three days old", "young", False),
        ("ten-year-old", "12-year-old", True),
        ("ten-year-old", "10 years old", False),
        ("ten-year-old", "ten months old", False),  # not compared
        ("ten-year-old", "three", False),  # an age says not how many
        ("ten-year-old red", "blue", True),
    ],
)
def test_values_of_one_class_exclude_each_other(
    a: str, b: str, expected: bool
) -> None:
    assert exclude(values(a), values(b)) is expected
    assert exclude(values(b), values(a)) is expected


def test_old_after_a_measure_of_time_is_in_no_class() -> None:
    words = ("old", "boy", "ten", "years", "old", "not", "old")
    assert [place for place, _ in word_values(words)] == [0, 1, 2, 6]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("A ten-year-old girl.", "A young girl."),
        (
            "A boy, 12 years old, plays the violin.",
            "A young boy plays the violin.",
        ),
        ("A baby, six months old, sleeps.", "A young baby sleeps."),
        (
            "A young girl with short hair.",
            "A girl with short hair, about ten years old.",
        ),
        ("Three ten-year-old girls play.", "Three girls play."),
        (
            "A green bronze statue of a horse.",
            "A bronze statue of a horse with a green patina.",
        ),
        ("A white gold ring.", "A gold ring."),
        ("A red copper pot.", "A copper pot."),
        ("A red copper pot.", "A metal pot."),
        ("Two men who are six feet tall stand.", "Two men stand."),
    ],
)
def test_compatible_values_exclude_nothing_in_either_order(
    source: str, target: str
) -> None:
    assert contradictions(source, target) == {}
    assert contradictions(target, source) == {}


@pytest.mark.parametrize(
    ("source", "target", "contradicted"),
    [
        ("A white marble statue.", "A bronze statue.", {"marble": "bronze"}),
        ("A white gold ring.", "A red ring.", {"white": "red", "gold": "red"}),
        ("A golden dress.", "A red dress.", {"golden": "red"}),
        ("A copper door.", "A wooden door.", {"copper": "wooden"}),
    ],
)
def test_materials_exclude_other_materials(
    source: str, target: str, contradicted: dict[str, str]
) -> None:
    assert contradictions(source, target) == contradicted


def test_other_ages_exclude_each_other() -> None:
    contradicted = contradictions(
        "A boy, 12 years old, plays.", "A boy, 10 years old, plays."
    )
    assert contradicted == {"12 years old": "10 years old"}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("A young man plays a guitar.", "A teenage boy plays a guitar."),
        ("A young woman in a red coat.", "A girl in a red coat."),
        ("A teenage girl reads.", "A young woman reads."),
        ("A 16-year-old boy reads.", "A man reads."),
        ("A 25-year-old woman reads.", "A girl reads."),
    ],
)
def test_a_youth_may_be_a_child_or_not(source: str, target: str) -> None:
    for first, second in ((source, target), (target, source)):
        assert contradictions(first, second) == {}
        person = next(iter(findings(first, second).values()))
        assert not person.sure


@pytest.mark.parametrize(
    ("source", "target", "contradicted"),
    [
        ("A man reads.", "A boy reads.", {"man": "boy"}),
        ("A young boy reads.", "A man reads.", {"boy": "man"}),
        ("An old man reads.", "A boy reads.", {"man": "boy"}),
        ("A 12-year-old boy reads.", "A man reads.", {"boy": "man"}),
        ("A 26-year-old woman reads.", "A girl reads.", {"woman": "girl"}),
    ],
)
def test_a_child_is_no_adult(
    source: str, target: str, contradicted: dict[str, str]
) -> None:
    assert contradictions(source, target) == contradicted


@pytest.mark.parametrize("reference", ["A girl reads.", "A baby reads."])
def test_a_young_man_is_neither_girl_nor_baby(reference: str) -> None:
    assert findings("A young man reads.", reference)["man"].grade < PRESENT


@pytest.mark.parametrize(
    ("source", "target", "contradicted"),
    [
        ("A woman facing left.", "A woman facing right.", {"facing left": "facing right"}),
        ("A horse facing left stands on grass.", "A horse facing right stands on grass.",
         {"facing left": "facing right"}),
        ("A horse facing left stands on grass.", "A horse facing left stands on grass.", {}),
        ("A woman looks to the left.", "A woman looks to the right.",
         {"looks to the left": "looks to the right"}),
        # where one looks is not where one is
        ("A woman on the left looks to the right.", "A woman on the left.", {}),
        ("A woman facing right.", "A woman on the left.", {}),
        ("A woman on the left.", "A woman facing right.", {}),
        ("A woman on the left.", "A woman on the right.", {"on the left": "on the right"}),
    ],
)  # fmt: skip
def test_directions_exclude_directions(
    source: str, target: str, contradicted: dict[str, str]
) -> None:
    assert contradictions(source, target) == contradicted

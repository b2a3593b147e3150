"""Which thing of one text is which thing of the other, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.judges.builtin.entities import (
    Counterparts,
    counterparts,
    relation_agreement,
)
from beholder.judges.builtin.reading import analysed


def paired(
    source: str, target: str, agreed: dict[tuple[int, int], float]
) -> Counterparts:
    first, second = analysed(source), analysed(target)
    agreement = np.zeros(
        (len(first.graph.entities), len(second.graph.entities))
    )
    for place, value in agreed.items():
        agreement[place] = value
    return counterparts(first, second, agreement)


def names(
    source: str, target: str, agreed: dict[tuple[int, int], float]
) -> list[str]:
    matches = paired(source, target, agreed)
    heads = [entity.head for entity in analysed(target).graph.entities]
    return [heads[match] for match in matches.best.tolist()]


@pytest.mark.parametrize("text", ["A hat. No hat.", "No hat. A hat."])
def test_a_thing_and_the_lack_of_one_find_their_own(text: str) -> None:
    matches = counterparts(
        analysed("No hat. A hat."), analysed(text), np.zeros((2, 2))
    )
    assert matches.best.tolist() == (
        [1, 0] if text.startswith("A") else [0, 1]
    )


def test_things_are_paired_by_name() -> None:
    assert names("A dog and a lamp.", "A lamp and a dog.", {}) == [
        "dog",
        "lamp",
    ]
    assert names("A sofa and a puppy.", "A dog and a couch.", {}) == [
        "couch",
        "dog",
    ]


def test_nothing_is_paired_with_an_empty_text() -> None:
    matches = paired("A dog.", "Slowly.", {})
    assert matches.similarity.shape == (1, 0)
    assert matches.best.tolist() == [-1]
    assert not matches.unpaired.any()


@pytest.mark.parametrize(
    ("source", "target", "least", "highest"),
    [
        ("dog", "dog", 1.0, 1.0),
        ("couch", "sofa", 0.99, 1.0),
        ("animal", "dog", 0.9, 0.95),
        ("dog", "animal", 0.5, 0.8),
        ("street sign", "stop sign", 0.0, 0.7),
        ("sign", "stop sign", 0.95, 1.0),
        ("dog", "cat", 0.0, 0.49),
    ],
)
def test_names_have_the_expected_similarity(
    source: str, target: str, least: float, highest: float
) -> None:
    similarity = paired(
        f"A {source} is there.", f"A {target} is there.", {}
    ).similarity[0, 0]
    assert least <= round(float(similarity), 6) <= highest


def test_values_that_exclude_are_apart_though_their_words_are_near() -> None:
    matches = paired("A boy sits.", "A girl sits.", {})
    assert matches.similarity[0, 0] < 0.3 * matches.plain[0, 0] + 1e-9


@pytest.mark.parametrize(
    ("agreed", "expected"),
    [
        ({}, [0, 1]),  # by the order in which they are named
        ({(0, 1): 1.0, (1, 0): 1.0}, [1, 0]),  # by what is said of them
        ({(0, 1): 1.0}, [1, 0]),  # each has a counterpart of its own
    ],
)
def test_things_of_one_name(
    agreed: dict[tuple[int, int], float], expected: list[int]
) -> None:
    text = "A man sits. Another man stands."
    matches = paired(text, text, agreed)
    assert matches.best.tolist() == expected
    assert not matches.unpaired.any()
    assert [
        matches.alike[row].tolist().index(True) for row in (0, 1)
    ] == expected
    assert matches.alike.sum() == 2


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # one sentence names both
        ("A man and another man sit.", "A man sits.", [False, True]),
        # each has its "there is"
        (
            "There is a man. There is a man by a tree.",
            "A man sits.",
            [False, True, True],
        ),
        # what is said of them excludes
        ("A red car stops. A blue car turns.", "A car stops.", [False, True]),
        # one thing named again
        ("A man sits. The man is tall.", "A man sits.", [False]),
        # a plural has room for all
        ("A man and another man sit.", "Men sit.", [False, False]),
        ("A man and another man sit.", "Two men sit.", [False, False]),
        # other things are no namesakes
        ("A man and a lamp.", "A man.", [False, False]),
    ],
)
def test_more_things_than_the_target_has(
    source: str, target: str, expected: list[bool]
) -> None:
    unpaired = paired(source, target, {}).unpaired.tolist()
    heads = [entity.head for entity in analysed(source).graph.entities]
    flags = [
        flag
        for head, flag in zip(heads, unpaired, strict=True)
        if head in ("man", "car", "lamp")
    ]
    assert flags == list(expected)[: len(flags)]


def test_relations_tell_things_of_one_name_apart() -> None:
    source = analysed("A man holds a cup. Another man rides a horse.")
    target = analysed("A man rides a horse. Another man holds a cup.")
    heads = [
        [e.head for e in text.graph.entities] for text in (source, target)
    ]
    assert heads == [
        ["man", "cup", "man", "horse"],
        ["man", "horse", "man", "cup"],
    ]
    alike = np.array(
        [[a == b for b in heads[1]] for a in heads[0]], np.float64
    )
    men = (np.array([0, 2]), np.array([0, 2]))
    agreement = relation_agreement(source, target, alike, [men])
    assert agreement[0].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert agreement[2].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert not relation_agreement(source, target, alike, []).any()
    assert paired(source.graph.text, target.graph.text, {}).best.tolist() == [
        2,
        3,
        0,
        1,
    ]


def test_the_same_relation_the_other_way_round_is_no_agreement() -> None:
    source = analysed("A man kicks a man.")
    alike = np.ones((2, 2))
    both = (np.array([0, 1]), np.array([0, 1]))
    assert relation_agreement(source, source, alike, [both]).tolist() == [
        [1.0, 0.0],
        [0.0, 1.0],
    ]

"""Denials said in several ways, through the built-in judge."""

from __future__ import annotations

import pytest

from beholder import DCScore, PoSh
from beholder.records import Item, ItemScore

SAME = [
    ("A street with no cars.", "A street without cars."),
    ("There isn't a dog.", "There is no dog."),
    ("There is not a cloud in the sky.", "There are no clouds in the sky."),
    ("A man wears no hat.", "A man is not wearing a hat."),
    ("The king has no crown.", "The king does not have a crown."),
    ("There aren't any people.", "No people."),
    ("A man walks without shoes.", "A man with no shoes walks."),
    (
        "No cars are parked on the street.",
        "There are no cars parked on the street.",
    ),
    (
        "A man with a hat and a man without a hat.",
        "A man without a hat and a man with a hat.",
    ),
]


def result(
    metric: PoSh | DCScore, candidate: str, reference: str
) -> ItemScore:
    [score] = metric.score([Item("1", candidate, (reference,))])
    assert isinstance(score, ItemScore)
    return score


@pytest.mark.parametrize(("first", "second"), SAME)
def test_denials_in_other_words_are_the_same(first: str, second: str) -> None:
    for candidate, reference in ((first, second), (second, first)):
        values = result(PoSh(judge="builtin"), candidate, reference).values
        assert (values["contradicted_rate"], values["omission_rate"]) == (
            0.0,
            0.0,
        )
        assert values["f1"] > 0.95


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        ("A man in a suit with a tie.", "A man in a suit without a tie."),
        ("A man in a suit without a tie.", "A man in a suit with a tie."),
        ("There isn't a dog.", "There is a dog."),
        ("A street with cars.", "A street without people or cars."),
    ],
)
def test_a_thing_contradicts_its_lack(candidate: str, reference: str) -> None:
    score = result(PoSh(judge="builtin"), candidate, reference)
    assert "contradicted" in [
        u.verdict for u in score.units if u.kind == "entity"
    ]


@pytest.mark.parametrize(("first", "second"), SAME[:-1])
def test_their_facts_are_the_same(first: str, second: str) -> None:
    for candidate, reference in ((first, second), (second, first)):
        assert result(DCScore(judge="builtin"), candidate, reference).values[
            "f1"
        ] == pytest.approx(1.0)


def test_a_man_who_walks_without_shoes_walks() -> None:
    values = result(
        PoSh(judge="builtin"), "A man walks.", "A man walks without shoes."
    ).values
    assert values["precision"] == pytest.approx(1.0, abs=0.01)

"""Shares of things in two texts: which words exclude each other, and what the judge says."""

from __future__ import annotations

from beholder.judges.builtin.amounts import shares_exclude
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from beholder.language.graph import Entity, Mention
from toy.cases import each_case


def windows(quantity: str, rule: str = "share") -> Entity:
    mention = Mention("windows", (0, 7), 0)
    return Entity(
        0, "window", "window", (mention,), quantity, plural=True, rule=rule
    )


@each_case(
    ("first", "second", "exclude"),
    [
        ("all", "most", True),
        ("all", "every", False),
        ("most", "half", True),
        ("most", "many", False),
        ("some", "few", False),
        ("all", "not all", True),
    ],
)
def test_shares_exclude_each_other_as_expected(
    first: str, second: str, exclude: bool
) -> None:
    assert shares_exclude(windows(first), windows(second)) is exclude
    assert shares_exclude(windows(second), windows(first)) is exclude


def test_a_plain_quantity_is_no_share() -> None:
    assert not shares_exclude(windows("all"), windows("some", rule="noun"))


def absent(text: str, reference: str) -> set[str]:
    source = analysed(text)
    findings = find(source, analysed(reference), entail=False)
    pairs = zip(source.units, findings, strict=True)
    return {unit.text for unit, finding in pairs if finding.grade < PRESENT}


def test_all_is_not_most_and_is_every() -> None:
    assert absent(
        "All of the windows are lit.", "Most of the windows are lit."
    ) == {"lit"}
    assert absent("Most boys hold kites.", "All of the boys hold kites.") == {
        "hold"
    }
    assert (
        absent("All of the windows are lit.", "Every window is lit.") == set()
    )

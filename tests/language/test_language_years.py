"""Years that things are of, read by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.findings import find
from beholder.judges.builtin.reading import analysed
from beholder.language import graph_statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The vase dates from 1750.", [("vase", "from 1750")]),
        ("A vase from 1750.", [("vase", "from 1750")]),
        ("A painting of 1889 by Monet.", [("painting", "of 1889")]),
        (
            "The church was built in 1750 and restored in 1850.",
            [("church", "in 1750"), ("church", "in 1850")],
        ),
        (
            "A bridge built around 1900 crosses the river.",
            [("bridge", "around 1900")],
        ),
        ("A crowd of 2000 people.", []),
        ("The house at 1750 Main Street.", []),
        ("Number 1750 stands on the bus.", []),
    ],
)
def test_years_are_of_what_they_date(
    text: str, expected: list[tuple[str, str]]
) -> None:
    graph = analysed(text).graph
    years = [
        (graph.entities[attribute.entity].name, attribute.text)
        for attribute in graph.attributes
        if attribute.rule == "year"
    ]
    assert years == expected


def test_statements_say_what_is_from_a_year() -> None:
    graph = analysed(
        "The church was built in 1750. A bridge built around 1900 is grey."
    ).graph
    sentences = [statement.text for statement in graph_statements(graph)]
    assert "The church is from 1750." in sentences
    assert "The bridge is from around 1900." in sentences


def _grades(source: str, target: str) -> list[float]:
    findings = find(analysed(source), analysed(target))
    units = analysed(source).units
    return [
        finding.grade
        for finding, unit in zip(findings, units, strict=True)
        if unit.value == "1750"
    ]


def test_no_year_is_nearly_another() -> None:
    assert _grades("A vase from 1750.", "The vase was made in 1750.") == [5.0]
    (grade,) = _grades("A vase from 1750.", "A vase from 1850.")
    assert grade < 2.0
    (silent,) = _grades("A vase from 1750.", "A vase on a table.")
    assert silent < 2.0

"""The view of PoSh: graphs, filter by verdict, lists over the data set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import beholder
from beholder.kinds.scores.page import frequent, write_report
from beholder.records import Unit
from toy.browser import EXECUTABLE, Page, browser

ROWS = [
    {
        "id": "a",
        "candidate": "A tall man in a green hat holds a red cup.",
        "references": [
            "A short man holds a blue cup on a bench.",
            "A man sits.",
        ],
        "group": {"system": "x"},
    },
    {
        "id": "<img src=x onerror=alert(1)>",
        "candidate": "A red bus.",
        "references": ["A blue bus stands beside a church."],
        "group": {"system": "y"},
    },
    {
        "id": "c",
        "candidate": "A red bus.",
        "references": ["A blue bus stands beside a church."],
        "group": {"system": "x"},
    },
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("posh")
    data = folder / "data.jsonl"
    data.write_text(
        "\n".join(json.dumps(row) for row in ROWS), encoding="utf-8"
    )
    beholder.score(data, metrics=["posh"], out=folder / "run")
    return write_report(folder / "run")


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory, report: Path
) -> Iterator[Page]:
    if EXECUTABLE is None:
        pytest.skip("needs Chromium")
    with browser(tmp_path_factory.mktemp("profile")) as page_browser:
        page_browser.open(report.as_uri() + "#item-0")
        yield page_browser


def test_both_graphs_are_drawn_and_the_second_reference_waits(
    page: Page,
) -> None:
    assert (
        page.evaluate("document.querySelectorAll('#item svg.graph').length")
        == 2
    )
    names = page.evaluate(
        "[...document.querySelectorAll('svg.graph .name')].map(e => e.textContent)"
    )
    assert {"man", "hat", "cup", "bench"} <= set(names)
    page.evaluate("document.querySelector('.scenes details').open = true")
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    assert (
        page.evaluate("document.querySelectorAll('#item svg.graph').length")
        == 3
    )
    assert page.problems == []


def test_verdict_filter_fades_parts_of_the_graph(page: Page) -> None:
    count = "document.querySelectorAll('svg.graph .off').length"
    assert page.evaluate(count) == 0
    page.evaluate("document.querySelector('.chip.tone-wrong').click()")
    assert page.evaluate(count) > 0
    page.evaluate("document.querySelector('.chip.tone-wrong').click()")
    assert page.evaluate(count) == 0


def test_page_lists_wrong_attributes_and_missing_entities(
    report: Path,
) -> None:
    text = report.read_text(encoding="utf-8")
    assert "Most frequent wrong attributes" in text
    assert "red bus (there: blue)" in text
    assert "Most frequent missing entities" in text
    row = text.partition('<th scope="row"><bdi>church</bdi></th>')[2]
    row = row.partition("</tr>")[0]
    assert '<td class="num">2</td>' in row
    assert "<bdi>x</bdi> 1, <bdi>y</bdi> 1</td>" in row
    # Only one item has it.
    assert "red cup (there: blue)" not in text.partition("Items")[0]
    assert "And 2 in one item only: the items list them." in " ".join(
        text.split()
    )


def test_findings_count_once_per_item_and_by_group() -> None:
    wrong = Unit(
        "attribute",
        "Red",
        "candidate",
        (),
        0.1,
        "contradicted",
        detail={"of": "car"},
    )
    right = Unit("attribute", "old", "candidate", (), 0.9, "match")
    scores = [(i, (wrong, wrong, right)) for i in range(3)]
    (table,) = frequent(scores, {"system": ["x", "y", "x"]})
    assert table.rows == [("red car", 3, [2, 1])]
    assert list(table.groups) == ["x", "y"]
    assert (table.n_more, table.n_single) == (0, 0)
    # A finding of one item is not frequent: it is counted, and not listed.
    (table,) = frequent(scores[:1], {"system": ["x"]})
    assert (table.rows, table.n_more, table.n_single) == ([], 0, 1)
    # Twelve rows are listed, one of the fourteen is of one item.
    letters = "abcdefghijklmn"
    units = [replace(wrong, text=letter) for letter in letters]
    (table,) = frequent([(0, units), (1, units[:-1])], {})
    assert [text for text, *_ in table.rows] == [
        f"{letter} car" for letter in letters[:12]
    ]
    assert (table.n_more, table.n_single) == (1, 1)

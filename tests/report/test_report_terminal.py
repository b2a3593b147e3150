"""One score in a terminal and a notebook, and the tables of the command line."""

from __future__ import annotations

import io
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import pytest
from rich.console import Console

from beholder.records import Interval, Item, ItemFailure, ItemScore, Unit
from beholder.report import show, summary_table, to_html
from beholder.report.comparison import differences
from beholder.report.study_tables import TerminalTable, show_cell, show_range
from beholder.run import manifest
from beholder.run.compare import Comparison, Difference, SubjectCounts
from beholder.stats import PairedDifference
from beholder.tables import Column
from toy.runs import Outcome, lemons, write_run

ITEM = Item("1", "A red cat sits.", ("A black cat sits on a mat.",))
SCORE = ItemScore(
    {"f1": 0.5, "precision": 0.25},
    (
        Unit("entity", "red cat", "candidate", ((2, 9),), 0.9, "match"),
        Unit(
            "attribute",
            "red",
            "candidate",
            ((2, 5),),
            0.1,
            "mistake",
            None,
            {"contradiction": "black"},
        ),
        Unit("entity", "mat", "reference", ((22, 25),), 0.2, "omission", 0),
    ),
    "posh|v:1",
)


def print_score(
    item: Item, score: ItemScore, *, terminal: bool = False, width: int = 80
) -> str:
    out = io.StringIO()
    system: Literal["standard"] | None = "standard" if terminal else None
    console = Console(
        file=out, width=width, force_terminal=terminal, color_system=system
    )
    show(replace(score, item=item), console)
    return out.getvalue()


def test_show_prints_texts_values_and_notable_units_in_plain_text() -> None:
    text = print_score(ITEM, SCORE)
    assert "A red cat sits." in text
    assert "A black cat sits on a mat." in text
    rows = [line.split() for line in text.splitlines()]
    assert ["f1", "0.500"] in rows
    assert [
        "✗",
        "mistake",
        "candidate",
        "attribute",
        "0.100",
        *["red", "(there:", "black)"],
    ] in rows
    assert ["∅", "omission", "reference", "entity", "0.200", "mat"] in rows
    assert ["✓", "match", "candidate"] not in [
        row[:3] for row in rows
    ]  # nothing to look at
    assert "\x1b" not in text


def test_show_colours_the_most_specific_unit_on_a_terminal() -> None:
    text = print_score(ITEM, SCORE, terminal=True)
    red, cyan = "\x1b[1;31m", "\x1b[36m"
    assert f"A {red}red\x1b[0m{cyan} cat\x1b[0m sits." in text


def test_show_reads_no_markup_and_lets_no_escape_sequence_through() -> None:
    item = Item("1", "[bold]x[/bold] \x1b[2J\x07 [/nonsense]", ("[red]y",))
    unit = Unit(
        "[b]",
        "\x1b]0;owned\x07",
        "candidate",
        ((0, 6),),
        0.5,
        "mis\x1b[31mtake",
    )
    text = print_score(item, ItemScore({"[i]f1": 0.5}, (unit,), "\x1b[2Jsig"))
    assert "[bold]x[/bold] ␛[2J␇ [/nonsense]" in text
    assert "[i]f1" in text
    assert "\x1b" not in text


def test_show_puts_texts_side_by_side_where_there_is_room() -> None:
    line = next(
        line
        for line in print_score(ITEM, SCORE, width=140).splitlines()
        if "red cat" in line
    )
    assert "black cat" in line


def test_show_lists_twenty_units_and_counts_the_rest() -> None:
    units = tuple(
        Unit("entity", f"u{i}", "candidate", (), None, "mistake")
        for i in range(25)
    )
    text = print_score(ITEM, ItemScore({"f1": 0.0}, units))
    assert "u19" in text
    assert "u20" not in text
    assert "and 5 more" in text


@pytest.mark.usefixtures("two_sources_are_enough")
def test_summary_table_has_means_intervals_failures_and_signatures(
    tmp_path: Path,
) -> None:
    items = lemons(3)
    outcomes: list[Outcome] = [
        ItemScore({"f1": 0.25}),
        ItemScore({"f1": 0.75}),
        ItemFailure("E", "[b]no luck"),
    ]
    run = write_run(tmp_path / "run", items, {"posh": outcomes})
    out = io.StringIO()
    Console(file=out, width=100).print(
        TerminalTable(summary_table(manifest.read_log(run)))
    )
    lines = out.getvalue().splitlines()
    at = lines.index("posh  2 scored, 1 failed")
    # two values: bootstrap means are 0.25, 0.5 or 0.75, so the interval is the range
    assert lines[at + 1].split() == [
        "f1",
        "0.500",
        "0.250",
        "to",
        "0.750",
        "2",
    ]
    assert "posh: 1 failed: [b]no luck" in lines
    assert "posh|v:1|bs:1000|seed:12345" in lines


def test_summary_table_of_an_unfinished_or_failed_run(tmp_path: Path) -> None:
    out = io.StringIO()
    items = lemons(1)
    half = write_run(
        tmp_path / "half", items, {"vcs": [None]}, status="interrupted"
    )
    none = write_run(
        tmp_path / "none", items, {"vcs": [ItemFailure("E", "no luck")]}
    )
    for run in (half, none):
        Console(file=out, width=80).print(
            TerminalTable(summary_table(manifest.read_log(run)))
        )
    lines = out.getvalue().splitlines()
    assert "vcs  no result: run interrupted" in lines
    assert "vcs  0 scored, 1 failed" in lines
    assert "vcs: 1 failed: no luck" in lines


def test_comparison_table_shows_signed_differences() -> None:
    paired = PairedDifference(
        -0.05, Interval(-0.08, -0.02), 0.0004, 40, 40, ""
    )
    comparison = Comparison(
        (Difference("vcs", "las", 0.5, 0.45, paired, 0.002),),
        (SubjectCounts("items", 40, 2, 0),),
    )
    out = io.StringIO()
    table = TerminalTable(differences(comparison, "runs/[a]", "runs/b"))
    Console(file=out, width=120).print(table)
    text = out.getvalue()
    lines = text.splitlines()
    assert lines[lines.index("vcs") + 1].split() == [
        "las", "0.500", "0.450", "−0.050", "−0.080", "to", "−0.020", "<", "0.001", "0.002", "40",
    ]  # fmt: skip
    assert "runs/[a]" in text
    assert "40 items in both runs, 2 only in runs/[a]" in text


class Fragment(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_notebook_marks_nested_units_inside_each_other() -> None:
    html = to_html(replace(SCORE, item=ITEM))
    fragment = Fragment(html)
    assert "A red cat sits." in fragment.text
    assert "A black cat sits on a mat." in fragment.text
    marks = [
        attributes
        for tag, attributes in fragment.tags
        if tag == "span" and "title" in attributes
    ]
    # "red" lies in both units, " cat" in the wider one, "mat" in the omission
    assert [str(mark["title"]).split(" ")[0] for mark in marks] == [
        "match", "mistake", "match", "omission",
    ]  # fmt: skip
    assert "contradiction: black" in str(marks[1]["title"])
    assert "padding-bottom: 4px" in str(
        marks[0]["style"]
    )  # below the line of "red"


def test_notebook_escapes_everything_and_needs_nothing_else() -> None:
    evil = "<script>alert(1)</script>\" onload='x' {{ 7*7 }}"
    unit = Unit(
        evil,
        evil,
        "candidate",
        ((0, len(evil)),),
        0.5,
        evil,
        None,
        {evil: evil},
    )
    wrong = Unit(
        evil, evil, "reference", ((0, 9),), 0.5, "mistake", 0, {evil: evil}
    )
    fragment = Fragment(
        to_html(
            ItemScore(
                {evil: 0.5},
                (unit, wrong),
                evil,
                item=Item(evil, evil, (evil,)),
            )
        )
    )
    assert {tag for tag, _ in fragment.tags} <= {
        "div", "span", "table", "thead", "tbody", "tr", "th", "td", "code",
    }  # fmt: skip
    assert {name for _, attributes in fragment.tags for name in attributes} <= {
        "style", "title", "dir",
    }  # fmt: skip
    assert "{{ 7*7 }}" in fragment.text


def test_a_score_without_its_item_shows_all_but_the_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(SCORE)
    show(replace(SCORE, item=ITEM))
    without, whole = capsys.readouterr().out.split("posh|v:1\n")[:2]
    assert "candidate ─" not in without
    assert "candidate ─" in whole
    assert whole.endswith(without)
    assert "max-height" not in to_html(SCORE)  # the frame of a text
    assert "omission" in to_html(SCORE)


def test_a_cell_has_one_number_of_decimals() -> None:
    columns = (
        Column("mean", "mean", interval=True),
        Column("change", "change", "signed", True),
    )
    row = {
        **{"mean": 9.99, "mean_low": 9.795, "mean_high": 10.2},
        **{"change": -2.5, "change_low": -12.25, "change_high": 0.125},
    }
    # The largest number of a cell decides: three decimals below 10, one below 1,000.
    assert (show_cell(row, columns[0]), show_range(row, columns[0])) == (
        "10.0",
        "9.8 to 10.2",
    )
    assert show_cell(row, columns[1]) == "−2.5"
    assert show_range(row, columns[1]) == "−12.3 to +0.1"


def test_each_value_has_its_n(tmp_path: Path) -> None:
    # A metric may give a value for some items only.
    outcomes = [ItemScore({"f1": 0.5}), ItemScore({"f1": 0.5, "recall": 1.0})]
    run = write_run(tmp_path / "run", lemons(2), {"m": outcomes})
    rows = summary_table(manifest.read_log(run)).rows
    assert [(row["value"], row["n"]) for row in rows] == [
        ("f1", 2),
        ("recall", 1),
    ]

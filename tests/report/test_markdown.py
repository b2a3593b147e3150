"""Summaries in Markdown: read back by a Markdown reader, whatever stands in ids and texts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from beholder.base.visible import for_markdown
from beholder.report.comparison import moved_tables
from beholder.report.markdown import markdown
from beholder.run.compare import compare
from beholder.run.store import Store
from beholder.tables import Column, Table
from toy.cases import each_case
from toy.command import Cli

pytestmark = pytest.mark.usefixtures("few_resamples")

HOSTILE = (
    "a | b || c \\| d",
    "`code` ``x`` ```y```",
    "<img src=x onerror=alert(1)><!-- x --></td></table>",
    "line one\nline two\r\n| --- |\n# Title\n- item",
    "[x](http://e.vil) ![y](z) <http://e.vil> [r]: http://e.vil",
    "http://e.vil and www.e.vil and WWW.E.VIL a@b.example",
    "@octocat closes #12 :smile: ~~no~~ $x$ **b** _i_ *j*",
    "&lt;b&gt; &#124; &amp;",
    "\x1b[31mred \x07 \u202eturned",
    "1. one",
    "---",
)


class Reader(HTMLParser):
    """Cells of all tables as text, and all tags."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self._cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.rows[-1][-1] += data


def render(text: str) -> Reader:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return Reader(reader.render(text))


PLAIN = {
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "h2",
    "h3",
    "ul",
    "li",
    "p",
}


@each_case("text", HOSTILE)
def test_a_text_stays_text_in_its_cell(text: str) -> None:
    columns = (Column("a", text, "text"), Column("n", "n"))
    page = render(
        markdown(Table("t", text, columns, ({"a": text, "n": 0.5},), (text,)))
    )
    assert page.tags <= PLAIN
    assert [len(row) for row in page.rows] == [2, 2]
    shown_text = page.rows[1][0].replace("\u2060", "")
    if not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text):
        assert shown_text.split() == text.split()
    assert page.rows[1][1] == "0.500"
    assert "\u202e" not in shown_text
    assert "\x1b" not in shown_text


def test_texts_that_github_would_link_are_broken_up() -> None:
    escaped = for_markdown(
        "@octocat #12 http://e.vil www.e.vil WWW.e.vil :smile:"
    )
    assert not re.search(
        r"@\w|#\d+ |://|www\.|:smile:", escaped, re.IGNORECASE
    )


def test_intervals_follow_values_and_groups_are_named_once() -> None:
    columns = (Column("m", "metric", "text"), Column("x", "x", interval=True))
    rows = (
        {"m": "posh", "x": 0.5, "x_low": 0.25, "x_high": 0.75},
        {"m": "posh", "x": None},
    )
    page = render(
        markdown(
            Table("t", "", columns, rows, by="m", heads={"posh": "2 scored"})
        )
    )
    assert page.rows == [
        ["metric", "x"],
        ["posh (2 scored)", "0.500 [0.250 to 0.750]"],
        ["", "–"],
    ]


def data(name: str, **changed: str) -> str:
    texts = {"good": "a dog runs", "bad|<b>": "x y z", "empty": ""} | changed
    rows: list[dict[str, Any]] = [
        {"id": key, "candidate": texts[key], "references": ["a dog runs"]}
        for key in texts
    ]
    rows = [row | {"judgments": {"good": i}} for i, row in enumerate(rows)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def test_a_run_is_summed_up_with_its_gates_and_worst_items(cli: Cli) -> None:
    gates = (
        "--fail-under",
        "chrf=0.9",
        "--fail-under",
        "chrf=0.1",
        "--gate-on",
        "mean",
    )
    command = (
        "score",
        data("d.jsonl"),
        "-m",
        "chrf",
        *gates,
        "-o",
        "run",
        "--no-report",
    )
    done = cli(*command, "--markdown", "-")
    assert done.code == 1
    assert done.out.startswith("## run: ❌ not passed\n\n- chrf.chrf is 0.")
    page = render(done.out)
    assert page.tags <= PLAIN
    by_gate = [row[1:] for row in page.rows if row[0] == "chrf.chrf"]
    mean = by_gate[0][0]
    assert by_gate == [[mean, "0.900", "missed"], [mean, "0.100", "passed"]]
    names = [row[0] for row in page.rows]
    assert names[-3:] == ["empty", "bad|<b>", "good"]
    assert page.rows[-3][2] == "failed: the candidate is empty"
    filed = cli(*command, "--markdown", "out.md")
    assert Path("out.md").read_text() == done.out
    assert "chrf" in filed.out
    passed = cli(
        *command[:4], "--allow-failed", "1", "-o", "run", "--markdown", "-"
    )
    assert passed.code == 0
    assert "✅ passed" in passed.out.splitlines()[0]


def test_a_comparison_names_what_fell_most(cli: Cli) -> None:
    cli(
        "score",
        data("a.jsonl"),
        "-m",
        "chrf",
        "-m",
        "ter",
        "-o",
        "a",
        "--no-report",
    )
    cli(
        "score",
        data("b.jsonl", good="a cat", **{"bad|<b>": "a dog"}),
        "-m",
        "chrf",
        "-m",
        "ter",
        "-o",
        "b",
        "--no-report",
    )
    done = cli("compare", "a", "b", "--markdown", "-")
    assert done.code == 0, done.err
    page = render(done.out)
    assert page.tags <= PLAIN
    fallen = [row for row in page.rows if row[0] in ("good", "bad|<b>")]
    assert [row[0] for row in fallen] == [
        "good",
        "good",
    ]  # by chrf and, lower is better, by ter
    assert fallen[0][1] == "1.000"
    assert fallen[0][3].startswith("\N{MINUS SIGN}")
    assert fallen[1][1] == "0.000"
    assert fallen[1][3].startswith("+")


def test_falls_follow_the_direction_of_each_value(cli: Cli) -> None:
    reference = "A red dog sleeps on a mat."
    for name, text in (
        ("a", "A red dog sleeps."),
        ("b", "A green dog sleeps."),
    ):
        row = {"id": "one", "candidate": text, "references": [reference]}
        Path(f"{name}.jsonl").write_text(json.dumps(row))
        cli("score", f"{name}.jsonl", "-m", "posh", "-o", name, "--no-report")
    with Store.read(Path("a")) as a, Store.read(Path("b")) as b:
        comparison = compare(a, b)
        rates = tuple(
            difference
            for difference in comparison.differences
            if difference.value == "contradicted_rate"
        )
        only = replace(comparison, differences=rates)
        (table,) = moved_tables(
            a, b, only
        )  # f1, its first value, is better when it is higher
    assert [row["id"] for row in table.rows] == ["one"]


def test_an_agreement_is_summed_up(cli: Cli) -> None:
    done = cli(
        "agree",
        data("d.jsonl"),
        "-m",
        "chrf",
        "--resamples",
        "0",
        "-o",
        "r",
        "--markdown",
        "-",
    )
    assert done.code == 0, done.err
    assert render(done.out).rows[0][:3] == ["metric", "value", "agreement"]
    refused = cli(
        "score",
        "d.jsonl",
        "-m",
        "chrf",
        "--markdown",
        "d.jsonl/x.md",
        "-o",
        "new",
    )
    assert (
        refused.err
        == "beholder: d.jsonl is a file, not a folder; choose another place with --markdown\n"
    )
    assert not Path("new").exists()


def test_numbers_can_be_read_in_a_terminal() -> None:
    # An ordered list needs a blank after the full stop (CommonMark 0.31, 5.2).
    for text in ("0.748", ".5", "1.2.3"):
        assert for_markdown(text) == text
    assert for_markdown("1. one") == "1&#46; one"
    column = Column("x", "x", interval=True)
    row = {"x": 0.5, "x_low": 0.25, "x_high": 0.75}
    table = Table(name="t", title="", columns=(column,), rows=(row,))
    assert "| 0.500 [0.250 to 0.750] |" in markdown(table)

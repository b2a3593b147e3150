"""One table, written for a terminal, a page, a paper and as data."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from beholder.report.study_tables import TerminalTable, html, latex, write_tables
from beholder.tables import Column, Table

NAMES = ["accord.contradicted_rate", "vcs(rules='paper', lct=1).nas_l_precision", "日本語の指標"]
TABLE = Table(
    name="agreement",
    title="A_title & more",
    columns=(
        Column("set", "set", "text"),
        Column("metric", "metric", "text"),
        Column("found", "agreement", interval=True),
        Column("share", "share", "percent"),
        Column("p", "p", "p"),
        Column("n", "n", "count"),
        Column("note", "note", "text"),
    ),
    rows=tuple(
        {"set": "first" if place < 2 else "second", "metric": name, "found": -0.25 * place,
         "found_low": -0.5, "found_high": 0.125, "share": 0.1234, "p": 0.0004, "n": 12345,
         "note": None}
        for place, name in enumerate(NAMES)
    ),
    notes=("50 % of <b>texts</b> & {more}.",),
    by="set",
    heads={"first": "2 rows"},
)  # fmt: skip


def printed(table: Table, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(TerminalTable(table))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [200, 100, 80, 60])
def test_names_are_whole_at_any_width_and_every_cell_is_there(width: int) -> None:
    lines = printed(TABLE, width)
    for name in NAMES:
        row = [line for line in lines if line.startswith(name)]
        cells = " ".join(line.removeprefix(name) for line in row).split()
        assert cells.count("12,345") == 1, (width, row)
        assert " ".join(cells).count("−0.500 to 0.125") == 1
        assert cells.count("12.3") == 1
    assert "first  2 rows" in lines
    assert "second" in lines


def test_columns_stand_beside_each_other_where_they_fit() -> None:
    lines = printed(TABLE, 200)
    assert sum(line.startswith(NAMES[0]) for line in lines) == 1
    assert lines[1].split() == ["metric", "agreement", "95", "%", "interval", "share", "p", "n"]
    assert all(len(line) <= 80 for line in printed(TABLE, 80))
    assert sum(line.startswith(NAMES[0]) for line in printed(TABLE, 80)) == 2


def test_a_column_that_says_nothing_is_left_out() -> None:
    assert "note" not in printed(TABLE, 200)[1].split()


def test_a_page_escapes_everything_and_repeats_group_names_for_those_who_listen() -> None:
    hostile = "<script>alert(1)</script>"
    row = {**TABLE.rows[0], "set": hostile, "metric": hostile}
    table = Table("t", "t", TABLE.columns, (row, row), (hostile,), "set", {hostile: hostile})
    page = str(html(table))
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 6  # twice two names, beside the group, the note
    assert page.count('class="unseen"') == 1


def test_a_paper_gets_booktabs_with_special_characters_escaped() -> None:
    text = latex(TABLE)
    assert r"\caption{A\_title \& more. 50 \% of \textless{}b\textgreater{}texts" in text
    assert r"\{more\}" in text
    assert (
        r"first & accord.contradicted\_rate & 0.000 [$-$0.500 to 0.125] & 12.3 \% &"
        r" \textless{} 0.001 & 12,345 \\" in text
    )
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    assert r"\begin{tabular}{llrrrr}" in text


def test_files_hold_all_digits(tmp_path: Path) -> None:
    written = write_tables([TABLE], tmp_path / "tables")
    assert [path.name for path in written] == ["agreement.csv", "agreement.json", "agreement.tex"]
    with written[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["found"] == "-0.25"
    assert rows[0]["share"] == "0.1234"
    assert rows[2]["metric"] == NAMES[2]
    assert rows[0]["note"] == ""
    kept = json.loads(written[1].read_text("utf-8"))
    assert kept["rows"][1]["found_high"] == 0.125
    assert kept["rows"][0]["note"] is None
    assert kept["columns"]["p"] == "p"

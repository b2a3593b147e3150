"""One table, written for a terminal, a page, a paper and as data."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import UNSET, Struct, UnsetType
from rich.console import Console

from beholder.records import Estimate, Interval
from beholder.report.study_tables import (
    TerminalTable,
    html,
    latex,
    show_cell,
    write_tables,
)
from beholder.stats.correlation import Correlation
from beholder.tables import (
    Column,
    Table,
    cell_names,
    heading,
    record_cells,
    record_columns,
)
from toy.cases import each_case

NAMES = [
    "accord.contradicted_rate",
    "vcs(rules='paper', lct=1).nas_l_precision",
    "日本語の指標",
]
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


def print_table(table: Table, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(TerminalTable(table))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [200, 100, 80, 60])
def test_names_are_whole_at_any_width_and_every_cell_is_there(
    width: int,
) -> None:
    lines = print_table(TABLE, width)
    for name in NAMES:
        row = [line for line in lines if line.startswith(name)]
        cells = " ".join(line.removeprefix(name) for line in row).split()
        assert cells.count("12,345") == 1, (width, row)
        assert " ".join(cells).count("−0.500 to 0.125") == 1
        assert cells.count("12.3") == 1
    assert "first  2 rows" in lines
    assert "second" in lines


def test_columns_are_side_by_side_where_they_fit() -> None:
    lines = print_table(TABLE, 200)
    assert sum(line.startswith(NAMES[0]) for line in lines) == 1
    assert lines[1].split() == [
        "metric",
        "agreement",
        "95",
        "%",
        "interval",
        "share",
        "p",
        "n",
    ]
    assert all(len(line) <= 80 for line in print_table(TABLE, 80))


def test_a_value_and_its_interval_stay_together() -> None:
    metric, agreement, n = (TABLE.columns[at] for at in (1, 2, -2))
    table = Table("t", "", (metric, n, agreement), TABLE.rows[:1])
    heads = [
        line.split()
        for line in print_table(table, len(NAMES[0]) + 28)
        if "metric" in line
    ]
    assert heads == [
        ["metric", "n"],
        ["metric", "agreement", "95", "%", "interval"],
    ]


def test_a_column_without_information_is_left_out() -> None:
    assert "note" not in print_table(TABLE, 200)[1].split()


LONG = (
    "response(judge=reviewer('m', bias=0.4, noise=0.3), orders=2, image=False)"
)


@pytest.mark.parametrize(("by", "indent"), [("set", "  "), ("", "")])
def test_names_that_leave_no_room_are_printed_above_their_rows(
    by: str, indent: str
) -> None:
    columns = TABLE.columns if by else TABLE.columns[1:]
    row = {**TABLE.rows[0], "metric": LONG, "found": -0.25}
    lines = print_table(Table("t", "", columns, (row,), by=by), 75)
    heads, cells = lines[1].split(), lines[-2].split()
    assert lines[0] == f"{indent}metric"
    assert lines[-3] == f"{indent}{LONG}"
    assert heads == ["agreement", "95", "%", "interval", "share", "p", "n"]
    assert cells == [
        "−0.250",
        "−0.500",
        "to",
        "0.125",
        "12.3",
        "%",
        "<",
        "0.001",
        "12,345",
    ]
    assert (
        lines[1].index("agreement") + len("agreement")
        == lines[-2].index("−0.250") + 6
    )
    assert ("first" in lines) is bool(by)


def test_names_are_beside_their_rows_while_the_widest_column_fits() -> None:
    table = Table(
        "t", "", TABLE.columns[1:], ({**TABLE.rows[0], "metric": LONG},)
    )
    widest = len("−0.500 to 0.125")
    lines_beside = print_table(table, len(LONG) + 2 + widest)
    # value; interval; share and p; n
    assert sum(line.startswith(f"{LONG}  ") for line in lines_beside) == 4
    above = print_table(table, len(LONG) + 2 + widest - 1)
    assert [line for line in above if LONG in line] == [LONG]


def test_a_name_that_is_longer_than_the_console_is_whole() -> None:
    out = io.StringIO()
    table = Table(
        "t",
        "",
        TABLE.columns,
        ({**TABLE.rows[0], "metric": LONG, "set": LONG[::-1]},),
    )
    for by in ("", "set"):
        Console(file=out, width=40).print(
            TerminalTable(Table("t", "", table.columns, table.rows, by=by)),
            crop=False,
        )
    # two tables, each in two parts: value, interval and share; p and n
    assert out.getvalue().count(LONG) == out.getvalue().count(LONG[::-1]) == 4


def test_a_table_without_informative_columns_shows_its_group_alone() -> None:
    table = Table(
        "t",
        "t",
        (TABLE.columns[0], TABLE.columns[2]),
        ({"set": "first"},),
        by="set",
    )
    assert [line for line in print_table(table, 80) if line] == ["t", "first"]


@each_case(
    ("kind", "value", "expected"),
    [
        ("hundredths", -0.004, "0.00"),
        ("hundredths", -1234.567, "−1,234.57"),
        ("tenths", 1.5, "1.5"),
        ("failed", 1200, "1,200"),
        ("count", 86.4, "86"),
        ("percent", -0.0001, "0.0 %"),
        ("percent", 0.5714, "57.1 %"),
    ],
)
def test_numbers_have_as_many_decimals_as_their_kind(
    kind: Any, value: float, expected: str
) -> None:
    assert show_cell({"x": value}, Column("x", "x", kind)) == expected


def test_a_page_draws_values_on_their_scale_and_marks_failures() -> None:
    columns = (
        Column("name", "name", "text"),
        Column("value", "value", interval=True, scale=(-1.0, 1.0)),
        Column("bad", "bad", "failed"),
    )
    rows = (
        {
            "name": "a",
            "value": 0.5,
            "value_low": 0.0,
            "value_high": 0.8,
            "bad": 3,
        },
        {"name": "b", "value": -1.0, "bad": 0},
        {"name": "c", "value": None},
    )
    page = str(html(Table("t", "t", columns, rows)))
    # on a scale of 2 from -1: 0.5 is at 75 %, the interval from 50 % to 90 %, -1 at the left end
    assert re.findall(r'class="mean" x="([^"]+)"', page) == ["74.6", "0"]
    assert re.findall(
        r'class="interval" x="([^"]+)" y="3" width="([^"]+)"', page
    ) == [("50.0", "40.0")]
    assert page.count("on its scale") == 1
    assert re.findall(r'class="num failed">(.*?)<', page) == ["3"]
    assert re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', page) == [
        "a",
        "b",
        "c",
    ]


def test_a_page_escapes_everything_and_repeats_group_names_for_those_who_listen() -> (
    None
):
    hostile = "<script>alert(1)</script>"
    row = {**TABLE.rows[0], "set": hostile, "metric": hostile}
    table = Table(
        "t",
        "t",
        TABLE.columns,
        (row, row),
        (hostile,),
        "set",
        {hostile: hostile},
    )
    page = str(html(table))
    assert "<script" not in page
    assert (
        page.count("&lt;script&gt;") == 6
    )  # twice two names, beside the group, the note
    assert page.count('class="unseen"') == 1


def test_a_paper_gets_booktabs_with_special_characters_escaped() -> None:
    text = latex(TABLE)
    assert (
        r"\caption{A\_title \& more. 50 \% of \textless{}b\textgreater{}texts"
        in text
    )
    assert r"\{more\}" in text
    signs = Table("t", "≥ 0.6, a → b ⚠", TABLE.columns, TABLE.rows)
    assert r"\caption{$\geq$ 0.6, a $\rightarrow$ b $\triangle$.}" in latex(
        signs
    )
    assert (
        r"first & accord.contradicted\_rate & 0.000 [$-$0.500 to 0.125] & 12.3 \% &"
        r" \textless{} 0.001 & 12,345 \\" in text
    )
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    assert r"\begin{tabular}{llrrrr}" in text


def test_files_contain_all_digits(tmp_path: Path) -> None:
    written = write_tables([TABLE], tmp_path / "tables")
    assert [path.name for path in written] == [
        "agreement.csv",
        "agreement.json",
        "agreement.tex",
    ]
    with written[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["found"] == "-0.25"
    assert rows[0]["share"] == "0.1234"
    assert rows[2]["metric"] == NAMES[2]
    assert rows[0]["note"] == ""
    content = json.loads(written[1].read_text("utf-8"))
    assert content["rows"][1]["found_high"] == 0.125
    assert content["rows"][0]["note"] is None
    assert content["columns"]["p"] == "p"


@dataclass(frozen=True)
class Gap:
    """A row whose intervals are in values, in ``share_interval`` and in ``interval``."""

    where: Annotated[str, heading("set", "text")]
    hidden: int
    mean: Annotated[
        Estimate | None, heading("mean", "hundredths", interval=True)
    ]
    rho: Annotated[Correlation, heading("Spearman", interval=True)]
    share: Annotated[
        float, heading("share", "percent", interval=True, scale=(0.0, 1.0))
    ]
    share_interval: tuple[float, float] | None
    change: Annotated[float, heading("change", "signed", interval=True)]
    interval: tuple[float, float] | None


RHO = Correlation(
    "spearman", 0.5, Interval(0.25, 0.75), 0.04, n=9, n_clusters=9
)


def test_fields_of_a_record_are_columns_and_cells() -> None:
    rows = [
        Gap(
            "a",
            1,
            Estimate(2.0, Interval(1.0, 3.0), 9),
            RHO,
            0.5,
            None,
            0.1,
            (0.0, 0.2),
        ),
        Gap("b", 2, None, RHO, 0.5, (0.4, 0.6), 0.1, None),
    ]
    table = Table.from_records(
        "gaps",
        "what is missing",
        Gap,
        rows,
        ["two rows"],
        by="where",
        before=[Column("first", "first", "text")],
        after=[Column("last", "last")],
    )
    assert table.columns == (
        Column("first", "first", "text"),
        Column("where", "set", "text"),
        Column("mean", "mean", "hundredths", interval=True),
        Column("rho", "Spearman", interval=True),
        Column("share", "share", "percent", interval=True, scale=(0.0, 1.0)),
        Column("change", "change", "signed", interval=True),
        Column("last", "last"),
    )
    assert (table.notes, table.by) == (("two rows",), "where")
    shown_rows = [
        {name: row.get(name) for name in cell_names(table)}
        for row in table.rows
    ]
    both = {
        "first": None,
        "rho": 0.5,
        "rho_low": 0.25,
        "rho_high": 0.75,
        "last": None,
    }
    assert shown_rows[0] == both | {
        **{"where": "a", "mean": 2.0, "mean_low": 1.0, "mean_high": 3.0},
        **{"share": 0.5, "share_low": None, "share_high": None},
        **{"change": 0.1, "change_low": 0.0, "change_high": 0.2},
    }
    assert shown_rows[1] == both | {
        **{"where": "b", "mean": None, "mean_low": None, "mean_high": None},
        **{"share": 0.5, "share_low": 0.4, "share_high": 0.6},
        **{"change": 0.1, "change_low": None, "change_high": None},
    }


class Stored(Struct, frozen=True, kw_only=True):
    """A row as a file has it: unset where nothing was measured, ends of an interval beside."""

    n: Annotated[int, heading("n", "count")] = 0
    gain: Annotated[float | UnsetType, heading("gain", interval=True)] = UNSET
    gain_low: float | None = None
    gain_high: float | None = None


class FurtherStored(Stored, frozen=True, kw_only=True):
    """The same with a further column, and another heading of ``n``."""

    n: Annotated[int, heading("pictures", "count")] = 0
    p: Annotated[float | None, heading("p", "p")] = None


def test_records_of_files_are_rows_too_and_may_have_further_cells() -> None:
    stored = msgspec.convert({"n": 3, "gain": 1.0, "gain_low": 0.5}, Stored)
    table = Table.from_records(
        "a", "", Stored, [stored, record_cells(Stored()) | {"more": 1}]
    )
    assert table.rows == (
        {"n": 3, "gain": 1.0, "gain_low": 0.5, "gain_high": None},
        {"n": 0, "gain": None, "gain_low": None, "gain_high": None, "more": 1},
    )
    assert [(c.key, c.heading) for c in record_columns(FurtherStored)] == [
        ("n", "pictures"),
        ("gain", "gain"),
        ("p", "p"),
    ]


class Rated(Struct, frozen=True, kw_only=True):
    """A row whose mean and estimate each say why they have no interval."""

    mean: Annotated[float, heading("mean", interval=True)]
    interval: tuple[float, float] | None = None
    reason: str | None = None
    change: Annotated[Estimate | None, heading("change", interval=True)] = None


class Agreed(Struct, frozen=True, kw_only=True):
    """A row whose reason is not about an ``interval``."""

    agreement: Annotated[float | None, heading("agreement", interval=True)]
    reason: str | None = None


def test_reasons_of_records_and_of_their_values_are_notes_once() -> None:
    rows = [
        Rated(
            mean=1.0,
            reason="too few pictures",
            change=Estimate(0.5, None, 2, "too few pairs"),
        ),
        Rated(mean=2.0, reason="too few pictures"),
        Rated(mean=3.0, interval=(2.0, 4.0)),
    ]
    table = Table.from_records("rated", "", Rated, rows, ["First."])
    assert table.shown_notes() == (
        "First.",
        "too few pairs.",
        "too few pictures.",
    )
    agreement_table = Table.from_records(
        "agreed", "", Agreed, [Agreed(agreement=None, reason="no labels")]
    )
    assert agreement_table.shown_notes() == ()

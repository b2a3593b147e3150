"""Tables of studies as people read them: in a terminal, on a page, in a paper.

``SafeConsole`` shows control characters instead of obeying them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, TypeAlias

from markupsafe import Markup
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from beholder.base import files
from beholder.base.visible import for_terminal, make_visible
from beholder.records import Interval
from beholder.report.charts import RangeBar, range_bar
from beholder.report.numbers import (
    show_fixed,
    show_number,
    show_p,
    show_signed,
)
from beholder.tables import Column, Table, table_as_json, write_csv

_WORDS = ("text", "direction", "mark", "measure")
_GAP = "  "
_WIDE = 7
_INTERVAL = "95 % interval"
DASH = "\N{EN DASH}"
_LATEX: dict[str, str] = json.loads(
    Path(__file__).with_name("latex.json").read_text("utf-8")
)


@dataclass(frozen=True)
class TerminalTable:
    """A table for a console: names are never broken, whatever its width.

    If the columns do not fit, they are split into several tables, each with the names of its rows;
    a value and its interval stay together where they fit.
    If no column fits beside the names, each name is on a separate line above its row.
    Print it with ``crop=False``: a name may be longer than the console.
    """

    table: Table

    def __rich_console__(
        self, _: Console, options: ConsoleOptions
    ) -> Iterator[Text]:
        """Yield lines that fit the width."""
        # Columns are printed to their final width first. Then they fill tables
        # from the left, each with the names of the rows; where not even one
        # fits beside them, names go above the rows.
        table, room = self.table, options.max_width
        columns = [
            column
            for column in table.shown_columns()
            if column.key != table.by
        ]
        printed = [_printed(table, column) for column in columns]
        n_names = (
            len(list(takewhile(lambda column: column.kind == "text", columns)))
            or 1
        )
        names, value_groups = (
            list(chain(*printed[:n_names])),
            printed[n_names:],
        )
        widest = max(
            (cell_len(column[0]) for column in chain(*value_groups)), default=0
        )
        above = bool(value_groups) and _wide(names) + widest > room
        if table.title:
            yield Text(make_visible(table.title), style="bold")
        row_names = [] if above else names
        parts = [row_names]
        for value_columns in value_groups:
            # A value and its interval stay together if a table of their own
            # can hold both.
            fits = _wide([*row_names, *value_columns]) - len(_GAP) <= room
            for block in (
                [value_columns] if fits else zip(value_columns, strict=True)
            ):
                if _wide([*parts[-1], *block]) - len(_GAP) > room and len(
                    parts[-1]
                ) > len(row_names):
                    # The table is full and has more than names: begin the
                    # next.
                    parts.append(row_names)
                parts[-1] = [*parts[-1], *block]
        for part in parts:
            yield from _lines(part, names if above else [], _groups(table))
            yield Text("")
        notes = table.shown_notes()
        for note in notes:
            yield Text(make_visible(note), style="dim", overflow="fold")
        if notes:
            yield Text("")


_Printed: TypeAlias = list[str]
"""A printed column: the heading, then a cell per row, all of one width."""


def _printed(table: Table, column: Column) -> list[_Printed]:
    """Return a column as text, and its intervals as a second one."""
    cells = [show_cell(row, column) for row in table.rows]
    printed = [
        _padded(
            [make_visible(column.heading), *cells],
            right=column.kind not in _WORDS,
        )
    ]
    if column.interval:
        ranges = [show_range(row, column) or DASH for row in table.rows]
        printed.append(_padded([_INTERVAL, *ranges], right=True))
    return printed


def _padded(cells: Sequence[str], *, right: bool) -> _Printed:
    width = max(map(cell_len, cells))
    blanks = (" " * (width - cell_len(cell)) for cell in cells)
    return [
        blank + cell if right else cell + blank
        for cell, blank in zip(cells, blanks, strict=True)
    ]


def _wide(columns: Iterable[_Printed]) -> int:
    """Return the width of columns in cells of the terminal, with a gap behind each."""
    return sum(cell_len(column[0]) + len(_GAP) for column in columns)


def _groups(table: Table) -> list[str]:
    """Return the group of each row, with its note; empty texts without groups."""
    groups = [""] * len(table.rows)
    for column in table.columns:
        if column.key == table.by:
            for place, row in enumerate(table.rows):
                head = make_visible(
                    table.heads.get(str(row.get(table.by)), "")
                )
                groups[place] = f"{show_cell(row, column)}{_GAP}{head}".strip()
    return groups


def _lines(
    part: Sequence[_Printed], above: Sequence[_Printed], groups: Sequence[str]
) -> Iterator[Text]:
    """Yield the head, a rule, and the rows; each group has its name above its rows.

    Names above their rows are indented below the name of a group.
    """

    def lines(place: int, style: str = "") -> Iterator[Text]:
        if above:
            indent = _GAP if any(groups) else ""
            name = _GAP.join(column[place].strip() for column in above).strip()
            yield Text(
                f"{indent}{name}", style=style, no_wrap=True, overflow="ignore"
            )
        cells = _GAP.join(column[place] for column in part).rstrip()
        yield Text(cells, style=style, no_wrap=True, overflow="ignore")

    yield from lines(0, "bold")
    yield Text("─" * (_wide(part) - len(_GAP)), no_wrap=True)
    before = ""
    for place, group in enumerate(groups, start=1):
        if group != before:
            yield Text(group, style="bold", no_wrap=True, overflow="ignore")
            before = group
        yield from lines(place)


def renderable(table: Table | RenderableType) -> RenderableType:
    """Convert a ``Table`` to a Rich renderable; return other objects unchanged."""
    return TerminalTable(table) if isinstance(table, Table) else table


class SafeConsole(Console):
    """Shows control characters in tables and texts instead of obeying them."""

    def render(
        self, renderable: Any, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render with visible control characters; the console's own control codes stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(for_terminal(segment.text), segment.style)


WIDTH = 100
"""Characters of a line."""


def as_text(tables: Iterable[RenderableType | Table]) -> str:
    """Return tables as the terminal shows them, without colours."""
    console = SafeConsole(
        file=io.StringIO(), width=WIDTH, force_jupyter=False, color_system=None
    )
    with console.capture() as caught:
        for table in tables:
            console.print(renderable(table), crop=False)
    return caught.get().rstrip()


def as_html(tables: Iterable[RenderableType | Table]) -> str:
    """Return tables as HTML; every text is escaped."""
    console = SafeConsole(
        file=io.StringIO(), width=WIDTH, force_jupyter=False, record=True
    )
    for table in tables:
        console.print(renderable(table), crop=False)
    return console.export_html(
        inline_styles=True, code_format="<pre>{code}</pre>"
    )


def html(table: Table) -> Markup:
    """Return a table with its notes as HTML; every text is escaped.

    Values of a column with a scale are also drawn on it.
    """
    from beholder.report.pages import (
        environment,
    )  # loads jinja2, which a terminal does not need

    functions = {"cell": show_cell, "range": show_range, "bar": _bar}
    table_html = (
        environment()
        .get_template("table.html.j2")
        .render(table=table, **functions)
    )
    return Markup(table_html)  # noqa: S704  # escaped by the template


def _bar(row: Mapping[str, Any], column: Column) -> RangeBar | None:
    value = row.get(column.key)
    if value is None or column.scale is None:
        return None
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    interval = None if low is None or high is None else Interval(low, high)
    return range_bar(value, interval, *column.scale)


def latex(table: Table) -> str:
    """Return a table for a paper: ``booktabs``, a caption with the notes, numbers as on the page.

    One with more than ``_WIDE`` columns is scaled to the width of the text (``graphicx``).
    """
    columns = table.shown_columns()
    # More columns than a page of text has room for are scaled down.
    wide = len(columns) > _WIDE
    # Stars of ``best`` are set in bold.
    caption = " ".join((f"{table.title}.", *table.shown_notes()))
    marks = "".join(
        "l" if column.kind in _WORDS else "r" for column in columns
    )
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(caption.replace('★', 'Bold'))}}}",
        rf"\label{{tab:{table.name}}}",
        *((r"\resizebox{\textwidth}{!}{%",) if wide else ()),
        rf"\begin{{tabular}}{{{marks}}}",
        r"\toprule",
        " & ".join(_escaped(column.heading) for column in columns) + r" \\",
        r"\midrule",
    ]
    lines += [
        " & ".join(_latex_cell(row, c) for c in columns) + r" \\"
        for row in table.rows
    ]
    end = r"\end{tabular}}" if wide else r"\end{tabular}"
    return "\n".join([*lines, r"\bottomrule", end, r"\end{table}", ""])


def _latex_cell(row: Mapping[str, Any], column: Column) -> str:
    """Return a cell with its interval; in columns with daggers the best is bold."""
    text, interval = show_cell(row, column), show_range(row, column)
    # Bold and daggers take the place of the signs, which few fonts of LaTeX
    # have.
    if column.best and f"{column.key}_below" in row:
        text = _escaped(text.removesuffix(" †").removesuffix(" ★"))
        text = rf"\textbf{{{text}}}" if row[f"{column.key}_best"] else text
        text += r"$^{\dagger}$" if row[f"{column.key}_below"] else ""
        return (
            rf"{text}\textsubscript{{{_escaped(interval)}}}"
            if interval
            else text
        )
    return _escaped(f"{text} [{interval}]" if interval else text)


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write each table as CSV, JSON and LaTeX into a folder; return the files.

    Raises:
        RunError: The folder or a file cannot be written.
    """
    files.make_folder(folder)
    written = []
    for table in tables:
        paths = [
            (folder / table.name).with_suffix(ending)
            for ending in (".csv", ".json", ".tex")
        ]
        write_csv(table, paths[0])
        files.write_text(
            paths[1],
            json.dumps(table_as_json(table), ensure_ascii=False, indent=2)
            + "\n",
        )
        files.write_text(paths[2], latex(table))
        written += paths
    return written


def _escaped(text: str) -> str:
    return "".join(
        _LATEX.get(character, character) for character in make_visible(text)
    )


def show_cell(row: Mapping[str, Any], column: Column) -> str:
    """Return the value of a column as text."""
    value = row.get(column.key)
    if column.kind == "mark":
        return _mark(value, column.key)
    # Cells of free form may be empty; a missing number is a dash.
    if value is None:
        return "" if column.kind == "cell" else DASH
    if column.kind in ("text", "cell"):
        return make_visible(str(value))
    if column.kind == "measure":
        return _NAMES.get(value, make_visible(str(value)))
    if column.kind == "direction":
        return str(value).upper()
    star = " ★" if column.best and row.get(f"{column.key}_best") else ""
    dagger = " †" if column.best and row.get(f"{column.key}_below") else ""
    return f"{_number(value, column, _size(row, column))}{star}{dagger}"


def show_range(row: Mapping[str, Any], column: Column) -> str:
    """Return the interval of a column as text; empty without one."""
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if not column.interval or low is None or high is None:
        return ""
    size = _size(row, column)
    # One per cent sign is enough: that of the value.
    return " to ".join(
        _number(end, column, size).removesuffix(" %") for end in (low, high)
    )


def _size(row: Mapping[str, Any], column: Column) -> float | None:
    """Return the largest absolute number of a cell; None without an interval."""
    numbers = [row.get(f"{column.key}{end}") for end in ("", "_low", "_high")]
    magnitudes = [
        abs(number) for number in numbers if isinstance(number, int | float)
    ]
    return max(magnitudes) if column.interval and magnitudes else None


_NAMES = {"f1": "F1", "dcscore": "DCScore"}
_SIGNS = {"best": "★", "few": "⚠"}
_DIGITS = {"count": 0, "failed": 0, "tenths": 1, "hundredths": 2}


def _mark(value: Any, key: str) -> str:
    if value is None:
        return DASH
    if key in _SIGNS:
        return _SIGNS[key] if value else ""
    return "yes" if value else "no"


def _number(value: float, column: Column, size: float | None = None) -> str:
    if column.kind in _DIGITS:
        return show_fixed(value, _DIGITS[column.kind])
    if column.kind == "percent":
        return f"{show_fixed(100 * value, 1)} %"
    if column.kind == "p":
        return show_p(value)
    if column.kind == "signed":
        return show_signed(value, size)
    return show_number(value, size)

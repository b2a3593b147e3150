"""Tables of studies as people read them: in a terminal, on a page, in a paper.

``SafeConsole`` shows control characters instead of obeying them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from beholder import files
from beholder.records import Interval
from beholder.report.charts import RangeBar, range_bar
from beholder.report.numbers import show_fixed, show_number, show_p, show_signed
from beholder.tables import Column, Table, plain, write_csv
from beholder.visible import for_terminal, visible

_WORDS = ("text", "direction", "mark", "measure")
_GAP = "  "
_WIDE = 7
_INTERVAL = "95 % interval"
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}", "\N{MINUS SIGN}": "$-$", "\N{EN DASH}": "--", "★": r"$\star$",
    "⚠": r"$\triangle$", "≥": r"$\geq$", "→": r"$\rightarrow$", "≈": r"$\approx$",
    "×": r"$\times$", "θ": r"$\theta$",
    "†": r"$\dagger$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
}  # fmt: skip


@dataclass(frozen=True)
class TerminalTable:
    """A table for a console: names are never broken, whatever its width.

    If the columns do not fit, they are split into several tables, each with the names of its rows.
    If no column fits beside the names, each name is on a separate line above its row.
    Print it with ``crop=False``: a name may be longer than the console.
    """

    table: Table

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Lines that fit the width."""
        grid = _Grid.of(self.table)
        if self.table.title:
            yield Text(visible(self.table.title), style="bold")
        above = grid.cramped(options.max_width)
        for part in grid.parts(options.max_width, above):
            yield from grid.lines(part, above)
            yield Text("")
        for note in self.table.notes:
            yield Text(visible(note), style="dim", overflow="fold")
        if self.table.notes:
            yield Text("")


def renderable(table: Table | RenderableType) -> RenderableType:
    """What a console prints of a table; anything else stays what it is."""
    return TerminalTable(table) if isinstance(table, Table) else table


class SafeConsole(Console):
    """Shows control characters in tables and texts instead of obeying them."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See ``Console.render``; the console's own control codes stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(for_terminal(segment.text), segment.style)


WIDTH = 100
"""Characters of a line."""


def as_text(tables: Iterable[RenderableType | Table]) -> str:
    """Tables as the terminal shows them, without colours."""
    console = SafeConsole(file=io.StringIO(), width=WIDTH, force_jupyter=False, color_system=None)
    with console.capture() as caught:
        for table in tables:
            console.print(renderable(table), crop=False)
    return caught.get().rstrip()


def as_html(tables: Iterable[RenderableType | Table]) -> str:
    """Tables as HTML; every text is escaped."""
    console = SafeConsole(file=io.StringIO(), width=WIDTH, force_jupyter=False, record=True)
    for table in tables:
        console.print(renderable(table), crop=False)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


@dataclass(frozen=True)
class _Grid:
    """Cells as text, with the place of each column.

    Attributes:
        heads: Heading of each printed column.
        right: Whether it is set to the right.
        rows: Cells per row.
        groups: Group of each row, with its note.
        n_names: How many columns at the left are the names of rows.
    """

    heads: Sequence[str]
    right: Sequence[bool]
    rows: Sequence[Sequence[str]]
    groups: Sequence[str]
    n_names: int

    @classmethod
    def of(cls, table: Table) -> _Grid:
        columns = [column for column in table.shown_columns() if column.key != table.by]
        heads: list[str] = []
        right: list[bool] = []
        for column in columns:
            heads.append(visible(column.heading))
            right.append(column.kind not in _WORDS)
            if column.interval:
                heads.append(_INTERVAL)
                right.append(True)
        by = next((column for column in table.columns if column.key == table.by), None)
        names = 0
        while names < len(columns) and columns[names].kind == "text":
            names += 1
        groups = []
        for row in table.rows:
            name = "" if by is None else show_cell(row, by)
            beside = table.heads.get(str(row.get(table.by)), "")
            groups.append(f"{name}{_GAP}{visible(beside)}".strip())
        rows = [list(_cells(row, columns)) for row in table.rows]
        return cls(heads, right, rows, groups, min(max(1, names), len(heads)))

    def width(self, column: int) -> int:
        """Cells of the terminal that a column takes."""
        return max(map(cell_len, (self.heads[column], *(row[column] for row in self.rows))))

    def cramped(self, room: int) -> bool:
        """Whether the names of rows leave no room for a column beside them."""
        names, rest = range(self.n_names), range(self.n_names, len(self.heads))
        taken = sum(self.width(name) + len(_GAP) for name in names)
        return bool(rest) and taken + max(map(self.width, rest)) > room

    def parts(self, room: int, above: bool) -> list[list[int]]:
        """Columns that fit beside each other, names of rows first in every part.

        Args:
            room: Cells of a line.
            above: Whether the names stand above their rows instead.
        """
        names = [] if above else list(range(self.n_names))
        taken = sum(self.width(name) + len(_GAP) for name in names)
        found: list[list[int]] = []
        part, used = list(names), taken
        for column in range(self.n_names, len(self.heads)):
            wide = self.width(column) + len(_GAP)
            if used + wide - len(_GAP) > room and len(part) > len(names):
                found.append(part)
                part, used = list(names), taken
            part.append(column)
            used += wide
        return [*found, part]

    def lines(self, part: Sequence[int], above: bool) -> Iterator[Text]:
        """Head, rule, rows; each group has its name above its rows."""
        widths = [self.width(column) for column in part]
        if above:
            yield self._above(self.heads, "bold")
        yield _line([self.heads[column] for column in part], part, widths, self.right, "bold")
        yield Text("─" * (sum(widths) + len(_GAP) * (len(widths) - 1)), no_wrap=True)
        before = ""
        for group, row in zip(self.groups, self.rows, strict=True):
            if group != before:
                yield Text(group, style="bold", no_wrap=True, overflow="ignore")
                before = group
            if above:
                yield self._above(row)
            yield _line([row[column] for column in part], part, widths, self.right)

    def _above(self, cells: Sequence[str], style: str = "") -> Text:
        """The names of a row on a line of their own, set in below the name of a group."""
        name = _GAP.join(cells[: self.n_names]).strip()
        indent = _GAP if any(self.groups) else ""
        return Text(f"{indent}{name}", style=style, no_wrap=True, overflow="ignore")


def _line(
    cells: Sequence[str],
    part: Sequence[int],
    widths: Sequence[int],
    right: Sequence[bool],
    style: str = "",
) -> Text:
    padded = []
    for cell, column, width in zip(cells, part, widths, strict=True):
        blank = " " * (width - cell_len(cell))
        padded.append(blank + cell if right[column] else cell + blank)
    return Text(_GAP.join(padded).rstrip(), style=style, no_wrap=True, overflow="ignore")


def _cells(row: object, columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        yield show_cell(row, column)  # type: ignore[arg-type]
        if column.interval:
            yield show_range(row, column) or "\N{EN DASH}"  # type: ignore[arg-type]


def html(table: Table) -> Markup:
    """A table for a page, with its notes; everything escaped.

    Values of a column with a scale are drawn on it, too.
    """
    from beholder.report.pages import environment  # loads jinja2, which a terminal does not need

    templates = environment(cell=show_cell, range=show_range, bar=_bar, number=show_number)
    drawn = templates.get_template("table.html.j2").render(table=table)
    return Markup(drawn)  # noqa: S704  # escaped by the template


def _bar(row: Mapping[str, Any], column: Column) -> RangeBar | None:
    value = row.get(column.key)
    if value is None or column.scale is None:
        return None
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    interval = None if low is None or high is None else Interval(low, high)
    return range_bar(value, interval, *column.scale)


def latex(table: Table) -> str:
    """A table for a paper: ``booktabs``, a caption with the notes, numbers as on the page.

    One with more than ``_WIDE`` columns is scaled to the width of the text (``graphicx``).
    """
    columns = table.shown_columns()
    wide = len(columns) > _WIDE
    marks = "".join("l" if column.kind in _WORDS else "r" for column in columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escaped(' '.join((f'{table.title}.', *table.notes)))}}}",
        rf"\label{{tab:{table.name}}}",
        *((r"\resizebox{\textwidth}{!}{%",) if wide else ()),
        rf"\begin{{tabular}}{{{marks}}}",
        r"\toprule",
        " & ".join(_escaped(column.heading) for column in columns) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = []
        for column in columns:
            cells.append(_latex_cell(row, column))
        lines.append(" & ".join(cells) + r" \\")
    end = r"\end{tabular}}" if wide else r"\end{tabular}"
    return "\n".join([*lines, r"\bottomrule", end, r"\end{table}", ""])


def _latex_cell(row: Mapping[str, Any], column: Column) -> str:
    """A cell with its interval; where daggers may stand, the best is bold."""
    text = show_cell(row, column)
    if column.best and f"{column.key}_below" in row:
        text = text.removesuffix(" †").removesuffix(" ★")
        best, below = row[f"{column.key}_best"], row[f"{column.key}_below"]
        text = rf"\textbf{{{_escaped(text)}}}" if best else _escaped(text)
        text += r"$^{\dagger}$" if below else ""
        interval = show_range(row, column)
        return rf"{text}\textsubscript{{{_escaped(interval)}}}" if interval else text
    text = _escaped(text)
    interval = show_range(row, column)
    return f"{text} {_escaped(f'[{interval}]')}" if interval else text


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write each table as CSV, JSON and LaTeX into a folder, made if need be; gives the files.

    Raises:
        RunError: The folder or a file cannot be written.
    """
    files.make_folder(folder)
    written = []
    for table in tables:
        stem = folder / table.name
        write_csv(table, stem.with_suffix(".csv"))
        text = json.dumps(plain(table), ensure_ascii=False, indent=2) + "\n"
        files.write_text(stem.with_suffix(".json"), text)
        files.write_text(stem.with_suffix(".tex"), latex(table))
        written += [stem.with_suffix(ending) for ending in (".csv", ".json", ".tex")]
    return written


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in visible(text))


DASH = "\N{EN DASH}"


def show_cell(row: Mapping[str, Any], column: Column) -> str:
    """The value of a column as text."""
    value = row.get(column.key)
    if column.kind == "mark":
        return _mark(value, column.key)
    if value is None:
        return "" if column.kind == "cell" else DASH
    if column.kind in ("text", "cell"):
        return visible(str(value))
    if column.kind == "measure":
        return _NAMES.get(value, visible(str(value)))
    if column.kind == "direction":
        return str(value).upper()
    star = " ★" if column.best and row.get(f"{column.key}_best") else ""
    dagger = " †" if column.best and row.get(f"{column.key}_below") else ""
    return f"{_number(value, column)}{star}{dagger}"


def show_range(row: Mapping[str, Any], column: Column) -> str:
    """The interval of a column as text; empty where it has none."""
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if not column.interval or low is None or high is None:
        return ""
    return " to ".join(_number(end, column).removesuffix(" %") for end in (low, high))


_NAMES = {"f1": "F1", "dcscore": "DCScore"}
_SIGNS = {"best": "★", "few": "⚠"}
_DIGITS = {"count": 0, "failed": 0, "tenths": 1, "hundredths": 2}


def _mark(value: Any, key: str) -> str:
    if value is None:
        return DASH
    if key in _SIGNS:
        return _SIGNS[key] if value else ""
    return "yes" if value else "no"


def _number(value: float, column: Column) -> str:
    if column.kind in _DIGITS:
        return show_fixed(value, _DIGITS[column.kind])
    if column.kind == "percent":
        return f"{show_fixed(100 * value, 1)} %"
    if column.kind == "p":
        return show_p(value)
    if column.kind == "signed":
        return show_signed(value)
    return show_number(value)

"""One score in a terminal or a notebook: both texts with their units marked, values, findings.

The notebook gets an HTML fragment with inline styles, no script, and every text escaped.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from beholder.base.visible import make_visible
from beholder.records import Item, ItemScore, Unit
from beholder.report.marking import Piece, marked_texts
from beholder.report.numbers import show_number
from beholder.report.pages import environment
from beholder.report.tones import (
    by_tone,
    count_verdicts,
    label,
    notable,
    strength,
    tone,
)

_SIDE_BY_SIDE = 100
"""Columns of a terminal from which the texts stand next to each other."""

MAX_NOTABLE = 20
"""Notable units that are listed; the texts show all."""


def show(score: ItemScore, console: Console | None = None) -> None:
    """Print a score: both texts with their units marked, the values, and what to look at.

    In a notebook, leave the score as the last expression of a cell instead.

    Args:
        score: A score. Without its ``item`` there are no texts to print.
        console: Console to print on; standard output if None. Colours appear on a terminal only.
    """
    console = console or Console()
    if score.item is not None:
        console.print(_texts(score.item, score, console.width))
    console.print(_legend(score.units))
    console.print(_values(score))
    findings = notable(score.units)
    if findings:
        console.print(_units(findings, score.item))
    if score.signature:
        console.print(Text(make_visible(score.signature), style="dim"))


def _texts(item: Item, score: ItemScore, width: int) -> RenderableType:
    panels = [
        _panel(cut_text.title, cut_text.pieces, score)
        for cut_text in marked_texts(item, score.units)
    ]
    # Narrow terminals have the texts below each other; otherwise the candidate
    # is at the left and its references at the right.
    if width < _SIDE_BY_SIDE or len(panels) == 1:
        return Group(*panels)
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(panels[0], Group(*panels[1:]))
    return grid


def _panel(title: str, pieces: Iterable[Piece], score: ItemScore) -> Panel:
    text = Text()
    for piece in pieces:
        # The last unit of a piece is the narrowest, so it says most.
        style = (
            tone(score.units[piece.units[-1]].verdict).rich
            if piece.units
            else ""
        )
        text.append(piece.text, style=style)
    return Panel(
        text,
        title=title,
        title_align="left",
        box=box.ROUNDED,
        border_style="dim",
    )


def _legend(units: Iterable[Unit]) -> Text:
    legend = Text()
    for verdict, (n_sure, n_unsure) in count_verdicts(units).items():
        unit_tone = tone(verdict)
        words = f"{unit_tone.symbol} {make_visible(label(verdict))} {n_sure}"
        words += f" + {n_unsure} not sure" if n_unsure else ""
        legend.append(words, style=unit_tone.rich)
        legend.append("   ")
    return legend


def _values(score: ItemScore) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("value")
    table.add_column("score", justify="right")
    for row, (name, value) in enumerate(score.values.items()):
        style = "bold" if row == 0 else ""
        table.add_row(
            Text(make_visible(name), style=style),
            Text(show_number(value), style=style),
        )
    return table


def _units(units: list[Unit], item: Item | None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("verdict", "in", "kind"):
        table.add_column(column, no_wrap=True)
    table.add_column("score", justify="right")
    table.add_column("text", overflow="fold", ratio=1)
    for unit in units[:MAX_NOTABLE]:
        unit_tone = tone(unit.verdict)
        table.add_row(
            Text(
                f"{unit_tone.symbol} {make_visible(label(unit.verdict))}",
                style=unit_tone.rich,
            ),
            _place(unit, item),
            Text(make_visible(unit.kind)),
            "" if unit.score is None else show_number(unit.score),
            Text(make_visible(_describe_unit(unit))),
        )
    if len(units) > MAX_NOTABLE:
        table.caption = f"and {len(units) - MAX_NOTABLE} more"
    return table


def _describe_unit(unit: Unit) -> str:
    """Return a unit's words, those of the other text in their place, and its number of parts."""
    n_under, instead = (
        unit.detail.get("holds"),
        unit.detail.get("contradiction"),
    )
    opposite = f" (there: {instead})" if isinstance(instead, str) else ""
    parts_note = f" (and {n_under} more of it)" if n_under else ""
    return f"{unit.text}{opposite}{parts_note}"


def _place(unit: Unit, item: Item | None) -> str:
    if unit.side == "candidate" or item is None or len(item.references) < 2:
        return unit.side
    return f"reference {(unit.reference_index or 0) + 1}"


def to_html(score: ItemScore) -> str:
    """Return a score as HTML: values, both texts with their units marked, notable units.

    Colours are half transparent, so it is readable on light and dark pages.

    Args:
        score: A score. Without its ``item`` there are no texts to draw.
    """
    verdicts = by_tone(unit.verdict for unit in score.units)
    template = environment().get_template("notebook.html.j2")
    return template.render(
        score=score,
        sides=[]
        if score.item is None
        else marked_texts(score.item, score.units),
        legend=[(verdict, tone(verdict)) for verdict in verdicts],
        notable=notable(score.units),
        tone=tone,
        mark_style=_mark_style,
        unit_title=_unit_title,
    )


def _mark_style(unit: Unit, height: int) -> str:
    """Return the style of a mark; its line goes below those of the ``height`` marks inside it."""
    unit_tone = tone(unit.verdict)
    red, green, blue = unit_tone.rgb
    # The colour is faint and grows with the strength; verdicts also differ by
    # the line, for readers who see no colours.
    tint = 0.04 + 0.2 * strength(unit)
    width = 3 if unit_tone.line in ("double", "dotted") else 2
    return (
        f"background: rgba({red}, {green}, {blue}, {tint:.2f});"
        f" border-bottom: {width}px {unit_tone.line} rgb({red}, {green}, {blue});"
        f" padding-bottom: {4 * height}px"
    )


def _unit_title(unit: Unit) -> str:
    """Return the tooltip of a mark."""
    score = "" if unit.score is None else f" {show_number(unit.score)}"
    facts = "".join(
        f"\n{key.replace('_', ' ')}: {value}"
        for key, value in unit.detail.items()
    )
    return make_visible(f"{label(unit.verdict)}{score} ({unit.kind}){facts}")

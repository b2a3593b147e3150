"""One score as an HTML fragment for notebooks: inline style only, no script, everything escaped."""

from __future__ import annotations

from beholder.records import ItemScore, Unit
from beholder.report.marking import Piece, heights, mark
from beholder.report.numbers import show_number
from beholder.report.pages import environment
from beholder.report.tones import by_tone, label, notable, strength, tone
from beholder.visible import visible


def to_html(score: ItemScore) -> str:
    """The fragment: values, both texts with their units marked, the units to look at.

    Colours are half transparent, so that it reads on a light and on a dark page.

    Args:
        score: What a metric found. Without its ``item`` there are no texts to draw.
    """
    templates = environment()
    templates.filters.update(number=show_number, label=label)
    verdicts = by_tone(unit.verdict for unit in score.units)
    return templates.get_template("notebook.html.j2").render(
        score=score,
        sides=_sides(score),
        legend=[(verdict, tone(verdict)) for verdict in verdicts],
        notable=notable(score.units),
        tone=tone,
        mark_style=_mark_style,
        unit_title=_unit_title,
    )


def _sides(score: ItemScore) -> list[tuple[str, list[Piece], dict[int, int]]]:
    item = score.item
    if item is None:
        return []
    sides = [("candidate", mark(item.candidate, score.units, "candidate"))]
    for index, text in enumerate(item.references):
        title = "reference" if len(item.references) == 1 else f"reference {index + 1}"
        sides.append((title, mark(text, score.units, "reference", index)))
    return [(title, marked, heights(marked)) for title, marked in sides]


def _mark_style(unit: Unit, height: int) -> str:
    """Style of a mark; its line goes below those of the ``height`` marks inside it."""
    drawn = tone(unit.verdict)
    red, green, blue = drawn.rgb
    tint = 0.04 + 0.2 * strength(unit)
    width = 3 if drawn.line in ("double", "dotted") else 2
    return (
        f"background: rgba({red}, {green}, {blue}, {tint:.2f});"
        f" border-bottom: {width}px {drawn.line} rgb({red}, {green}, {blue});"
        f" padding-bottom: {4 * height}px"
    )


def _unit_title(unit: Unit) -> str:
    """What a mark says when pointed at."""
    score = "" if unit.score is None else f" {show_number(unit.score)}"
    facts = "".join(f"\n{key.replace('_', ' ')}: {value}" for key, value in unit.detail.items())
    return visible(f"{label(unit.verdict)}{score} ({unit.kind}){facts}")

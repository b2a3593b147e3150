"""Contents of a set of human judgments: its texts, the size of their graphs, kinds of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from beholder.base.grouping import group_by_key
from beholder.kinds.agreement.load import JudgedSet
from beholder.language.reading import read_english
from beholder.records import Item
from beholder.tables import Cells, Column, Table
from beholder.text.languages import not_english
from beholder.text.tokenize import words

MOST_GRAPHS = 1000
"""References that are read as graphs; a long one takes about 20 ms."""

CONTENTS = Table(
    "contents",
    "contents",
    (
        Column("texts", "texts", "text"),
        Column("n", "n", "count"),
        Column("pictures", "pictures", "count"),
        Column("words", "words", "tenths"),
        Column("words_sd", "SD", "tenths"),
        Column("objects", "objects", "tenths"),
        Column("attributes", "attributes", "tenths"),
        Column("relations", "relations", "tenths"),
    ),
    notes=(
        "words: mean and SD (n - 1) over different texts. objects, attributes, relations: mean"
        " over references of what their scene graphs (built-in parser) hold.",
    ),
)
JUDGMENTS = Table(
    "judgments",
    "kinds of judgments",
    (
        Column("judgment", "judgment", "text"),
        Column("kind", "kind", "text"),
        Column("n", "n", "count"),
        Column("pictures", "pictures", "count"),
    ),
)


def contents_tables(judged: JudgedSet) -> list[Table]:
    """Build the tables of a set's texts, with lengths and graphs, and of its judgments."""
    items = judged.items
    references = [(item, text) for item in items for text in item.references]
    rows: list[Cells] = []
    notes = [f"{len(items):,} judged, {_count_pictures(items):,} pictures."]
    if references:
        sizes, note = _measure_graphs(sorted({text for _, text in references}))
        rows.append(_describe("references", references) | sizes)
        notes += note
    # One row for the references, then one for each system, then the kinds of
    # judgments.
    by_system = group_by_key(
        (system, (item, text))
        for item in items
        for system, text in _candidates(item)
    )
    rows += [_describe(system, texts) for system, texts in by_system.items()]
    kinds: list[Cells] = []
    for name, judged_items in group_by_key(
        (n, i) for i in items for n in i.judgments
    ).items():
        kind = _name_kind([item.judgments[name] for item in judged_items])
        if kind:
            n_pictures = _count_pictures(judged_items)
            cells: Cells = {"judgment": name, "kind": kind}
            kinds.append(
                cells | {"n": len(judged_items), "pictures": n_pictures}
            )
    contents, judgments = (
        replace(table, title=f"{judged.name}: {table.title}")
        for table in (CONTENTS, JUDGMENTS)
    )
    return [contents.with_rows(rows, notes), judgments.with_rows(kinds)]


def _count_pictures(items: Sequence[Item]) -> int:
    return len({item.source for item in items})


def _candidates(item: Item) -> Iterator[tuple[str, str]]:
    """Yield the texts under evaluation with their systems, else ``candidates``."""
    system = (
        item.group.get("system")
        or item.judgments.get("model1")
        or "candidates"
    )
    yield str(system), item.candidate
    if second_text := item.meta.get("candidate_b"):
        yield (
            str(item.judgments.get("model2") or "candidates"),
            str(second_text),
        )


def _describe(name: str, texts: Sequence[tuple[Item, str]]) -> Cells:
    """Return the number and length of different texts as cells."""
    # A text that several people judged counts once.
    lengths = [len(words(text)) for text in {text for _, text in texts}]
    return {
        "texts": name,
        "n": len(lengths),
        "pictures": _count_pictures([item for item, _ in texts]),
        "words": fmean(lengths),
        "words_sd": stdev(lengths) if len(lengths) > 1 else None,
    }


def _measure_graphs(texts: Sequence[str]) -> tuple[Cells, list[str]]:
    """Return the mean size of the graphs of English texts, and a note if some were left out."""
    english = [text for text in texts if not_english(text) is None]
    # An even sample keeps the order of the texts, so that the figure is the
    # same each time.
    step = -(-len(english) // MOST_GRAPHS) or 1
    graphs = read_english(english[::step])
    sizes: Cells = {}
    for key in ("objects", "attributes", "relations"):
        field = "entities" if key == "objects" else key
        sizes[key] = (
            fmean(len(getattr(graph, field)) for graph in graphs)
            if graphs
            else None
        )
    if len(graphs) == len(texts):
        return sizes, []
    return sizes, [
        f"Graphs of {len(graphs):,} of {len(texts):,} references: at most {MOST_GRAPHS:,}, evenly"
        " drawn, and English ones alone."
    ]


def _name_kind(values: Sequence[Any]) -> str:
    """Describe the kind of a judgment in words; empty for names, such as those of models."""
    lists = [value for value in values if isinstance(value, list | tuple)]
    if lists:
        members = [member for value in lists for member in value]
        # A list of lists is a list of ranges: marked spans.
        if any(isinstance(member, list | tuple) for member in members):
            return "marked spans" if len(lists) == len(values) else ""
        inner = _name_kind(members)
        counts = sorted({len(value) for value in lists})
        return f"{counts[0]} to {counts[-1]} each: {inner}" if inner else ""
    if not values or any(
        not isinstance(value, int | float) for value in values
    ):
        return "marked spans" if values == [] else ""
    # Few different numbers are a scale, whose levels a reader wants to see.
    levels = sorted(set(values))
    if len(levels) <= 7:
        return f"levels {', '.join(f'{level:g}' for level in levels)}"
    return f"numbers from {levels[0]:g} to {levels[-1]:g}"

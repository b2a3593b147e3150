"""The rule set "fixed" on hand-written sentences, and "reference" on the faults it must repeat."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from beholder.language import SceneGraph, parse, scene_graph

TABLE = Path(__file__).with_name("graphs.txt")
KNOWN_FAILURES: frozenset[str] = frozenset()
"""Sentences whose graph is wrong today; docs/language.md lists them with causes."""


def read_table() -> list[tuple[str, str, frozenset[str]]]:
    """(construct, sentence, expected entries)."""
    rows = []
    construct = sentence = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            construct = line.removeprefix("== ")
        elif line.startswith("    "):
            rows.append((construct, sentence, frozenset(e.strip() for e in line.split("|"))))
        elif line and not line.startswith("#"):
            sentence = line
    return rows


def written(graph: SceneGraph) -> frozenset[str]:
    """A graph in the notation of the table; attribute order does not matter."""
    seen: Counter[str] = Counter()
    names = {}
    for entity in graph.entities:
        if entity.kind != "picture":
            seen[entity.name] += 1
            number = seen[entity.name]
            names[entity.index] = entity.name if number == 1 else f"{entity.name}#{number}"
    entries = []
    for index, name in names.items():
        entity = graph.entities[index]
        head = ("" if entity.polarity else "!") + name
        head += f" ({entity.quantity})" if entity.quantity else ""
        values = [("" if a.polarity else "!") + a.text for a in graph.attributes_of(index)]
        entries.append(normal(f"{head}: {', '.join(values)}" if values else head))
    for r in graph.relations:
        if r.subject in names and r.object in names:
            text = ("" if r.polarity else "!") + r.text
            entries.append(f"{names[r.subject]} > {text} > {names[r.object]}")
    return frozenset(entries)


def normal(entry: str) -> str:
    """An entity with its attributes sorted."""
    head, _, values = entry.partition(": ")
    return f"{head}: {', '.join(sorted(values.split(', ')))}" if values else head


ROWS = read_table()


def test_table_has_at_least_120_sentences_and_nine_of_ten_are_right() -> None:
    assert len(ROWS) >= 120
    assert len({sentence for _, sentence, _ in ROWS}) == len(ROWS)
    assert len(KNOWN_FAILURES) <= len(ROWS) // 10


@pytest.mark.parametrize(("construct", "sentence", "expected"), ROWS)
def test_fixed_graph_is_the_hand_written_one(
    construct: str, sentence: str, expected: frozenset[str]
) -> None:
    found = written(scene_graph(parse(sentence)))
    right = found == frozenset(normal(entry) for entry in expected)
    assert right != (sentence in KNOWN_FAILURES), (
        f"{construct}: missing {sorted({normal(e) for e in expected} - found)}, "
        f"extra {sorted(found - {normal(e) for e in expected})}"
    )

"""Graphs in the notation of graphs.txt."""

from __future__ import annotations

from collections import Counter

from beholder.language import SceneGraph
from beholder.language.document import Document, Word
from beholder.language.lemmas import lemma


def written(graph: SceneGraph) -> frozenset[str]:
    """A graph in the notation of the table; attribute order does not matter."""
    counts: Counter[str] = Counter()
    names = {}
    for entity in graph.entities:
        if entity.kind != "picture":
            counts[entity.name] += 1
            number = counts[entity.name]
            names[entity.index] = (
                entity.name if number == 1 else f"{entity.name}#{number}"
            )
    entries = []
    for index, name in names.items():
        entity = graph.entities[index]
        head = ("" if entity.polarity else "!") + name
        head += f" ({entity.quantity})" if entity.quantity else ""
        values = [
            ("" if a.polarity else "!") + a.text
            for a in graph.attributes_of(index)
        ]
        entries.append(
            normal(f"{head}: {', '.join(values)}" if values else head)
        )
    for r in graph.relations:
        if r.subject in names and r.object in names:
            text = ("" if r.polarity else "!") + r.text
            entries.append(f"{names[r.subject]} > {text} > {names[r.object]}")
    return frozenset(entries)


def normal(entry: str) -> str:
    """An entity with its attributes sorted."""
    head, _, values = entry.partition(": ")
    return (
        f"{head}: {', '.join(sorted(values.split(', ')))}" if values else head
    )


def document(tree: str) -> Document:
    """A document of words as ``word/pos/tag/relation/head``, heads from 1, 0 for the root."""
    words: list[Word] = []
    start = 0
    for index, entry in enumerate(tree.split()):
        text, pos, tag, dep, head = entry.split("/")
        at = int(head) - 1 if head != "0" else index
        base = lemma(text, pos, tag)
        words.append(
            Word(
                index,
                text,
                base,
                pos,
                tag,
                dep,
                at,
                start,
                start + len(text),
                0,
            )
        )
        start += len(text) + 1
    return Document(
        " ".join(w.text for w in words), words, [(0, len(words))], "by hand"
    )

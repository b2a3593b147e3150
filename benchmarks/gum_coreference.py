"""Gold coreference of GUM and how well links agree with it."""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path

from beholder.language.coreference import resolve
from beholder.language.document import Document, Word
from beholder.language.lemmas import lemma
from beholder.language.links import Links
from beholder.language.phrases import find_phrases
from benchmarks.clusters import (
    Agreement,
    Cluster,
    b_cubed,
    ceaf_e,
    merged,
    muc,
)

THINGS = frozenset(
    [
        "person",
        "animal",
        "object",
        "place",
        "plant",
        "organization",
        "substance",
    ]
)
"""Entity types of GUM that are things; abstract ones, events and times are left out."""


@dataclass
class GoldDocument:
    """A document with its gold tree and the gold clusters of things, as sets of head words."""

    document: Document
    clusters: list[Cluster]


def read_documents(path: Path) -> Iterator[GoldDocument]:
    """Yield the documents of a GUM file in CoNLL-U with ``Entity`` annotations."""
    rows: list[list[str]] = []
    sentences: list[int] = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith("# newdoc") and rows:
                yield _gold(rows, sentences)
                rows, sentences = [], []
            elif line.startswith("# sent_id"):
                sentences.append(len(rows))
            elif line[:1].isdigit():
                column = line.rstrip("\n").split("\t")
                if column[0].isdigit():
                    rows.append(column)
    if rows:
        yield _gold(rows, sentences)


def _gold(rows: list[list[str]], starts: list[int]) -> GoldDocument:
    ends = [*starts[1:], len(rows)]
    words: list[Word] = []
    offset = 0
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        for place in range(start, end):
            _, form, _, upos, xpos, _, head, dep, _, _ = rows[place]
            words.append(
                Word(
                    index=place,
                    text=form,
                    lemma=lemma(form, upos, xpos),
                    pos=upos,
                    tag=xpos,
                    dep="ROOT" if dep == "root" else dep,
                    head=place if head == "0" else start + int(head) - 1,
                    start=offset,
                    end=offset + len(form),
                    sentence=number,
                )
            )
            offset += len(form) + 1
    text = " ".join(word.text for word in words)
    document = Document(
        text, words, list(zip(starts, ends, strict=True)), "gold"
    )
    return GoldDocument(document, _clusters(document, rows))


def _clusters(document: Document, rows: list[list[str]]) -> list[Cluster]:
    stack: dict[str, list[tuple[int, str]]] = {}
    mentions_by_entity: dict[str, set[Hashable]] = {}
    for place, row in enumerate(rows):
        entry = next(
            (e for e in row[9].split("|") if e.startswith("Entity=")), ""
        )
        for opened, closed in _events(entry.removeprefix("Entity=")):
            if opened is not None:
                number, kind = opened
                stack.setdefault(number, []).append((place, kind))
            if closed is not None and stack.get(closed):
                start, kind = stack[closed].pop()
                if kind in THINGS:
                    mentions_by_entity.setdefault(closed, set()).add(
                        _head(document, start, place + 1)
                    )
    return [frozenset(c) for c in mentions_by_entity.values() if len(c) > 1]


def _events(entry: str) -> Iterator[tuple[tuple[str, str] | None, str | None]]:
    for match in re.finditer(r"\(([^()]+)(\)?)|([^()]+)\)", entry):
        if match.group(1) is not None:
            fields = match.group(1).split("-")
            yield (fields[0], fields[1]), fields[0] if match.group(2) else None
        else:
            yield None, match.group(3)


def _head(document: Document, start: int, end: int) -> int:
    """Return the word of a mention whose head lies outside."""
    for word in document.words[start:end]:
        if not start <= word.head < end or word.head == word.index:
            return word.index
    return end - 1


def link_clusters(links: Links, document: Document) -> list[Cluster]:
    """Return the clusters that links make; a group of several antecedents is no identity."""
    pairs = [
        (mention, earlier[0])
        for mention, earlier in links.same.items()
        if len(earlier) == 1
    ]
    return merged(pairs)


def builtin(document: Document) -> list[Cluster]:
    """Clusters of the shipped coreference."""
    return link_clusters(resolve(find_phrases(document)), document)


def head_match(document: Document) -> list[Cluster]:
    """Return the baseline: nouns with one head mean one thing; a pronoun is matched by its form."""
    by_head: dict[str, set[Hashable]] = {}
    for index, phrase in find_phrases(document).by_word.items():
        by_head.setdefault(phrase.word.lemma, set()).add(index)
    for word in document:
        if word.pos == "PRON" and word.dep == "nmod:poss":
            by_head.setdefault(word.lemma, set()).add(word.index)
    return [frozenset(c) for c in by_head.values() if len(c) > 1]


def evaluate(
    gold: list[GoldDocument], resolver: Callable[[Document], list[Cluster]]
) -> dict[str, Agreement]:
    """MUC, B-cubed and CEAF-e over all documents.

    Only things count: clusters found that hold no gold mention of a thing are left out, because
    the gold standard of things has nothing to say on "the idea" and "next year".
    """
    total: dict[str, Agreement] = {}
    for entry in gold:
        known_mentions = (
            frozenset().union(*entry.clusters)
            if entry.clusters
            else frozenset()
        )
        resolved = [c for c in resolver(entry.document) if c & known_mentions]
        for name, measure in (
            ("MUC", muc),
            ("B3", b_cubed),
            ("CEAFe", ceaf_e),
        ):
            value = measure(resolved, entry.clusters)
            total[name] = total[name] + value if name in total else value
    return total


def report(path: Path) -> Iterator[str]:
    """Lines of a table: baseline and shipped coreference, on gold trees."""
    gold = list(read_documents(path))
    for name, resolver in (("head match", head_match), ("builtin", builtin)):
        scores = evaluate(gold, resolver)
        cells = "  ".join(
            f"{k} P {v.precision:.3f} R {v.recall:.3f} F {v.f1:.3f}"
            for k, v in scores.items()
        )
        mean = sum(v.f1 for v in scores.values()) / len(scores)
        yield f"{name:10}  {cells}  mean F {mean:.3f}"

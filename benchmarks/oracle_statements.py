"""Statements of the built-in analysis against human facts: one-to-one matches by content words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from beholder.language.document import Document
from beholder.language.lemmas import noun
from beholder.language.parsers import parse, parse_many
from beholder.language.statements import statements

THRESHOLD = 0.6
_EMPTY_POS = frozenset(
    {
        "DET",
        "ADP",
        "PUNCT",
        "AUX",
        "CCONJ",
        "SCONJ",
        "PART",
        "PRON",
        "SYM",
        "SPACE",
    }
)
_EMPTY = frozenset({"be", "have", "there", "image", "feature", "show"})


def content(document: Document) -> Counter[str]:
    """Base forms of the words that carry meaning: no determiners, prepositions, auxiliaries."""
    return Counter(
        noun(w.lemma)
        for w in document
        if w.pos not in _EMPTY_POS
        and w.lemma not in _EMPTY
        and any(c.isalnum() for c in w.text)
    )


def token_f1(first_bag: Counter[str], second_bag: Counter[str]) -> float:
    """F1 of the shared words of two bags."""
    total = sum(first_bag.values()) + sum(second_bag.values())
    return 2 * sum((first_bag & second_bag).values()) / total if total else 0.0


@dataclass(frozen=True)
class Match:
    """One text: its statements and facts, and which were matched."""

    statements: list[str]
    facts: list[str]
    pairs: list[tuple[int, int, float]]


def match(statements: Sequence[str], facts: Sequence[str]) -> Match:
    """Return the best one-to-one assignment; pairs below the threshold do not count."""
    statement_words = [content(d) for d in parse_many(statements)]
    fact_words = [content(d) for d in parse_many(cleaned(f) for f in facts)]
    if not statement_words or not fact_words:
        return Match(list(statements), list(facts), [])
    scores = np.array(
        [[token_f1(a, b) for b in fact_words] for a in statement_words]
    )
    rows, columns = linear_sum_assignment(
        np.where(scores >= THRESHOLD, scores, 0), maximize=True
    )
    pairs = [
        (int(r), int(c), float(scores[r, c]))
        for r, c in zip(rows, columns, strict=True)
        if scores[r, c] >= THRESHOLD
    ]
    return Match(list(statements), list(facts), pairs)


def cleaned(fact: str) -> str:
    """Without the numbers by which annotators tell two houses apart ("house_0")."""
    return " ".join(word.split("_")[0] for word in fact.split())


def read_facts(path: Path) -> list[tuple[str, list[str]]]:
    """Return the texts with their human facts."""
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [(row["candidate"], row["judgments"]["facts"]) for row in rows]


def evaluate(path: Path, limit: int | None = None) -> list[Match]:
    """Match the statements of every text with its facts."""
    return [
        match([s.text for s in statements(parse(text))], facts)
        for text, facts in read_facts(path)[:limit]
    ]


def report(path: Path) -> Iterator[str]:
    """Recall, precision, and the number of missed facts by length."""
    matches = evaluate(path)
    facts = sum(len(m.facts) for m in matches)
    n_statements = sum(len(m.statements) for m in matches)
    hit = sum(len(m.pairs) for m in matches)
    yield (
        f"statements: recall {hit / facts:.3f} ({hit} of {facts} human facts matched), "
        + (
            f"precision {hit / n_statements:.3f} (of {n_statements} statements)"
        )
    )

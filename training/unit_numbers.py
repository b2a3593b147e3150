"""Fit the numbers by which the built-in judge decides on units (``decide`` in ``numbers.json``).

    python -m training.unit_numbers DATA [--texts 150] [--write]

Silver data: pieces of ImageInWords descriptions (CC BY 4.0) of which the attachment suite
(``benchmarks/attachment.py``) alters none. The same said otherwise (sentences joined, pronouns,
other words of the same meaning in WordNet) keeps all units true. One word replaced by another of
its kind (colours, numbers, sides, places, verbs, things; those in pairs are exchanged) makes the
units at that word false. No judged text is used.

The loss is a hinge at the value from which a unit counts as there, true and false units of each
kind counting alike. Numbers are tried one after the other on a grid of steps, each kept where it
lowers the loss; a number that nothing in the silver data hangs on stays as it was, and the table
says so. Every form that the numbers can take keeps ``decide.value`` from falling with support.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.attachment import descriptions, suite
from benchmarks.fact_cases import KINDS

from beholder.judges.builtin.classes import exclude, values
from beholder.judges.builtin.decide import value
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.gather import gather
from beholder.judges.builtin.numbers import Numbers, numbers
from beholder.judges.builtin.reading import analysed_claims
from beholder.judges.builtin.vectors import vectors
from beholder.records import Span
from beholder.text.kinds import parents, senses
from training.fact_weights import TABLE, disguised, write_table

SEED = 7
SUITE = 40
"""Pairs of a kind of the attachment suite whose descriptions are left alone."""
WORDS = (30, 70)
"""Least and most words of a piece."""
MARGIN = 0.2
GAIN = 2e-4
"""Least fall of the loss for which a number is changed."""
SISTERS = 0.02
"""Share of sister words in WordNet that may pass for one word."""
FREQUENT = 15
STEPS = (-0.2, -0.1, -0.05, 0.05, 0.1, 0.2)
ROUNDS = 3
SET = "fitted by training/unit_numbers.py on altered ImageInWords descriptions (CC BY 4.0)"
UNMOVED = "by hand; training/unit_numbers.py found no better value"
SYNONYM_SET = (
    "by training/unit_numbers.py: a fiftieth of WordNet's sister nouns that ImageInWords uses often"
    " come as near"
)
OTHERS = (
    *KINDS,
    ("holding", "pushing", "kicking", "painting", "washing"),
    ("sitting", "standing", "lying", "kneeling", "walking"),
    ("on", "under", "behind", "beside"),
    ("above", "below"),
    ("round", "square", "triangular"),
    ("car", "dog", "tree", "table", "house", "boat", "bird", "lamp", "shirt", "bottle", "bridge"),
)  # fmt: skip

FITTED = tuple(field.name for field in fields(Numbers) if field.name not in ("points", "quoted"))
"""All but the scale itself: where a unit begins to count as there is what the rest is fitted to."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A unit's evidence, and whether the target says it."""

    evidence: Evidence
    true: bool


def pieces(data: Path, n: int) -> list[str]:
    """Two to four sentences each, of descriptions that the attachment suite does not alter."""
    texts = descriptions(data)
    used = {case.origin for case in suite(texts, SUITE)}
    free = [text for place, text in enumerate(texts) if place not in used]
    found = []
    for sentences in free:
        piece = ""
        for sentence in sentences[1:]:
            piece = f"{piece} {sentence}".strip()
            if len(piece.split()) >= WORDS[0]:
                break
        if WORDS[0] <= len(piece.split()) <= WORDS[1] and piece.isascii():
            found.append(piece)
    return random.Random(SEED).sample(found, n)


def same_words(texts: Sequence[str]) -> dict[str, str]:
    """For frequent words another that shares a sense in WordNet and stands in like contexts."""
    limit = synonym_cosine(frequent(texts, "n"))
    found: dict[str, str] = {}
    for part in ("n", "v", "a"):
        words = frequent(texts, part)
        near = vectors(words) @ vectors(words).T
        for place, word in enumerate(words):
            for other in np.argsort(-near[place])[1:4].tolist():
                shared = senses(word, part) & senses(words[other], part)
                if shared and near[place, other] >= limit and words[other][:4] != word[:4]:
                    found.setdefault(word, words[other])
    return found


def frequent(texts: Sequence[str], part: str) -> list[str]:
    """Words that descriptions use often and WordNet knows as a part of speech."""
    words = re.findall(r"[a-z]+", " ".join(texts).lower())
    known, counts = np.unique(words, return_counts=True)
    often = [w for w, n in zip(known.tolist(), counts, strict=True) if n >= FREQUENT]
    return [word for word in often if senses(word, part)]


def synonym_cosine(nouns: Sequence[str]) -> float:
    """The cosine above which a fiftieth of sister words in WordNet lie, those of a class left out."""
    near = vectors(nouns) @ vectors(nouns).T
    above = [frozenset().union(*(parents(s) for s in senses(noun, "n"))) for noun in nouns]
    found = [
        near[i, j]
        for i, a in enumerate(nouns)
        for j in range(i)
        if above[i] & above[j]
        and not senses(a, "n") & senses(nouns[j], "n")
        and not exclude(values(a), values(nouns[j]))
    ]
    return float(np.quantile(found, 1.0 - SISTERS))


def altered(text: str, rng: random.Random) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Texts made false in place, with the altered words: one word replaced, or two exchanged."""
    for kind in OTHERS:
        hits = list(re.finditer(rf"\b({'|'.join(kind)})\b", text))
        if not hits:
            continue
        hit = rng.choice(hits)
        other = rng.choice([word for word in kind if not re.search(rf"\b{word}", text)] or [""])
        if other:
            made = text[: hit.start()] + other + text[hit.end() :]
            yield made, ((hit.start(), hit.start() + len(other)),)
        unlike = [h for h in hits if h[0] != hit[0]]
        if len(hits) == 2 and unlike:
            first, second = hits
            middle = text[first.end() : second.start()]
            made = text[: first.start()] + second[0] + middle + first[0] + text[second.end() :]
            start = first.start() + len(second[0]) + len(middle)
            yield made, (
                (first.start(), first.start() + len(second[0])),
                (start, start + len(first[0])),
            )


def silver(texts: Sequence[str], synonyms: dict[str, str], n: Numbers) -> list[Case]:
    """Units that a text says, and such that it does not."""
    rng = random.Random(SEED)
    found = []
    for text in texts:
        (own,) = analysed_claims.of([text])
        reworded = re.sub(
            r"[a-z]+", lambda word: synonyms.get(word[0], word[0]), disguised(text, rng)
        )
        (other,) = analysed_claims.of([reworded])
        found += [Case(evidence, True) for evidence in gather(own, other, n)]
        for made, marks in altered(text, rng):
            (false,) = analysed_claims.of([made])
            for unit, evidence in zip(false.units, gather(false, own, n), strict=True):
                at = any(a < end and start < b for a, b in unit.spans for start, end in marks)
                if at:
                    found.append(Case(evidence, False))
                elif rng.random() < 0.2:
                    found.append(Case(evidence, True))
    return found


def loss(cases: Sequence[Case], n: Numbers) -> float:
    """Mean hinge over kinds of units, true and false ones counting alike."""
    present = n.present
    totals: dict[tuple[str, bool], list[float]] = {}
    for case in cases:
        above = (value(case.evidence, n) - present) / MARGIN
        hinge = max(0.0, 1.0 - above if case.true else 1.0 + above)
        totals.setdefault((case.evidence.kind, case.true), []).append(min(hinge, 2.0))
    return float(np.mean([np.mean(found) for found in totals.values()]))


def fit(cases: Sequence[Case], start: Numbers) -> tuple[Numbers, set[str]]:
    """The best numbers found, and the names of those that were moved."""
    best, lowest = start, loss(cases, start)
    moved: set[str] = set()
    for _ in range(ROUNDS):
        before = lowest
        for name in FITTED:
            for tried in _tried(best, name):
                now = loss(cases, tried)
                if now < lowest - GAIN:
                    best, lowest = tried, now
                    moved.add(name)
        if lowest > before - GAIN:
            break
    return best, moved


def _tried(n: Numbers, name: str) -> Iterator[Numbers]:
    """The numbers with one of them a few steps lower or higher."""
    for step in STEPS:
        moved = round(getattr(n, name) + step, 3)
        if 0.0 <= moved <= 1.0:
            yield replace(n, **{name: moved})


def report(cases: Sequence[Case], n: Numbers) -> Iterator[str]:
    for kind in ("entity", "attribute", "amount", "relation"):
        for true in (True, False):
            found = [c for c in cases if c.evidence.kind == kind and c.true is true]
            right = [(value(c.evidence, n) >= n.present) is true for c in found]
            yield f"{kind:10} {'true' if true else 'false':6}{len(found):6d}  right {np.mean(right):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with lzma.open(given.data / "descriptions" / "iiw_descriptions.jsonl.xz", "rt") as file:
        every = [json.loads(line)["text"] for line in file]
    cosine = round(synonym_cosine(frequent(every, "n")), 2)
    print(f"cosine of synonyms {cosine}")
    start = numbers()
    cases = silver(pieces(given.data, given.texts), same_words(every), start)
    print(f"loss {loss(cases, start):.4f}", *report(cases, start), sep="\n")
    best, moved = fit(cases, start)
    print(f"loss {loss(cases, best):.4f}", *report(cases, best), sep="\n")
    for name in sorted(moved):
        print(f"{name}: {getattr(start, name)} -> {getattr(best, name)}")
    if given.write:
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        table["lexis.synonym"] |= {"value": cosine, "set": SYNONYM_SET}
        for name in FITTED:
            how = SET if name in moved else UNMOVED
            table[f"decide.{name}"] |= {"value": getattr(best, name), "set": how}
        write_table(table)


if __name__ == "__main__":
    main()

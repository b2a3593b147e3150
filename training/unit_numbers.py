"""Fit the numbers by which the built-in judge decides on units (``decide`` in ``numbers.json``).

    python -m training.unit_numbers DATA [--texts 150] [--write]

Silver data: pieces of ImageInWords descriptions (CC BY 4.0) of which the attachment suite
(``training/studies/attachment.py``) alters none. The same said otherwise (sentences joined,
pronouns, other words of the same meaning in WordNet) keeps all units true. One word replaced by
another of its kind (colours, numbers, sides, places, verbs, things; those in pairs are exchanged)
makes the units at that word false. No judged text is used.

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
from training.studies.attachment import descriptions, suite
from training.studies.fact_cases import KINDS

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
PHRASES = (
    ("wearing", "in"),
    ("wears", "is in"),
    ("has a", "is with a"),
    ("with a", "that has a"),
    ("next to", "beside"),
    ("in front of", "before"),
    ("on top of", "on"),
    ("behind", "in back of"),
    ("located", "set"),
    ("holding", "that holds"),
    ("sitting", "that sits"),
    ("inside", "in"),
)
"""Phrases that say the same; each is exchanged half of the time."""
STEPS = (-0.2, -0.15, -0.1, -0.05, 0.05, 0.1, 0.15, 0.2)
"""From where a number was set by hand: the silver data are too plain to carry one farther."""
ROUNDS = 3
SET = "fitted by training/unit_numbers.py on altered ImageInWords descriptions (CC BY 4.0)"
UNMOVED = "by hand; training/unit_numbers.py found no better value"
SYNONYM_SET = (
    "by training/unit_numbers.py: a fiftieth of WordNet's sister nouns that ImageInWords uses often"
    " come as near"
)
WORD_GROUPS = (
    *KINDS,
    ("holding", "pushing", "kicking", "painting", "washing"),
    ("sitting", "standing", "lying", "kneeling", "walking"),
    ("on", "under", "behind", "beside"),
    ("above", "below"),
    ("round", "square", "triangular"),
    (
        "car",
        "dog",
        "tree",
        "table",
        "house",
        "boat",
        "bird",
        "lamp",
        "shirt",
        "bottle",
        "bridge",
    ),
)

START = {
    "same": 0.85,
    "certain": 0.9,
    "known": 0.5,
    "narrower": 0.7,
    "contradicted": 0.3,
    "unpaired": 0.4,
    "ends": 0.6,
    "related": 0.8,
    "other_verb": 0.45,
}
"""What was set by hand."""
FIXED_NAMES = (
    "points", "anywhere", "entity_anywhere", "relation_anywhere", "passing", "sure_named",
    "sure_said", "sure_related",
)  # fmt: skip
"""What is not fitted: the scale itself, what is shown, and what like words elsewhere are worth.
Silver texts say things in their own words or in synonyms, and the fit would give other wordings
nothing."""
FITTED = tuple(
    field.name for field in fields(Numbers) if field.name not in FIXED_NAMES
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A unit's evidence and whether the target says it; of an alteration all units at its place.

    One of these is enough for people to find it, so the least value counts.
    """

    evidence: tuple[Evidence, ...]
    true: bool

    @property
    def kind(self) -> str:
        """Of the unit; that of the first where there are several."""
        return self.evidence[0].kind

    def value(self, n: Numbers) -> float:
        """Return the least value of the units."""
        return min(value(evidence, n) for evidence in self.evidence)


def pieces(data: Path, n: int) -> list[str]:
    """Two to four sentences each, of descriptions that the attachment suite does not alter."""
    texts = descriptions(data)
    used_texts = {case.origin for case in suite(texts, SUITE)}
    free = [
        text for place, text in enumerate(texts) if place not in used_texts
    ]
    statements = []
    for sentences in free:
        piece = ""
        for sentence in sentences[1:]:
            piece = f"{piece} {sentence}".strip()
            if len(piece.split()) >= WORDS[0]:
                break
        if WORDS[0] <= len(piece.split()) <= WORDS[1] and piece.isascii():
            statements.append(piece)
    return random.Random(SEED).sample(statements, n)


def same_words(texts: Sequence[str]) -> dict[str, str]:
    """For frequent words another that shares a sense in WordNet and stands in like contexts."""
    limit = synonym_cosine(frequent(texts, "n"))
    synonyms_found: dict[str, str] = {}
    for part in ("n", "v", "a"):
        words = frequent(texts, part)
        cosines = vectors(words) @ vectors(words).T
        for place, word in enumerate(words):
            for other_place in np.argsort(-cosines[place])[1:4].tolist():
                shared_senses = senses(word, part) & senses(
                    words[other_place], part
                )
                alike = (
                    _ending(word) == _ending(words[other_place])
                    and words[other_place][:3] != word[:3]
                )
                if (
                    shared_senses
                    and alike
                    and cosines[place, other_place] >= limit
                ):
                    synonyms_found.setdefault(word, words[other_place])
    return synonyms_found


def _ending(word: str) -> str:
    return next((end for end in ("ing", "ed", "s") if word.endswith(end)), "")


def frequent(texts: Sequence[str], part: str) -> list[str]:
    """Words that descriptions use often and WordNet knows as a part of speech."""
    words = re.findall(r"[a-z]+", " ".join(texts).lower())
    vocabulary, counts = np.unique(words, return_counts=True)
    often = [
        w
        for w, n in zip(vocabulary.tolist(), counts, strict=True)
        if n >= FREQUENT
    ]
    return [word for word in often if senses(word, part)]


def synonym_cosine(nouns: Sequence[str]) -> float:
    """The cosine above which a fiftieth of WordNet's sister words lie, without those of a class."""
    near = vectors(nouns) @ vectors(nouns).T
    above = [
        frozenset().union(*(parents(s) for s in senses(noun, "n")))
        for noun in nouns
    ]
    cosines = [
        near[i, j]
        for i, a in enumerate(nouns)
        for j in range(i)
        if above[i] & above[j]
        and not senses(a, "n") & senses(nouns[j], "n")
        and not exclude(values(a), values(nouns[j]))
    ]
    return float(np.quantile(cosines, 1.0 - SISTERS))


def altered(
    text: str, rng: random.Random
) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Texts made false in place, with the altered words: one word replaced, or two exchanged."""
    for kind in WORD_GROUPS:
        hits = list(re.finditer(rf"\b({'|'.join(kind)})\b", text))
        if not hits:
            continue
        hit = rng.choice(hits)
        replacement = rng.choice(
            [word for word in kind if not re.search(rf"\b{word}", text)]
            or [""]
        )
        if replacement:
            altered_text = (
                text[: hit.start()] + replacement + text[hit.end() :]
            )
            yield (
                altered_text,
                ((hit.start(), hit.start() + len(replacement)),),
            )
        unlike = [h for h in hits if h[0] != hit[0]]
        if len(hits) == 2 and unlike:
            first, second = hits
            middle = text[first.end() : second.start()]
            altered_text = (
                text[: first.start()]
                + second[0]
                + middle
                + first[0]
                + text[second.end() :]
            )
            start = first.start() + len(second[0]) + len(middle)
            yield (
                altered_text,
                (
                    (first.start(), first.start() + len(second[0])),
                    (start, start + len(first[0])),
                ),
            )


def exchanged(text: str) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Texts in which what two things do, or have, is exchanged, with what was exchanged."""
    for pattern in (
        r"\b(?:is|are) ([a-z]+(?:ing|ed)\b[^,.;]*)",
        r"\b(?:has|have) (an? [^,.;]+)",
    ):
        hits = list(re.finditer(pattern, text))
        if len(hits) < 2 or hits[0][0].split()[0] != hits[1][0].split()[0]:
            continue
        (a, b), (c, d) = hits[0].span(1), hits[1].span(1)
        first, middle, second = text[a:b], text[b:c], text[c:d]
        start = a + len(second) + len(middle)
        yield (
            text[:a] + second + middle + first + text[d:],
            ((a, a + len(second)), (start, start + len(first))),
        )


def denied(
    text: str, rng: random.Random
) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Texts that deny what a sentence says, with what they deny."""
    hits = list(
        re.finditer(
            r"\b(is|are) ([a-z]+ing)\b|\b(has|have) an? ([^,.;]+)", text
        )
    )
    if hits:
        hit = rng.choice(hits)
        denied_words = f"not {hit[2]}" if hit[1] else f"no {hit[4]}"
        start = hit.start() + len(hit[1] or hit[3]) + 1
        yield (
            text[:start] + denied_words + text[hit.end() :],
            ((start, start + len(denied_words)),),
        )


def silver(
    texts: Sequence[str], synonyms: dict[str, str], n: Numbers
) -> list[Case]:
    """Units that a text says, and such that it does not."""
    rng = random.Random(SEED)
    cases = []
    for text in texts:
        (source,) = analysed_claims.read_texts([text])
        reworded = re.sub(
            r"[a-z]+",
            lambda word: synonyms.get(word[0], word[0]),
            disguised(text, rng),
        )
        for phrase, synonym in PHRASES:
            if rng.random() < 0.5:
                reworded = re.sub(rf"\b{phrase}\b", synonym, reworded)
        (target,) = analysed_claims.read_texts([reworded])
        cases += [
            Case((evidence,), True) for evidence in gather(source, target, n)
        ]
        for altered_text, marks in (
            *altered(text, rng),
            *exchanged(text),
            *denied(text, rng),
        ):
            if altered_text == text:
                continue
            (false,) = analysed_claims.read_texts([altered_text])
            wrong: list[Evidence] = []
            for unit, evidence in zip(
                false.units, gather(false, source, n), strict=True
            ):
                at = any(
                    a < end and start < b
                    for a, b in unit.spans
                    for start, end in marks
                )
                if at:
                    wrong.append(evidence)
                elif rng.random() < 0.2:
                    cases.append(Case((evidence,), True))
            if wrong:
                cases.append(Case(tuple(wrong), False))
    return cases


def by_hand(n: Numbers) -> Numbers:
    """Return the numbers as they were set before any was fitted: the same start each time."""
    return replace(n, **START)  # type: ignore[arg-type]


def loss(cases: Sequence[Case], n: Numbers) -> float:
    """Mean hinge over kinds of units, true and false ones counting alike."""
    present = n.present
    totals: dict[tuple[str, bool], list[float]] = {}
    for case in cases:
        above = (case.value(n) - present) / MARGIN
        hinge = max(0.0, 1.0 - above if case.true else 1.0 + above)
        totals.setdefault((case.kind, case.true), []).append(min(hinge, 2.0))
    return float(np.mean([np.mean(hinges) for hinges in totals.values()]))


def fit(cases: Sequence[Case], start: Numbers) -> tuple[Numbers, set[str]]:
    """Return the best numbers found, and the names of those that were moved."""
    best, lowest = start, loss(cases, start)
    moved: set[str] = set()
    for _ in range(ROUNDS):
        before = lowest
        for name in FITTED:
            for tried in _tried(best, start, name):
                now = loss(cases, tried)
                if now < lowest - GAIN:
                    best, lowest = tried, now
                    moved.add(name)
        if lowest > before - GAIN:
            break
    return best, moved


def _tried(n: Numbers, start: Numbers, name: str) -> Iterator[Numbers]:
    """Yield the numbers with one of them a few steps lower or higher than at the start."""
    for step in STEPS:
        moved = round(getattr(start, name) + step, 3)
        if 0.0 <= moved <= 1.0:
            yield replace(n, **{name: moved})


def report(cases: Sequence[Case], n: Numbers) -> Iterator[str]:
    for kind in ("entity", "attribute", "amount", "relation"):
        for true in (True, False):
            cases_of_kind = [
                c for c in cases if c.kind == kind and c.true is true
            ]
            right = [(c.value(n) >= n.present) is true for c in cases_of_kind]
            label = "true" if true else "false"
            yield f"{kind:10} {label:6}{len(cases_of_kind):6d}  right {np.mean(right):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with lzma.open(
        options.data / "descriptions" / "iiw_descriptions.jsonl.xz", "rt"
    ) as file:
        descriptions = [json.loads(line)["text"] for line in file]
    cosine = round(synonym_cosine(frequent(descriptions, "n")), 2)
    print(f"cosine of synonyms {cosine}")
    start = by_hand(numbers())
    cases = silver(
        pieces(options.data, options.texts), same_words(descriptions), start
    )
    print(f"loss {loss(cases, start):.4f}", *report(cases, start), sep="\n")
    best, moved = fit(cases, start)
    print(f"loss {loss(cases, best):.4f}", *report(cases, best), sep="\n")
    for name in sorted(moved):
        print(f"{name}: {getattr(start, name)} -> {getattr(best, name)}")
    if options.write:
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        table["lexis.synonym"] |= {"value": cosine, "set": SYNONYM_SET}
        for name in FITTED:
            mark = SET if name in moved else UNMOVED
            table[f"decide.{name}"] |= {
                "value": getattr(best, name),
                "set": mark,
            }
        write_table(table)


if __name__ == "__main__":
    main()

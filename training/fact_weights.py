"""Fit the weights by which the built-in judge turns evidence on a statement into a probability.

    python -m training.fact_weights DATA [--texts 1000] [--write]

Silver data: the built-in statements of ImageInWords descriptions (CC BY 4.0) and their sentences
without some of their modifiers as true ones, and statements made false of them by rule
(``training/studies/fact_cases.py``), all held against the description said otherwise: people do not
write facts in the words of the parse. No judged text is used. The logistic
has weights that may not be negative: more evidence never makes a statement less likely. True and
false ones count alike. ``--write`` puts the weights into ``numbers.json``;
``training.studies.facts --write`` then chooses from which probability a statement counts as true.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.dcscore import bent_relations
from scipy.optimize import minimize

from beholder.judges.builtin import claims, numbers
from beholder.judges.builtin.reading import analysed, analysed_claims
from beholder.language import graph_statements, parse
from beholder.language.document import Document
from beholder.text import RuleSplitter
from beholder.text.languages import not_english
from training.studies.fact_cases import Statement, cases

SEED = 4
PENALTY = 1e-3
DROPPED = 0.5
"""Share of modifiers that are left out."""
DISGUISED = 0.4
"""Share of sentences that are joined to the one before, and of those that begin with a pronoun."""
BENT = 2
"""Most statements of a text with a relation bent: the rarest mistake of those made here."""
ADDED = ("sturdy", "neat", "distinctive", "elaborate", "simple", "noticeable")
PRONOUN = "\0"
_FOREIGN = re.compile(r"[^\W\d_\u0000-\u024f]")
"""Letters of other scripts, which make up a whole statement where a text quotes them."""
SET = "fitted by training/fact_weights.py on silver statements of ImageInWords (CC BY 4.0)"
TABLE = Path(numbers.__file__).with_name("numbers.json")
PARTS = {"facts.rules": 3, "facts.both": 4}
"""How many of the parts of the evidence each decision weighs."""

Floats = npt.NDArray[np.float64]


def evidence(
    texts: Sequence[str], statements: Sequence[Sequence[Statement]]
) -> Floats:
    """(statements, parts of the evidence), text by text."""
    rows = []
    for text, statements_of_text in zip(texts, statements, strict=True):
        source = claims.Source(analysed(text))
        source_words = set(source.text.words)
        analysed_statements = analysed_claims.read_texts(
            [
                claims.respelt(statement.text, source_words)
                for statement in statements_of_text
            ]
        )
        analysed_statements = list(
            claims.renumbered(analysed_statements, [source.text])
        )
        rows.append(
            claims.evidence(analysed_statements, source, entail=True)[0]
        )
    return np.concatenate(rows)


def reduced(document: Document, rng: random.Random) -> Iterator[str]:
    """First parts of sentences without some of the words that may be left out."""
    for first, last in document.sentences:
        words = document.words[first:last]
        end = next(
            (w.index for w in words[3:] if w.text in (",", ";", ":")),
            words[-1].index,
        )
        part = [w for w in words if w.index < end]
        if not (4 <= len(part) <= 16) or not any(
            w.dep == "ROOT" for w in part
        ):
            continue
        out = {
            w.index
            for w in part
            if w.dep in ("amod", "advmod")
            and w.index > first
            and rng.random() < DROPPED
        }
        yield " ".join(w.text for w in part if w.index not in out) + "."


def disguised(text: str, rng: random.Random) -> str:
    """A text that says the same otherwise, so that its parse is not the one of its statements.

    Some sentences are joined, some begin with a pronoun, and some nouns get one more adjective.
    """
    parts = [text[s.start : s.end].strip() for s in RuleSplitter().split(text)]
    disguised = ""
    for part in parts:
        plural = re.match(r"The ([a-z]+s) ", part)
        if disguised and rng.random() < DISGUISED:
            part = re.sub(
                r"^The (?:[a-z]+ )?[a-z]+(?= (?:is|are|has|have) )",
                PRONOUN,
                part,
            )
            part = part.replace(PRONOUN, "They" if plural else "It", 1)
        if disguised and rng.random() < DISGUISED:
            disguised = (
                disguised.rstrip(".!?")
                + ", and "
                + part[:1].lower()
                + part[1:]
            )
        else:
            disguised = f"{disguised} {part}".strip()
    words = re.split(r"(\W+)", disguised)
    for place, word in enumerate(words):
        if word in ("a", "the") and rng.random() < DISGUISED / 3:
            words[place] = f"{word} {rng.choice(ADDED)}"
    return "".join(words)


def _true(text: str, rng: random.Random) -> list[str]:
    """Return true statements of a text: parts of its sentences, and as many from its parse."""
    parts = [
        part for part in reduced(parse(text), rng) if not_english(part) is None
    ]
    stated = (
        statement.text for statement in graph_statements(analysed(text).graph)
    )
    parsed = [
        statement for statement in stated if not_english(statement) is None
    ]  # quoted words
    return parts + rng.sample(parsed, min(len(parts), len(parsed)))


def silver(data: Path, n: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Evidence on silver statements, and which are true."""
    with lzma.open(
        data / "descriptions" / "iiw_descriptions.jsonl.xz", "rt"
    ) as file:
        texts = [json.loads(line)["text"] for line in file]
    texts = [
        text
        for text in texts
        if 60 < len(text.split()) < 260 and not _FOREIGN.search(text)
    ]
    chosen = np.random.default_rng(SEED).choice(len(texts), n, replace=False)
    texts = [texts[place] for place in chosen]
    rng = random.Random(SEED)
    true_statements = [_true(text, rng) for text in texts]
    cases_of_texts = cases(texts, true_statements, SEED)
    for place, text in enumerate(texts):
        bent = list(bent_relations(text, rng))
        cases_of_texts[place] += [
            Statement(statement, "bent", place)
            for statement in rng.sample(bent, min(BENT, len(bent)))
        ]
    true = np.array(
        [
            statement.kind == "true"
            for statements_of_text in cases_of_texts
            for statement in statements_of_text
        ]
    )
    return evidence(
        [disguised(text, rng) for text in texts], cases_of_texts
    ), true


def fit(evidence: Floats, true: npt.NDArray[np.bool_]) -> Floats:
    """Return the constant and a weight from 0 for each part of the evidence."""
    sign = np.where(true, 1.0, -1.0)
    weight = np.where(true, 0.5 / true.sum(), 0.5 / (~true).sum())
    scale = evidence.std(axis=0) + 1e-9
    scaled = evidence / scale

    def loss(b: Floats) -> tuple[float, Floats]:
        margin = sign * (scaled @ b[1:] + b[0])
        slope = -(weight * sign / (1.0 + np.exp(margin)))
        value = float(
            weight @ np.logaddexp(0.0, -margin) + PENALTY * (b[1:] @ b[1:])
        )
        return value, np.r_[
            slope.sum(), scaled.T @ slope + 2 * PENALTY * b[1:]
        ]

    start = np.r_[0.0, np.full(evidence.shape[1], 0.1)]
    bounds = [(None, None)] + [(0.0, None)] * evidence.shape[1]
    best: Floats = minimize(
        loss, start, jac=True, bounds=bounds, method="L-BFGS-B"
    ).x
    weights: Floats = np.r_[best[0], best[1:] / scale]
    return weights


def write(name: str, weights: Floats) -> None:
    """Put the weights of a decision into the table of the judge's numbers."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    table[name] |= {"value": np.round(weights, 3).tolist(), "set": SET}
    write_table(table)


def write_table(table: dict[str, dict[str, Any]]) -> None:
    """Write the table of the judge's numbers, a line for each."""
    lines = (
        f"  {json.dumps(name)}: {json.dumps(entry)}"
        for name, entry in table.items()
    )
    TABLE.write_text(
        "{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    evidence, true = silver(options.data, options.texts)
    for name, n_parts in PARTS.items():
        weights = fit(evidence[:, :n_parts], true)
        print(f"{name:12} {np.round(weights, 3).tolist()}")
        if options.write:
            write(name, weights)


if __name__ == "__main__":
    main()

"""The entailment model's answers about units: does a text state, or exclude, each of them?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.entailment import CONTRADICTION, ENTAILMENT, entail
from beholder.embed.exact import cosines
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.decide import contradicted, value
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.numbers import Numbers, number, table
from beholder.judges.builtin.vectors import vectors
from beholder.language.statements import wording
from beholder.text import frequency
from beholder.text import words as word_spans

VERBATIM = number("entail.verbatim")
REPEATED = number("entail.repeated")
_SHORT = 4
"""Sentences of a short text. In longer ones, the nearest sentence alone separates true statements
from false ones better."""
_STEEP = 4
"""Power of the share of repeated words: in nearly the same words, what differs is a wrong fact."""
_GRID = 3
"""Decimals that count of the likeness of a sentence, so that ties stay ties on every processor."""

Entailment: TypeAlias = Callable[[Sequence[tuple[str, str]]], FloatArray]
"""Gives (pairs, 3) as ``embed.entailment.entail`` does."""


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities of a statement by the model, each 0..1, and 1 / sentences."""

    entailed: float
    excluded: float
    alone: float


def ask(
    statements: Sequence[str], target: AnalysedText, model: Entailment = entail
) -> list[Chances]:
    """Compare statements with the sentences of a text.

    Each is compared with the sentence that is nearest to it, in short texts also with that and the
    next nearest together; what makes it likelier counts.
    """
    pairs = [
        [(premise, s) for premise in premises(s, target)] for s in statements
    ]
    rows = iter(model([pair for each in pairs for pair in each]).tolist())
    alone = 1.0 / len(target.sentence_texts)
    chances = []
    for each in pairs:
        answers = [next(rows) for _ in each]
        best = max(answers, key=lambda row: row[ENTAILMENT])
        chances.append(Chances(best[ENTAILMENT], best[CONTRADICTION], alone))
    return chances


def undecided(
    source: AnalysedText, evidence: Sequence[Evidence], n: Numbers
) -> dict[int, str]:
    """The units that words alone do not decide, by place, each as a statement.

    Decided is what the target says word for word of the same thing, what it denies, one of several
    like things of which it has fewer, and what it says with ends or owners exchanged; so is, in a
    sentence that it nearly repeats, what it says of another thing.
    """
    return {
        # Sure wordings, denials and exchanges are left to the rules, which the
        # model does not beat; so are facts in the same words about other
        # things.
        place: wording(unit, source.graph)
        for place, (unit, unit_evidence) in enumerate(
            zip(source.units, evidence, strict=True)
        )
        if unit.asked
        and not (unit_evidence.crowded or unit_evidence.denied)
        and (value(unit_evidence, n) < VERBATIM or unit.share)
        and not exchanged(unit_evidence, n)
        and not (
            unit_evidence.repeated >= REPEATED and _of_others(unit_evidence, n)
        )
    }


def _of_others(evidence: Evidence, n: Numbers) -> bool:
    """Return whether a text has the words of a relation, but between other things.

    In nearly the same words this is a wrong fact, and the model hardly sees whose words they are;
    in other words it is often the same thing under another name.
    """
    has_words = (
        evidence.kind == "relation"
        and evidence.coverage >= VERBATIM
        and evidence.ends >= n.same
    )
    return has_words and evidence.stated < n.other_verb


def exchanged(evidence: Evidence, n: Numbers) -> bool:
    """Return whether the words alone prove that ends or owners are exchanged."""
    turned = evidence.kind == "relation" and evidence.turned >= VERBATIM
    return contradicted(evidence, n) and (evidence.exchanged or turned)


def likely(evidence: Evidence, chances: Chances, n: Numbers) -> float:
    """Estimate the probability 0..1 that the target states a unit, from rules and model."""
    kind = "attribute" if evidence.kind == "amount" else evidence.kind
    weights = table()[f"entail.{kind}"]["value"]
    total = sum(
        w * x
        for w, x in zip(weights, features(evidence, chances, n), strict=True)
    )
    return 1.0 / (1.0 + math.exp(-total))


def features(
    evidence: Evidence, chances: Chances, n: Numbers
) -> tuple[float, ...]:
    """Return the features of the decision; their weights are ``entail.*`` in ``numbers.json``."""
    return (
        1.0,
        value(evidence, n) - 0.5,
        log_odds(chances.entailed),
        log_odds(chances.excluded),
        float(contradicted(evidence, n)),
        evidence.repeated**_STEEP,
        evidence.shared,
        evidence.coverage,
        evidence.ends,
        float(evidence.vague),
        chances.alone,
    )


def log_odds(chance: float) -> float:
    """Of a probability, within -7 and 7."""
    sure = min(max(chance, 0.001), 0.999)
    return math.log(sure / (1.0 - sure))


def premises(statement: str, target: AnalysedText) -> list[str]:
    """The sentence of a text that is nearest to a statement, and that with the next nearest.

    Returns:
        One or two premises; the second only of a short text, with both sentences in the order of
        the text.
    """
    sentences = target.sentence_texts
    if len(sentences) < 2:
        return list(sentences)
    words = [statement[a:b].lower() for a, b in word_spans(statement)]
    # Greedy cover: the first sentence covers the words of the statement best
    # by frequency weight, the second next best. Rounding makes ties stable
    # across processors.
    near = cosines(vectors(words), target.word_vectors)
    best = np.zeros((len(words), len(sentences)))
    np.maximum.at(best.T, np.array(target.sentences, np.intp), near.T)
    fit = np.array(frequency.weights(words)) @ best
    first, second = np.argsort(-np.round(fit, _GRID), kind="stable")[
        :2
    ].tolist()
    if len(sentences) > _SHORT:
        return [sentences[first]]
    return [
        sentences[first],
        " ".join(sentences[i] for i in sorted((first, second))),
    ]

"""Fits how rules and entailment model decide together (``entail.KIND`` in ``numbers.json``).

    python -m training.entailment.decision [--write]

Data: the pairs of ``SHARED_DATA/nli`` and the statements of ``statements.jsonl``,
``exchanged.jsonl`` and ``near.jsonl`` that the model was not trained on; the tuning half (the first
six of each kind) of the minimal pairs that come with beholder; units of pairs of descriptions that
the model was not trained on, marked by blind readers (language models, ``readings.py``);
descriptions of different photographs, which say nothing of each other; and captions of different
pictures, marked in the same way. If a premise entails a sentence, it says all units of the
sentence; if not, at least one unit is not said. So the probability of a sentence is the product of
its units'. Of a minimal pair, each unit is labelled: those of the paraphrase are said by the
reference and the other way round, those at the changed words of the altered text are not. The loss
is the weighted mean of six log losses, with a small penalty on the weights. Printed are the areas
under the curve of five folds by premise, on sentences: of the rules alone, the model alone, and
both.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu

from beholder.judges.builtin import numbers
from beholder.judges.builtin.entailed import ask, features, undecided
from beholder.judges.builtin.gather import gather
from beholder.judges.builtin.reading import analysed
from beholder.kinds.agreement.suites.command import PAIRS
from beholder.kinds.agreement.suites.files import read_pairs
from beholder.language.statements import GraphUnit, wording
from beholder.records import Span
from training.entailment.pool import (
    EXCHANGED,
    LABELS,
    SHARED,
    SIXTH,
    is_kept_back,
    written,
)
from training.entailment.readings import captions, readings
from training.fact_weights import TABLE, write_table
from training.studies.contradictions import read_rows as read_reading
from training.studies.minimal_pairs import TUNED
from training.studies.photographs import NAMES as PHOTOGRAPHS

Floats = npt.NDArray[np.float64]
Spans: TypeAlias = tuple[Span, ...]
Labels: TypeAlias = Callable[[GraphUnit], bool | None]
WEIGHTS = (3.0, 8.0, 0.1, 0.15)
"""Of the minimal pairs, the readers' units, the descriptions of different photographs, and the
captions of different pictures. Chosen, with the penalty, from about twenty on the same data: more
of the last raises agreement on captions, and false alarms on paraphrases. The readers' units count
most: in them, said and not said are as frequent as in descriptions."""
UNSAID = 4.0
"""Weight of a unit that is not said in minimal pairs, where 1 in 16 is not."""
KINDS = {"entity": 0, "attribute": 1, "amount": 1, "relation": 2}
NAMES = ("entity", "attribute", "relation")
COMMON_PARTS = [5, 6, 7, 8, 9, 10]
PARTS = {
    "rules": [0, 1, 4, *COMMON_PARTS],
    "model": [0, 2, 3, *COMMON_PARTS],
    "both": list(range(11)),
}
SIGNS = (
    (None, None),
    (0, None),
    (0, None),
    (None, 0),
    (None, 0),
    (None, None),
    (0, None),
) + ((None, None),) * 4
"""Bounds of the weights: what speaks for a unit never lowers its probability."""
PENALTY = 1e-4
FOLDS = 5
SETS = ("snli", "counterfactual", "one_word")
SET = (
    "fitted by training/entailment/decision.py on labelled pairs and units that the model was not"
    " trained on"
)


class Units:
    """Undecided units with labels.

    Args:
        found: Source, target, and whether the target says a unit of the source; None if unknown.
        unsaid: Weight of a unit that is not said.

    Attributes:
        x: (units, 11) features.
        kind: (units,) place in ``NAMES``.
        said: (units,) whether the other text says the unit.
    """

    def __init__(
        self,
        labelled_texts: Iterable[tuple[str, str, Labels]],
        unsaid: float = 1.0,
    ) -> None:
        self.unsaid = unsaid
        n = numbers.numbers()
        x: list[tuple[float, ...]] = []
        kind: list[int] = []
        labels: list[bool] = []
        for text, other_text, label in labelled_texts:
            source, target = analysed(text), analysed(other_text)
            evidence = gather(source, target, n)
            undecided_units = undecided(source, evidence, n)
            for place, answer in zip(
                undecided_units,
                ask(list(undecided_units.values()), target),
                strict=True,
            ):
                is_stated = label(source.units[place])
                if is_stated is not None:
                    x.append(features(evidence[place], answer, n))
                    kind.append(KINDS[evidence[place].kind])
                    labels.append(is_stated)
        self.x, self.kind, self.said = (
            np.array(x),
            np.array(kind),
            np.array(labels),
        )

    def loss(self, weights: Floats) -> float:
        """Mean log loss of a unit."""
        z = (weights[self.kind] * self.x).sum(axis=1)
        missed = np.logaddexp(0.0, np.where(self.said, -z, z))
        return float(
            np.average(missed, weights=np.where(self.said, 1.0, self.unsaid))
        )


def minimal_pairs() -> Iterator[tuple[str, str, Labels]]:
    """Yield the tuning half, both versions against the reference, the paraphrase both ways."""
    for pair in read_pairs(PAIRS):
        if int(pair.id.rpartition("-")[2]) > TUNED:
            continue
        yield pair.paraphrase, pair.reference, lambda _: True
        yield pair.reference, pair.paraphrase, lambda _: True
        if pair.kind not in EXCHANGED:
            start = pair.altered.index(pair.changed)
            yield (
                pair.altered,
                pair.reference,
                partial(_outside, start, start + len(pair.changed)),
            )


def _outside(start: int, end: int, unit: GraphUnit) -> bool:
    return not any(a < end and b > start for a, b in unit.spans)


def strangers() -> Iterator[tuple[str, str, Labels]]:
    """Descriptions of different photographs: neither says what the other does."""
    rows = [
        row for name in PHOTOGRAPHS for row in read_reading(f"{name}.jsonl")
    ]
    for row, next_row in zip(rows, [*rows[1:], rows[0]], strict=True):
        yield row["candidate"], next_row["reference"], lambda _: False


def _is_stated(
    label: Callable[[GraphUnit], str | None], unit: GraphUnit
) -> bool | None:
    mark = label(unit)
    return None if mark in (None, "ill") else mark == "said"


class Pairs:
    """Units of hypotheses with their features, by pair.

    Attributes:
        x: (units, 11) features.
        kind: (units,) place in ``NAMES``.
        pair: (units,) the pair of each unit.
        said: (pairs,) whether the premise entails the hypothesis.
        stated: (pairs,) whether it is written for the model.
        fold: (pairs,) by premise.
    """

    def __init__(self) -> None:
        readings_kept_back = readings(kept_back=True)
        marks, of_captions = (
            Units(
                (text, reference, partial(_is_stated, label))
                for text, reference, label in labelled_texts
            )
            for labelled_texts in (
                readings_kept_back,
                captions(kept_back=True),
            )
        )
        self.labelled = (
            Units(minimal_pairs(), UNSAID),
            marks,
            Units(strangers()),
            of_captions,
        )
        n = numbers.numbers()
        x: list[tuple[float, ...]] = []
        kind: list[int] = []
        pair: list[int] = []
        is_entailed: list[bool] = []
        stated: list[bool] = []
        fold: list[int] = []
        for premise, hypothesis, label, by_hand in kept_back():
            source, target = analysed(hypothesis), analysed(premise)
            asked_units = [
                (unit, piece)
                for unit, piece in zip(
                    source.units, gather(source, target, n), strict=True
                )
                if unit.asked
            ]
            if not asked_units:
                continue
            answers = ask(
                [wording(unit, source.graph) for unit, _ in asked_units],
                target,
            )
            x += [
                features(piece, a, n)
                for (_, piece), a in zip(asked_units, answers, strict=True)
            ]
            kind += [KINDS[piece.kind] for _, piece in asked_units]
            pair += [len(is_entailed)] * len(asked_units)
            is_entailed.append(label == "entailment")
            stated.append(by_hand)
            fold.append(hashlib.sha256(premise.encode()).digest()[1] % FOLDS)
        self.x, self.kind, self.pair = (
            np.array(x),
            np.array(kind),
            np.array(pair),
        )
        self.said, self.fold = np.array(is_entailed), np.array(fold)
        self.stated = np.array(stated)

    def log_chances(self, weights: Floats) -> Floats:
        """(pairs,) log probability that all units of a hypothesis are said."""
        z = (weights[self.kind] * self.x).sum(axis=1)
        total = np.bincount(self.pair, -np.logaddexp(0.0, -z), len(self.said))
        return np.minimum(total, -1e-9)

    def fitted(
        self, parts: Sequence[int], is_taken: npt.NDArray[np.bool_]
    ) -> Floats:
        """(3, 11) weights on some pairs; those of other parts are 0."""

        def loss(flat: Floats) -> float:
            weights = spread(flat)
            log_p = self.log_chances(weights)
            missed = [
                w * u.loss(weights)
                for w, u in zip(WEIGHTS, self.labelled, strict=True)
            ]
            for by_hand in (self.stated, ~self.stated):
                yes, no = (
                    is_taken & by_hand & self.said,
                    is_taken & by_hand & ~self.said,
                )
                missed.append(
                    -0.5
                    * (log_p[yes].mean() + np.log(-np.expm1(log_p[no])).mean())
                )
            total = sum(missed) / (sum(WEIGHTS) + 2)
            return float(total + PENALTY * (weights**2).sum())

        def spread(flat: Floats) -> Floats:
            weights = np.zeros((len(NAMES), self.x.shape[1]))
            weights[:, list(parts)] = flat.reshape(len(NAMES), -1)
            return weights

        start = np.zeros(len(NAMES) * len(parts))
        bounds = [SIGNS[part] for part in parts] * len(NAMES)
        return spread(
            minimize(
                loss,
                start,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxfun": 10**6},
            ).x
        )


def kept_back() -> Iterator[tuple[str, str, str, bool]]:
    """Premise, hypothesis, label and whether it is a written statement, of what is kept back."""
    for name in SETS:
        text = gzip.decompress(
            (SHARED / f"{name}.jsonl.gz").read_bytes()
        ).decode()
        for row in map(json.loads, text.splitlines()):
            if is_kept_back(row["premise"]):
                yield row["premise"], row["hypothesis"], row["label"], False
    for _, place, row in written():
        if place % SIXTH == 0:
            for label in LABELS:
                for text in row[label]:
                    yield row["passage"], text, label, True


def main() -> None:
    """Fit, print areas and weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    pairs = Pairs()
    print(f"{len(pairs.said)} pairs, {len(pairs.x)} units")
    for name, parts in PARTS.items():
        chances = np.zeros(len(pairs.said))
        for fold in range(FOLDS):
            inside = pairs.fold == fold
            chances[inside] = pairs.log_chances(pairs.fitted(parts, ~inside))[
                inside
            ]
        right = ((chances > np.log(0.5)) == pairs.said).mean()
        yes, no = chances[pairs.said], chances[~pairs.said]
        area = mannwhitneyu(yes, no).statistic / (len(yes) * len(no))
        print(f"{name:6} AUC {area:.3f}, right {right:.3f}")
    weights = pairs.fitted(PARTS["both"], np.ones(len(pairs.said), dtype=bool))
    for name, row in zip(NAMES, weights, strict=True):
        print(name, np.round(row, 3).tolist())
    if options.write:
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        for name, row in zip(NAMES, weights, strict=True):
            table[f"entail.{name}"] |= {
                "value": np.round(row, 3).tolist(),
                "set": SET,
            }
        write_table(table)


if __name__ == "__main__":
    main()

"""Probabilities of the built-in judge that a fact is true, against human facts of a caption.

    python -m training.studies.facts [--captions 81] [--skip 100] [--data DIR] [--show 20]
    python -m training.studies.facts --captions 181 --skip 0 --cut [--rules] [--write]

True ones are human-written facts of the caption (DeCapBench, dev half); false ones are made by rule
(``training/studies/fact_cases.py``). Prints areas under the curve by kind with intervals over
captions, what the cut of ``verify`` calls wrong, and the reliability diagram with the expected
calibration error, true and false ones counting alike. The captions are in a fixed order: the judge
was made while looking at errors on the first 100; the others were only ever measured.

``--cut`` chooses from which probability a fact counts as true: the lowest cut whose mean of both
shares called right is within one standard error, over captions, of the best. Few true facts are
then called wrong, and hardly more wrong ones true. Printed are the shares of five folds by caption,
each with the cut of the other four, mean of ten divisions. ``--rules`` does so without the
entailment model; ``--write`` puts the cut of all captions into ``numbers.json``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.oracle_statements import cleaned, read_facts
from scipy.stats import rankdata

from beholder.judges.builtin.claims import probabilities
from beholder.judges.builtin.numbers import number
from training.fact_weights import TABLE, write_table
from training.studies.fact_cases import Statement, cases

DATA = Path(__file__).parents[2] / "../shared/data"
SEED = 1
BINS = 10
CUT = number("facts.both_true")
CUTS = np.round(np.arange(0.05, 0.6, 0.01), 2)
FOLDS, DIVISIONS = 5, 10
CHOSEN = "by training/studies/facts.py --cut, on people's facts of 181 captions (DeCapBench)"

Floats = npt.NDArray[np.float64]


def area(true: Floats, false: Floats) -> float:
    """Probability that a true one is above a false one, ties half."""
    ranks = rankdata(np.r_[true, false])
    return float(
        (ranks[: len(true)].sum() - len(true) * (len(true) + 1) / 2)
        / (len(true) * len(false))
    )


def reliability(
    p: Floats, true: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, float, float]]:
    """Per tenth: statements, mean probability, share of true ones; both kinds count alike."""
    weight = np.where(true, 0.5 / true.sum(), 0.5 / (~true).sum())
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    for b in range(BINS):
        in_bin = bins == b
        if in_bin.any():
            w = weight[in_bin]
            yield (
                int(in_bin.sum()),
                float(np.average(p[in_bin], weights=w)),
                float(np.average(true[in_bin], weights=w)),
            )


def calibration_error(p: Floats, true: npt.NDArray[np.bool_]) -> float:
    """Mean distance of probability and share of true ones over tenths, by weight."""
    weight = np.where(true, 0.5 / true.sum(), 0.5 / (~true).sum())
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(
        sum(
            abs(float((weight * (p - true))[bins == b].sum()))
            for b in range(BINS)
        )
    )


def called_right(
    p: Floats, true: npt.NDArray[np.bool_], groups: npt.NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Shares of true and of wrong facts that are called right, each (captions, cuts)."""
    above = p[:, None] >= CUTS
    captions = np.unique(groups)
    return (
        np.array([above[(groups == c) & true].mean(axis=0) for c in captions]),
        np.array([1 - above[(groups == c) & ~true].mean(axis=0) for c in captions]),
    )  # fmt: skip


def choose_cut(right_of_true: Floats, right_of_wrong: Floats) -> int:
    """Return the place in ``CUTS`` of the lowest cut within one standard error of the best."""
    balanced = (right_of_true + right_of_wrong) / 2
    mean = balanced.mean(axis=0)
    error = balanced.std(axis=0, ddof=1) / np.sqrt(len(balanced))
    best = int(mean.argmax())
    return int(np.flatnonzero(mean >= mean[best] - error[best])[0])


def cross_validated(
    right_of_true: Floats, right_of_wrong: Floats
) -> tuple[float, float]:
    """Shares of true and of wrong facts called wrong, with cuts of other captions."""
    shares: list[tuple[float, float]] = []
    n = len(right_of_true)
    for division in range(DIVISIONS):
        folds = np.random.default_rng(division).permutation(n) % FOLDS
        for fold in range(FOLDS):
            held, others = folds == fold, folds != fold
            cut = choose_cut(right_of_true[others], right_of_wrong[others])
            shares.append(
                (
                    float(1 - right_of_true[held, cut].mean()),
                    float(right_of_wrong[held, cut].mean()),
                )
            )
    true_called_wrong, wrong_called_wrong = np.mean(shares, axis=0)
    return float(true_called_wrong), float(wrong_called_wrong)


def write_cut(name: str, cut: float) -> None:
    """Put a cut into the table of the judge's numbers."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    table[name] |= {"value": cut, "set": CHOSEN}
    table[name]["meaning"] = (
        "Probability from which a statement counts as true."
    )
    write_table(table)


def lines(statements: Sequence[Statement], p: Floats) -> Iterator[str]:
    kinds = np.array([statement.kind for statement in statements])
    groups = np.array([statement.group for statement in statements])
    true = kinds == "true"
    for kind in ("altered", "swapped", "foreign"):
        yield f"{kind:8} {(kinds == kind).sum():5d}  AUC {area(p[true], p[kinds == kind]):.3f}"
    rng = np.random.default_rng(0)
    draws, called = [], []
    below = p < CUT
    for _ in range(200):
        rows = np.concatenate(
            [
                np.flatnonzero(groups == g)
                for g in rng.choice(groups.max() + 1, groups.max() + 1)
            ]
        )
        draws.append(area(p[rows][true[rows]], p[rows][~true[rows]]))
        called.append(
            (below[rows][true[rows]].mean(), below[rows][~true[rows]].mean())
        )
    low, high = np.percentile(draws, [2.5, 97.5])
    yield f"all      {len(p):5d}  AUC {area(p[true], p[~true]):.3f} [{low:.3f}, {high:.3f}]"
    for name, is_chosen, column in (("true", true, 0), ("wrong", ~true, 1)):
        low, high = np.percentile(np.array(called)[:, column], [2.5, 97.5])
        yield f"below {CUT}: {name} ones {below[is_chosen].mean():.3f} [{low:.3f}, {high:.3f}]"
    cut = np.quantile(p[true], 0.1)
    yield f"below {cut:.3f} (a tenth of true ones): wrong ones {(p[~true] < cut).mean():.3f}"
    yield f"expected calibration error {calibration_error(p, true):.3f}"
    for n, mean, share in reliability(p, true):
        yield f"    {n:5d}  said {mean:.2f}  true {share:.2f}  {'#' * round(40 * share)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--captions", type=int, default=81)
    parser.add_argument(
        "--skip", type=int, default=100, help="captions to leave out first"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--show",
        type=int,
        default=0,
        help="wrong calls to print, of each kind",
    )
    parser.add_argument("--cut", action="store_true", help="choose the cut")
    parser.add_argument(
        "--rules", action="store_true", help="without the entailment model"
    )
    parser.add_argument("--write", action="store_true", help="store the cut")
    options = parser.parse_args()
    rows = read_facts(options.data / "oracle_facts.jsonl")
    random.Random(SEED).shuffle(rows)
    texts = [text for text, _ in rows]
    all_cases = cases(
        texts, [[cleaned(fact) for fact in facts] for _, facts in rows], SEED
    )
    chosen = slice(options.skip, options.skip + options.captions)
    texts = texts[chosen]
    grouped = [
        [replace(statement, group=group) for statement in statements_of_text]
        for group, statements_of_text in enumerate(all_cases[chosen])
    ]
    p = [
        probabilities(
            [statement.text for statement in statements_of_text],
            text,
            entail=not options.rules,
        )
        for text, statements_of_text in zip(texts, grouped, strict=True)
    ]
    all_statements = [
        statement
        for statements_of_text in grouped
        for statement in statements_of_text
    ]
    values = np.array(
        [value for values_of_text in p for value in values_of_text]
    )
    if options.cut:
        name = "facts.rules_true" if options.rules else "facts.both_true"
        is_true = np.array([s.kind == "true" for s in all_statements])
        groups = np.array([s.group for s in all_statements])
        rights = called_right(values, is_true, groups)
        cut = float(CUTS[choose_cut(*rights)])
        true_wrong, wrong_wrong = cross_validated(*rights)
        print(
            f"{name} {cut:.2f}; cross-validated: true facts called wrong {true_wrong:.3f},"
            f" wrong ones {wrong_wrong:.3f}"
        )
        if options.write:
            write_cut(name, cut)
        return
    print("\n".join(lines(all_statements, values)))
    for kind in ("true", "altered", "swapped") if options.show else ():
        called = (values < CUT) == (kind == "true")
        wrong = [
            i
            for i, s in enumerate(all_statements)
            if s.kind == kind and called[i]
        ]
        for i in random.Random(0).sample(wrong, min(options.show, len(wrong))):
            print(
                f"{kind:8} {values[i]:.2f} {all_statements[i].group:3d} {all_statements[i].text}"
            )


if __name__ == "__main__":
    main()

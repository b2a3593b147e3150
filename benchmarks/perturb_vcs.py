"""How far VCS and its parts tell breaking changes of a long text from preserving ones.

    python benchmarks/perturb_vcs.py [--data FILE] [--embedder ordered] [--lct 1]
        [--rules fixed] [--every 1]

Each caption of oracle_facts (about 190 words) is the reference; its perturbed versions are the
candidates. For each perturbation: the mean of every value, and, for a breaking one, the AUC against
all preserving ones together (share of pairs in which the preserved text has the higher value, ties
counted half; 1 separates them, 0.5 is chance). Versions that equal the caption are left out.

The data is shared/data/oracle_facts.jsonl beside the checkout. It is for measuring only.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from beholder import VCS
from beholder.asking.tools import Tools
from beholder.kinds.agreement.suites.perturb import PERTURBATIONS
from beholder.records import Item, ItemScore

DATA = Path(__file__).parents[1] / "../shared/data/oracle_facts.jsonl"
NAMES = (
    "vcs",
    "sas",
    "gas",
    "las",
    "las_precision",
    "las_recall",
    "nas",
    "nas_d",
    "nas_l",
)


def auc(high: np.ndarray, low: np.ndarray) -> float:
    """Share of pairs (one of each) in which the first is higher; ties count half."""
    ranks = rankdata(np.concatenate([high, low]))[: len(high)]
    above = ranks.sum() - len(high) * (len(high) + 1) / 2
    return float(above / (len(high) * len(low)))


def perturbed(captions: list[str], seed: int) -> dict[str, list[Item]]:
    versions: dict[str, list[Item]] = {}
    for number, (name, change) in enumerate(PERTURBATIONS.items()):
        for index, caption in enumerate(captions):
            rng = np.random.default_rng([seed, number, index])
            text = change.apply(
                caption, rng, captions[(index + 1) % len(captions)]
            )
            if text != caption:
                item = Item(
                    id=f"{name}/{index}", candidate=text, references=(caption,)
                )
                versions.setdefault(name, []).append(item)
    return versions


def values_of(metric: VCS, items: list[Item], tools: Tools) -> np.ndarray:
    rows = []
    for score in metric.score(items, tools=tools):
        assert isinstance(score, ItemScore), score
        rows.append([score.values[name] for name in NAMES])
    return np.array(rows)


def print_row(label: str, n: int, numbers: Any) -> None:
    print(
        f"  {label:18} {n:4}  "
        + "  ".join(f"{number:7.3f}" for number in numbers)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="VCS on perturbed captions")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default="ordered")
    parser.add_argument("--lct", type=float, default=1)
    parser.add_argument("--rules", default="fixed")
    parser.add_argument(
        "--every", type=int, default=1, help="take every n-th caption"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    metric = VCS(
        rules=options.rules, lct=options.lct, embedder=options.embedder
    )
    with options.data.open(encoding="utf-8") as lines:
        captions = [json.loads(line)["candidate"] for line in lines][
            :: options.every
        ]
    tools = Tools()
    scores_by_name = {
        name: values_of(metric, items, tools)
        for name, items in perturbed(captions, options.seed).items()
    }
    preserving = np.concatenate(
        [
            values
            for name, values in scores_by_name.items()
            if PERTURBATIONS[name].kind == "preserving"
        ]
    )
    print(
        f"{metric.signature(metric.identities(tools))}\n{len(captions)} captions"
    )
    print(
        f"\nmeans\n  {'':18} {'n':>4}  "
        + "  ".join(f"{name[:7]:>7}" for name in NAMES)
    )
    for name, values in scores_by_name.items():
        print_row(name, len(values), values.mean(axis=0))
    print("\nAUC against all preserving versions")
    breaking = []
    for name, values in scores_by_name.items():
        if PERTURBATIONS[name].kind == "breaking":
            breaking.append(values)
            columns = range(len(NAMES))
            print_row(
                name,
                len(values),
                [auc(preserving[:, i], values[:, i]) for i in columns],
            )
    together = np.concatenate(breaking)
    columns = range(len(NAMES))
    print_row(
        "all",
        len(together),
        [auc(preserving[:, i], together[:, i]) for i in columns],
    )


if __name__ == "__main__":
    main()

"""Fit how the parser's margins say that a part of a scene graph is misread.

    python -m training.english.certainty [--write]

Data: units of two descriptions of photographs that readers marked, ill-formed or not
(``training/readings/units.jsonl``; the readers were language models). A logistic for each kind of
part, with bounds: a greater margin never raises the doubt, distance and length never lower it.
Prints areas under the curve, five folds by photograph, and what share of the parts is left out at
some doubts and how many of those that stay are ill-formed. ``--write`` stores the weights.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu

from beholder.language import certainty, parse, scene_graph
from beholder.language.graph import SceneGraph
from beholder.language.statements import graph_units
from training.studies.contradictions import read_rows
from training.studies.photographs import texts_of_pairs

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
TABLE = Path(certainty.__file__).with_name("certainty.json")
KINDS = ("entity", "attribute", "relation")
BOUNDS = [(None, None)] + [(None, 0.0)] * 6 + [(0.0, None)] * 2
PENALTY, FOLDS, PLACES = 2.0, 5, 3
CUTS = (0.2, 0.25, 0.3, 0.35, 0.4)


def recorded(text: str) -> tuple[SceneGraph, list[tuple[float, ...]]]:
    """Return the graph of a text with the number of its features as the doubt of each part."""
    feature_rows: list[tuple[float, ...]] = []

    def record(part: certainty.Part, features: Sequence[float]) -> float:
        feature_rows.append(tuple(features))
        return float(len(feature_rows) - 1)

    with patch.object(certainty, "doubt", record):
        return scene_graph(parse(text)), feature_rows


def marked() -> tuple[
    dict[str, Floats], dict[str, Bools], dict[str, npt.NDArray[np.int64]]
]:
    """Features, whether ill-formed, and fold of the marked units, by kind."""
    marks: dict[tuple[str, str], dict[tuple[object, ...], bool]] = defaultdict(
        dict
    )
    for row in read_rows("units.jsonl"):
        key = (row["kind"], tuple((a, b) for a, b in row["spans"]))
        marks[row["pair"], row["side"]][key] = row["mark"] == "ill"
    texts = texts_of_pairs()
    rows: dict[str, list[tuple[tuple[float, ...], bool, int]]] = {
        kind: [] for kind in KINDS
    }
    places = {pair: place for place, pair in enumerate(sorted(texts))}
    for (pair, side), ill in marks.items():
        graph, features = recorded(texts[pair][side])
        for unit in graph_units(graph):
            key = (unit.kind, unit.spans)
            if key in ill and not unit.quantity:
                part_features = features[int(unit.doubt)]
                rows[unit.kind].append(
                    (part_features, ill[key], places[pair] % FOLDS)
                )
    return (
        {
            kind: np.array([row[0] for row in rows_of_kind])
            for kind, rows_of_kind in rows.items()
        },
        {
            kind: np.array([row[1] for row in rows_of_kind])
            for kind, rows_of_kind in rows.items()
        },
        {
            kind: np.array([row[2] for row in rows_of_kind])
            for kind, rows_of_kind in rows.items()
        },
    )


def fit(x: Floats, ill: Bools) -> Floats:
    """Return the weights of one kind."""

    def loss(w: Floats) -> float:
        z = x @ w
        return float(
            np.logaddexp(0.0, np.where(ill, -z, z)).sum()
            + PENALTY * (w[1:] @ w[1:])
        )

    weights: Floats = minimize(
        loss, np.zeros(x.shape[1]), method="L-BFGS-B", bounds=BOUNDS
    ).x
    return weights


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    x, ill, folds = marked()
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    doubts = {}
    for kind in KINDS:
        doubts[kind] = np.zeros(len(ill[kind]))
        for fold in range(FOLDS):
            inside = folds[kind] == fold
            w = fit(x[kind][~inside], ill[kind][~inside])
            doubts[kind][inside] = 1.0 / (1.0 + np.exp(-x[kind][inside] @ w))
        table[kind] = np.round(fit(x[kind], ill[kind]), PLACES).tolist()
        area = _area(doubts[kind], ill[kind])
        print(
            f"{kind:10} n {len(ill[kind])}, ill-formed {ill[kind].mean():.3f}, AUC {area:.3f}"
        )
    all_doubts = np.concatenate([doubts[kind] for kind in KINDS])
    all_ill = np.concatenate([ill[kind] for kind in KINDS])
    print(f"all        n {len(all_ill)}, AUC {_area(all_doubts, all_ill):.3f}")
    for cut in CUTS:
        is_below = all_doubts < cut
        print(
            f"below {cut}: {is_below.mean():.3f} of the parts,"
            f" ill-formed {all_ill[is_below].mean():.3f}"
        )
    if options.write:
        TABLE.write_text(
            json.dumps(table, indent=1) + "\n", encoding="utf-8", newline="\n"
        )


def _area(doubts: Floats, ill: Bools) -> float:
    yes, no = doubts[ill], doubts[~ill]
    return float(mannwhitneyu(yes, no).statistic / (len(yes) * len(no)))


if __name__ == "__main__":
    main()

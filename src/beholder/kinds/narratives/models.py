"""Several judges over the same narratives: how they agree, how they rank sources, side by side.

A judge here is a model; the repeats of one model are its votes. Their agreement says that models
agree with each other, which the repeats of one model cannot show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from beholder import stats
from beholder.kinds.narratives.storylines.space import Floats
from beholder.kinds.narratives.study import agreement, ordered_sources, pair


def between_models(
    ratings: Mapping[str, Mapping[str, float]], sources: Mapping[str, str], human: str = "human"
) -> dict[str, Any]:
    """How judges agree over the narratives that all of them rated.

    Args:
        ratings: Per judge the mean vote per narrative, by id.
        sources: Source of each narrative, by id.
        human: Name of the human source; it comes first.

    Returns:
        ``models``; ``n`` narratives that all rated and ``n_left_out`` that not all did;
        ``icc_single`` and ``icc_average`` over judges (absolute agreement: a judge that is milder
        disagrees) and ``kendall_w`` over their orders of the narratives; ``pairs``: for two judges
        r, its interval and p, Spearman's rho, and the mean paired difference (second minus first)
        with its interval and p; ``sources``: per judge and source n, mean, SD and the rank of the
        mean (1 is best; equal means share the mean of their ranks). Where fewer than two
        narratives have all ratings, ``reason`` says so instead.
    """
    models = list(ratings)
    every = list(dict.fromkeys(name for rated in ratings.values() for name in rated))
    common = [name for name in every if all(name in rated for rated in ratings.values())]
    row: dict[str, Any] = {
        "models": models,
        "n": len(common),
        "n_left_out": len(every) - len(common),
    }
    if len(common) < 2:
        return row | {"reason": f"needs two narratives that all judges rated, got {len(common)}"}
    table = np.array([[ratings[model][name] for model in models] for name in common])
    concordance = stats.kendall_w(table)
    return row | {
        **agreement(table),
        "kendall_w": {"value": concordance.value, "interval": pair(concordance.interval)},
        "pairs": [_pair_of(table, models, i, j) for i, j in combinations(range(len(models)), 2)],
        "sources": _by_source(table, models, [sources[name] for name in common], human),
    }


def _pair_of(table: Floats, models: Sequence[str], i: int, j: int) -> dict[str, Any]:
    a, b = table[:, i], table[:, j]
    linear, difference = stats.pearson(a, b), stats.paired_difference(b, a)
    return {
        "a": models[i],
        "b": models[j],
        "r": linear.value,
        "interval": pair(linear.interval),
        "p": linear.p_value,
        "rho": stats.spearman(a, b).value,
        "difference": difference.mean,
        "difference_interval": pair(difference.interval),
        "difference_p": difference.p_value,
    }


def _by_source(
    table: Floats, models: Sequence[str], named: Sequence[str], human: str
) -> list[dict[str, Any]]:
    sources = ordered_sources(named, human)
    of = np.array([sources.index(source) for source in named])
    found = []
    for column, model in enumerate(models):
        groups = [table[of == at, column] for at in range(len(sources))]
        ranks = rankdata([-group.mean() for group in groups])
        for source, group, rank in zip(sources, groups, ranks, strict=True):
            found.append(
                {
                    "model": model,
                    "source": source,
                    "n": len(group),
                    "mean": float(group.mean()),
                    "sd": float(group.std(ddof=1)) if len(group) > 1 else None,
                    "rank": float(rank),
                }
            )
    return found


_SPREADS = ("n", "mean", "sd", "sd_population", "within_sd")


def with_and_without(
    tables: Mapping[str, Any], pairs: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """What examples change: means, SD and ICC of each way of rating with and without them.

    Args:
        tables: The tables of a study.
        pairs: Names of a way without examples and of the same way with them.

    Returns:
        Per pair and source: n, ``mean``, ``sd`` (n - 1) and ``sd_population`` (n) of both,
        ``sd_difference`` (of ``sd``, with minus without; above 0, examples spread ratings), SD of
        judges within a narrative, and per pair in
        ``icc_single`` the agreement of judges over all sources.
    """
    scores = {(row["method"], row["source"]): row for row in tables["scores"]}
    reliability = {row["method"]: row.get("icc_single") for row in tables["reliability"]}
    found = []
    for without, told in pairs:
        for source in tables["sources"]:
            plain, shown = scores[without, source], scores[told, source]
            both = plain["sd"] is not None and shown["sd"] is not None
            found.append(
                {
                    "way": without,
                    "source": source,
                    "without": {name: plain[name] for name in _SPREADS},
                    "with": {name: shown[name] for name in _SPREADS},
                    "sd_difference": shown["sd"] - plain["sd"] if both else None,
                    "icc_single": {"without": reliability[without], "with": reliability[told]},
                }
            )
    return found

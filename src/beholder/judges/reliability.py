"""How far the judges of a panel agree: one row per question, one column per judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from beholder import stats
from beholder.stats.agreement import Agreement
from beholder.stats.intraclass import ICC


@dataclass(frozen=True)
class PanelReliability:
    """Agreement of a panel in one operation.

    Attributes:
        operation: The operation.
        n_questions: Questions that all judges answered.
        judges: The judges, in the order of the panel.
        single: ICC(2,1): how reliable one judge is.
        average: ICC(2,k): how reliable their mean is.
        alpha: Krippendorff's alpha, interval level.
        correlations: Pearson correlation of each pair of judges; None where one is constant.
        pairwise: Mean of these.
    """

    operation: str
    n_questions: int
    judges: tuple[str, ...]
    single: ICC
    average: ICC
    alpha: Agreement
    correlations: dict[tuple[str, str], float | None]
    pairwise: Agreement


def reliability(ratings: Iterable[tuple[str, str, str, float]]) -> list[PanelReliability]:
    """Agreement per operation.

    Args:
        ratings: Operation, question, judge and value, as ``AnswerFile.ratings`` gives them.

    Returns:
        One result per operation, in order of its name. Questions that not all judges answered are
        left out.
    """
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for operation, question, judge, value in ratings:
        tables.setdefault(operation, {}).setdefault(question, {})[judge] = value
    return [_reliability(name, rows) for name, rows in sorted(tables.items())]


def _reliability(operation: str, rows: dict[str, dict[str, float]]) -> PanelReliability:
    judges = tuple(sorted({judge for row in rows.values() for judge in row}))
    whole = [[row[judge] for judge in judges] for row in rows.values() if len(row) == len(judges)]
    table = np.array(whole, dtype=float).reshape(len(whole), len(judges))
    correlations = {
        (a, b): stats.pearson(table[:, i], table[:, j]).value
        for i, a in enumerate(judges)
        for j, b in enumerate(judges)
        if i < j
    }
    return PanelReliability(
        operation=operation,
        n_questions=len(whole),
        judges=judges,
        single=stats.icc(table, "2,1"),
        average=stats.icc(table, "2,k"),
        alpha=stats.krippendorff_alpha(table),
        correlations=correlations,
        pairwise=stats.mean_pairwise_correlation(table),
    )

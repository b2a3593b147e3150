"""One table of coarse judgments: metrics by questions of DOCENT and levels of CapArena."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from beholder.kinds.agreement.caparena import MOST_RESAMPLES
from beholder.kinds.agreement.docent import COEFFICIENTS
from beholder.kinds.agreement.results import (
    AgreementResult,
    MetricAgreement,
    SuiteMeasureResult,
)
from beholder.tables import METRIC, Cells, Column, Table

COARSE_SETS = ("docent_coarse", "caparena")
MODEL_LEVEL = "model level"
_SHORT = {
    "accuracy": ("accuracy", "acc"),
    "spearman": ("rho", "\N{GREEK SMALL LETTER RHO}"),
    "tau-b": ("tau", "\N{GREEK SMALL LETTER TAU}"),
}
"""By the kind of a measure: the end of the key of its column, and of its heading."""


def measures_of_set(
    result: AgreementResult,
) -> tuple[SuiteMeasureResult, ...]:
    """Return the measures of a set, and its rankings of models as further measures."""
    measures = [
        SuiteMeasureResult(
            name=result.name,
            measure=measure.name,
            n_items=result.n_items,
            metrics=measure.metrics,
        )
        for measure in result.measures
    ]
    for name, kind in COEFFICIENTS.items():
        rows = [
            _rank_models(result, row, f"model_{name}")
            for row in result.measures[0].metrics
        ]
        metrics = tuple(row for row in rows if row is not None)
        # Clusters and columns need every metric.
        if len(metrics) == len(rows):
            measures.append(
                SuiteMeasureResult(
                    name=result.name,
                    measure=f"{kind}, {MODEL_LEVEL}",
                    n_items=result.n_items,
                    metrics=metrics,
                )
            )
    return tuple(measures)


def _rank_models(
    result: AgreementResult, row: MetricAgreement, figure: str
) -> MetricAgreement | None:
    """Return a metric's agreement at the model level; None if the set has no such level."""
    # Keyed by the label as the user wrote it: with the value, or the metric
    # alone.
    figures = result.extra.get(row.label) or result.extra.get(row.metric) or {}
    # A metric without any agreement has no figures, but keeps its row of
    # dashes.
    if figure not in figures and row.agreement is not None:
        return None
    return MetricAgreement(
        metric=row.metric,
        value=row.value,
        agreement=figures.get(figure),
        low=figures.get(f"{figure}_low"),
        high=figures.get(f"{figure}_high"),
        n=row.n,
        n_missing=row.n_missing,
        n_sources=row.n_sources,
        reason=row.reason,
        categories={},
    )


def coarse_table(
    measures: Iterable[SuiteMeasureResult],
    metrics: Sequence[str],
    notes: Iterable[str],
    n_resamples: int,
) -> Table | None:
    """Metrics down; across, accuracy, rho and tau of each question and level of the coarse sets.

    Args:
        measures: Measures of any sets; those of other sets are left out.
        metrics: The name of each row, in the order of the metrics of each measure.
        notes: Further notes.
        n_resamples: Bootstrap resamples of the intervals; 0 for none.

    Returns:
        The table; None without a coarse set.
    """
    coarse = [measure for measure in measures if measure.name in COARSE_SETS]
    if not coarse:
        return None
    rows: list[Cells] = [{"metric": metric} for metric in metrics]
    columns = [METRIC]
    facts: dict[str, str] = {}
    for measure in coarse:
        # Names are such as "spearman, mistakes, beyond length".
        kind, question, *beyond = measure.measure.split(", ")
        key, heading = _SHORT[kind]
        question = question.removesuffix(" level")
        key = f"{measure.name}_{question}_{key}"
        of_set = "" if measure.name == "docent_coarse" else f"{measure.name} "
        # Without clusters no metric is marked as the best.
        tested = any(row.cluster for row in measure.metrics)
        heading = f"{of_set}{question.replace('_', ' ')} {heading}"
        columns.append(Column(key, heading, interval=True, best=tested))
        n = max(row.n for row in measure.metrics)
        facts[measure.name] = (
            f"{measure.name}: {measure.n_items:,} judged, {n:,} scored"
        )
        if beyond:
            facts[measure.name] += ", correlations beyond length"
        for cells, row in zip(rows, measure.metrics, strict=True):
            cells |= {
                key: row.agreement,
                f"{key}_low": row.low,
                f"{key}_high": row.high,
            }
            cells[f"{key}_best"] = row.cluster == 1
            if row.reason and row.agreement is None:
                facts[f"{measure.name} {row.metric}"] = (
                    f"{measure.name}, {row.metric}: {row.reason}"
                )
            elif row.n_missing:
                missing = f"{measure.name}, {row.label}: {row.n_missing:,} without a score"
                facts[f"{measure.name} {row.label}"] = missing
    legend = [
        "acc: accuracy of three outcomes; rho: Spearman, tau: tau-b; model: of the ratings of"
        " models (Elo).",
    ]
    if n_resamples:
        legend.append(
            f"95 % intervals over pictures, {n_resamples:,} resamples, at the model level"
            f" {min(n_resamples, MOST_RESAMPLES):,}. \N{BLACK STAR}: the best of its column, and"
            " what is not significantly different (p of 0.05, Holm-corrected)."
        )
    names = [
        name
        for name in COARSE_SETS
        if any(measure.name == name for measure in coarse)
    ]
    return Table(
        "coarse",
        f"{', '.join(names)}: coarse judgments",
        tuple(columns),
        tuple(rows),
        (*(f"{fact}." for fact in facts.values()), *legend, *notes),
    )

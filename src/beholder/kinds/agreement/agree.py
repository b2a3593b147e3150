"""Agreement of metrics with people on a set: scored once, stored in a run, compared pairwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from beholder.api import Printed
from beholder.base.spec import parse_with_value
from beholder.errors import ConfigError
from beholder.kinds.agreement import caparena, results
from beholder.kinds.agreement.load import JudgedSet
from beholder.kinds.agreement.measure import (
    AgreementFigure,
    Data,
    agreement,
    by_category,
    collect,
    compare,
    first_id,
    scored_items,
    second_id,
    usable_scores,
)
from beholder.kinds.agreement.protocols import Measure
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Metric, ValueInfo, metric
from beholder.records import interval_ends
from beholder.run import SCORES, kind
from beholder.run.plan import RunPlan
from beholder.run.session import Progress
from beholder.run.store import Store
from beholder.stats.checks import Floats
from beholder.tables import Table


@dataclass(frozen=True)
class MetricValue:
    """A metric to compare with people.

    Attributes:
        metric: The metric.
        value: Name of one of its values; None for the one a measure prefers, else the headline.
    """

    metric: Metric[Any]
    value: str | None = None

    @property
    def label(self) -> str:
        """The metric as the user wrote it."""
        return (
            self.metric.name
            if self.value is None
            else f"{self.metric.name}.{self.value}"
        )

    @property
    def info(self) -> ValueInfo:
        """The value, with its direction; the headline unless one was named."""
        return self.find_value(self.value)

    def value_for(self, measure: Measure) -> ValueInfo:
        """Return the value that is compared with the labels of a measure."""
        return self.find_value(self.value or measure.prefers)

    def find_value(self, name: str | None) -> ValueInfo:
        """Return the value of this name, or else the headline."""
        values = self.metric.values
        return next(
            (value for value in values if value.name == name), values[0]
        )


def parse_metric_value(text: str, **defaults: object) -> MetricValue:
    """Parse a metric, such as ``cider`` or ``token_f1.recall``.

    Raises:
        ConfigError: No such metric or value.
    """
    spec, value = parse_with_value(text)
    instance = metric(spec, **defaults)
    names = [info.name for info in instance.values]
    if value is not None and value not in names:
        raise ConfigError(
            f"{instance.name} has no value {value!r}; it has: {', '.join(names)}"
        )
    return MetricValue(instance, value)


@dataclass(frozen=True)
class Row:
    """A metric under a measure.

    Attributes:
        metric: Canonical name.
        value: Name of its value.
        found: The agreement.
        categories: Agreement and n within each category, where a measure has categories.
    """

    metric: str
    value: str
    found: AgreementFigure
    categories: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Metric and value, for people."""
        return f"{self.metric}.{self.value}"

    def record(self, cluster: int | None) -> results.MetricAgreement:
        """Return the row as results store it, with its cluster."""
        low, high = interval_ends(self.found.interval) or (None, None)
        categories = {
            name: results.CategoryAgreement(*figures)
            for name, figures in self.categories.items()
        }
        return results.MetricAgreement(
            metric=self.metric,
            value=self.value,
            agreement=self.found.value,
            low=low,
            high=high,
            n=self.found.n,
            n_missing=self.found.n_missing,
            n_undefined=self.found.n_undefined,
            n_sources=self.found.n_sources,
            reason=self.found.reason,
            categories=categories,
            cluster=cluster,
        )


@dataclass(frozen=True, eq=False)
class MeasureSection:
    """One measure with all metrics.

    Attributes:
        data: Its data.
        rows: Per metric, the length baseline last.
        result: The measure as the run stores it, with differences and clusters of metrics.
    """

    data: Data
    rows: tuple[Row, ...]
    result: results.MeasureResult


@dataclass(frozen=True, eq=False)
class AgreementReport(Printed):
    """Agreement with people on one set; prints as the tables of ``beholder agree``.

    Attributes:
        sections: One per measure; the first is the headline.
        result: All figures, as ``agreement.json`` has them.
    """

    sections: tuple[MeasureSection, ...]
    result: results.AgreementResult

    def _tables(self) -> list[Table]:
        from beholder.kinds.agreement.page_tables import agreement_tables

        return agreement_tables(self.result)


def to_records(
    rows: Sequence[Row], clusters: Sequence[int | None]
) -> tuple[results.MetricAgreement, ...]:
    """Return the rows with their clusters as results store them."""
    return tuple(
        row.record(cluster)
        for row, cluster in zip(rows, clusters, strict=True)
    )


def with_length(metrics: Sequence[MetricValue]) -> list[MetricValue]:
    """Return the metrics and, as the baseline, the length of the candidate."""
    # A metric that does not beat the length of the text measures length, so it
    # is always one of the rows.
    has_length = any(
        metric_value.metric.registered_name == "length"
        for metric_value in metrics
    )
    return (
        [*metrics] if has_length else [*metrics, MetricValue(metric("length"))]
    )


def scoring_config(
    config: ScoreConfig, metrics: Sequence[MetricValue]
) -> ScoreConfig:
    """Return the run that stores the scores: each metric once, for all of its values."""
    return replace(
        config,
        metrics=tuple(
            {
                metric_value.metric.name: metric_value.metric
                for metric_value in metrics
            }.values()
        ),
    )


def plan_agreement(
    run: ScoreConfig, judged: JudgedSet, measures: Sequence[Measure]
) -> RunPlan:
    """Return the items and judge calls that a run would need; nothing is written."""
    items = scored_items(judged.items, measures)
    return kind.plan(SCORES, run, given=items, notes=judged.row_notes)


def agree(
    judged: JudgedSet,
    measures: Sequence[Measure],
    metrics: Sequence[MetricValue],
    config: ScoreConfig,
    progress: Progress,
    *,
    control_length: bool = False,
    n_resamples: int = 1000,
) -> AgreementReport:
    """Score what is missing, then compare every metric with the labels.

    The length of the candidate is always compared too, as the last row.

    Args:
        judged: Items with judgments.
        measures: Measures to compute.
        metrics: The metrics.
        config: Configuration of the scores' run; its metrics are replaced.
        progress: Receives the progress of the scoring.
        control_length: Partial length out of correlations.
        n_resamples: Bootstrap resamples of pictures; 0 gives no intervals.

    Raises:
        ConfigError: No item has the labels, or an option is wrong.
        RunError: The run directory is busy or contains other data.
    """
    all_metrics = with_length(metrics)
    measure_data = [
        collect(measure, judged.items, control_length=control_length)
        for measure in measures
    ]
    run = scoring_config(config, all_metrics)
    items = scored_items(judged.items, measures)
    kind.run(SCORES, run, progress, given=items, notes=judged.row_notes)
    # Read back from the run, so that a resumed run and a new one go the same
    # way.
    with Store.read(run.out) as store:
        columns = {
            metric.name: _columns(store, metric.name) for metric in run.metrics
        }
        signatures = {
            name: " ; ".join(store.signatures(name)) for name in columns
        }
    sections = tuple(
        _section(data, all_metrics, columns, n_resamples)
        for data in measure_data
    )
    # Figures that belong to a metric as a whole have no measure to stand
    # under.
    extra: dict[str, dict[str, float | None]] = {
        name: {"changed": fmean(values["changed"].values())}
        for name, values in columns.items()
        if "changed" in values
    }
    # Only this set compares models; its paper reports the ranking of
    # models, too.
    if judged.name == "caparena":
        for metric_value in all_metrics:
            figures = _model_level(judged, metric_value, columns, n_resamples)
            extra.setdefault(metric_value.label, {}).update(figures)
    result = results.AgreementResult(
        name=judged.name,
        n_items=len(judged.items),
        n_resamples=n_resamples,
        signatures=signatures,
        measures=tuple(section.result for section in sections),
        extra=extra,
    )
    results.write_result(run.out, result)
    return AgreementReport(sections, result)


def _numbers(values: Floats) -> tuple[float | None, ...]:
    return tuple(
        float(value) if np.isfinite(value) else None for value in values
    )


def _columns(store: Store, name: str) -> dict[str, dict[str, float]]:
    """Read the scores of a metric, by value and then by text.

    By id: the run is that of the judged data itself, whose ids are unique.
    """
    scores_by_value: dict[str, dict[str, float]] = {}
    for text, values in store.values_by_id(name).items():
        for value, score in values.items():
            scores_by_value.setdefault(value, {})[text] = score
    return scores_by_value


def _section(
    data: Data,
    metrics: Sequence[MetricValue],
    columns: Mapping[str, Mapping[str, Mapping[str, float]]],
    n_resamples: int,
) -> MeasureSection:
    rows, scores = [], []
    for metric_value in metrics:
        # Some measures name the value that answers them, such as a recall for
        # omissions.
        info = metric_value.value_for(data.measure)
        x = info.sign * data.scores(
            columns[metric_value.metric.name].get(info.name, {})
        )
        figure = agreement(data, x, n_resamples=n_resamples)
        rows.append(
            Row(
                metric_value.metric.name,
                info.name,
                figure,
                by_category(data, x),
            )
        )
        scores.append(x)
    # Each row keeps its own data; differences of metrics need the same data on
    # both sides.
    common_agreements = _on_common_data(data, rows, scores, n_resamples)
    differences, clusters = compare(
        [row.label for row in rows], common_agreements, n_resamples
    )
    # The page shows a confusion table once per label; kappa stands for all
    # measures of verdicts.
    verdicts: tuple[tuple[float | None, ...], ...] = ()
    if data.measure.kind == "kappa":
        verdicts = tuple(_numbers(usable_scores(data, x)) for x in scores)
    result = results.MeasureResult(
        name=data.measure.name,
        metrics=to_records(rows, clusters),
        differences=tuple(differences),
        paired=data.measure.paired,
        data=results.MeasureData(
            data.first,
            data.second,
            _numbers(data.gold),
            tuple(map(_numbers, scores)),
            verdicts,
        ),
    )
    return MeasureSection(data, tuple(rows), result)


def _on_common_data(
    data: Data, rows: Sequence[Row], scores: Sequence[Floats], n_resamples: int
) -> list[AgreementFigure]:
    """Compute agreement on the data that all metrics can use.

    Metrics without any agreement do not reduce the common data.
    """
    defined_scores = [
        x
        for row, x in zip(rows, scores, strict=True)
        if row.found.value is not None
    ]
    common = np.ones(len(data.gold), dtype=bool)
    # Repeated until nothing changes: without one text, the correlation within its source may
    # become undefined, which takes further texts out.
    while True:
        usable = [
            np.isfinite(usable_scores(data, np.where(common, x, np.nan)))
            for x in defined_scores
        ]
        still_common = common & np.array(usable).reshape(
            len(defined_scores), len(common)
        ).all(axis=0)
        if (still_common == common).all():
            break
        common = still_common
    return [
        row.found
        if row.found.value is None or row.found.n == common.sum()
        else agreement(
            data, np.where(common, x, np.nan), n_resamples=n_resamples
        )
        for row, x in zip(rows, scores, strict=True)
    ]


def _model_level(
    judged: JudgedSet,
    metric_value: MetricValue,
    columns: Mapping[str, Mapping[str, Mapping[str, float]]],
    n_resamples: int,
) -> dict[str, float | None]:
    """Compute agreement of the ranking of models, from battles whose texts both have a score."""
    # The published protocol ranks models by F1 where a metric has one.
    info = metric_value.find_value(metric_value.value or "f1")
    scores = {
        text: info.sign * score
        for text, score in columns[metric_value.metric.name]
        .get(info.name, {})
        .items()
    }
    # Back to the published form, which `caparena.agreement` takes.
    winner = {1: "model1", -1: "model2", 0: "equal"}
    battles = [
        {
            **item.judgments,
            "generation1": first_id(item),
            "generation2": second_id(item),
            "winner": winner[int(item.judgments["preferred"])],
            "cluster": item.judgments["category"],
            "source": item.source,
        }
        for item in judged.items
        if first_id(item) in scores and second_id(item) in scores
    ]
    if not battles:
        return {}
    figures = caparena.agreement(battles, scores, n_resamples=n_resamples)
    return {
        name: value
        for name, value in figures.items()
        # The caption level is one of the measures already.
        if name.startswith("model_")
    }


def default_out(name: str) -> Path:
    """Return the default run directory of a set's scores."""
    return Path("runs") / f"agree-{name}"

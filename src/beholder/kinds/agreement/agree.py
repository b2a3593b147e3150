"""How well metrics agree with people on a set: scored once, stored in a run, compared pairwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from beholder.api import Printed
from beholder.base.spec import with_value
from beholder.errors import ConfigError
from beholder.kinds.agreement import caparena, results
from beholder.kinds.agreement.load import JudgedSet
from beholder.kinds.agreement.measure import (
    AgreementFound,
    Data,
    agreement,
    by_category,
    collect,
    compare,
    first_id,
    scored_items,
    second_id,
    used,
)
from beholder.kinds.agreement.protocols import Measure
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Metric, ValueInfo, metric
from beholder.records import ends_of
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
        value: Which of its values; None for the one a measure prefers, else the headline.
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
        """The value that is compared with the labels of a measure."""
        return self.find_value(self.value or measure.prefers)

    def find_value(self, name: str | None) -> ValueInfo:
        """The value of this name, or else the headline."""
        values = self.metric.values
        return next(
            (value for value in values if value.name == name), values[0]
        )


def asked(text: str, **defaults: object) -> MetricValue:
    """Read a metric, such as ``cider`` or ``token_f1.recall``.

    Raises:
        ConfigError: No such metric or value.
    """
    spec, value = with_value(text)
    built = metric(spec, **defaults)
    names = [info.name for info in built.values]
    if value is not None and value not in names:
        raise ConfigError(
            f"{built.name} has no value {value!r}; it has: {', '.join(names)}"
        )
    return MetricValue(built, value)


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
    found: AgreementFound
    categories: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Metric and value, for people."""
        return f"{self.metric}.{self.value}"

    def record(self, cluster: int | None) -> results.MetricAgreement:
        """The row as results store it, with its cluster."""
        low, high = ends_of(self.found.interval) or (None, None)
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


def records(
    rows: Sequence[Row], clusters: Sequence[int | None]
) -> tuple[results.MetricAgreement, ...]:
    """Rows with their clusters, as results store them."""
    return tuple(
        row.record(cluster)
        for row, cluster in zip(rows, clusters, strict=True)
    )


def with_length(metrics: Sequence[MetricValue]) -> list[MetricValue]:
    """The metrics, and the length of the candidate as the baseline."""
    named = any(one.metric.registered_name == "length" for one in metrics)
    return [*metrics] if named else [*metrics, MetricValue(metric("length"))]


def scoring(
    config: ScoreConfig, metrics: Sequence[MetricValue]
) -> ScoreConfig:
    """The run that keeps the scores: each metric once, whichever of its values are asked for."""
    return replace(
        config,
        metrics=tuple(
            {one.metric.name: one.metric for one in metrics}.values()
        ),
    )


def planned(
    run: ScoreConfig, judged: JudgedSet, measures: Sequence[Measure]
) -> RunPlan:
    """What a run would score and ask; nothing is written."""
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
        measures: What to measure.
        metrics: The metrics.
        config: Where the scores are kept and how they are made; its metrics are replaced.
        progress: Receives the progress of the scoring.
        control_length: Partial length out of correlations.
        n_resamples: Bootstrap resamples of pictures; 0 gives no intervals.

    Raises:
        ConfigError: No item has the labels, or an option is wrong.
        RunError: The run directory is busy or holds other data.
    """
    everyone = with_length(metrics)
    measure_data = [
        collect(measure, judged.items, control_length=control_length)
        for measure in measures
    ]
    run = scoring(config, everyone)
    items = scored_items(judged.items, measures)
    kind.run(SCORES, run, progress, given=items, notes=judged.row_notes)
    with Store.read(run.out) as store:
        columns = {one.name: _columns(store, one.name) for one in run.metrics}
        signatures = {
            name: " ; ".join(store.signatures(name)) for name in columns
        }
    sections = tuple(
        _section(data, everyone, columns, n_resamples) for data in measure_data
    )
    extra: dict[str, dict[str, float | None]] = {
        name: {"changed": fmean(values["changed"].values())}
        for name, values in columns.items()
        if "changed" in values
    }
    if judged.name in ("caparena", "caparena_auto"):
        for one in everyone:
            figures = _model_level(judged, one, columns, n_resamples)
            extra.setdefault(one.label, {}).update(figures)
    result = results.AgreementResult(
        name=judged.name,
        n_items=len(judged.items),
        n_resamples=n_resamples,
        signatures=signatures,
        measures=tuple(section.result for section in sections),
        extra=extra,
    )
    results.write(run.out, result)
    return AgreementReport(sections, result)


def _numbers(values: Floats) -> tuple[float | None, ...]:
    return tuple(
        float(value) if np.isfinite(value) else None for value in values
    )


def _columns(store: Store, name: str) -> dict[str, dict[str, float]]:
    """Scores per value and text.

    By id: the run is that of the judged data itself, whose ids are unique.
    """
    found: dict[str, dict[str, float]] = {}
    for text, values in store.values_by_id(name).items():
        for value, score in values.items():
            found.setdefault(value, {})[text] = score
    return found


def _section(
    data: Data,
    metrics: Sequence[MetricValue],
    columns: Mapping[str, Mapping[str, Mapping[str, float]]],
    n_resamples: int,
) -> MeasureSection:
    rows, scores = [], []
    for one in metrics:
        info = one.value_for(data.measure)
        x = info.sign * data.scores(
            columns[one.metric.name].get(info.name, {})
        )
        found = agreement(data, x, n_resamples=n_resamples)
        rows.append(
            Row(one.metric.name, info.name, found, by_category(data, x))
        )
        scores.append(x)
    shared = _on_common_data(data, rows, scores, n_resamples)
    differences, clusters = compare(
        [row.label for row in rows], shared, n_resamples
    )
    verdicts: tuple[tuple[float | None, ...], ...] = ()
    if data.measure.kind == "kappa":
        verdicts = tuple(_numbers(used(data, x)) for x in scores)
    result = results.MeasureResult(
        name=data.measure.name,
        metrics=records(rows, clusters),
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
) -> list[AgreementFound]:
    """Agreement on the data that all metrics can use; those without agreement are ignored."""
    reached = [
        x
        for row, x in zip(rows, scores, strict=True)
        if row.found.value is not None
    ]
    common = np.ones(len(data.gold), dtype=bool)
    while True:  # without one text, a correlation within its source may become undefined
        usable = [
            np.isfinite(used(data, np.where(common, x, np.nan)))
            for x in reached
        ]
        shared = common & np.array(usable).reshape(
            len(reached), len(common)
        ).all(axis=0)
        if (shared == common).all():
            break
        common = shared
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
    one: MetricValue,
    columns: Mapping[str, Mapping[str, Mapping[str, float]]],
    n_resamples: int,
) -> dict[str, float | None]:
    """Rankings of the models from gold and predicted battles, over battles with both scores."""
    info = one.find_value(one.value or "f1")
    scores = {
        text: info.sign * score
        for text, score in columns[one.metric.name].get(info.name, {}).items()
    }
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
    auto = judged.name == "caparena_auto"
    figures = caparena.agreement(
        battles, scores, auto=auto, n_resamples=n_resamples
    )
    return {
        name: value
        for name, value in figures.items()
        if name.startswith("model_")
    }


def default_out(name: str) -> Path:
    """Run directory of a set's scores."""
    return Path("runs") / f"agree-{name}"

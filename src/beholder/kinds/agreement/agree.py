"""How well metrics agree with people on a set: scored once, stored in a run, compared pairwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import numpy as np

from beholder.base.spec import with_value
from beholder.errors import ConfigError
from beholder.kinds.agreement import caparena, results
from beholder.kinds.agreement.load import JudgedSet
from beholder.kinds.agreement.measure import (
    AgreementDifference,
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
        known = {value.name: value for value in self.metric.values}
        return (
            self.metric.values[0] if self.value is None else known[self.value]
        )

    def value_for(self, measure: Measure) -> ValueInfo:
        """The value that is compared with the labels of a measure."""
        known = {value.name: value for value in self.metric.values}
        return (
            self.info
            if self.value is not None
            else known.get(measure.prefers or "", self.info)
        )


def asked(text: str, **defaults: object) -> MetricValue:
    """Read a metric, such as ``cider`` or ``token_f1.recall``.

    Raises:
        ConfigError: No such metric or value.
    """
    named, value = with_value(text)
    built = metric(named, **defaults)
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
            categories={
                name: results.CategoryAgreement(*one)
                for name, one in self.categories.items()
            },
            cluster=cluster,
        )


@dataclass(frozen=True, eq=False)
class MeasureSection:
    """One measure with all metrics.

    Attributes:
        data: Its data.
        rows: Per metric, the length baseline last.
        scores: (n,) per row, for plots.
        differences: Per pair of metrics.
        clusters: Per row, the number of the group that is not significantly different from its
            best; None without agreement or without resamples.
    """

    data: Data
    rows: tuple[Row, ...]
    scores: tuple[Floats, ...]
    differences: tuple[AgreementDifference, ...]
    clusters: tuple[int | None, ...]

    @property
    def result(self) -> results.StoredMeasure:
        """The measure as the run stores it."""
        verdicts = self.data.measure.kind == "kappa"
        return results.StoredMeasure(
            name=self.data.name,
            metrics=records(self.rows, self.clusters),
            differences=tuple(one.record for one in self.differences),
            paired=self.data.measure.paired,
            data=results.MeasureData(
                self.data.first,
                self.data.second,
                _numbers(self.data.gold),
                tuple(map(_numbers, self.scores)),
                tuple(
                    _numbers(used(self.data, x))
                    for x in self.scores
                    if verdicts
                ),
            ),
        )


@dataclass(frozen=True, eq=False)
class Report:
    """Agreement of several metrics with people on one set.

    Attributes:
        name: The set.
        n_items: Judged items.
        sections: One per measure; the first is the headline.
        signatures: How each metric's scores were made.
        extra: Further figures by metric: rankings of models, with the ends of their intervals
            (``_low``, ``_high``), and ``changed``, the mean share of answers that differ between
            judges or repeats.
        n_resamples: Bootstrap resamples.
    """

    name: str
    n_items: int
    sections: tuple[MeasureSection, ...]
    signatures: Mapping[str, str]
    extra: Mapping[str, Mapping[str, float | None]]
    n_resamples: int

    @property
    def stored(self) -> results.AgreementResult[results.StoredMeasure]:
        """The report as the run stores it, with the data of each measure."""
        return results.AgreementResult(
            name=self.name,
            n_items=self.n_items,
            n_resamples=self.n_resamples,
            signatures=dict(self.signatures),
            measures=tuple(section.result for section in self.sections),
            extra={
                name: dict(figures) for name, figures in self.extra.items()
            },
        )

    @property
    def result(self) -> results.AgreementResult[results.MeasureResult]:
        """The report without the data of its measures, as ``--json`` prints it."""
        stored = self.stored
        plain = tuple(
            results.MeasureResult(
                name=one.name, metrics=one.metrics, differences=one.differences
            )
            for one in stored.measures
        )
        return results.AgreementResult(
            **{**msgspec.structs.asdict(stored), "measures": plain}
        )


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
) -> Report:
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
    sections_data = [
        collect(measure, judged.items, control_length=control_length)
        for measure in measures
    ]
    run = scoring(config, everyone)
    items = scored_items(judged.items, measures)
    kind.run(SCORES, run, progress, given=items, notes=judged.row_notes)
    names = [one.name for one in run.metrics]
    with Store.read(run.out) as store:
        columns = {name: _columns(store, name) for name in names}
        signatures = {
            name: " ; ".join(store.signatures(name)) for name in names
        }
    sections = tuple(
        _section(data, everyone, columns, n_resamples)
        for data in sections_data
    )
    extra: dict[str, dict[str, float | None]] = {
        name: {"changed": fmean(found["changed"].values())}
        for name, found in columns.items()
        if "changed" in found
    }
    if judged.name in ("caparena", "caparena_auto"):
        for one in everyone:
            figures = _model_level(judged, one, columns, n_resamples)
            extra.setdefault(one.label, {}).update(figures)
    report = Report(
        judged.name,
        len(judged.items),
        sections,
        signatures,
        extra,
        n_resamples,
    )
    results.write(run.out, report.stored)
    return report


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
    return MeasureSection(
        data, tuple(rows), tuple(scores), tuple(differences), tuple(clusters)
    )


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
    values = {value.name: value for value in one.metric.values}
    info = values.get(one.value or "f1", one.metric.values[0])
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
    found = caparena.agreement(
        battles, scores, auto=auto, n_resamples=n_resamples
    )
    return {
        name: value
        for name, value in found.items()
        if name.startswith("model_")
    }


def default_out(name: str) -> Path:
    """Run directory of a set's scores."""
    return Path("runs") / f"agree-{name}"

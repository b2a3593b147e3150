"""Results of agreement as typed records, and ``agreement.json``, which keeps them in a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from beholder.base import files
from beholder.errors import RunError
from beholder.tables import heading

FILE_NAME = "agreement.json"
FORMAT = 1


class CategoryAgreement(Struct, frozen=True):
    """Agreement within one category, over n data."""

    agreement: float
    n: int


class MetricAgreement(Struct, frozen=True, kw_only=True):
    """One metric under one measure.

    Attributes:
        metric: Canonical name.
        value: Name of its value.
        agreement: The agreement; None if it is undefined.
        low: Lower end of its interval; None without an interval.
        high: Upper end.
        n: Data used.
        n_missing: Data without a score.
        n_undefined: Data whose correlation within their source is undefined; 0 in old files.
        n_sources: Sources resampled.
        reason: Why there is no value or no interval.
        categories: Agreement within each category, if the measure has categories.
        cluster: Number of the group that is not significantly different from its best; None
            without agreement or resamples, and in old files.
    """

    metric: Annotated[str, heading("metric", "text")]
    value: Annotated[str, heading("value", "text")]
    agreement: Annotated[float | None, heading("agreement", interval=True)]
    low: float | None
    high: float | None
    n: Annotated[int, heading("n", "count")]
    n_missing: Annotated[int, heading("no score", "count")]
    n_undefined: Annotated[int, heading("undefined", "count")] = 0
    n_sources: int
    reason: Annotated[str | None, heading("note", "text")]
    categories: dict[str, CategoryAgreement]
    cluster: Annotated[int | None, heading("cluster", "count")] = None

    @property
    def label(self) -> str:
        """Metric and value, for people."""
        return f"{self.metric}.{self.value}"


class MetricDifference(Struct, frozen=True):
    """Agreement of metric ``a`` minus that of ``b``, with its interval and corrected p."""

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None


class MeasureData(Struct, frozen=True, omit_defaults=True):
    """The data behind one measure; all tuples but ``scores`` have one entry per datum.

    Attributes:
        first: Ids of the scored texts.
        second: Ids of the texts they are compared with, or "".
        gold: Human labels.
        scores: Per metric its scores, higher is better; None for a datum without a score.
        said: Per metric its verdicts, 1 or 0, beside labels that are verdicts; else empty.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    gold: tuple[float | None, ...]
    scores: tuple[tuple[float | None, ...], ...]
    said: tuple[tuple[float | None, ...], ...] = ()


class MeasureResult(Struct, frozen=True, kw_only=True):
    """All metrics under one measure, the length of the candidate last.

    Attributes:
        name: The measure.
        metrics: Agreement per metric.
        differences: Differences of all pairs of metrics.
        paired: Whether a datum compares two texts.
        data: Labels and scores that agreement was computed from.
    """

    name: str
    metrics: tuple[MetricAgreement, ...]
    differences: tuple[MetricDifference, ...]
    paired: bool = False
    data: MeasureData


def cell(label: bool, verdict: bool) -> str:
    """Return the name of a cell of the confusion table."""
    return f"{'yes' if label else 'no'}, metric {'yes' if verdict else 'no'}"


class AgreementResult(
    Struct, frozen=True, kw_only=True, rename={"name": "set"}
):
    """Agreement of several metrics with people on one set.

    Attributes:
        name: The set.
        n_items: Judged items.
        n_resamples: Bootstrap resamples.
        signatures: Signature of each metric.
        measures: The first is the headline.
        extra: Further figures per metric: rankings of models, with the ends of their intervals
            (``NAME_low``, ``NAME_high``), and ``changed``, the mean share of answers that differ
            between judges or repeats.
    """

    name: str
    n_items: int
    n_resamples: int
    signatures: dict[str, str]
    measures: tuple[MeasureResult, ...]
    extra: dict[str, dict[str, float | None]]

    def without_data(self) -> dict[str, Any]:
        """Return the result as ``--json`` prints it: without the data of its measures."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for measure in plain["measures"]:
            del measure["paired"], measure["data"]
        return plain


class SuiteMeasureResult(
    Struct, frozen=True, kw_only=True, rename={"name": "set"}
):
    """All metrics of a suite under one measure of one set."""

    name: str
    measure: str
    n_items: int
    metrics: tuple[MetricAgreement, ...]


class SuiteResult(Struct, frozen=True):
    """Agreement of many metrics with people on many sets.

    Attributes:
        n_resamples: Bootstrap resamples.
        metrics: Labels of the metrics, the length last.
        signatures: Signatures of each metric's scores, by metric and then set.
        measures: Set by set; the first of each set is its headline.
    """

    n_resamples: int
    metrics: tuple[str, ...]
    signatures: dict[str, dict[str, str]]
    measures: tuple[SuiteMeasureResult, ...]

    @property
    def headlines(self) -> tuple[SuiteMeasureResult, ...]:
        """The first measure of each set."""
        first = {measure.name: measure for measure in reversed(self.measures)}
        return tuple(
            measure
            for measure in self.measures
            if first[measure.name] is measure
        )


def write_result(folder: Path, result: AgreementResult) -> None:
    """Write ``agreement.json`` into a run."""
    plain = {"format": FORMAT, **msgspec.to_builtins(result)}
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"
    files.write_text(folder / FILE_NAME, text)


def read_result(folder: Path) -> AgreementResult | None:
    """Read ``agreement.json`` of a run; None if the run has none.

    Raises:
        RunError: The file is damaged; names the file and the field.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    content = files.read_json(
        path, form=FORMAT, kind="agreement", missing_message=""
    )
    try:
        result = msgspec.convert(content, AgreementResult)
        for place, measure in enumerate(result.measures):
            _check_lengths(f"$.measures[{place}]", measure)
    except msgspec.ValidationError as error:
        raise RunError(
            f"{path} is damaged: {error}; run the same command again, which writes it again"
        ) from error
    return result


def _check_lengths(where: str, measure: MeasureResult) -> None:
    """Check that scores, labels and ids have one length: the page pairs them by place."""
    data = measure.data
    n, n_metrics = len(data.gold), len(measure.metrics)
    lengths = {
        "first": (len(data.first), n),
        "second": (len(data.second), n),
        "scores": (len(data.scores), n_metrics),
        # Without verdicts of people, metrics have no verdicts either.
        "said": (len(data.said), n_metrics if data.said else 0),
    }
    for name, columns in (("scores", data.scores), ("said", data.said)):
        for i, column in enumerate(columns):
            lengths[f"{name}[{i}]"] = (len(column), n)
    for name, (length, expected) in lengths.items():
        if length != expected:
            raise msgspec.ValidationError(
                f"{where}.data.{name} has {length} entries, expected {expected}"
            )

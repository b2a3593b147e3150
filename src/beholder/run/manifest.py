"""``run.json``: what a run was, with what it was made, and what came out.

It holds no time and no path of the machine: the same data, metrics and versions give the same file,
however often the run was interrupted.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from beholder import __version__, files
from beholder.metrics import Metric
from beholder.records import Estimate, Interval, MetricResult
from beholder.run.config import RunConfig

FILE_NAME = "run.json"
FORMAT = 1
_PACKAGES = ("numpy", "scipy", "tokenizers")


def build(
    config: RunConfig,
    *,
    status: str,
    n_items: int,
    n_bad_rows: int,
    data_hash: str,
    signatures: Mapping[str, str],
    summary: Mapping[str, MetricResult],
) -> dict[str, Any]:
    """The content of ``run.json``.

    Args:
        config: The run as asked for.
        status: ``running``, ``interrupted`` or ``complete``.
        n_items: Items of the run.
        n_bad_rows: Rows left out.
        data_hash: Hash over all items.
        signatures: Signature per metric name.
        summary: Result per metric name; empty while the run is not complete.
    """
    return {
        "format": FORMAT,
        "status": status,
        "versions": versions(),
        "data": {
            "source": config.data,
            "sha256": data_hash,
            "n_items": n_items,
            "n_bad_rows": n_bad_rows,
        },
        "settings": {"limit": config.limit, "skip_bad_rows": config.skip_bad_rows},
        "metrics": [_metric(metric, signatures[metric.name]) for metric in config.metrics],
        "summary": [_result(result) for result in summary.values()],
    }


def versions() -> dict[str, str]:
    """Versions of what can change a number."""
    return {
        "beholder": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write ``run.json`` whole or not at all."""
    text = json.dumps(manifest, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    files.write_text(folder / FILE_NAME, text)


def read(folder: Path) -> dict[str, Any]:
    """The content of a run's ``run.json``.

    Raises:
        RunError: There is none, or it is damaged.
    """
    missing = f"{folder} is not a run directory: it has no {FILE_NAME}"
    return files.read_json(folder / FILE_NAME, form=FORMAT, kind="run log", missing=missing)


def is_closed(folder: Path, log: Mapping[str, Any]) -> bool:
    """Whether a run was closed with this log, its summary aside."""
    if not (folder / FILE_NAME).is_file():
        return False
    written: dict[str, Any] = json.loads(json.dumps({**log, "summary": []}))
    return {**read(folder), "summary": []} == written


def results(manifest: Mapping[str, Any]) -> dict[str, MetricResult]:
    """The summary of a run log as records, by metric name."""
    return {entry["metric"]: _from_result(entry) for entry in manifest["summary"]}


def _metric(metric: Metric[Any], signature: str) -> dict[str, Any]:
    return {
        "name": metric.name,
        "config": metric.config(),
        "signature": signature,
        "values": [asdict(value) for value in metric.values],
        "corpus_values": [asdict(value) for value in metric.corpus_values],
    }


def _result(result: MetricResult) -> dict[str, Any]:
    return {
        "metric": result.metric,
        "signature": result.signature,
        "n_scored": result.n_scored,
        "n_failed": result.n_failed,
        "failures": dict(result.failures),
        "values": {name: _estimate(value) for name, value in result.values.items()},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval
    return {
        "mean": estimate.mean,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "n": estimate.n,
    }


def _from_result(entry: Mapping[str, Any]) -> MetricResult:
    values = {}
    for name, found in entry["values"].items():
        known = found["low"] is not None
        interval = Interval(found["low"], found["high"], found["level"]) if known else None
        values[name] = Estimate(found["mean"], interval, found["n"])
    return MetricResult(
        metric=entry["metric"],
        values=values,
        n_scored=entry["n_scored"],
        n_failed=entry["n_failed"],
        signature=entry["signature"],
        failures=entry["failures"],
    )

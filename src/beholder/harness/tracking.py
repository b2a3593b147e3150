"""A finished run in MLflow or Weights & Biases: means, intervals, signatures, report, tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from beholder.api import Run
from beholder.records import MetricResult

_FILES = ("run.json", "scores.parquet", "units.parquet", "report.html")


def log_mlflow(run: Run | str | Path) -> None:
    """Log a run into the active run of MLflow, or a new one.

    Each value becomes ``METRIC.VALUE`` with ``.low`` and ``.high``, and failures
    ``METRIC.n_failed``; signatures become tags; the files of the run become artifacts.

    Args:
        run: A run, or its directory.

    Raises:
        ImportError: MLflow is not installed.
    """
    import mlflow

    found = _opened(run)
    for name, result in found.summary.items():
        for key, value in numbers(name, result).items():
            mlflow.log_metric(_plain(key), value)
        mlflow.set_tag(_plain(f"{name}.signature"), result.signature)
    for path in _there(found):
        mlflow.log_artifact(str(path), artifact_path="beholder")


def log_wandb(run: Run | str | Path, to: Any) -> None:
    """Log a run into a run of Weights & Biases.

    Args:
        run: A run, or its directory.
        to: What ``wandb.init`` gave.

    Raises:
        ImportError: wandb is not installed.
    """
    import wandb

    found = _opened(run)
    for name, result in found.summary.items():
        to.summary.update(numbers(name, result))
        to.config.update({f"{name}.signature": result.signature})
    artifact = wandb.Artifact(f"beholder-{_plain(found.path.name)}", type="beholder-run")
    for path in _there(found):
        artifact.add_file(str(path))
    to.log_artifact(artifact)


def numbers(name: str, result: MetricResult) -> dict[str, float]:
    """The numbers of a result by name, as they are logged."""
    found: dict[str, float] = {f"{name}.n_failed": float(result.n_failed)}
    for value, estimate in result.values.items():
        found[f"{name}.{value}"] = estimate.mean
        if estimate.interval is not None:
            found[f"{name}.{value}.low"] = estimate.interval.low
            found[f"{name}.{value}.high"] = estimate.interval.high
    return found


def _opened(run: Run | str | Path) -> Run:
    return run if isinstance(run, Run) else Run(Path(run))


def _there(run: Run) -> list[Path]:
    return [path for name in _FILES if (path := run.path / name).is_file()]


def _plain(name: str) -> str:
    return re.sub(r"[^\w./ -]", "_", name)  # what MLflow takes in names

"""A finished run in MLflow, Weights & Biases, "Every Eval Ever" or the results of a model hub.

Means, intervals and signatures; the trackers also get report and tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from beholder._version import __version__
from beholder.api import Run
from beholder.base.files import write_text
from beholder.errors import ConfigError, RunError
from beholder.records import Estimate, MetricResult
from beholder.run import manifest
from beholder.run.manifest import ValueLog

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

    finished_run = _open_run(run)
    for name, result in finished_run.summary.items():
        for key, value in numbers(name, result).items():
            mlflow.log_metric(_plain(key), value)
        mlflow.set_tag(_plain(f"{name}.signature"), result.signature)
    # Files are attached where the run has them: some kinds of runs have no
    # units.
    for path in _existing_files(finished_run):
        mlflow.log_artifact(str(path), artifact_path="beholder")


def log_wandb(run: Run | str | Path, to: Any) -> None:
    """Log a run into a run of Weights & Biases.

    Args:
        run: A run, or its directory.
        to: The object returned by ``wandb.init``.

    Raises:
        ImportError: wandb is not installed.
    """
    import wandb

    finished_run = _open_run(run)
    for name, result in finished_run.summary.items():
        to.summary.update(numbers(name, result))
        to.config.update({f"{name}.signature": result.signature})
    artifact = wandb.Artifact(
        f"beholder-{_plain(finished_run.path.name)}", type="beholder-run"
    )
    for path in _existing_files(finished_run):
        artifact.add_file(str(path))
    to.log_artifact(artifact)


def write_every_eval(
    run: Run | str | Path, file: str | Path, *, system: str, organization: str
) -> Path:
    """Write the means of a run as a record of "Every Eval Ever", version 0.2.1 of its schema.

    The record is of one system, which wrote the texts. Values without a direction are left out.

    Args:
        run: A run of ``score``, or its directory.
        file: The JSON file.
        system: Author of the texts, such as ``llava-hf/llava-1.5-7b-hf``.
        organization: Organization that made the run.

    Source: ``eval.schema.json`` of github.com/evaleval/every_eval_ever.
    """
    finished_run = _open_run(run)
    log = manifest.read_log(finished_run.path)
    # The schema asks for a moment; the run's end is when its manifest was last
    # written.
    at = str(int((finished_run.path / manifest.FILE_NAME).stat().st_mtime))
    source = {"dataset_name": log.data.source, "source_type": "other"}
    entries = []
    for name, result in finished_run.summary.items():
        for value in log.askers[name].values:
            estimate = result.values.get(value.name)
            # The schema has no value without a direction.
            if value.higher_is_better is None or not estimate:
                continue
            entries.append(
                {
                    "evaluation_name": f"{name}.{value.name}",
                    "source_data": source,
                    "evaluation_timestamp": at,
                    "metric_config": {
                        "evaluation_description": value.help,
                        "lower_is_better": not value.higher_is_better,
                        **_scale(value),
                        "additional_details": {"signature": result.signature},
                    },
                    "score_details": {
                        "score": estimate.mean,
                        "uncertainty": _uncertainty(estimate),
                    },
                }
            )
    record = {
        "schema_version": "0.2.1",
        "evaluation_id": f"beholder/{system}/{at}",
        "retrieved_timestamp": at,
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "beholder", "version": __version__},
        "model_info": {"name": system, "id": system},
        "evaluation_results": entries,
    }
    write_text(
        Path(file), json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    )
    return Path(file)


def write_eval_results(
    run: Run | str | Path,
    file: str | Path,
    *,
    tasks: Mapping[str, str],
    dataset: str | None = None,
    revision: str | None = None,
    source: Mapping[str, str] | None = None,
) -> Path:
    """Write means of a run as evaluation results of a model, in the form of the Hugging Face hub.

    The hub reads every ``.eval_results/*.yaml`` of a model's repository. Interval, number of texts,
    failures and signature are in ``notes``, because the form has no fields for them.

    Args:
        run: A complete run of texts that the model wrote, or its directory.
        file: The YAML file, such as ``model/.eval_results/museum.yaml``.
        tasks: Value of the run, such as ``posh.f1``, by id of the task in the ``eval.yaml`` of the
            data set.
        dataset: Data set as OWNER/NAME; by default that of a run of ``hf:OWNER/NAME``.
        revision: Commit of the data set.
        source: Where the results come from: ``url``, and perhaps ``name`` and ``user``.

    Raises:
        ConfigError: The data set, a value or the source is missing or not valid.
        RunError: The run is not complete.

    Source: ``docs/hub/eval-results.md`` of github.com/huggingface/hub-docs.
    """
    finished_run = _open_run(run)
    log = manifest.read_log(finished_run.path)
    if log.status != "complete":
        raise RunError(
            f"{finished_run.path} is {log.status or 'not complete'}; finish it before its means"
            " are published"
        )
    data = {"id": _hub_dataset(dataset, log.data.source)}
    if revision is not None:
        data["revision"] = revision
    estimates = {
        f"{name}.{value}": (result, estimate)
        for name, result in finished_run.summary.items()
        for value, estimate in result.values.items()
    }
    if not tasks:
        raise ConfigError(
            f"tasks is empty; give the value of each task: {', '.join(estimates)}"
        )
    ended_at = (finished_run.path / manifest.FILE_NAME).stat().st_mtime
    date = datetime.fromtimestamp(ended_at, UTC).date().isoformat()
    lines = []
    for task, value in tasks.items():
        if value not in estimates:
            raise ConfigError(
                f"the run has no value {value!r} for the task {task!r}; it has:"
                f" {', '.join(estimates)}"
            )
        result, estimate = estimates[value]
        lines += [
            "- dataset:",
            *_yaml_fields({**data, "task_id": task}, indent=4),
            # Without an exponent: 1e-05 is a text for readers of YAML 1.1.
            f"  value: {Decimal(repr(float(estimate.mean))):f}",
            *_yaml_fields({"date": date}, indent=2),
        ]
        if source is not None:
            lines += [
                "  source:",
                *_yaml_fields(_check_source(source), indent=4),
            ]
        notes = _describe_estimate(value, result, estimate)
        lines += _yaml_fields({"notes": notes}, indent=2)
    write_text(Path(file), "\n".join(lines) + "\n")
    return Path(file)


def _hub_dataset(dataset: str | None, data_source: str) -> str:
    """Return the data set of a benchmark as OWNER/NAME."""
    if dataset is None and data_source.startswith("hf:"):
        dataset = data_source.removeprefix("hf:").partition("@")[0]
    if dataset is None:
        raise ConfigError(
            f"the data of the run, {data_source!r}, are no data set of the hub; name it with"
            " dataset='OWNER/NAME'"
        )
    if not re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", dataset, re.ASCII):
        raise ConfigError(
            f"dataset={dataset!r}: expected OWNER/NAME of a data set of the hub"
        )
    return dataset


def _check_source(source: Mapping[str, str]) -> Mapping[str, str]:
    # The hub ignores a source without an address.
    unknown = source.keys() - {"url", "name", "user"}
    if unknown or not source.get("url", "").startswith(
        ("https://", "http://")
    ):
        raise ConfigError(
            f"source={dict(source)}: expected 'url' with https://, and perhaps 'name' and 'user'"
        )
    return source


def _describe_estimate(
    value: str, result: MetricResult, estimate: Estimate
) -> str:
    interval = estimate.interval
    return "; ".join(
        (
            f"{value} of beholder {__version__}, {estimate.n} texts",
            f"{interval.level:.0%} interval {interval.low:.4g} to {interval.high:.4g}"
            if interval is not None
            else f"no interval: {estimate.reason}",
            f"{result.n_failed} texts without a score",
            *result.cautions,
            f"signature {result.signature}",
        )
    )


def _yaml_fields(fields: Mapping[str, str], indent: int) -> list[str]:
    return [
        f"{' ' * indent}{key}: {_yaml_text(text)}"
        for key, text in fields.items()
    ]


def _yaml_text(text: str) -> str:
    """Return a text as a double-quoted scalar of YAML, on one line."""
    # A text of JSON is one of YAML, apart from characters that YAML files may not contain as
    # they are, and line ends that only YAML knows.
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        json.dumps(text, ensure_ascii=False),
    )


def _scale(value: ValueLog) -> dict[str, object]:
    # The schema needs both ends for a continuous score.
    if value.low is None or value.high is None:
        return {}
    return {
        "score_type": "continuous",
        "min_score": value.low,
        "max_score": value.high,
    }


def _uncertainty(estimate: Estimate) -> dict[str, object]:
    uncertainty: dict[str, object] = {"num_samples": estimate.n}
    if estimate.interval is not None:
        low, high, level = (
            estimate.interval.low,
            estimate.interval.high,
            estimate.interval.level,
        )
        ends = {"lower": low, "upper": high, "confidence_level": level}
        uncertainty["confidence_interval"] = ends | {
            "method": "bootstrap over pictures"
        }
    return uncertainty


def numbers(name: str, result: MetricResult) -> dict[str, float]:
    """Return the numbers of a result by name, as they are logged."""
    logged = {
        f"{name}.{key}": number for key, number in result.numbers(".").items()
    }
    return {f"{name}.n_failed": float(result.n_failed), **logged}


def _open_run(run: Run | str | Path) -> Run:
    return run if isinstance(run, Run) else Run(Path(run))


def _existing_files(run: Run) -> list[Path]:
    paths = [run.path / name for name in _FILES]
    return [path for path in paths if path.is_file()]


def _plain(name: str) -> str:
    # MLflow accepts these characters in names.
    return re.sub(r"[^\w./ -]", "_", name)

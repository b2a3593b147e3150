"""Real harnesses call our metrics: inspect_ai by its entry point, MLflow and wandb without a network.

In an environment of their own: ``make test-harness``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.harness.tracking import log_mlflow, log_wandb

# Each has a reference of its own: our interval resamples pictures, and inspect_ai knows none.
ROWS: list[dict[str, Any]] = [
    {"candidate": "A red dog sleeps.", "references": ["A brown dog sleeps."]},
    {"candidate": "A black cat eats.", "references": ["A black cat eats."]},
    {
        "candidate": "A cat sits on a wall.",
        "references": ["A cat sits on a brick wall."],
    },
    {
        "candidate": "A girl feeds a goat.",
        "references": ["A girl feeds a white goat."],
    },
    {
        "candidate": "Two boats lie at a pier.",
        "references": ["Two red boats lie at a pier."],
    },
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> beholder.Run:
    return beholder.score(
        ROWS, ["posh"], out=tmp_path_factory.mktemp("runs") / "five"
    )


def test_inspect_scores_by_the_entry_point(
    run: beholder.Run, tmp_path: Path
) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="make test-harness")
    from inspect_ai.dataset import Sample

    task = inspect_ai.Task(
        dataset=[
            Sample(input="Describe.", target=row["references"]) for row in ROWS
        ],
        scorer=_by_name("beholder/posh"),
    )
    (log,) = inspect_ai.eval(
        task,
        model=_says([row["candidate"] for row in ROWS]),
        log_dir=str(tmp_path),
        display="none",
        max_samples=1,  # outputs are given in order
    )
    assert log.status == "success", log.error
    (scores,) = log.results.scores
    (scores,) = log.results.scores
    ours = run.summary["posh"].values["f1"]
    assert ours.interval is not None
    assert scores.metrics["mean"].value == pytest.approx(ours.mean)
    flat = {name: metric.value for name, metric in scores.metrics.items()}
    # Ours resamples by the reference, inspect_ai's samples have none: another order of the same
    # five numbers, and so other resamples.
    assert _find_number(flat, "low") == pytest.approx(
        ours.interval.low, abs=0.03
    )
    assert _find_number(flat, "high") == pytest.approx(
        ours.interval.high, abs=0.03
    )
    first = log.samples[0].scores["posh"]
    assert first.explanation is not None
    assert "contradicted: " in first.explanation
    units = first.metadata["units"]
    wrong = next(unit for unit in units if unit["verdict"] == "contradicted")
    start, end = wrong["spans"][0]
    assert ROWS[0]["candidate"][start:end] in ("red", "red dog")


def _says(texts: list[str]) -> Any:
    """A model that says these texts in order, and counts words, as its own count asks a network."""
    from inspect_ai.model import ModelOutput, get_model

    async def count(text: str) -> int:
        return len(text.split())

    outputs = [
        ModelOutput.from_content("mockllm/model", text) for text in texts
    ]
    model = get_model("mockllm/model", custom_outputs=outputs)
    model.api.count_text_tokens = count
    return model


def _by_name(name: str) -> Any:
    from inspect_ai.scorer._scorer import scorer_create

    return scorer_create(name)


def _find_number(flat: dict[str, Any], end: str) -> float:
    for name, value in flat.items():
        if isinstance(value, dict) and end in value:
            return float(value[end])
        if name.endswith(end):
            return float(value)
    raise AssertionError(f"no {end} in {flat}")


def test_inspect_leaves_a_sample_without_target_unscored(
    tmp_path: Path,
) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="make test-harness")
    from inspect_ai.dataset import Sample

    task = inspect_ai.Task(
        dataset=[
            Sample(input="x", target=[]),
            Sample(input="x", target=["A dog."]),
        ],
        scorer=_by_name("beholder/posh"),
    )
    model = _says(["A dog.", "A dog."])
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(tmp_path), display="none", max_samples=1
    )
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(1.0)
    assert log.samples[0].scores["posh"].reason == "not_applicable"


def test_mlflow_holds_means_signature_and_files(
    run: beholder.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "MLFLOW_ALLOW_FILE_STORE", "true"
    )  # the small package has no other
    mlflow = pytest.importorskip("mlflow", reason="make test-harness")
    mlflow.set_tracking_uri((tmp_path / "mlflow").as_uri())
    mlflow.create_experiment(
        "texts", artifact_location=(tmp_path / "artifacts").as_uri()
    )
    mlflow.set_experiment("texts")
    with mlflow.start_run() as started:
        log_mlflow(run)
    logged = mlflow.get_run(started.info.run_id).data
    ours = run.summary["posh"]
    assert ours.values["f1"].interval is not None
    assert logged.metrics["posh.f1"] == pytest.approx(ours.values["f1"].mean)
    assert logged.metrics["posh.f1.low"] == pytest.approx(
        ours.values["f1"].interval.low
    )
    assert logged.tags["posh.signature"] == ours.signature
    files = {
        path.name
        for path in (tmp_path / "artifacts").rglob("*")
        if path.is_file()
    }
    assert {"run.json", "scores.parquet", "units.parquet"} <= files


def test_wandb_holds_means_signature_and_files(
    run: beholder.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="make test-harness")
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path))
    started = wandb.init(mode="offline", dir=str(tmp_path), project="texts")
    log_wandb(run, started)
    ours = run.summary["posh"]
    assert started.summary["posh.f1"] == pytest.approx(ours.values["f1"].mean)
    assert started.config["posh.signature"] == ours.signature
    started.finish()
    assert list(tmp_path.rglob("*.wandb"))


def test_lmms_eval_aggregates_with_our_functions(tmp_path: Path) -> None:
    pytest.importorskip(
        "lmms_eval", reason="needs lmms-eval; see docs/harnesses.md"
    )
    from lmms_eval.evaluator_utils import TaskOutput

    from beholder.harness.lmms import captions

    process, mean = captions("rouge", references="answer", value="rouge_1")

    class Task:
        VERSION = 0
        args: Any = None

        def dump_config(self) -> dict[str, Any]:
            return {"num_fewshot": 0}

        def aggregation(self) -> dict[str, Any]:
            return {"rouge": mean}

    output = TaskOutput.from_taskdict("texts", Task())
    for text in ("red dog", "red cat"):
        document = process({"answer": "a red dog"}, [text])
        output.sample_metrics["rouge", "none"].append(document["rouge"])
    output.calculate_aggregate_metric(bootstrap_iters=0)
    assert output.agg_metrics["rouge,none"] == pytest.approx(0.6)
    json.dumps(output.agg_metrics)


def test_rows_come_from_datasets_and_scores_go_there(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="make test-harness")
    dataset = datasets.Dataset.from_list(ROWS)
    run = beholder.score(dataset, ["rouge"], out=tmp_path / "run")
    scores = run.to_dataset()
    assert isinstance(scores, datasets.Dataset)
    values_by_item = {
        row["item"]: row["value"] for row in scores if row["name"] == "rouge_1"
    }
    # by hand: 3 of 4 words on both sides; all; 6 of 6 and of 7; 5 of 5 and of 6; 6 of 6 and of 7
    expected = [0.75, 1.0, 2 * 6 / 13, 2 * 5 / 11, 2 * 6 / 13]
    assert list(values_by_item.values()) == pytest.approx(expected, abs=1e-9)

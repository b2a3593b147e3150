"""Carry out what a NarrateConfig asks: read, judge, measure, write the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from beholder.aio import run_sync
from beholder.errors import RunError
from beholder.judges import Budget, Judge, judge
from beholder.judges.answers import AnswerStore
from beholder.run import manifest
from beholder.run.answers import run_answers
from beholder.run.narrate import results
from beholder.run.narrate.config import NarrateConfig
from beholder.run.narrate.inputs import Inputs, read_inputs
from beholder.run.narrate.judge import Bench, Judged, judge_all, n_jobs
from beholder.run.narrate.measure import Measures, measure
from beholder.run.session import Progress
from beholder.run.store import locked

KIND = "narratives"


def carry_out(
    config: NarrateConfig,
    progress: Progress,
    *,
    inputs: Inputs | None = None,
    cache: Path | None = None,
) -> dict[str, Any]:
    """Do what a NarrateConfig asks, or go on with it.

    Args:
        config: The run.
        progress: Hears how it goes on.
        inputs: What the run works on, where it has been read already.
        cache: File of the answers that all runs share, or None.

    Returns:
        The study, as ``study.json`` holds it.

    Raises:
        ConfigError: An option is wrong, or the judge cannot do what is asked.
        DataError: Rows are wrong.
        RunError: The folder is busy or holds another run, or the run cannot go on.
        KeyboardInterrupt: Passed on, after the store has all answers.
    """
    inputs = inputs or read_inputs(config)
    with locked(config.out), threadpool_limits(1):  # rounding may depend on the number of threads
        _check_same(config, inputs)
        with run_answers(config.out, cache, config.max_cost) as (store, budget):
            return _within(config, inputs, store, budget, progress)


def _within(
    config: NarrateConfig, inputs: Inputs, store: AnswerStore, budget: Budget, progress: Progress
) -> dict[str, Any]:
    def make(spec: str, answers: AnswerStore) -> Judge:
        return judge(spec, answers=answers, budget=budget, **config.judge_options)

    bench = Bench(config, store, make)
    identities = bench.identities()
    _write_manifest(config, inputs, "running", identities)
    measures: Measures | None = None
    if "coherence" in config.parts:
        measures = measure(config, inputs.narratives, inputs.frames)
    judged = Judged()
    if config.judged:
        progress.start(n_jobs(config, inputs.narratives), 0)
        try:
            judged = run_sync(judge_all(config, inputs.narratives, bench, progress))
        except KeyboardInterrupt:
            _write_manifest(config, inputs, "interrupted", identities)
            raise
    judged.identities = identities
    study = results.build(config, inputs.narratives, judged, measures)
    results.write(config.out, study, measures, inputs.narratives, config.root)
    _write_manifest(config, inputs, "complete", identities)
    return study


def _check_same(config: NarrateConfig, inputs: Inputs) -> None:
    if not (config.out / manifest.FILE_NAME).is_file():
        return
    before = manifest.read(config.out)
    if before.get("kind") != KIND or before["data"]["sha256"] != inputs.digest:
        raise RunError(
            f"{config.out} holds a run over other data; choose another run directory with -o"
        )


def _write_manifest(
    config: NarrateConfig, inputs: Inputs, status: str, identities: dict[str, str]
) -> None:
    content = {
        "format": manifest.FORMAT,
        "kind": KIND,
        "status": status,
        "versions": manifest.versions(),
        "data": {
            "source": Path(config.sequences).name,
            "sha256": inputs.digest,
            "n_items": len(inputs.narratives),
            "n_bad_rows": len(inputs.bad_rows),
        },
        "settings": {
            "parts": list(config.parts),
            "judges": identities,
            "n_judges": config.voting.judges,
            "temperature": config.voting.temperature,
            "context": config.voting.context,
            "anchors": config.voting.anchors,
            "max_side": config.max_side,
            "caption_words": list(config.words),
            "language": config.language,
            "steps_by": config.steps_by,
            "hybrid": {"share": config.share, "rule": config.rule, "weight": config.weight},
            "topics": config.topics,
        },
        "metrics": [],
        "summary": [],
    }
    manifest.write(config.out, content)

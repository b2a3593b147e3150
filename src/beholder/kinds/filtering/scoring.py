"""The third pass: scores of the rows that are left, by the metrics of ``beholder score``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from beholder.errors import ConfigError
from beholder.kinds.filtering.config import (
    REPEATS,
    FilterConfig,
    FilterOptions,
)
from beholder.kinds.filtering.deciding import RowDecider, RowEvidence
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Metric, metric
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.records import Item
from beholder.run import SCORES, kind
from beholder.run.session import Engine, Progress
from beholder.run.store import Store
from beholder.stats.checks import Floats


def check_columns(
    options: FilterOptions,
    specs: Sequence[str],
    tools: Mapping[str, str],
) -> list[Metric[Any]]:
    """Return the metrics, after a check that each threshold names one of them, or ``words``.

    Raises:
        ConfigError: A threshold is about something else.
    """
    metrics = [metric(spec, **tools) for spec in specs]
    columns = {"words"}
    for scored in metrics:
        name = scored.registered_name
        values = (f"{name}.{value.name}" for value in scored.values)
        columns |= {name, *values}
    for threshold in options.thresholds:
        if threshold.column not in columns:
            raise ConfigError(
                f"{threshold}: there is no score {threshold.column!r} among"
                f" {', '.join(sorted(columns))}; name its metric with -m"
            )
    return metrics


def score_rows(
    config: FilterConfig,
    evidence: RowEvidence,
    metrics: Sequence[Metric[Any]],
    progress: Progress,
    judging: JudgeOptions,
    work: WorkOptions,
    engine: Engine | None,
) -> dict[str, Floats]:
    """Score the rows that no rule drops, once for each text of a picture.

    Each metric has a run of its own in the job's folder, so that another metric or threshold asks
    nothing twice.

    Args:
        config: The filter.
        evidence: What is known without scores.
        metrics: The metrics.
        progress: Receives the progress of the runs.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.
        engine: Where the work is done.

    Returns:
        Scores of all rows by column, NaN without one.
    """
    digest, n_items = sha256(), 0
    for item in _items_left(evidence, config.options):
        row = f"{item.id}\0{item.candidate}\0{item.images}\0"
        digest.update(row.encode("utf-8", "surrogatepass"))
        n_items += 1
    if not n_items:
        return {}
    columns: dict[str, Floats] = {}
    exact = evidence.duplicates.exact
    for scored in metrics:
        name = scored.registered_name
        # Another metric or other rows are another run; answers are shared by the cache.
        run_digest = sha256(digest.digest() + scored.name.encode()).hexdigest()
        folder = config.out / "scores" / f"{name}-{run_digest[:12]}"
        scoring = ScoreConfig(
            "rows that are left",
            (scored,),
            folder,
            rows=DataOptions(media_root=evidence.picture_root),
            judging=judging,
            work=work,
        )
        items = _items_left(evidence, config.options)
        kind.run(SCORES, scoring, progress, given=items, engine=engine)
        with Store.read(folder) as store:
            values = store.values_by_id(store.askers()[0].name)
        main = scored.values[0].name
        value_by_column = {name: main} | {
            threshold.column: threshold.column.partition(".")[2] or main
            for threshold in config.options.thresholds
            if threshold.column.partition(".")[0] == name
        }
        for column, value in value_by_column.items():
            scores = np.full(evidence.n_rows, np.nan)
            for row, row_values in values.items():
                scores[int(row)] = row_values.get(value, np.nan)
            columns[column] = scores[exact]
    return columns


def _items_left(
    evidence: RowEvidence, options: FilterOptions
) -> Iterator[Item]:
    """Yield the first row of each text of a picture that is not dropped for a reason of its own."""
    seen_groups: set[int] = set()
    rules_alone = RowDecider(evidence, options.without_scores())
    exact = evidence.duplicates.exact
    for row in rules_alone.decide():
        group = int(exact[row.row])
        is_dropped = any(
            options.decisions[reason] == "drop"
            for reason in row.reasons
            # Which of several repeats stays is known only when all have a score.
            if reason not in REPEATS
        )
        if is_dropped or group in seen_groups or not row.text:
            continue
        seen_groups.add(group)
        image = evidence.locate_picture(row.row, row.image)
        yield Item(str(group), row.text, images=(image,) if image else ())

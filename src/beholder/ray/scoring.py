"""``beholder.ray.score``: from a data set of Ray, or rows, to a run in parts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from beholder.api import Run
from beholder.kinds.scores import door
from beholder.metrics import Metric
from beholder.optional import require
from beholder.options import Options
from beholder.ray.engine import RayEngine
from beholder.run.session import Progress

_ROWS = 1024


def score(
    dataset: Any,
    metrics: Sequence[str | Metric[Any]] = ("headline",),
    *,
    engine: RayEngine | None = None,
    judge: str | None = None,
    embedder: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Run:
    """Score a data set on a Ray cluster, or resume an interrupted run.

    Args:
        dataset: A ``ray.data.Dataset`` whose columns are the fields of rows (``candidate``,
            ``references`` ...), or what ``beholder.score`` takes: a file, a URL, rows. Its order is
            that of the run; a data set that is shuffled each time cannot be resumed.
        metrics: Metrics, or their text forms, as for ``beholder.score``.
        engine: The cluster, where parts are kept, GPUs of an actor; None for ``RayEngine()``.
        judge: Judge for the metrics that ask one and do not name one.
        embedder: Embedder for the metrics that do not name one.
        out: Run directory, on this machine; None as for ``beholder.score``.
        progress: Receives the progress of the run.
        options: As for ``beholder.score``; ``workers`` are the actors, by default one per CPU of
            the cluster.

    Returns:
        The finished run: equal to one of ``beholder.score``, but for where its outcomes lie.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        MissingExtraError: Ray is not installed.
        RunError: The run directory is busy or holds another run, or the cluster fails.
    """
    require("ray", extra="ray", purpose="beholder.ray.score")
    data = sys.modules.get("ray.data")  # who has a data set of Ray has imported it
    return door.score(
        _rows(dataset) if data and isinstance(dataset, data.Dataset) else dataset,
        metrics,
        judge=judge,
        embedder=embedder,
        out=out,
        progress=progress,
        engine=engine or RayEngine(),
        **options,
    )


def _rows(dataset: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a data set of Ray, in its order, as Python's values."""
    ordered = dataset.context.execution_options
    before = ordered.preserve_order
    ordered.preserve_order = True
    try:
        for table in dataset.iter_batches(batch_size=_ROWS, batch_format="pyarrow"):
            yield from table.to_pylist()
    finally:
        ordered.preserve_order = before

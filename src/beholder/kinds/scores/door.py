"""``beholder.score``: the whole way from rows to results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from beholder.api import Run
from beholder.data.columns import text_columns
from beholder.data.notes import RowNotes
from beholder.data.prepare import Cleaning
from beholder.data.read import items_of
from beholder.data.tables import check_columns
from beholder.errors import ConfigError
from beholder.judges import Judge
from beholder.kinds.scores.engine import Rows, ScoreConfig, open_rows
from beholder.kinds.scores.kind import KIND
from beholder.metrics import Metric, metric
from beholder.options import Options, check_list, default_tools, group_options
from beholder.records import Item
from beholder.run.kind import run
from beholder.run.session import Engine, Progress, Quiet, default_out


def score(
    data: str | Path | Iterable[Item | Mapping[str, Any]],
    metrics: Sequence[str | Metric[Any]] | None = None,
    *,
    judge: str | Judge | None = None,
    embedder: str | None = None,
    out: str | Path | None = None,
    clean: Cleaning = "none",
    progress: Progress | None = None,
    engine: Engine | None = None,
    **options: Unpack[Options],
) -> Run:
    """Score a data set, or resume an interrupted run.

    Args:
        data: A data file, a folder of pictures with texts beside them, a run directory (its items
            are scored again), items or rows, or a table of pandas, pyarrow or datasets.
        metrics: Metrics, or their text forms such as ``"vcs(lct=1)"``;
            ``"headline"`` is ``"accord"``. None takes the one that fits the first items
            (``beholder.metrics.fitting``).
        judge: Judge for the metrics that ask one and do not name one: ``openai:MODEL``,
            ``hf:MODEL``, ``panel(openai:a, openai:b)``, or what ``beholder.judge`` made.
        embedder: Embedder for the metrics that do not name one: ``static``, ``minilm``,
            ``st:NAME``, ``openai:MODEL``.
        out: Run directory. None takes ``runs/`` and the name of the data file, or a new temporary
            folder for items given in Python.
        clean: Parts removed from texts before they are scored: ``"residue"`` is what a machine
            leaves around its text (``beholder.text.residue``), ``"speech"`` the marks of
            transcripts, such as ``<noise>`` and ``{photo}``.
        progress: Receives the progress of the run.
        engine: Engine that does the work, such as ``beholder.ray.RayEngine()``; None for this
            machine.
        options: Those of every door: ``limit``, ``skip_bad_rows``, ``media_root`` (which rows),
            ``base_url``, ``temperature``, ``prompts``, ``batch``, ``judge_options`` (how judges are
            asked), ``workers``, ``concurrency``, ``cache``, ``max_cost`` (how much at once, what is
            kept, what may be spent); see ``beholder.options``.

    Returns:
        The finished run.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        RunError: The run directory is busy or contains another run.
    """
    name = str(data) if isinstance(data, str | Path) else None
    notes = RowNotes(clean)
    data_options, _, _ = group_options(options)
    if name is None:
        numbered = _numbered_rows(data, data_options.map)
        unusable: dict[str, str] = {}
        items = items_of(
            numbered, data_options, "items", notes=notes, unusable=unusable
        )
        rows = Rows(items, is_data=False, unusable=unusable)
    else:
        rows = open_rows(name, data_options, notes)
    if metrics is None:
        metrics = [rows.fitting_metric(judge=judge is not None)[0]]
    config = configure(
        name, metrics, judge=judge, embedder=embedder, out=out, **options
    )
    config = replace(config, clean=clean)
    bad_rows = run(
        KIND,
        config,
        progress or Quiet(),
        given=rows,
        notes=notes,
        engine=engine,
    )
    return Run(config.out, bad_rows=tuple(bad_rows))


def configure(
    source: str | None,
    metrics: Sequence[str | Metric[Any]],
    *,
    judge: str | Judge | None = None,
    embedder: str | None = None,
    out: str | Path | None = None,
    **options: Unpack[Options],
) -> ScoreConfig:
    """Return the configuration of ``score``'s arguments; ``source`` is None for items of Python.

    Raises:
        ConfigError: A metric or option is wrong.
    """
    check_list("metrics", metrics)
    for entry in metrics:
        if not isinstance(entry, str | Metric):
            raise ConfigError(
                f"metrics: expected metrics or their text forms, got {entry!r}"
            )
    defaults = default_tools(embedder, judge)
    rows, judging, work = group_options(options)
    return ScoreConfig(
        data=source or "items",
        metrics=tuple(
            metric(m, **defaults) if isinstance(m, str) else m for m in metrics
        ),
        out=Path(out) if out is not None else default_out(source),
        rows=rows,
        judging=judging,
        work=work,
    )


def _numbered_rows(
    data: Any, columns: Mapping[str, str]
) -> Iterator[tuple[int, Any]]:
    """Yield rows, also those of a table of pandas or pyarrow, with their numbers."""
    if hasattr(data, "to_batches"):  # pyarrow
        check_columns(list(data.schema.names), "items")
        rows: Iterable[Any] = (
            row for batch in data.to_batches() for row in batch.to_pylist()
        )
    elif hasattr(data, "itertuples"):
        # Pandas has many ways to say that a cell is empty.
        check_columns(list(map(str, data.columns)), "items")
        cells = data.astype(object).where(data.notna(), None)
        texts = text_columns(list(map(str, data.columns)), columns)
        rows = (_filled(row, texts) for row in cells.to_dict("records"))
    elif isinstance(data, Iterable):
        rows = data
    else:
        raise ConfigError(
            f"data={data!r}: expected a file, items, rows or a table"
        )
    yield from enumerate(rows, start=1)


def _filled(row: Mapping[Any, Any], texts: Collection[Any]) -> dict[Any, Any]:
    """Return the filled cells of a row; its texts also if they are empty."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in row.items()
        if value is not None or name in texts
    }

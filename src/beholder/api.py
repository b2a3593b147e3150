"""``beholder.score`` and the run it gives back: the whole way from rows to results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beholder.data import from_row
from beholder.data.row import RowError
from beholder.errors import DataError
from beholder.metrics import Metric, metric
from beholder.optional import require
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.records import Item, ItemFailure, ItemScore, MetricResult
from beholder.run import manifest
from beholder.run.scores import ScoreConfig, run_scores
from beholder.run.session import Progress, Quiet
from beholder.run.store import Store


def score(
    data: str | Path | Iterable[Item | Mapping[str, Any]],
    metrics: Sequence[str | Metric[Any]] = ("vcs",),
    *,
    judge: str | None = None,
    embedder: str | None = None,
    base_url: str | None = None,
    judge_options: Mapping[str, object] | None = None,
    cache: str | Path | None = None,
    max_cost: float | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    skip_bad_rows: bool = False,
    media_root: str | Path | None = None,
    workers: int | None = None,
    concurrency: int = 64,
    progress: Progress | None = None,
) -> Run:
    """Score a data set, or go on with a run that was interrupted.

    Args:
        data: A data file, a run directory (its items are scored again), or items or rows.
        metrics: Metrics, or their text forms such as ``"vcs(lct=1)"``.
        judge: Judge for the metrics that ask one and do not name one: ``openai:MODEL``,
            ``hf:MODEL``, ``panel(openai:a, openai:b)``.
        embedder: Embedder for the metrics that do not name one: ``static``, ``st:NAME``,
            ``openai:MODEL``.
        base_url: Endpoint of ``openai:`` judges and embedders.
        judge_options: Further options of judges, such as ``{"temperature": 0.7, "batch": True}``.
        cache: File of the cache of answers that runs share; None for no cache.
        max_cost: US dollars that judges may spend on this run.
        out: Run directory. None takes ``runs/`` and the name of the data file, or a new temporary
            folder for items given in Python.
        limit: Score only the first so many items.
        skip_bad_rows: Go on without rows that are wrong, and count them.
        media_root: Folder that image paths may reach; None keeps them in the data file's folder.
            Pictures of items given in Python are relative to it, or else to the current directory.
        workers: Worker processes; None decides from the number of items. Results do not depend
            on it.
        concurrency: How many items wait for remote tools at once.
        progress: Hears how the run goes on.

    Returns:
        The finished run.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        RunError: The run directory is busy or holds another run.
    """
    config = configure(
        str(data) if isinstance(data, str | Path) else None,
        metrics,
        judge=judge,
        embedder=embedder,
        base_url=base_url,
        judge_options=judge_options,
        cache=cache,
        max_cost=max_cost,
        out=out,
        limit=limit,
        skip_bad_rows=skip_bad_rows,
        media_root=media_root,
        workers=workers,
        concurrency=concurrency,
    )
    rows = None if isinstance(data, str | Path) else _from_python(data)
    bad_rows = run_scores(config, progress or Quiet(), rows)
    return Run(config.out, bad_rows=tuple(bad_rows))


def configure(
    source: str | None,
    metrics: Sequence[str | Metric[Any]],
    *,
    judge: str | None = None,
    embedder: str | None = None,
    base_url: str | None = None,
    judge_options: Mapping[str, object] | None = None,
    cache: str | Path | None = None,
    max_cost: float | None = None,
    out: str | Path | None = None,
    limit: int | None = None,
    skip_bad_rows: bool = False,
    media_root: str | Path | None = None,
    workers: int | None = None,
    concurrency: int = 64,
) -> ScoreConfig:
    """The ScoreConfig of ``score``'s arguments; ``source`` is None for items given in Python.

    Raises:
        ConfigError: A metric or option is wrong.
    """
    named = {"embedder": embedder, "judge": judge}
    defaults = {kind: spec for kind, spec in named.items() if spec}
    return ScoreConfig(
        data=source or "items",
        metrics=tuple(metric(m, **defaults) if isinstance(m, str) else m for m in metrics),
        out=Path(out) if out is not None else _default_out(source),
        rows=DataOptions(
            limit, skip_bad_rows, Path(media_root) if media_root is not None else None
        ),
        judging=JudgeOptions.of({"base_url": base_url, **(judge_options or {})}),
        work=WorkOptions(
            workers, concurrency, Path(cache) if cache is not None else None, max_cost
        ),
    )


def _default_out(source: str | None) -> Path:
    if source is None:
        return Path(tempfile.mkdtemp(prefix="beholder-"))
    return Path("runs") / ("stdin" if source == "-" else Path(source).name.partition(".")[0])


@dataclass(frozen=True)
class Run:
    """A run on disk.

    Attributes:
        path: Its directory.
        bad_rows: Rows that were left out when it was made here; empty for a run that was opened.
    """

    path: Path
    bad_rows: tuple[DataError, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        self.manifest  # noqa: B018  # raises RunError when there is no run

    @property
    def manifest(self) -> dict[str, Any]:
        """The content of ``run.json``."""
        return manifest.read(self.path)

    @property
    def summary(self) -> dict[str, MetricResult]:
        """Result per metric, by canonical name."""
        return manifest.results(self.manifest)

    def outcomes(self, metric_name: str) -> Iterator[tuple[Item, ItemScore | ItemFailure]]:
        """Every item with what one metric found, in order; unfinished items are left out."""
        with Store.read(self.path) as store:
            for position, item in store.items():
                found = store.score(metric_name, position)
                if found is not None:
                    yield item, replace(found, item=item) if isinstance(found, ItemScore) else found

    def to_arrow(self) -> Any:
        """The scores as a pyarrow Table, long: item, metric, name, value, status, groups."""
        import pyarrow.parquet

        return pyarrow.parquet.read_table(self.path / "scores.parquet")

    def to_pandas(self) -> Any:
        """One row per item, one column per value (``vcs.las``); needs pandas.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        require("pandas", extra="pandas", purpose="Run.to_pandas")
        frame = self.to_arrow().to_pandas()
        groups = [column for column in frame.columns if column.startswith("group.")]
        scored = frame[frame["status"] == "scored"]
        wide = scored.assign(column=scored["metric"] + "." + scored["name"]).pivot(
            index="item", columns="column", values="value"
        )
        order = list(dict.fromkeys(frame["item"]))
        labels = frame.drop_duplicates("item").set_index("item")[groups]
        return labels.join(wide).reindex(order)

    def report(self, output: str | Path | None = None) -> Path:
        """Draw the HTML report and give its path (``report.html`` in the run by default)."""
        from beholder.report import write_report

        return write_report(self.path, Path(output) if output is not None else None)


def _from_python(rows: Iterable[Item | Mapping[str, Any]]) -> Iterator[Item | DataError]:
    seen = set()
    for number, row in enumerate(rows, start=1):
        try:
            item = row if isinstance(row, Item) else from_row(row, default_id=str(number))
            if item.id in seen:
                raise RowError(f"{item.id!r} is taken; ids must differ", "id")
        except RowError as error:
            yield DataError("items", error.reason, line=number, field=error.field)
            continue
        seen.add(item.id)
        yield item

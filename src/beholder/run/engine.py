"""Carry out what a RunConfig asks: read, score what is missing, close the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from beholder.data import read_items
from beholder.errors import ConfigError, DataError
from beholder.metrics import Metric, Tools
from beholder.records import Item, MetricResult
from beholder.run import manifest
from beholder.run.answers import run_answers
from beholder.run.config import RunConfig
from beholder.run.execute import Progress, execute, pending_jobs
from beholder.run.export import export
from beholder.run.store import Store
from beholder.run.summary import summarise_all

MAX_ROWS_SHOWN = 20


def carry_out(
    config: RunConfig, progress: Progress, rows: Iterable[Item | DataError] | None = None
) -> list[DataError]:
    """Do what a RunConfig asks, or go on with it.

    Args:
        config: The run.
        progress: Hears how it goes on.
        rows: Items given in Python instead of ``config.data``.

    Returns:
        The rows that were left out.

    Raises:
        ConfigError: An option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or there are none.
        RunError: The run directory is busy or holds another run.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    check(config)
    with Store.open(config.out) as store, _tools(config, store) as tools:
        for m in config.metrics:
            m.identities(tools)  # a tool that cannot be made stops here, before any reading
        reader = Reader(config, rows)
        n_items, data_hash = store.sync_items(reader)
        reader.check_any(n_items)
        config = replace(config, metrics=_prepared(config.metrics, store, n_items))
        signatures = {m.name: m.signature(m.identities(tools)) for m in config.metrics}
        for m in config.metrics:
            store.add_metric(m.name, m.config(), signatures[m.name])

        jobs = pending_jobs(store, config.metrics, n_items)
        n_jobs = n_items * len(config.metrics)
        progress.start(n_jobs, n_jobs - len(jobs))

        def log(status: str, summary: Mapping[str, MetricResult]) -> dict[str, Any]:
            return manifest.build(
                config,
                status=status,
                n_items=n_items,
                n_bad_rows=len(reader.bad_rows),
                data_hash=data_hash,
                signatures=signatures,
                summary=summary,
            )

        if not jobs and manifest.is_closed(config.out, log("complete", {})):
            return reader.bad_rows  # nothing new: tables and summary stand as they are
        manifest.write(config.out, log("running", {}))
        try:
            execute(store, config, jobs, tools, progress)
        except KeyboardInterrupt:
            manifest.write(config.out, log("interrupted", {}))
            raise
        export(store, [m.name for m in config.metrics], n_items)
        summary = summarise_all(store, config.metrics, n_items)
        manifest.write(config.out, log("complete", summary))
    return reader.bad_rows


def _prepared(
    metrics: Sequence[Metric[Any]], store: Store, n_items: int
) -> tuple[Metric[Any], ...]:
    return tuple(
        metric.prepare(item for _, item in islice(store.items(), n_items)) for metric in metrics
    )


@contextmanager
def _tools(config: RunConfig, store: Store) -> Iterator[Tools]:
    if not any(metric.asks_judge() for metric in config.metrics):
        yield Tools(vectors=store, options=config.tool_options, folder=config.folder)
        return
    with run_answers(config.out, config.cache, config.max_cost) as (answers, budget):
        yield Tools(store, config.tool_options, answers, budget, folder=config.folder)


def check(config: RunConfig) -> None:
    """Refuse what can be seen to be wrong before any work.

    Raises:
        ConfigError: No metric, one twice, or a number out of range.
    """
    if not config.metrics:
        raise ConfigError("no metric was asked for; name one with -m, such as -m vcs")
    names = [m.name for m in config.metrics]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the metric {name} was asked for twice")
    for option in ("limit", "workers", "concurrency"):
        value = getattr(config, option)
        if value is not None and value < 1:
            raise ConfigError(f"--{option} must be at least 1, got {value}")


class Reader:
    """The items of a RunConfig, once; afterwards it knows the rows that were wrong."""

    def __init__(self, config: RunConfig, rows: Iterable[Item | DataError] | None = None) -> None:
        self.bad_rows: list[DataError] = []
        self._config = config
        self._rows = rows

    def __iter__(self) -> Iterator[Item]:
        config = self._config
        n_items = 0
        with _source(config) if self._rows is None else _given(self._rows) as rows:
            for row in rows:
                if isinstance(row, DataError):
                    self.bad_rows.append(row)
                    if not config.skip_bad_rows and len(self.bad_rows) > MAX_ROWS_SHOWN:
                        break
                    continue
                n_items += 1
                yield row
                if n_items == config.limit:
                    break
        if self.bad_rows and not config.skip_bad_rows:
            raise bad_rows_error(self.bad_rows)

    def check_any(self, n_items: int) -> None:
        """Refuse an empty data set."""
        if n_items == 0:
            raise DataError(self._config.data, "has no item to score")


@contextmanager
def _source(config: RunConfig) -> Iterator[Iterable[Item | DataError]]:
    if Path(config.data).is_dir():
        with Store.read(Path(config.data)) as other:
            yield (item for _, item in other.items())
    else:
        yield read_items(config.data, media_root=config.media_root)


@contextmanager
def _given(rows: Iterable[Item | DataError]) -> Iterator[Iterable[Item | DataError]]:
    yield rows


def bad_rows_error(errors: list[DataError]) -> DataError:
    """One error that tells all wrong rows, up to a limit."""
    first, more = errors[0], errors[1:MAX_ROWS_SHOWN]
    lines = [f"\n{error}" for error in more]
    if len(errors) > MAX_ROWS_SHOWN:
        lines.append("\n(and more)")
    hint = "\nmend the rows, or leave them out with --skip-bad-rows"
    return DataError(
        first.path, first.reason + "".join(lines) + hint, line=first.line, field=first.field
    )

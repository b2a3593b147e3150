"""``beholder.filter``: run the passes of a filter, or continue them."""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pyarrow.parquet as pq

from beholder._version import __version__
from beholder.base import files
from beholder.base.optional import require
from beholder.base.processes import (
    end_with_parent,
    hide_main_script,
    process_pool,
)
from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.filtering import scoring, sources
from beholder.kinds.filtering.config import FilterConfig, FilterOptions
from beholder.kinds.filtering.deciding import (
    DecisionTally,
    RowDecider,
    RowEvidence,
    write_verdicts,
)
from beholder.kinds.filtering.duplicates import Duplicates, find_duplicates
from beholder.kinds.filtering.page import write_page
from beholder.kinds.filtering.pictures import PictureFolder, extract_pictures
from beholder.kinds.filtering.result import (
    RESULT,
    VERDICTS,
    FilterResult,
    SourceFile,
    stamp_of,
)
from beholder.kinds.filtering.rows import RowTask, run_task
from beholder.kinds.filtering.source_row import SourcePart, SourceSettings
from beholder.options import JudgeOptions, WorkOptions, check_list
from beholder.run.session import Engine, Progress, Quiet

DRY_ROWS = 20_000
"""Rows that a dry run reads."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class FilterMeans:
    """What a filter may use; nothing of it changes the result.

    Attributes:
        judging: Settings of questions to judges.
        work: Processes, cache and budget.
        engine: Where rows are checked and scored; None for this machine.
        progress: Receives the progress.
        on_caution: Receives cautions, before verdicts are written.
    """

    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    engine: Engine | None = None
    progress: Progress = field(default_factory=Quiet)
    on_caution: Tell = lambda _: None


def filter(
    *data: str | Path,
    out: str | Path,
    metrics: Sequence[str] = (),
    map: Mapping[str, str] | None = None,
    workers: int | None = None,
    media_root: Path | None = None,
    **options: Any,
) -> FilterResult:
    """Decide which rows of a caption training set are dropped, or continue a job.

    Args:
        data: Tar shards, JSONL, CSV and Parquet files, COCO captions, folders of pictures.
        out: Folder of the job.
        metrics: Specs of metrics that thresholds are about.
        map: Column by field.
        workers: Processes, which do not change results.
        media_root: Folder of the pictures.
        options: Fields of ``FilterOptions``, such as ``near_duplicates=0.8``.

    Returns:
        The counts, as in ``result.json``.

    Raises:
        ConfigError: An option is wrong.
        DataError: A source is damaged and may not be skipped, or there are no rows.
    """
    check_list("metrics", metrics)
    names = [
        name
        for name in ("drop", "quarantine", "keep")
        if isinstance(options.get(name), str)
    ]
    options |= {name: (options[name],) for name in names}
    config = FilterConfig(
        tuple(str(source) for source in data),
        Path(out),
        FilterOptions(**options),
        map or {},
        tuple(metrics),
        media_root,
    )
    means = FilterMeans(work=WorkOptions(workers=workers))
    return run_filter(config, means)


def run_filter(config: FilterConfig, means: FilterMeans) -> FilterResult:
    """Run the passes that are missing, and write verdicts, result and page.

    Raises:
        ConfigError: An option is wrong.
        DataError: A source is damaged and may not be skipped, or there are no rows.
        RunError: A worker process died, or the folder cannot be used.
    """
    metrics = scoring.check_columns(
        config.options, config.metrics, config.tools
    )
    files.make_folder(config.out)
    reader = _RowPass(config, means)
    evidence = reader.evidence()
    if metrics:
        if any(scored.looks for scored in metrics):
            reader.extract_pictures()
        scores = scoring.score_rows(
            config, evidence, metrics, means.progress, means.judging,
            means.work, means.engine,
        )  # fmt: skip
        evidence = replace(evidence, scores=scores)
    tally = DecisionTally()
    decider = RowDecider(evidence, config.options)
    for row in decider.decide():
        tally.add(row)
    result = reader.result(tally, [scored.name for scored in metrics])
    for caution in result.cautions:
        means.on_caution(caution)
    # Verdicts without a result are unfinished: other commands refuse them.
    (config.out / RESULT).unlink(missing_ok=True)
    sizes = [n for file in result.files for _, _, n in file.parts]
    write_verdicts(decider.decide(), evidence, sizes, config.out / VERDICTS)
    for old in (config.out / VERDICTS).glob("part-*.parquet"):
        if int(old.stem.partition("-")[2]) >= len(sizes):
            old.unlink()
    files.write_bytes(
        config.out / RESULT, msgspec.json.format(msgspec.json.encode(result))
    )
    write_page(config.out, result, decider.decide(), evidence, config.options)
    return result


def try_filter(config: FilterConfig, means: FilterMeans) -> FilterResult:
    """Return the counts over the first rows, without scores; nothing is written or asked.

    Raises:
        ConfigError: An option is wrong.
        DataError: A source is damaged and may not be skipped, or there are no rows.
    """
    scoring.check_columns(config.options, config.metrics, config.tools)
    with TemporaryDirectory(prefix="beholder-") as folder:
        trial = replace(
            config,
            out=Path(folder),
            options=config.options.without_scores(),
        )
        reader = _RowPass(trial, means, limit=DRY_ROWS)
        tally = DecisionTally()
        for row in RowDecider(reader.evidence(), trial.options).decide():
            tally.add(row)
    result = reader.result(tally, [])
    for caution in result.cautions:
        means.on_caution(caution)
    return result


class _RowPass:
    """The first two passes, each part of which is kept in the folder of the job."""

    def __init__(
        self,
        config: FilterConfig,
        means: FilterMeans,
        limit: int | None = None,
    ) -> None:
        self._config, self._means, self._limit = config, means, limit
        options = config.options
        self._settings = SourceSettings(
            dict(config.columns), options.text_ending
        )
        self._left_out: dict[str, str] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        self._parts: list[SourcePart] = []
        self._check_sources()
        for source in config.sources:
            try:
                self._parts += sources.divide(source, self._settings)
                self._stamps[source] = stamp_of(source, self._settings)
            except DataError as error:
                self._leave_out(source, error)
        self._unused_options = sources.list_unused_options(
            list(self._stamps),
            self._settings,
            config.media_root is not None,
        )
        rensa = None
        if options.near_duplicates is not None:
            rensa = require("rensa", extra="filter", purpose="near-duplicates")
        self._row_key = _digest(
            __version__,
            self._settings.text_ending,
            sorted(config.columns.items()),
            options.lint_rules,
            options.language,
            rensa and rensa.RMinHash.ALGORITHM_VERSION,
            [(source, stamp) for source, stamp in self._stamps.items()],
        )
        self._folder = config.out / "work" / f"rows-{self._row_key}"
        self._n_rows: list[int] = []

    def _check_sources(self) -> None:
        if not self._config.sources:
            raise ConfigError("name the files or folders to filter")
        places = [Path(source).resolve() for source in self._config.sources]
        if len({*places}) < len(places):
            raise ConfigError("a source is named twice; name each once")
        out = self._config.out.resolve()
        for place in places:
            if out.is_relative_to(place):
                raise ConfigError(
                    f"-o {self._config.out} is in the source {place.name}, which is never changed;"
                    " name a folder outside"
                )

    def _leave_out(self, source: str, error: DataError) -> None:
        if not self._config.options.skip_bad_files:
            raise DataError(
                error.path,
                f"{error.reason}; --skip-bad-files leaves such files out",
                line=error.line,
            ) from error
        self._left_out[source] = error.reason

    def evidence(self) -> RowEvidence:
        """Return what is known about all rows, after reading what is missing.

        Raises:
            DataError: A source is damaged and may not be skipped, or there are no rows.
        """
        self._read_parts()
        usable_parts = [
            (number, part)
            for number, part in enumerate(self._parts)
            if part.source not in self._left_out
        ]
        outs = [self._out(number) for number, _ in usable_parts]
        # Other commands read all parts, so those of sources that are left out go.
        for out in self._folder.glob("part-*.parquet"):
            if out not in outs:
                out.unlink()
        if self._limit is not None:
            outs = [out for out in outs if out.is_file()]
        self._parts = [part for _, part in usable_parts][: len(outs)]
        self._n_rows = [pq.read_metadata(out).num_rows for out in outs]
        if not sum(self._n_rows):
            raise DataError(
                ", ".join(self._config.sources), "has no row to filter"
            )
        return RowEvidence(
            outs,
            [0, *accumulate(self._n_rows)][:-1],
            [part.source for part in self._parts],
            self._duplicates(outs),
            [self._picture_folder(part) for part in self._parts],
        )

    def _out(self, number: int) -> Path:
        return self._folder / f"part-{number:05}.parquet"

    def _read_parts(self) -> None:
        options = self._config.options
        tasks = [
            RowTask(
                part,
                self._out(number),
                self._settings,
                options.lint_rules,
                options.language or "",
                options.near_duplicates is not None,
                self._limit,
            )
            for number, part in enumerate(self._parts)
        ]
        if self._limit is not None:
            self._read_beginning(tasks, self._limit)
            return
        # Rows of other settings would fill the disk; without them the result is of no use.
        for old in (self._config.out / "work").glob("*-*"):
            if self._row_key not in old.name:
                (self._config.out / RESULT).unlink(missing_ok=True)
                _remove(old)
        open_tasks = [task for task in tasks if not task.out.is_file()]
        progress = self._means.progress
        progress.start(len(tasks), len(tasks) - len(open_tasks))
        for task, error in self._map(open_tasks):
            if error is not None and task.part.source not in self._left_out:
                self._leave_out(task.part.source, error)
            progress.advance(int(error is None), int(error is not None))

    def _read_beginning(self, tasks: Sequence[RowTask], limit: int) -> None:
        for task in tasks:
            error = run_task(replace(task, limit=limit))
            if error is not None:
                self._leave_out(task.part.source, error)
                continue
            limit -= pq.read_metadata(task.out).num_rows
            if limit <= 0:
                return

    def _map(
        self, tasks: Sequence[RowTask]
    ) -> Iterator[tuple[RowTask, DataError | None]]:
        """Yield tasks with their errors; each writes a file of its own, so order is no matter."""
        engine = self._means.engine
        if engine is not None:
            run_on = getattr(engine, "map", None)
            if run_on is None:
                raise ConfigError("this engine reads no parts; use RayEngine")
            # Machines of a cluster have another working directory.
            by_place = {task.out.resolve(): task for task in tasks}
            absolute = [
                replace(task, out=place, part=_absolute(task.part))
                for place, task in by_place.items()
            ]
            for task, error in run_on(run_task, absolute):
                yield by_place[task.out], error
            return
        workers = min(
            self._means.work.workers or os.cpu_count() or 1, len(tasks)
        )
        if workers <= 1:
            yield from ((task, run_task(task)) for task in tasks)
            return
        waiting = deque(tasks)
        running: deque[tuple[RowTask, Future[DataError | None]]] = deque()
        try:
            with process_pool(workers, end_with_parent) as pool:
                while waiting or running:
                    while waiting and len(running) < 2 * workers:
                        task = waiting.popleft()
                        with hide_main_script():
                            running.append((task, pool.submit(run_task, task)))
                    task, future = running.popleft()
                    yield task, future.result()
        except BrokenProcessPool as error:
            raise RunError(
                "a worker process died (killed, or out of memory); what was finished is kept: run"
                " the same command again, perhaps with fewer --workers"
            ) from error

    def _duplicates(self, outs: Sequence[Path]) -> Duplicates:
        threshold = self._config.options.near_duplicates
        key = _digest(self._row_key, threshold, sorted(self._left_out))
        path = self._config.out / "work" / f"groups-{key}-{self._row_key}.npy"
        if path.is_file():
            return Duplicates(*np.load(path, mmap_mode="r"))
        duplicates = find_duplicates(outs, threshold)
        with (
            files.write_atomically(path) as unfinished,
            unfinished.open("wb") as file,
        ):
            np.save(
                file,
                np.stack([duplicates.exact, duplicates.near, duplicates.same]),
            )
        return duplicates

    def _picture_folder(self, part: SourcePart) -> PictureFolder:
        if part.form == "tar":
            name = f"pictures-{self._row_key}"
            return PictureFolder(self._config.out / "work" / name, True)
        return PictureFolder.from_source(part.source, self._config.media_root)

    def extract_pictures(self) -> None:
        """Write the pictures of shards to the folder in which metrics look for them."""
        first = 0
        for part, n in zip(self._parts, self._n_rows, strict=True):
            if part.form == "tar":
                path_of = self._picture_folder(part).path_of
                rows = range(first, first + n)
                extract_pictures(
                    part, dict(zip(range(n), rows, strict=True)), path_of
                )
            first += n

    def result(
        self, tally: DecisionTally, metrics: Sequence[str]
    ) -> FilterResult:
        """Return the result of the job from the counts of its rows."""
        config = self._config
        options = _changed(config.options)
        parts: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        forms = {part.source: part.form for part in self._parts}
        for part, n in zip(self._parts, self._n_rows, strict=True):
            parts[part.source].append((part.start, part.stop, n))
        cautions = [
            *tally.cautions(config.options),
            *self._unused_options,
            *(
                f"{name} is left out: {why}"
                for name, why in self._left_out.items()
            ),
        ]
        if self._limit is None:
            cautions += [
                f"{name} has no row"
                for name in self._stamps
                if name not in self._left_out
                and not sum(n for _, _, n in parts.get(name, ()))
            ]
        return FilterResult(
            version=__version__,
            digest=_digest(
                self._row_key, sorted(options.items()), metrics,
                sorted(self._left_out),
            ),
            options=options,
            metrics=tuple(metrics),
            columns=dict(config.columns),
            media_root=(
                str(config.media_root) if config.media_root else None
            ),
            files=tuple(
                SourceFile(
                    name, forms[name], tuple(places), self._stamps[name]
                )
                for name, places in parts.items()
            ),
            left_out=self._left_out,
            n_rows=tally.n_rows,
            decisions=dict(sorted(tally.decisions.items())),
            reasons=dict(tally.reasons.most_common()),
            noted=dict(tally.noted.most_common()),
            strata=dict(sorted(tally.strata.items())),
            cautions=tuple(cautions),
        )  # fmt: skip


def _absolute(part: SourcePart) -> SourcePart:
    return part._replace(source=str(Path(part.source).resolve()))


def _changed(options: FilterOptions) -> dict[str, Any]:
    usual = FilterOptions()
    return {
        name: getattr(options, name)
        for name in FilterOptions.__dataclass_fields__
        if getattr(options, name) != getattr(usual, name)
    }


def _digest(*values: object) -> str:
    text = repr(values).encode("utf-8", "surrogatepass")
    return sha256(text).hexdigest()[:16]


def _remove(path: Path) -> None:
    if path.is_dir():
        rmtree(path)
    else:
        path.unlink()

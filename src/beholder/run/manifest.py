"""``run.json``: what a run asked, how it was made, and its means.

It contains no time and no path of the machine: the same data, metrics and versions give the same
file, even after interruptions.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from beholder._version import __version__
from beholder.asking.asker import ValueInfo
from beholder.base import files
from beholder.errors import ConfigError, RunError
from beholder.records import Estimate, Interval, MetricResult
from beholder.run import SCORES as SCORES
from beholder.run.store_file import NO_RUN
from beholder.run.subjects import ScheduledAsker

FILE_NAME = "run.json"
FORMAT = 1
_PACKAGES = ("numpy", "scipy", "tokenizers")


class DataLog(Struct, frozen=True):
    """The data of a run.

    Attributes:
        source: The data as the user named them.
        sha256: Hash over all subjects.
        n_items: Subjects of the run.
        n_bad_rows: Rows left out.
        notes: Sentences on the rows that a reader of the means must know (``data.notes``).
    """

    source: str = ""
    sha256: str = ""
    n_items: int = 0
    n_bad_rows: int = 0
    notes: tuple[str, ...] = ()


NO_BOUND = 1e9
"""A highest value from this on is no bound: metrics give it to counts."""


def describe_scale(value: ValueInfo) -> str:
    """Return the range in words: ``0 to 1``, or ``0 or more`` without an upper bound."""
    if value.high >= NO_BOUND:
        return f"{value.low:g} or more"
    return f"{value.low:g} to {value.high:g}"


class ValueLog(Struct, frozen=True):
    """A value of an asker; see ``metrics.ValueInfo``.

    Attributes:
        name: Key in the scores.
        help: One line on what it measures.
        low: Lowest possible value, or None if there is no bound.
        high: Highest possible value; None without an upper bound, and so is ``NO_BOUND``.
        higher_is_better: Direction; None for a value that has none.
    """

    name: str
    help: str = ""
    low: int | float | None = None
    high: int | float | None = None
    higher_is_better: bool | None = True

    def __post_init__(self) -> None:
        # Here and not where runs are written, so that older runs are drawn alike.
        if self.high is not None and self.high >= NO_BOUND:
            structs.force_setattr(self, "high", None)


class AskerLog(Struct, frozen=True, kw_only=True):
    """An asker of a run.

    Attributes:
        name: Canonical name.
        subject: Kind of subject.
        n: Number of subjects.
        config: Its fields.
        signature: Signature of its outcomes.
        values: Its values; the first is the headline.
        corpus_values: Values of the whole data set.
    """

    name: str
    subject: str = ""
    n: int = 0
    config: Mapping[str, Any] = {}
    signature: str
    values: tuple[ValueLog, ...]
    corpus_values: tuple[ValueLog, ...] = ()


class EstimateLog(Struct, frozen=True):
    """A ``records.Estimate``; ``low``, ``high`` and ``level`` are None without an interval.

    ``reason`` says why there is none.
    """

    mean: int | float
    low: int | float | None
    high: int | float | None
    level: int | float | None
    n: int
    reason: str | None = None


class ResultLog(Struct, frozen=True, kw_only=True):
    """A ``records.MetricResult``."""

    metric: str
    signature: str
    n_scored: int
    n_failed: int
    failures: Mapping[str, int]
    cautions: tuple[str, ...] = ()
    values: Mapping[str, EstimateLog]


class RunLog(Struct, frozen=True, kw_only=True):
    """The content of ``run.json``.

    Attributes:
        format: Version of the file's format.
        kind: Kind of the run.
        status: ``running``, ``interrupted`` or ``complete``.
        versions: Versions of the packages that can change a number.
        data: The data.
        settings: Other settings that determine the results; JSON values.
        metrics: The askers, in order.
        judging: A sentence on the judges' answers; empty if no judge was asked.
        summary: Means of a complete run.
    """

    format: int = FORMAT
    kind: str = SCORES
    status: str = ""
    versions: Mapping[str, str] = {}
    data: DataLog = DataLog()
    settings: Mapping[str, Any] = {}
    metrics: tuple[AskerLog, ...] = ()
    judging: str = ""
    summary: tuple[ResultLog, ...] = ()

    @property
    def askers(self) -> Mapping[str, AskerLog]:
        """The askers by name."""
        return {asker_log.name: asker_log for asker_log in self.metrics}


class Log(DataLog, frozen=True):
    """The data and settings of a run, as its kind states them.

    Attributes:
        settings: Other settings that determine the results, by name; JSON values.
    """

    settings: Mapping[str, Any] = {}


def build(kind: str, log: Log, schedule: Sequence[ScheduledAsker]) -> RunLog:
    """Build the content of ``run.json`` at the start of a run, without summary."""
    return RunLog(
        kind=kind,
        status="running",
        versions=versions(),
        data=DataLog(
            log.source, log.sha256, log.n_items, log.n_bad_rows, log.notes
        ),
        settings=log.settings,
        metrics=tuple(
            AskerLog(
                name=entry.name,
                subject=entry.kind.name,
                n=entry.n,
                config=entry.asker.config(),
                signature=entry.signature,
                values=_log_values(entry.asker.values),
                corpus_values=_log_values(entry.asker.corpus_values),
            )
            for entry in schedule
        ),
    )


def _log_values(values: Sequence[ValueInfo]) -> tuple[ValueLog, ...]:
    return tuple(ValueLog(**asdict(value)) for value in values)


def summary_rows(summary: Mapping[str, MetricResult]) -> tuple[ResultLog, ...]:
    """The summary as ``run.json`` contains it."""
    return tuple(
        ResultLog(
            **{
                field.name: getattr(result, field.name)
                for field in fields(result)
            }
            | {
                "values": {
                    name: _log_estimate(value)
                    for name, value in result.values.items()
                }
            }
        )
        for result in summary.values()
    )


def _log_estimate(estimate: Estimate) -> EstimateLog:
    interval = estimate.interval
    if interval is None:
        return EstimateLog(
            estimate.mean, None, None, None, estimate.n, estimate.reason
        )
    return EstimateLog(
        estimate.mean, interval.low, interval.high, interval.level, estimate.n
    )


def results(log: RunLog) -> dict[str, MetricResult]:
    """The summary of a run log as records, by metric name."""
    return {
        row.metric: MetricResult(
            **structs.asdict(row)
            | {
                "values": {
                    name: _read_estimate(value)
                    for name, value in row.values.items()
                }
            }
        )
        for row in log.summary
    }


def _read_estimate(estimate_log: EstimateLog) -> Estimate:
    if (
        estimate_log.low is None
        or estimate_log.high is None
        or estimate_log.level is None
    ):
        return Estimate(
            estimate_log.mean, None, estimate_log.n, estimate_log.reason
        )
    return Estimate(
        estimate_log.mean,
        Interval(estimate_log.low, estimate_log.high, estimate_log.level),
        estimate_log.n,
    )


def choose_values(
    askers: Mapping[str, AskerLog], value_texts: Sequence[str]
) -> dict[str, list[ValueLog]]:
    """Select values by name, as ``bleu.corpus_bleu`` or ``corpus_bleu``, per asker.

    Raises:
        ConfigError: No asker has such a value; names all that there are.
    """
    values = [
        (name, value)
        for name, log in askers.items()
        for value in (*log.values, *log.corpus_values)
    ]
    chosen: dict[str, list[ValueLog]] = {name: [] for name in askers}
    # A short name may match a value of several metrics: all are chosen.
    for text in value_texts:
        matches = [
            (name, value)
            for name, value in values
            if text in (value.name, f"{name}.{value.name}")
        ]
        if not matches:
            names = ", ".join(f"{name}.{value.name}" for name, value in values)
            raise ConfigError(
                f"--value {text}: the runs have no such value; they have: {names}"
            )
        for name, value in matches:
            if value not in chosen[name]:
                chosen[name].append(value)
    return chosen


# Reading a package's metadata takes milliseconds, and an imported package keeps its version.
_installed_version = cache(version)


def versions() -> dict[str, str]:
    """Versions of the packages that can change a number."""
    # Only packages that can change a number; others would start a needless difference.
    base_versions = {
        "beholder": __version__,
        "python": platform.python_version(),
    }
    return base_versions | {
        package: _installed_version(package) for package in _PACKAGES
    }


def write(folder: Path, log: RunLog) -> None:
    """Write ``run.json`` completely or not at all."""
    content = msgspec.to_builtins(log)
    text = (
        json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        + "\n"
    )
    files.write_text(folder / FILE_NAME, text)


def read_log(folder: Path) -> RunLog:
    """The run log of a run directory.

    Raises:
        RunError: There is none, or it is damaged; names the damaged field.
    """
    return _read_log(folder)[1]


def content(folder: Path) -> Mapping[str, Any]:
    """The run log as plain JSON values.

    Raises:
        RunError: There is none, or it is damaged; names the damaged field.
    """
    return _read_log(folder)[0]


def _read_log(folder: Path) -> tuple[Mapping[str, Any], RunLog]:
    path = folder / FILE_NAME
    # Both forms: ``content`` gives fields to users that this version may not know.
    plain = files.read_json(
        path,
        form=FORMAT,
        kind="run log",
        missing_message=NO_RUN.format(folder),
    )
    return plain, files.as_record(plain, RunLog, path)


def is_closed(folder: Path, log: RunLog) -> bool:
    """Return whether the run was closed with this log, apart from ``judging`` and ``summary``."""
    if not is_run(folder):
        return False
    # Through JSON and back, as the file went: tuples become lists, numbers keep their type.
    written = msgspec.json.decode(msgspec.json.encode(log), type=RunLog)
    current_log, stored_log = (
        structs.replace(run_log, judging="", summary=())
        for run_log in (written, read_log(folder))
    )
    return current_log == stored_log


def is_run(folder: Path) -> bool:
    """Return whether the folder contains a run."""
    return (folder / FILE_NAME).is_file()


def kind_of(folder: Path) -> str:
    """The kind of a run.

    Raises:
        RunError: There is no run log, or it is damaged.
    """
    return read_log(folder).kind


def check_kind(folder: Path, *kinds: str) -> None:
    """Refuse a run of another kind; a folder without a run log is accepted.

    Raises:
        RunError: Names the kind of the run and the expected ones.
    """
    if not is_run(folder):
        return
    kind = kind_of(folder)
    if kind not in kinds:
        raise RunError(
            f"{folder} holds a run of the kind {kind!r}, not {' or '.join(map(repr, kinds))};"
            " choose another run directory"
        )


def data_folder(folder: Path) -> Path | None:
    """The folder of a run's data file, or None if the file is not there.

    Raises:
        RunError: There is no run log, or it is damaged.
    """
    source = Path(read_log(folder).data.source)
    return source.parent if source.is_file() else None

"""The folder of a watched series: its settings, its anchor texts, and a line for each run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from beholder.base import files
from beholder.errors import RunError
from beholder.run.inputs import fingerprint
from beholder.stats.drift import MARGIN

SETTINGS, SERIES, EVENTS, RUNS = (
    "watch.json",
    "series.jsonl",
    "events.jsonl",
    "runs",
)
"""Files of a series, and the folder of its runs."""

OTHER_STRATUM = "other"
"""Stratum of the values that have few pictures when the series begins."""
NEW = "new"
"""Stratum of values that did not exist then; it is shown and never part of the mean."""
FORMAT = 1
MOST_NAMES = 20
"""Names of strata in a sentence."""

T = TypeVar("T")


class AnchorSet(msgspec.Struct, frozen=True, kw_only=True):
    """Texts that never change, with their scores when they were frozen.

    Attributes:
        file: Name of the file.
        source: SHA-256 of the data that it was made from.
        digest: SHA-256 of the file.
        pictures: SHA-256 of each picture that is a file, by path.
        n_unchecked: Pictures without one: addresses, or files that could not be read.
        after: Last run before this set; 0 for the first.
        n_bridges: Bridges before it, so that its scores are on the scale of that judge.
        scores: Score of each text by id.
        noise: Variance of the mean that comes from repeating the judge.
        carried: Shift of the former set at the last run, from which this one continues.
        labels: Human label of each text by id; empty without labels.
    """

    file: str
    source: str
    digest: str
    pictures: Mapping[str, str] = {}
    n_unchecked: int = 0
    after: int = 0
    n_bridges: int = 0
    scores: Mapping[str, float] = {}
    noise: float = 0.0
    carried: float = 0.0
    labels: Mapping[str, float] = {}


class Acknowledgement(msgspec.Struct, frozen=True):
    """An acknowledged alarm: a new test begins after it.

    Attributes:
        after: Last run before the new beginning.
        why: The person's reason.
    """

    after: int
    why: str


class JudgeBridge(msgspec.Struct, frozen=True, kw_only=True):
    """The line that leads from an old judge's scores to a new one's.

    Attributes:
        after: Last run of the old judge.
        judge: The new judge.
        intercept: Score of the new judge where the old one gives 0.
        slope: Its slope.
        error: Standard error of the series' level on the new scale.
        noise: Variance of the anchor's mean that comes from repeating the new judge.
    """

    after: int
    judge: str
    intercept: float
    slope: float
    error: float
    noise: float


class WatchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``watch.json``.

    Attributes:
        format: Version of the file's format.
        metric: The metric; its headline value is watched.
        judge: Judge of the metric; empty for a metric that names its own or asks none.
        by: Group column of strata; empty for none.
        quiet: Mean number of looks until a false alarm, such as 260 weeks.
        margin: Changes below it do not count.
        label: Human label of the anchor; empty for the only one.
        value: Name of the watched value.
        higher_is_better: Direction of the value.
        signature: Signature of the metric without the judge's model; that of runs must be the same.
        mix: Weight of each stratum.
        merged: Values of the column in the stratum ``other``.
        anchors: Sets of anchor texts, the present one last; empty without an anchor.
        baselines: Acknowledged alarms.
        bridges: Changes of the judge.
    """

    format: int = FORMAT
    metric: str
    judge: str = ""
    by: str = ""
    quiet: int = 260
    margin: float = MARGIN
    label: str = ""
    value: str = ""
    higher_is_better: bool = True
    signature: str = ""
    mix: Mapping[str, float] = {}
    merged: tuple[str, ...] = ()
    anchors: tuple[AnchorSet, ...] = ()
    baselines: tuple[Acknowledgement, ...] = ()
    bridges: tuple[JudgeBridge, ...] = ()

    @property
    def anchor(self) -> AnchorSet | None:
        """The present anchor."""
        return self.anchors[-1] if self.anchors else None


class StratumLine(msgspec.Struct, frozen=True):
    """Pictures of a stratum in a run.

    Attributes:
        n: Scored pictures.
        mean: Their mean.
        deviation: Their standard deviation; 0 for a single one.
    """

    n: int
    mean: float
    deviation: float


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the series: a line of ``series.jsonl``.

    Attributes:
        number: Number of the run in the order in which runs were added, from 1.
        time: Date of the texts.
        data: Name of the data file.
        digest: SHA-256 of the data.
        signature: Signature of the metric, with the judge's model.
        raw: Mean over all scored pictures.
        n: Scored pictures.
        n_failed: Texts without a score.
        n_bad_rows: Rows that were left out.
        strata: The pictures by stratum; a single one without a column.
        anchor: Score of each anchor text by id, judged again for this run.
        judges: Models that judged, as their servers name them, with their configuration.
    """

    number: int
    time: str
    data: str
    digest: str
    signature: str
    raw: float
    n: int
    n_failed: int
    n_bad_rows: int = 0
    strata: Mapping[str, StratumLine]
    anchor: Mapping[str, float] = {}
    judges: tuple[str, ...] = ()

    @property
    def judge_model(self) -> str:
        """The models that judged, in a text."""
        return ", ".join(self.judges)


def list_some(names: Sequence[str]) -> str:
    """Return the first names of a list that may be long, and how many more there are."""
    n_more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (
        f" and {n_more} more" if n_more > 0 else ""
    )


def digest_data(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder with their names.

    Raises:
        RunError: It cannot be read.
    """
    try:
        if not path.is_dir():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    hasher = hashlib.sha256()
    for place in sorted(path.rglob("*")):
        if place.is_file():
            name = place.relative_to(path).as_posix()
            hasher.update(f"{name}\0{fingerprint(place)}\0".encode())
    return hasher.hexdigest()


def read_settings(folder: Path) -> WatchSettings:
    """Return the settings of a series.

    Raises:
        RunError: The folder contains none, or a broken one.
    """
    path = folder / SETTINGS
    content = files.read_json(
        path,
        form=FORMAT,
        kind="series",
        missing_message=f"{folder} has no {SETTINGS}: begin a series with `beholder watch init"
        f" {folder} -m METRIC`",
    )
    return files.as_record(content, WatchSettings, path)


def write_settings(folder: Path, settings: WatchSettings) -> None:
    """Write the settings of a series at once."""
    text = msgspec.json.format(msgspec.json.encode(settings), indent=2)
    files.write_bytes(folder / SETTINGS, text + b"\n")


def read_lines(path: Path, kind: type[T]) -> list[T]:
    """Return the lines of a file; none if it is missing.

    Raises:
        RunError: A line is broken.
    """
    if not path.is_file():
        return []
    records = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            if line.strip():
                records.append(msgspec.json.decode(line, type=kind))
        except msgspec.MsgspecError as error:
            raise RunError(
                f"{path}, line {number} is broken: {error}; restore it from a copy"
            ) from error
    return records


def read_series(folder: Path) -> list[RunLine]:
    """Return the runs of a series in the order of time.

    Raises:
        RunError: A line is broken.
    """
    runs = read_lines(folder / SERIES, RunLine)
    return sorted(runs, key=lambda run: (run.time, run.number))


def write_series(folder: Path, runs: Sequence[RunLine]) -> None:
    """Write the runs of a series at once, in the order in which they were added."""
    ordered = sorted(runs, key=lambda run: run.number)
    rows = (msgspec.to_builtins(run) for run in ordered)
    files.write_jsonl(folder / SERIES, rows)


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of ``events.jsonl``.

    Raises:
        RunError: A line is broken.
    """
    return read_lines(folder / EVENTS, dict[str, Any])


def write_events(folder: Path, events: Iterable[Mapping[str, Any]]) -> None:
    """Write ``events.jsonl`` at once."""
    files.write_jsonl(folder / EVENTS, events)


def check_anchor(folder: Path, anchor: AnchorSet) -> Path:
    """Return the file of an anchor.

    Raises:
        RunError: The file or a picture of it is gone or was changed.
    """
    path = folder / anchor.file
    digests = {path: anchor.digest} | {
        folder / name: digest for name, digest in anchor.pictures.items()
    }
    for place, digest in digests.items():
        if fingerprint(place) != digest:
            raise RunError(
                f"{place} is gone or was changed, and an anchor must not: restore it, or begin a"
                f" new anchor with `beholder watch anchor {folder} --replace DATA`"
            )
    return path

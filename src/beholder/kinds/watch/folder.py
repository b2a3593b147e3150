"""The folder of a watched series: its settings, its anchor texts, and a line for each run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from beholder.base import files
from beholder.errors import ConfigError, RunError
from beholder.records import Item, ItemScore
from beholder.stats.drift import MARGIN

SETTINGS, ANCHOR, SERIES, EVENTS, RUNS = (
    "watch.json",
    "anchor.jsonl",
    "series.jsonl",
    "events.jsonl",
    "runs",
)
"""Files of a series, and the folder of its runs."""

OTHER = "other"
"""Stratum of the values that have few pictures when the series begins."""
NEW = "new"
"""Stratum of values that did not exist then; it is shown and never part of the mean."""
FEWEST_OF_STRATUM = 5
FORMAT = 1


T = TypeVar("T")


class Acknowledgement(msgspec.Struct, frozen=True):
    """An acknowledged alarm: a new test begins after it.

    Attributes:
        after: Last run before the new beginning.
        why: The person's reason.
    """

    after: int
    why: str


class JudgeBridge(msgspec.Struct, frozen=True):
    """The line that leads from an old judge's scores to a new one's.

    Attributes:
        after: Last run of the old judge.
        judge: The new judge.
        intercept: Score of the new judge where the old one gives 0.
        slope: Its slope.
        error: Standard error of the series' level on the new scale.
    """

    after: int
    judge: str
    intercept: float
    slope: float
    error: float


class WatchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``watch.json``.

    Attributes:
        format: Version of the file's format.
        metric: The metric; its headline value is watched.
        value: Name of that value.
        higher_is_better: Direction of the value.
        judge: Judge of the metric; empty for a metric that names its own or asks none.
        signature: Signature of the metric; that of a later run must be the same.
        by: Group column of strata; empty for none.
        mix: Weight of each stratum.
        quiet: Mean number of looks until a false alarm, such as 260 weeks.
        margin: Changes below it do not count.
        anchor_digest: SHA-256 of the anchor file; empty without an anchor.
        anchor: Score of each anchor text by id when the series began.
        noise: Variance of the anchor's mean that comes from repeating the judge.
        baselines: Acknowledged alarms.
        bridges: Changes of the judge.
    """

    format: int = FORMAT
    metric: str
    value: str = ""
    higher_is_better: bool = True
    judge: str = ""
    signature: str = ""
    by: str = ""
    mix: Mapping[str, float] = {}
    quiet: int = 260
    margin: float = MARGIN
    anchor_digest: str = ""
    anchor: Mapping[str, float] = {}
    noise: float = 0.0
    baselines: tuple[Acknowledgement, ...] = ()
    bridges: tuple[JudgeBridge, ...] = ()


class StratumLine(msgspec.Struct, frozen=True):
    """Pictures of a stratum in a run.

    Attributes:
        n: PictureScores pictures.
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
        digest: SHA-256 of the data file.
        raw: Mean over all scored pictures.
        n: PictureScores pictures.
        n_failed: Texts without a score.
        strata: The pictures by stratum; a single one without a column.
        anchor: Score of each anchor text by id, judged again for this run.
        judge_model: Models that answered, as their servers name them.
    """

    number: int
    time: str
    data: str
    digest: str
    raw: float
    n: int
    n_failed: int
    strata: Mapping[str, StratumLine]
    anchor: Mapping[str, float] = {}
    judge_model: str = ""


@dataclass(frozen=True)
class PictureScores:
    """The scores of a file of texts.

    Attributes:
        by_picture: Mean score of each picture's texts.
        stratum_of: Value of the column of strata of each picture.
        by_id: Score of each text by id.
        n_failed: Texts without a score.
    """

    by_picture: Mapping[object, float]
    stratum_of: Mapping[object, str]
    by_id: Mapping[str, float]
    n_failed: int


def collect(
    outcomes: Iterable[tuple[Item, object]], value: str, by: str
) -> PictureScores:
    """Return the scores of a run by picture and by text.

    Raises:
        ConfigError: A text does not have the column of strata.
    """
    scores: dict[object, list[float]] = defaultdict(list)
    stratum_of: dict[object, str] = {}
    by_id: dict[str, float] = {}
    n_failed = 0
    for item, outcome in outcomes:
        if by and by not in item.group:
            raise ConfigError(
                f"{item.id}: there is no column group.{by}; columns:"
                f" {sorted(item.group)}. Name another with --by"
            )
        if not isinstance(outcome, ItemScore) or value not in outcome.values:
            n_failed += 1
            continue
        by_id[item.id] = outcome.values[value]
        scores[item.source].append(outcome.values[value])
        stratum_of[item.source] = item.group[by] if by else ""
    means = {source: float(np.mean(each)) for source, each in scores.items()}
    return PictureScores(means, stratum_of, by_id, n_failed)


def measure_mix(strata: Iterable[str]) -> dict[str, float]:
    """Return the weight of each stratum; those with few pictures are together in ``other``."""
    counts = Counter(strata)
    merged: Counter[str] = Counter()
    for name, n in counts.items():
        merged[name if n >= FEWEST_OF_STRATUM else OTHER] += n
    total = sum(merged.values())
    return {name: merged[name] / total for name in sorted(merged)}


def describe_strata(
    scored: PictureScores, mix: Mapping[str, float]
) -> dict[str, StratumLine]:
    """Return number, mean and deviation of each stratum's pictures.

    A value that is not in the mix belongs to ``other`` if there is one, else it is ``new``.
    """
    spare = OTHER if OTHER in mix else NEW
    values: dict[str, list[float]] = defaultdict(list)
    for source, score in scored.by_picture.items():
        name = scored.stratum_of[source]
        values[name if name in mix else spare].append(score)
    return {
        name: StratumLine(
            len(scores),
            float(np.mean(scores)),
            float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0,
        )
        for name, scores in sorted(values.items())
    }


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        RunError: It cannot be read.
    """
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error


def read_settings(folder: Path) -> WatchSettings:
    """Return the settings of a series.

    Raises:
        RunError: The folder contains none, or a broken one.
    """
    path = folder / SETTINGS
    if not path.is_file():
        raise RunError(
            f"{folder} has no {SETTINGS}: begin a series with `beholder watch init {folder}`"
        )
    return _decode(path, path.read_bytes(), WatchSettings)


def write_settings(folder: Path, settings: WatchSettings) -> None:
    """Write the settings of a series at once."""
    files.make_folder(folder)
    text = msgspec.json.format(msgspec.json.encode(settings), indent=2)
    files.write_text(folder / SETTINGS, text.decode() + "\n")


def read_series(folder: Path) -> list[RunLine]:
    """Return the runs of a series in the order of time.

    Raises:
        RunError: A line is broken.
    """
    path = folder / SERIES
    if not path.is_file():
        return []
    lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]
    runs = [_decode(path, line, RunLine) for line in lines]
    return sorted(runs, key=lambda run: (run.time, run.number))


def write_series(folder: Path, runs: Sequence[RunLine]) -> None:
    """Write the runs of a series at once, in the order in which they were added."""
    ordered = sorted(runs, key=lambda run: run.number)
    files.write_jsonl(
        folder / SERIES, (msgspec.to_builtins(run) for run in ordered)
    )


def _decode(path: Path, data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise RunError(
            f"{path} is broken: {error}; restore it from a copy"
        ) from error


def check_anchor(folder: Path, settings: WatchSettings) -> Path | None:
    """Return the anchor's file; None without an anchor.

    Raises:
        RunError: It is gone or was changed.
    """
    if not settings.anchor_digest:
        return None
    path = folder / ANCHOR
    if not path.is_file() or file_digest(path) != settings.anchor_digest:
        raise RunError(
            f"{path} is gone or was changed, and a frozen anchor must not: restore it, or begin"
            " a new series"
        )
    return path

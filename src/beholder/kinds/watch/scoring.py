"""The scores of a series: texts of a day by the usual run, anchors judged again each time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import beholder.run.answers as run_answers
from beholder.api import Run
from beholder.base import files
from beholder.data import to_row
from beholder.data.read import good_rows, read_items
from beholder.errors import ConfigError, RunError
from beholder.kinds.scores.engine import ScoreConfig
from beholder.kinds.watch.folder import (
    NEW,
    OTHER_STRATUM,
    AnchorSet,
    StratumLine,
    WatchSettings,
    digest_data,
)
from beholder.metrics import Metric, metric
from beholder.options import (
    DataOptions,
    JudgeOptions,
    WorkOptions,
    default_tools,
)
from beholder.records import Item, ItemScore
from beholder.run import SCORES, kind
from beholder.run.inputs import fingerprint, rebase_path, root_of
from beholder.run.plan import RunPlan
from beholder.run.session import Progress, Quiet

FEWEST_OF_STRATUM = 5
FEWEST_ANCHORS = 2
MOST_FAILED = 0.1
"""Share of anchor texts without a score above which a run is refused; fewer are left out."""


@dataclass(frozen=True)
class WatchMeans:
    """What scoring may use.

    Attributes:
        rows: Selection of the rows of a data file.
        judging: Settings of questions to judges.
        work: Concurrency, cache and budget; the budget is that of all parts of a command.
        progress: Receives the progress of the runs.
    """

    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    progress: Progress = field(default_factory=Quiet)


@dataclass(frozen=True)
class TextScores:
    """The scores of a file of texts.

    Attributes:
        by_picture: Mean score of each picture's texts.
        stratum_by_picture: Value of the column of strata of each picture.
        by_id: Score of each text by id.
        n_failed: Texts without a score.
        n_bad_rows: Rows that were left out.
        notes: Sentences on the rows that a reader of the means must know.
        judges: Models that judged, with their configuration.
        signature: Signature of the metric.
        value: Name of the watched value.
        higher_is_better: Its direction.
    """

    by_picture: Mapping[object, float]
    stratum_by_picture: Mapping[object, str]
    by_id: Mapping[str, float]
    n_failed: int
    n_bad_rows: int
    notes: tuple[str, ...]
    judges: tuple[str, ...]
    signature: str
    value: str
    higher_is_better: bool

    @property
    def masked_signature(self) -> str:
        """The signature without the judge's model: the anchor decides what its change means."""
        signature = self.signature
        for judge in self.judges:
            model = judge.rpartition(" (")[0] or judge
            signature = signature.replace(f":{model}(", ":*(")
        return signature


def read_texts(
    data: Path, settings: WatchSettings, means: WatchMeans
) -> list[Item]:
    """Return the good rows of a file, each with a stratum.

    Raises:
        ConfigError: A row has no value of the column of strata.
        DataError: The data cannot be read.
    """
    rows = read_items(data, means.rows)
    items = list(good_rows(rows, means.rows, [], name=str(data)))
    for item in items:
        if settings.by and settings.by not in item.group:
            raise ConfigError(
                f"{data}: {item.id} has no column group.{settings.by}; columns:"
                f" {', '.join(sorted(item.group)) or 'none'}. Name another with --by"
            )
    return items


def freeze_anchor(
    data: Path, file: Path, settings: WatchSettings, means: WatchMeans
) -> AnchorSet:
    """Write the anchor's rows with paths of pictures that hold in the folder of the series.

    Raises:
        ConfigError: There are fewer than two texts, a text has no stratum, or no such label.
        DataError: The data cannot be read.
    """
    items = read_texts(data, settings, means)
    if len(items) < FEWEST_ANCHORS:
        raise ConfigError(
            f"{data}: an anchor of {len(items)} text; expected 60 to 200 texts"
        )
    root = means.rows.media_root or root_of(str(data))
    moved = [
        replace(
            item,
            images=tuple(
                rebase_path(i, root, file.parent) for i in item.images
            ),
            video=item.video and rebase_path(item.video, root, file.parent),
        )
        for item in items
    ]
    labels = _read_labels(data, items, settings.label)
    files.write_jsonl(file, map(to_row, moved))
    pictures = {
        name for item in moved for name in (*item.images, item.video) if name
    }
    digests = {
        name: None if "://" in name else fingerprint(file.parent / name)
        for name in pictures
    }
    return AnchorSet(
        file=file.name,
        source=digest_data(data),
        digest=fingerprint(file),
        # Pictures that cannot be read matter only to metrics that see, which fail on them.
        pictures={name: digest for name, digest in digests.items() if digest},
        n_unchecked=sum(not digest for digest in digests.values()),
        labels=labels,
    )


def _read_labels(
    data: Path, items: Sequence[Item], label: str
) -> dict[str, float]:
    names = sorted({name for item in items for name in item.judgments})
    if label and label not in names:
        raise ConfigError(
            f"--label {label}: {data} has no such judgment; judgments: {', '.join(names) or 'none'}"
        )
    if not label and len(names) != 1:
        return {}
    values = {item.id: item.judgments.get(label or names[0]) for item in items}
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float)
    }


def make_metric(settings: WatchSettings) -> Metric[Any]:
    """Return the metric of a series with its judge.

    Raises:
        ConfigError: There is no such metric, or a parameter of it is wrong.
    """
    return metric(
        settings.metric, **default_tools(None, settings.judge or None)
    )


def _configure(
    data: Path, settings: WatchSettings, out: Path, means: WatchMeans
) -> ScoreConfig:
    return ScoreConfig(
        str(data),
        (make_metric(settings),),
        out,
        rows=means.rows,
        judging=means.judging,
        work=means.work,
    )


def score_texts(
    data: Path, settings: WatchSettings, out: Path, means: WatchMeans
) -> TextScores:
    """Score a file, or resume.

    Raises:
        ConfigError: An option is wrong.
        DataError: The data cannot be read.
        RunError: The folder is busy, or the signature is not that of the series.
    """
    config = _configure(data, settings, out, means)
    kind.run(SCORES, config, means.progress)
    run = Run(out)
    log = run.manifest
    asker = log["metrics"][0]
    value = asker["values"][0]
    scores: dict[object, list[float]] = defaultdict(list)
    stratum_by_picture: dict[object, str] = {}
    by_id: dict[str, float] = {}
    n_failed = 0
    for item, outcome in run.outcomes(asker["name"]):
        if not (
            isinstance(outcome, ItemScore) and value["name"] in outcome.values
        ):
            n_failed += 1
            continue
        by_id[item.id] = outcome.values[value["name"]]
        scores[item.source].append(by_id[item.id])
        stratum_by_picture[item.source] = item.group.get(settings.by, "")
    text_scores = TextScores(
        {source: float(np.mean(each)) for source, each in scores.items()},
        stratum_by_picture,
        by_id,
        n_failed,
        log["data"]["n_bad_rows"],
        run.notes,
        tuple(run_answers.answering_models(out)),
        asker["signature"],
        value["name"],
        value["higher_is_better"] is not False,
    )
    masked = text_scores.masked_signature
    if settings.signature and masked != settings.signature:
        raise RunError(
            f"{data}: the signature of {settings.metric} is {masked}, the series has"
            f" {settings.signature}. `beholder watch bridge` leads the series to another judge,"
            " prompt or version; else repeat the first command's options, or begin a new series"
        )
    return text_scores


def score_anchor(
    folder: Path,
    anchor: AnchorSet,
    settings: WatchSettings,
    out: Path,
    means: WatchMeans,
) -> TextScores:
    """Judge the anchor without the cache, or resume.

    Raises:
        RunError: Many texts have no score, an answer came from a cache, or as ``score_texts``.
    """
    fresh = replace(
        means, rows=DataOptions(), work=replace(means.work, cache=None)
    )
    text_scores = score_texts(folder / anchor.file, settings, out, fresh)
    if run_answers.were_recalled(out):
        raise RunError(
            f"{out}: answers came from a cache, and so say nothing of the judge today; delete the"
            " folder, and run the command again"
        )
    n_failed, n = text_scores.n_failed, len(text_scores.by_id)
    if n_failed > MOST_FAILED * (n + n_failed) or n < FEWEST_ANCHORS:
        raise RunError(
            f"{out}: {n_failed} of {n + n_failed} anchor texts have no score; see why with"
            " `beholder view`, and delete the folder to ask again"
        )
    return text_scores


def with_budget(
    means: WatchMeans, out: Path, parts: Iterable[Path]
) -> WatchMeans:
    """Return the means of a part: its budget is what the others left."""
    if means.work.max_cost is None:
        return means
    spent_elsewhere = math.fsum(
        run_answers.spent(part) for part in parts if part != out
    )
    work = replace(
        means.work, max_cost=max(0.0, means.work.max_cost - spent_elsewhere)
    )
    return replace(means, work=work)


def plan_parts(
    parts: Iterable[tuple[Path, Path]],
    settings: WatchSettings,
    means: WatchMeans,
) -> Iterator[tuple[Path, RunPlan]]:
    """Yield a plan for each data file and run folder; nothing is asked or written."""
    for data, out in parts:
        config = _configure(data, settings, out, means)
        yield out, kind.plan(SCORES, config)


def measure_mix(
    strata: Iterable[str], by: str
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the weight of each stratum, and the values with few pictures, which are in ``other``.

    Raises:
        ConfigError: A value has the name of the stratum of later values.
    """
    counts = Counter(strata)
    if by and NEW in counts:
        raise ConfigError(
            f"group.{by} has the value {NEW!r}, the name of the stratum of later values; rename it"
        )
    merged = sorted(
        name for name, n in counts.items() if n < FEWEST_OF_STRATUM and by
    )
    weights: Counter[str] = Counter()
    for name, n in counts.items():
        weights[OTHER_STRATUM if name in merged else name] += n
    total = sum(weights.values())
    mix = {name: weights[name] / total for name in sorted(weights)}
    return mix, tuple(merged)


def describe_strata(
    scored: TextScores, settings: WatchSettings
) -> dict[str, StratumLine]:
    """Return number, mean and deviation of each stratum's pictures."""
    values: dict[str, list[float]] = defaultdict(list)
    for source, score in scored.by_picture.items():
        name = scored.stratum_by_picture[source]
        if name in settings.merged:
            name = OTHER_STRATUM
        values[name if name in settings.mix else NEW].append(score)
    return {
        name: StratumLine(
            len(scores),
            float(np.mean(scores)),
            float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0,
        )
        for name, scores in sorted(values.items())
    }

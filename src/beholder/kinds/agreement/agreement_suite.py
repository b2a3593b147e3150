"""Many metrics compared with many sets of human judgments: the table of a metric's paper.

Each set is a separate run below one folder, so that an interrupted suite resumes. Each set has its
own measures (``protocols``); only metrics under one measure are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from beholder.data.marks import MARKED
from beholder.errors import ConfigError
from beholder.kinds.agreement.agree import (
    MetricValue,
    Row,
    agree,
    planned,
    records,
    scoring,
    with_length,
)
from beholder.kinds.agreement.coarse import measures_of_set
from beholder.kinds.agreement.granular import (
    MarkedSide,
    MarkedText,
    marked_sides,
)
from beholder.kinds.agreement.load import SETS, JudgedSet, load
from beholder.kinds.agreement.measure import AgreementFound, compare
from beholder.kinds.agreement.protocols import Measure
from beholder.kinds.agreement.results import SuiteMeasureResult, SuiteResult
from beholder.kinds.scores.engine import ScoreConfig
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.run.plan import RunPlan
from beholder.run.session import Progress
from beholder.stats.alerts import alert_auc

WITHOUT_A_KEY = (
    "accord",
    "posh",
    "dcscore(verify='reference')",
    "vcs",
    "vcs_short",
    "spice",
    "softspice",
    "capture",
    "meteor",
    "cider_d",
    "rouge",
    "bleu",
    "chrf",
    "ter",
    "token_f1",
    "cosine",
)
"""The metrics of a suite by default: all that need neither a key nor a download."""

_DATA = (".jsonl", ".jsonl.gz", ".jsonl.xz", ".csv", ".tsv", ".parquet")
_ALPHA = 0.05


@dataclass(frozen=True)
class AgreementSuiteConfig:
    """Sets and metrics of a suite, and where it stores the scores.

    Attributes:
        folder: Holds the sets: data files with judgments, and folders of published files that are
            called as the set is.
        metrics: The metrics; the length of the text comes last, named or not.
        out: Folder of the runs, one a set.
        rows: Which rows of each set are taken.
        judging: How judges are asked.
        work: How much at once, what is kept, what each set's run may spend.
        kind: The correlation with labels of sets that have no protocol of their own.
        control_length: Compute partial correlations that remove the effect of length.
        n_resamples: Bootstrap resamples over sources; 0 for no intervals and no clusters.

    Raises:
        ConfigError: With so few resamples no difference of metrics can be significant.
    """

    folder: Path
    metrics: tuple[MetricValue, ...]
    out: Path
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    kind: str = "spearman"
    control_length: bool = False
    n_resamples: int = 1000

    def __post_init__(self) -> None:
        # The smallest p of n resamples is 2 / (n + 1); Holm takes it times the tests.
        tests = len(with_length(self.metrics)) - 1
        least = math.floor(2 * tests / _ALPHA)
        if 0 < self.n_resamples < least:
            raise ConfigError(
                f"resamples={self.n_resamples}: too few to separate {tests + 1} metrics; take"
                f" {least} or more, or 0 for no intervals"
            )

    def run_of(self, judged: JudgedSet) -> ScoreConfig:
        """The run that keeps the scores of one set; its pictures lie beside its files."""
        own = self.folder / judged.name
        pictures = self.rows.media_root or (
            own if own.is_dir() else self.folder
        )
        rows = replace(self.rows, limit=None, media_root=pictures)
        return ScoreConfig(
            judged.name,
            (),
            self.out / judged.name,
            rows,
            self.judging,
            self.work,
        )


def load_sets(folder: Path, rows: DataOptions) -> list[JudgedSet]:
    """All sets of a folder, by name.

    A data file is a set; so is a folder that is called as a known set, with its published files.
    Whatever else lies there (pictures, notes) is no set.

    Raises:
        ConfigError: The folder is none or holds no set, or two have one name.
        DataError: A set cannot be read, or a data file holds no judgments.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"--suite {folder}: expected a folder that holds sets"
        )
    found = [load(source, data, rows) for source, data in _sources(folder)]
    if not found:
        raise ConfigError(
            f"--suite {folder}: holds no set; put data files with judgments there, or folders"
            " with published files, each called as its set is, such as flickr8k_expert"
        )
    names = [judged.name for judged in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"--suite {folder}: two sets are called {name}; rename one"
            )
    return found


def _sources(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Name or file, and where its data are, as ``load`` takes them."""
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0]
        if path.is_dir():
            if name in SETS:
                yield name, str(path)
        elif path.name.endswith(_DATA):
            yield (name, str(path)) if name in SETS else (str(path), None)


def measures_of(judged: JudgedSet, kind: str) -> tuple[Measure, ...]:
    """The measures of a set's own protocol, or one for each of its labels; none of marks."""
    return () if judged.name in MARKED else judged.measures((), kind)


def plan_set(judged: JudgedSet, config: AgreementSuiteConfig) -> RunPlan:
    """What one set's run would score and ask; nothing is written."""
    run = scoring(config.run_of(judged), with_length(config.metrics))
    return planned(run, judged, measures_of(judged, config.kind))


def held_against(
    judged: JudgedSet, config: AgreementSuiteConfig, progress: Progress
) -> tuple[list[SuiteMeasureResult], dict[str, str]]:
    """All metrics on one set: what is missing is scored first.

    Returns:
        What was found under each measure, and how each metric's scores were made.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        RunError: The set's run directory is busy or holds other data.
    """
    run = config.run_of(judged)
    if judged.name in MARKED:
        return _of_marks(
            judged, config, scoring(run, with_length(config.metrics)), progress
        )
    found = agree(
        judged,
        measures_of(judged, config.kind),
        config.metrics,
        run,
        progress,
        control_length=config.control_length,
        n_resamples=config.n_resamples,
    )
    return list(measures_of_set(found.stored)), dict(found.signatures)


def _found(
    judged: JudgedSet,
    measure: str,
    rows: Sequence[Row],
    clusters: Sequence[int | None],
) -> SuiteMeasureResult:
    metrics, n = records(rows, clusters), len(judged.items)
    return SuiteMeasureResult(
        name=judged.name, measure=measure, n_items=n, metrics=metrics
    )


def _of_marks(
    judged: JudgedSet,
    config: AgreementSuiteConfig,
    run: ScoreConfig,
    progress: Progress,
) -> tuple[list[SuiteMeasureResult], dict[str, str]]:
    """A set of marks: how well units of the metrics find them, whatever the threshold."""
    sides, signatures = marked_sides(judged, run, progress)
    everyone = with_length(config.metrics)
    measures = []
    for side in sides:
        own, shared = _areas(side, config.n_resamples)
        names = [one.metric.name for one in everyone]
        _, clusters = compare(
            [one.label for one in everyone],
            [shared[name] for name in names],
            config.n_resamples,
        )
        rows = [Row(name, "units", own[name]) for name in names]
        measures.append(_found(judged, f"AUC, {side.label}", rows, clusters))
    return measures, signatures


def _areas(
    side: MarkedSide, n_resamples: int
) -> tuple[dict[str, AgreementFound], dict[str, AgreementFound]]:
    """Area of each metric over its own texts, and over those that all with any units scored."""
    speaking = [
        texts
        for name, texts in side.texts.items()
        if side.reason(name) is None
    ]
    scored_by_all = [all(texts) for texts in zip(*speaking, strict=True)]
    own: dict[str, AgreementFound] = {}
    shared: dict[str, AgreementFound] = {}
    for name, texts in side.texts.items():
        if reason := side.reason(name):
            own[name] = shared[name] = AgreementFound(
                None, None, 0, len(texts), 0, reason=reason
            )
            continue
        scored = [text for text in texts if text]
        common = [
            text
            for text, kept in zip(texts, scored_by_all, strict=True)
            if text and kept
        ]
        own[name] = _area(scored, len(texts), n_resamples)
        same = len(common) == len(scored)
        shared[name] = (
            own[name] if same else _area(common, len(texts), n_resamples)
        )
    return own, shared


def _area(
    texts: Sequence[MarkedText], n_texts: int, n_resamples: int
) -> AgreementFound:
    sources = [text.source for text in texts]
    scores, labels = (
        [text.scores for text in texts],
        [text.labels for text in texts],
    )
    found = alert_auc(
        scores, labels, clusters=sources, n_resamples=n_resamples
    )
    return AgreementFound(
        found.auc,
        found.interval,
        len(texts),
        n_texts - len(texts),
        len(set(sources)),
        found.replicates,
        found.reason,
    )


def together(
    config: AgreementSuiteConfig,
    found: Sequence[tuple[list[SuiteMeasureResult], dict[str, str]]],
) -> SuiteResult:
    """One report of what was found on each set."""
    everyone = with_length(config.metrics)
    signatures: dict[str, dict[str, str]] = {
        one.metric.name: {} for one in everyone
    }
    for found_measures, made in found:
        for metric, signature in made.items():
            signatures[metric][found_measures[0].name] = signature
    labels = tuple(one.label for one in everyone)
    measures = tuple(measure for of_set, _ in found for measure in of_set)
    return SuiteResult(config.n_resamples, labels, signatures, measures)

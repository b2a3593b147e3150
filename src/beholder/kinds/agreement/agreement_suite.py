"""Many metrics compared with many sets of human judgments: the table of a metric's paper.

Each set is a separate run below one folder, so that an interrupted suite resumes. Each set has its
own measures (``protocols``); only metrics under one measure are compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

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
    sets = [load(*source, rows) for source in _sources(folder)]
    if not sets:
        raise ConfigError(
            f"--suite {folder}: holds no set; put data files with judgments there, or folders"
            " with published files, each called as its set is, such as flickr8k_expert"
        )
    name, n = Counter(judged.name for judged in sets).most_common(1)[0]
    if n > 1:
        raise ConfigError(
            f"--suite {folder}: two sets are called {name}; rename one"
        )
    return sets


def _sources(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Name or file, and where its data are, as ``load`` takes them."""
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0]
        is_data = path.is_dir() or path.name.endswith(_DATA)
        if name in SETS and is_data:
            yield name, str(path)
        elif is_data and not path.is_dir():
            yield str(path), None


def measures_of(judged: JudgedSet, kind: str) -> tuple[Measure, ...]:
    """The measures of a set's own protocol, or one for each of its labels; none of marks."""
    return () if judged.name in MARKED else judged.measures((), kind)


def plan_set(judged: JudgedSet, config: AgreementSuiteConfig) -> RunPlan:
    """What one set's run would score and ask; nothing is written."""
    run = scoring(config.run_of(judged), with_length(config.metrics))
    return planned(run, judged, measures_of(judged, config.kind))


SetResult: TypeAlias = tuple[Sequence[SuiteMeasureResult], Mapping[str, str]]
"""What was computed under each measure of a set, and how each metric's scores were made."""


def held_against(
    judged: JudgedSet, config: AgreementSuiteConfig, progress: Progress
) -> SetResult:
    """Compare all metrics with one set; what is missing is scored first.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        RunError: The set's run directory is busy or holds other data.
    """
    run = config.run_of(judged)
    if judged.name in MARKED:
        return _compare_marks(judged, config, run, progress)
    report = agree(
        judged,
        measures_of(judged, config.kind),
        config.metrics,
        run,
        progress,
        control_length=config.control_length,
        n_resamples=config.n_resamples,
    )
    return measures_of_set(report.result), report.result.signatures


def _compare_marks(
    judged: JudgedSet,
    config: AgreementSuiteConfig,
    run: ScoreConfig,
    progress: Progress,
) -> SetResult:
    """A set of marks: how well units of the metrics find them, whatever the threshold."""
    everyone = with_length(config.metrics)
    sides, signatures = marked_sides(judged, scoring(run, everyone), progress)
    measures = []
    for side in sides:
        names = [one.metric.name for one in everyone]
        speaking = [side.texts[n] for n in names if side.reason(n) is None]
        # Metrics are compared on the texts that all with any units scored.
        is_common = [all(texts) for texts in zip(*speaking, strict=True)]
        rows, shared = [], []
        for name in names:
            texts = side.texts[name]
            common = [
                text if keep else None
                for text, keep in zip(texts, is_common, strict=False)
            ]
            area = partial(_area, side.reason(name), config.n_resamples)
            rows.append(Row(name, "units", area(texts)))
            shared.append(rows[-1].found if common == texts else area(common))
        _, clusters = compare(
            [one.label for one in everyone], shared, config.n_resamples
        )
        measures.append(
            SuiteMeasureResult(
                name=judged.name,
                measure=f"AUC, {side.label}",
                n_items=len(judged.items),
                metrics=records(rows, clusters),
            )
        )
    return measures, signatures


def _area(
    reason: str | None, n_resamples: int, texts: Sequence[MarkedText | None]
) -> AgreementFound:
    scored = [text for text in texts if text]
    if reason:
        return AgreementFound(None, None, 0, len(texts), 0, reason=reason)
    sources = [text.source for text in scored]
    area = alert_auc(
        [text.scores for text in scored],
        [text.labels for text in scored],
        clusters=sources,
        n_resamples=n_resamples,
    )
    return AgreementFound(
        area.auc,
        area.interval,
        len(scored),
        len(texts) - len(scored),
        len(set(sources)),
        area.replicates,
        area.reason,
    )


def together(
    config: AgreementSuiteConfig, sets: Sequence[SetResult]
) -> SuiteResult:
    """One report of what was computed on each set."""
    everyone = with_length(config.metrics)
    return SuiteResult(
        config.n_resamples,
        tuple(one.label for one in everyone),
        {
            one.metric.name: {
                measures[0].name: signatures[one.metric.name]
                for measures, signatures in sets
            }
            for one in everyone
        },
        tuple(measure for measures, _ in sets for measure in measures),
    )

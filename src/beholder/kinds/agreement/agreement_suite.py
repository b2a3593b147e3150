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
    plan_agreement,
    scoring_config,
    to_records,
    with_length,
)
from beholder.kinds.agreement.coarse import measures_of_set
from beholder.kinds.agreement.granular import (
    MarkedText,
    marked_sides,
)
from beholder.kinds.agreement.load import SETS, JudgedSet, load
from beholder.kinds.agreement.measure import (
    AgreementFigure,
    compare,
    scored_items,
)
from beholder.kinds.agreement.protocols import Measure
from beholder.kinds.agreement.results import SuiteMeasureResult, SuiteResult
from beholder.kinds.scores.engine import ScoreConfig
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.run import SCORES, kind
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
        folder: Folder of the sets: data files with judgments, and folders of published files, each
            with the name of its set.
        metrics: The metrics; the length of the text comes last, named or not.
        out: Folder of the runs, one a set.
        rows: Selection of each set's rows.
        judging: Settings of questions to judges.
        work: Concurrency and storage, and the budget of each set's run.
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
        # The smallest p of n resamples is 2 / (n + 1); Holm multiplies it by the
        # number of tests.
        tests = len(with_length(self.metrics)) - 1
        least = math.floor(2 * tests / _ALPHA)
        if 0 < self.n_resamples < least:
            raise ConfigError(
                f"resamples={self.n_resamples}: too few to separate {tests + 1} metrics; take"
                f" {least} or more, or 0 for no intervals"
            )

    def run_of(self, judged: JudgedSet) -> ScoreConfig:
        """Return the run that stores the scores of one set; its pictures are beside its files."""
        set_folder = self.folder / judged.name
        pictures = self.rows.media_root or (
            set_folder if set_folder.is_dir() else self.folder
        )
        # The limit was applied when the set was loaded; a run must not apply
        # it again.
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
    """Load all sets of a folder, by name.

    A data file is a set; so is a folder with the name of a known set and its published files.
    Other files (pictures, notes) are ignored.

    Raises:
        ConfigError: The folder is missing or contains no set, or two sets have one name.
        DataError: A set cannot be read, or a data file has no judgments.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"--suite {folder}: expected a folder that contains sets"
        )
    sets = [load(*source, rows) for source in _sources(folder)]
    if not sets:
        raise ConfigError(
            f"--suite {folder}: contains no set; put data files with judgments there, or folders"
            " with published files, each with the name of its set, such as flickr8k_expert"
        )
    # Two sets of one name would share a run directory.
    name, n = Counter(judged.name for judged in sets).most_common(1)[0]
    if n > 1:
        raise ConfigError(
            f"--suite {folder}: two sets are called {name}; rename one"
        )
    return sets


def _sources(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the name or file of each set, and the place of its data, as ``load`` takes them."""
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0]
        is_data = path.is_dir() or path.name.endswith(_DATA)
        # A known set is loaded by its name, which selects its reader and its
        # protocol.
        if name in SETS and is_data:
            yield name, str(path)
        elif is_data and not path.is_dir():
            yield str(path), None


def measures_of(judged: JudgedSet, kind: str) -> tuple[Measure, ...]:
    """Return the measures of a set's own protocol, or one per label; none for marked spans."""
    return () if judged.name in MARKED else judged.measures((), kind)


def plan_set(judged: JudgedSet, config: AgreementSuiteConfig) -> RunPlan:
    """Return the items and judge calls that one set's run would need; nothing is written."""
    run = scoring_config(config.run_of(judged), with_length(config.metrics))
    return plan_agreement(run, judged, measures_of(judged, config.kind))


def score_set(
    judged: JudgedSet,
    config: AgreementSuiteConfig,
    metrics: Sequence[MetricValue],
    progress: Progress,
) -> None:
    """Score the missing texts of a set with some of the metrics, without comparing anything."""
    run = scoring_config(config.run_of(judged), metrics)
    measures = measures_of(judged, config.kind)
    items = scored_items(judged.items, measures)
    kind.run(SCORES, run, progress, given=items, notes=judged.row_notes)


SetResult: TypeAlias = tuple[Sequence[SuiteMeasureResult], Mapping[str, str]]
"""The results of a set under each of its measures, and the signature of each metric."""


def compare_with_set(
    judged: JudgedSet, config: AgreementSuiteConfig, progress: Progress
) -> SetResult:
    """Score the missing texts of a set, then compare all metrics with its judgments.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        RunError: The set's run directory is busy or contains other data.
    """
    run = config.run_of(judged)
    # Marked spans have no label per text; they are compared with units.
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
    """Measure how well units of the metrics find marked spans: AUC, without a threshold."""
    all_metrics = with_length(config.metrics)
    sides, signatures = marked_sides(
        judged, scoring_config(run, all_metrics), progress
    )
    measures = []
    for side in sides:
        names = [metric_value.metric.name for metric_value in all_metrics]
        scored_texts = [side.texts[n] for n in names if side.reason(n) is None]
        # Metrics are compared on the texts that all with any units scored.
        is_common = [all(texts) for texts in zip(*scored_texts, strict=True)]
        rows, common_agreements = [], []
        for name in names:
            texts = side.texts[name]
            common = [
                text if keep else None
                for text, keep in zip(texts, is_common, strict=False)
            ]
            # The same reason and resamples for the metric's own texts and for
            # the common ones.
            area = partial(_area, side.reason(name), config.n_resamples)
            rows.append(Row(name, "units", area(texts)))
            common_agreements.append(
                rows[-1].found if common == texts else area(common)
            )
        _, clusters = compare(
            [metric_value.label for metric_value in all_metrics],
            common_agreements,
            config.n_resamples,
        )
        measures.append(
            SuiteMeasureResult(
                name=judged.name,
                measure=f"AUC, {side.label}",
                n_items=len(judged.items),
                metrics=to_records(rows, clusters),
            )
        )
    return measures, signatures


def _area(
    reason: str | None, n_resamples: int, texts: Sequence[MarkedText | None]
) -> AgreementFigure:
    scored = [text for text in texts if text]
    if reason:
        return AgreementFigure(None, None, 0, len(texts), 0, reason=reason)
    sources = [text.source for text in scored]
    area = alert_auc(
        [text.scores for text in scored],
        [text.labels for text in scored],
        clusters=sources,
        n_resamples=n_resamples,
    )
    return AgreementFigure(
        area.auc,
        area.interval,
        len(scored),
        len(texts) - len(scored),
        len(set(sources)),
        area.replicates,
        area.reason,
    )


def combine_sets(
    config: AgreementSuiteConfig, sets: Sequence[SetResult]
) -> SuiteResult:
    """Combine the results of all sets into one report."""
    all_metrics = with_length(config.metrics)
    return SuiteResult(
        config.n_resamples,
        tuple(metric_value.label for metric_value in all_metrics),
        {
            metric_value.metric.name: {
                measures[0].name: signatures[metric_value.metric.name]
                for measures, signatures in sets
            }
            for metric_value in all_metrics
        },
        tuple(measure for measures, _ in sets for measure in measures),
    )

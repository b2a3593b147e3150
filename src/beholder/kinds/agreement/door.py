"""``beholder.agree``: how well metrics agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from beholder.judges import Judge
from beholder.kinds.agreement.agree import (
    AgreementReport,
    MetricValue,
    default_out,
    parse_metric_value,
)
from beholder.kinds.agreement.agree import agree as compare_with_people
from beholder.kinds.agreement.load import load
from beholder.kinds.agreement.protocols import GenericKind
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Metric
from beholder.options import Options, check_list, default_tools, group_options
from beholder.run.session import Progress, Quiet


def agree(
    source: str | Path,
    metrics: Sequence[str | Metric[Any]],
    *,
    data: str | Path | None = None,
    judge: str | Judge | None = None,
    embedder: str | None = None,
    labels: Sequence[str] = (),
    kind: GenericKind = "spearman",
    control_length: bool = False,
    resamples: int = 1000,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> AgreementReport:
    """Compare metrics with human judgments by the set's own protocol; scores are stored.

    Args:
        source: A known set, or a data file with judgments.
        metrics: Metrics, or their text forms such as ``"cider"`` or ``"token_f1.recall"``.
        data: Folder or file of a known set; ``hf:`` fetches it from the hub.
        judge: Judge for the metrics that ask one and do not name one.
        embedder: Embedder for the metrics that do not name one.
        labels: Judgments of your own data; with none, the set's protocol or all that fit ``kind``.
        kind: Correlation to compute; ``verdicts`` is for true and false judgments.
        control_length: Compute partial correlations that remove the effect of length.
        resamples: Bootstrap resamples of pictures; 0 gives no intervals.
        out: Run directory of the scores. None takes ``runs/agree-`` and the name of the set.
        progress: Receives the progress of the scoring.
        options: Those of every door; see ``beholder.score``.

    Returns:
        Agreement per measure and metric, with intervals and paired differences.

    Raises:
        ConfigError: No such set, label, metric or option.
        DataError: The data cannot be read.
        RunError: The run directory is busy or contains other data.
    """
    check_list("metrics", metrics)
    check_list("labels", labels)
    # Tools named here are for text forms only; a metric object has its own.
    defaults = default_tools(embedder, judge)
    rows, judging, work = group_options(options)
    judged = load(
        str(source), None if data is None else str(data), rows, chosen=labels
    )
    folder = Path(out or default_out(judged.name))
    config = ScoreConfig(
        # The limit was applied when the set was loaded.
        judged.name,
        (),
        folder,
        replace(rows, limit=None),
        judging,
        work,
    )
    return compare_with_people(
        judged,
        judged.measures(labels, kind),
        [
            parse_metric_value(m, **defaults)
            if isinstance(m, str)
            else MetricValue(m)
            for m in metrics
        ],
        config,
        progress or Quiet(),
        control_length=control_length,
        n_resamples=resamples,
    )

"""Compare the units of a metric with the spans where people marked mistakes and omissions.

The protocol of DOCENT's granular judgments, as its authors' evaluation code has it
(``evaluate_posh_granular.py`` in github.com/amith-ananthram/posh): words without punctuation are
the parts; one is wrong where a marked span touches it; a metric gives it the highest score of its
units there, and a word in no unit never alerts; words scored below a threshold are alerts; macro
F1 over the two classes of all words pooled, at the best threshold. The published code tries ten
thresholds, this one all. As the best one is chosen on the same labels, the figure is an upper
bound: the held-out one beside it is not, and the area under the ROC curve needs no threshold.

DetailVerifyBench is read with its own tokens, and has means over texts beside (its
``calculate_metrics.py`` in github.com/zyx-hhnkh/DetailVerifyBench: 0 if a share is undefined,
an IoU of 1 without marks and alerts). Of DOCCI-Critique the parts are sentences,
and one is as wrong as the worst unit in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from beholder.data.marks import MARKED, SIDES, Label, MarkProtocol
from beholder.errors import ConfigError
from beholder.kinds.agreement.load import JudgedSet
from beholder.kinds.agreement.measure import scored_items
from beholder.kinds.scores.engine import ScoreConfig
from beholder.metrics import Metric
from beholder.records import Interval, Item, ItemScore, Side, Unit
from beholder.run import SCORES, kind
from beholder.run.session import Progress
from beholder.run.store import Store
from beholder.stats.alerts import (
    AlertF1,
    alert_auc,
    alert_f1,
    held_out_alert_f1,
)
from beholder.stats.bootstrap import cluster_bootstrap, mean_interval
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    cluster_codes,
    resampling,
)
from beholder.stats.spans import (
    SpanF1,
    TokenSpan,
    relaxed_f1,
    token_labels,
    token_ranges,
    token_scores,
)

SEED = 12345
"""Seed of resampling, folds and random scores."""
LEVEL = 0.95
RANDOM = "random scores"
_WRONG_VERDICTS = (
    "contradicted",
    "unstated",
    "mistake",
    "omission",
    "unmatched",
)


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval; None where it is not defined."""

    value: float | None
    interval: Interval | None


_NOTHING = Share(None, None)


@dataclass(frozen=True, slots=True)
class GranularFinding:
    """Agreement of one metric's units with the marked spans of one side.

    Attributes:
        metric: Canonical name, or ``random scores``.
        label: ``mistakes`` (marked in the candidate) or ``omissions`` (in the reference).
        n_items: Items scored.
        n_missing: Items without a score, left out.
        reason: Why there is no figure, or none has an interval.
        auc: Area under the ROC curve of all parts; needs no threshold.
        alerts: Macro F1 over parts at the best threshold; None when the metric is refused.
        held_out: The same where each half takes the other half's threshold.
        precision: Share of alerted parts that people marked, at the best threshold.
        recall: Share of marked parts that alert.
        f1: Their harmonic mean.
        iou: Parts that are marked and alert, by those that do either.
        spans: Runs of alerts against marked spans, matched from half of their words on.
        span_iou: Mean over marked spans of the best intersection over union with a run of alerts.
        per_text: Precision, recall, F1 and IoU as means over texts, where they are published so.
    """

    metric: str
    label: Label
    n_items: int
    n_missing: int
    reason: str | None = None
    auc: Share = _NOTHING
    alerts: AlertF1 | None = None
    held_out: AlertF1 | None = None
    precision: Share = _NOTHING
    recall: Share = _NOTHING
    f1: Share = _NOTHING
    iou: Share = _NOTHING
    spans: SpanF1 | None = None
    span_iou: Share = _NOTHING
    per_text: tuple[Share, ...] = ()


@dataclass(frozen=True)
class GranularReport:
    """Findings of several metrics on one set.

    Attributes:
        name: The set.
        part: Parts that are marked or not: ``words`` or ``sentences``.
        n_items: Judged items.
        findings: Mistakes first, each with all metrics and random scores last.
        signatures: Signature of each metric.
        n_resamples: Bootstrap resamples over sources.
    """

    name: str
    part: str
    n_items: int
    findings: tuple[GranularFinding, ...]
    signatures: dict[str, str]
    n_resamples: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One text with its marks, and a metric's scores of its parts.

    Attributes:
        source: Thing that the text describes.
        gold: Marked spans, as ranges of parts.
        labels: (n_parts,) 1 where marked.
        scores: (n_parts,) low means wrong; infinity without a unit.
        n_units: Units of the metric with a place and a score.
    """

    source: tuple[str, ...]
    gold: list[TokenSpan]
    labels: Ints
    scores: Floats
    n_units: int


@dataclass(frozen=True, eq=False)
class MarkedSide:
    """The marked texts of one side, with the scores of each metric.

    Attributes:
        label: ``mistakes`` or ``omissions``.
        texts: Per metric its texts; None for one without a score.
        chance: The texts with random scores.
    """

    label: Label
    texts: dict[str, list[MarkedText | None]]
    chance: list[MarkedText]

    def reason(self, metric: str) -> str | None:
        """Return the reason why a metric cannot be compared on this side; None if it can."""
        texts = [text for text in self.texts[metric] if text is not None]
        if not texts:
            return "no item has a score"
        if any(text.n_units for text in texts):
            return None
        side = dict(SIDES)[self.label]
        return (
            f"gives no units with a place in the {side} and a score or verdict"
        )


def marked_sides(
    judged: JudgedSet, config: ScoreConfig, progress: Progress
) -> tuple[list[MarkedSide], dict[str, str]]:
    """Score missing texts; return the marked sides, and the signature of each metric.

    Args:
        judged: Items whose ``mistakes`` and ``omissions`` are lists of character ranges.
        config: The run that keeps the scores, with its metrics.
        progress: Receives the progress of the scoring.

    Raises:
        ConfigError: No item has marked spans, or no metric was asked for.
        RunError: The run directory is busy or contains other data.
    """
    if not any(
        label in item.judgments for item in judged.items for label, _ in SIDES
    ):
        raise ConfigError(
            "no item has marked spans (judgments mistakes, omissions)"
        )
    protocol = MARKED[judged.name]
    items = scored_items(judged.items, ())
    kind.run(SCORES, config, progress, given=items, notes=judged.row_notes)
    units: dict[str, list[Sequence[Unit] | None]] = {}
    signatures = {}
    with Store.read(config.out) as store:
        for metric in config.metrics:
            scores = [
                store.score(metric.name, place)
                for place in range(len(judged.items))
            ]
            units[metric.name] = [
                score.units if isinstance(score, ItemScore) else None
                for score in scores
            ]
            signatures[metric.name] = " ; ".join(store.signatures(metric.name))
    sides = []
    for label, side in SIDES:
        marked = [
            (at, item)
            for at, item in enumerate(judged.items)
            if label in item.judgments
        ]
        if not marked:
            continue
        texts: dict[str, list[MarkedText | None]] = {}
        for name, units_by_place in units.items():
            texts[name] = []
            for at, item in marked:
                item_units = units_by_place[at]
                # An item without a score keeps its place in the list.
                texts[name].append(
                    None
                    if item_units is None
                    else _text(item, item_units, label, side, protocol)
                )
        # Random scores show what the best threshold reaches by chance on the
        # same marks.
        rng = np.random.default_rng(SEED)
        chance = []
        for _, item in marked:
            text = _text(item, (), label, side, protocol)
            n = len(text.labels)
            chance.append(replace(text, scores=rng.random(n), n_units=n))
        sides.append(MarkedSide(label, texts, chance))
    return sides, signatures


def granular(
    judged: JudgedSet,
    metrics: Sequence[Metric[Any]],
    config: ScoreConfig,
    progress: Progress,
    *,
    n_resamples: int = 1000,
) -> GranularReport:
    """Score what is missing, then compare the units of each metric with the marked spans.

    Args:
        judged: Items whose ``mistakes`` and ``omissions`` are lists of character ranges.
        metrics: The metrics; one that gives no units with places and scores is refused.
        config: Configuration of the scores' run; its metrics are replaced.
        progress: Receives the progress of the scoring.
        n_resamples: Bootstrap resamples over sources.

    Raises:
        ConfigError: No item has marked spans, no metric was asked for, or no resample.
        RunError: The run directory is busy or contains other data.
    """
    # The options are checked before anything is scored.
    resampling(n_resamples, LEVEL)
    run = replace(config, metrics=tuple(metrics))
    sides, signatures = marked_sides(judged, run, progress)
    protocol = MARKED[judged.name]
    findings = []
    for side in sides:
        for name, texts in side.texts.items():
            scored = [text for text in texts if text is not None]
            finding = GranularFinding(
                name,
                side.label,
                len(scored),
                len(texts) - len(scored),
                side.reason(name),
            )
            if not finding.reason:
                finding = _figures(finding, scored, protocol, n_resamples)
            findings.append(finding)
        # Last on each side, so that a reader compares every metric with
        # chance.
        plain = GranularFinding(RANDOM, side.label, len(side.chance), 0)
        findings.append(_figures(plain, side.chance, protocol, n_resamples))
    return GranularReport(
        judged.name,
        protocol.part,
        len(judged.items),
        tuple(findings),
        signatures,
        n_resamples,
    )


def _text(
    item: Item,
    units: Sequence[Unit],
    label: Label,
    side: Side,
    protocol: MarkProtocol,
) -> MarkedText:
    parts = protocol.parts(
        item, item.candidate if side == "candidate" else item.references[0]
    )
    # People mark characters; a part is wrong if a mark touches it.
    gold = token_ranges(
        parts, [(int(a), int(b)) for a, b in item.judgments[label]]
    )
    # With several references a unit can be placed only in the first, which
    # people saw.
    side_units = [
        unit
        for unit in units
        if unit.side == side and unit.reference_index in (None, 0)
    ]
    scored = []
    for unit in side_units:
        score = _score(unit)
        if score is not None:
            scored += [
                (start, end, score)
                for start, end in token_ranges(parts, unit.spans)
            ]
    return MarkedText(
        item.source,
        gold,
        token_labels(len(parts), gold),
        token_scores(len(parts), scored, several=protocol.several),
        len(scored),
    )


def _score(unit: Unit) -> float | None:
    """Return a unit's score, else its verdict as 0 or 1, else None."""
    if unit.score is not None:
        return unit.score
    return (
        None
        if unit.verdict is None
        else float(unit.verdict not in _WRONG_VERDICTS)
    )


def _figures(
    plain: GranularFinding,
    texts: Sequence[MarkedText],
    protocol: MarkProtocol,
    n_resamples: int,
) -> GranularFinding:
    """Return the finding with its figures filled in."""
    scores = [text.scores for text in texts]
    labels = [text.labels for text in texts]
    clusters = [text.source for text in texts]
    resampled = Resampling(n_resamples=n_resamples, level=LEVEL, seed=SEED)
    alerts = alert_f1(scores, labels, clusters=clusters, **resampled)
    # Only a metric without units has no threshold, and it was refused before.
    assert alerts.threshold is not None
    auc = alert_auc(scores, labels, clusters=clusters, **resampled)
    # The halves are made of sources, so one source cannot be halved.
    held_out = None
    if len(set(clusters)) > 1:
        held_out = held_out_alert_f1(
            scores, labels, clusters=clusters, **resampled
        )
    is_alert = [parts < alerts.threshold for parts in scores]
    counts = np.array(
        [
            (alarms.sum(), marks.sum(), (alarms & (marks == 1)).sum())
            for alarms, marks in zip(is_alert, labels, strict=True)
        ],
        dtype=np.float64,
    )
    n_alerts, n_gold, n_hits = counts.T
    # The hits are divided by these for precision, recall, F1 and IoU.
    denominators = (
        n_alerts,
        n_gold,
        (n_alerts + n_gold) / 2,
        n_alerts + n_gold - n_hits,
    )
    # Each figure is resampled over sources from the counts of the texts.
    codes = cluster_codes(clusters, len(clusters))

    def share(hits: Floats, denominator: Floats) -> Share:
        def statistic(rows: Ints) -> float | None:
            n = denominator[rows].sum()
            return float(hits[rows].sum() / n) if n else None

        value = statistic(np.arange(len(hits)))
        if value is None:
            return _NOTHING
        return Share(value, cluster_bootstrap(statistic, codes, **resampled))

    def mean_of_texts(denominator: Floats, empty: float) -> Share:
        shares = np.full(len(denominator), empty)
        np.divide(n_hits, denominator, out=shares, where=denominator > 0)
        mean = mean_interval(shares, clusters=clusters, **resampled)
        return Share(mean.mean, mean.interval)

    precision, recall, f1, iou = (
        share(n_hits, denominator) for denominator in denominators
    )
    finding = replace(
        plain,
        reason=alerts.reason,
        auc=Share(auc.auc, auc.interval),
        alerts=alerts,
        held_out=held_out,
        precision=precision,
        recall=recall,
        f1=f1,
        iou=iou,
    )
    if protocol.runs:
        runs = [_runs(alarms) for alarms in is_alert]
        gold = [text.gold for text in texts]
        finding = replace(
            finding,
            spans=relaxed_f1(runs, gold, clusters=clusters, **resampled),
            span_iou=share(*_covered(runs, gold)),
        )
    if protocol.per_text:
        # As published: a share that is undefined counts 0, an IoU without
        # marks and alerts 1.
        means = map(mean_of_texts, denominators, (0.0, 0.0, 0.0, 1.0))
        finding = replace(finding, per_text=tuple(means))
    return finding


def _covered(
    runs: Sequence[Sequence[TokenSpan]], gold: Sequence[Sequence[TokenSpan]]
) -> tuple[Floats, Floats]:
    """Return, per text, the sum of the marked spans' best IoU with a run, and their number."""

    def iou(a: TokenSpan, b: TokenSpan) -> float:
        n_shared = max(0, min(a[1], b[1]) - max(a[0], b[0]))
        return n_shared / (a[1] - a[0] + b[1] - b[0] - n_shared)

    sums = [
        sum(
            max((iou(span, run) for run in text_runs), default=0.0)
            for span in marked
        )
        for text_runs, marked in zip(runs, gold, strict=True)
    ]
    return np.array(sums, dtype=np.float64), np.array(
        [len(g) for g in gold], dtype=np.float64
    )


def _runs(alerts: np.ndarray[Any, np.dtype[np.bool_]]) -> list[TokenSpan]:
    """Return the runs of consecutive alerts as half-open ranges."""
    # A zero at either end closes runs that touch the ends of the text.
    edges = np.flatnonzero(
        np.diff(np.concatenate(([0], alerts.astype(np.int8), [0])))
    )
    return [
        (int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]

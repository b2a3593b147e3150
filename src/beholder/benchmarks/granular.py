"""Do a metric's findings stand where people marked mistakes and omissions?

The protocol of DOCENT's granular judgments, as its authors' evaluation code has it
(``evaluate_posh_granular.py`` in github.com/amith-ananthram/posh): words without punctuation are
the tokens; one is wrong where a marked span touches it; a metric gives it the highest score of its
units there, and a word in no unit never alerts; words scored below a threshold are alerts; macro
F1 over the two classes of all words pooled, at the best threshold. The published code tries ten
thresholds, this one all. As the best one is chosen on the same labels, the figure is an upper
bound: the held-out one beside it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from beholder.benchmarks.load import JudgedSet
from beholder.benchmarks.measure import scored_items
from beholder.errors import ConfigError
from beholder.metrics import Metric
from beholder.records import Interval, Item, ItemScore, Side, Span, Unit
from beholder.run.scores import ScoreConfig, run_scores
from beholder.run.session import Progress
from beholder.run.store import Store
from beholder.stats.alerts import AlertF1, alert_f1, held_out_alert_f1
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import Floats, Ints, cluster_codes, resampling
from beholder.stats.spans import SpanF1, TokenSpan, relaxed_f1, token_scores
from beholder.text.tokenize import words

Label: TypeAlias = Literal["mistakes", "omissions"]
SIDES: tuple[tuple[Label, Side], ...] = (("mistakes", "candidate"), ("omissions", "reference"))

SEED = 12345
LEVEL = 0.95
RANDOM = "random scores"
_BAD = ("mistake", "omission", "unmatched")


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval; None where it is not defined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class GranularFinding:
    """How well one metric finds what people marked on one side.

    Attributes:
        metric: Canonical name, or ``random scores``.
        label: ``mistakes`` (marked in the candidate) or ``omissions`` (in the reference).
        alerts: Macro F1 over words at the best threshold; None when the metric is refused.
        held_out: The same where each half takes the other half's threshold.
        precision: Share of alerted words that people marked, at the best threshold.
        recall: Share of marked words that alert.
        f1: Their harmonic mean.
        spans: Runs of alerted words against marked spans, matched from half of their words on.
        n_items: Items scored.
        n_missing: Items without a score, left out.
        reason: Why there is no figure.
    """

    metric: str
    label: Label
    alerts: AlertF1 | None
    held_out: AlertF1 | None
    precision: Share
    recall: Share
    f1: Share
    spans: SpanF1 | None
    n_items: int
    n_missing: int
    reason: str | None = None


@dataclass(frozen=True)
class GranularReport:
    """Findings of several metrics on one set.

    Attributes:
        name: The set.
        n_items: JudgedSet items.
        findings: Mistakes first, each with all metrics and random scores last.
        signatures: How each metric's scores were made.
        n_resamples: Bootstrap resamples over sources.
    """

    name: str
    n_items: int
    findings: tuple[GranularFinding, ...]
    signatures: dict[str, str]
    n_resamples: int


@dataclass(frozen=True, slots=True)
class _Document:
    source: tuple[str, ...]
    gold: list[TokenSpan]
    labels: Ints
    scores: Floats
    n_units: int


def granular(
    judged: JudgedSet,
    metrics: Sequence[Metric[Any]],
    config: ScoreConfig,
    progress: Progress,
    *,
    n_resamples: int = 1000,
    seed: int = SEED,
) -> GranularReport:
    """Score what is missing, then hold each metric's units against the marked spans.

    Args:
        judged: Items whose ``mistakes`` and ``omissions`` are lists of character ranges.
        metrics: The metrics; one that gives no units with places and scores is refused.
        config: Where the scores are kept and how they are made; its metrics are replaced.
        progress: Hears how the scoring goes on.
        n_resamples: Bootstrap resamples over sources.
        seed: Seed of resampling, folds and random scores.

    Raises:
        ConfigError: No item has marked spans, no metric was asked for, or no resample.
        RunError: The run directory is busy or holds other data.
    """
    if not any(label in item.judgments for item in judged.items for label, _ in SIDES):
        raise ConfigError("no item has marked spans (judgments mistakes, omissions)")
    resampling(n_resamples, LEVEL)
    run = replace(config, metrics=tuple(metrics))
    run_scores(run, progress, scored_items(judged.items, ()))
    with Store.read(run.out) as store:
        outcomes = {
            metric.name: [_units(store, metric.name, i) for i in range(len(judged.items))]
            for metric in metrics
        }
        signatures = {metric.name: " ; ".join(store.signatures(metric.name)) for metric in metrics}
    findings = []
    for label, side in SIDES:
        items = [item for item in judged.items if label in item.judgments]
        places = [place for place, item in enumerate(judged.items) if label in item.judgments]
        for name, found in outcomes.items():
            documents = [
                _document(item, units, label, side)
                for item, place in zip(items, places, strict=True)
                if (units := found[place]) is not None
            ]
            n_missing = len(items) - len(documents)
            findings.append(_finding(name, label, documents, n_missing, n_resamples, seed))
        if items:
            chance = _random_documents(items, label, side, seed)
            findings.append(_finding(RANDOM, label, chance, 0, n_resamples, seed))
    return GranularReport(judged.name, len(judged.items), tuple(findings), signatures, n_resamples)


def _units(store: Store, metric: str, position: int) -> Sequence[Unit] | None:
    """What a metric found in an item; None where it has no score."""
    outcome = store.score(metric, position)
    return outcome.units if isinstance(outcome, ItemScore) else None


def _document(item: Item, units: Sequence[Unit], label: Label, side: Side) -> _Document:
    text = item.candidate if side == "candidate" else item.references[0]
    tokens = words(text)
    gold = _touched(tokens, [(int(a), int(b)) for a, b in item.judgments[label]])
    own = [u for u in units if u.side == side and u.reference_index in (None, 0)]
    scored = [
        (start, end, score)
        for unit in own
        if (score := _score(unit)) is not None
        for start, end in _touched(tokens, unit.spans)
    ]
    return _Document(
        item.source,
        gold,
        _labels(len(tokens), gold),
        token_scores(len(tokens), scored, several="highest"),
        len(scored),
    )


def _random_documents(
    items: Sequence[Item], label: Label, side: Side, seed: int
) -> list[_Document]:
    """What scores without any knowledge reach, when their threshold is the best one."""
    rng = np.random.default_rng(seed)
    found = []
    for item in items:
        plain = _document(item, (), label, side)
        scores = rng.random(len(plain.labels))
        found.append(_Document(plain.source, plain.gold, plain.labels, scores, len(scores)))
    return found


def _score(unit: Unit) -> float | None:
    """A unit's score, or else its verdict as 0 or 1, or else nothing."""
    if unit.score is not None:
        return unit.score
    return None if unit.verdict is None else float(unit.verdict not in _BAD)


def _touched(tokens: Sequence[Span], spans: Sequence[Span]) -> list[TokenSpan]:
    """Spans of characters as ranges of the tokens they touch; without those that touch none."""
    found = []
    for start, end in spans:
        inside = [i for i, (a, b) in enumerate(tokens) if a < end and b > start]
        if inside:
            found.append((inside[0], inside[-1] + 1))
    return found


def _labels(n_tokens: int, spans: Sequence[TokenSpan]) -> Ints:
    labels = np.zeros(n_tokens, dtype=np.int64)
    for start, end in spans:
        labels[start:end] = 1
    return labels


def _finding(
    metric: str,
    label: Label,
    documents: Sequence[_Document],
    n_missing: int,
    n_resamples: int,
    seed: int,
) -> GranularFinding:
    nothing = Share(None, None)
    reason = None
    if not documents:
        reason = "no item has a score"
    elif not any(document.n_units for document in documents):
        side = dict(SIDES)[label]
        reason = f"gives no units with a place in the {side} and a score or verdict"
    if reason is not None:
        return GranularFinding(
            metric, label, None, None, nothing, nothing, nothing, None,
            len(documents), n_missing, reason,
        )  # fmt: skip
    scores = [document.scores for document in documents]
    labels = [document.labels for document in documents]
    clusters = [document.source for document in documents]
    resampled: dict[str, Any] = {"n_resamples": n_resamples, "level": LEVEL, "seed": seed}
    alerts = alert_f1(scores, labels, clusters=clusters, **resampled)
    assert alerts.threshold is not None
    threshold = alerts.threshold
    held_out = None
    if len(set(clusters)) > 1:
        held_out = held_out_alert_f1(scores, labels, clusters=clusters, **resampled)
    counts = np.array(
        [
            ((s < threshold).sum(), y.sum(), ((s < threshold) & (y == 1)).sum())
            for s, y in zip(scores, labels, strict=True)
        ],
        dtype=np.float64,
    )
    codes = cluster_codes(clusters, len(clusters))

    def share(of: tuple[float, float]) -> Share:
        def statistic(rows: Ints) -> float | None:
            n_alerts, n_gold, n_hits = counts[rows].sum(axis=0)
            whole = of[0] * n_alerts + of[1] * n_gold
            return float(n_hits / whole) if whole else None

        value = statistic(np.arange(len(counts)))
        interval = None
        if value is not None:
            interval = cluster_bootstrap(statistic, codes, **resampled)
        return Share(value, interval)

    spans = relaxed_f1(
        [_runs(s < threshold) for s in scores],
        [document.gold for document in documents],
        clusters=clusters,
        **resampled,
    )
    # Hits per alert, per marked word, and per mean of both, which is F1.
    return GranularFinding(
        metric, label, alerts, held_out, share((1, 0)), share((0, 1)), share((0.5, 0.5)), spans,
        len(documents), n_missing, alerts.reason if alerts.f1 is None else None,
    )  # fmt: skip


def _runs(alerts: np.ndarray[Any, np.dtype[np.bool_]]) -> list[TokenSpan]:
    """Runs of alerts as half-open ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], alerts.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]

"""Detection of errors by low scores: macro F1 of alerts, and the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import (
    add_reason,
    cluster_replicates,
    interval_or_reason,
    replicate_interval,
)
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    at_least,
    cluster_codes,
    n_clusters,
    one_of,
    resampling,
)
from beholder.stats.ranks import round_values

Macro: TypeAlias = Literal["classes", "documents"]
_VARY = "documents have marks"


@dataclass(frozen=True, slots=True)
class AlertF1:
    """Token F1 of alerts.

    Attributes:
        f1: Macro F1; None when gold marks no token, or all.
        interval: Bootstrap interval over documents at the threshold used; None when it cannot be
            given.
        threshold: Tokens scored below it are predicted errors; None when they differ by fold.
        chosen: ``maximum`` (on these documents: an upper bound), ``given`` or ``held-out``.
        macro: Mean over the two ``classes`` of tokens, or over ``documents`` (error class).
        n_documents: Documents.
        n_tokens: Tokens.
        n_gold: Tokens that gold marks as errors.
        reason: Why F1 or its interval is None.
    """

    f1: float | None
    interval: Interval | None
    threshold: float | None
    chosen: str
    macro: str
    n_documents: int
    n_tokens: int
    n_gold: int
    reason: str | None = None


def alert_f1(
    scores: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    *,
    threshold: float | None = None,
    macro: Macro = "classes",
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> AlertF1:
    """Macro token F1 at a given alert threshold, or the maximum over all thresholds.

    ``classes``: F1 of error tokens and F1 of the others over all tokens pooled, averaged (our
    reading of the DOCENT protocol). ``documents``: F1 of error tokens per document, averaged; a
    document with neither a marked nor an alerted token counts 1. Among equally good thresholds
    the lowest is taken.

    Args:
        scores: Per document, (n_tokens,) scores, low meaning an error; infinity for a token
            that never alerts (see :func:`beholder.stats.token_scores`).
        labels: Per document, (n_tokens,) 1 for a token that gold marks as an error, else 0.
        threshold: Alert threshold; None chooses the best on these documents.
        macro: Groups to average over.
        clusters: Cluster of each document (its picture); whole clusters are resampled.
        options: See ``Resampling``; at the threshold used.

    Raises:
        ConfigError: No documents, scores and labels that do not pair, NaN, or labels other than
            0 and 1.
    """
    one_of(macro, get_args(Macro), "macro")
    s, g = documents(scores, labels)
    resampling(**options)
    if threshold is not None and not np.isfinite(threshold):
        raise ConfigError(
            f"threshold: expected a finite number, got {threshold}"
        )
    used = best_threshold(s, g, macro) if threshold is None else threshold
    counts = np.array([_counts(x, y, used) for x, y in zip(s, g, strict=True)])
    chosen = "maximum" if threshold is None else "given"
    codes = cluster_codes(clusters, len(s))
    return _result(counts, used, chosen, macro, codes, **options)


def held_out_alert_f1(
    scores: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    *,
    n_folds: int = 2,
    macro: Macro = "classes",
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> AlertF1:
    """Macro token F1 where each document's threshold is the best one of the other folds.

    Documents are dealt to folds at random (seeded); the predictions of all folds are then scored
    together. Unlike the maximum, this is no upper bound. Other arguments as :func:`alert_f1`.

    Args:
        scores: As in :func:`alert_f1`.
        labels: As in :func:`alert_f1`.
        n_folds: Folds, at least 2 and at most the number of clusters.
        macro: Groups to average over.
        clusters: Cluster of each document; whole clusters go to a fold and are resampled.
        options: See ``Resampling``; with these thresholds. The seed is that of the folds, too.

    Raises:
        ConfigError: As :func:`alert_f1`, or a bad number of folds.
    """
    one_of(macro, get_args(Macro), "macro")
    s, g = documents(scores, labels)
    resampling(**options)
    codes = cluster_codes(clusters, len(s))
    n_units = n_clusters(codes)
    if not 2 <= n_folds <= n_units:
        what = "documents" if clusters is None else "clusters"
        raise ConfigError(
            f"n_folds: expected 2 to {n_units} (the {what}), got {n_folds}"
        )
    rng = np.random.default_rng(options.get("seed", 12345))
    # Whole clusters go to one fold: texts of one picture must not be on both sides.
    fold = (rng.permutation(n_units) % n_folds)[codes]
    counts = np.zeros((len(s), 4))
    for i in range(n_folds):
        other_folds = np.flatnonzero(fold != i)
        used = best_threshold(
            [s[j] for j in other_folds], [g[j] for j in other_folds], macro
        )
        for j in np.flatnonzero(fold == i):
            counts[j] = _counts(s[j], g[j], used)
    return _result(counts, None, "held-out", macro, codes, **options)


def best_threshold(
    scores: Sequence[Floats], labels: Sequence[Ints], macro: str
) -> float:
    """Lowest of the thresholds with the highest macro F1, among all that change a prediction."""
    tokens = np.concatenate(scores)
    finite = np.unique(tokens[np.isfinite(tokens)])
    if len(finite) == 0:
        # No token is scored: every threshold predicts the same.
        return 0.0
    # A score is an alert if it is below the threshold, so one threshold above all scores is needed.
    thresholds = np.append(finite, np.nextafter(finite[-1], np.inf))
    pooled = [(tokens, np.concatenate(labels))]
    parts = (
        pooled
        if macro == "classes"
        else list(zip(scores, labels, strict=True))
    )
    total = np.zeros(len(thresholds))
    for s, g in parts:
        wrong = np.sort(s[g == 1])
        right = np.sort(s[g == 0])
        # Scores below each.
        true = np.searchsorted(wrong, thresholds).astype(np.float64)
        false = np.searchsorted(right, thresholds).astype(np.float64)
        total += _f1(true, false, len(wrong) - true)
        if macro == "classes":
            total += _f1(len(right) - false, len(wrong) - true, false)
    return float(thresholds[int(np.argmax(total))])


def _f1(true: Floats, false: Floats, missed: Floats) -> Floats:
    """Return F1 from counts; 1 if nothing is marked and nothing is predicted."""
    denominator = 2 * true + false + missed
    return np.asarray(
        np.where(
            denominator > 0,
            2 * true / np.where(denominator > 0, denominator, 1),
            1.0,
        )
    )


def _counts(
    scores: Floats, labels: Ints, threshold: float
) -> tuple[int, int, int, int]:
    alert = scores < threshold
    true = int((alert & (labels == 1)).sum())
    false = int((alert & (labels == 0)).sum())
    wrong = int(labels.sum())
    return true, false, wrong - true, len(labels) - wrong - false


def _macro_f1(counts: Floats, macro: str) -> float | None:
    true, false, missed, quiet = (
        counts.T if macro == "documents" else counts.sum(axis=0)[:, None]
    )
    if true.sum() + missed.sum() == 0 or false.sum() + quiet.sum() == 0:
        return None
    error = float(_f1(true, false, missed).mean())
    return (
        error
        if macro == "documents"
        else (error + float(_f1(quiet, missed, false)[0])) / 2
    )


def _result(
    counts: Floats,
    threshold: float | None,
    chosen: str,
    macro: str,
    codes: Ints,
    **options: Unpack[Resampling],
) -> AlertF1:
    f1 = _macro_f1(counts, macro)
    interval = None
    reason: str | None = (
        "gold marks no token, or every token: there are no two classes"
    )
    if f1 is not None:
        interval, reason = interval_or_reason(
            lambda rows: _macro_f1(counts[rows], macro),
            codes,
            _VARY,
            **options,
        )
    n_gold = int(counts[:, 0].sum() + counts[:, 2].sum())
    return AlertF1(
        f1=f1,
        interval=interval,
        threshold=threshold,
        chosen=chosen,
        macro=macro,
        n_documents=len(counts),
        n_tokens=int(counts.sum()),
        n_gold=n_gold,
        reason=reason,
    )


def documents(
    scores: Sequence[ArrayLike], labels: Sequence[ArrayLike]
) -> tuple[list[Floats], list[Ints]]:
    """Scores and labels of documents as arrays.

    Raises:
        ConfigError: No documents, scores and labels that do not pair, NaN, or labels other than
            0 and 1.
    """
    at_least(len(scores), 1, "the number of documents")
    if len(scores) != len(labels):
        raise ConfigError(
            f"expected as many documents, got {len(scores)} and {len(labels)}"
        )
    s = [round_values(x) for x in scores]
    g = [np.asarray(x) for x in labels]
    for i, (x, y) in enumerate(zip(s, g, strict=True)):
        if x.ndim != 1 or x.shape != y.shape:
            raise ConfigError(
                f"document {i}: {x.shape} scores and {y.shape} labels do not pair"
            )
        if bool(np.isnan(x).any() | (x == -np.inf).any()):
            raise ConfigError(f"document {i}: a score is NaN or -infinity")
        if not bool(np.isin(y, (0, 1)).all()):
            raise ConfigError(f"document {i}: labels are 0 or 1")
    return s, [y.astype(np.int64) for y in g]


@dataclass(frozen=True, slots=True)
class AlertAUC:
    """Area under the ROC curve of alerts.

    Attributes:
        auc: Chance that a marked part has a lower score than one that is not, ties counting half;
            0.5 for scores that know nothing. None when gold marks no part, or all.
        interval: Bootstrap interval over documents; None when it cannot be given.
        replicates: The value of each resample, aligned between equal documents; None where it is
            not defined.
        n_documents: Documents.
        n_parts: Parts (tokens, sentences) of all documents.
        n_gold: Parts that gold marks.
        reason: Why the area or its interval is None.
    """

    auc: float | None
    interval: Interval | None
    replicates: tuple[float | None, ...]
    n_documents: int
    n_parts: int
    n_gold: int
    reason: str | None = None


def alert_auc(
    scores: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    *,
    clusters: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> AlertAUC:
    """Area under the ROC curve, the parts of all documents pooled.

    Args:
        scores: Per document, (n_parts,) scores, low meaning an error; infinity for a part that
            never alerts.
        labels: Per document, (n_parts,) 1 for a part that gold marks as an error, else 0.
        clusters: Cluster of each document (its picture); whole clusters are resampled.
        n_resamples: Bootstrap resamples; 0 for no interval.
        level: Confidence level.
        seed: Seed of the resampling.

    Raises:
        ConfigError: As :func:`beholder.stats.alert_f1`.
    """
    s, g = documents(scores, labels)
    if n_resamples:
        resampling(n_resamples, level)
    pooled = np.concatenate(s)
    gold = np.concatenate(g)
    # Scores are sorted once; a resample then only weights their levels again.
    levels = np.unique(pooled, return_inverse=True)[1]
    document = np.repeat(np.arange(len(s)), [len(x) for x in s])
    wrong = gold == 1
    n_levels = int(levels.max()) + 1 if len(levels) else 0

    def area(rows: Ints) -> float | None:
        weight = np.bincount(rows, minlength=len(s)).astype(np.float64)[
            document
        ]
        marked, plain = (
            np.bincount(
                levels[which], weights=weight[which], minlength=n_levels
            )
            for which in (wrong, ~wrong)
        )
        return area_of_levels(
            marked.astype(np.float64), plain.astype(np.float64)
        )

    auc = area(np.arange(len(s)))
    counts = (len(s), len(gold), int(wrong.sum()))
    if auc is None:
        reason = "gold marks no part, or every part: there are no two classes"
        return AlertAUC(None, None, (), *counts, reason)
    if not n_resamples:
        return AlertAUC(auc, None, (), *counts)
    codes = cluster_codes(clusters, len(s))
    replicates = cluster_replicates(
        area, codes, n_resamples=n_resamples, seed=seed
    )
    interval, few = add_reason(
        replicate_interval(replicates, level), codes, _VARY
    )
    return AlertAUC(auc, interval, tuple(replicates), *counts, few)


def area_of_levels(wrong: Floats, right: Floats) -> float | None:
    """The area under the ROC curve; None if one of the two has no weight.

    Args:
        wrong: (n_levels,) weight of what should have low scores, lowest level of the score first.
        right: (n_levels,) weight of what should have high ones.
    """
    pairs = wrong.sum() * right.sum()
    if pairs == 0:
        return None
    above = right.sum() - np.cumsum(right)
    return float((wrong * (above + right / 2)).sum() / pairs)

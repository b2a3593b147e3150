"""Agreement of marked spans: relaxed F1, as recommended where only errors are marked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, Unpack, get_args

import numpy as np

from beholder.errors import ConfigError
from beholder.records import Interval, Span
from beholder.stats.bootstrap import interval_or_reason
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    cluster_codes,
    one_of,
    resampling,
)

TokenSpan: TypeAlias = tuple[int, int]
"""Half-open range of token positions."""

Share: TypeAlias = Literal["own", "longer", "union"]


def token_ranges(
    tokens: Sequence[Span], spans: Sequence[Span]
) -> list[TokenSpan]:
    """Convert spans of characters to ranges of the tokens they touch; drop those without a token.

    Args:
        tokens: Span of each token, in characters.
        spans: The spans.
    """
    ranges = []
    for start, end in spans:
        inside = [
            i for i, (a, b) in enumerate(tokens) if a < end and b > start
        ]
        if inside:
            ranges.append((inside[0], inside[-1] + 1))
    return ranges


@dataclass(frozen=True, slots=True)
class SpanF1:
    """Agreement of two sets of spans.

    Attributes:
        precision: Share of predicted spans that match a gold span; None without predicted spans.
        recall: Share of gold spans that match a predicted span; None without gold spans.
        f1: Their harmonic mean; 0 when one side has no span, None when neither has.
        interval: Bootstrap interval of F1 over documents; None when it cannot be given.
        n_documents: Documents.
        n_predicted: Predicted spans.
        n_gold: Gold spans.
        reason: Why F1 or its interval is None.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    interval: Interval | None
    n_documents: int
    n_predicted: int
    n_gold: int
    reason: str | None = None


def relaxed_f1(
    predicted: Sequence[Sequence[TokenSpan]],
    gold: Sequence[Sequence[TokenSpan]],
    *,
    overlap: float = 0.5,
    of: Share = "own",
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> SpanF1:
    """F1 over spans, where two spans match that share enough tokens; pooled over documents.

    A span matches when one span of the other side shares at least ``overlap`` of the tokens: of
    the span's ``own`` tokens (our reading of "50 % overlapping tokens"; a span inside a long one
    matches, the long one may not), of the ``longer`` of the two, or of their ``union``. Symmetric
    in predicted and gold, precision and recall changing places. Source of the measure: Hripcsak
    and Rothschild 2005.

    Args:
        predicted: Per document, token spans ``(start, end)`` of one annotator or metric.
        gold: Per document, those of the other.
        overlap: Least share of tokens, above 0 up to 1.
        of: Share of what.
        clusters: Cluster of each document (its picture); whole clusters are resampled.
        options: See ``Resampling``.

    Raises:
        ConfigError: Different numbers of documents, an empty or reversed span, or a bad overlap.
    """
    resampling(**options)
    if not 0.0 < overlap <= 1.0:
        raise ConfigError(
            f"overlap: expected a share above 0 up to 1, got {overlap}"
        )
    one_of(of, get_args(Share), "of")
    if len(predicted) != len(gold):
        raise ConfigError(
            f"expected as many documents, got {len(predicted)} and {len(gold)}"
        )
    # Counts per document, so that a resample of documents only sums rows.
    table = np.zeros((len(gold), 4), dtype=np.int64)
    for row, (predicted_spans, gold_spans) in enumerate(
        zip(predicted, gold, strict=True)
    ):
        p = _spans(predicted_spans, f"predicted[{row}]")
        g = _spans(gold_spans, f"gold[{row}]")
        hits_p, hits_g = _matches(p, g, overlap, of)
        table[row] = hits_p, len(p), hits_g, len(g)

    hits_p, n_p, hits_g, n_g = (int(v) for v in table.sum(axis=0))
    precision = hits_p / n_p if n_p else None
    recall = hits_g / n_g if n_g else None
    f1 = _f1(table.sum(axis=0))
    interval: Interval | None = None
    reason: str | None = "neither side has a span"
    if f1 is not None:
        interval, reason = interval_or_reason(
            lambda rows: _f1(table[rows].sum(axis=0)),
            cluster_codes(clusters, len(table)),
            "documents have spans",
            **options,
        )
    return SpanF1(
        precision=precision,
        recall=recall,
        f1=f1,
        interval=interval,
        n_documents=len(table),
        n_predicted=n_p,
        n_gold=n_g,
        reason=reason,
    )


def _spans(spans: Sequence[TokenSpan], name: str) -> Ints:
    for start, end in spans:
        if not 0 <= start < end:
            raise ConfigError(
                f"{name}: expected (start, end) with 0 <= start < end, got {start, end}"
            )
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _matches(p: Ints, g: Ints, overlap: float, of: str) -> tuple[int, int]:
    """Return the number of spans of each side that match a span of the other side."""
    if not len(p) or not len(g):
        return 0, 0
    # Tables of all pairs of spans, (n_predicted, n_gold): shared tokens, and the size to divide by.
    start = np.maximum(p[:, None, 0], g[None, :, 0])
    shared = np.maximum(np.minimum(p[:, None, 1], g[None, :, 1]) - start, 0)
    size_p = np.diff(p)[:, 0]
    size_g = np.diff(g)[:, 0]
    whole_p = whole_g = np.maximum(size_p[:, None], size_g[None, :])
    if of == "own":
        whole_p = size_p[:, None]
        whole_g = size_g[None, :]
    elif of == "union":
        whole_p = whole_g = size_p[:, None] + size_g[None, :] - shared
    return (
        int((shared >= overlap * whole_p).any(axis=1).sum()),
        int((shared >= overlap * whole_g).any(axis=0).sum()),
    )


def _f1(counts: Ints) -> float | None:
    hits_p, n_p, hits_g, n_g = (int(v) for v in counts)
    if n_p + n_g == 0:
        return None
    if hits_p == 0 or hits_g == 0:
        return 0.0
    precision = hits_p / n_p
    recall = hits_g / n_g
    return 2 * precision * recall / (precision + recall)


def token_scores(
    n_tokens: int,
    spans: Sequence[tuple[int, int, float]],
    *,
    several: Literal["lowest", "highest", "mean"] = "lowest",
) -> Floats:
    """Score of each token from scored spans.

    Args:
        n_tokens: Tokens of the document.
        spans: ``(start, end, score)`` in token positions.
        several: Rule for the score of a token in several spans.

    Returns:
        (n_tokens,) scores, infinity for a token in no span: it never alerts.

    Raises:
        ConfigError: A span outside the document, a score that is not finite, or an unknown rule.
    """
    one_of(several, ("lowest", "highest", "mean"), "several")
    _inside(n_tokens, [(start, end) for start, end, _ in spans])
    for start, end, score in spans:
        if not np.isfinite(score):
            raise ConfigError(f"spans: the score of {start, end} is {score}")
    scores = np.full(n_tokens, np.inf)
    if several == "mean":
        total = np.zeros(n_tokens)
        count = np.zeros(n_tokens)
        for start, end, score in spans:
            total[start:end] += score
            count[start:end] += 1
        np.divide(total, count, out=scores, where=count > 0)
        return scores
    # Written in this order, what stays last is the lowest or the highest.
    for start, end, score in sorted(
        spans, key=lambda s: s[2], reverse=several == "lowest"
    ):
        scores[start:end] = score
    return scores


def token_labels(n_tokens: int, spans: Sequence[TokenSpan]) -> Ints:
    """1 for each token in a marked span, 0 elsewhere; shape (n_tokens,).

    Raises:
        ConfigError: A span outside the document.
    """
    _inside(n_tokens, spans)
    labels = np.zeros(n_tokens, dtype=np.int64)
    for start, end in spans:
        labels[start:end] = 1
    return labels


def _inside(n_tokens: int, spans: Sequence[TokenSpan]) -> None:
    for start, end in spans:
        if not 0 <= start < end <= n_tokens:
            raise ConfigError(
                f"spans: expected ranges within {n_tokens} tokens, got {start, end}"
            )

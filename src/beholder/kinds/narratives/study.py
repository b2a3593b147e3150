"""A comparison of sources of narratives: tables of scores, reliability, effects and correlations.

Pure arithmetic over votes and coherence; the same numbers as tables 1 to 4 of Keith et al. 2025,
each with an interval, n, and what to be careful with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from beholder import stats
from beholder.kinds.narratives.storylines.space import Floats
from beholder.records import Interval
from beholder.stats.intraclass import ICCKind

FEW = 10
"""Narratives of a source below which tests and effect sizes carry a caution."""


@dataclass(frozen=True, slots=True)
class JudgedStoryline:
    """One narrative as the study sees it.

    Attributes:
        id: Its id.
        source: What made it.
        minimum: Minimum coherence, or None.
        mean: Mean coherence, or None.
        dtw: Normalised distance to the nearest human narrative; None for human ones.
        votes: Per method K values, None where a vote failed.
    """

    id: str
    source: str
    minimum: float | None
    mean: float | None
    dtw: float | None
    votes: Mapping[str, Sequence[float | None]]


def tables(
    subjects: Sequence[JudgedStoryline],
    human: str = "human",
    *,
    n_repeated: int = 0,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """All tables, as JSON values.

    Args:
        subjects: The narratives.
        human: Name of the human source; it comes first.
        n_repeated: Narratives that are equal to another one, for a caution.
        notes: Further cautions.

    Returns:
        ``sources``, ``methods``, ``scores`` (per method and source), ``coherence`` (per source),
        ``correlations``, ``reliability`` (per method), ``comparisons``, ``between_methods`` and
        ``cautions``.
    """
    sources = ordered_sources([subject.source for subject in subjects], human)
    methods = list(dict.fromkeys(m for subject in subjects for m in subject.votes))
    return {
        "sources": sources,
        "methods": methods,
        "scores": [_scores(subjects, m, s) for m in methods for s in sources],
        "coherence": [_coherence(subjects, s) for s in sources],
        "correlations": [
            _correlation(subjects, m, x) for m in methods for x in ("minimum", "mean", "dtw")
        ],
        "reliability": [_reliability(subjects, m, sources) for m in methods],
        "comparisons": [row for m in methods for row in _comparisons(subjects, m, sources)],
        "between_methods": [_between(subjects, a, b) for a, b in combinations(methods, 2)],
        "cautions": [*_cautions(subjects, sources, n_repeated), *notes],
    }


def mean_vote(votes: Sequence[float | None]) -> float | None:
    """Mean over the judges that answered; None when none did."""
    known = [vote for vote in votes if vote is not None]
    return float(np.mean(known)) if known else None


def ordered_sources(named: Sequence[str], human: str) -> list[str]:
    """Sources once each: people first, chance last, the others as they come."""
    found = list(dict.fromkeys(named))
    return sorted(found, key=lambda s: (s != human, s == "random", found.index(s)))


def _means(subjects: Sequence[JudgedStoryline], method: str, source: str) -> list[float]:
    found = (mean_vote(s.votes.get(method, ())) for s in subjects if s.source == source)
    return [value for value in found if value is not None]


def _table(subjects: Sequence[JudgedStoryline], method: str) -> Floats:
    """Votes of the narratives that have all of them, (n, K)."""
    rows = [list(s.votes[method]) for s in subjects if method in s.votes]
    return np.array([row for row in rows if None not in row], dtype=np.float64)


def _scores(subjects: Sequence[JudgedStoryline], method: str, source: str) -> dict[str, Any]:
    means = _means(subjects, method, source)
    judged = [s for s in subjects if s.source == source and method in s.votes]
    votes = [vote for s in judged for vote in s.votes[method]]
    estimate = stats.mean_interval(means) if means else None
    return {
        "method": method,
        "source": source,
        "n": len(means),
        "n_failed": len(judged) - len(means),
        "n_votes": sum(vote is not None for vote in votes),
        "n_votes_failed": sum(vote is None for vote in votes),
        "mean": None if estimate is None else estimate.mean,
        "sd": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        "sd_population": float(np.std(means)) if means else None,
        "interval": pair(estimate.interval if estimate else None),
        **_spread(judged, method),
    }


def _spread(subjects: Sequence[JudgedStoryline], method: str) -> dict[str, Any]:
    table = _table(subjects, method)
    if table.ndim < 2 or not len(table) or table.shape[1] < 2:
        return {"within_sd": None, "within_sd_population": None, "within_range": None}
    found = stats.within_item_spread(table)
    return {
        "within_sd": found.sd.mean,
        "within_sd_population": stats.within_item_spread(table, ddof=0).sd.mean,
        "within_range": found.range.mean,
    }


def _coherence(subjects: Sequence[JudgedStoryline], source: str) -> dict[str, Any]:
    row: dict[str, Any] = {"source": source}
    for name in ("minimum", "mean", "dtw"):
        values = [v for s in subjects if s.source == source and (v := getattr(s, name)) is not None]
        row[name] = {
            "n": len(values),
            "mean": float(np.mean(values)) if values else None,
            "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        }
    return row


def _correlation(subjects: Sequence[JudgedStoryline], method: str, measure: str) -> dict[str, Any]:
    pairs = [
        (score, value)
        for s in subjects
        if (score := mean_vote(s.votes.get(method, ()))) is not None
        and (value := getattr(s, measure)) is not None
    ]
    x, y = ([p[0] for p in pairs], [p[1] for p in pairs])
    return {"method": method, "measure": measure, **_both_correlations(x, y)}


def _between(subjects: Sequence[JudgedStoryline], a: str, b: str) -> dict[str, Any]:
    pairs = [
        (x, y)
        for s in subjects
        if (x := mean_vote(s.votes.get(a, ()))) is not None
        and (y := mean_vote(s.votes.get(b, ()))) is not None
    ]
    return {"a": a, "b": b, **_both_correlations([p[0] for p in pairs], [p[1] for p in pairs])}


def _both_correlations(x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    if len(x) < 3:
        reason = f"needs at least 3 narratives with both, got {len(x)}"
        return {"n": len(x), "r": None, "interval": None, "p": None, "rho": None, "reason": reason}
    linear, ranks = stats.pearson(x, y), stats.spearman(x, y)
    return {
        "n": len(x),
        "r": linear.value,
        "interval": pair(linear.interval),
        "p": linear.p_value,
        "rho": ranks.value,
        "reason": linear.reason,
    }


def _reliability(
    subjects: Sequence[JudgedStoryline], method: str, sources: Sequence[str]
) -> dict[str, Any]:
    judged = [s for s in subjects if method in s.votes]
    table = _table(subjects, method)
    row: dict[str, Any] = {
        "method": method,
        "n": len(table),
        "n_left_out": len(judged) - len(table),
    }
    if table.ndim < 2 or len(table) < 2 or table.shape[1] < 2:
        row["reason"] = "needs at least two narratives with the votes of at least two judges"
        return row
    alpha = stats.cronbach_alpha(table)
    pairs = {
        f"{i + 1} and {j + 1}": stats.pearson(table[:, i], table[:, j]).value
        for i, j in combinations(range(table.shape[1]), 2)
    }
    row |= {
        "n_judges": table.shape[1],
        **agreement(table),
        "alpha": {"value": alpha.value, "interval": pair(alpha.interval)},
        "pairwise_r": pairs,
        "mean_pairwise_r": stats.mean_pairwise_correlation(table).value,
        "within": {"all": _spread(judged, method)}
        | {s: _spread([j for j in judged if j.source == s], method) for s in sources},
    }
    return row


def agreement(table: Floats) -> dict[str, Any]:
    """ICC(2,1) and ICC(2,k) of an (n, K) table, with the words of Koo and Li 2016.

    The word of the value, and those of both ends of its interval.
    """
    found: dict[str, Any] = {}
    kinds: tuple[tuple[str, ICCKind], ...] = (("icc_single", "2,1"), ("icc_average", "2,k"))
    for name, kind in kinds:
        one = stats.icc(table, kind)
        interval = pair(one.interval)
        found[name] = {
            "value": one.value,
            "interval": interval,
            "verdict": None if one.value is None else stats.reliability_verdict(one.value),
            "verdicts": None if interval is None else [*map(stats.reliability_verdict, interval)],
        }
    return found


def _comparisons(
    subjects: Sequence[JudgedStoryline], method: str, sources: Sequence[str]
) -> list[dict[str, Any]]:
    rows = []
    for first, second in combinations(sources, 2):
        a, b = _means(subjects, method, first), _means(subjects, method, second)
        if a and b:
            rows.append({"method": method, "a": first, "b": second, **compare_groups(a, b)})
    return with_holm(rows, "p_welch")


def with_holm(rows: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Rows with their p-values adjusted for their number (Holm 1979), as ``NAME_holm``."""
    adjusted = stats.holm([row[name] for row in rows])
    return [row | {f"{name}_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def compare_groups(a: Sequence[float], b: Sequence[float]) -> dict[str, Any]:
    """Two independent groups: difference of means, t, Welch, Mann-Whitney, d and g."""
    student = stats.t_test(a, b, equal_variances=True)
    welch, ranks = stats.t_test(a, b), stats.mann_whitney(a, b)
    published, pooled = stats.cohen_d(a, b, pooling="unweighted"), stats.cohen_d(a, b)
    hedges = stats.hedges_g(a, b)
    return {
        "n_a": len(a),
        "n_b": len(b),
        "difference": float(np.mean(a) - np.mean(b)),
        "t_student": student.statistic,
        "p_student": student.p_value,
        "t_welch": welch.statistic,
        "p_welch": welch.p_value,
        "p_mann_whitney": ranks.p_value,
        "superiority": ranks.estimate,
        "d_unweighted": published.value,
        "d_pooled": pooled.value,
        "g": hedges.value,
        "g_interval": pair(hedges.interval),
        "few": min(len(a), len(b)) < FEW,
    }


def _cautions(
    subjects: Sequence[JudgedStoryline], sources: Sequence[str], n_repeated: int
) -> list[str]:
    notes = []
    if n_repeated:
        notes.append(
            f"{n_repeated} of {len(subjects)} narratives repeat another picture by picture. Each is"
            " judged once and counts as often as it stands here: n is too large and p-values too"
            " small."
        )
    for source in sources:
        n = sum(s.source == source for s in subjects)
        if n < FEW:
            notes.append(
                f"{source}: only {n} narratives. Tests and effect sizes against it rest on them; if"
                " they are parts of one another or share pictures, they are not independent and"
                " p-values are too small."
            )
    notes.append(
        "Distances (DTW) leave human narratives out: their distance to themselves is 0 and would"
        " build in a correlation."
    )
    notes.append(
        "The K judges of a table are repeats of one model: their agreement says that the model"
        " repeats itself, not that it is right."
    )
    return notes


def pair(interval: Interval | None) -> list[float] | None:
    """An interval as JSON."""
    return None if interval is None else [interval.low, interval.high]

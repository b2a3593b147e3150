"""A comparison of sources of narratives: scores, reliability, effects, correlations.

Pure arithmetic over votes and coherence; the same numbers as tables 1 to 4 of Keith et al. 2025,
each with an interval, n, and cautions. Steps are in ``steps``, several judges in
``between_judges``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType, structs

from beholder import stats
from beholder.kinds.narratives import compared
from beholder.kinds.narratives.compared import Number
from beholder.kinds.narratives.results import (
    Narrative,
)
from beholder.kinds.narratives.storylines.space import Floats
from beholder.records import interval_ends
from beholder.stats.intraclass import ICCKind

FEW = 10
"""Narratives of a source below which tests and effect sizes carry a caution."""

MEASURES: dict[str, Callable[[Narrative], float | None]] = {
    "minimum": lambda narrative: (
        narrative.coherence.minimum if narrative.coherence else None
    ),
    "mean": lambda narrative: (
        narrative.coherence.mean if narrative.coherence else None
    ),
    "dtw": lambda narrative: (
        narrative.nearest.normalised if narrative.nearest else None
    ),
}
"""Measures that ratings are correlated with; human narratives have no distance (``dtw``)."""

R = TypeVar("R", bound=Struct)


Narratives: TypeAlias = Sequence[Narrative]


def tables(
    subjects: Narratives,
    human: str = "human",
    *,
    n_repeated: int = 0,
    notes: Sequence[str] = (),
) -> compared.ComparisonTables:
    """Return all tables that compare sources.

    Args:
        subjects: The narratives.
        human: Name of the human source; it comes first.
        n_repeated: Narratives that are equal to another one, for a caution.
        notes: Further cautions.
    """
    sources = ordered_sources([subject.source for subject in subjects], human)
    methods = tuple(
        dict.fromkeys(m for subject in subjects for m in subject.ratings)
    )
    # Every table is over the same narratives; rows go by method, then by source.
    votes = {m: [s.means.get(m) for s in subjects] for m in methods}
    means = {
        m: {s: _known_means(subjects, s, m) for s in sources} for m in methods
    }
    return compared.ComparisonTables(
        sources=tuple(sources),
        methods=methods,
        scores=tuple(
            _scores(subjects, m, s, means[m][s])
            for m in methods
            for s in sources
        ),
        coherence=tuple(_coherence(subjects, s) for s in sources),
        correlations=tuple(
            compared.MeasureCorrelation(
                m, name, **_correlated(votes[m], map(measure, subjects))
            )
            for m in methods
            for name, measure in MEASURES.items()
        ),
        reliability=tuple(_reliability(subjects, m, sources) for m in methods),
        comparisons=tuple(
            row for m in methods for row in compare_sources(means[m], m)
        ),
        between_methods=tuple(
            compared.MethodCorrelation(a, b, **_correlated(votes[a], votes[b]))
            for a, b in combinations(methods, 2)
        ),
        cautions=(*_cautions(subjects, sources, n_repeated), *notes),
    )


def _known_means(
    subjects: Narratives, source: str, method: str
) -> list[float]:
    """Return the mean votes of the narratives of a source that have one."""
    means = (s.means.get(method) for s in subjects if s.source == source)
    return [mean for mean in means if mean is not None]


def mean_and_sd(values: Sequence[float]) -> compared.MeanAndSD:
    """Return number, mean and SD (n - 1) of some values; None where not defined."""
    return compared.MeanAndSD(
        n=len(values),
        mean=float(np.mean(values)) if values else None,
        sd=float(np.std(values, ddof=1)) if len(values) > 1 else None,
    )


def ordered_sources(sources: Sequence[str], human: str) -> list[str]:
    """Return each source once: people first, chance last, the others in order of appearance."""
    distinct = list(dict.fromkeys(sources))
    return sorted(
        distinct, key=lambda s: (s != human, s == "random", distinct.index(s))
    )


def _table(subjects: Narratives, method: str) -> Floats:
    """Return the (n, K) votes of the narratives that have all of them."""
    rows = [list(s.ratings[method]) for s in subjects if method in s.ratings]
    return np.array([row for row in rows if None not in row], dtype=np.float64)


def _scores(
    subjects: Narratives,
    method: str,
    source: str,
    means: Sequence[float],
) -> compared.SourceScore:
    judged_narratives = [
        s for s in subjects if s.source == source and method in s.ratings
    ]
    votes = [vote for s in judged_narratives for vote in s.ratings[method]]
    estimate = stats.mean_interval(means) if means else None
    return compared.SourceScore(
        method=method,
        source=source,
        n=len(means),
        n_failed=len(judged_narratives) - len(means),
        n_votes=sum(vote is not None for vote in votes),
        n_votes_failed=sum(vote is None for vote in votes),
        mean=None if estimate is None else estimate.mean,
        sd=mean_and_sd(means).sd,
        sd_population=float(np.std(means)) if means else None,
        interval=interval_ends(estimate.interval if estimate else None),
        reason=estimate.reason if estimate else None,
        **structs.asdict(_spread(judged_narratives, method)),
    )


def _spread(subjects: Narratives, method: str) -> compared.JudgeSpread:
    # One judge has no spread.
    table = _table(subjects, method)
    if table.ndim < 2 or not len(table) or table.shape[1] < 2:
        return compared.JudgeSpread()
    spread = stats.within_item_spread(table)
    return compared.JudgeSpread(
        within_sd=spread.sd.mean,
        within_sd_population=stats.within_item_spread(table, ddof=0).sd.mean,
        within_range=spread.range.mean,
    )


def _coherence(subjects: Narratives, source: str) -> compared.SourceCoherence:
    narratives = [s for s in subjects if s.source == source]
    values = (
        [value for value in map(measure, narratives) if value is not None]
        for measure in MEASURES.values()
    )
    return compared.SourceCoherence(source, *map(mean_and_sd, values))


def _correlated(a: Iterable[Number], b: Iterable[Number]) -> dict[str, Any]:
    """Return the fields of a ``RatingCorrelation``, over complete pairs."""
    pairs = [pair for pair in zip(a, b, strict=True) if None not in pair]
    n = len(pairs)
    if n < 3:
        return {
            "n": n,
            "reason": f"needs at least 3 narratives with both, got {n}",
        }
    x, y = np.array(pairs, dtype=np.float64).T
    linear = stats.pearson(x, y)
    return {
        "n": n,
        "r": linear.value,
        "interval": interval_ends(linear.interval),
        "p": linear.p_value,
        "rho": stats.spearman(x, y).value,
        "reason": linear.reason,
    }


def _reliability(
    subjects: Narratives, method: str, sources: Sequence[str]
) -> compared.MethodReliability:
    judged_narratives = [s for s in subjects if method in s.ratings]
    table = _table(subjects, method)
    n_left_out = len(judged_narratives) - len(table)
    if table.ndim < 2 or len(table) < 2 or table.shape[1] < 2:
        reason = "needs at least two narratives with the votes of at least two judges"
        return compared.MethodReliability(
            method, len(table), n_left_out, reason
        )
    alpha = stats.cronbach_alpha(table)
    # ICC(2,1) is about one judge, ICC(2,k) and alpha about the mean of all judges.
    single, average = agreement(table)
    within = {
        s: _spread([j for j in judged_narratives if j.source == s], method)
        for s in sources
    }
    return compared.MethodReliability(
        method=method,
        n=len(table),
        n_left_out=n_left_out,
        n_judges=table.shape[1],
        icc_single=single,
        icc_average=average,
        alpha=compared.AgreementValue(
            alpha.value, interval_ends(alpha.interval), alpha.reason
        ),
        pairwise_r={
            f"{i + 1} and {j + 1}": stats.pearson(
                table[:, i], table[:, j]
            ).value
            for i, j in combinations(range(table.shape[1]), 2)
        },
        mean_pairwise_r=stats.mean_pairwise_correlation(table).value,
        within={"all": _spread(judged_narratives, method)} | within,
    )


def agreement(
    table: Floats,
) -> tuple[compared.WordedValue, compared.WordedValue]:
    """Return ICC(2,1) and ICC(2,k) of an (n, K) table, with the words of Koo and Li 2016."""

    def worded(kind: ICCKind) -> compared.WordedValue:
        icc = stats.icc(table, kind)
        ends, verdict = interval_ends(icc.interval), stats.reliability_verdict
        return compared.WordedValue(
            value=icc.value,
            interval=ends,
            reason=icc.reason,
            verdict=None if icc.value is None else verdict(icc.value),
            verdicts=None if ends is None else tuple(map(verdict, ends)),
        )

    return worded("2,1"), worded("2,k")


def compare_sources(
    values: Mapping[str, Sequence[float]], method: str | UnsetType = UNSET
) -> list[compared.SourceComparison]:
    """Compare each source with each later one: means, t, Welch, Mann-Whitney, d and g.

    Args:
        values: Values of independent narratives, by source; those without values are left out.
        method: Way in which the values were rated.
    """
    comparisons = []
    for (first, a), (second, b) in combinations(values.items(), 2):
        if not (a and b):
            continue
        # Student's t and the unweighted d are those of the publication; Welch's and g are better.
        student = stats.t_test(a, b, equal_variances=True)
        welch, ranks = stats.t_test(a, b), stats.mann_whitney(a, b)
        hedges = stats.hedges_g(a, b)
        comparisons.append(
            compared.SourceComparison(
                method=method,
                a=first,
                b=second,
                n_a=len(a),
                n_b=len(b),
                difference=float(np.mean(a) - np.mean(b)),
                t_student=student.statistic,
                p_student=student.p_value,
                t_welch=welch.statistic,
                p_welch=welch.p_value,
                p_mann_whitney=ranks.p_value,
                superiority=ranks.estimate,
                d_unweighted=stats.cohen_d(a, b, pooling="unweighted").value,
                d_pooled=stats.cohen_d(a, b).value,
                g=hedges.value,
                g_interval=interval_ends(hedges.interval),
                few=min(len(a), len(b)) < FEW,
            )
        )
    return with_holm(comparisons, "p_welch")


def with_holm(rows: Sequence[R], name: str) -> list[R]:
    """Add p-values adjusted for the number of rows (Holm 1979), as ``NAME_holm``."""
    adjusted = stats.holm([getattr(row, name) for row in rows])
    return [
        structs.replace(row, **{f"{name}_holm": p})
        for row, p in zip(rows, adjusted, strict=True)
    ]


def _cautions(
    subjects: Narratives, sources: Sequence[str], n_repeated: int
) -> Iterator[str]:
    # Cautions stand above the tables: each names a reason to read a number differently.
    if n_repeated:
        yield (
            f"{n_repeated} of {len(subjects)} narratives repeat another picture by picture. Each is"
            " judged once and counts as often as it stands here: n is too large and p-values too"
            " small."
        )
    for source in sources:
        n = sum(s.source == source for s in subjects)
        if n < FEW:
            yield (
                f"{source}: only {n} narratives. Tests and effect sizes against it rest on them; if"
                " they are parts of one another or share pictures, they are not independent and"
                " p-values are too small."
            )
    yield (
        "Distances (DTW) leave human narratives out: their distance to themselves is 0 and would"
        " build in a correlation."
    )
    yield (
        "The K judges of a table are repeats of one model: their agreement says that the model"
        " repeats itself, not that it is right."
    )


def with_and_without(
    tables: compared.ComparisonTables, pairs: Sequence[tuple[str, str]]
) -> Iterator[compared.ExampleEffect]:
    """Compare means, SD and ICC of each way of rating with and without examples.

    Args:
        tables: The tables of a study.
        pairs: Names of a way without examples and of the same way with them.

    Yields:
        A row per pair and source.
    """
    scores = {(row.method, row.source): row for row in tables.scores}
    # One row per way and source; agreement of judges is over all sources.
    reliability = {row.method: row.icc_single for row in tables.reliability}
    for without, examples in pairs:
        for source in tables.sources:
            without_examples, with_examples = (
                msgspec.convert(
                    scores[way, source],
                    compared.RatingSpread,
                    from_attributes=True,
                )
                for way in (without, examples)
            )
            yield compared.ExampleEffect(
                way=without,
                source=source,
                without=without_examples,
                shown=with_examples,
                sd_difference=None
                if without_examples.sd is None or with_examples.sd is None
                else with_examples.sd - without_examples.sd,
                icc_single=compared.AgreementChange(
                    reliability[without], reliability[examples]
                ),
            )

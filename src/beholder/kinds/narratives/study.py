"""A comparison of sources of narratives: scores, reliability, effects, correlations, steps.

Pure arithmetic over votes and coherence; the same numbers as tables 1 to 4 of Keith et al. 2025,
each with an interval, n, and cautions.

Several judges are compared, too. A judge here is a model; the repeats of one model are its votes.
Their agreement says that models agree with each other, which the repeats of one cannot show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, combinations
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType, structs

from beholder import stats
from beholder.errors import ConfigError
from beholder.judges.operations import BREAK_KINDS, BreakKind
from beholder.kinds.narratives import compared
from beholder.kinds.narratives.compared import Number
from beholder.kinds.narratives.results import (
    HYBRID,
    Narrative,
    NarrativeStudy,
    SideBySide,
    StageOfRun,
    mean_vote,
    read_study,
)
from beholder.kinds.narratives.storylines.space import Floats
from beholder.kinds.narratives.tables import side_by_side_tables
from beholder.records import interval_ends
from beholder.run.kind import Beside
from beholder.stats.intraclass import ICCKind
from beholder.stats.ranks import mean_ranks

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


StepRow: TypeAlias = tuple[str, Sequence[float | None], Sequence[float] | None]
"""Source, mean vote per step (None where it failed), theta per step (None where not measured)."""

Breaks: TypeAlias = Sequence[BreakKind] | None
"""Kinds of break in one step; None if no judge reported on it."""

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


def steps_table(
    rows: Sequence[StepRow],
    human: str = "human",
    broken: Sequence[tuple[str, Sequence[Breaks]]] = (),
) -> compared.StepTables:
    """Return step ratings per source, tests between sources, and agreement with theta.

    Steps of one narrative are not independent: they share pictures and a judge who saw the one
    before. So a narrative counts once, with its mean step rating.

    Args:
        rows: One per narrative.
        human: Name of the human source; it comes first.
        broken: Breaks in steps, as ``breaks_table`` takes them.
    """
    sources = ordered_sources([source for source, _, _ in rows], human)
    votes = {
        source: [votes for of, votes, _ in rows if of == source]
        for source in sources
    }
    means = {
        source: [
            mean for mean in map(mean_vote, source_votes) if mean is not None
        ]
        for source, source_votes in votes.items()
    }
    n_compared, same_weakest, by_chance = _weakest(rows)
    return compared.StepTables(
        sources=tuple(
            _source(source, votes[source], means[source]) for source in sources
        ),
        comparisons=tuple(compare_sources(means)),
        correlation=_correlation(rows),
        n_compared=n_compared,
        same_weakest=same_weakest,
        by_chance=by_chance,
        breaks=breaks_table(broken, human),
    )


def agreed_breaks(votes: Sequence[Breaks]) -> Breaks:
    """Return the kinds of break in a step that more than half of the reporting judges name."""
    reports = [kinds for kinds in votes if kinds is not None]
    if not reports:
        return None
    counts = Counter(kind for kinds in reports for kind in kinds)
    return [kind for kind in BREAK_KINDS if 2 * counts[kind] > len(reports)]


def breaks_table(
    rows: Sequence[tuple[str, Sequence[Breaks]]], human: str = "human"
) -> compared.BreakTables:
    """Return counts of each kind of break per source, and tests between sources.

    In tests a narrative counts once, with its share of steps that break; p-values are adjusted over
    all kinds and pairs of sources.

    Args:
        rows: Source and what breaks in each step, one per narrative.
        human: Name of the human source; it comes first.
    """
    sources = ordered_sources([source for source, _ in rows], human)
    # Per source and narrative, what breaks in each step that was reported on.
    reports = {
        source: [
            [breaks for breaks in steps if breaks is not None]
            for of, steps in rows
            if of == source
        ]
        for source in sources
    }
    tests = []
    # A narrative counts once, with the share of its steps that break in this way.
    for kind in BREAK_KINDS:
        shares = {
            source: [
                float(np.mean([kind in breaks for breaks in steps]))
                for steps in reports[source]
                if steps
            ]
            for source in sources
        }
        for (a, first), (b, second) in combinations(shares.items(), 2):
            if first and second:
                difference = float(np.mean(first) - np.mean(second))
                p = stats.mann_whitney(first, second).p_value
                row = compared.BreakComparison(
                    kind, a, b, len(first), len(second), difference, p
                )
                tests.append(row)
    n_steps = Counter[str]()
    for source, steps in rows:
        n_steps[source] += len(steps)
    return compared.BreakTables(
        tuple(
            _tally(s, list(chain.from_iterable(reports[s])), n_steps[s])
            for s in sources
        ),
        tuple(with_holm(tests, "p")),
    )


def _tally(
    source: str, reports: Sequence[Sequence[BreakKind]], n_steps: int
) -> compared.BreakTally:
    n = len(reports)
    counts: dict[str, int] = {
        kind: sum(kind in breaks for breaks in reports) for kind in BREAK_KINDS
    }
    return compared.BreakTally(
        source=source,
        n=n,
        n_not_told=n_steps - n,
        counts=counts,
        shares={k: count / n if n else None for k, count in counts.items()},
    )


def _source(
    source: str,
    votes: Sequence[Sequence[Number]],
    means: Sequence[float],
) -> compared.StepSource:
    summary = mean_and_sd(means)
    steps = [vote for narrative_votes in votes for vote in narrative_votes]
    n_failed = steps.count(None)
    return compared.StepSource(
        source,
        summary.n,
        summary.mean,
        summary.sd,
        len(steps) - n_failed,
        n_failed,
    )


def _correlation(rows: Sequence[StepRow]) -> compared.StepCorrelation:
    # Steps of one narrative are not independent: the number of the narrative is resampled.
    rated_steps = []
    for number, (_, votes, theta) in enumerate(rows):
        for vote, step in zip(votes, theta or [], strict=False):
            if vote is not None:
                rated_steps.append((vote, step, number))
    x, y, narrative = ([step[at] for step in rated_steps] for at in range(3))
    if len(set(narrative)) < 3:
        return compared.StepCorrelation(len(rated_steps), None, None)
    rho = stats.spearman(x, y, clusters=narrative)
    return compared.StepCorrelation(
        len(rated_steps), rho.value, interval_ends(rho.interval)
    )


def _weakest(
    rows: Sequence[StepRow],
) -> tuple[int, Number, Number]:
    """Return narratives compared, the share with lowest rating at lowest theta, and by chance."""
    at_lowest, chance = [], []
    for _, votes, theta in rows:
        if theta is None or None in votes or len(theta) < 2:
            continue
        ratings = np.array(votes, dtype=np.float64)
        # Ratings tie often: the step of lowest theta may be any of the lowest rated ones, and the
        # chance of that grows with their number.
        lowest = ratings == ratings.min()
        at_lowest.append(float(lowest[int(np.argmin(theta))]))
        chance.append(float(lowest.mean()))
    return (
        len(at_lowest),
        mean_and_sd(at_lowest).mean,
        mean_and_sd(chance).mean,
    )


def between_models(
    by: str,
    ratings: Mapping[str, Mapping[str, float]],
    sources: Mapping[str, str],
    human: str = "human",
) -> compared.ModelAgreement:
    """Return the agreement of judges over the narratives that all of them rated.

    Args:
        by: Name of the way of rating.
        ratings: Per judge the mean vote per narrative, by id.
        sources: Source of each narrative, by id.
        human: Name of the human source; it comes first.
    """
    models = tuple(ratings)
    # Judges that failed on different narratives are compared on what all of them rated.
    n_rated = Counter(name for means in ratings.values() for name in means)
    common = [name for name, n in n_rated.items() if n == len(ratings)]
    n, n_left_out = len(common), len(n_rated) - len(common)
    if n < 2:
        reason = f"needs two narratives that all judges rated, got {n}"
        return compared.ModelAgreement(by, models, n, n_left_out, reason)
    table = np.array(
        [[ratings[model][name] for model in models] for name in common]
    )
    concordance = stats.kendall_w(table)
    single, average = agreement(table)
    return compared.ModelAgreement(
        by=by,
        models=models,
        n=n,
        n_left_out=n_left_out,
        icc_single=single,
        icc_average=average,
        kendall_w=compared.AgreementValue(
            concordance.value,
            interval_ends(concordance.interval),
            concordance.reason,
        ),
        pairs=tuple(
            _pair_of(table, models, i, j)
            for i, j in combinations(range(len(models)), 2)
        ),
        sources=tuple(
            _by_source(
                table, models, [sources[name] for name in common], human
            )
        ),
    )


def _pair_of(
    table: Floats, models: Sequence[str], i: int, j: int
) -> compared.ModelPair:
    a, b = table[:, i], table[:, j]
    linear, difference = stats.pearson(a, b), stats.paired_difference(b, a)
    return compared.ModelPair(
        a=models[i],
        b=models[j],
        r=linear.value,
        interval=interval_ends(linear.interval),
        p=linear.p_value,
        rho=stats.spearman(a, b).value,
        difference=difference.mean,
        difference_interval=interval_ends(difference.interval),
        difference_p=difference.p_value,
    )


def _by_source(
    table: Floats,
    models: Sequence[str],
    narrative_sources: Sequence[str],
    human: str,
) -> Iterator[compared.ModelSource]:
    sources = ordered_sources(narrative_sources, human)
    source_index = np.array(
        [sources.index(source) for source in narrative_sources]
    )
    for column, model in enumerate(models):
        groups = [
            table[source_index == at, column] for at in range(len(sources))
        ]
        # Rank 1 is the highest mean, hence the sign.
        ranks = mean_ranks([-group.mean() for group in groups])
        for source, group, rank in zip(sources, groups, ranks, strict=True):
            mean, sd = float(group.mean()), mean_and_sd(group.tolist()).sd
            yield compared.ModelSource(
                model, source, len(group), mean, sd, float(rank)
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


STEPS = "steps"
"""Name under which the mean rating of a narrative's steps is compared."""


def side_by_side(run_a: Path, run_b: Path) -> SideBySide:
    """Compare the judges of two finished runs, way by way, over narratives of the same id.

    Args:
        run_a: A run over narratives; its human source comes first.
        run_b: Another.

    Raises:
        ConfigError: An id means different pictures in the two runs.
        RunError: A folder is not a finished run over narratives.
    """
    names = (run_a.name, run_b.name)
    # Folders of one name at different places would give two columns of one heading.
    if names[0] == names[1]:
        names = (f"first ({run_a})", f"second ({run_b})")
    first, second = studies = [read_study(run) for run in (run_a, run_b)]
    _check_same(names, studies)
    ratings_by_run = [_ratings_by_way(study) for study in studies]
    sources = {n.id: n.source for study in studies for n in study.narratives}
    judges: dict[str, tuple[str, ...]] = {}
    models = []
    # Only ways that both runs have can be compared; steps count as one more way.
    for way in ratings_by_run[0]:
        if way in ratings_by_run[1]:
            means = dict(
                zip(
                    names,
                    (ratings[way] for ratings in ratings_by_run),
                    strict=True,
                )
            )
            models.append(between_models(way, means, sources, first.human))
            stage = "transitions" if way == STEPS else way
            judges[way] = tuple(
                study.judges.get(stage, "") for study in studies
            )
    cost = (
        StageOfRun(name, stage, **asdict(spent))
        for name, study in zip(names, (first, second), strict=True)
        for stage, spent in study.cost.stages.items()
    )
    return SideBySide(names, judges, tuple(models), tuple(cost))


def _ratings_by_way(study: NarrativeStudy) -> dict[str, dict[str, float]]:
    """Return per way of rating the mean vote of each narrative that has one."""
    ratings: dict[str, dict[str, float]] = {}
    for narrative in study.narratives:
        votes = {
            way: v for way, v in narrative.ratings.items() if way != HYBRID
        }
        votes[STEPS] = tuple(narrative.step_means)
        for way, values in votes.items():
            mean = mean_vote(values)
            if mean is not None:
                ratings.setdefault(way, {})[narrative.id] = mean
    return ratings


def _check_same(
    names: Sequence[str], studies: Sequence[NarrativeStudy]
) -> None:
    first, second = (
        {
            narrative.id: [study.frames[at].id for at in narrative.frames]
            for narrative in study.narratives
        }
        for study in studies
    )
    for name, frames in first.items():
        if second.get(name, frames) != frames:
            raise ConfigError(
                f"sequence {name!r} shows other pictures in {names[1]} than in {names[0]}; runs"
                " can be compared over the same sequences"
            )


def compare_runs(run_a: Path, run_b: Path) -> Beside:
    """Return the part of ``compare`` on two runs: agreement, ranks and costs of their judges."""
    comparison = side_by_side(run_a, run_b)
    notes = () if comparison.models else ("the runs share no way of rating",)
    return Beside(
        msgspec.to_builtins(comparison), side_by_side_tables(comparison), notes
    )

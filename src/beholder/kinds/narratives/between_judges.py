"""Agreement between judges, of one study or of two runs over the same narratives.

A judge here is a model; the repeats of one model are its votes. Agreement between judges shows that
models agree with each other, which the repeats of one model cannot show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from beholder import stats
from beholder.errors import ConfigError
from beholder.kinds.narratives import compared
from beholder.kinds.narratives.results import (
    HYBRID,
    NarrativeStudy,
    SideBySide,
    StageOfRun,
    mean_vote,
    read_study,
)
from beholder.kinds.narratives.storylines.space import Floats
from beholder.kinds.narratives.study import (
    agreement,
    mean_and_sd,
    ordered_sources,
)
from beholder.kinds.narratives.tables import side_by_side_tables
from beholder.records import interval_ends
from beholder.run.kind import ComparisonExtra
from beholder.stats.ranks import mean_ranks


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


def compare_runs(run_a: Path, run_b: Path) -> ComparisonExtra:
    """Return the part of ``compare`` on two runs: agreement, ranks and costs of their judges."""
    comparison = side_by_side(run_a, run_b)
    notes = () if comparison.models else ("the runs share no way of rating",)
    return ComparisonExtra(
        msgspec.to_builtins(comparison), side_by_side_tables(comparison), notes
    )

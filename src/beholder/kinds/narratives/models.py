"""Several judges over the same narratives: how they agree, how they rank sources, side by side.

A judge here is a model; the repeats of one model are its votes. Their agreement says that models
agree with each other, which the repeats of one model cannot show.
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
from beholder.kinds.narratives import compared, results
from beholder.kinds.narratives.results import (
    HYBRID,
    NarrativeStudy,
    SideBySide,
    StageOfRun,
    mean_vote,
)
from beholder.kinds.narratives.storylines.space import Floats
from beholder.kinds.narratives.study import (
    agreement,
    mean_and_sd,
    ordered_sources,
)
from beholder.kinds.narratives.tables import side_by_side_tables
from beholder.records import ends_of
from beholder.run.kind import Beside
from beholder.stats.ranks import mean_ranks


def between_models(
    by: str,
    ratings: Mapping[str, Mapping[str, float]],
    sources: Mapping[str, str],
    human: str = "human",
) -> compared.ModelAgreement:
    """How judges agree over the narratives that all of them rated.

    Args:
        by: Name of the way of rating.
        ratings: Per judge the mean vote per narrative, by id.
        sources: Source of each narrative, by id.
        human: Name of the human source; it comes first.
    """
    models = tuple(ratings)
    n_rated = Counter(name for rated in ratings.values() for name in rated)
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
            ends_of(concordance.interval),
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
        interval=ends_of(linear.interval),
        p=linear.p_value,
        rho=stats.spearman(a, b).value,
        difference=difference.mean,
        difference_interval=ends_of(difference.interval),
        difference_p=difference.p_value,
    )


def _by_source(
    table: Floats, models: Sequence[str], named: Sequence[str], human: str
) -> Iterator[compared.ModelSource]:
    sources = ordered_sources(named, human)
    of = np.array([sources.index(source) for source in named])
    for column, model in enumerate(models):
        groups = [table[of == at, column] for at in range(len(sources))]
        ranks = mean_ranks([-group.mean() for group in groups])
        for source, group, rank in zip(sources, groups, ranks, strict=True):
            mean, sd = float(group.mean()), mean_and_sd(group.tolist()).sd
            yield compared.ModelSource(
                model, source, len(group), mean, sd, float(rank)
            )


def with_and_without(
    tables: compared.ComparisonTables, pairs: Sequence[tuple[str, str]]
) -> Iterator[compared.ExampleEffect]:
    """What examples change: means, SD and ICC of each way of rating with and without them.

    Args:
        tables: The tables of a study.
        pairs: Names of a way without examples and of the same way with them.

    Yields:
        A row per pair and source.
    """
    scores = {(row.method, row.source): row for row in tables.scores}
    reliability = {row.method: row.icc_single for row in tables.reliability}
    for without, examples in pairs:
        for source in tables.sources:
            plain, shown = (
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
                without=plain,
                shown=shown,
                sd_difference=None
                if plain.sd is None or shown.sd is None
                else shown.sd - plain.sd,
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
        RunError: A folder holds no finished run over narratives.
    """
    names = (run_a.name, run_b.name)
    if names[0] == names[1]:
        names = (f"first ({run_a})", f"second ({run_b})")
    first, second = studies = [results.read(run) for run in (run_a, run_b)]
    _check_same(names, studies)
    rated = [_rated(study) for study in studies]
    sources = {n.id: n.source for study in studies for n in study.narratives}
    judges: dict[str, tuple[str, ...]] = {}
    models = []
    for way in rated[0]:
        if way in rated[1]:
            means = dict(zip(names, (one[way] for one in rated), strict=True))
            models.append(between_models(way, means, sources, first.human))
            stage = "transitions" if way == STEPS else way
            judges[way] = tuple(one.judges.get(stage, "") for one in studies)
    cost = (
        StageOfRun(name, stage, **asdict(spent))
        for name, study in zip(names, (first, second), strict=True)
        for stage, spent in study.cost.stages.items()
    )
    return SideBySide(names, judges, tuple(models), tuple(cost))


def _rated(study: NarrativeStudy) -> dict[str, dict[str, float]]:
    """Return per way of rating the mean vote of each narrative that has one."""
    rated: dict[str, dict[str, float]] = {}
    for narrative in study.narratives:
        votes = {
            way: v for way, v in narrative.ratings.items() if way != HYBRID
        }
        votes[STEPS] = tuple(narrative.step_means)
        for way, values in votes.items():
            mean = mean_vote(values)
            if mean is not None:
                rated.setdefault(way, {})[narrative.id] = mean
    return rated


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


def beside(run_a: Path, run_b: Path) -> Beside:
    """What ``compare`` shows of two runs: how their judges agree, rank sources, and cost."""
    found = side_by_side(run_a, run_b)
    notes = () if found.models else ("the runs share no way of rating",)
    return Beside(
        msgspec.to_builtins(found), side_by_side_tables(found), notes
    )

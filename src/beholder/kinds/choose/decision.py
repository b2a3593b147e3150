"""The decision rule, which is fixed before any text is asked for, and its reasons in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.kinds.choose.config import ChoiceOptions
from beholder.kinds.choose.criteria import Captioner, common_pictures
from beholder.kinds.choose.figures import Figure
from beholder.records import Interval
from beholder.stats import (
    holm,
    paired_difference,
    pictures_for_difference,
    significance_clusters,
)
from beholder.stats.bootstrap import LEAST_SOURCES
from beholder.stats.choice import (
    LimitState,
    state_of_limit,
    texts_to_settle,
)

MANY_FAILED = 0.2
"""Share of pictures without a text from which a captioner is not ranked."""

SMALL_DIFFERENCE = 0.02
RULE = (
    "A captioner is out if it surely misses a limit (the upper end of its rate is below it).",
    "Of the rest, the first cluster on {main}.",
    "Among these, the first cluster on {other}.",
    "Among these, the lowest dollars, then the fewest seconds.",
)


@dataclass(frozen=True)
class CriterionRanking:
    """Captioners in clusters on one criterion, over the pictures that all of them have.

    Attributes:
        criterion: The criterion.
        means: Mean by captioner.
        clusters: Number of the cluster by captioner, from 1.
        n: Common pictures.
        differences: Of the best from each other captioner.
    """

    criterion: str
    means: Mapping[str, float]
    clusters: Mapping[str, int]
    n: int
    differences: tuple[Mapping[str, Any], ...] = ()

    @property
    def first(self) -> list[str]:
        """Captioners of the first cluster."""
        return [name for name, number in self.clusters.items() if number == 1]


@dataclass(frozen=True)
class RuleDecision:
    """What the rule gives.

    Attributes:
        chosen: The captioner; None if the data or the limits leave none.
        code: 0 chosen, 1 no captioner is left, 3 not enough data.
        text: The result in sentences.
        steps: A line for each step of the rule.
        cautions: What a reader must know.
        rankings: The clusters that the rule used.
    """

    chosen: str | None
    code: int
    text: str
    steps: tuple[str, ...]
    cautions: tuple[str, ...] = ()
    rankings: tuple[CriterionRanking, ...] = field(default=())


def rank(captioners: Sequence[Captioner], criterion: str) -> CriterionRanking:
    """Cluster captioners on a criterion; those without any value are left out."""
    scored = [c for c in captioners if c.scores.get(criterion)]
    keys = common_pictures(scored, criterion)
    if not keys:
        return CriterionRanking(criterion, {}, {}, 0)
    table = [
        np.array([c.scores[criterion][key] for key in keys]) for c in scored
    ]
    means = [float(row.mean()) for row in table]

    def p_value(a: int, b: int) -> float | None:
        if len(keys) < LEAST_SOURCES:
            return None
        return paired_difference(table[a], table[b]).p_value

    numbers = significance_clusters(means, p_value)
    best = int(np.argmax(np.round(means, 12)))
    challengers = [place for place in range(len(scored)) if place != best]
    tests = [paired_difference(table[best], table[o]) for o in challengers]
    corrected = holm([test.p_value for test in tests])
    differences = tuple(
        {
            "best": scored[best].name,
            "other": scored[challenger].name,
            "difference": test.mean,
            "low": test.interval.low if test.interval else None,
            "high": test.interval.high if test.interval else None,
            "p": p,
            "sd": float((table[best] - table[challenger]).std(ddof=1))
            if len(keys) > 1
            else 0.0,
        }
        for challenger, test, p in zip(
            challengers, tests, corrected, strict=True
        )
    )
    clusters = {
        c.name: number
        for c, number in zip(scored, numbers, strict=True)
        if number is not None
    }
    names = [c.name for c in scored]
    return CriterionRanking(
        criterion,
        dict(zip(names, means, strict=True)),
        clusters,
        len(keys),
        differences,
    )


def decide(
    captioners: Sequence[Captioner], options: ChoiceOptions, n: int
) -> RuleDecision:
    """Apply the rule.

    Args:
        captioners: The captioners with their figures.
        options: Limits and the main criterion.
        n: Drawn pictures.
    """
    steps: list[str] = []
    remaining = []
    for captioner in captioners:
        if captioner.n_failed > MANY_FAILED * n:
            steps.append(
                f"{captioner.name} failed on {captioner.n_failed} of {n}: not ranked"
            )
        elif misses := _missed_limits(captioner, options):
            steps.append(f"{captioner.name} is out: {'; '.join(misses)}")
        else:
            remaining.append(captioner)
    cautions = [text for c in captioners for text in c.cautions]
    cautions += _open_limits(remaining, options)
    if not remaining:
        return RuleDecision(
            None, 1, "No captioner is left: each surely misses a limit or failed too often.",
            tuple(steps), tuple(cautions),
        )  # fmt: skip
    sentences = [f"{step}." for step in steps]
    steps.append(f"{_names(remaining)} missed no limit surely")
    second = "complete" if options.main == "right" else "right"
    rankings: list[CriterionRanking] = []
    for criterion in (options.main, second):
        if len(remaining) == 1:
            break
        ranking = rank(remaining, criterion)
        rankings.append(ranking)
        few = (
            f"{ranking.n} pictures have a value of {criterion} from all of {_names(remaining)}, at"
            f" least {LEAST_SOURCES} are needed"
        )
        if ranking.n < LEAST_SOURCES and criterion != options.main:
            steps.append(f"{criterion} decides nothing: {few}")
            continue
        steps += [
            f"{c.name} has no value of {criterion}: not ranked"
            for c in remaining
            if c.name not in ranking.means
        ]
        if ranking.n < LEAST_SOURCES:
            text = f"Not enough data: {few}."
            return RuleDecision(
                None, 3, text, (*steps, text), tuple(cautions), tuple(rankings)
            )
        sentences += describe(ranking)
        remaining = [c for c in remaining if c.name in ranking.first]
        steps.append(f"first cluster on {criterion}: {_names(remaining)}")
    return _choose_cheapest(remaining, rankings, sentences, steps, cautions)


def _missed_limits(captioner: Captioner, options: ChoiceOptions) -> list[str]:
    """Return the limits that are surely missed, in words."""
    return [
        f"{name} {figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f}) is below"
        f" {options.limits[name]:g}"
        for name, state, figure in _limit_states(captioner, options)
        if state == "missed"
    ]


def _limit_states(
    captioner: Captioner, options: ChoiceOptions
) -> Iterator[tuple[str, LimitState, Figure]]:
    for name, limit in options.limits.items():
        figure = captioner.figures[name]
        if figure.low is not None and figure.high is not None:
            ends = Interval(figure.low, figure.high, 0.95)
            yield name, state_of_limit(ends, limit), figure


def _open_limits(
    captioners: Sequence[Captioner], options: ChoiceOptions
) -> Iterator[str]:
    """Yield a caution for each limit that some neither surely meet nor surely miss."""
    by_limit = group_by_key(
        (name, (captioner.name, figure))
        for captioner in captioners
        for name, state, figure in _limit_states(captioner, options)
        if state == "open"
    )
    for name, rows in by_limit.items():
        limit = options.limits[name]
        needs = []
        for captioner, figure in rows:
            n = texts_to_settle(figure.value or 0.0, limit)
            more = (
                "no number of texts settles it"
                if n is None
                else f"about {max(1, n - figure.n):,} more texts settle it"
            )
            needs.append(f"{captioner} ({figure.value:.3f}; {more})")
        yield f"{name} {limit:g} is neither surely met nor surely missed by {', '.join(needs)}"


def describe(ranking: CriterionRanking) -> list[str]:
    """Return a sentence for each difference from the best."""
    sentences = []
    for row in ranking.differences:
        best, challenger = row["best"], row["other"]
        span = f"difference {row['difference']:.3f}"
        if row["low"] is not None:
            span += f", {row['low']:.3f} to {row['high']:.3f}"
        if ranking.clusters[challenger] == 1:
            sentences.append(
                f"{best} and {challenger} are not separated in {ranking.criterion} by {ranking.n}"
                f" pictures ({span})."
            )
        else:
            sentences.append(
                f"{challenger} is worse than {best} in {ranking.criterion} ({span},"
                f" p {row['p']:.3f})."
            )
    return sentences


def _choose_cheapest(
    remaining: Sequence[Captioner],
    rankings: Sequence[CriterionRanking],
    sentences: Sequence[str],
    steps: list[str],
    cautions: Sequence[str],
) -> RuleDecision:
    rest = (tuple(cautions), tuple(rankings))
    if len(remaining) == 1:
        chosen = remaining[0]
        why = f"{chosen.name}. " + " ".join(sentences)
        return RuleDecision(chosen.name, 0, why.strip(), tuple(steps), *rest)
    needed = _pictures_needed(rankings, remaining)
    names = [c.name for c in remaining]
    for key, words in (
        ("dollars", "the cheapest"),
        ("seconds", "the fastest"),
    ):
        values = {
            c.name: c.figures[key].value for c in remaining if c.name in names
        }
        unknown = [name for name, value in values.items() if value is None]
        known_values = {k: v for k, v in values.items() if v is not None}
        if unknown:
            steps.append(f"{key}: unknown for {', '.join(unknown)}")
            # A known price is not lower than an unknown one.
            if known_values:
                break
            continue
        best = min(known_values.values())
        names = [name for name, value in known_values.items() if value == best]
        steps.append(f"{words}: {', '.join(names)}")
        if len(names) == 1:
            text = f"{names[0]}. {' '.join(sentences)} {names[0]} is {words} of them. {needed}"
            return RuleDecision(names[0], 0, text.strip(), tuple(steps), *rest)
    text = (
        f"Not decided: {join_names(names)} are left, and neither dollars nor seconds decide (name"
        f" prices with --price, or dollars in the rows). {' '.join(sentences)} {needed}"
    )
    return RuleDecision(None, 3, text.strip(), tuple(steps), *rest)


def _pictures_needed(
    rankings: Sequence[CriterionRanking], remaining: Sequence[Captioner]
) -> str:
    """Return how many pictures would separate a small difference, by the sd that was seen."""
    names = {c.name for c in remaining}
    spreads = [
        row["sd"]
        for ranking in rankings[:1]
        for row in ranking.differences
        if row["other"] in names and row["sd"] > 0
    ]
    if not spreads:
        return ""
    # The sd of differences is sd sqrt(2 (1 - r)); r = 0 leaves sd = sd_d / sqrt 2.
    n = pictures_for_difference(
        SMALL_DIFFERENCE,
        max(spreads) / 2**0.5,
        0.0,
        systems=max(2, len(remaining)),
    )
    return f"To separate {SMALL_DIFFERENCE:g} you need about {n:,} pictures."


def _names(captioners: Sequence[Captioner]) -> str:
    return join_names([c.name for c in captioners])


def join_names(names: Sequence[str]) -> str:
    """Return names as in a sentence: a, b and c."""
    *first_names, last = names
    return f"{', '.join(first_names)} and {last}" if first_names else last

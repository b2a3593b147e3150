"""Agreement of annotators with each other and with known answers, by the coefficients of ``stats``.

A task builds its table with ``cells`` and passes it to one of the ``of_...`` functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, compress
from string import ascii_uppercase
from typing import Any

import numpy as np
from scipy.stats import binomtest

from beholder.kinds.annotation.records import (
    DONE,
    Judged,
    State,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks.base import Task
from beholder.records import Interval
from beholder.run.reliability import Coefficient, Reliability
from beholder.stats.agreement import Agreement
from beholder.stats.bootstrap import mean_interval
from beholder.stats.checks import Floats, Ints
from beholder.stats.intraclass import ICCKind, icc
from beholder.stats.kappa import cohen_kappa, fleiss_kappa
from beholder.stats.krippendorff import krippendorff_alpha
from beholder.stats.reliability import kendall_w, mean_pairwise_correlation
from beholder.stats.spans import TokenSpan, relaxed_f1

Source = tuple[str, ...]
"""The ``source`` of a unit: what its judgments belong together by; whole sources are resampled."""


def agreement_of(
    task: Task, judged: Judged, annotators: Sequence[str]
) -> list[Reliability]:
    """Agreement of annotators, and the share of a judge's proposals they kept, if there were any.

    Args:
        task: The task.
        judged: Units with finished judgments.
        annotators: All annotators; those who finished nothing are left out.
    """
    names = [
        name
        for name in annotators
        if any(name in judgments.by for judgments in judged)
    ]
    rows = task.agreement(judged, names) if len(names) > 1 else []
    if any(judgments.unit.prefill for judgments in judged):
        kept_share = _kept_share(judged)
        rows.append(
            Reliability(
                "proposals of the judge",
                tuple(names),
                len(judged),
                0,
                (kept_share,),
            )
        )
    return rows


def _kept_share(judged: Judged) -> Coefficient:
    """Share of the parts that a judge proposed and annotators left unchanged.

    A share near 1 means that the judge is right, or that annotators followed it.
    """
    unchanged = [
        (float(state.get(part) == value), judgments.unit.source)
        for judgments in judged
        for state in judgments.by.values()
        for part, value in judgments.unit.prefill.items()
    ]
    return mean_of(
        "proposals kept", unchanged, "no finished unit had proposals"
    )


def mean_of(
    name: str, values: Sequence[tuple[float, Source]], reason: str
) -> Coefficient:
    """The mean of values, whose interval resamples sources; the reason if there are none."""
    if not values:
        return Coefficient(name, None, None, reason)
    mean = mean_interval(
        [v for v, _ in values], clusters=[source for _, source in values]
    )
    return Coefficient.of_mean(name, mean)


@dataclass(frozen=True)
class Cells:
    """A table of judgments.

    Attributes:
        what: What was judged.
        table: (n, k) a number per annotator in each row, NaN where an annotator has no judgment.
        raters: The k annotators.
        sources: The source of each row.
    """

    what: str
    table: Floats
    raters: Sequence[str]
    sources: Sequence[Source]

    def shared(self) -> tuple[Floats, list[Source]]:
        """The rows with two or more judgments, and their sources."""
        is_shared = _counts(self.table) >= 2
        return self.table[is_shared], list(compress(self.sources, is_shared))

    def reliability(self, *coefficients: Coefficient) -> Reliability:
        """The coefficients, with how many rows have two or more judgments, and how many one."""
        counts = _counts(self.table)
        return Reliability(
            self.what,
            tuple(self.raters),
            int((counts >= 2).sum()),
            int((counts == 1).sum()),
            coefficients,
        )


def _counts(table: Floats) -> Ints:
    """(n,) judgments in each row."""
    counts: Ints = np.count_nonzero(~np.isnan(table), axis=1)
    return counts


def cells(
    task: Task,
    what: str,
    judged: Judged,
    annotators: Sequence[str],
    number: Callable[[Any], float] = float,
    part: str = "",
) -> Cells:
    """The table of a task's judgments; each part of each unit is a row.

    Args:
        task: The task.
        what: What was judged.
        judged: Units with finished judgments.
        annotators: The columns.
        number: The number of a part's value.
        part: Name of the only part that is compared; empty for all.
    """
    rows, sources = [], []
    for judgments in judged:
        names = (
            [part]
            if part
            else [task_part.name for task_part in task.parts(judgments.unit)]
        )
        for name in names:
            rows.append(
                [
                    number(judgments.by[who][name])
                    if who in judgments.by
                    else np.nan
                    for who in annotators
                ]
            )
            sources.append(judgments.unit.source)
    table = np.array(rows, dtype=np.float64)
    shape = len(rows), len(annotators)
    return Cells(what, table.reshape(shape), annotators, sources)


def of_numbers(judgment_cells: Cells) -> Reliability:
    """Agreement on a numeric scale: alpha, ICC, mean correlation.

    Intervals resample sources; those of the ICC use the F distribution, which assumes independent
    rows. If all annotators rated the same rows, ICC(2,1) counts their offsets as disagreement. If
    rows have different annotators, equally many each, only ICC(1,1) is defined.
    """
    table, clusters = judgment_cells.shared()
    alpha = krippendorff_alpha(table, "interval", clusters=clusters)
    coefficients = [Coefficient.of("Krippendorff alpha (interval)", alpha)]
    if np.isnan(table).any():
        coefficients += [_icc(table, "1,1"), _icc(table, "1,k")]
    else:
        coefficients += [_icc(table, "2,1"), _icc(table, "2,k")]
        correlation = mean_pairwise_correlation(
            table, "spearman", clusters=clusters
        )
        coefficients.append(
            Coefficient.of("mean pairwise Spearman", correlation)
        )
    return judgment_cells.reliability(*coefficients)


def _icc(table: Floats, kind: ICCKind) -> Coefficient:
    """An ICC; ratings that are missing are left out if each row has equally many."""
    name, counts = f"ICC({kind})", _counts(table)
    if len(np.unique(counts)) > 1:
        reason = f"needs equally many ratings of each; there are {counts.min()} to {counts.max()}"
        return Coefficient(name, None, None, reason)
    is_rated = ~np.isnan(table)
    if not is_rated.all():
        table = table[is_rated].reshape(len(table), -1)
    return Coefficient.of(name, icc(table, kind))


def of_order(judgment_cells: Cells, levels: Sequence[int]) -> Reliability:
    """Agreement on ordered levels: ordinal alpha, and weighted kappa for two annotators."""
    table, clusters = judgment_cells.shared()
    alpha = krippendorff_alpha(table, "ordinal", clusters=clusters)
    coefficients = [Coefficient.of("Krippendorff alpha (ordinal)", alpha)]
    if len(judgment_cells.raters) == 2:
        a, b = table[:, 0].astype(int), table[:, 1].astype(int)
        kappa = cohen_kappa(
            a, b, weights="linear", categories=list(levels), clusters=clusters
        )
        coefficients.append(
            Coefficient.of("Cohen kappa (linear weights)", kappa)
        )
    return judgment_cells.reliability(*coefficients)


def of_kinds(judgment_cells: Cells, n_kinds: int) -> Reliability:
    """Agreement on unordered kinds: nominal alpha, and kappa (Cohen's for two, else Fleiss').

    Args:
        judgment_cells: Numbers of kinds from 0.
        n_kinds: Number of kinds.
    """
    table, clusters = judgment_cells.shared()
    alpha = krippendorff_alpha(table, "nominal", clusters=clusters)
    coefficients = [Coefficient.of("Krippendorff alpha (nominal)", alpha)]
    if len(judgment_cells.raters) == 2:
        a, b = table[:, 0].astype(int), table[:, 1].astype(int)
        coefficients.append(
            Coefficient.of("Cohen kappa", cohen_kappa(a, b, clusters=clusters))
        )
    elif len(np.unique(_counts(table))) > 1:
        reason = "needs equally many judgments of each; alpha does not"
        coefficients.append(Coefficient("Fleiss kappa", None, None, reason))
    else:
        counts = np.array(
            [[(row == kind).sum() for kind in range(n_kinds)] for row in table]
        )
        kappa = fleiss_kappa(
            counts.reshape(len(table), n_kinds), clusters=clusters
        )
        coefficients.append(Coefficient.of("Fleiss kappa", kappa))
    return judgment_cells.reliability(*coefficients)


def of_spans(
    what: str,
    marked: Sequence[tuple[tuple[str, ...], Sequence[Sequence[TokenSpan]]]],
    raters: Sequence[str],
) -> Reliability:
    """Agreement on marked spans: F1 of each pair of annotators; a match shares half of the words.

    Alpha is not defined: unmarked text is not divided into units, so the agreement expected by
    chance is unknown (Hripcsak and Rothschild 2005).

    Args:
        what: What was marked.
        marked: Per text its source and the spans of each annotator who finished it.
        raters: The annotators.
    """
    pairs = [
        (source, a, b)
        for source, spans in marked
        for a, b in combinations(spans, 2)
    ]
    n_items = sum(len(spans) > 1 for _, spans in marked)
    matches = relaxed_f1(
        [a for _, a, _ in pairs],
        [b for _, _, b in pairs],
        clusters=[s for s, _, _ in pairs],
    )
    span_f1 = Coefficient(
        "span F1 (half of the words)",
        matches.f1,
        matches.interval,
        matches.reason,
    )
    return Reliability(
        what, tuple(raters), n_items, len(marked) - n_items, (span_f1,)
    )


def of_rankings(
    what: str,
    rankings: Sequence[tuple[Source, Sequence[Sequence[float]]]],
    raters: Sequence[str],
) -> Reliability:
    """Agreement on orders: Kendall's W and the mean Spearman within each set; means over sets.

    Intervals resample sources, so sets about one picture stay together.

    Args:
        what: What was ranked.
        rankings: Per set its source and, per annotator who finished it, the rank of each text.
        raters: The annotators.
    """
    shared = [
        (source, np.array(ranks, dtype=np.float64).T)
        for source, ranks in rankings
        if len(ranks) > 1
    ]
    correlation = partial(mean_pairwise_correlation, kind="spearman")
    measures: dict[str, Callable[..., Agreement]] = {
        "Kendall W, mean over sets": kendall_w,
        "Spearman of two, mean over sets": correlation,
    }
    coefficients = []
    for name, measure in measures.items():
        values = [
            (measure(table, n_resamples=1).value, source)
            for source, table in shared
        ]
        defined = [(v, source) for v, source in values if v is not None]
        reason = "no set was ranked by two annotators"
        coefficients.append(mean_of(name, defined, reason))
    n_single = len(rankings) - len(shared)
    return Reliability(
        what, tuple(raters), len(shared), n_single, tuple(coefficients)
    )


_USES = {"gold": "gold units right", "attention": "attention checks passed"}


def find_disputed(study: AnnotationStudy) -> list[int]:
    """Positions of the units whose finished judgments differ, in the order of the data."""
    return [
        study.positions()[judgments.unit.id]
        for judgments in study.judged()
        if any(
            study.task.differences(judgments.unit, a, b)
            for a, b in combinations(judgments.by.values(), 2)
        )
    ]


def answers_shown(
    study: AnnotationStudy, annotator: str, position: int, state: State
) -> list[dict[str, object]]:
    """Other judgments that a page shows: the right one once a unit is done, all to an adjudicator.

    Args:
        study: The study.
        annotator: Who sees the page.
        position: The unit.
        state: The annotator's own judgment.
    """
    unit = study.unit(position)
    if annotator == study.design.adjudicator:
        by = next(
            (
                judgments.by
                for judgments in study.judged()
                if judgments.unit.id == unit.id
            ),
            {},
        )
        letters = zip(ascii_uppercase, by.values(), strict=False)
        return [
            {"label": letter, "judgment": judgment}
            for letter, judgment in letters
        ]
    if (
        unit.gold is None
        or unit.gold.use == "attention"
        or not state.get(DONE)
    ):
        return []
    right = unit.gold.judgment
    return [
        {
            "label": "right",
            "judgment": right,
            "feedback": unit.gold.feedback,
            "wrong": study.task.differences(unit, state, right),
        }
    ]


def competence(
    task: Task, judged: Judged, gold: Judged, annotators: Sequence[str]
) -> list[Reliability]:
    """How often each annotator agrees with known answers and with the other annotators.

    Intervals of known answers are Wilson's; those of agreement resample pictures. Answers agree if
    the task finds no difference; ratings may be one level apart. Training does not count.

    Args:
        task: The task.
        judged: Finished judgments of units without a known answer.
        gold: Finished judgments of units with one.
        annotators: All annotators.
    """
    measures = []
    for use, what in _USES.items():
        checks = [
            (judgments, judgments.unit.gold.judgment)
            for judgments in gold
            if judgments.unit.gold is not None
            and judgments.unit.gold.use == use
        ]
        shares = []
        for name in annotators:
            answers = [
                not task.differences(
                    judgments.unit, judgments.by[name], expected
                )
                for judgments, expected in checks
                if name in judgments.by
            ]
            if answers:
                shares.append(_share_right(name, answers))
        measures.append((what, len(checks), 0, shares))
    n = sum(len(judgments.by) > 1 for judgments in judged)
    shares = []
    for name in annotators:
        pairs = _compare_with_others(task, judged, name)
        if pairs:
            shares.append(mean_of(name, pairs, ""))
    what = "answers that another annotator gave, too"
    measures.append((what, n, len(judged) - n, shares))
    return [
        Reliability(
            what,
            tuple(coefficient.name for coefficient in shares),
            n,
            n_single,
            tuple(shares),
        )
        for what, n, n_single, shares in measures
        if shares
    ]


def _share_right(name: str, answers: Sequence[bool]) -> Coefficient:
    interval = binomtest(sum(answers), len(answers)).proportion_ci(
        method="wilson"
    )
    return Coefficient(
        name,
        sum(answers) / len(answers),
        Interval(interval.low, interval.high),
    )


def _compare_with_others(
    task: Task, judged: Judged, name: str
) -> list[tuple[float, Source]]:
    """Per comparison with another annotator 1 if the answers agree, else 0, and the source."""
    return [
        (
            float(
                not task.differences(judgments.unit, judgments.by[name], state)
            ),
            judgments.unit.source,
        )
        for judgments in judged
        for other_annotator, state in judgments.by.items()
        if name in judgments.by and other_annotator != name
    ]

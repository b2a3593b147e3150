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

from beholder.kinds.annotation.records import (
    DONE,
    Judged,
    State,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks.base import Task
from beholder.run.reliability import Coefficient, Reliability
from beholder.stats.agreement import Agreement
from beholder.stats.bootstrap import mean_interval
from beholder.stats.checks import Floats, Ints
from beholder.stats.intraclass import ICCKind, icc
from beholder.stats.kappa import cohen_kappa, fleiss_kappa
from beholder.stats.krippendorff import krippendorff_alpha
from beholder.stats.reliability import kendall_w, mean_pairwise_correlation
from beholder.stats.shares import wilson_limits
from beholder.stats.spans import TokenSpan, relaxed_f1

Source = tuple[str, ...]
"""The ``source`` of a unit, usually its picture; the bootstrap resamples whole sources."""


def agreement_of(
    task: Task, judged: Judged, annotators: Sequence[str]
) -> list[Reliability]:
    """Return the agreement of annotators, and the share of a judge's proposals that they kept.

    Args:
        task: The task.
        judged: Units with finished judgments.
        annotators: All annotators; those who finished nothing are left out.
    """
    # An annotator without a judgment would be a column of NaN: named as a rater, but not counted.
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
    """Return the share of a judge's proposed parts that annotators left unchanged, 0 to 1.

    A share near 1 means that the judge is right, or that annotators followed it.
    """
    # Removed and edited proposals count alike: in both cases the final value differs.
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
    """Return the mean of (value, source) pairs with a bootstrap over sources.

    Without pairs the coefficient has no value and gives ``reason``.
    """
    if not values:
        return Coefficient(name, None, None, reason)
    mean = mean_interval(
        [v for v, _ in values], clusters=[source for _, source in values]
    )
    return Coefficient.from_mean(name, mean)


@dataclass(frozen=True)
class Cells:
    """A table of judgments.

    Attributes:
        what: Name of the judged thing.
        table: (n, k) a number per annotator in each row, NaN where an annotator has no judgment.
        raters: The k annotators.
        sources: The source of each row.
    """

    what: str
    table: Floats
    raters: Sequence[str]
    sources: Sequence[Source]

    def shared(self) -> tuple[Floats, list[Source]]:
        """Return the rows with two or more judgments, (m, k), and their sources."""
        is_shared = _counts(self.table) >= 2
        return self.table[is_shared], list(compress(self.sources, is_shared))

    def reliability(self, *coefficients: Coefficient) -> Reliability:
        """Return the coefficients with the numbers of compared rows and of rows with one judgment.

        A row with one judgment says nothing about agreement; it is counted as left out.
        """
        counts = _counts(self.table)
        return Reliability(
            self.what,
            tuple(self.raters),
            int((counts >= 2).sum()),
            int((counts == 1).sum()),
            coefficients,
        )


def _counts(table: Floats) -> Ints:
    """Return the number of judgments in each row, (n,)."""
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
    """Return the table of a task's judgments; each part of each unit is a row.

    Args:
        task: The task.
        what: Name of the judged thing.
        judged: Units with finished judgments.
        annotators: The columns.
        number: The number of a part's value.
        part: Name of the only part that is compared; empty for all.
    """
    rows, sources = [], []
    for judgments in judged:
        # Units of one task may differ in their parts: a text with two facts has two rows.
        names = [task_part.name for task_part in task.parts(judgments.unit)]
        if part:
            names = [part]
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
    # Without rows numpy makes an array of one axis; the coefficients expect two.
    table = np.array(rows, dtype=np.float64)
    shape = len(rows), len(annotators)
    return Cells(what, table.reshape(shape), annotators, sources)


def of_numbers(judgment_cells: Cells) -> Reliability:
    """Return the agreement on a numeric scale: alpha, ICC, mean pairwise correlation.

    Intervals resample sources; those of the ICC use the F distribution, which assumes independent
    rows. If all annotators rated the same rows, ICC(2,1) counts their offsets as disagreement. If
    rows have different annotators, equally many each, only ICC(1,1) is defined.
    """
    table, clusters = judgment_cells.shared()
    alpha = krippendorff_alpha(table, "interval", clusters=clusters)
    coefficients = [
        Coefficient.from_statistic("Krippendorff alpha (interval)", alpha)
    ]
    if np.isnan(table).any():
        # Columns are not the same person in each row, so neither the two-way model nor a
        # correlation of columns is defined.
        coefficients += [_icc(table, "1,1"), _icc(table, "1,k")]
    else:
        coefficients += [_icc(table, "2,1"), _icc(table, "2,k")]
        correlation = mean_pairwise_correlation(
            table, "spearman", clusters=clusters
        )
        coefficients.append(
            Coefficient.from_statistic("mean pairwise Spearman", correlation)
        )
    return judgment_cells.reliability(*coefficients)


def _icc(table: Floats, kind: ICCKind) -> Coefficient:
    """Return an ICC; missing ratings are skipped if each row has equally many ratings."""
    name, counts = f"ICC({kind})", _counts(table)
    if len(np.unique(counts)) > 1:
        reason = f"needs equally many ratings of each; there are {counts.min()} to {counts.max()}"
        return Coefficient(name, None, None, reason)
    # The one-way model ignores who gave a rating: the ratings of a row may move to the left.
    is_rated = ~np.isnan(table)
    if not is_rated.all():
        table = table[is_rated].reshape(len(table), -1)
    return Coefficient.from_statistic(name, icc(table, kind))


def of_order(judgment_cells: Cells, levels: Sequence[int]) -> Reliability:
    """Return the agreement on ordered levels: ordinal alpha, for two annotators weighted kappa."""
    table, clusters = judgment_cells.shared()
    alpha = krippendorff_alpha(table, "ordinal", clusters=clusters)
    coefficients = [
        Coefficient.from_statistic("Krippendorff alpha (ordinal)", alpha)
    ]
    if len(judgment_cells.raters) == 2:
        # All levels are named: the distance of two counts also if no one chose those between.
        a, b = table[:, 0].astype(int), table[:, 1].astype(int)
        kappa = cohen_kappa(
            a, b, weights="linear", categories=list(levels), clusters=clusters
        )
        coefficients.append(
            Coefficient.from_statistic("Cohen kappa (linear weights)", kappa)
        )
    return judgment_cells.reliability(*coefficients)


def of_kinds(judgment_cells: Cells, n_kinds: int) -> Reliability:
    """Return the agreement on unordered kinds: nominal alpha, and Cohen's or Fleiss' kappa.

    Cohen's kappa is for two annotators; for more, Fleiss' needs equally many judgments per row.

    Args:
        judgment_cells: Numbers of kinds from 0.
        n_kinds: Number of kinds.
    """
    table, clusters = judgment_cells.shared()
    alpha = krippendorff_alpha(table, "nominal", clusters=clusters)
    coefficients = [
        Coefficient.from_statistic("Krippendorff alpha (nominal)", alpha)
    ]
    if len(judgment_cells.raters) == 2:
        a, b = table[:, 0].astype(int), table[:, 1].astype(int)
        coefficients.append(
            Coefficient.from_statistic(
                "Cohen kappa", cohen_kappa(a, b, clusters=clusters)
            )
        )
    elif len(np.unique(_counts(table))) > 1:
        reason = "needs equally many judgments of each; alpha does not"
        coefficients.append(Coefficient("Fleiss kappa", None, None, reason))
    else:
        # (n, n_kinds) how many annotators chose each kind, as Fleiss (1971) tabulates them.
        counts = np.array(
            [[(row == kind).sum() for kind in range(n_kinds)] for row in table]
        )
        kappa = fleiss_kappa(
            counts.reshape(len(table), n_kinds), clusters=clusters
        )
        coefficients.append(Coefficient.from_statistic("Fleiss kappa", kappa))
    return judgment_cells.reliability(*coefficients)


def of_spans(
    what: str,
    marked: Sequence[tuple[tuple[str, ...], Sequence[Sequence[TokenSpan]]]],
    raters: Sequence[str],
) -> Reliability:
    """Return the F1 of marked spans over all pairs of annotators; matches share half their words.

    Alpha is not defined: unmarked text is not divided into units, so the agreement expected by
    chance is unknown (Hripcsak and Rothschild 2005).

    Args:
        what: Name of the marked thing.
        marked: Per text its source and the spans of each annotator who finished it.
        raters: The annotators.
    """
    # F1 is symmetric, so each two annotators of a text are compared once.
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
    """Return the agreement on orders: means over sets of Kendall's W and of pairwise Spearman.

    Intervals resample sources, so sets about one picture stay together.

    Args:
        what: Name of the ranked thing.
        rankings: Per set its source and, per annotator who finished it, the rank of each text.
        raters: The annotators.
    """
    # Per set a (texts, annotators) table. Sets differ in size, so each gets its own coefficient
    # without an interval, and the interval is that of the mean.
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
    """Return the positions of units whose finished judgments differ, in the order of the data."""
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
    """Return the other judgments of a page: an adjudicator sees all, others the right one.

    The right judgment appears once the annotator has finished the unit; that of an attention check
    never does.

    Args:
        study: The study.
        annotator: Annotator of the page.
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
        # Letters instead of names: the adjudicator decides without knowing whose answer it is.
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
    """Return each annotator's agreement with known answers, and with the other annotators.

    Intervals of known answers are Wilson's; those of agreement resample pictures. Answers agree if
    the task finds no difference; ratings may be one level apart. Training does not count.

    Args:
        task: The task.
        judged: Finished judgments of units without a known answer.
        gold: Finished judgments of units with one.
        annotators: All annotators.
    """
    # One table per use of known answers, then one of the comparisons with other annotators; each
    # has a share per annotator, and tables without any share are left out.
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
    """Return the share of right answers of an annotator, with Wilson's interval."""
    # Gold units are few and shares near 1: Wilson's interval stays within 0 to 1 there.
    return Coefficient(
        name,
        sum(answers) / len(answers),
        wilson_limits(sum(answers), len(answers)),
    )


def _compare_with_others(
    task: Task, judged: Judged, name: str
) -> list[tuple[float, Source]]:
    """Return 1.0 or 0.0 per comparison with another annotator, if answers agree, and the source."""
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

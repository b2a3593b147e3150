"""How far annotators agree: tables of their judgments, handed to the coefficients of ``stats``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from beholder.kinds.annotation.records import Judgments, State
from beholder.run.reliability import Coefficient, Reliability
from beholder.stats.agreement import Agreement
from beholder.stats.bootstrap import mean_interval
from beholder.stats.checks import Floats
from beholder.stats.intraclass import icc
from beholder.stats.kappa import cohen_kappa, fleiss_kappa
from beholder.stats.krippendorff import krippendorff_alpha
from beholder.stats.reliability import kendall_w, mean_pairwise_correlation
from beholder.stats.spans import TokenSpan, relaxed_f1

Source = tuple[str, ...]
"""What judgments belong together by, as a unit's ``source``; whole sources are resampled."""

Cell = Callable[[State], "float | None"]
"""What an annotator said of a thing, as a number; None where nothing was said."""


def rows_of(
    judged: Sequence[Judgments], annotators: Sequence[str], cell: Cell
) -> list[list[float]]:
    """One row a unit, one column an annotator; NaN where there is no judgment."""
    return [[_number(one.by.get(name), cell) for name in annotators] for one in judged]


def _number(state: State | None, cell: Cell) -> float:
    value = None if state is None else cell(state)
    return float("nan") if value is None else float(value)


def of_numbers(
    what: str,
    rows: Sequence[Sequence[float]],
    raters: Sequence[str],
    sources: Sequence[Source],
) -> Reliability:
    """Agreement on a scale of numbers: alpha, ICC, mean correlation.

    Intervals resample sources; those of the ICC are by the F distribution, and take rows as
    independent.

    Where all annotators rated the same things, ICC(2,1) counts their offsets as disagreement. Where
    each thing has annotators of its own, equally many, only ICC(1,1) can be had.
    """
    table, n_left_out, of = _shared(rows, len(raters), sources)
    alpha = krippendorff_alpha(table, "interval", clusters=of)
    found = [_told("Krippendorff alpha (interval)", alpha)]
    whole = table[~np.isnan(table).any(axis=1)]
    if len(whole) == len(table):
        for kind in ("2,1", "2,k"):
            by_kind = icc(whole, kind)
            found.append(
                Coefficient(f"ICC({kind})", by_kind.value, by_kind.interval, by_kind.reason)
            )
        correlation = mean_pairwise_correlation(whole, "spearman", clusters=of)
        found.append(_told("mean pairwise Spearman", correlation))
    else:
        for kind in ("1,1", "1,k"):
            found.append(_one_way(table, kind))
    return Reliability(what, tuple(raters), len(table), n_left_out, tuple(found))


def _one_way(table: Floats, kind: Any) -> Coefficient:
    counts = (~np.isnan(table)).sum(axis=1)
    if len(set(counts.tolist())) > 1:
        reason = f"needs equally many ratings of each; there are {counts.min()} to {counts.max()}"
        return Coefficient(f"ICC({kind})", None, None, reason)
    compact = np.array([row[~np.isnan(row)] for row in table])
    found = icc(compact, kind)
    return Coefficient(f"ICC({kind})", found.value, found.interval, found.reason)


def of_order(
    what: str,
    rows: Sequence[Sequence[float]],
    raters: Sequence[str],
    levels: Sequence[int],
    sources: Sequence[Source],
) -> Reliability:
    """Agreement on ordered levels: ordinal alpha, and of two annotators kappa with weights."""
    table, n_left_out, of = _shared(rows, len(raters), sources)
    alpha = krippendorff_alpha(table, "ordinal", clusters=of)
    found = [_told("Krippendorff alpha (ordinal)", alpha)]
    if len(raters) == 2:
        a, b = table[:, 0].astype(int), table[:, 1].astype(int)
        kappa = cohen_kappa(a, b, weights="linear", categories=list(levels), clusters=of)
        found.append(_told("Cohen kappa (linear weights)", kappa))
    return Reliability(what, tuple(raters), len(table), n_left_out, tuple(found))


def of_kinds(
    what: str,
    rows: Sequence[Sequence[float]],
    raters: Sequence[str],
    n_kinds: int,
    sources: Sequence[Source],
) -> Reliability:
    """Agreement on kinds without order: nominal alpha, and kappa (Cohen's of two, else Fleiss').

    Args:
        what: What was judged.
        rows: Numbers of kinds from 0; NaN where there is no judgment.
        raters: The annotators.
        n_kinds: How many kinds there are.
        sources: What each row belongs to.
    """
    table, n_left_out, of = _shared(rows, len(raters), sources)
    alpha = krippendorff_alpha(table, "nominal", clusters=of)
    found = [_told("Krippendorff alpha (nominal)", alpha)]
    if len(raters) == 2:
        a, b = table[:, 0].astype(int), table[:, 1].astype(int)
        found.append(_told("Cohen kappa", cohen_kappa(a, b, clusters=of)))
    elif len(set((~np.isnan(table)).sum(axis=1).tolist())) > 1:
        reason = "needs equally many judgments of each; alpha does not"
        found.append(Coefficient("Fleiss kappa", None, None, reason))
    else:
        counts = np.array([[(row == kind).sum() for kind in range(n_kinds)] for row in table])
        kappa = fleiss_kappa(counts.reshape(len(table), n_kinds), clusters=of)
        found.append(_told("Fleiss kappa", kappa))
    return Reliability(what, tuple(raters), len(table), n_left_out, tuple(found))


def of_spans(
    what: str,
    marked: Sequence[tuple[tuple[str, ...], Sequence[Sequence[TokenSpan]]]],
    raters: Sequence[str],
) -> Reliability:
    """Agreement on marked spans: F1 of each two annotators, spans matched from half of their words.

    There is no alpha: what is not marked has no ends, so that nobody knows how often two would not
    mark the same by chance (Hripcsak and Rothschild 2005).

    Args:
        what: What was marked.
        marked: Per text its source and the spans of each annotator who finished it.
        raters: The annotators.
    """
    pairs = [(source, a, b) for source, spans in marked for a, b in combinations(spans, 2)]
    n_items = sum(len(spans) > 1 for _, spans in marked)
    found = relaxed_f1(
        [a for _, a, _ in pairs], [b for _, _, b in pairs], clusters=[s for s, _, _ in pairs]
    )
    told = Coefficient("span F1 (half of the words)", found.f1, found.interval, found.reason)
    return Reliability(what, tuple(raters), n_items, len(marked) - n_items, (told,))


def of_rankings(
    what: str,
    rankings: Sequence[tuple[Source, Sequence[Sequence[float]]]],
    raters: Sequence[str],
) -> Reliability:
    """Agreement on orders: within each set Kendall's W and the mean Spearman; means over sets.

    Intervals resample sources: sets about one picture stay together.

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
    found = []
    for name, coefficient in (
        ("Kendall W, mean over sets", _concordance),
        ("Spearman of two, mean over sets", _correlation),
    ):
        values = [(s, v) for s, table in shared if (v := coefficient(table)) is not None]
        if values:
            mean = mean_interval([v for _, v in values], clusters=[s for s, _ in values])
            found.append(Coefficient(name, mean.mean, mean.interval))
        else:
            found.append(Coefficient(name, None, None, "no set was ranked by two annotators"))
    return Reliability(what, tuple(raters), len(shared), len(rankings) - len(shared), tuple(found))


def _concordance(table: Floats) -> float | None:
    return kendall_w(table, n_resamples=1).value


def _correlation(table: Floats) -> float | None:
    return mean_pairwise_correlation(table, "spearman", n_resamples=1).value


def _shared(
    rows: Sequence[Sequence[float]], n_raters: int, sources: Sequence[Source]
) -> tuple[Floats, int, list[Source]]:
    """Rows with two judgments or more, how many have but one, and the sources of the former."""
    table = np.array(rows, dtype=np.float64).reshape(len(rows), n_raters)
    counts = (~np.isnan(table)).sum(axis=1)
    kept = [source for source, n in zip(sources, counts, strict=True) if n >= 2]
    return table[counts >= 2], int((counts == 1).sum()), kept


def _told(name: str, found: Agreement) -> Coefficient:
    return Coefficient(name, found.value, found.interval, found.reason)

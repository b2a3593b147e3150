"""The readings of a proof: which texts count, with what result, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import msgspec
import numpy as np
from scipy.stats import binomtest

from beholder.base.grouping import group_by_key
from beholder.base.optional import load_object
from beholder.errors import RunError
from beholder.kinds.accept.claim import (
    Claim,
    Frozen,
    group_of,
    stratum_sizes,
)
from beholder.records import Item
from beholder.stats import acceptance
from beholder.stats.bootstrap import percentile_interval, sum_replicates
from beholder.stats.checks import Floats, cluster_codes, cluster_rows
from beholder.stats.kappa import cohen_kappa
from beholder.text import words
from beholder.text.edits import count_edits

LEVELS = ("none", "minor", "cannot", "grave")
"""Levels from the mildest; ``cannot`` is "cannot judge", which counts as grave."""

LONGEST_PAUSE = 300.0
"""Seconds between two finished texts beyond which the reader had a break."""

Verdict = Literal["accepted", "not shown", "refuted"]


class ReaderJudgment(msgspec.Struct, frozen=True):
    """The judgment of a reader."""

    unit: str
    annotator: str
    judgment: Mapping[str, Any]
    done: bool
    gold: Mapping[str, Any] | None = None
    seconds: float | None = None

    @property
    def level(self) -> str:
        """The level of error; ``cannot`` if the text could not be judged."""
        judgment = self.judgment
        return "cannot" if judgment.get("cannot") else str(judgment["level"])


class Readings(msgspec.Struct, frozen=True):
    """A study of the task ``reading``, as ``annotation`` exports it."""

    task: str
    annotators: tuple[str, ...]
    adjudicator: str | None
    assigned: Mapping[str, int]
    rows: tuple[ReaderJudgment, ...]


@dataclass(frozen=True)
class ReadText:
    """A text that was read.

    Attributes:
        item: The text.
        level: Its level: the adjudicator's, else the gravest.
        levels: Levels of its readers, by code.
        final: The text as it should be; that of the row if no one edited it.
        editor: Code of the reader who edited it, else of the first reader.
        is_adjudicated: Whether the adjudicator has decided.
    """

    item: Item
    level: str
    levels: Mapping[str, str]
    final: str
    editor: str
    is_adjudicated: bool

    @property
    def is_error(self) -> bool:
        """True if the text counts as a grave error."""
        return self.level in ("grave", "cannot")


def load_readings(study: Path) -> Readings:
    """Read a study of the task ``reading``; people appear as codes.

    Raises:
        RunError: The folder contains no study, or one of another task.
    """
    # Named as text: kinds of work do not import each other.
    read = load_object("beholder.kinds.annotation.exchange:study_readings")
    readings = msgspec.convert(read(study), Readings)
    if readings.task != "reading":
        raise RunError(
            f"{study} is a study of {readings.task}; read the texts with 'beholder annotate"
            " reading'"
        )
    codes = {
        name: f"r{n}" for n, name in enumerate(readings.annotators, start=1)
    }
    return msgspec.structs.replace(
        readings,
        annotators=tuple(codes.values()),
        adjudicator=codes.get(readings.adjudicator or ""),
        rows=tuple(
            msgspec.structs.replace(row, annotator=codes[row.annotator])
            for row in readings.rows
        ),
    )


def read_beginning(
    frozen: Frozen, readings: Readings
) -> tuple[list[ReadText], int]:
    """Return the texts of the unbroken beginning of the order, and how many read texts wait.

    A text counts when all its readers have finished it, or the adjudicator has.
    """
    texts = all_read(frozen, readings)
    beginning: list[ReadText] = []
    for item in frozen.ordered:
        text = texts.get(item.id)
        needed = max(1, readings.assigned.get(item.id, 1))
        if text is None or not (
            text.is_adjudicated or len(text.levels) >= needed
        ):
            break
        beginning.append(text)
    return beginning, len(texts) - len(beginning)


def all_read(frozen: Frozen, readings: Readings) -> dict[str, ReadText]:
    """Return each text that a person has finished, by id, whether it counts yet or not."""
    rows_by_unit = group_by_key(
        (row.unit, row)
        for row in readings.rows
        if row.done and row.gold is None
    )
    texts = {}
    for item in frozen.ordered:
        rows = rows_by_unit.get(item.id, [])
        third = [r for r in rows if r.annotator == readings.adjudicator]
        readers = [r for r in rows if r.annotator != readings.adjudicator]
        if rows:
            texts[item.id] = _read_text(item, readers, third)
    return texts


def _read_text(
    item: Item,
    readers: Sequence[ReaderJudgment],
    third: Sequence[ReaderJudgment],
) -> ReadText:
    """Return a text with the stricter verdict of its readers, or the adjudicator's."""
    deciding = third or readers
    edits = [row for row in (*third, *readers) if row.judgment.get("final")]
    editor = (edits or deciding)[0]
    return ReadText(
        item=item,
        level=max((row.level for row in deciding), key=LEVELS.index),
        levels={row.annotator: row.level for row in readers},
        final=str(editor.judgment.get("final") or item.candidate),
        editor=editor.annotator,
        is_adjudicated=bool(third),
    )


@dataclass(frozen=True)
class ClaimDecision:
    """The result of a claim.

    Attributes:
        verdict: Whether the claim is shown, refuted, or neither.
        method: How the bound was computed.
        n_read: Texts that count.
        n_errors: Texts with a grave error, or that cannot be judged.
        bound: Upper limit of the rate; None if the design shows none yet.
        after: Number of texts after which an early stop showed the claim.
        more: About how many texts more show it if none has a grave error; None if none do.
    """

    verdict: Verdict
    method: str
    n_read: int
    n_errors: int
    bound: float | None
    after: int | None = None
    more: int | None = None


def decide(
    claim: Claim,
    texts: Sequence[ReadText],
    looks: Sequence[Mapping[str, Any]],
    alpha: float | None = None,
) -> ClaimDecision:
    """Return the decision on a claim.

    Args:
        claim: The claim.
        texts: The texts of the beginning.
        looks: Earlier looks at the result; one before the end of a fixed plan leaves only the
            method that is valid at any time.
        alpha: Risk; that of the claim if None.
    """
    alpha = claim.alpha if alpha is None else alpha
    was_seen = any(look["n_read"] < claim.n_planned for look in looks)
    is_open = len(texts) < claim.n_planned
    if claim.method in ("strata", "series") and is_open:
        # These designs have no early stop, so nothing is shown before the end.
        more = claim.n_planned - len(texts)
        return ClaimDecision(
            "not shown", claim.method, len(texts), 0, None, None, more
        )
    if claim.method == "sequence" or was_seen or is_open:
        return _decide_early(claim, _marks(texts), alpha)
    return _decide_fixed(claim, texts, alpha)


def _marks(texts: Sequence[ReadText]) -> Floats:
    return np.array([text.is_error for text in texts], dtype=np.float64)


def _decide_early(claim: Claim, marks: Floats, alpha: float) -> ClaimDecision:
    """Return the decision of the ratio martingale, which is valid at any time."""
    n, n_breaking = claim.n_texts, claim.n_breaking
    bound = acceptance.error_bound(marks, n, alpha=alpha) / n
    capital = acceptance.capitals(marks, n_breaking, n)
    reached = np.flatnonzero(capital >= 1 / alpha)
    decided = "sequence", len(marks), int(marks.sum()), bound
    if len(reached):
        return ClaimDecision("accepted", *decided, after=int(reached[0]) + 1)
    against = acceptance.capitals(marks, n_breaking - 1, n, acceptance.ABOVE)
    if (against >= 1 / alpha).any():
        return ClaimDecision("refuted", *decided)
    more = acceptance.more_texts(marks, n_breaking, n, alpha=alpha)
    return ClaimDecision("not shown", *decided, more=more)


def _decide_fixed(
    claim: Claim, texts: Sequence[ReadText], alpha: float
) -> ClaimDecision:
    """Return the decision of a fixed sample, by its exact limit."""
    planned = texts[: claim.n_planned]
    n, n_errors = len(planned), int(_marks(planned).sum())
    claimed, low = claim.at_most, 0.0
    if claim.method == "series":
        series = group_by_key(
            (group_of(text.item, claim.series), text.is_error)
            for text in planned
        )
        bound = acceptance.series_limit(
            [sum(marks) for marks in series.values()],
            [len(marks) for marks in series.values()],
            claim.effect,
            alpha=alpha,
        )
    elif claim.method == "strata":
        bound = acceptance.upper_limit(n_errors, n, alpha=alpha)
        claimed *= claim.effect
        low = acceptance.lower_limit(n_errors, n, alpha=alpha)
    else:
        bound = acceptance.upper_limit(n_errors, n, claim.n_texts, alpha=alpha)
        low = acceptance.lower_limit(n_errors, n, claim.n_texts, alpha=alpha)
    verdict: Verdict = "not shown"
    if bound <= claimed + 1e-12:
        verdict = "accepted"
    elif low > claim.at_most:
        verdict = "refuted"
    return ClaimDecision(verdict, claim.method, n, n_errors, bound)


def gold_bound(
    claim: Claim,
    texts: Sequence[ReadText],
    looks: Sequence[Mapping[str, Any]],
    readings: Readings,
) -> dict[str, Any]:
    """Return planted errors that readers found, and the bound corrected by them; or no bound."""
    checks = [
        row
        for row in readings.rows
        if row.done
        and row.gold is not None
        and row.gold.get("level") == "grave"
    ]
    n_found = sum(row.level == "grave" for row in checks)
    result: dict[str, Any] = {"found": n_found, "planted": len(checks)}
    half = decide(claim, texts, looks, claim.alpha / 2).bound
    if checks and n_found and half is not None:
        share = acceptance.lower_limit(
            n_found, len(checks), alpha=claim.alpha / 2
        )
        result |= {"share_low": share, "bound": min(1.0, half / share)}
    return result


def readers_of(
    texts: Sequence[ReadText], readings: Readings
) -> list[dict[str, Any]]:
    """Return per reader texts, planted errors found, median seconds and pauses left out."""
    rows = []
    for code in readings.annotators:
        gold = [
            row
            for row in readings.rows
            if row.annotator == code and row.done and row.gold is not None
        ]
        times = [
            row.seconds
            for row in readings.rows
            if row.annotator == code and row.seconds is not None
        ]
        kept = [seconds for seconds in times if seconds <= LONGEST_PAUSE]
        rows.append(
            {
                "reader": code,
                "role": "adjudicator"
                if code == readings.adjudicator
                else "reader",
                "texts": sum(code in text.levels for text in texts),
                "gold_right": sum(
                    row.level == (row.gold or {}).get("level") for row in gold
                ),
                "gold": len(gold),
                "median_seconds": median(kept) if kept else None,
                "pauses": len(times) - len(kept),
            }
        )
    return rows


def double_reading(texts: Sequence[ReadText]) -> dict[str, Any]:
    """Return how many texts two people read, how often they differ, and kappa."""
    pairs = [
        tuple(text.levels.values())[:2]
        for text in texts
        if len(text.levels) > 1
    ]
    if not pairs:
        return {"texts": 0}
    kappa = cohen_kappa(
        [a for a, _ in pairs], [b for _, b in pairs], categories=LEVELS
    )
    n_differing = sum(a != b for a, b in pairs)
    return {
        "texts": len(pairs),
        "differ": n_differing,
        "kappa": kappa.value,
        "kappa_reason": kappa.reason,
    }


def _words_of(text: str) -> list[str]:
    return [text[start:end] for start, end in words(text)]


def edits_of(texts: Sequence[ReadText]) -> dict[str, Any]:
    """Return the effort of edits: changed texts, edited words per final word, and TER.

    Intervals: exact for the share of changed texts, bootstrap over pictures for the rate.
    """
    if not texts:
        return {"texts": 0}
    befores = [_words_of(text.item.candidate) for text in texts]
    afters = [_words_of(text.final) for text in texts]
    edits = [count_edits(a, b) for a, b in zip(befores, afters, strict=True)]
    changed = [n for n in edits if n]
    share = binomtest(len(changed), len(texts)).proportion_ci(method="exact")
    counts = np.array([edits, [len(after) for after in afters]], dtype=float).T
    codes = cluster_codes([text.item.source for text in texts], len(texts))
    sums = sum_replicates(cluster_rows(codes, counts))
    sums = sums[sums[:, 1] > 0]
    interval = percentile_interval(sums[:, 0] / sums[:, 1], 0.95)
    total = counts.sum(axis=0)
    return {
        "texts": len(texts),
        "changed": len(changed),
        "changed_low": float(share.low),
        "changed_high": float(share.high),
        "median_edits": median(changed) if changed else None,
        "rate": float(total[0] / total[1]) if total[1] else None,
        "rate_low": interval and interval.low,
        "rate_high": interval and interval.high,
        "ter": _edit_rate_with_moves(befores, afters) if changed else 0.0,
    }


def _edit_rate_with_moves(
    befores: Sequence[Sequence[str]], afters: Sequence[Sequence[str]]
) -> float:
    """Return TER of the texts against their edited forms, in which a moved run is one edit."""
    from sacrebleu.metrics import ter  # loads slowly

    score: Any = ter.TER().corpus_score(
        [" ".join(text) for text in befores],
        [[" ".join(text) for text in afters]],
    )
    return float(score.score) / 100


def strata_of(
    frozen: Frozen, texts: Sequence[ReadText]
) -> list[dict[str, Any]]:
    """Return per stratum its texts, those read, grave errors, the exact limit, and edits."""
    column = frozen.claim.strata
    if not column:
        return []
    read = group_by_key((group_of(text.item, column), text) for text in texts)
    rows = []
    for name, size in sorted(stratum_sizes(frozen.items, column).items()):
        some = read.get(name, [])
        n_errors = sum(text.is_error for text in some)
        rows.append(
            {
                "stratum": name,
                "texts": size,
                "read": len(some),
                "errors": n_errors,
                "limit": acceptance.upper_limit(
                    n_errors, len(some), size, alpha=frozen.claim.alpha
                )
                if some
                else None,
                "edit_rate": edits_of(some).get("rate"),
            }
        )
    return rows


def level_counts(texts: Sequence[ReadText]) -> dict[str, int]:
    """Return the number of texts of each level."""
    counts = Counter(text.level for text in texts)
    return {level: counts[level] for level in reversed(LEVELS)}

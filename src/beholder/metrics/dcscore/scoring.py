"""DCScore from ready verdicts: pure functions over arrays that are aligned by index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from statistics import fmean, pvariance
from typing import (
    Any,
    Literal,
    NotRequired,
    TypeAlias,
    TypedDict,
    cast,
    get_args,
)

from beholder.errors import ConfigError
from beholder.judges.builtin.claims import probabilities
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import boolean

Rules: TypeAlias = Literal["code", "code_fixed", "eq2_distinct", "eq2_pairs"]
OnEmpty: TypeAlias = Literal["nan", "zero", "error"]


class FactScores(TypedDict):
    """The result of ``score_units`` and ``score_trials``."""

    f1: float
    precision: float
    recall: float
    hallucination_rate: float
    omission_rate: float
    dcscore: float
    relevant_f1: float
    relevant_precision: float
    relevant_recall: float
    omission_rate_verified: float
    counts: dict[str, float]
    flags: list[str]
    variance: NotRequired[dict[str, float]]


_RATES = tuple(FactScores.__annotations__)[:10]
VALUES = _RATES[:-1]
"""The values of the metric, the headline first."""
VALUES_BY_SIGHT = ("precision", "hallucination_rate")
"""The values of a text without references, whose facts are verified by pictures."""
COUNTS_BY_SIGHT = ("predicted", "verified", "relevant", "relevant_verified")
"""The counts of such a text."""

_NO_ID = ("", "none", "null")
_EPSILON = 1e-8


def score_units(
    verified: Sequence[Any],
    match: Sequence[Any],
    relevant: Sequence[Any],
    reference_relevant: Sequence[Any],
    rules: Rules = "code",
    *,
    on_empty: OnEmpty = "nan",
) -> FactScores:
    """DCScore of one text from verdicts on its facts.

    P are the predicted facts, T the reference facts, X the number of verified facts without a match
    (what the text adds to the reference). Precision is the share of P that is verified. Recall:

    - ``code``: (sum over verified, matched facts of 1 / number of facts on that reference + X) /
      (T + X), as the public script computes it, with its oddities: the relevant half divides by all
      facts on a reference, irrelevant ones too, its recall can exceed 1, ``"0"`` and ``0`` are two
      ids, any other id than None and ``"None"`` counts as a match, F1 has 1e-8 in its denominator.
    - ``code_fixed``: the same without these oddities.
    - ``eq2_distinct``: (number of distinct matched references + X) / (T + X), as equation 2 of the
      paper reads when the overlap counts references.
    - ``eq2_pairs``: (number of matched facts + X) / (T + X); can exceed 1.

    The relevant half keeps the relevant facts of both sides; ``dcscore`` is the mean of both F1, or
    ``f1`` where the relevant half is not defined. Omission is the share of references without any
    match, verified or not.

    Args:
        verified: True where the predicted fact is right: 1, 0, True, False, or these as texts.
        match: For each predicted fact the id of its reference fact (0, 1, ...; or the digits as
            text), or None. An id that no reference has, an empty text, "None" and "null" are no
            match; of a list the first id counts.
        relevant: True where the predicted fact can be seen; None counts as yes.
        reference_relevant: The same for each reference fact, by id.
        rules: Rules for counting recall.
        on_empty: Replaces a value that is not defined: ``nan``, ``zero``, or ``error``.

    Returns:
        ``VALUES`` (0..1; hallucination and omission: low is good),
        ``omission_rate_verified`` (a match counts only if verified), ``counts`` (integers, for
        pooled rates) and ``flags`` (what is unusual, in words).

    Raises:
        ConfigError: Lengths differ, a verdict is neither true nor false, or an option is unknown;
            with ``on_empty="error"`` also a value that is not defined.
    """
    _check(
        {"verified": verified, "match": match, "relevant": relevant},
        rules,
        on_empty,
    )
    verdicts = zip(verified, match, relevant, strict=True)
    facts = _facts(verdicts, len(reference_relevant), faithful=rules == "code")
    targets = [
        _flag(value, "reference_relevant", missing=True)
        for value in reference_relevant
    ]
    # Without a relevant predicted fact there is no relevant half, and dcscore
    # is f1 alone.
    all_facts, half = _halves(facts, targets, rules)
    if not any(fact.relevant for fact in facts):
        half = _Half(math.nan, math.nan, math.nan)
    flags = []
    outside = sum(_is_outside(raw, len(targets)) for raw in match)
    if outside:
        flags.append(f"{outside} matches name a reference that does not exist")
    if not facts:
        flags.append("no predicted fact")
    if not targets:
        flags.append("no reference fact")
    dcscore = all_facts.f1
    if math.isnan(half.f1):
        flags.append("no relevant half: dcscore is f1")
    else:
        dcscore = (all_facts.f1 + half.f1) / 2
    values = {
        "f1": all_facts.f1,
        "precision": all_facts.precision,
        "recall": all_facts.recall,
        "hallucination_rate": 1.0 - all_facts.precision,
        "omission_rate": _omission(facts, len(targets), verified_only=False),
        "dcscore": dcscore,
        "relevant_f1": half.f1,
        "relevant_precision": half.precision,
        "relevant_recall": half.recall,
        "omission_rate_verified": _omission(
            facts, len(targets), verified_only=True
        ),
    }
    undefined = [name for name, value in values.items() if math.isnan(value)]
    if undefined and on_empty == "error":
        raise ConfigError(
            f"{', '.join(undefined)}: not defined ({'; '.join(flags)})"
        )
    if on_empty == "zero":
        values |= dict.fromkeys(undefined, 0.0)
    return cast(
        FactScores,
        {**values, "counts": _counts(facts, targets), "flags": flags},
    )


def score_trials(
    verified: Sequence[Sequence[Any]],
    match: Sequence[Sequence[Any]],
    relevant: Sequence[Any],
    reference_relevant: Sequence[Any],
    rules: Rules = "code",
) -> FactScores:
    """Return means over all pairs of a match and a verification sample: nine trials for 3 x 3.

    F1 is the mean of the trials' F1.

    Args:
        verified: Verification samples, each as in ``score_units``.
        match: Match samples.
        relevant: As in ``score_units``.
        reference_relevant: As in ``score_units``.
        rules: As in ``score_units``.

    Returns:
        As ``score_units``, with means of values and ``counts``, and ``variance`` by value over the
        trials (they share samples, so they are not independent).
    """
    if not verified or not match:
        raise ConfigError(
            "expected at least one match sample and one verification sample"
        )
    trials: Sequence[Mapping[str, Any]] = [
        score_units(v, m, relevant, reference_relevant, rules)
        for m, v in product(match, verified)
    ]
    # Means of each value over the trials, not values of mean verdicts: F1 is not linear.
    columns = {name: [trial[name] for trial in trials] for name in _RATES}
    scores: dict[str, object] = {
        **{name: fmean(column) for name, column in columns.items()},
        "counts": {
            name: fmean(trial["counts"][name] for trial in trials)
            for name in trials[0]["counts"]
        },
        "flags": list(
            dict.fromkeys(flag for trial in trials for flag in trial["flags"])
        ),
        "variance": {
            name: pvariance(column) for name, column in columns.items()
        },
    }
    return cast(FactScores, scores)


def reference_id(raw: Any, n_references: int) -> int | None:
    """Return the id of a reference fact as a number, or None for one that does not exist."""
    # Models answer with lists, digits as text, or 1.0.
    if isinstance(raw, list | tuple):
        raw = raw[0] if raw else None
    if isinstance(raw, str) and raw.strip().isdecimal():
        raw = int(raw)
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    is_whole = isinstance(raw, Integral) and not isinstance(raw, bool)
    return int(raw) if is_whole and 0 <= int(raw) < n_references else None


@dataclass(frozen=True, slots=True)
class _Fact:
    """A predicted fact: its verdicts, the reference it was given, and that as an existing id."""

    verified: bool
    key: Hashable
    reference: int | None
    relevant: bool


@dataclass(frozen=True, slots=True)
class _Half:
    """Precision, recall and F1 over all facts, or over the relevant ones."""

    precision: float
    recall: float
    f1: float


def _facts(
    verdicts: Iterable[tuple[Any, Any, Any]],
    n_references: int,
    *,
    faithful: bool,
) -> list[_Fact]:
    facts = []
    for v, raw, r in verdicts:
        reference = reference_id(raw, n_references)
        key = reference
        right = _flag(v, "verified")
        # The public script compares ids as they were written, so "0" and 0 are
        # two.
        if faithful:
            key = None if raw is None or raw == "None" else raw
            key = reference if isinstance(key, list | tuple) else key
            # The script compares with the number 1; a text is never right.
            right = right and not isinstance(v, str)
        facts.append(
            _Fact(right, key, reference, _flag(r, "relevant", missing=True))
        )
    return facts


def _halves(
    facts: Sequence[_Fact], targets: Sequence[bool], rules: Rules
) -> tuple[_Half, _Half]:
    relevant_facts = [fact for fact in facts if fact.relevant]
    if rules == "code":
        # The script counts irrelevant facts in the weights of both halves.
        weights = Counter(fact.key for fact in facts)
        all_covered, relevant_covered = (
            _sum_shares(facts, weights),
            _sum_shares(relevant_facts, weights),
        )
    else:
        # A relevant fact on an irrelevant reference neither covers nor adds anything.
        on_relevant = [
            f
            for f in relevant_facts
            if f.reference is None or targets[f.reference]
        ]
        all_covered, relevant_covered = (
            _count_covered(facts, rules),
            _count_covered(on_relevant, rules),
        )
    return _half(facts, all_covered, len(targets), rules), _half(
        relevant_facts, relevant_covered, sum(targets), rules
    )


def _count_covered(facts: Sequence[_Fact], rules: Rules) -> float:
    if rules == "code_fixed":
        return _sum_shares(facts, Counter(fact.key for fact in facts))
    matched = [fact.reference for fact in facts if fact.reference is not None]
    return len(set(matched)) if rules == "eq2_distinct" else len(matched)


def _sum_shares(facts: Sequence[_Fact], weights: Counter[Hashable]) -> float:
    """Return the sum over references of the share of their facts that is verified."""
    return sum(
        1 / weights[f.key] for f in facts if f.verified and f.key is not None
    )


def _half(
    facts: Sequence[_Fact], covered: float, n_references: int, rules: Rules
) -> _Half:
    # An extra is verified and adds something that the reference does not have.
    extra = sum(fact.verified and fact.key is None for fact in facts)
    total = n_references + extra
    precision = (
        sum(fact.verified for fact in facts) / len(facts)
        if facts
        else math.nan
    )
    recall = (covered + extra) / total if total else math.nan
    # The script's denominator has 1e-8, so that 0 / 0 is 0; it shows in the
    # last digits.
    denominator = precision + recall + (_EPSILON if rules == "code" else 0.0)
    f1 = 2 * precision * recall / denominator if facts and denominator else 0.0
    return _Half(precision, recall, math.nan if math.isnan(recall) else f1)


def _omission(
    facts: Sequence[_Fact], n_references: int, *, verified_only: bool
) -> float:
    if not n_references:
        return math.nan
    covered = {
        f.reference for f in facts if f.verified or not verified_only
    } - {None}
    return (n_references - len(covered)) / n_references


def _counts(facts: Sequence[_Fact], targets: Sequence[bool]) -> dict[str, int]:
    matched = [fact.reference for fact in facts if fact.reference is not None]
    return {
        "predicted": len(facts),
        "verified": sum(fact.verified for fact in facts),
        "matched": len(matched),
        "extra": sum(fact.verified and fact.key is None for fact in facts),
        "relevant": sum(fact.relevant for fact in facts),
        "relevant_verified": sum(
            fact.relevant and fact.verified for fact in facts
        ),
        "relevant_extra": sum(
            f.relevant and f.verified and f.key is None for f in facts
        ),
        "references": len(targets),
        "references_matched": len(set(matched)),
        "references_relevant": sum(targets),
    }


def _is_outside(raw: Any, n_references: int) -> bool:
    if raw is None or (isinstance(raw, str) and raw.strip().lower() in _NO_ID):
        return False
    return reference_id(raw, n_references) is None


def _flag(value: Any, name: str, *, missing: bool | None = None) -> bool:
    if value is None and missing is not None:
        return missing
    try:
        return boolean().read(value, name)
    except BadAnswer:
        raise ConfigError(
            f"{name}: expected 1 or 0 for each fact, got {value!r}"
        ) from None


def _check(
    columns: Mapping[str, Sequence[Any]], rules: str, on_empty: str
) -> None:
    for name, value, choices in (
        ("rules", rules, Rules),
        ("on_empty", on_empty, OnEmpty),
    ):
        if value not in get_args(choices):
            raise ConfigError(
                f"{name}={value!r}: expected one of {', '.join(get_args(choices))}"
            )
    if len(set(map(len, columns.values()))) > 1:
        lengths = ", ".join(
            f"{name} {len(column)}" for name, column in columns.items()
        )
        raise ConfigError(
            f"expected one entry per predicted fact in each, got {lengths}"
        )


def fact_probabilities(facts: Sequence[str], reference: str) -> list[float]:
    """Return the built-in judge's probabilities that facts are true of a reference's subject.

    Fitted for as many false facts as true ones; low values are too low, ``docs/dcscore.md`` says by
    how much. A fact that the reference does not mention is as unlikely as one that it contradicts.

    Args:
        facts: Short English statements, such as "The cup is red."
        reference: An English text.

    Returns:
        One probability for each fact, 0..1.

    Raises:
        ItemError: The reference is not English.
    """
    return probabilities(facts, reference)

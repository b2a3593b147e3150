"""The measures of each set: labels, coefficient, exclusions."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias, cast, get_args

from beholder.base.grouping import group_by_key
from beholder.errors import ConfigError
from beholder.records import Item
from beholder.stats.annotators import EPSILONS
from beholder.text.tokenize import words

Correlation: TypeAlias = Literal["spearman", "pearson", "tau-b", "tau-c"]
Verdict: TypeAlias = Literal[
    "auc",
    "kappa",
    "balanced accuracy",
    "recall of yes",
    "recall of no",
    "precision of no",
]
Kind: TypeAlias = Literal[
    Correlation,
    Verdict,
    "accuracy",
    "category accuracy",
    "three-way",
    "ranking",
    "replaces",
]
GenericKind: TypeAlias = Literal[Correlation, "verdicts"]
_MOST_SHOWN = 5
"""Answers that a message shows."""
CORRELATIONS: tuple[Correlation, ...] = get_args(Correlation)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Measure:
    """One figure of agreement.

    Attributes:
        name: As tables show it.
        kind: A correlation; ``accuracy`` of pairs (a tie of the metric counts half);
            ``category accuracy``, the mean over categories of it; ``three-way``, with ties
            predicted below a threshold from the gold tie rate; ``ranking``, the mean over sources
            and raters of Spearman's correlation within a source. Of labels 1 (yes) and 0 (no):
            ``auc`` of the score, and of the yes or no that it becomes at a threshold chosen on
            the other half of the sources ``kappa``, ``balanced accuracy``, and the recall and
            precision of one answer. ``replaces``: share of the people whom these verdicts may
            replace, by ``beholder.stats.alternative_annotator``.
        labels: Labels of an item, each a datum of its own; empty leaves the item out.
        category: Category of an item, for plots and ``category accuracy``.
        control: Covariate that is partialled out, or None; of a pair the difference is taken.
        prefers: Value of a metric that answers this question, taken where it has one.
        paired: Whether the label compares the item's candidate with its second text.
        epsilon: Of ``replaces``: how much worse than a person the verdicts may be.
    """

    name: str
    kind: Kind
    labels: Callable[[Item], Sequence[float]]
    category: Callable[[Item], str] = lambda item: ""
    control: Callable[[Item], float] | None = None
    prefers: str | None = None
    paired: bool = False
    epsilon: float = 0.0


def n_words(item: Item) -> float:
    """Count the words of the candidate."""
    return float(len(words(item.candidate)))


def length_ratio(item: Item) -> float:
    """Return the words of the candidate per word of its first reference."""
    return n_words(item) / max(1, len(words(item.references[0])))


def read_number(label: str) -> Callable[[Item], Sequence[float]]:
    """Return a reader of a label that is one number; items without it are left out."""

    def labels(item: Item) -> Sequence[float]:
        number = item.judgments.get(label)
        return () if number is None else (float(number),)

    return labels


def read_ratings(label: str) -> Callable[[Item], Sequence[float]]:
    """Return a reader of a rating or list of ratings, each a datum; NaN for a missing one."""
    return lambda item: [
        math.nan if rating is None else float(rating)
        for rating in ratings_of(item, label)
    ]


def _judgment(name: str) -> Callable[[Item], str]:
    return lambda item: str(item.judgments.get(name, ""))


def _read_model_number(label: str) -> Callable[[Item], Sequence[float]]:
    read_label = read_number(label)
    return lambda item: (
        () if item.judgments.get("system") == "Human" else read_label(item)
    )


def _read_in_categories(
    starts: Sequence[str],
) -> Callable[[Item], Sequence[float]]:
    read_label, category = read_number("preferred"), _judgment("category")
    return lambda item: (
        read_label(item) if category(item).startswith(tuple(starts)) else ()
    )


def _sum_labels(names: Sequence[str]) -> Callable[[Item], Sequence[float]]:
    def labels(item: Item) -> Sequence[float]:
        values = [item.judgments.get(name) for name in names]
        return (
            ()
            if None in values
            else (float(sum(value or 0 for value in values)),)
        )

    return labels


# The keys are words of protocols.toml.
_LABELS: Mapping[str, Callable[[Any], Callable[[Item], Sequence[float]]]] = {
    "one": read_number,
    "each": read_ratings,
    "of_models": _read_model_number,
    "in_categories": _read_in_categories,
    "sum_of": _sum_labels,
}


def _build_measure(
    labels: Mapping[str, Any],
    category: str = "",
    beyond_length: bool = False,
    **facts: Any,
) -> Measure:
    """Build a measure of ``protocols.toml``."""
    # In the file a measure has a single reader of labels: { one = "score" }.
    ((kind_of_label, names),) = labels.items()
    return Measure(
        labels=_LABELS[kind_of_label](names),
        category=_judgment(category),
        control=length_ratio if beyond_length else None,
        **facts,
    )


def _read_protocols() -> Mapping[str, tuple[Measure, ...]]:
    file = Path(__file__).with_suffix(".toml")
    protocols: dict[str, tuple[Measure, ...]] = {}
    for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
        # A set with the protocol of another names it; that one comes earlier
        # in the file.
        is_alias = isinstance(entry, str)
        protocols[name] = (
            protocols[entry]
            if is_alias
            else tuple(_build_measure(**facts) for facts in entry)
        )
    return protocols


PROTOCOLS = _read_protocols()


def protocol(name: str) -> tuple[Measure, ...]:
    """Return the measures of a known set.

    Raises:
        ConfigError: The set has no protocol of item scores.
    """
    if name not in PROTOCOLS:
        raise ConfigError(
            f"{name} has no protocol of item scores; these sets have one: {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[name]


def generic(
    items: Sequence[Item], labels: Sequence[str] | None, kind: str
) -> tuple[Measure, ...]:
    """Build measures for judgments of any data: one per label, several for verdicts.

    A label that is a list gives a datum per element.

    Args:
        items: The judged items.
        labels: Names in ``judgments``; None takes all that fit: numbers, or true, false, 1 and 0
            for verdicts. Verdicts that are named may be categories, each a yes or no.
        kind: A correlation, or ``verdicts``.

    Raises:
        ConfigError: An unknown label or kind, or no label that fits.
    """
    kinds = get_args(GenericKind)
    if kind not in kinds:
        raise ConfigError(f"kind={kind!r}: expected one of {', '.join(kinds)}")
    ratings = group_by_key(
        (name, _ratings(value))
        for item in items
        for name, value in item.judgments.items()
        if value is not None
    )
    answers = {
        name: [answer for answer in chain(*lists) if answer is not None]
        for name, lists in ratings.items()
    }
    answers = {
        name: label_answers
        for name, label_answers in answers.items()
        if label_answers
    }
    is_verdicts = kind == "verdicts"
    expected = "yes-or-no" if is_verdicts else "numeric"
    are_fitting = _are_verdicts if is_verdicts else _are_numbers
    # Only named labels: any text column would otherwise become a list of
    # categories.
    categories = [
        name
        for name in (labels or () if is_verdicts else ())
        if _are_categories(answers.get(name, [0]))
    ]
    usable = [
        name
        for name, label_answers in answers.items()
        if are_fitting(label_answers) or name in categories
    ]
    for label in labels or ():
        if label not in usable:
            raise ConfigError(
                f"no item has a {expected} judgment {label!r}; there are:"
                f" {', '.join(usable) or 'none'}{_describe_answers(answers.get(label))}"
            )
    if not usable:
        descriptions = "".join(
            f"; {name}{_describe_answers(label_answers)}"
            for name, label_answers in list(answers.items())[:_MOST_SHOWN]
        )
        raise ConfigError(
            f"the items have no {expected} judgments to agree with{descriptions}"
        )
    measures: list[Measure] = []
    for label in labels or usable:
        if not is_verdicts:
            measures.append(
                Measure(
                    f"{kind}, {label}", cast("Kind", kind), read_ratings(label)
                )
            )
        elif label in categories:
            measures += _measure_categories(label, answers[label])
        else:
            measures += _measure_verdicts(
                label, answers[label], ratings[label]
            )
    return tuple(measures)


def _measure_categories(
    label: str, answers: Sequence[str]
) -> Iterator[Measure]:
    """Yield measures of each category against all others, by the metric's value of its name."""
    for category in sorted(set(answers)):
        share = answers.count(category) / len(answers)

        def labels(item: Item, category: str = category) -> Sequence[float]:
            return [
                float(answer == category)
                for answer in ratings_of(item, label)
                if answer is not None
            ]

        for kind in VERDICTS:
            name = f"{kind}, {label} {category} ({share:.0%})"
            yield Measure(name, kind, labels, prefers=category)


def _describe_answers(answers: Sequence[Any] | None) -> str:
    """Describe the answers of a label, for a message that expected other ones."""
    if not answers:
        return ""
    # By their texts: an answer may be an object, which has no hash.
    different = list(dict.fromkeys(map(repr, answers)))
    more = ", ..." if len(different) > _MOST_SHOWN else ""
    hint = (
        "; --statistic verdicts is for true and false"
        if all(answer in (0, 1) for answer in answers)
        else ""
    )
    return (
        f"; its answers are {', '.join(different[:_MOST_SHOWN])}{more}{hint}"
    )


def _measure_verdicts(
    label: str, answers: Sequence[float], ratings: Sequence[Sequence[Any]]
) -> Iterator[Measure]:
    """Yield measures of a label, named with its share of yes, which kappa and precision need.

    Ratings are assigned to people only if all lists have one length, in the same order of people.
    """
    for kind in VERDICTS:
        name = f"{kind}, {label} ({fmean(answers):.0%} yes)"
        yield Measure(name, kind, read_ratings(label))
    # The test of replacement needs the ratings of each person.
    lengths = {len(item_ratings) for item_ratings in ratings}
    if len(lengths) == 1 and lengths.pop() > 1:
        for people, epsilon in EPSILONS.items():
            name = f"may replace {people} ({epsilon:g}), {label}"
            yield Measure(
                name, "replaces", read_ratings(label), epsilon=epsilon
            )


def ratings_of(item: Item, label: str) -> Sequence[Any]:
    """Return the ratings of an item under a label; None among them is a missing one."""
    return _ratings(item.judgments.get(label))


def _ratings(value: Any) -> Sequence[Any]:
    """Return the ratings of a label as a sequence: a list's, a single one, or none."""
    if isinstance(value, list | tuple):
        return value
    return () if value is None else (value,)


def _are_numbers(answers: Sequence[Any]) -> bool:
    return all(
        isinstance(answer, int | float) and not isinstance(answer, bool)
        for answer in answers
    )


def _are_categories(answers: Sequence[Any]) -> bool:
    return all(isinstance(answer, str) for answer in answers)


def _are_verdicts(answers: Sequence[Any]) -> bool:
    return all(
        isinstance(answer, int | float) and answer in (0, 1)
        for answer in answers
    )

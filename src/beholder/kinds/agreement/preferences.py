"""Labels of pairs: which of two texts about one picture people prefer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from beholder.errors import ConfigError
from beholder.kinds.agreement.protocols import (
    CORRELATIONS,
    Kind,
    Measure,
    ratings_of,
)
from beholder.records import Item

_WORDS: Mapping[str, float] = {
    **dict.fromkeys(("a", "first", "candidate", "model_a", "model1"), 1.0),
    **dict.fromkeys(("b", "second", "candidate_b", "model_b", "model2"), -1.0),
    **dict.fromkeys(("tie", "equal", "same", "draw"), 0.0),
}
"""Preferences by the words that stand for them, in lower case: 1 is for the first text."""

_SYSTEMS = (
    ("system", "system_a", "model1", "model_a"),
    ("system_b", "model2", "model_b"),
)
"""Fields that name the system of the first and of the second text."""

EXPECTED = (
    "expected which text is better: 1, -1 and 0 for a tie, degrees such as -2 to 2, A, B and tie,"
    " first and second, or the names of the two systems (system and system_b)"
)


def has_second_text(item: Item) -> bool:
    """Return whether the labels of an item compare two texts."""
    return bool(item.meta.get("candidate_b"))


def pair_measures(
    items: Sequence[Item], labels: Sequence[str] | None, kind: str
) -> list[Measure]:
    """Build the measures of labels that compare two texts; metrics answer by score differences.

    Args:
        items: Judged items; those without a second text are left out.
        labels: Names in ``judgments``; None takes all that can be read as preferences.
        kind: Correlation of degrees, which goes beside the accuracy.

    Raises:
        ConfigError: A label has other answers, or ``kind`` is not a correlation.
    """
    if kind not in CORRELATIONS:
        raise ConfigError(
            f"the rows have a second text (candidate_b), so their labels are preferences;"
            f" {kind} is for labels of one text: leave out the statistic, or candidate_b"
        )
    pairs = [item for item in items if has_second_text(item)]
    names = dict.fromkeys(name for item in pairs for name in item.judgments)
    measures: list[Measure] = []
    problems = []
    for label in labels or names:
        try:
            measures += _measures(pairs, label, kind)
        except ConfigError as error:
            if labels:
                raise
            problems.append(str(error))
    if not measures:
        raise ConfigError("\n".join(problems) or "the pairs have no judgments")
    return measures


def _measures(
    pairs: Sequence[Item], label: str, kind: str
) -> Iterator[Measure]:
    answers = [
        answer
        for item in pairs
        for answer in ratings_of(item, label)
        if answer is not None
    ]
    if not answers:
        raise ConfigError(f"no pair has a judgment {label!r}")
    to_preference = _build_reader(answers, label)

    def preferences(item: Item) -> list[float]:
        return [
            to_preference(answer, item)
            for answer in ratings_of(item, label)
            if answer is not None
        ]

    all_preferences = [
        preference for item in pairs for preference in preferences(item)
    ]
    # A metric rarely gives two equal scores, so ties need a threshold.
    if 0 in all_preferences:
        yield Measure(
            f"accuracy with ties, {label}",
            "three-way",
            preferences,
            paired=True,
        )

    def drop_ties(item: Item) -> list[float]:
        return [preference for preference in preferences(item) if preference]

    if any(all_preferences):
        yield Measure(f"accuracy, {label}", "accuracy", drop_ties, paired=True)
    # Only degrees of preference, such as 1 and 2, can be correlated.
    if len(set(map(abs, all_preferences)) - {0.0}) > 1:
        yield Measure(
            f"{kind}, {label}", cast("Kind", kind), preferences, paired=True
        )


def _build_reader(
    answers: Sequence[Any], label: str
) -> Callable[[Any, Item], float]:
    """Return a function from an answer to a preference: positive for the first text, 0 a tie."""
    if any(isinstance(answer, str) for answer in answers):
        return lambda answer, item: _from_word(answer, item, label)
    numbers = set(answers)
    if all(isinstance(answer, bool) for answer in answers):
        return lambda answer, item: 1.0 if answer else -1.0
    # A common coding: the number of the better text, and 0 for a tie.
    if 2 in numbers and numbers <= {0, 1, 2}:
        return lambda answer, item: {0: 0.0, 1: 1.0, 2: -1.0}[answer]
    # A guess would turn half of the labels around in one of the two codings.
    if numbers == {0, 1}:
        raise ConfigError(
            f"{label!r} is 0 or 1 in all pairs, and 0 may mean a tie or the second text: {EXPECTED}"
        )
    if min(numbers) >= 0 and numbers != {1}:
        raise ConfigError(
            f"{label!r} is from {min(numbers):g} to {max(numbers):g} in rows with a second text"
            f" (candidate_b): {EXPECTED}; for ratings of one text, leave candidate_b out"
        )
    return lambda answer, item: float(answer)


def _from_word(answer: Any, item: Item, label: str) -> float:
    fields: Mapping[str, Any] = {**item.meta, **item.judgments, **item.group}
    first, second = (
        {
            str(fields[name]).casefold()
            for name in names
            if fields.get(name) is not None
        }
        for names in _SYSTEMS
    )
    word = str(answer).strip().casefold()
    # A name that both texts have does not say which is better.
    if word in first ^ second:
        return 1.0 if word in first else -1.0
    if word in _WORDS:
        return _WORDS[word]
    raise ConfigError(
        f"judgments.{label} of item {item.id!r} is {answer!r}: {EXPECTED}"
    )

"""Scores as assertions of a test, which name the value, the bound and what is wrong.

``assert_score`` is about one text; ``assert_mean``, and the fixture ``beholder_gate``, about many.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any, Literal

from beholder.base.rounding import fixed
from beholder.base.visible import for_terminal
from beholder.errors import ConfigError
from beholder.kinds.scores.streaming import StreamingMetric
from beholder.metrics import Metric, Tools, metric
from beholder.records import Estimate, ItemScore, MetricResult
from beholder.report.tones import in_words
from beholder.stats.ranks import round_values

_WORST = 3
"""Texts that a message shows."""


def assert_score(
    candidate: str,
    references: str | Sequence[str] = (),
    *,
    of: str | Metric[Any] = "headline",
    value: str | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    images: Sequence[str] | None = None,
    tools: Tools | None = None,
) -> ItemScore:
    """Assert that a text has a score within bounds.

    Args:
        candidate: The text under test.
        references: One trusted text, or several.
        of: A metric, or its text form.
        value: Name of one of its values; None takes the headline.
        at_least: Lowest score that passes.
        at_most: Highest score that passes.
        images: Image files, for metrics that look.
        tools: Tools to share between tests.

    Returns:
        The score, for further assertions.

    Raises:
        AssertionError: It is out of bounds; names score, bound, mistakes and omissions.
        ConfigError: No bound is given, or the metric has no such value.
        ItemError: The text cannot be scored.
    """
    _check_bounds("assert_score", at_least, at_most)
    chosen = metric(of) if isinstance(of, str) else of
    name = chosen.value_named(value).name
    result = chosen.score_text(
        candidate, references, images=images, tools=tools
    )
    if name not in result.values:
        raise ConfigError(
            f"{chosen.registered_name} has no {name} for this text; it has"
            f" {', '.join(result.values) or 'no value'}"
        )
    score = result.values[name]
    # Rounded for the message only; the bounds are compared with the exact
    # score.
    statement = f"{chosen.registered_name}.{name} is {fixed(score, 3)}"
    if at_least is not None and score < at_least:
        raise AssertionError(f"{statement}, below {at_least:g}{_why(result)}")
    if at_most is not None and score > at_most:
        raise AssertionError(f"{statement}, above {at_most:g}{_why(result)}")
    return result


def assert_mean(
    candidates: Sequence[str],
    references: Sequence[str | Sequence[str]] | None = None,
    *,
    of: str | Metric[Any] = "headline",
    value: str | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    on: Literal["interval", "mean"] = "interval",
    images: Sequence[str | Sequence[str]] | None = None,
    ids: Sequence[str | int] | None = None,
    tools: Tools | None = None,
) -> MetricResult:
    """Assert that the mean of many texts is within bounds, and that every text has a score.

    Args:
        candidates: The texts under test.
        references: For each a trusted text, or several.
        of: A metric, or its text form.
        value: Name of one of its values; None takes the headline.
        at_least: Lowest that passes.
        at_most: Highest that passes.
        on: What is compared with a bound: ``interval`` takes the end of the 95 % interval that is
            nearer to it, so that a lucky choice of texts does not pass; ``mean`` the mean.
        images: For each its picture, or several; intervals resample pictures.
        ids: For each the name that a message has; None numbers them.
        tools: Tools to share between tests.

    Returns:
        The result, for further assertions.

    Raises:
        AssertionError: A bound is missed, there is no interval, or a text has no score; names
            value, interval, n, bound and the worst texts.
        ConfigError: No bound is given, or the metric has no such value.
        DataError: A row is wrong.
    """
    __tracebackhide__ = True
    _check_bounds("assert_mean", at_least, at_most)
    if on not in ("interval", "mean"):
        raise ConfigError(f"on={on!r}: expected 'interval' or 'mean'")
    stream = StreamingMetric(of, tools=tools)
    name = stream.metric.value_named(value).name
    stream.update(candidates, references, ids=ids, images=images)
    result = stream.compute()
    full_name = f"{stream.metric.registered_name}.{name}"
    if result.n_failed:
        reasons = "".join(
            f"\n  {n}: {reason}" for reason, n in result.failures.items()
        )
        raise AssertionError(
            f"{full_name}: {result.n_failed:,} of {len(stream):,} texts have no score{reasons}"
        )
    estimate = result.values.get(name)
    if estimate is None:
        raise AssertionError(f"{full_name}: no text has a value")
    statement = f"{full_name} is {_in_words(estimate)}"
    if on == "interval" and estimate.interval is None:
        raise AssertionError(
            f"{statement}, so no end of it can be compared ({estimate.reason}); add texts about"
            " more pictures, or compare the mean alone with on='mean'"
        )
    ends = (estimate.mean, estimate.mean)
    if on == "interval" and estimate.interval is not None:
        ends = (estimate.interval.low, estimate.interval.high)
    words = (
        ("its interval begins at", "its interval ends at")
        if on == "interval"
        else ("the mean is", "the mean is")
    )
    # Compared after rounding, as the gates of a run are.
    low, high = (round_values(end) for end in ends)
    if at_least is not None and low < round_values(at_least):
        raise AssertionError(
            f"{statement}: {words[0]} {fixed(ends[0], 3)}, below {at_least:g}"
            f"{_worst(stream, name, at_least, sign=1)}"
        )
    if at_most is not None and high > round_values(at_most):
        raise AssertionError(
            f"{statement}: {words[1]} {fixed(ends[1], 3)}, above {at_most:g}"
            f"{_worst(stream, name, at_most, sign=-1)}"
        )
    return result


def _check_bounds(
    function: str, at_least: float | None, at_most: float | None
) -> None:
    if at_least is None and at_most is None:
        raise ConfigError(
            f"{function} needs a bound: at_least=..., at_most=... or both"
        )


def _in_words(estimate: Estimate) -> str:
    """Return mean, interval and n as a test's message has them."""
    ends = "without an interval"
    if estimate.interval is not None:
        low, high = estimate.interval.low, estimate.interval.high
        ends = f"[{fixed(low, 3)}, {fixed(high, 3)}]"
    return f"{fixed(estimate.mean, 3)} {ends}, n = {estimate.n:,}"


def _worst(
    stream: StreamingMetric, name: str, bound: float, *, sign: int
) -> str:
    """Return the texts furthest beyond a bound, with what is wrong in them.

    Args:
        stream: The metric, with the texts.
        name: The value.
        bound: The bound.
        sign: 1 if lower values are beyond it, -1 if higher ones are.
    """
    scored = [
        (outcome.values[name], item, outcome)
        for item, outcome in stream.outcomes()
        if isinstance(outcome, ItemScore) and name in outcome.values
    ]
    beyond = [row for row in scored if sign * row[0] < sign * bound]
    # Sorting is stable, so that equal texts stay in the order of their ids.
    beyond.sort(key=lambda row: sign * row[0])
    lines = []
    for score, item, outcome in beyond[:_WORST]:
        lines.append(
            f"\n  {item.id}: {fixed(score, 3)}"
            f" {shorten(for_terminal(item.candidate), 80, placeholder=' ...')}"
        )
        lines += [f"\n    {line}" for line in in_words(outcome.units)]
    return "".join(lines)


def _why(result: ItemScore) -> str:
    return "".join(f"\n  {line}" for line in in_words(result.units))

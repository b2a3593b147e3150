"""A score as an assertion of a test: ``assert_score`` says what is wrong and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.base.rounding import fixed
from beholder.errors import ConfigError
from beholder.metrics import Metric, Tools, metric
from beholder.records import ItemScore
from beholder.report.tones import in_words


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
    if at_least is None and at_most is None:
        raise ConfigError(
            "assert_score needs a bound: at_least=..., at_most=... or both"
        )
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


def _why(result: ItemScore) -> str:
    return "".join(f"\n  {line}" for line in in_words(result.units))

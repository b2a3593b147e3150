"""The type of methods and the wording of their questions."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from beholder.judges.decisions.decider import Decider
from beholder.judges.templates import load_templates, sanitise

T = TypeVar("T")

Method: TypeAlias = Callable[[Decider, Any], Awaitable[Any]]
"""Asks an operation of a decision model and returns the operation's answer."""

TEMPLATES = load_templates(
    Path(str(files("beholder.judges.decisions") / "prompts")), required=()
)
"""The wording of the questions, by operation; each section is one kind of question."""


def word_question(
    decider: Decider, section: str, texts: Mapping[str, str] | None = None
) -> str:
    """Return a question: a section of the operation's prompt with texts in it.

    Args:
        decider: Whose prompt.
        section: Name of the section.
        texts: Untrusted texts by the name that the section uses.
    """
    values = {
        name: " ".join(sanitise(text).split())
        for name, text in (texts or {}).items()
    }
    template = decider.template
    return template.fill(section, template.sections[section], values)


def language_state(language: str | None) -> dict[str, str]:
    """Return the entry of a state that names the language of its texts, if it is known."""
    return {"language of the texts": language} if language else {}


_NAME_LENGTH = 60
"""Characters of an option that is its own name."""


def name_options(texts: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Return options of a choice for some texts.

    Models read the names: short texts that differ are their own names, others are numbered and
    described.
    """
    plain = [" ".join(sanitise(text).split()) for text in texts]
    is_distinct = len({text.casefold() for text in plain}) == len(plain)
    if is_distinct and all(0 < len(t) <= _NAME_LENGTH for t in plain):
        return tuple((text, None) for text in plain)
    return tuple((f"s{place}", text) for place, text in enumerate(plain))


def choose_likeliest(
    options: Sequence[T],
    probabilities: Sequence[float],
    cautious: Sequence[T],
) -> T:
    """Return the likeliest option; of equally likely ones, the first cautious one, or the first.

    Args:
        options: What there is.
        probabilities: Of each option.
        cautious: Options that win a tie, the most cautious first.
    """
    highest = max(probabilities)
    leading = [
        option
        for option, probability in zip(options, probabilities, strict=True)
        if probability == highest
    ]
    return next((o for o in cautious if o in leading), leading[0])


def described_levels(
    decider: Decider, numbers: Sequence[int]
) -> tuple[str, ...]:
    """Return the words of a scale's levels, from the section ``levels`` or its ends.

    The section has a line for each level; a scale of another length is described by its ends
    (``worst`` and ``best``), with numbers between.
    """
    sections = decider.template.sections
    lines = tuple(sections["levels"].split("\n"))
    if len(lines) == len(numbers):
        return lines
    low, high = numbers[0], numbers[-1]
    levels = [f"{number}, between {low} and {high}" for number in numbers]
    levels[0] = f"{low}: {lines[0]}"
    levels[-1] = f"{high}: {lines[-1]}"
    return tuple(levels)


def mean_level(probabilities: Sequence[float]) -> float:
    """Return the expected level, counted from 0."""
    return math.fsum(i * p for i, p in enumerate(probabilities))

"""The metric that fits the data at hand, where the user names none."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from beholder.errors import ConfigError
from beholder.records import Item
from beholder.text import words
from beholder.text.languages import ENGLISH, language_named, not_english

HEADLINE = "accord"

LONG = 100
"""Words from which the description of a video is long."""

LOOKED_AT = 50
"""Items from which the choice is made."""


def fitting(items: Sequence[Item], *, judge: bool) -> tuple[str, str]:
    """Choose the metric for some items.

    Args:
        items: The first ``LOOKED_AT`` or fewer of the data.
        judge: Whether the user names a judge.

    Returns:
        Name and reason, such as ``("accord", "English texts with references")``.

    Raises:
        ConfigError: No metric fits; says which option is missing.
    """
    if not any(item.references for item in items):
        return _without_references(items, judge)
    foreign = [why for why in map(_foreign, items) if why]
    # The majority decides: a few foreign rows become failures, with a reason
    # each.
    if 2 * len(foreign) > len(items):
        if judge:
            return (
                "posh",
                f"texts that are not English ({foreign[0]}); the judge reads them",
            )
        return "chrf", (
            f"texts that are not English ({foreign[0]}): chrf reads any language; for mistakes and"
            " omissions name a judge"
        )
    n_words = median(len(words(item.candidate)) for item in items)
    # A short description of a video has no order to compare.
    if all(item.video for item in items) and n_words >= LONG:
        return (
            "vcs",
            "long descriptions of videos with references: meaning and order count",
        )
    return HEADLINE, "English texts with references"


def _without_references(items: Sequence[Item], judge: bool) -> tuple[str, str]:
    pictured = any(item.images for item in items)
    if pictured and judge:
        return "fleur", "pictures and no references: a judge looks"
    suggestion = (
        "a metric that looks: -m clipscore (extra hf), or -m fleur --judge openai:MODEL"
        if pictured
        else "one that needs none: -m 'perplexity(judge=hf:MODEL)'"
    )
    raise ConfigError(
        "no metric was named, and the rows have no references. beholder lint checks alternative"
        f" texts without references. To score, name {suggestion}; or say where references are, with"
        " --map references=COLUMN or --references-from FILE"
    )


def _foreign(item: Item) -> str | None:
    language = language_named(item.language)
    # The row's own statement wins: detection errs on short texts.
    if language is not None:
        return (
            None if language == ENGLISH else f"row {item.id} says {language}"
        )
    return not_english(item.candidate)

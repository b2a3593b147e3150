"""Quotes by which judges give evidence, and their places in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from beholder.records import Span

NO_WORDS = frozenset(("", "none", "null", "n/a", "not said", "not mentioned"))
"""Words, in lower case, by which judges say that there is nothing to quote."""
EDGES = " \n\t.,;:!?\"'()[]“”‘’«»"
"""Characters around a quote that are not part of it."""
_VARIANTS = {
    c: f"[{group}]"
    for group in ("'‘’´`", '"“”„«»', "‐‑‒–—\\-", "<‹＜", ">›＞")
    for c in group
}


def locate(quote: str, text: str) -> tuple[Span, ...]:
    """Find quoted words in a text; empty unless all of them occur.

    Case, blanks and typographic variants do not matter. Passages that are joined by an ellipsis
    must follow in this order.
    """
    spans: list[Span] = []
    # Plan: cut the quote at each ellipsis and find the passages one after the
    # other, each behind the one before.
    for passage in re.split(r"\.{3,}|…", quote):
        words = passage.strip(EDGES).split()
        if not words:
            continue
        # Blanks match any blanks, and typographic variants of a character
        # (quotes, dashes) match each other: models normalise both when they
        # copy.
        exact = r"\s+".join(
            "".join(_VARIANTS.get(c, re.escape(c)) for c in w) for w in words
        )
        # A passage must not begin or end within a word, except in scripts that
        # do not separate words.
        left_edge, right_edge = (
            r"(?<!\w)" * _bounded(words[0][0]),
            r"(?!\w)" * _bounded(words[-1][-1]),
        )
        start = spans[-1][1] if spans else 0
        match = re.compile(
            left_edge + exact + right_edge, re.IGNORECASE
        ).search(text, start)
        if match is None:
            return ()
        spans.append(match.span())
    return tuple(spans)


def quoted(row: Mapping[str, Any]) -> str:
    """The quote of a judge's row; empty for every way to say that there is none."""
    quote = row["quote"]
    return (
        quote
        if isinstance(quote, str) and quote.strip().lower() not in NO_WORDS
        else ""
    )


def _bounded(character: str) -> bool:
    """Return whether a character belongs to a script that separates words by blanks."""
    return character.isalnum() and not re.match(
        r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]", character
    )

"""Limits on texts that others send: the viewer's page for pasted texts, the MCP server."""

from __future__ import annotations

import math
import re

from beholder.errors import ItemError
from beholder.metrics.base import Bounds
from beholder.records import Item
from beholder.text import RuleSplitter

MAX_TEXT = 20_000
"""Characters of all pasted texts; each sign outside a word counts as several (``Bounds``)."""

MOST_COST = 250_000
"""Sum over the sentences of a post of their words and signs, squared.

Parsing takes time by the square of a sentence: commas alone can make one of 20,000 characters.
This many are one sentence of 500 words and signs, or 400 sentences of 25.
"""

MOST_WAITING = 8
"""Requests that wait for their turn; further ones are refused at once."""


def check_pasted(item: Item, place: str) -> None:
    """Refuse texts that would hold the turn of others for long.

    Args:
        item: The texts.
        place: What they were sent to, for the message.

    Raises:
        ItemError: The texts or their sentences are too long.
    """
    Bounds(MAX_TEXT).check(item, place)
    # The same rules count words and signs as in `Bounds`; parsing time grows by their square.
    lengths = [
        len(re.findall(r"\w+|[^\w\s]", sentence.text_in(text)))
        for text in (item.candidate, *item.references)
        for sentence in RuleSplitter().split(text)
    ]
    if sum(length * length for length in lengths) > MOST_COST:
        raise ItemError(
            f"the longest sentence has {max(lengths):,} words and signs, too many to be scored at"
            f" once by {place}: it takes one sentence of {math.isqrt(MOST_COST)} or several"
            " shorter ones; beholder score takes longer ones"
        )

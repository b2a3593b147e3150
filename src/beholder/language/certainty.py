"""How likely a part of a scene graph is misread, from the margins of the parser's decisions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from operator import mul
from pathlib import Path
from typing import Literal, TypeAlias

from beholder.language.document import Word

Part: TypeAlias = Literal["entity", "attribute", "relation"]

_LONG = 2
"""Words beyond which a part is long."""
_FAR = 15
"""Distance in words beyond which all count alike."""
_DIGITS = 3
_NONE = (0.0, 0.0, 0.0)
_WEIGHTS = json.loads(
    Path(__file__).with_name("certainty.json").read_text(encoding="utf-8")
)
MISREAD: float = _WEIGHTS["misread"]
"""Doubt from which a part counts as misread."""


def features(
    words: Sequence[Word], ends: Sequence[Word] = ()
) -> tuple[float, ...]:
    """What the doubt about a part is made of; empty without words or margins.

    Args:
        words: The words that say it.
        ends: The nouns of which it is said.

    Returns:
        1; the least margins of tag, head and relation of the words; of the ends, those of tag, head
        and relation; the distance to the farthest end; whether it has more than two words.
    """
    known = [word for word in words if word.margins]
    if not known:
        return ()
    theirs = _least([word for word in ends if word.margins]) if ends else _NONE
    far = (
        max([abs(word.index - known[0].index) for word in ends]) if ends else 0
    )
    return (
        1.0,
        *_least(known),
        *theirs,
        min(far, _FAR) / _FAR,
        float(len(words) > _LONG),
    )


def doubt(part: Part, found: Sequence[float]) -> float:
    """How likely a part with these features is misread, 0..1; 0 without features."""
    if not found:
        return 0.0
    total = sum(map(mul, _WEIGHTS[part], found))
    return round(1.0 / (1.0 + math.exp(-total)), _DIGITS)


def _least(words: Sequence[Word]) -> Sequence[float]:
    """The least of each margin within -2 and 4: beyond some units, more hardly says more."""
    if not words:
        return _NONE
    least = (
        words[0].margins
        if len(words) == 1
        else map(min, *[word.margins for word in words])
    )
    return [
        4.0 * m / (4.0 + m)
        if 0 <= m < math.inf
        else max(m, -2.0)
        if m < 0
        else 4.0
        for m in least
    ]

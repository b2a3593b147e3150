"""Probability that a part of a scene graph is misread, from the margins of the parser."""

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
    """Return the features from which the doubt about a part is computed.

    Args:
        words: The words that say it.
        ends: The nouns of which it is said.

    Returns:
        1; the least margins of tag, head and relation of the words; of the ends, those of tag, head
        and relation; the distance to the farthest end; whether it has more than two words. Empty
        without words or margins.
    """
    measured = [word for word in words if word.margins]
    if not measured:
        return ()
    end_margins = (
        _least([word for word in ends if word.margins]) if ends else _NONE
    )
    distance = (
        max([abs(word.index - measured[0].index) for word in ends])
        if ends
        else 0
    )
    return (
        1.0,
        *_least(measured),
        *end_margins,
        min(distance, _FAR) / _FAR,
        float(len(words) > _LONG),
    )


def doubt(part: Part, values: Sequence[float]) -> float:
    """Return the probability that a part with these features is misread; 0 without features."""
    if not values:
        return 0.0
    # A logistic regression, fitted to units that readers marked as ill-formed or not
    # (training/english/certainty.py).
    total = sum(map(mul, _WEIGHTS[part], values))
    return round(1.0 / (1.0 + math.exp(-total)), _DIGITS)


def _least(words: Sequence[Word]) -> Sequence[float]:
    """Return the least of each margin over the words, within -2 and 4."""
    if not words:
        return _NONE
    least = (
        words[0].margins
        if len(words) == 1
        else map(min, *[word.margins for word in words])
    )
    return [_bound_margin(margin) for margin in least]


def _bound_margin(margin: float) -> float:
    """Return a margin within -2 and 4; large margins approach 4."""
    if margin < 0:
        return max(margin, -2.0)
    return 4.0 if margin == math.inf else 4.0 * margin / (4.0 + margin)

"""How likely facts are true of what a text describes."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.judges.builtin.claims import probabilities


def fact_probabilities(facts: Sequence[str], reference: str) -> list[float]:
    """The built-in judge's probability that each fact is true of what the reference describes.

    Fitted for as many false facts as true ones; low values are too low, ``docs/dcscore.md`` says by
    how much. A fact that the reference does not speak of is as unlikely as one that it contradicts.

    Args:
        facts: Short English statements, such as "The cup is red."
        reference: An English text.

    Returns:
        One probability for each fact, 0..1.

    Raises:
        ItemError: The reference is not English.
    """
    return probabilities(facts, reference)

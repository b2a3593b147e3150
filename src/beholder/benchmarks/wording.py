"""English words that the perturbations exchange."""

from __future__ import annotations

NUMBERS = (
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip

COLOURS = (
    "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown",
    "black", "white", "gray", "grey", "gold", "silver", "beige", "turquoise",
)  # fmt: skip


def _both_ways(pairs: dict[str, str]) -> dict[str, str]:
    return pairs | {second: first for first, second in pairs.items()}


OPPOSITES = _both_ways(
    {
        "left": "right",
        "top": "bottom",
        "above": "below",
        "upper": "lower",
        "front": "back",
        "foreground": "background",
        "vertical": "horizontal",
        "vertically": "horizontally",
        "inside": "outside",
        "near": "far",
        "north": "south",
        "east": "west",
        "up": "down",
    }
)

CONTRACTIONS = _both_ways(
    {
        "it is": "it's",
        "that is": "that's",
        "there is": "there's",
        "he is": "he's",
        "she is": "she's",
        "they are": "they're",
        "we are": "we're",
        "you are": "you're",
        "is not": "isn't",
        "are not": "aren't",
        "was not": "wasn't",
        "were not": "weren't",
        "does not": "doesn't",
        "do not": "don't",
        "did not": "didn't",
        "has not": "hasn't",
        "have not": "haven't",
        "cannot": "can't",
        "could not": "couldn't",
        "would not": "wouldn't",
    }
)

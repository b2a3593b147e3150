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

SAME = _both_ways(
    {
        "couch": "sofa",
        "large": "big",
        "small": "little",
        "photo": "photograph",
        "picture": "image",
        "sidewalk": "pavement",
        "rock": "stone",
        "rocks": "stones",
        "woods": "forest",
        "circular": "round",
        "nearly": "almost",
        "partially": "partly",
        "beside": "next to",
        "numerous": "many",
        "behind it": "at its back",
        "begins": "starts",
        "visible": "to be seen",
        "appears to be": "seems to be",
        "consists of": "is made of",
        "multiple": "several",
    }
)
"""Words that stand for each other in descriptions of what is seen."""

SPELLINGS = _both_ways(
    {
        "gray": "grey",
        "color": "colour",
        "colors": "colours",
        "colored": "coloured",
        "colorful": "colourful",
        "center": "centre",
        "centered": "centred",
        "toward": "towards",
        "meter": "metre",
        "meters": "metres",
        "theater": "theatre",
        "jewelry": "jewellery",
        "mustache": "moustache",
        "pajamas": "pyjamas",
    }
)

DIGITS = _both_ways({word: str(number) for number, word in enumerate(NUMBERS[1:], start=2)})
"""Numbers from two on: "one" is often no number."""

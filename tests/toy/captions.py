"""Rows of the size of real captions, made by rule from our own words: no two are alike."""

from __future__ import annotations

import json
import random
from pathlib import Path

_WHO = [
    "a man",
    "a woman",
    "two children",
    "an old dog",
    "the red-haired girl",
    "three tourists",
    "a cyclist",
    "some birds",
]
_DOES = [
    "walks along",
    "is standing beside",
    "are looking at",
    "sits on",
    "holds",
    "runs past",
    "has climbed",
    "paints",
]
_WHAT = [
    "a wooden fence",
    "the grey harbour wall",
    "a small boat",
    "the market stall",
    "an open window",
    "a blue bicycle",
    "the church steps",
    "a pile of leaves",
]
_WHERE = [
    "in the rain",
    "at dusk",
    "under tall trees",
    "near the river",
    "in front of a shop",
    "on a crowded street",
    "by the sea",
    "",
]


def text(rng: random.Random) -> str:
    """One to three sentences."""
    return " ".join(
        f"{rng.choice(_WHO)} {rng.choice(_DOES)} {rng.choice(_WHAT)} {rng.choice(_WHERE)}".strip().capitalize()
        + f", number {rng.randrange(100)}."
        for _ in range(rng.randint(1, 3))
    )


def rows(n: int) -> list[dict[str, object]]:
    """Return rows with two references and a group each; every 101st has no text, and fails."""
    rng = random.Random(n)
    return [
        {
            "id": f"row-{number}",
            "candidate": text(rng) if number % 101 else "",
            "references": [text(rng), text(rng)],
            "group": {"system": f"s{number % 3}"},
        }
        for number in range(n)
    ]


def write(path: Path, n: int) -> Path:
    """The same as a file."""
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows(n)), encoding="utf-8"
    )
    return path

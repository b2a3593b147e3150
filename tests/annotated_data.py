"""Data of every task of annotation, as files, with pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

COLOURS = ("#8aa6bf", "#c2a878", "#7f9c6b", "#b58a9a", "#6f7f8f")

DESCRIPTIONS = {
    "harbour": {
        "reference": "A red boat lies at a wooden pier. Two people stand beside it under a grey sky.",
        "north": "A blue boat lies at a pier. Three people stand beside it.",
        "south": "A red boat at a wooden pier under a grey sky.",
        "east": "A boat near some people.",
    },
    "street": {
        "reference": "A woman in a green coat walks a small dog past a bakery.",
        "north": "A man in a green coat walks a dog past a bakery.",
        "south": "A woman walks a small dog in a street.",
        "east": "A dog sits in front of a shop.",
    },
    "field": {
        "reference": "Sheep graze on a hill below a stone wall; a barn stands on the right.",
        "north": "Cows graze on a hill. A barn stands on the left.",
        "south": "Sheep graze below a stone wall.",
        "east": "Animals on grass.",
    },
}
"""Per picture the reference and three systems' texts, made up."""


def picture(path: Path, colour: str, sign: str) -> None:
    """A plain picture that can be told from others."""
    image = Image.new("RGB", (360, 240), colour)
    ImageDraw.Draw(image).text((20, 100), sign, fill="#10202c", font_size=40)
    image.save(path)


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def items(folder: Path, systems: Sequence[str] = ("north", "south")) -> Path:
    """Rows of systems about three pictures, each with its reference and facts."""
    rows = []
    for colour, (name, texts) in zip(
        COLOURS, DESCRIPTIONS.items(), strict=False
    ):
        picture(folder / f"{name}.png", colour, name)
        rows += [
            {
                "id": f"{name}-{system}",
                "candidate": texts[system],
                "references": [texts["reference"]],
                "images": [f"{name}.png"],
                "group": {"system": system},
                "facts": [
                    part.strip()
                    for part in texts[system].split(".")
                    if part.strip()
                ],
            }
            for system in systems
        ]
    return write_rows(folder / "items.jsonl", rows)


def storylines(folder: Path) -> Path:
    """Three sequences of three pictures by two sources."""
    rows = []
    for n, (name, source) in enumerate(
        (("walk", "human"), ("trip", "human"), ("mix", "random"))
    ):
        frames = []
        for k in range(3):
            file = f"{name}{k}.png"
            picture(
                folder / file,
                COLOURS[(n + k) % len(COLOURS)],
                f"{name} {k + 1}",
            )
            frames.append(
                {
                    "id": f"{name}{k}",
                    "image": file,
                    "date": f"{1928 + n}-03-0{k + 1}",
                }
            )
        rows.append({"id": name, "source": source, "frames": frames})
    return write_rows(folder / "storylines.jsonl", rows)


def reviews(folder: Path) -> Path:
    """Three sets of three texts about a picture."""
    rows = []
    for colour, (name, texts) in zip(
        COLOURS, DESCRIPTIONS.items(), strict=False
    ):
        picture(folder / f"{name}.png", colour, name)
        own = [texts[system] for system in ("north", "south", "east")]
        rows.append(
            {
                "id": name,
                "image": f"{name}.png",
                "language": "en",
                "texts": own,
                "references": [texts["reference"]],
            }
        )
    return write_rows(folder / "reviews.jsonl", rows)


def revisions(folder: Path) -> Path:
    """A proposal for each row of ``items``: the first word is another."""
    rows = [
        json.loads(line)
        for line in items(folder).read_text("utf-8").splitlines()
    ]
    for row in rows:
        text, first = row["candidate"], row["candidate"].split()[0]
        edit = {
            "op": "replace",
            "start": 0,
            "end": len(first),
            "old": first,
            "new": "One",
        }
        row["revision"] = {
            "text": text,
            "edits": [edit],
            "refused": [{"mark": 1, "why": "quoted"}],
        }
        row["candidate"] = "One" + text[len(first) :]
        row["not_better"] = row["id"] == "harbour-north"
    return write_rows(folder / "revisions.jsonl", rows)


def readings(folder: Path) -> Path:
    """The rows of ``items``, each for two readers."""
    lines = items(folder).read_text(encoding="utf-8").splitlines()
    rows = [{**json.loads(line), "meta": {"readers": 2}} for line in lines]
    return write_rows(folder / "readings.jsonl", rows)


DATA_OF = {
    "revisions": revisions,
    "reading": readings,
    "marks": items,
    "pairs": items,
    "ratings": items,
    "facts": items,
    "sequences": storylines,
    "steps": storylines,
    "ranking": reviews,
}
"""Who writes the data of a task."""

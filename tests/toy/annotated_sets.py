"""Small sets of judgments in the published forms: pairs, marked spans, battles of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

A, B = "a tall man", "one man"
MORE, LESS, MUCH = "1_slightly_better", "2_slightly_better", "1_much_better"


def coarse_row(
    picture: str, label: str, annotator: str, *, swapped: bool = False
) -> dict[str, Any]:
    texts = [("long", A), ("short", B)]
    (model1, first), (model2, second) = texts[::-1] if swapped else texts
    reference = (
        "A tall man holds a cup." if picture == "u0" else "A man holds a cup."
    )
    labels = dict.fromkeys(("mistakes", "omissions", "overall_quality"), label)
    return {
        "uuid": picture, "reference": reference, "model1": model1, "model2": model2,
        "model1_generation": first, "model2_generation": second, "who": annotator, **labels,
    }  # fmt: skip


COARSE = [
    coarse_row("u0", MORE, "ann"),
    coarse_row("u0", MORE, "expert"),
    coarse_row("u1", LESS, "ann"),
    coarse_row("u1", LESS, "expert"),
    coarse_row("u2", MORE, "ann"),
    coarse_row(
        "u2", MORE, "expert", swapped=True
    ),  # says that the second text is better
    coarse_row("u3", MUCH, "ann"),
]

TEXT = "one two three four five six seven eight"


def granular_row(marks: list[str]) -> dict[str, Any]:
    places = [
        (TEXT.index(words), TEXT.index(words) + len(words)) for words in marks
    ]
    spans = [{"start": start, "end": end} for start, end in places]
    return {
        "uuid": "u0", "model": "m", "generation": TEXT, "reference": "a red cup",
        "mistakes": json.dumps(spans), "omissions": '[{"start": 2, "end": 5}]',
    }  # fmt: skip


GRANULAR = [
    granular_row(["one two", "six seven"]),
    granular_row(["two three four", "six seven"]),
]
MODELS = ("tiny", "small", "large")


def battle(place: int, first: str, second: str) -> dict[str, Any]:
    """The model that writes more words wins."""
    texts = {
        model: "word " * (3 + number) for number, model in enumerate(MODELS)
    }
    return {
        "img": f"test_{place:05d}.jpg", "source1": first, "source2": second, "ref": f"a cup in room {place}",
        "caption1": texts[first].strip(), "caption2": texts[second].strip(), "cluster": "all",
        "winner": max(first, second, key=MODELS.index),
    }  # fmt: skip


BATTLES = [
    battle(place, first, second)
    for place in range(4)
    for first, second in (
        ("tiny", "small"),
        ("small", "large"),
        ("tiny", "large"),
    )
]


def write_sets(folder: Path) -> Path:
    """One folder of several sets, as ``--suite`` takes it."""
    _write_published(folder / "docent_granular", GRANULAR)
    return write_coarse_sets(folder)


def write_coarse_sets(folder: Path) -> Path:
    """The sets of whole texts only."""
    _write_published(folder / "docent_coarse", COARSE)
    (folder / "caparena").mkdir()
    (folder / "caparena/caparena_annots_eval.json").write_text(
        json.dumps(BATTLES), "utf-8"
    )
    return folder


def _write_published(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "test-0.parquet")

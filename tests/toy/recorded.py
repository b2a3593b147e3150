"""The table of values that each version records: every metric, every choice of its settings.

    PYTHONPATH=tests python -m tools.record_values

The texts were written for this table. Answers of a model are played: they follow from the question
alone, so that a prompt that changes shows, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from beholder.asking.params import REQUIRED, choices
from beholder.backends import (
    BACKENDS,
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
    Surprisal,
)
from beholder.backends import Image as SentImage
from beholder.errors import ConfigError, MissingExtraError
from beholder.metrics import METRICS, Metric, Tools, metric, params
from beholder.records import Item, ItemFailure

FOLDER = Path(__file__).parents[1] / "values"

DIGITS = 6
"""Decimals of a recorded value."""

NOT_RECORDED = {
    "bertscore": "its weights are no part of the package",
    "clipscore": "its weights are no part of the package",
    "refclipscore": "its weights are no part of the package",
}

_MODEL = "oracle:model"


class Oracle(Backend):
    """``oracle:MODEL``: an answer of the right form, drawn by a hash of the question."""

    def __init__(self, model: str) -> None:
        self.name = f"oracle:{model}"

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        return Capabilities("oracle", 0, "schema", images=True)

    async def chat(self, request: Request) -> Answer:
        seed = f"{request.digest}/{request.replicate}"
        if request.schema is None:
            text = str(1 + _draw(seed, 5))
        else:
            text = json.dumps(
                _fill(
                    request.schema,
                    seed,
                    "\n".join(m.text for m in request.messages),
                )
            )
        return Answer((Sample(text, "stop"),) * request.sampling.n, "oracle")

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[SentImage, ...] = (),
    ) -> list[Surprisal]:
        return [
            Surprisal(
                0.5 + _draw(f"{prompt}{text}", 1000) / 100,
                len(text.split()),
                len(text),
            )
            for text in texts
        ]


def _draw(seed: str, n: int) -> int:
    return int(hashlib.sha256(seed.encode("utf-8")).hexdigest(), 16) % n


def _fill(schema: Mapping[str, Any], seed: str, text: str) -> Any:
    kind = schema["type"]
    if isinstance(kind, list):
        return (
            None
            if _draw(seed, 2)
            else _fill({**schema, "type": kind[0]}, seed, text)
        )
    if "enum" in schema:
        return schema["enum"][_draw(seed, len(schema["enum"]))]
    if kind == "null":
        return None
    if kind == "object":
        fields = schema["properties"].items()
        return {
            name: _fill(field_schema, f"{seed}/{name}", text)
            for name, field_schema in fields
        }
    if kind == "array":
        return _rows(schema, seed, text)
    if kind == "string":
        words = text.split()
        return words[_draw(seed, len(words))]
    return bool(_draw(seed, 2)) if kind == "boolean" else 1 + _draw(seed, 3)


def _rows(schema: Mapping[str, Any], seed: str, text: str) -> list[Any]:
    """A row for each id that may be given, or two; where a row has several forms, one is drawn."""
    forms = schema["items"].get("anyOf", [schema["items"]])
    name = next(iter(forms[0].get("properties", {})), "")
    ids_by_form = [
        form["properties"][name].get("enum", []) if name else []
        for form in forms
    ]
    ids = sorted(set().union(*ids_by_form))
    rows = []
    for at in range(len(ids) or schema.get("minItems") or 2):
        possible = [
            form
            for form, listed in zip(forms, ids_by_form, strict=True)
            if not ids or ids[at] in listed
        ]
        form = possible[_draw(f"{seed}/{at}/form", len(possible))]
        row = _fill(form, f"{seed}/{at}", text)
        rows.append({**row, name: ids[at]} if ids else row)
    return rows


def items(folder: Path) -> list[Item]:
    """The texts, with pictures of one colour each in a folder.

    Args:
        folder: Where the pictures are written.
    """
    rows = [
        json.loads(line)
        for line in (FOLDER / "texts.jsonl").read_text("utf-8").splitlines()
    ]
    items = []
    for number, row in enumerate(rows):
        name = f"{row['id']}.png"
        Image.new("RGB", (32, 32), (40 * number, 90, 160)).save(folder / name)
        items.append(
            Item(
                row["id"], row["candidate"], tuple(row["references"]), (name,)
            )
        )
    return items


def settings() -> Iterator[str]:
    """Specs to record: each metric as it is, with each choice of each of its fields, by a model."""
    for name in METRICS.builtin():
        if name in NOT_RECORDED:
            continue
        fields = {p.name: p for p in params(METRICS.get(name))}
        judged = "judge" in fields
        by_model: dict[str, object] = {"judge": _MODEL}
        plain = (
            by_model if judged and fields["judge"].default is REQUIRED else {}
        )
        configs = [
            plain,
            *({**plain, field: value} for field, value in _choices(name)),
        ]
        if judged and not plain:
            configs.append(by_model)
        for options in configs:
            try:
                yield metric(name, **options).name
            except ConfigError:  # a choice that goes with another one only
                continue


def _choices(name: str) -> Iterator[tuple[str, object]]:
    for field, listed in choices(METRICS.get(name)).items():
        default = next(
            p.default for p in params(METRICS.get(name)) if p.name == field
        )
        yield from ((field, value) for value in listed if value != default)


def values(spec: str, folder: Path) -> dict[str, Any] | None:
    """Return rounded values of a metric for each text and for all together.

    None where it needs a package that is not installed.

    Args:
        spec: The metric.
        folder: Where the pictures are.
    """
    built: Metric[Any] = metric(spec)
    texts = items(folder)
    if (
        "judge" in built.config() and _MODEL not in built.name
    ):  # the built-in judge sees nothing
        texts = [replace(item, images=()) for item in texts]
    built = built.prepare(texts)
    try:
        outcomes = built.score(texts, tools=Tools(folder=folder))
    except MissingExtraError:
        return None
    recorded_values: dict[str, Any] = {}
    statistics = []
    for item, outcome in zip(texts, outcomes, strict=True):
        if isinstance(outcome, ItemFailure):
            recorded_values[item.id] = outcome.error
            continue
        recorded_values[item.id] = {
            n: round(float(v), DIGITS) for n, v in outcome.values.items()
        }
        if "statistics" in outcome.detail:
            statistics.append(
                np.asarray(outcome.detail["statistics"], dtype=np.float64)
            )
    if built.corpus_values and statistics:
        whole = built.corpus(np.sum(statistics, axis=0))
        recorded_values["(all)"] = {
            name: round(float(value), DIGITS) for name, value in whole.items()
        }
    return recorded_values


def table(folder: Path) -> dict[str, Any]:
    """All values of this version.

    Args:
        folder: Where pictures are written.
    """
    values_by_spec = {
        spec: values(spec, folder) for spec in dict.fromkeys(settings())
    }
    return {
        spec: spec_values
        for spec, spec_values in values_by_spec.items()
        if spec_values is not None
    }


def is_development(version: str) -> bool:
    """Return whether a version is that of a state between releases."""
    return ".dev" in version


def file(version: str) -> Path:
    """The recorded table of a version; all states between releases share one."""
    return (
        FOLDER
        / f"{'development' if is_development(version) else version}.json"
    )


def released_file() -> Path:
    """The file with the digest of the table of each released version."""
    return FOLDER / "released.json"


if "oracle" not in BACKENDS.names():
    BACKENDS.register("oracle")(Oracle)

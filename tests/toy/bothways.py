"""A small world of pictures that people and four systems describe, with planted rates of error.

Every sentence says that one numbered thing is there. Numbers from ``FALSE`` on are not in the
picture. The judge reads the numbers, so its verdicts are exact and the planted rates are known.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.backends import (
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
    Usage,
)

FALSE = 500
N_HUMAN, N_MODEL = 8, 24
HUMAN_FALSE = 0.2
SYSTEMS = {
    "careful": (0.02, 0.3),
    "wordy": (0.12, 0.5),
    "brief": (0.05, 0.45),
    "wild": (0.2, 0.6),
}
"""Per system: share of its units that are made up, and of people's true units that it leaves out."""
LANGUAGES = ("Hindi", "English")
CATEGORIES = ("nature", "trade", "learning")
_SENTENCE = {"English": "A {} is there.", "Hindi": "यहाँ {} है."}
_ROW = re.compile(r'<(statement|reference) id="(\d+)">(.*?)</\1>', re.DOTALL)
_NUMBER = re.compile(r"thing_(\d+)")


class Reader(Backend):
    """``reader:MODEL``: takes texts apart by sentences, matches and verifies by numbers."""

    def __init__(self, model: str, *, log: str | None = None) -> None:
        self.name = f"reader:{model}"
        self._model = model
        self._log = log

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        return Capabilities(self._model, 0, "schema", True)

    async def chat(self, request: Request) -> Answer:
        if self._log is not None:
            with Path(self._log).open("a", encoding="utf-8") as lines:
                lines.write(f"{request.digest}\n")
        text = json.dumps(self._says(request), ensure_ascii=False)
        return Answer((Sample(text, "stop"),), self._model, None, Usage(1, 1))

    def _says(self, request: Request) -> object:
        text = request.messages[-1].text
        schema_text = str(request.schema)
        if "statements" in schema_text:
            whole = text.split("<text>\n")[1].split("\n</text>")[0]
            rows = [s.strip() for s in whole.split(".") if s.strip()]
            return {
                "statements": [
                    {"text": s, "subject": _subject(s), "relevant": True}
                    for s in rows
                ]
            }
        if "clauses" in schema_text:
            whole = text.split("<text>\n")[1].split("\n</text>")[0]
            rows = [s.strip() for s in whole.split(".") if s.strip()]
            target = re.search(r"into (\w+)\.", text)
            assert target is not None
            return {
                "clauses": [
                    {
                        "source": s,
                        "translation": _SENTENCE[target[1]].format(
                            _subject(s)
                        ),
                    }
                    for s in rows
                ]
            }
        if "categories" in schema_text:
            digest = (
                int(request.images[0].digest[:4], 16) if request.images else 0
            )
            categories = [
                {"name": "nature", "rating": "High"},
                {"name": "trade", "rating": "Low"},
            ]
            return {"categories": categories[: digest % 3]}
        text_rows = _ROW.findall(text)
        claims = [
            (int(i), _number(s))
            for kind, i, s in text_rows
            if kind == "statement"
        ]
        if "matches" in schema_text:
            reference_ids = {
                _number(s): int(i)
                for kind, i, s in text_rows
                if kind == "reference"
            }
            return {
                "matches": [
                    {"id": i, "reference": reference_ids.get(number)}
                    for i, number in claims
                ]
            }
        trusted = set(
            map(
                int,
                _NUMBER.findall(
                    text.partition("<reference>\n")[2].partition(
                        "</reference>"
                    )[0]
                ),
            )
        )
        return {
            "rows": [
                {"id": i, "supported": n < FALSE or n in trusted}
                for i, n in claims
            ]
        }


def _number(text: str) -> int:
    match = _NUMBER.search(text)
    assert match is not None, text
    return int(match[1])


def _subject(text: str) -> str:
    return f"thing_{_number(text)}"


@dataclass
class World:
    """What was written, and the realised counts by (system, direction, rate): part and whole."""

    data: Path
    counts: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)

    def count(
        self, system: str, direction: str, rate: str, part: int, whole: int
    ) -> None:
        counts = self.counts.setdefault((system, direction, rate), [0, 0])
        counts[0] += part
        counts[1] += whole


def make_world(folder: Path, n_images: int = 60, seed: int = 7) -> World:
    """Write pictures and ``data.jsonl``: an item per picture, system and language."""
    rng = np.random.default_rng(seed)
    (folder / "img").mkdir(parents=True)
    world, rows = World(folder / "data.jsonl"), []
    wrong = _planted(rng, HUMAN_FALSE, n_images * N_HUMAN).reshape(
        n_images, N_HUMAN
    )
    made_up = {
        system: _planted(rng, rate, n_images * N_MODEL)
        .reshape(n_images, N_MODEL)
        .sum(axis=1)
        for system, (rate, _) in SYSTEMS.items()
    }
    left_out = {
        system: iter(_planted(rng, rate, int((~wrong).sum())))
        for system, (_, rate) in SYSTEMS.items()
    }
    for i in range(n_images):
        image = f"img/{i:03d}.png"
        Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(
            folder / image
        )
        order = rng.permutation(200)
        human = [
            int(order[k]) + (FALSE if wrong[i][k] else 0)
            for k in range(N_HUMAN)
        ]
        for number, system in enumerate(SYSTEMS):
            shared = [
                n for n in human if n < FALSE and not next(left_out[system])
            ]
            n_wrong = int(made_up[system][i])
            own_facts = [1000 + 100 * number + k for k in range(n_wrong)]
            n_extra = N_MODEL - n_wrong - len(shared)
            assert n_extra >= 0
            facts = [
                *shared,
                *own_facts,
                *(int(order[N_HUMAN + k]) for k in range(n_extra)),
            ]
            world.count(system, "har", "hallucination", n_wrong, N_MODEL)
            world.count(
                system, "har", "omission", N_HUMAN - len(shared), N_HUMAN
            )
            world.count(
                system, "mar", "hallucination", int(wrong[i].sum()), N_HUMAN
            )
            world.count(
                system, "mar", "omission", N_MODEL - len(shared), N_MODEL
            )
            judgments = {}
            if i < 22 and system == "careful":
                judgments = {
                    "rating": [int(r) for r in rng.integers(6, 11, 4)],
                    "human_rating": [
                        int(r)
                        for r in np.random.default_rng(i).integers(3, 9, 4)
                    ],
                }
            for language in LANGUAGES:
                rows.append(
                    {
                        "id": f"{i}/{system}/{language}",
                        "candidate": _text(facts, language),
                        "references": [_text(human, language)],
                        "images": [image],
                        "group": {
                            "system": system,
                            "language": language,
                            "category": CATEGORIES[i % len(CATEGORIES)],
                        },
                        "judgments": judgments,
                    }
                )
    world.data.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        encoding="utf-8",
    )
    return world


def _planted(
    rng: np.random.Generator, rate: float, n: int
) -> NDArray[np.bool_]:
    """n flags in random order, of which the share ``rate`` is set, to the nearest whole flag."""
    return rng.permutation(np.arange(n) < round(rate * n))


def _text(numbers: list[int], language: str) -> str:
    return " ".join(_SENTENCE[language].format(f"thing_{n}") for n in numbers)

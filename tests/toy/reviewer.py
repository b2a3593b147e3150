"""A backend that ranks, writes and scores reviews by a quality that stands in the texts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from beholder.backends import (
    Answer,
    Backend,
    Capabilities,
    Image,
    Request,
    Sample,
    Surprisal,
)

_QUALITY = re.compile(r"quality (-?[0-9]+(?:\.[0-9]+)?)")
MALFORMED = (
    '{"ranks": [1, 1, 2, 3, 4]}',
    '{"ranks": [1, 2, 3, 4]}',
    '{"ranks": [0, 1, 2, 3, 4]}',
    '{"ranks": [1, 2, 3, 4, null]}',
    "The first one is the best, I would say.",
    '{"order": [1, 2, 3, 4, 5]}',
    "",
)


class Reviewer(Backend):
    """``reviewer(model='m', bias=1.0)``: the better and the earlier shown, the better ranked.

    Args:
        model: ``malformed`` never gives ranks, ``mended`` only when asked again;
            ``flat`` finds every token equally likely.
        bias: Quality that a place nearer to the front is worth.
        noise: Standard deviation of what it sees of the quality.
        noise_ja: The same for texts that are told to be Japanese.
        log: File that gets a line per call, so that a test can see what was paid for.
        images: Whether it takes pictures.
    """

    def __init__(
        self,
        model: str,
        *,
        bias: float = 0.0,
        noise: float = 0.0,
        noise_ja: float | None = None,
        log: str | None = None,
        images: bool = True,
    ) -> None:
        self.name = f"reviewer:{model}"
        self._model = model
        self._bias = bias
        self._noise = (noise, noise if noise_ja is None else noise_ja)
        self._log = log
        self._images = images

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        return Capabilities(self._model, 0, "schema", self._images)

    async def chat(self, request: Request) -> Answer:
        self._note(request.digest)
        text = request.messages[1].text
        if '"reviews"' in text:
            reply = self._write(request)
        elif self._model == "malformed" or (
            self._model == "mended" and len(request.messages) < 4
        ):
            reply = MALFORMED[int(request.digest[:8], 16) % len(MALFORMED)]
        else:
            reply = json.dumps({"ranks": self._ranks(request, text)})
        return Answer((Sample(reply, "stop"),), self._model)

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        surprisals = []
        for text in texts:
            self._note(f"{text}{prompt}{len(images)}")
            quality = [float(q) for q in _QUALITY.findall(text)] or [
                len(text) % 7
            ]
            blind = 0.0 if images else _noise(text, 1.5)
            per_token = 3.0 - 0.2 * (quality[0] + blind)
            if self._model == "flat":
                per_token = 1.0
            n_tokens = max(1, len(text) // 4)
            surprisals.append(
                Surprisal(max(0.01, per_token) * n_tokens, n_tokens, len(text))
            )
        return surprisals

    def _ranks(self, request: Request, text: str) -> list[int]:
        quality = np.array([float(q) for q in _QUALITY.findall(text)])
        noise = self._noise["Japanese" in text]
        rng = np.random.default_rng(int(request.digest[:15], 16))
        perceived = (
            quality
            + noise * rng.normal(size=len(quality))
            - self._bias * np.arange(len(quality))
        )
        return [int(rank) + 1 for rank in np.argsort(np.argsort(-perceived))]

    def _write(self, request: Request) -> str:
        mark = request.images[0].digest[:6]
        texts = [
            f"Review {kind} of {mark}, quality {5 - kind}."
            for kind in range(5)
        ]
        return json.dumps({"reviews": texts})

    def _note(self, line: str) -> None:
        if self._log is not None:
            with Path(self._log).open("a", encoding="utf-8") as lines:
                digest = hashlib.sha256(line.encode("utf-8")).hexdigest()
                lines.write(f"{digest}\n")


def _noise(text: str, scale: float) -> float:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return float(
        scale
        * np.random.default_rng(int.from_bytes(digest[:8], "big")).normal()
    )


def write_reviews(
    path: Path,
    n: int = 8,
    *,
    noise: float = 0.7,
    languages: Sequence[str] = ("en",),
) -> list[dict[str, object]]:
    """Write sets of five texts with ranks of three people, and pictures; gives the rows."""
    from PIL import Image as PILImage

    rng = np.random.default_rng(3)
    folder = path.parent / "img"
    folder.mkdir(exist_ok=True)
    rows: list[dict[str, object]] = []
    for number in range(n):
        picture = folder / f"{number:03d}.png"
        pixels = rng.integers(0, 256, (4, 5, 3), np.uint8)
        PILImage.fromarray(pixels).resize(
            (50, 40), PILImage.Resampling.NEAREST
        ).save(picture)
        for language in languages:
            quality = rng.normal(size=5)
            people = {
                name: (
                    np.argsort(
                        np.argsort(-(quality + noise * rng.normal(size=5)))
                    )
                    + 1
                ).tolist()
                for name in ("anna", "ben", "cleo")
            }
            rows.append(
                {
                    "id": f"p{number}",
                    "image": f"img/{picture.name}",
                    "language": language,
                    "category": ("Animals", "Plants", "Places")[number % 3],
                    "texts": [
                        f"Text {i} of {number}, quality {q:.4f}."
                        for i, q in enumerate(quality)
                    ],
                    "ranks": people,
                    "prompt_ranks": [1, 2, 3, 4, 5],
                }
            )
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return rows

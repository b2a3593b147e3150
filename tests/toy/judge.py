"""A backend that plays a seeing judge: its votes follow the words it gets, with seeded noise."""

from __future__ import annotations

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

from beholder.backends import (
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
    Usage,
)

_PLACES = re.compile(r"place: (\w+)")
_SECONDS = {"caption": 2.0, "captions": 0.5, "sight": 5.0}


class Storyteller(Backend):
    """``story:MODEL``: captions name the picture, ratings fall with changes of place.

    Args:
        model: ``steady`` for little noise, ``broken`` for answers that cannot be used.
        log: File that gets a line per call, so that a test can see what was paid for.
    """

    def __init__(self, model: str, *, log: str | None = None) -> None:
        self.name = f"story:{model}"
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
        text = "\n".join(message.text for message in request.messages)
        kind = "sight" if request.images else "captions"
        if request.schema is None:
            kind = "caption"
            reply = f"A photograph {request.images[0].digest[:8]}, {'a word ' * 80}and an end."
        elif self._model == "broken":
            reply = _BROKEN[int(request.digest[:8], 16) % len(_BROKEN)]
        else:
            row = {
                "reason": "As I see it.",
                "score": self._score(request, text, kind),
            }
            if "breaks" in request.schema["properties"]:
                row["breaks"] = (
                    ["place"] if len(set(_PLACES.findall(text))) > 1 else []
                )
            reply = json.dumps(row)
        usage = Usage(
            prompt=request.estimated_tokens(), completion=len(reply.split())
        )
        return Answer(
            (Sample(reply, "stop"),), self._model, None, usage, _SECONDS[kind]
        )

    def _score(self, request: Request, text: str, kind: str) -> int:
        places = _PLACES.findall(text)
        changes = sum(a != b for a, b in pairwise(places))
        share = changes / max(1, len(places) - 1)
        digest: bytes = hashlib.sha256(
            f"{request.digest}{request.replicate}".encode()
        ).digest()
        noise = (digest[0] / 255 - 0.5) * (1.5 if kind == "sight" else 4.0)
        return int(max(1, min(10, round(9.5 - 7 * share + noise))))


_BROKEN = (
    '{"reason": "too good", "score": 11}',
    '{"reason": "nothing"}',
    "It is a lovely story, I would say.",
    '{"reason": "half", "score": 5.5}',
    "",
)

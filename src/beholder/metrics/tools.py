"""What a metric may use while it gathers evidence: embeddings, sentence splitters, judges.

One ``Tools`` serves a whole run. All metrics share it, so each distinct text is embedded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder import embed, judges, text
from beholder.backends import Image
from beholder.embed.base import Embedder, FloatArray
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.errors import ItemError
from beholder.judges import AnswerStore, Budget, Judge, Tally
from beholder.text.split import Splitter

_LONGEST_SIDE = 2048
"""Pixels of a picture's longer side, at most, as judges get it."""


class Tools:
    """The tools of one run, made on first use from their specs.

    Args:
        vectors: Where vectors of embedders worth storing are kept; None keeps them in memory.
        options: Keyword options per kind of tool that are no part of a spec, such as
            ``{"embedder": {"base_url": "http://localhost:8000/v1"}}``.
        answers: Where answers of judges are kept; None keeps them in memory.
        budget: What judges may spend; None for no limit.
        tally: Counts what judges would be asked, and asks nobody.
        media: Folder that relative paths of pictures start from; the current one if None.
    """

    def __init__(
        self,
        vectors: VectorStore | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
        answers: AnswerStore | None = None,
        budget: Budget | None = None,
        tally: Tally | None = None,
        media: Path | None = None,
    ) -> None:
        self._vectors = vectors
        self._options = options or {}
        self._embedders: dict[str, EmbeddingService] = {}
        self._splitters: dict[str, Splitter] = {}
        self._answers = answers
        self._budget = budget
        self._tally = tally
        self._judges: dict[str, Judge] = {}
        self._media = media or Path()

    def embedder(self, spec: str) -> Embedder:
        """The embedder of a spec such as ``static`` or ``st:NAME``."""
        return self._service(spec).embedder

    def splitter(self, spec: str) -> Splitter:
        """The sentence splitter of a spec such as ``rules`` or ``sat:NAME``."""
        if spec not in self._splitters:
            self._splitters[spec] = text.splitter(spec)
        return self._splitters[spec]

    def judge(self, spec: str) -> Judge:
        """The judge of a spec such as ``openai:MODEL``."""
        if spec not in self._judges:
            options: dict[str, Any] = dict(self._options.get("judge", {}))
            self._judges[spec] = judges.judge(
                spec, answers=self._answers, budget=self._budget, tally=self._tally, **options
            )
        return self._judges[spec]

    def picture(self, path: str) -> Image:
        """A picture of an item, as judges get it.

        Raises:
            ItemError: It is missing, damaged, no picture, or an address instead of a file.
        """
        from beholder.backends.images import load_image

        if "://" in path or path.startswith("data:"):
            raise ItemError(f"the picture {path[:60]!r} is no file; download it and name the file")
        return load_image(self._media / path, _LONGEST_SIDE)

    def identity(self, kind: str, spec: str) -> str:
        """The identity of a tool, as signatures state it."""
        return self._tool(kind, spec).identity

    def is_cheap(self, specs: Iterable[tuple[str, str]]) -> bool:
        """Whether all of these tools, (kind, spec), may be made anew in every worker process."""
        return all(self._tool(kind, spec).cheap for kind, spec in specs)

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, in order; equal texts are embedded once and shared between items."""
        return await self._service(spec).embed(texts)

    def _tool(self, kind: str, spec: str) -> Embedder | Splitter | Judge:
        if kind == "judge":
            return self.judge(spec)
        return self.embedder(spec) if kind == "embedder" else self.splitter(spec)

    def _service(self, spec: str) -> EmbeddingService:
        if spec not in self._embedders:
            made = embed.embedder(spec, **self._options.get("embedder", {}))
            self._embedders[spec] = EmbeddingService(made, self._vectors)
        return self._embedders[spec]

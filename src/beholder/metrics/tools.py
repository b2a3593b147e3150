"""What a metric may use while it gathers evidence: embeddings, splitters, judges, pictures.

One ``Tools`` serves a whole run. All metrics share it, so each distinct text is embedded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from beholder import embed, judges, text
from beholder.backends.images import Pictures
from beholder.embed.base import Embedder, FloatArray
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.judges import AnswerStore, Budget, Judge, Tally
from beholder.text.split import Splitter

if TYPE_CHECKING:
    from beholder.embed.contextual import TokenService
    from beholder.embed.image_text import ImageTextService

    _Tool: TypeAlias = Embedder | Splitter | Judge | ImageTextService | TokenService


class Tools:
    """The tools of one run, made on first use from their specs.

    Args:
        vectors: Where vectors of embedders worth storing are kept; None keeps them in memory.
        options: Keyword options per kind of tool that are no part of a spec, such as
            ``{"embedder": {"base_url": "http://localhost:8000/v1"}}``.
        answers: Where answers of judges are kept; None keeps them in memory.
        budget: What judges may spend; None for no limit.
        tally: Counts what judges would be asked, and asks nobody.
        folder: What the items' pictures are relative to; None takes the current directory.

    Attributes:
        pictures: The pictures that items name.
    """

    def __init__(
        self,
        vectors: VectorStore | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
        answers: AnswerStore | None = None,
        budget: Budget | None = None,
        tally: Tally | None = None,
        folder: Path | None = None,
    ) -> None:
        self._vectors = vectors
        self._options = options or {}
        self._embedders: dict[str, EmbeddingService] = {}
        self._splitters: dict[str, Splitter] = {}
        self._answers = answers
        self._budget = budget
        self._tally = tally
        self._judges: dict[str, Judge] = {}
        self.pictures = Pictures(folder)
        self._image_texts: dict[str, ImageTextService] = {}
        self._encoders: dict[str, TokenService] = {}

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

    def image_text(self, spec: str) -> ImageTextService:
        """The model of pictures and texts of a spec such as ``clip:NAME`` (extra ``hf``)."""
        if spec not in self._image_texts:
            from beholder.embed.image_text import ImageTextService

            self._image_texts[spec] = ImageTextService(spec, self._vectors)
        return self._image_texts[spec]

    def encoder(self, spec: str) -> TokenService:
        """The encoder of tokens in their context of a spec such as ``hf:NAME`` (extra ``hf``)."""
        if spec not in self._encoders:
            from beholder.embed.contextual import TokenService

            self._encoders[spec] = TokenService(spec)
        return self._encoders[spec]

    def identity(self, kind: str, spec: str) -> str:
        """The identity of a tool, as signatures state it."""
        return self._tool(kind, spec).identity

    def are_per_process(self, specs: Iterable[tuple[str, str]]) -> bool:
        """Whether all of these tools, (kind, spec), may be made anew in every worker process."""
        return all(self._tool(kind, spec).per_process for kind, spec in specs)

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, in order; equal texts are embedded once and shared between items."""
        return await self._service(spec).embed(texts)

    def _tool(self, kind: str, spec: str) -> _Tool:
        makers: Mapping[str, Callable[[str], _Tool]] = {
            "judge": self.judge,
            "embedder": self.embedder,
            "splitter": self.splitter,
            "image_text": self.image_text,
            "encoder": self.encoder,
        }
        return makers[kind](spec)

    def _service(self, spec: str) -> EmbeddingService:
        if spec not in self._embedders:
            options: dict[str, Any] = dict(self._options.get("embedder", {}))
            made = embed.embedder(spec, **options)
            self._embedders[spec] = EmbeddingService(made, self._vectors)
        return self._embedders[spec]

"""What a metric may use while it gathers evidence: embeddings and sentence splitters.

One ``Tools`` serves a whole run. All metrics share it, so each distinct text is embedded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from beholder import embed, text
from beholder.embed.base import Embedder, FloatArray
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.errors import ConfigError
from beholder.text.split import Splitter

if TYPE_CHECKING:
    from beholder.judges.builtin import BuiltinJudge


class Tools:
    """The tools of one run, made on first use from their specs.

    Args:
        vectors: Where vectors of embedders worth storing are kept; None keeps them in memory.
        options: Keyword options per kind of tool that are no part of a spec, such as
            ``{"embedder": {"base_url": "http://localhost:8000/v1"}}``.
    """

    def __init__(
        self,
        vectors: VectorStore | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        self._vectors = vectors
        self._options = options or {}
        self._embedders: dict[str, EmbeddingService] = {}
        self._splitters: dict[str, Splitter] = {}

    def embedder(self, spec: str) -> Embedder:
        """The embedder of a spec such as ``static`` or ``st:NAME``."""
        return self._service(spec).embedder

    def splitter(self, spec: str) -> Splitter:
        """The sentence splitter of a spec such as ``rules`` or ``sat:NAME``."""
        if spec not in self._splitters:
            self._splitters[spec] = text.splitter(spec)
        return self._splitters[spec]

    def judge(self, spec: str) -> BuiltinJudge:
        """The judge of a spec such as ``builtin``."""
        if spec != "builtin":
            raise ConfigError(f"there is no judge {spec!r}; there is: builtin")
        from beholder.judges.builtin import BuiltinJudge

        return BuiltinJudge()

    def identity(self, kind: str, spec: str) -> str:
        """The identity of a tool, as signatures state it."""
        return self._tool(kind, spec).identity

    def is_cheap(self, specs: Iterable[tuple[str, str]]) -> bool:
        """Whether all of these tools, (kind, spec), may be made anew in every worker process."""
        return all(self._tool(kind, spec).cheap for kind, spec in specs)

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        """Vectors of texts, in order; equal texts are embedded once and shared between items."""
        return await self._service(spec).embed(texts)

    def _tool(self, kind: str, spec: str) -> Embedder | Splitter | BuiltinJudge:
        if kind == "judge":
            return self.judge(spec)
        return self.embedder(spec) if kind == "embedder" else self.splitter(spec)

    def _service(self, spec: str) -> EmbeddingService:
        if spec not in self._embedders:
            made = embed.embedder(spec, **self._options.get("embedder", {}))
            self._embedders[spec] = EmbeddingService(made, self._vectors)
        return self._embedders[spec]

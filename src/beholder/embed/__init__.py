"""Text embeddings: built-in static vectors, sentence-transformers, OpenAI-compatible endpoints."""

from __future__ import annotations

from beholder.embed.base import Embedder, FloatArray
from beholder.registry import Registry

__all__ = ["EMBEDDERS", "Embedder", "FloatArray", "embedder"]

EMBEDDERS: Registry[Embedder] = Registry(
    kind="embedder",
    base=Embedder,  # type: ignore[type-abstract]
    builtin={
        "static": "beholder.embed.static:StaticEmbedder",
        "st": "beholder.embed.sentence_transformers:SentenceTransformerEmbedder",
        "openai": "beholder.embed.openai:OpenAIEmbedder",
    },
    group="beholder.embedders",
)


def embedder(spec: str, **options: object) -> Embedder:
    """Build an embedder from its spec.

    Args:
        spec: ``static``, ``st:NAME_OR_PATH`` (extra ``hf``), ``openai:MODEL``, or ``package/name``
            of an outside package.
        options: Keyword arguments of its class that are no part of a spec, such as ``base_url``.

    Raises:
        UnknownNameError: Nothing has that name.
        ConfigError: The spec cannot be read, or an argument or option does not fit.
        MissingExtraError: The embedder needs a package that is not installed.
    """
    return EMBEDDERS.build(spec, **options)

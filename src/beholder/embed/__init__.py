"""Text embeddings: built-in vectors, sentence-transformers, OpenAI-compatible endpoints."""

from __future__ import annotations

from beholder.base.registry import Registry
from beholder.base.spec import Spec, canonical_spec
from beholder.embed.base import Embedder, FloatArray

__all__ = ["EMBEDDERS", "Embedder", "FloatArray", "embedder", "takes"]

EMBEDDERS: Registry[Embedder] = Registry(
    kind="embedder",
    base=Embedder,  # type: ignore[type-abstract]
    builtin={
        "static": "beholder.embed.static:StaticEmbedder",
        "ordered": "beholder.embed.static:OrderedEmbedder",
        "minilm": "beholder.embed.minilm:MiniLMEmbedder",
        "st": "beholder.embed.sentence_transformers:SentenceTransformerEmbedder",
        "openai": "beholder.embed.openai:OpenAIEmbedder",
    },
    group="beholder.embedders",
)


def embedder(
    spec: str | Spec,
    *,
    base_url: str | None = None,
    key_env: str | None = None,
    **options: object,
) -> Embedder:
    """Build an embedder from its spec.

    Args:
        spec: ``static``, ``ordered``, ``minilm``, ``st:NAME_OR_PATH`` (extra ``hf``),
            ``openai:MODEL``, or ``package/name`` of an outside package.
        base_url: Endpoint, for embedders that are reached over one; others ignore it.
        key_env: Environment variable with the key of that endpoint.
        options: Keyword arguments of its class that are no part of a spec, such as ``api_key``.

    Raises:
        UnknownNameError: Nothing has that name.
        ConfigError: The spec cannot be read, or an argument or option does not fit.
        MissingExtraError: The embedder needs a package that is not installed.
    """
    parsed = canonical_spec(spec)
    for name, value in (("base_url", base_url), ("key_env", key_env)):
        if value is not None and takes(parsed, name):
            options[name] = value
    return EMBEDDERS.build(parsed, **options)


def takes(spec: str | Spec, option: str) -> bool:
    """Return whether the embedder of a spec takes an option of ``embedder``.

    Raises:
        ConfigError: The spec cannot be read, or nothing has its name.
    """
    return EMBEDDERS.takes(canonical_spec(spec).name, option)

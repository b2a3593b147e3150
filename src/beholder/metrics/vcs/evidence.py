"""What VCS gathers for one item: chunks with their places and vectors. Small, and pickles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.metrics import Tools
from beholder.records import Item, Span


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedText:
    """One text as vectors.

    Attributes:
        spans: Character range of each chunk in the original text.
        chunks: Chunk vectors, (N, D).
        whole: Vector of the whole text, (D,).
    """

    spans: tuple[Span, ...]
    chunks: FloatArray
    whole: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class VCSEvidence:
    """Both sides of an item.

    Attributes:
        candidate: The text under evaluation.
        references: Its references, in order.
    """

    candidate: EmbeddedText
    references: tuple[EmbeddedText, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """One text cut up.

    Attributes:
        name: What to call it in messages: ``candidate``, ``reference 2``.
        text: The whole text.
        spans: Character range of each chunk.
        chunks: What to embed for each chunk.
    """

    name: str
    text: str
    spans: Sequence[Span]
    chunks: Sequence[str]


def named_texts(item: Item) -> list[tuple[str, str]]:
    """The candidate and each reference with what to call it in messages."""
    references = [(f"reference {i}", text) for i, text in enumerate(item.references, start=1)]
    return [("candidate", item.candidate), *references]


async def embed_parts(tools: Tools, embedder: str, parts: Sequence[Parts]) -> list[EmbeddedText]:
    """Embed the chunks and the whole of each text, all in one request.

    Raises:
        ItemError: The embedder knows nothing of a text, so that no score would mean anything.
    """
    vectors = await tools.embed(
        embedder, [part for each in parts for part in (*each.chunks, each.text)]
    )
    embedded: list[EmbeddedText] = []
    at = 0
    for each in parts:
        end = at + len(each.chunks)
        if not vectors[end].any():
            raise ItemError(
                f"the embedder {embedder!r} knows no word of the {each.name}; "
                "choose one that knows its language, such as 'st:NAME'"
            )
        embedded.append(EmbeddedText(tuple(each.spans), vectors[at:end], vectors[end]))
        at = end + 1
    return embedded

"""What VCS gathers for one item: chunks with their places and vectors. Small, and pickles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beholder.embed.base import FloatArray
from beholder.records import Span


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
        identities: Identity of each tool by the field that names it, for the signature.
    """

    candidate: EmbeddedText
    references: tuple[EmbeddedText, ...]
    identities: Mapping[str, str]

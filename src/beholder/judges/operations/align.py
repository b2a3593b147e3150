"""Operations that measure texts: the similarity of their words, and their perplexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.backends import Image, Surprisal
from beholder.judges.operations.base import (
    ModelOperation,
    Operation,
    Respondent,
)


@dataclass(frozen=True, slots=True)
class LexicalAlignment:
    """Similarity of the words of a candidate and its references.

    Attributes:
        precision: Of the candidate's words in the references: each word, and each two neighbours,
            at the reference where it comes best; 0..1.
        recalls: Of each reference's words in the candidate, 0..1.
        peers: Of the references' words in one another, on average; 1 for a single reference.
    """

    precision: float
    recalls: tuple[float, ...]
    peers: float = 1.0


@dataclass(frozen=True)
class AlignWords(Operation[LexicalAlignment], name="align_words"):
    """Align the words of a candidate with those of each reference; models cannot answer this.

    Attributes:
        candidate: The text under evaluation.
        references: Trusted texts.
    """

    candidate: str
    references: Sequence[str]


@dataclass(frozen=True)
class MeasureSurprisal(ModelOperation[list[Surprisal]], name="perplexity"):
    """Perplexity of each text as the answer to a prompt about the pictures.

    Nothing is drawn, so that neither a replicate nor a temperature changes the answer.

    Attributes:
        texts: The texts.
        prompt: Question before the texts.
        images: The pictures.
    """

    texts: Sequence[str]
    prompt: str
    images: Sequence[Image] = ()

    async def ask_model(self, model: Respondent) -> list[Surprisal]:
        """Return the surprisal of each text after the prompt."""
        return await model.asker.surprisal(
            self.texts, prompt=self.prompt, images=tuple(self.images)
        )

"""How surprising is a text?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.backends import Image, Surprisal
from beholder.judges.operations.base import ModelOperation, Respondent


@dataclass(frozen=True)
class MeasureSurprisal(ModelOperation[list[Surprisal]], name="perplexity"):
    """How surprising each text is as the answer to a prompt about the pictures.

    Nothing is drawn, so that neither a replicate nor a temperature changes the answer.

    Attributes:
        texts: The texts.
        prompt: What is asked before them.
        images: The pictures.
    """

    texts: Sequence[str]
    prompt: str
    images: Sequence[Image] = ()

    async def put(self, model: Respondent) -> list[Surprisal]:
        """See ``ModelOperation.put``."""
        return await model.asker.surprisal(
            self.texts, prompt=self.prompt, images=tuple(self.images)
        )

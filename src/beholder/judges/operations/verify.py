"""Is a statement supported by pictures or by a text?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.operations.numbered import majority, put_rows
from beholder.judges.shapes import boolean


@dataclass(frozen=True)
class Verify(PanelOperation[list[bool]], name="verify"):
    """Whether each claim is supported by the pictures or by the reference text.

    Attributes:
        claims: The statements.
        images: The pictures.
        reference: The text, or None.
        language: Language of the texts, stated in the prompt; None if unknown.

    Raises:
        ItemError: There is no evidence.
    """

    claims: Sequence[str]
    images: Sequence[Image] = ()
    reference: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if not self.images and self.reference is None:
            raise ItemError(
                "verify needs pictures or a reference text as evidence; there is neither"
            )

    async def put(self, model: Respondent) -> list[bool]:
        """See ``ModelOperation.put``.

        Raises:
            ItemError: The model left out a statement twice.
        """
        shown = (
            "reference" if not self.images else "both" if self.reference is not None else "picture"
        )
        found = await put_rows(
            model,
            ("statement", self.claims),
            {"supported": (boolean(), True)},
            texts={"reference": self.reference or ""},
            language=self.language,
            parts={"evidence_note": shown},
            images=self.images,
            whole=True,
        )
        return [found[i]["supported"] for i in range(len(self.claims))]

    def merge(self, answers: Sequence[list[bool]]) -> list[bool]:
        """What most judges say; a tie is not supported."""
        return [majority(votes, False) for votes in zip(*answers, strict=True)]

    def ratings(self, answers: Sequence[list[bool]]) -> Iterable[tuple[object, Sequence[float]]]:
        """The verdicts on each claim."""
        shown = [image.digest for image in self.images]
        for claim, votes in zip(self.claims, zip(*answers, strict=True), strict=True):
            yield (claim, self.reference, shown), [float(vote) for vote in votes]

"""Is a statement supported by pictures or by a text?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.operations.numbered import (
    Row,
    answer_limit,
    ask_rows,
    language_note,
    majority,
    rows_by_id,
)
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
        if not self.claims:
            return []
        shown = (
            "reference" if not self.images else "both" if self.reference is not None else "picture"
        )
        parts = language_note(self.language) | {"evidence_note": shown}

        async def ask(rows: list[Row]) -> dict[int, bool]:
            return await model.json(
                model.render(
                    {"statement": rows, "reference": self.reference or ""},
                    {"language": self.language or ""},
                    parts=parts,
                    images=self.images,
                ),
                rows_by_id("rows", rows, "supported", boolean()),
                max_tokens=answer_limit(rows),
                typical={"rows": [{"id": i, "supported": True} for i, _ in rows]},
            )

        found = await ask_rows(self.claims, ask)
        for i in range(len(self.claims)):
            if i not in found:
                raise ItemError(
                    f"{model.asker.backend.name} left out statement {i} of {len(self.claims)} in"
                    " verify, also when asked for it alone"
                )
        return [found[i] for i in range(len(self.claims))]

    def merge(self, answers: Sequence[list[bool]]) -> list[bool]:
        """What most judges say; a tie is not supported."""
        return [majority(votes, False) for votes in zip(*answers, strict=True)]

    def ratings(self, answers: Sequence[list[bool]]) -> Iterable[tuple[object, Sequence[float]]]:
        """The verdicts on each claim."""
        shown = [image.digest for image in self.images]
        for claim, votes in zip(self.claims, zip(*answers, strict=True), strict=True):
            yield (claim, self.reference, shown), [float(vote) for vote in votes]

"""Which text about a picture is better?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.operations.base import PanelOperation, Ratings, Respondent, language_note
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import array, integer, only


@dataclass(frozen=True)
class Rank(PanelOperation[list[int]], name="rank"):
    """Rank of each text about the pictures, 1 = best, every rank once.

    A judge without a picture rates the quality of the texts, not for their fit.

    Attributes:
        texts: The texts.
        images: The pictures.
        language: Language of the texts, stated in the prompt; None if unknown.

    Raises:
        ItemError: There are fewer than two texts.
    """

    texts: Sequence[str]
    images: Sequence[Image] = ()
    language: str | None = None

    def __post_init__(self) -> None:
        if len(self.texts) < 2:
            raise ItemError(f"rank needs at least two texts, got {len(self.texts)}")

    async def put(self, model: Respondent) -> list[int]:
        """See ``ModelOperation.put``."""
        n = len(self.texts)
        settings = {"n": str(n), "language": self.language or ""}
        seen = {"seen_note": "seen", "criteria": "fit"}
        unseen = {"seen_note": "unseen", "criteria": "quality"}
        parts = language_note(self.language) | (seen if self.images else unseen)
        return await model.json(
            model.render({"review": self.texts}, settings, parts=parts, images=self.images),
            only("ranks", array(integer(1, n), self._each_once, "rank", at_least=n, at_most=n)),
            max_tokens=64 + 8 * n,
            typical={"ranks": list(range(1, n + 1))},
        )

    def _each_once(self, given: Iterator[int]) -> list[int]:
        ranks, n = list(given), len(self.texts)
        if sorted(ranks) != list(range(1, n + 1)):
            raise BadAnswer(f"'ranks' must hold each of 1 to {n} exactly once, got {ranks}")
        return ranks

    def merge(self, answers: Sequence[list[int]]) -> list[int]:
        """Order of the mean ranks; equal ones keep the order of the texts."""
        means = [fmean(ranks) for ranks in zip(*answers, strict=True)]
        order = sorted(range(len(means)), key=means.__getitem__)
        return [order.index(i) + 1 for i in range(len(means))]

    def ratings(self, answers: Sequence[list[int]]) -> Ratings:
        """The ranks of each text."""
        for text, ranks in zip(self.texts, zip(*answers, strict=True), strict=True):
            yield (text, self.texts, list(self.images)), [float(rank) for rank in ranks]

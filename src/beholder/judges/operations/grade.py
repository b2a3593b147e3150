"""How good is a description of a picture, in one digit?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.grades import Grade, mean_grade
from beholder.judges.operations.assess import evidence
from beholder.judges.operations.base import PanelOperation, Respondent

LOWEST, HIGHEST = 0, 9


@dataclass(frozen=True)
class GradeDescription(PanelOperation[Grade], name="grade"):
    """Grade from 0 to 9 of a description by its pictures, read from probabilities.

    Attributes:
        candidate: The description.
        images: The pictures.
        references: Trusted texts about them.

    Raises:
        ItemError: There is no picture.
    """

    candidate: str
    images: Sequence[Image]
    references: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.images:
            raise ItemError("grade needs a picture; there is none")

    async def put(self, model: Respondent) -> Grade:
        """See ``ModelOperation.put``."""
        return await model.grade(
            model.render(
                {"candidate": self.candidate, "reference": self.references},
                parts={"evidence_note": evidence(self.images, self.references)},
                images=self.images,
            ),
            LOWEST,
            HIGHEST,
            typical="9",
        )

    def merge(self, answers: Sequence[Grade]) -> Grade:
        """Mean grade of the judges."""
        return mean_grade(answers)

    def ratings(self, answers: Sequence[Grade]) -> Iterable[tuple[object, Sequence[float]]]:
        """The grades of the judges."""
        shown = [image.digest for image in self.images]
        question = (self.candidate, list(self.references), shown)
        yield question, [grade.value for grade in answers]

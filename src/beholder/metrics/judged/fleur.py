"""After FLEUR: a grade by the picture, smoothed over the probabilities of the digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from beholder.judges import Grade
from beholder.judges.operations import GradeDescription
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.judged.direct import SETTINGS, check_fields
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore

HIGHEST = 9


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """What a judge's grade of an item was.

    Attributes:
        grade: From 0 to 9, with the probability of each digit.
        identities: Identity of each tool by the field that names it.
    """

    grade: Grade
    identities: Mapping[str, str]


@dataclass(frozen=True)
class FLEUR(Metric[Graded]):
    """After FLEUR: a seeing judge grades by one digit; the score is what it expects, not says.

    The digits 0 to 9 are weighted by the probability the judge gives each as its answer, and the
    expectation is divided by 9. Range 0..1, higher is better. Needs no reference;
    ``references=True`` shows them beside the picture. ``mass`` is the share of the probability
    that lay on digits: far below 1 the judge wanted to say something else. Several answers of a
    judge without probabilities are averaged.

    Source: Lee et al. 2024, who smooth the digits of a score from 0.0 to 1.0 one after another;
    one digit and a prompt of our own here, so figures are not those of the published one.

    Raises:
        ConfigError: The judge cannot do it, or cannot see.
    """

    judge: str = param(help="who grades: a model that can see", tool="judge")
    references: bool = param(False, "show the references, too")

    registered_name: ClassVar[str] = "fleur"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("fleur", "expected grade, divided by 9"),
        ValueInfo("mass", "share of the judge's probability that lay on digits"),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset({"images"})
    operations: ClassVar[tuple[str, ...]] = ("grade",)

    @property
    def looks(self) -> bool:
        """The judge sees the pictures."""
        return True

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(GradeDescription, images=True)
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """As ``Metric.check_item``; with ``references`` these are needed, too."""
        check_fields(self, item, SETTINGS["both" if self.references else "image"])

    async def gather(self, item: Item, tools: Tools) -> Graded:
        """Ask the judge."""
        identities = self.identities(tools)  # refuses a judge that cannot
        images = await tools.pictures.read(item.images)
        references = item.references if self.references else ()
        found = await tools.judge(self.judge).ask(
            GradeDescription(item.candidate, images, references)
        )
        return Graded(found, identities)

    def score_item(self, item: Item, evidence: Graded) -> ItemScore:
        """Divide by 9."""
        grade = evidence.grade
        return ItemScore(
            {"fleur": grade.value / HIGHEST, "mass": grade.mass},
            signature=self.signature(evidence.identities),
            detail={"probabilities": list(grade.probabilities), "read": grade.read},
        )

"""Direct assessment: a judge gives a description numbers on a scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from beholder.errors import ConfigError, ItemError
from beholder.judges.operations import Aspect, Assess, AssessInContext, Assessment
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.judged.context import context_of
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore

SETTINGS: Mapping[str, frozenset[str]] = {
    "image": frozenset({"images"}),
    "reference": frozenset({"references"}),
    "both": frozenset({"images", "references"}),
    "page": frozenset({"images"}),
}
"""What each setting shows to the judge."""

_ASPECTS: Mapping[str, Aspect] = {
    "overall": "overall",
    "precision": "mistakes",
    "recall": "omissions",
}


@dataclass(frozen=True, slots=True, eq=False)
class Assessed:
    """What a judge said of an item.

    Attributes:
        assessment: Numbers and reason.
        identities: Identity of each tool by the field that names it.
    """

    assessment: Assessment
    identities: Mapping[str, str]


@dataclass(frozen=True)
class DirectAssessment(Metric[Assessed]):
    """A judge's own numbers for a description: as a whole, for mistakes, for omissions.

    One question per item. The judge sees the picture (``setting='image'``), the references
    (``'reference'``), both, or the picture and the row's field ``context`` (``'page'``: how good
    is it as the alternative text of this page?), and gives whole numbers from 1 to ``scale``,
    which are brought to 0..1. Higher is better in all three: ``precision`` is high where mistakes
    are few, ``recall`` where omissions are few. The numbers are not tied to places in the text.
    Needs a judge that is a model; with pictures, one that can see.

    Source: the judge baselines of the PoSh paper in their three settings; prompts of our own.

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(help="who assesses: a model; the built-in judge cannot", tool="judge")
    setting: Literal["image", "reference", "both", "page"] = param(
        "reference", "what the judge goes by; page: the picture and the field context"
    )
    scale: int = param(5, "best number of the scale, which begins at 1")
    rubric: bool = param(True, "say what the ends and the middle of the scale mean")

    registered_name: ClassVar[str] = "direct_assessment"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("overall", "how good the description is as a whole"),
        ValueInfo("precision", "how free of mistakes it is"),
        ValueInfo("recall", "how much of what there is to see it tells"),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset()
    operations: ClassVar[tuple[str, ...]] = ("assess", "assess_in_context")

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """One of the two."""
        return (self.operations[self.setting == "page"],)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.scale, int) or not 2 <= self.scale <= 100:
            raise ConfigError(f"scale={self.scale!r}: expected a whole number from 2 to 100")

    @property
    def looks(self) -> bool:
        """Whether the judge sees the pictures."""
        return "images" in SETTINGS[self.setting]

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(Assess, images="images" in SETTINGS[self.setting])
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """As ``Metric.check_item``; what is needed depends on the setting."""
        check_fields(self, item, SETTINGS[self.setting])
        if self.setting == "page" and not context_of(item).parts():
            raise ItemError(
                "direct_assessment(setting='page') needs the field 'context'; it is empty"
            )

    async def gather(self, item: Item, tools: Tools) -> Assessed:
        """Ask the judge."""
        identities = self.identities(tools)  # refuses a judge that cannot
        shown = SETTINGS[self.setting]
        question = Assess(
            item.candidate,
            tuple(_ASPECTS.values()),
            references=item.references if "references" in shown else (),
            images=await tools.pictures.read(item.images) if "images" in shown else (),
            low=1,
            high=self.scale,
            rubric=self.rubric,
        )
        if self.setting == "page":
            question = AssessInContext(**vars(question), context=context_of(item).parts())
        found = await tools.judge(self.judge).ask(question)
        return Assessed(found, identities)

    def score_item(self, item: Item, evidence: Assessed) -> ItemScore:
        """Bring the numbers to 0..1."""
        grades = evidence.assessment.grades
        values = {
            name: (grades[aspect] - 1) / (self.scale - 1) for name, aspect in _ASPECTS.items()
        }
        return ItemScore(
            values,
            signature=self.signature(evidence.identities),
            detail={"reason": evidence.assessment.reason},
        )


def check_fields(metric: Metric[Any], item: Item, required: frozenset[str]) -> None:
    """Refuse an item without what a setting shows to the judge.

    Raises:
        ItemError: Names the field, or says that the candidate or a reference is empty.
    """
    for field in sorted(required):
        if not getattr(item, field):
            raise ItemError(f"{metric.name} needs {field}, and this item has none")
    if not item.candidate.strip():
        raise ItemError("the candidate is empty")
    if "references" in required and not all(text.strip() for text in item.references):
        raise ItemError("a reference is empty")

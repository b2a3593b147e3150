"""Judges that give a description a number: direct assessment, CLAIR, Prometheus, FLEUR, ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from beholder.errors import ItemError
from beholder.judges import Grade
from beholder.judges.operations import (
    Aspect,
    Assess,
    AssessInContext,
    Assessment,
    GradeDescription,
)
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.judged.placement import context_of
from beholder.records import Item, ItemScore

HIGHEST = 9
E = TypeVar("E")


@dataclass(frozen=True)
class ShowingMetric(Metric[E]):
    """Base: a judge is shown fields of the item, of which none may be missing or empty."""

    @property
    def needed_fields(self) -> frozenset[str]:
        """Fields of the item that the judge sees beside the candidate.

        The references are among them if the metric has a parameter that says so.
        """
        if getattr(self, "references", False):
            return self.required_fields | {"references"}
        return self.required_fields

    @property
    def looks(self) -> bool:
        """True if the judge sees the pictures."""
        return "images" in self.needed_fields


@dataclass(frozen=True)
class AssessingMetric(ShowingMetric[Assessment]):
    """Base of metrics that ask one question for numbers and scale them to 0..1.

    Class attributes:
        aspects: In what respect each value assesses the description.
        scale_ends: Worst and best number of the scale.
        explained: Whether the prompt says what the ends and the middle of the scale mean.
    """

    judge: str = param(
        help="who assesses: a model; the built-in judge cannot", tool="judge"
    )

    aspects: ClassVar[Mapping[str, Aspect]]
    scale_ends: ClassVar[tuple[int, int]]
    explained: ClassVar[bool] = True
    needs = (Assess,)

    async def gather(self, item: Item, tools: Tools) -> Assessment:
        """Ask the judge."""
        return await tools.judge(self.judge).ask(
            await self.question(item, tools)
        )

    async def question(self, item: Item, tools: Tools) -> Assess:
        """Return the question for the judge."""
        return Assess(
            item.candidate,
            tuple(self.aspects.values()),
            references=item.references
            if "references" in self.needed_fields
            else (),
            images=await tools.pictures.read(item.images)
            if self.looks
            else (),
            low=self.scale_ends[0],
            high=self.scale_ends[1],
            rubric=self.explained,
        )

    def score_item(self, item: Item, evidence: Assessment) -> ItemScore:
        """Bring the numbers to 0..1."""
        # From the scale of the prompt to 0..1, its worst end first.
        low, high = self.scale_ends
        numbers = {
            name: evidence.grades[aspect]
            for name, aspect in self.aspects.items()
        }
        values = {
            name: (number - low) / (high - low)
            for name, number in numbers.items()
        }
        return ItemScore(values, detail={"reason": evidence.reason})


@dataclass(frozen=True)
class DirectAssessment(AssessingMetric):
    """A judge's scores for a description: overall, for mistakes and for omissions.

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

    setting: Literal["image", "reference", "both", "page"] = param(
        "reference",
        "what the judge goes by; page: the picture and the field context",
    )
    scale: int = param(
        5, "best number of the scale, which begins at 1", whole=(2, 100)
    )
    rubric: bool = param(
        True, "say what the ends and the middle of the scale mean"
    )

    registered_name = "direct_assessment"
    values = (
        ValueInfo("overall", "how good the description is as a whole"),
        ValueInfo("precision", "how free of mistakes it is"),
        ValueInfo("recall", "how much of what there is to see it tells"),
    )
    required_fields = frozenset()
    operations = ("assess", "assess_in_context")
    aspects: ClassVar[Mapping[str, Aspect]] = {
        "overall": "overall",
        "precision": "mistakes",
        "recall": "omissions",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        # The base reads both from the class; here they are parameters.
        object.__setattr__(self, "scale_ends", (1, self.scale))
        object.__setattr__(self, "explained", self.rubric)

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Operations in use: one of the two."""
        return (self.operations[self.setting == "page"],)

    @property
    def needed_fields(self) -> frozenset[str]:
        """Fields that the setting shows to the judge."""
        if self.setting == "both":
            return frozenset({"images", "references"})
        is_reference = self.setting == "reference"
        return frozenset({"references" if is_reference else "images"})

    def check_item(self, item: Item) -> None:
        """Refuse an item without what is shown; a page needs its context."""
        super().check_item(item)
        if self.setting == "page" and not context_of(item).parts():
            raise ItemError(
                "direct_assessment(setting='page') needs the field 'context'; it is empty"
            )

    async def question(self, item: Item, tools: Tools) -> Assess:
        """Return the question for the judge; of a page with its context."""
        plain = await super().question(item, tools)
        if self.setting != "page":
            return plain
        return AssessInContext(**vars(plain), context=context_of(item).parts())


@dataclass(frozen=True)
class CLAIR(AssessingMetric):
    """After CLAIR: a judge rates from 0 to 100 how likely both sides describe the same picture.

    All references are shown together, the picture is not; the number comes with a reason in one
    JSON answer and is divided by 100. Range 0..1, higher is better. Needs a judge that is a model.

    Source: Chan et al. 2023; the prompt is our own, so figures are not those of the published one.

    Raises:
        ConfigError: The judge cannot do it.
    """

    registered_name = "clair"
    values = (
        ValueInfo("clair", "how likely both sides are about the same picture"),
    )
    aspects: ClassVar[Mapping[str, Aspect]] = {"clair": "same_picture"}
    scale_ends = (0, 100)


@dataclass(frozen=True)
class Prometheus(AssessingMetric):
    """After Prometheus: a judge grades from 1 to 5 by rubric and references, with a reason.

    The rubric says what the ends and the middle of the scale mean; the reason comes before the
    grade. The grade is brought to 0..1; higher is better. The judge does not see the picture. Needs
    a judge that is a model; with one that was trained for it (``hf:prometheus-eval/...``) this is
    the published model under a prompt of our own.

    Source: Kim et al. 2023; the baseline of the PoSh paper. Prompt and rubric are our own, so
    figures are not those of the published ones.

    Raises:
        ConfigError: The judge cannot do it.
    """

    registered_name = "prometheus"
    values = (ValueInfo("prometheus", "grade by the rubric, from 0 to 1"),)
    aspects: ClassVar[Mapping[str, Aspect]] = {"prometheus": "overall"}
    scale_ends = (1, 5)


@dataclass(frozen=True)
class LLaVACritic(AssessingMetric):
    """After LLaVA-Critic: a vision model gives a score from 0 to 100 and a reason.

    The reason comes before the number, which is divided by 100. Range 0..1, higher is better. No
    reference is needed; ``references=True`` shows them beside the picture. Needs a judge that is a
    model and can see; with the published critic as judge this is that model under our prompt.

    Source: Xiong et al. 2024; the baseline of the PoSh paper. The prompt is our own, so figures are
    not those of the published one.

    Raises:
        ConfigError: The judge cannot do it, or cannot see.
    """

    references: bool = param(False, "show the references, too")

    registered_name = "llava_critic"
    values = (
        ValueInfo("llava_critic", "number from 0 to 100, divided by 100"),
    )
    required_fields = frozenset({"images"})
    aspects: ClassVar[Mapping[str, Aspect]] = {"llava_critic": "overall"}
    scale_ends = (0, 100)
    explained = False


@dataclass(frozen=True)
class FLEUR(ShowingMetric[Grade]):
    """After FLEUR: a vision model grades with one digit; the score is the expected digit.

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

    registered_name = "fleur"
    values = (
        ValueInfo("fleur", "expected grade, divided by 9"),
        ValueInfo(
            "mass", "share of the judge's probability that lay on digits"
        ),
    )
    required_fields = frozenset({"images"})
    needs = (GradeDescription,)

    async def gather(self, item: Item, tools: Tools) -> Grade:
        """Ask the judge for a digit."""
        images = await tools.pictures.read(item.images)
        references = item.references if self.references else ()
        operation = GradeDescription(item.candidate, images, references)
        return await tools.judge(self.judge).ask(operation)

    def score_item(self, item: Item, evidence: Grade) -> ItemScore:
        """Divide the expected grade by 9."""
        values = {"fleur": evidence.value / HIGHEST, "mass": evidence.mass}
        detail = {
            "probabilities": list(evidence.probabilities),
            "read": evidence.read,
        }
        return ItemScore(values, detail=detail)

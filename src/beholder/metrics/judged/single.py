"""One number from a judge, with its reason: after CLAIR, Prometheus, LLaVA-Critic."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from beholder.judges.operations import Aspect, Assess
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.judged.direct import SETTINGS, Assessed, check_fields
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class SingleNumber(Metric[Assessed]):
    """Base: one aspect on one scale, brought to 0..1.

    Class attributes:
        aspect: In what respect the description is assessed.
        low: Worst number of the scale.
        high: Best number of the scale.
        rubric: Whether the prompt says what the ends and the middle of the scale mean.
    """

    judge: str = param(help="who assesses: a model; the built-in judge cannot", tool="judge")

    aspect: ClassVar[Aspect] = "overall"
    low: ClassVar[int]
    high: ClassVar[int]
    rubric: ClassVar[bool] = True
    operations: ClassVar[tuple[str, ...]] = ("assess",)

    @property
    @abstractmethod
    def shown(self) -> frozenset[str]:
        """Fields of the item that the judge sees beside the candidate."""

    @property
    def looks(self) -> bool:
        """Whether the judge sees the pictures."""
        return "images" in self.shown

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(Assess, images="images" in self.shown)
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """As ``Metric.check_item``; none of what is shown may be missing or empty."""
        check_fields(self, item, self.shown)

    async def gather(self, item: Item, tools: Tools) -> Assessed:
        """Ask the judge."""
        identities = self.identities(tools)  # refuses a judge that cannot
        question = Assess(
            item.candidate,
            (self.aspect,),
            references=item.references if "references" in self.shown else (),
            images=await tools.pictures.read(item.images) if "images" in self.shown else (),
            low=self.low,
            high=self.high,
            rubric=self.rubric,
        )
        return Assessed(await tools.judge(self.judge).ask(question), identities)

    def score_item(self, item: Item, evidence: Assessed) -> ItemScore:
        """Bring the number to 0..1."""
        number = evidence.assessment.grades[self.aspect]
        return ItemScore(
            {self.values[0].name: (number - self.low) / (self.high - self.low)},
            signature=self.signature(evidence.identities),
            detail={"reason": evidence.assessment.reason},
        )


@dataclass(frozen=True)
class CLAIR(SingleNumber):
    """After CLAIR: a judge says from 0 to 100 how likely both sides describe the same picture.

    All references are shown together, the picture is not; the number comes with a reason in one
    JSON answer and is divided by 100. Range 0..1, higher is better. Needs a judge that is a model.

    Source: Chan et al. 2023; the prompt is our own, so figures are not those of the published one.

    Raises:
        ConfigError: The judge cannot do it.
    """

    registered_name: ClassVar[str] = "clair"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("clair", "how likely both sides are about the same picture"),
    )
    aspect: ClassVar[Aspect] = "same_picture"
    low: ClassVar[int] = 0
    high: ClassVar[int] = 100

    @property
    def shown(self) -> frozenset[str]:
        """The references."""
        return SETTINGS["reference"]


@dataclass(frozen=True)
class Prometheus(SingleNumber):
    """After Prometheus: a judge grades from 1 to 5 by a rubric and the references, and says why.

    The rubric says what the ends and the middle of the scale mean; the reason comes before the
    grade. The grade is brought to 0..1; higher is better. The judge does not see the picture. Needs
    a judge that is a model; with one that was trained for it (``hf:prometheus-eval/...``) this is
    the published model under a prompt of our own.

    Source: Kim et al. 2023; the baseline of the PoSh paper. Prompt and rubric are our own, so
    figures are not those of the published ones.

    Raises:
        ConfigError: The judge cannot do it.
    """

    registered_name: ClassVar[str] = "prometheus"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("prometheus", "grade by the rubric, from 0 to 1"),
    )
    low: ClassVar[int] = 1
    high: ClassVar[int] = 5

    @property
    def shown(self) -> frozenset[str]:
        """The references."""
        return SETTINGS["reference"]


@dataclass(frozen=True)
class LLaVACritic(SingleNumber):
    """After LLaVA-Critic: a vision model the picture gives 0 to 100, and says why.

    The reason comes before the number, which is divided by 100. Range 0..1, higher is better. No
    reference is needed; ``references=True`` shows them beside the picture. Needs a judge that is a
    model and can see; with the published critic as judge this is that model under our prompt.

    Source: Xiong et al. 2024; the baseline of the PoSh paper. The prompt is our own, so figures are
    not those of the published one.

    Raises:
        ConfigError: The judge cannot do it, or cannot see.
    """

    references: bool = param(False, "show the references, too")

    registered_name: ClassVar[str] = "llava_critic"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("llava_critic", "number from 0 to 100, divided by 100"),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset({"images"})
    low: ClassVar[int] = 0
    high: ClassVar[int] = 100
    rubric: ClassVar[bool] = False

    @property
    def shown(self) -> frozenset[str]:
        """The picture, and the references if they are to be shown."""
        return SETTINGS["both" if self.references else "image"]

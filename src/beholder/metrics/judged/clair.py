"""After CLAIR: how likely are description and references about the same picture?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beholder.judges.operations import Assess
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.judged.direct import Assessed, check_fields
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class CLAIR(Metric[Assessed]):
    """After CLAIR: a judge says from 0 to 100 how likely both sides describe the same picture.

    All references are shown together, the picture is not; the number comes with a reason in one
    JSON answer and is divided by 100. Range 0..1, higher is better. Needs a judge that is a model.

    Source: Chan et al. 2023; the prompt is our own, so figures are not those of the published one.

    Raises:
        ConfigError: The judge cannot do it.
    """

    judge: str = param(help="who assesses: a model; the built-in judge cannot", tool="judge")

    registered_name: ClassVar[str] = "clair"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("clair", "how likely both sides are about the same picture"),
    )
    operations: ClassVar[tuple[str, ...]] = ("assess",)

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(Assess)
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """As ``Metric.check_item``; no reference may be empty."""
        check_fields(self, item, self.required_fields)

    async def gather(self, item: Item, tools: Tools) -> Assessed:
        """Ask the judge."""
        identities = self.identities(tools)  # refuses a judge that cannot
        found = await tools.judge(self.judge).ask(
            Assess(item.candidate, ("same_picture",), item.references, low=0, high=100)
        )
        return Assessed(found, identities)

    def score_item(self, item: Item, evidence: Assessed) -> ItemScore:
        """Divide by 100."""
        return ItemScore(
            {"clair": evidence.assessment.grades["same_picture"] / 100},
            signature=self.signature(evidence.identities),
            detail={"reason": evidence.assessment.reason},
        )

from dataclasses import dataclass
from statistics import fmean

from beholder.judges.operations import Verify
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class Supported(Metric[list[bool]]):
    """Share of the candidate's sentences that the references support."""

    registered_name = "supported"
    values = (
        ValueInfo(
            "precision", "share of sentences that the references support"
        ),
    )
    needs = (Verify,)

    judge: str = param(
        "builtin", "Who checks: builtin, or a model.", tool="judge"
    )

    async def gather(self, item: Item, tools: Tools) -> list[bool]:
        sentences = tools.splitter("rules").split(item.candidate)
        claims = [sentence.text_in(item.candidate) for sentence in sentences]
        question = Verify(claims, reference="\n\n".join(item.references))
        return await tools.judge(self.judge).ask(question)

    def score_item(self, item: Item, evidence: list[bool]) -> ItemScore:
        return ItemScore({"precision": fmean(evidence)})

from dataclasses import dataclass
from statistics import fmean

from beholder.judges.operations import Verify
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore, Unit
from beholder.text import Segment


@dataclass(frozen=True)
class Supported(Metric[list[tuple[Segment, bool]]]):
    """Share of the candidate's sentences that the references support."""

    registered_name = "supported"
    values = (ValueInfo("precision", "share of sentences that the references support"),)
    needs = (Verify,)

    judge: str = param("builtin", "Who checks: builtin, or a model.", tool="judge")

    async def gather(self, item: Item, tools: Tools) -> list[tuple[Segment, bool]]:
        sentences = tools.splitter("rules").split(item.candidate)
        claims = [sentence.of(item.candidate) for sentence in sentences]
        question = Verify(claims, reference="\n\n".join(item.references))
        return list(zip(sentences, await tools.judge(self.judge).ask(question), strict=True))

    def score_item(self, item: Item, evidence: list[tuple[Segment, bool]]) -> ItemScore:
        units = [
            Unit(
                "sentence",
                sentence.of(item.candidate),
                "candidate",
                ((sentence.start, sentence.end),),
                float(yes),
                "supported" if yes else "unsupported",
            )
            for sentence, yes in evidence
        ]
        return ItemScore({"precision": fmean(yes for _, yes in evidence)}, tuple(units))

from dataclasses import dataclass

from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class Colours(Metric[set[str]]):
    """Number of different colours that the candidate names."""

    registered_name = "colours"
    values = (
        ValueInfo(
            "colours", "different colours", high=100.0, higher_is_better=None
        ),
    )
    required_fields = frozenset()

    names: str = param(
        "red blue green white brown yellow",
        "The colours, separated by blanks.",
    )

    async def gather(self, item: Item, tools: Tools) -> set[str]:
        return set(self.names.split()) & set(item.candidate.lower().split())

    def score_item(self, item: Item, evidence: set[str]) -> ItemScore:
        return ItemScore({"colours": len(evidence)})

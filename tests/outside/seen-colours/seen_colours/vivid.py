from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from beholder.judges.operations import PanelOperation, Respondent
from beholder.judges.shapes import integer, only
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class RateVividness(PanelOperation[float], name="seen_colours_vividness"):
    """How vividly a text tells the colours, from 1 to 5."""

    text: str

    template = """
[system]
You judge descriptions of pictures.
[user]
How vividly does this description show the colours?
$text

1 = it names no colour
5 = a reader sees every colour
"""

    async def ask_model(self, model: Respondent) -> float:
        messages = model.render({"text": self.text})
        shape = only("grade", integer(1, 5))
        return await model.json(
            messages, shape, max_tokens=32, typical={"grade": 3}
        )

    def merge(self, answers: Sequence[float]) -> float:
        return fmean(answers)


@dataclass(frozen=True)
class Vivid(Metric[float]):
    """How vividly the candidate tells the colours, as a judge says."""

    registered_name = "vivid"
    values = (ValueInfo("vividness", "grade of the judge, brought to 0 to 1"),)
    required_fields = frozenset()
    needs = (RateVividness,)

    judge: str = param(help="Who rates: a model.", tool="judge")

    async def gather(self, item: Item, tools: Tools) -> float:
        return await tools.judge(self.judge).ask(RateVividness(item.candidate))

    def score_item(self, item: Item, evidence: float) -> ItemScore:
        return ItemScore({"vividness": (evidence - 1) / 4})

"""A metric whose units are the digits in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beholder.errors import ItemError
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore, Side, Unit
from beholder.text.tokenize import words


@dataclass(frozen=True)
class Digits(Metric[None]):
    """Each digit in a word is a unit of that word with a tenth of it as its score."""

    registered_name: ClassVar[str] = "digits"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("n", "units", high=1e9),
    )

    tells: str = param("score", "score, verdict or nothing")
    sides: str = param("both", "both or candidate")

    async def gather(self, item: Item, tools: Tools) -> None:
        if "fails" in item.candidate:
            raise ItemError("on purpose")

    def score_item(self, item: Item, evidence: None) -> ItemScore:
        units = self._units(item.candidate, "candidate")
        if self.sides == "both":
            units += self._units(item.references[0], "reference")
        return ItemScore(
            {"n": float(len(units))}, tuple(units), self.signature()
        )

    def _units(self, text: str, side: Side) -> list[Unit]:
        units = []
        for span in words(text):
            for digit in filter(str.isdigit, text[slice(*span)]):
                score = int(digit) / 10 if self.tells == "score" else None
                bad = "mistake" if int(digit) < 5 else "match"
                verdict = bad if self.tells == "verdict" else None
                units.append(
                    Unit(
                        "word",
                        text[slice(*span)],
                        side,
                        (span,),
                        score,
                        verdict,
                    )
                )
        return units

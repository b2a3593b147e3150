"""Counts words: everything about its numbers can be checked by hand."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from beholder.errors import ItemError, TransientError
from beholder.judges.operations import Presence, Question
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore, Unit


@dataclass(frozen=True)
class WordCount(Metric[int]):
    """Number of words of the candidate, times a factor."""

    registered_name = "word_count"
    values = (ValueInfo("words", "words of the candidate", high=1e9),)
    required_fields = frozenset[str]()

    factor: float = param(1.0, "Every count is multiplied by it.")
    note: str = param("", "Free text.", affects_score=False)

    async def gather(self, item: Item, tools: Tools) -> int:
        if "FAIL" in item.candidate:
            raise ItemError("the candidate says FAIL")
        if "LATER" in item.candidate:
            raise TransientError("the candidate says LATER")
        if "BUG" in item.candidate:
            raise ZeroDivisionError("the candidate says BUG")
        if (
            "INTERRUPT" in item.candidate
            and "BEHOLDER_TEST_INTERRUPT" in os.environ
        ):
            os.kill(os.getpid(), signal.SIGINT)
        if "DIE" in item.candidate:
            os._exit(9)
        return len(item.candidate.split())

    def score_item(self, item: Item, evidence: int) -> ItemScore:
        unit = Unit(
            "word", item.candidate[:1], "candidate", ((0, 1),), verdict="match"
        )
        return ItemScore(
            {"words": evidence * self.factor},
            (unit,),
            self.signature(),
            {"n": evidence},
        )


@dataclass(frozen=True)
class ScheduledAsker(Metric[float]):
    """Asks a judge whether the first word of the candidate is in the reference."""

    registered_name = "asked"
    values = (ValueInfo("grade", "grade of the answer", low=1, high=5),)

    judge: str = param("builtin", "Who is asked.", tool="judge")

    async def gather(self, item: Item, tools: Tools) -> float:
        question = Question("entity", item.candidate.split()[0])
        (grade,) = await tools.judge(self.judge).ask(
            Presence([question], item.references[0])
        )
        return grade.value

    def score_item(self, item: Item, evidence: float) -> ItemScore:
        return ItemScore({"grade": evidence}, signature=self.signature())

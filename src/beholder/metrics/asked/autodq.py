"""The metric autodq: events of both texts, each compared with the other text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Literal

from beholder.embed.base import FloatArray
from beholder.judges import Judge
from beholder.judges.operations import CheckCriteria, TextAnswer, WriteCriteria
from beholder.judges.operations.answer import MET, NOT_MENTIONED
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.asked.rows import (
    CHANGED,
    UNREAD,
    Criterion,
    Found,
    criteria_of,
    f1,
    in_parts,
    opened,
    unit_of,
)
from beholder.records import Item, ItemScore
from beholder.text.languages import language_named

_MOST = 10
"""Events of a text, as published."""

Checked = Sequence[Found[Criterion]]


Events = tuple[Checked, Checked]
"""Events of the candidate with what the references say of them, and the reverse."""


@dataclass(frozen=True)
class AutoDQ(Metric[Events]):
    """Events of the references that the candidate entails, and the reverse.

    A judge lists up to ten events of each text and checks each against the other text. Recall is
    the share of reference events that the candidate entails, precision the share of candidate
    events that the references entail; neutral and contradicted events count the same. A text
    without events gives 1. The row's field ``criteria`` gives the reference events if it is there.
    ``f1_of_means`` is the published F1 of mean precision and mean recall. With
    ``what="objects"`` things with one property each take the place of events: the second half of
    CapST. Several references are read as one text. Prompts are our own. Range 0..1, higher is
    better.

    Source: AutoDQ of DREAM-1K (Tarsier), CapST of CaReBench.

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(help="who lists and checks: a model, not builtin", tool="judge")
    what: Literal["events", "objects"] = param("events", "what is listed")
    at_once: int = param(_MOST, "events per question to the judge", whole=(1, 100))

    registered_name = "autodq"
    values = (
        ValueInfo("f1", "harmonic mean of precision and recall"),
        ValueInfo("precision", "share of candidate events that the references entail"),
        ValueInfo("recall", "share of reference events that the candidate entails"),
        ValueInfo("unread", "share of events without a usable answer", higher_is_better=False),
        CHANGED,
    )
    corpus_values = (
        ValueInfo("f1_of_means", "harmonic mean of the set's mean precision and mean recall"),
    )
    operations = ("write_criteria", "check_criteria")

    needs = (WriteCriteria, CheckCriteria)

    async def gather(self, item: Item, tools: Tools) -> Events:
        """List the events of both texts, then check each list against the other text."""
        judge, language = tools.judge(self.judge), language_named(item.language)
        reference = "\n\n".join(text for text in item.references if text.strip())

        async def listed(text: str) -> list[Criterion]:
            if not text.strip():
                return []
            asked = WriteCriteria(text=text, n=_MOST, kind=self.what, language=language)
            written = enumerate(await judge.ask(asked), start=1)
            return [Criterion(id=str(n), text=one.text) for n, one in written]

        async def reference_events() -> list[Criterion]:
            return criteria_of(item) if item.meta.get("criteria") else await listed(reference)

        ours, theirs = await asyncio.gather(listed(item.candidate), reference_events())
        return await asyncio.gather(
            self._checked(judge, ours, reference, language),
            self._checked(judge, theirs, item.candidate, language),
        )

    async def _checked(
        self, judge: Judge, events: Sequence[Criterion], text: str, language: str | None
    ) -> Checked:
        def ask(part: Sequence[Criterion]) -> Awaitable[Sequence[TextAnswer | None]]:
            return judge.ask(CheckCriteria([one.text for one in part], text, language=language))

        answers: Sequence[TextAnswer | None] = [TextAnswer(NOT_MENTIONED)] * len(events)
        if text.strip():
            answers = await in_parts(events, self.at_once, ask)
        return [
            Found(one, answer, (answer and answer.state) or UNREAD)
            for one, answer in zip(events, answers, strict=True)
        ]

    def score_item(self, item: Item, evidence: Events) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any event of a text.
        """
        ours, theirs = evidence
        precision, recall = _share(ours), _share(theirs)
        shares = {"f1": f1(precision, recall), "precision": precision, "recall": recall}
        units = (
            *(unit_of("event", one, "candidate") for one in ours),
            *(unit_of("event", one, "reference") for one in theirs),
        )
        values = shares | opened([*ours, *theirs], "events")
        return ItemScore(values, units, detail={"statistics": [precision, recall, 1.0]})

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """F1 of the mean precision and the mean recall."""
        precision, recall, n = (float(value) for value in statistics)
        return {"f1_of_means": f1(precision / n, recall / n)}


def _share(checked: Checked) -> float:
    """The share of events that the other text entails, of those read; 1 if there are none."""
    opened(checked, "events")
    read = [one.state == MET for one in checked if one.answer]
    return sum(read) / len(read) if read else 1.0

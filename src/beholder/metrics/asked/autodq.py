"""The metric autodq: events of both texts, each compared with the other text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges import Judge
from beholder.judges.operations import CheckCriteria, TextAnswer, WriteCriteria
from beholder.judges.operations.answer import MET, NOT_MENTIONED
from beholder.metrics.asked.checklist import UNREAD, check_at_once
from beholder.metrics.asked.rows import criteria_of, in_parts
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore, Side, Unit
from beholder.text.languages import language_named

_MOST = 10
"""Events of a text, as published."""

_Checked = Sequence[tuple[str, TextAnswer | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Events of each text with what the other text says of them.

    Attributes:
        candidate: Events of the candidate, checked against the references.
        reference: Events of the references, checked against the candidate.
        identities: Identity of each tool by the field that names it.
    """

    candidate: _Checked
    reference: _Checked
    identities: Mapping[str, str]


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
    at_once: int = param(_MOST, "events per question to the judge")

    registered_name: ClassVar[str] = "autodq"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("f1", "harmonic mean of precision and recall"),
        ValueInfo("precision", "share of candidate events that the references entail"),
        ValueInfo("recall", "share of reference events that the candidate entails"),
        ValueInfo("unread", "share of events without a usable answer", higher_is_better=False),
    )
    corpus_values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("f1_of_means", "harmonic mean of the set's mean precision and mean recall"),
    )
    operations: ClassVar[tuple[str, ...]] = ("write_criteria", "check_criteria")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_once(self.at_once)

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        judge = tools.judge(self.judge)
        judge.check_can(WriteCriteria)
        judge.check_can(CheckCriteria)
        return super().identities(tools)

    async def gather(self, item: Item, tools: Tools) -> Events:
        """List the events of both texts, then check each list against the other text."""
        identities = self.identities(tools)
        judge, language = tools.judge(self.judge), language_named(item.language)
        reference = "\n\n".join(text for text in item.references if text.strip())

        async def listed(text: str) -> list[str]:
            if not text.strip():
                return []
            asked = WriteCriteria(text=text, n=_MOST, kind=self.what, language=language)
            return [one.text for one in await judge.ask(asked)]

        async def reference_events() -> list[str]:
            given = item.meta.get("criteria")
            return [one.text for one in criteria_of(item)] if given else await listed(reference)

        ours, theirs = await asyncio.gather(listed(item.candidate), reference_events())
        checked = await asyncio.gather(
            self._checked(judge, ours, reference, language),
            self._checked(judge, theirs, item.candidate, language),
        )
        return Events(*checked, identities)

    async def _checked(
        self, judge: Judge, events: Sequence[str], text: str, language: str | None
    ) -> _Checked:
        if not text.strip():
            return [(event, TextAnswer(NOT_MENTIONED)) for event in events]

        def ask(part: Sequence[str]) -> Awaitable[Sequence[TextAnswer | None]]:
            return judge.ask(CheckCriteria(part, text, language=language))

        return list(zip(events, await in_parts(events, self.at_once, ask), strict=True))

    def score_item(self, item: Item, evidence: Events) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any event of a text.
        """
        precision = _share(evidence.candidate)
        recall = _share(evidence.reference)
        every = [*evidence.candidate, *evidence.reference]
        unread = sum(answer is None for _, answer in every) / len(every) if every else 0.0
        values = {
            "f1": _f1(precision, recall),
            "precision": precision,
            "recall": recall,
            "unread": unread,
        }
        units = (
            *(_unit(event, answer, "candidate") for event, answer in evidence.candidate),
            *(_unit(event, answer, "reference") for event, answer in evidence.reference),
        )
        detail = {"statistics": [precision, recall, 1.0]}
        return ItemScore(values, units, self.signature(evidence.identities), detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """F1 of the mean precision and the mean recall."""
        precision, recall, n = (float(value) for value in statistics)
        return {"f1_of_means": _f1(precision / n, recall / n)}


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _share(checked: _Checked) -> float:
    if not checked:
        return 1.0
    read = [answer for _, answer in checked if answer is not None]
    if not read:
        raise ItemError(
            f"the judge gave no usable answer to any of {len(checked)} events, also when asked"
            " again"
        )
    return sum(answer.state == MET for answer in read) / len(read)


def _unit(event: str, answer: TextAnswer | None, side: Side) -> Unit:
    verdict = UNREAD if answer is None else str(answer.state).replace(" ", "_")
    score = None if answer is None else float(answer.state == MET)
    return Unit("event", event, side, (), score, verdict, None if side == "candidate" else 0)

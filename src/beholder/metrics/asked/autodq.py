"""Metric over events: autodq, those of both texts, each checked against the other text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from beholder.embed.base import FloatArray
from beholder.judges.operations import (
    CheckCriteria,
    WriteCriteria,
)
from beholder.judges.operations.answer import MET
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.asked import rows
from beholder.metrics.base import f1
from beholder.records import Item, ItemScore
from beholder.text.languages import language_named

_MAX_EVENTS = 10
"""Events of a text, as published."""
Answers = Sequence[rows.AnsweredRow[rows.Criterion]]
Events = tuple[Answers, Answers]
"""Events of the candidate checked against the references, and the reverse."""


@dataclass(frozen=True)
class AutoDQ(Metric[Events]):
    """Events of the references that the candidate entails, and the reverse.

    A judge lists up to ten events of each text and checks each against the other text. Recall is
    the share of reference events that the candidate entails, precision the share of candidate
    events that the references entail; neutral and contradicted events count the same. A text
    without events gives 1. The row's field ``criteria`` gives the reference events if it is there.
    ``f1_of_means`` is the F1 of mean precision and mean recall. Of data with several values of the
    group ``dataset``, such as DREAM-1K, ``subset_*`` are the published figures: means over these
    subsets of their mean precision and mean recall, and the F1 of both. With ``what="objects"``
    things with one property each take the place of events: the second half of CapST. Several
    references are read as one text. Prompts are our own. Range 0..1, higher is better.

    Source: AutoDQ of DREAM-1K (Tarsier), CapST of CaReBench.

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(
        help="who lists and checks: a model, not builtin", tool="judge"
    )
    what: Literal["events", "objects"] = param("events", "what is listed")
    at_once: int = param(
        _MAX_EVENTS, "events per question to the judge", whole=(1, 100)
    )

    registered_name = "autodq"
    values = (
        ValueInfo("f1", "harmonic mean of precision and recall"),
        ValueInfo(
            "precision", "share of candidate events that the references entail"
        ),
        ValueInfo(
            "recall", "share of reference events that the candidate entails"
        ),
        ValueInfo(
            "unread",
            "share of events without a usable answer",
            higher_is_better=False,
        ),
        rows.CHANGED,
    )
    corpus_values = (
        ValueInfo(
            "f1_of_means",
            "harmonic mean of the set's mean precision and mean recall",
        ),
        ValueInfo("subset_f1", "harmonic mean of the next two"),
        ValueInfo(
            "subset_precision", "mean over subsets of their mean precision"
        ),
        ValueInfo("subset_recall", "mean over subsets of their mean recall"),
    )

    needs = (WriteCriteria, CheckCriteria)
    foresees_calls = True

    def check_row(self, item: Item) -> None:
        """Refuse a row with malformed criteria."""
        rows.check_asked(item, "criteria")

    async def gather(self, item: Item, tools: Tools) -> Events:
        """List the events of both texts, then check each list against the other text."""
        judge, language = (
            tools.judge(self.judge),
            language_named(item.language),
        )
        reference = "\n\n".join(
            text for text in item.references if text.strip()
        )

        async def list_events(text: str) -> list[rows.Criterion]:
            if not text.strip():
                return []
            operation = WriteCriteria(
                text=text, n=_MAX_EVENTS, kind=self.what, language=language
            )
            drafts = enumerate(await judge.ask(operation), start=1)
            return [
                rows.Criterion(id=str(n), text=criterion.text)
                for n, criterion in drafts
            ]

        async def reference_events() -> list[rows.Criterion]:
            return (
                rows.criteria_of(item)
                if item.meta.get("criteria")
                else await list_events(reference)
            )

        # Both lists are made at once, and then both are checked at once.
        candidate_events, expected_events = await asyncio.gather(
            list_events(item.candidate), reference_events()
        )
        checks = (
            (candidate_events, reference),
            (expected_events, item.candidate),
        )
        ask = partial(rows.check_criteria, judge, self.at_once, language)
        answer_lists = await asyncio.gather(
            *(ask(events, text) for events, text in checks)
        )
        first, second = (
            [
                rows.AnsweredRow(
                    event, answer, (answer and answer.state) or rows.UNREAD
                )
                for event, answer in zip(events, answers, strict=True)
            ]
            for (events, _), answers in zip(checks, answer_lists, strict=True)
        )
        return first, second

    def score_item(self, item: Item, evidence: Events) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any event of a text.
        """
        candidate_events, reference_events = evidence
        precision, recall = _share(candidate_events), _share(reference_events)
        shares = {
            "f1": f1(precision, recall),
            "precision": precision,
            "recall": recall,
        }
        units = (
            *(
                rows.unit_of("event", event, "candidate")
                for event in candidate_events
            ),
            *(
                rows.unit_of("event", event, "reference")
                for event in reference_events
            ),
        )
        values = shares | rows.answer_quality(
            [*candidate_events, *reference_events], "events"
        )
        # The last number counts texts, so that sums over texts give means.
        detail = {
            "statistics": [precision, recall, 1.0],
            "subset": item.group.get("dataset", ""),
        }
        return ItemScore(values, units, detail=detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """F1 of the mean precision and the mean recall, over texts and over subsets."""
        subsets = statistics.reshape(-1, 3)
        precision, recall, n = subsets.sum(axis=0).tolist()
        values = {"f1_of_means": f1(precision / n, recall / n)}
        if len(subsets) > 1:
            nonempty = subsets[subsets[:, 2] > 0]
            p, r = (
                (nonempty[:, :2] / nonempty[:, 2:])
                .clip(0, 1)
                .mean(axis=0)
                .tolist()
            )
            values |= {
                "subset_f1": f1(p, r),
                "subset_precision": p,
                "subset_recall": r,
            }
        return values


def _share(events: Answers) -> float:
    """Return the share of events that the other text entails; 1 if it has none."""
    rows.answer_quality(events, "events")
    # An unread answer is neither entailed nor not.
    verdicts = [
        event.state == MET for event in events if not event.answer.unread
    ]
    return sum(verdicts) / len(verdicts) if verdicts else 1.0

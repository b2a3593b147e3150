"""Facts: is each statement of a text true of the picture?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal, get_args

from beholder.errors import ConfigError
from beholder.kinds.annotation.agreement import cells, of_kinds
from beholder.kinds.annotation.load import load_outcomes
from beholder.kinds.annotation.records import (
    AnnotationUnit,
    Judged,
    Row,
    State,
)
from beholder.kinds.annotation.tasks.base import (
    MAX_PARTS,
    JudgmentPart,
    Task,
    statements_of,
    unit_of,
)
from beholder.records import Item, ItemScore
from beholder.run.reliability import Reliability

Verdict = Literal["true", "false", "unsure"]
VERDICTS: tuple[str, ...] = get_args(Verdict)


class FactTask(Task):
    """A part is the number of a fact from 0, its value a verdict."""

    name: ClassVar[str] = "facts"
    title: ClassVar[str] = "Is it true?"
    summary: ClassVar[str] = (
        "rows with 'facts': is each statement true, false or unsure?"
    )
    next_step: ClassVar[str] = (
        "beholder agree {file} --label true -m \"dcscore(verify='reference').precision\""
    )
    next_without_references: ClassVar[str] = (
        "beholder agree {file} --label true -m \"dcscore(judge='openai:MODEL').precision\""
    )
    unanswered: ClassVar[str] = "facts without a verdict"
    proposals_from: ClassVar[str] = "checks statements (dcscore)"

    def completed(self, rows: Sequence[Item], run: Path) -> Sequence[Item]:
        """Return items with the run's statements as ``facts``, where they have none.

        Items from which the metric extracted no statement are left out.
        """
        # The first metric with a statement decides; others would split the texts differently.
        for scores in load_outcomes(run):
            stated = {
                name: [u.text for u in statements_of(outcome)]
                for name, outcome in scores.items()
            }
            if any(stated.values()):
                return [
                    replace(item, meta={**item.meta, "facts": stated[item.id]})
                    if "facts" not in item.meta and stated.get(item.id)
                    else item
                    for item in rows
                    if "facts" in item.meta or stated.get(item.id) != []
                ]
        return rows

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Return one unit per item: its ``facts``."""
        return [unit_of(item, *_facts(item)) for item in rows]

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return a part per fact, whose value is a verdict."""
        return [
            JudgmentPart(str(n), Verdict, str(n + 1))
            for n in range(len(unit.texts))
        ]

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return nominal alpha and kappa over all facts."""
        return [
            of_kinds(
                cells(self, "facts", judged, annotators, VERDICTS.index),
                len(VERDICTS),
            )
        ]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield rows whose judgment ``true`` is a list of each annotator's share of true facts.

        Facts of which an annotator is unsure do not count; who is unsure of all has no share.
        """
        for judgments in judged:
            verdicts = {
                name: [state[str(n)] for n in range(len(judgments.unit.texts))]
                for name, state in judgments.by.items()
            }
            sure = [
                [v for v in annotator_verdicts if v != "unsure"]
                for annotator_verdicts in verdicts.values()
            ]
            shares = [
                annotator_verdicts.count("true") / len(annotator_verdicts)
                for annotator_verdicts in sure
                if annotator_verdicts
            ]
            row = judgments.unit.row
            yield {
                **row,
                "judgments": {**row.get("judgments", {}), "true": shares},
                "facts": [
                    {
                        "text": text,
                        "verdicts": {
                            name: annotator_verdicts[n]
                            for name, annotator_verdicts in verdicts.items()
                        },
                    }
                    for n, text in enumerate(judgments.unit.texts)
                ],
            }

    def proposals(self, unit: AnnotationUnit, outcome: ItemScore) -> State:
        """Return a judge's verdicts on statements with the same words as a fact."""
        # Only statements that the judge verified have a verdict; `None` means not asked.
        verified = {
            statement.text: statement.detail.get("verified")
            for statement in statements_of(outcome)
        }
        return {
            str(n): "true" if verified[text] else "false"
            for n, text in enumerate(unit.texts)
            if isinstance(verified.get(text), bool)
        }


def _facts(item: Item) -> tuple[str, ...]:
    """Return the facts of an item.

    Raises:
        ConfigError: The field ``facts`` is missing or is not a list of texts.
    """
    facts = item.meta.get("facts")
    if (
        not isinstance(facts, list)
        or not 1 <= len(facts) <= MAX_PARTS
        or not all(isinstance(fact, str) and fact.strip() for fact in facts)
    ):
        raise ConfigError(
            f"item {item.id!r} has no list of 1 to {MAX_PARTS:,} texts in 'facts'; add it to each"
            " row, or take the facts from a run of dcscore with --prefill RUN"
        )
    return tuple(facts)

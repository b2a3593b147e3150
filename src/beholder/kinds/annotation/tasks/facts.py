"""Facts: is each statement of a text true of the picture?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from beholder.data.row import shorten, to_row
from beholder.errors import ConfigError, ItemError
from beholder.kinds.annotation.agreement import of_kinds
from beholder.kinds.annotation.records import AnnotationUnit, Judgments, State
from beholder.kinds.annotation.tasks.base import (
    MAX_PARTS,
    DataKind,
    Region,
    Task,
    numbered,
    one_choice,
    pictures_of,
    region,
    statements_of,
)
from beholder.records import Item, ItemScore
from beholder.run.reliability import Reliability

VERDICTS = ("true", "false", "unsure")


class FactTask(Task):
    """A part is the number of a fact from 0, its value one of ``VERDICTS``."""

    name: ClassVar[str] = "facts"
    title: ClassVar[str] = "Is it true?"
    data: ClassVar[DataKind] = "items"
    takes_proposals: ClassVar[bool] = True
    next_step: ClassVar[str] = "beholder agree {file} --label true -m dcscore.precision"

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """One an item: its ``facts``."""
        return [
            AnnotationUnit(item.id, item.source, _facts(item), pictures_of(item), to_row(item))
            for item in rows
        ]

    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """A fact that there is."""
        numbered(part, len(unit.texts), "fact")

    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """A verdict."""
        if value not in VERDICTS:
            raise ItemError(f"expected {', '.join(VERDICTS)}, got {shorten(value)}")

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Facts without a verdict."""
        left = [str(n + 1) for n in range(len(unit.texts)) if str(n) not in state]
        return f"facts without a verdict: {', '.join(left)}" if left else None

    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """Nominal alpha and kappa over all facts."""
        verdicts = [
            [
                float(VERDICTS.index(one.by[who][str(n)])) if who in one.by else float("nan")
                for who in annotators
            ]
            for one in judged
            for n in range(len(one.unit.texts))
        ]
        sources = [one.unit.source for one in judged for _ in one.unit.texts]
        return [of_kinds("facts", verdicts, annotators, len(VERDICTS), sources)]

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """Rows whose judgment ``true`` lists, per annotator, the share of facts that are true.

        Facts of which an annotator is unsure do not count; who is unsure of all has no share.
        """
        for one in judged:
            verdicts = {
                name: [state[str(n)] for n in range(len(one.unit.texts))]
                for name, state in one.by.items()
            }
            sure = {name: [v for v in said if v != "unsure"] for name, said in verdicts.items()}
            shares = [said.count("true") / len(said) for said in sure.values() if said]
            row = one.unit.row
            yield {
                **row,
                "judgments": {**row.get("judgments", {}), "true": shares},
                "facts": [
                    {"text": text, "verdicts": {name: said[n] for name, said in verdicts.items()}}
                    for n, text in enumerate(one.unit.texts)
                ],
            }

    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A choice a fact, numbered from 1."""
        return [
            region(f"fact-{n + 1}", "facts", "choices", [state[str(n)]])
            for n in range(len(unit.texts))
            if str(n) in state
        ]

    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The verdicts."""
        chosen = (one_choice(regions, f"fact-{n + 1}", VERDICTS) for n in range(len(unit.texts)))
        return {str(n): VERDICTS[at] for n, at in enumerate(chosen) if at is not None}

    def proposals(self, unit: AnnotationUnit, found: ItemScore) -> dict[str, Any]:
        """What a judge said of the statements of the same words."""
        verified = {
            told.text: told.detail["verified"]
            for told in statements_of(found)
            if isinstance(told.detail.get("verified"), bool)
        }
        return {
            str(n): "true" if verified[text] else "false"
            for n, text in enumerate(unit.texts)
            if text in verified
        }


def _facts(item: Item) -> tuple[str, ...]:
    facts = item.meta.get("facts")
    if (
        not isinstance(facts, list)
        or not 1 <= len(facts) <= MAX_PARTS
        or not all(isinstance(fact, str) and fact.strip() for fact in facts)
    ):
        raise ConfigError(
            f"item {item.id!r} has no list of texts in 'facts'; write one into each row, or take"
            " them from a run of dcscore with --prefill RUN"
        )
    return tuple(facts)

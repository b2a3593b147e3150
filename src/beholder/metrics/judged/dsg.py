"""After DSG: the statements of the references with what they rest on, checked in the candidate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.errors import ItemError
from beholder.judges.operations import Verify
from beholder.language.reading import english_graphs_together
from beholder.language.statements import Statement, graph_statements
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore, Unit


@dataclass(frozen=True, slots=True, eq=False)
class CheckedStatements:
    """What a judge said of the references' statements.

    Attributes:
        statements: The statements of each reference.
        answers: For each reference, whether the candidate supports its statements.
    """

    statements: Sequence[Sequence[Statement]]
    answers: Sequence[Sequence[bool]]


@dataclass(frozen=True)
class DSG(Metric[CheckedStatements]):
    """After DSG: which statements of the references does the candidate support?

    Each reference becomes statements (that a thing is there, what it is like, how it stands to
    another). A judge says of each whether the candidate supports it. A statement about a thing that
    is not there counts as not supported, whatever was said of it. The value is the share that is
    supported, the mean over references. Range 0..1, higher is better; low for omissions and for
    what is said otherwise. Extra claims of the candidate do not count.

    Source: after Cho et al. 2024 (Davidsonian Scene Graph), whose questions a model makes and whose
    answers come from a picture; statements here are made by rules and checked against a text, as
    the PoSh paper uses it. English only.

    Raises:
        ConfigError: The judge cannot do it.
    """

    judge: str = param("builtin", "who checks: builtin, or a model", tool="judge")

    registered_name = "dsg"
    bounds = Bounds(characters=100_000, compares="words")
    values = (ValueInfo("dsg", "share of the references' statements that the candidate supports"),)
    operations = ("verify",)
    needs = (Verify,)

    async def gather(self, item: Item, tools: Tools) -> CheckedStatements:
        """Make the statements of the references, and ask the judge about each reference's.

        Raises:
            ItemError: A reference is not English, or none states anything.
        """
        self.bounds.check_words((item.candidate, *item.references), self.registered_name)
        judge = tools.judge(self.judge)
        graphs = await english_graphs_together(item.references)
        made = [graph_statements(graph) for graph in graphs]
        if not any(made):
            raise ItemError(
                "no reference states anything that could be checked; the first begins "
                f"{item.references[0].strip()[:40]!r}"
            )
        answers = await asyncio.gather(
            *(judge.ask(Verify([s.text for s in some], reference=item.candidate)) for some in made)
        )
        return CheckedStatements(made, answers)

    def score_item(self, item: Item, evidence: CheckedStatements) -> ItemScore:
        """The mean share of supported statements over the references that state anything."""
        shares = []
        units: list[Unit] = []  # their scores are what the shares are taken of
        for place, (made, said) in enumerate(
            zip(evidence.statements, evidence.answers, strict=True)
        ):
            held = supported(made, said)
            if held:
                shares.append(float(np.mean(held)))
            units += map(_unit, made, said, held, [place] * len(made))
        return ItemScore({"dsg": float(np.mean(shares))}, tuple(units))


def supported(statements: Sequence[Statement], answers: Sequence[bool]) -> list[bool]:
    """Which statements hold: those with a yes whose things are there.

    Args:
        statements: Of one text. A thing is present if no statement says that it exists, or where
            that statement has a yes; that there is none of it rests on nothing.
        answers: One for each.
    """
    absent = {
        entity
        for statement, yes in zip(statements, answers, strict=True)
        if statement.kind == "existence" and statement.polarity and not yes
        for entity in statement.entities
    }
    return [
        yes and (s.kind == "existence" or not absent & set(s.entities))
        for s, yes in zip(statements, answers, strict=True)
    ]


def _unit(statement: Statement, said: bool, holds: bool, reference: int) -> Unit:
    found = (float(holds), "match" if holds else "omission", reference)
    detail = {"kind": statement.kind, "answer": said}
    return Unit("statement", statement.text, "reference", statement.spans, *found, detail)

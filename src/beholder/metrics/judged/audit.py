"""Metrics that verify facts: audit, those of references by the picture; dsg, those by the text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from beholder.errors import ItemError
from beholder.judges import Draw
from beholder.judges.operations import AtomicStatement, Decompose, Verify
from beholder.language.reading import english_graphs_together
from beholder.language.statements import Statement, graph_statements
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.judged.direct import ShowingMetric
from beholder.records import Item, ItemScore, Unit
from beholder.text.languages import language_named

Doubt = Literal["supported", "uncertain", "doubtful", "not_visible"]

_TEMPERATURE = 0.3
"""Of several answers to one question."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditEvidence:
    """Verdicts of a judge on the facts of both texts.

    Attributes:
        facts: Facts of each reference, with its index.
        claims: Facts of the candidate.
        picture_shares: Of each fact, the share of answers by which the picture supports it.
        stated: Of each fact, whether the candidate states it.
        supported: Of each claim, whether a reference supports it.
        picture_supports: Of each claim, whether the picture supports it.
    """

    facts: Sequence[tuple[int, AtomicStatement]]
    claims: Sequence[AtomicStatement]
    picture_shares: Sequence[float]
    stated: Sequence[bool]
    supported: Sequence[bool]
    picture_supports: Sequence[bool]


@dataclass(frozen=True)
class Audit(ShowingMetric[AuditEvidence]):
    """Facts of the references that the picture does not support, and scores without them.

    A vision model lists the facts of each reference and verifies each by the picture, ``answers``
    times. A fact is supported from a share of 2/3 of the answers, ``doubtful`` up to 1/3, and
    uncertain between; facts that cannot be seen are never doubtful. ``recall`` is the share of the
    facts that the candidate states, ``recall_sure`` the same without doubtful ones; ``precision``
    the share of the candidate's facts that a reference supports, ``precision_seen`` that a
    reference or the picture supports. Doubtful is the view of a judge: people decide whether a
    reference is wrong. Range 0..1; higher is better but for ``doubtful`` and ``any_doubtful``.

    Source: our own; audits of references of video benchmarks by people and models.

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it, or cannot see.
    """

    judge: str = param(help="who verifies: a model that can see", tool="judge")
    answers: int = param(3, "answers per fact of a reference", whole=(1, 100))

    registered_name = "audit"
    values = (
        ValueInfo(
            "doubtful",
            "share of reference facts in doubt",
            higher_is_better=False,
        ),
        ValueInfo(
            "any_doubtful",
            "1 if a fact is doubtful, else 0",
            higher_is_better=False,
        ),
        ValueInfo(
            "recall", "share of reference facts that the candidate states"
        ),
        ValueInfo("recall_sure", "the same without doubtful facts"),
        ValueInfo(
            "precision", "share of candidate facts that a reference supports"
        ),
        ValueInfo(
            "precision_seen", "share that a reference or the picture supports"
        ),
    )
    required_fields = frozenset({"images", "references"})
    operations = ("decompose", "verify")
    needs = (Verify,)

    async def gather(self, item: Item, tools: Tools) -> AuditEvidence:
        """List the facts of all texts, then verify them."""
        judge = tools.judge(self.judge)
        language = language_named(item.language)
        images = await tools.pictures.read(item.images)
        texts = (item.candidate, *item.references)
        claims, *lists = await asyncio.gather(
            *(judge.ask(Decompose(t, language)) for t in texts)
        )
        facts = [
            (number, fact)
            for number, reference_facts in enumerate(lists)
            for fact in reference_facts
        ]
        fact_texts, claim_texts = (
            [fact.text for _, fact in facts],
            [claim.text for claim in claims],
        )
        reference = "\n\n".join(item.references)
        heat = _TEMPERATURE if self.answers > 1 else None
        # All questions at once: the facts by the candidate and, several times,
        # by the picture; the candidate's claims by the references and by the
        # picture.
        stated, supported, picture_supports, *votes = await asyncio.gather(
            judge.ask(Verify(fact_texts, (), item.candidate, language)),
            judge.ask(Verify(claim_texts, (), reference, language)),
            judge.ask(Verify(claim_texts, images, None, language)),
            *(
                judge.ask(
                    Verify(fact_texts, images, None, language),
                    Draw(number, heat),
                )
                for number in range(self.answers)
            ),
        )
        picture_shares = [fmean(vote) for vote in zip(*votes, strict=True)]
        return AuditEvidence(
            facts, claims, picture_shares, stated, supported, picture_supports
        )

    def score_item(self, item: Item, evidence: AuditEvidence) -> ItemScore:
        """Turn verdicts into shares.

        Raises:
            ItemError: The references state no fact.
        """
        if not evidence.facts:
            raise ItemError("the judge found no fact in the references")
        fact_shares = list(
            zip(evidence.facts, evidence.picture_shares, strict=True)
        )
        doubts = [_doubt(fact, share) for (_, fact), share in fact_shares]
        stated = list(zip(evidence.stated, doubts, strict=True))
        # recall_sure leaves out facts in doubt: a candidate need not repeat a
        # mistake.
        sure = [credit for credit, doubt in stated if doubt != "doubtful"]
        values = {
            "doubtful": doubts.count("doubtful") / len(doubts),
            "any_doubtful": float("doubtful" in doubts),
            "recall": fmean(evidence.stated),
        }
        if sure:
            values["recall_sure"] = fmean(sure)
        if evidence.claims:
            either = [
                a or b
                for a, b in zip(
                    evidence.supported, evidence.picture_supports, strict=True
                )
            ]
            values |= {
                "precision": fmean(evidence.supported),
                "precision_seen": fmean(either),
            }
        units = []
        for ((number, fact), share), (is_stated, doubt) in zip(
            fact_shares, stated, strict=True
        ):
            outcome = (share, doubt, number, {"stated": is_stated})
            units.append(
                Unit("statement", fact.text, "reference", fact.spans, *outcome)
            )
        claims = zip(
            evidence.claims,
            evidence.supported,
            evidence.picture_supports,
            strict=True,
        )
        for claim, is_supported, is_visible in claims:
            verdict = "supported"
            if not is_supported:
                verdict = "seen_only" if is_visible else "unsupported"
            at, score = claim.spans, float(is_supported or is_visible)
            units.append(
                Unit("statement", claim.text, "candidate", at, score, verdict)
            )
        return ItemScore(values, tuple(units))


def _doubt(fact: AtomicStatement, share: float) -> Doubt:
    # A mood or a purpose is not in the picture, so the picture says nothing
    # against it.
    if not fact.relevant:
        return "not_visible"
    if share >= 2 / 3:
        return "supported"
    return "doubtful" if share <= 1 / 3 else "uncertain"


@dataclass(frozen=True, slots=True, eq=False)
class CheckedStatements:
    """Answers of a judge to the references' statements.

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

    judge: str = param(
        "builtin", "who checks: builtin, or a model", tool="judge"
    )

    registered_name = "dsg"
    bounds = Bounds(characters=100_000, compares="words")
    values = (
        ValueInfo(
            "dsg",
            "share of the references' statements that the candidate supports",
        ),
    )
    needs = (Verify,)

    async def gather(self, item: Item, tools: Tools) -> CheckedStatements:
        """Make the statements of the references, and ask the judge about each reference's.

        Raises:
            ItemError: A reference is not English, or none states anything.
        """
        self.bounds.check_words(
            (item.candidate, *item.references), self.registered_name
        )
        judge = tools.judge(self.judge)
        graphs = await english_graphs_together(item.references)
        statements = [graph_statements(graph) for graph in graphs]
        if not any(statements):
            raise ItemError(
                "no reference states anything that could be checked; the first begins "
                f"{item.references[0].strip()[:40]!r}"
            )
        # One question for all statements of a reference.
        answers = await asyncio.gather(
            *(
                judge.ask(
                    Verify(
                        [s.text for s in reference_statements],
                        reference=item.candidate,
                    )
                )
                for reference_statements in statements
            )
        )
        return CheckedStatements(statements, answers)

    def score_item(self, item: Item, evidence: CheckedStatements) -> ItemScore:
        """Return the mean share of supported statements over the references with statements."""
        shares = []
        units: list[Unit] = []  # their scores are what the shares are taken of
        for place, (statements, answers) in enumerate(
            zip(evidence.statements, evidence.answers, strict=True)
        ):
            supports = mark_supported(statements, answers)
            # A reference that states nothing checkable is left out of the
            # mean.
            if supports:
                shares.append(float(np.mean(supports)))
            units += map(
                _statement_unit,
                statements,
                answers,
                supports,
                [place] * len(statements),
            )
        return ItemScore({"dsg": float(np.mean(shares))}, tuple(units))


def mark_supported(
    statements: Sequence[Statement], answers: Sequence[bool]
) -> list[bool]:
    """Return whether each statement is supported: it has a yes, and its things exist.

    Args:
        statements: Of one text. A thing is present if no statement says that it exists, or where
            that statement has a yes; that there is none of it rests on nothing.
        answers: One for each.
    """
    # A denied existence ("there is no dog") needs nothing to be there.
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


def _statement_unit(
    statement: Statement, answer: bool, is_supported: bool, reference: int
) -> Unit:
    outcome = (
        float(is_supported),
        "match" if is_supported else "omission",
        reference,
    )
    detail = {"kind": statement.kind, "answer": answer}
    return Unit(
        "statement",
        statement.text,
        "reference",
        statement.spans,
        *outcome,
        detail,
    )

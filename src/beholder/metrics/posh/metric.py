"""The metric PoSh: texts to graphs, graphs to questions, grades to scores."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from beholder.base.grouping import group_by_key
from beholder.errors import ConfigError
from beholder.judges import Grade, Judge
from beholder.judges.operations import (
    AlignWords,
    Contradict,
    Presence,
    PresenceList,
    Rewrite,
)
from beholder.language.reading import GraphReader, english_graphs_together
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.posh import scoring
from beholder.metrics.posh.plan import (
    Ask,
    Grades,
    Plan,
    distinct_places,
    fixed_asks,
)
from beholder.metrics.posh.published import Wording, as_made, f1
from beholder.metrics.wording import (
    peer_adjusted_recall,
    read_all,
    recalled_by_peers,
)
from beholder.records import Item, ItemScore
from beholder.text import word_order


@dataclass(frozen=True, slots=True)
class PoShEvidence:
    """All that scoring needs: the plan and the answers.

    Attributes:
        plan: The graphs, and all that is computed before any request.
        grades: A grade for every question.
        wordings: Wordings of candidate identifiers by a judge; empty if none was asked.
    """

    plan: Plan
    grades: Grades
    wordings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wave:
    """Questions that can be asked now.

    Attributes:
        asks: Questions.
        phrases: Candidate identifiers that wait for their wording.
    """

    asks: tuple[Ask, ...]
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True)
class PoSh(Metric[PoShEvidence]):
    """PoSh: which entities, attributes and relations are wrong, and which are missing?

    Candidate and reference become scene graphs. A judge grades from 1 to 5 for each unit of the one
    whether the other text has it. Precision (low: mistakes) is the mean over the candidate's units,
    recall (low: omissions) over the reference's, f1 their harmonic mean. These are the values of
    the units alone, whoever judges, so judges can be compared: the mean of the units' ``score``,
    each weighted by its ``detail["weight"]`` if there is one, times ``detail["in_order"]`` of the
    score (below 1 for a reference's words out of order). ``lexical_weight`` gives a share
    to a soft alignment of all words, where the judge can align them (the built-in one can).

    Range 0..1, higher is better. ``rules="fixed"`` rescales grades to 0..1 and asks for every unit;
    ``rules="reference"`` follows the published protocol: three passes, identifiers, a presence
    threshold, mean / 5 (so 0.2 is its lowest value), every unit alike.

    Several references: precision against their union (each unit's best grade). For recall, people
    choose different things to say: ``references="peers"`` sets the mean over references against
    what the references recall of one another by their words in context, which ``encoder`` compares;
    ``"best"`` is the best reference's, ``"mean"`` the mean. Under ``rules="reference"`` peers are
    not looked at, and the best counts.
    ``asking="list"`` puts all units of a side to a model in one question, with quotes as evidence;
    ``"auto"`` does so for models that return no log-probabilities, whose grades of one unit take
    several answers. The signature names which of the two was used.

    Source: the PoSh paper (PoSh: Using Scene Graphs To Guide LLMs-as-a-Judge For Detailed Image
    Descriptions, 2025); see ``docs/posh.md`` for what ``rules="fixed"`` changes and why.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    judge: str = param(
        "builtin", "who grades: builtin, or a model", tool="judge"
    )
    rules: Literal["fixed", "reference"] = param("fixed", "rule set")
    presence_threshold: float | None = param(
        None,
        "grade from 1 to 5 from which a unit is present; None: that of the judge's scale",
        number=(1, 5),
    )
    identifiers: Literal["rules", "judge"] = param(
        "rules",
        "rules='reference': who words names of several words, such as 'tall man'",
    )
    parser: str = param(
        "builtin",
        "English parser of the graphs: builtin or spacy:NAME",
        tool="parser",
    )
    coref: str = param(
        "builtin",
        "coreference of the graphs: builtin, none, fastcoref, or a registered name",
        tool="coreference",
    )
    weighting: Literal["information", "equal"] = param(
        "information",
        "rules='fixed': units count by the information of their words, contradicted ones five"
        " times; equal: each counts once, the plain mean of the paper",
    )
    entity_weight: float = param(1.0, "rules='fixed': weight of entities")
    attribute_weight: float = param(1.0, "rules='fixed': weight of attributes")
    relation_weight: float = param(1.0, "rules='fixed': weight of relations")
    lexical_weight: float = param(
        0.0,
        "rules='fixed', judge='builtin': share of word alignment in precision and recall",
        number=(0, 1),
    )
    references: Literal["peers", "best", "mean"] = param(
        "peers", "recall over references"
    )
    encoder: str = param(
        "minilm",
        "references='peers': encoder of words in context: minilm, hf:NAME",
        tool="encoder",
    )
    contradictions: bool = param(
        True,
        "rules='fixed': ask a model, once a reference, what is said instead of unstated units",
    )
    asking: Literal["auto", "one", "list"] = param(
        "auto",
        "rules='fixed': ask a model about one unit per question, or about a list of them; auto: a"
        " list if it returns no log-probabilities",
    )

    registered_name = "posh"
    operations = ("presence", "presence_list", "rewrite", "contradict")
    bounds = Bounds(characters=100_000, compares="words")
    values = (
        ValueInfo("f1", "harmonic mean of precision and recall"),
        ValueInfo(
            "precision",
            "mean grade of the candidate's units; low for mistakes",
        ),
        ValueInfo(
            "recall", "mean grade of the reference's units; low for omissions"
        ),
        *scoring.RATES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.asking == "list" and self.rules == "reference":
            raise ConfigError(
                "asking='list' needs rules='fixed': the published protocol asks about one unit at"
                " a time"
            )
        kinds = tuple(self._weights.values())
        if min(kinds) < 0 or not sum(kinds) > 0:
            raise ConfigError(
                f"weights {kinds}: expected numbers from 0, at least one above it"
            )

    @property
    def _weights(self) -> dict[str, float]:
        kinds = ("entity", "attribute", "relation")
        return {kind: getattr(self, f"{kind}_weight") for kind in kinds}

    def threshold(self, judge: Judge) -> float:
        """Return the grade from which a unit is present: the field's, else the judge's."""
        threshold = self.presence_threshold
        return judge.presence_threshold if threshold is None else threshold

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Operations in use: rewriting under published rules alone, contradictions under ours."""
        if self.rules == "reference":
            return (
                ("presence", "rewrite")
                if self.identifiers == "judge"
                else ("presence",)
            )
        if self.asking == "list":
            return ("presence_list",)
        return (
            ("presence", "contradict")
            if self.contradictions
            else ("presence",)
        )

    def _with_form(self, judge: Judge) -> PoSh:
        """Return this metric with ``asking`` resolved to "one" or "list"."""
        if self.asking != "auto":
            return self
        # A model without log-probabilities needs several answers for the grade
        # of one unit.
        listed = (
            self.rules == "fixed"
            and not judge.grades_at_once
            and judge.can(PresenceList)
        )
        return replace(self, asking="list") if listed else self._asking_one

    @cached_property
    def _asking_one(self) -> PoSh:
        """Copy of this metric with ``asking="one"``, made once: a new one checks all fields."""
        return replace(self, asking="one")

    def other_forms(self, tools: Tools) -> tuple[PoSh, ...]:
        """Return the form with lists for single questions, or the reverse; none as published."""
        judge = tools.judge(self.judge)
        if (
            self.rules == "reference"
            or not judge.can(PresenceList)
            or not judge.can(Contradict)
        ):
            return ()
        asking = self._with_form(judge).asking
        return (replace(self, asking="one" if asking == "list" else "list"),)

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the tools, with the threshold and the form in use."""
        judge = tools.judge(self.judge)
        if self.asking == "auto":
            return self._with_form(judge).identities(tools)
        if self.rules == "reference" and self.identifiers == "judge":
            judge.check_can(Rewrite)
        if self.asking == "list":
            judge.check_can(PresenceList)
        return super().identities(tools) | {
            "presence_threshold": f"{self.threshold(judge):g}",
            "asking": self.asking,
        }

    async def gather(self, item: Item, tools: Tools) -> PoShEvidence:
        """Make the graphs and ask the judge, wave by wave.

        Raises:
            ItemError: A text is not English.
        """
        if self.asking == "auto":
            return await self._with_form(tools.judge(self.judge)).gather(
                item, tools
            )
        texts = (item.candidate, *item.references)
        self.bounds.check_words(texts, self.registered_name)
        reader = GraphReader(self.rules, self.parser, self.coref)
        candidate_graph, *reference_graphs = await english_graphs_together(
            texts, reader
        )
        judge = tools.judge(self.judge)
        words = None
        if (
            self.rules == "fixed"
            and self.lexical_weight > 0
            and judge.can(AlignWords)
        ):
            places = distinct_places(item.references)
            references = tuple(item.references[place] for place in places)
            words = await judge.ask(AlignWords(item.candidate, references))
        peers = words.peers if words else await self._peers(item, tools)
        plan = Plan(
            candidate_graph,
            tuple(reference_graphs),
            self.threshold(judge),
            words,
            peers,
        )
        grades: dict[Ask, Grade] = {}
        wordings: dict[str, str] = {}
        # The published protocol asks in waves, as later questions depend on
        # earlier grades; the fixed rules need one wave.
        while (
            wave := self.open_wave(plan, grades, wordings)
        ).asks or wave.phrases:
            worded, graded = await asyncio.gather(
                asyncio.gather(
                    *(judge.ask(Rewrite(phrase)) for phrase in wave.phrases)
                ),
                self._ask_grades(judge, plan, wave.asks),
            )
            wordings.update(zip(wave.phrases, worded, strict=True))
            grades.update(graded)
        if self.asks_instead(judge):
            grades |= await contradicted_grades(judge, plan, grades)
        return PoShEvidence(plan, grades, wordings)

    async def _ask_grades(
        self, judge: Judge, plan: Plan, asks: tuple[Ask, ...]
    ) -> Grades:
        """Return the grades of one wave."""
        by_pair = group_by_key(
            ((ask.side, ask.reference), ask) for ask in asks
        )
        operation = PresenceList if self.asking == "list" else Presence
        version = "1" if self.asks_instead(judge) else "4"
        pending = []
        for pair, group in by_pair.items():
            # Published identifiers stand alone; places in the source are ours.
            source = plan.source(*pair).text if self.rules == "fixed" else None
            questions, target = (
                [ask.question for ask in group],
                plan.target(*pair).text,
            )
            pending.append(
                judge.ask(operation(questions, target, source, version))
            )
        answers = await asyncio.gather(*pending)
        # Lists report contradictions as well; they are dropped where they are
        # not wanted.
        listed = self.asking == "list" and not self.contradictions
        return {
            ask: replace(grade, contradiction="") if listed else grade
            for group, pair_grades in zip(
                by_pair.values(), answers, strict=True
            )
            for ask, grade in zip(group, pair_grades, strict=True)
        }

    async def _peers(self, item: Item, tools: Tools) -> float:
        """Return the mean recall among the references; 1 where it is not used."""
        texts = [
            item.references[place]
            for place in distinct_places(item.references)
        ]
        if (
            len(texts) == 1
            or self.references != "peers"
            or self.rules != "fixed"
        ):
            return 1.0
        return recalled_by_peers(
            await read_all(texts, tools.encoder(self.encoder))
        )

    def asks_instead(self, judge: Judge) -> bool:
        """Return whether contradictions need a question: the built-in judge reports them itself."""
        by_itself = (
            self.rules == "fixed"
            and self.asking != "list"
            and self.contradictions
        )
        return by_itself and judge.can(Contradict)

    def open_wave(
        self,
        plan: Plan,
        grades: Grades,
        wordings: Mapping[str, str] | None = None,
    ) -> Wave:
        """Return the questions that scoring needs and that can be asked now; empty when done.

        Args:
            plan: The graphs of the texts.
            grades: The grades known so far.
            wordings: Wordings of candidate identifiers so far.
        """
        if self.rules == "fixed":
            return Wave(() if grades else tuple(fixed_asks(plan)))
        wording = self._wording(wordings or {})
        asks: list[Ask] = []
        phrases: dict[str, None] = {}
        for side, reference in plan.pairs():
            step = plan.advance(side, reference, grades, wording)
            asks += [Ask(side, reference, question) for question in step.open]
            phrases |= dict.fromkeys(step.phrases)
        return Wave(tuple(asks), tuple(phrases))

    def _wording(self, wordings: Mapping[str, str]) -> Wording:
        return wordings.get if self.identifiers == "judge" else as_made

    def score_item(self, item: Item, evidence: PoShEvidence) -> ItemScore:
        """Score the plan from the grades."""
        score = self.score_answers(
            evidence.plan, evidence.grades, evidence.wordings
        )
        # ``evaluate`` signs by the tools in use; the signature here does not
        # know them.
        return replace(score, signature="")

    def score_answers(
        self,
        plan: Plan,
        grades: Grades,
        wordings: Mapping[str, str] | None = None,
    ) -> ItemScore:
        """Score a plan from ready grades.

        Args:
            plan: The graphs of the texts.
            grades: A grade for every question that ``open_wave`` names.
            wordings: Wordings of candidate identifiers, where a judge was asked.

        Returns:
            Values, units with spans and verdicts, and the graphs in ``detail``.

        Raises:
            ItemError: No reference names anything (``rules="fixed"``).
        """
        order_factor = 1.0
        if self.rules == "reference":
            precision, recall = self._score_published(
                plan, grades, self._wording(wordings or {})
            )
            p, r = precision.value, recall.value
        else:
            weighing = scoring.Weighing(
                self._weights, self.weighting == "information"
            )
            rule: Literal["best", "mean"] = (
                "best" if self.references == "best" else "mean"
            )
            recall = scoring.fixed_recall(plan, grades, weighing, rule)
            precision = scoring.fixed_precision(plan, grades, weighing)
            p, r = self._beside_words(plan, precision.value, recall.value)
            texts = [graph.text for graph in plan.references]
            # A reference's words in another order still make most of its
            # units.
            order_factor = word_order.in_order(plan.candidate.text, texts)
            p, r = order_factor * p, order_factor * r
        values = {"f1": f1(p, r), "precision": p, "recall": r}
        values |= scoring.rates(precision.units, recall.units)
        units = (*precision.units, *recall.units)
        detail = scoring.graphs_detail(plan, units, order_factor)
        return ItemScore(values, units, self.signature(), detail)

    def _beside_words(
        self, plan: Plan, p: float, r: float
    ) -> tuple[float, float]:
        """Mix the word alignment into precision and recall, then adjust recall by the peers'."""
        aligned = plan.lexical_alignment
        if aligned is not None:
            over = max if self.references == "best" else np.mean
            p += self.lexical_weight * (aligned.precision - p)
            r += self.lexical_weight * (float(over(aligned.recalls)) - r)
        if self.references == "peers":
            r = peer_adjusted_recall(r, plan.peers)
        return p, r

    def _score_published(
        self, plan: Plan, grades: Grades, wording: Wording
    ) -> tuple[scoring.ScoredSide, scoring.ScoredSide]:
        """Return both sides under the published rules; precision is that of the best pair."""
        places = plan.distinct
        forward = [
            scoring.published_side(plan, grades, "candidate", i, wording)
            for i in places
        ]
        back = [
            scoring.published_side(plan, grades, "reference", i, wording)
            for i in places
        ]
        recalls = [side.value for side in back]
        recall = max(recalls)
        if self.references == "mean":
            recall = math.fsum(recalls) / len(recalls)
        units = tuple(unit for side in back for unit in side.units)
        return max(forward, key=_closeness), scoring.ScoredSide(recall, units)


def _closeness(side: scoring.ScoredSide) -> tuple[float, int]:
    """Return the value, then the number of matches: the order of references breaks no tie."""
    return side.value, sum(unit.verdict == "match" for unit in side.units)


async def contradicted_grades(
    judge: Judge, plan: Plan, grades: Grades
) -> dict[Ask, Grade]:
    """Return changed grades of unstated units: those that a reference contradicts.

    One question per reference, about all units that no reference states.

    Args:
        judge: A judge that answers ``Contradict``.
        plan: The graphs of the texts.
        grades: A grade for every unit against every reference.

    Returns:
        The grades that change: those of units that a reference contradicts.
    """
    places = plan.distinct
    # Only what no reference states can be contradicted.
    questions = [
        question
        for _, question in plan.questions[0]
        if all(
            grades[Ask("candidate", i, question)].value < plan.threshold
            for i in places
        )
    ]
    targets = [plan.target("candidate", i).text for i in places]
    answers = await asyncio.gather(
        *(judge.ask(Contradict(questions, target)) for target in targets)
    )
    changed_grades = {}
    for reference, target, contradicted_places in zip(
        places, targets, answers, strict=True
    ):
        for question, place in zip(
            questions, contradicted_places, strict=True
        ):
            if place is not None:
                ask = Ask("candidate", reference, question)
                words = " ".join(target[slice(*place)].split())
                changed_grades[ask] = replace(
                    grades[ask], contradiction=words, where=(place,)
                )
    return changed_grades

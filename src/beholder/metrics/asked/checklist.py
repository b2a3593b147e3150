"""The metric checklist: criteria of a row, compared with the candidate."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from beholder.errors import ConfigError, ItemError
from beholder.judges.operations import CheckCriteria, TextAnswer
from beholder.judges.operations.answer import CONTRADICTED, MET, NOT_MENTIONED
from beholder.metrics.asked.rows import Criterion, criteria_of, in_parts
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore, Unit
from beholder.text.languages import language_named

UNREAD = "unread"


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """What a judge said of an item's criteria.

    Attributes:
        criteria: The criteria, in order.
        answers: One for each; None where the judge gave no usable row.
        identities: Identity of each tool by the field that names it.
    """

    criteria: Sequence[Criterion]
    answers: Sequence[TextAnswer | None]
    identities: Mapping[str, str]


@dataclass(frozen=True)
class Checklist(Metric[Checked]):
    """Criteria of a row against the candidate: met, contradicted or not mentioned.

    The row's field ``criteria`` holds statements (key points, events) with optional weights, and
    rules, which are demands on the text itself. A judge reads the candidate alone and quotes its
    evidence. With weights and with M, C and N the sums of what is met, contradicted and not
    mentioned among the facts, accuracy is M / (M + C + N), coverage (M + C) / (M + C + N) and
    precision M / (M + C). Rules enter ``weighted`` alone. Range 0..1, higher is better, save for
    ``wrong`` and ``unread``.

    ``rules="capricorn"``: equal texts count once, weights are ignored, and a criterion without a
    usable answer counts as not mentioned. ``rules="capability"``: weights are ignored, and an
    undefined precision or f1 is 0. Prompts are our own under all rules, and so are judges.

    Source: CapRiCorn-1K (Acc, Cov), CAPability (precision, recall, hit rate, F1).

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param("builtin", "who checks: builtin (English), or a model", tool="judge")
    rules: Literal["own", "capricorn", "capability"] = param("own", "whose counting")
    at_once: int = param(10, "criteria per question to the judge")

    registered_name: ClassVar[str] = "checklist"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("accuracy", "weight of the criteria that are met, of all"),
        ValueInfo("coverage", "weight of the criteria that are met or contradicted, of all"),
        ValueInfo("precision", "weight of the criteria that are met, of met and contradicted"),
        ValueInfo("f1", "harmonic mean of accuracy and precision"),
        ValueInfo("hit", "number of criteria that are met or contradicted, of all"),
        ValueInfo("wrong", "weight of contradicted criteria, of all", higher_is_better=False),
        ValueInfo("weighted", "weight of what is met, rules too, of all positive weights"),
        ValueInfo("unread", "share of criteria without a usable answer", higher_is_better=False),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset()
    operations: ClassVar[tuple[str, ...]] = ("check_criteria",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_once(self.at_once)

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(CheckCriteria)
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """Refuse an item without criteria; an empty candidate mentions none of them."""
        criteria_of(item)

    async def gather(self, item: Item, tools: Tools) -> Checked:
        """Ask the judge, a part of the criteria at a time; nothing about an empty candidate."""
        identities = self.identities(tools)
        criteria = criteria_of(item)
        if self.rules == "capricorn":
            criteria = list({one.text: one for one in reversed(criteria)}.values())[::-1]
        if not item.candidate.strip():
            return Checked(criteria, [TextAnswer(NOT_MENTIONED)] * len(criteria), identities)
        judge, language = tools.judge(self.judge), language_named(item.language)

        def ask(part: Sequence[Criterion]) -> Awaitable[Sequence[TextAnswer | None]]:
            rules = frozenset(i for i, one in enumerate(part) if one.kind == "rule")
            texts = [one.text for one in part]
            return judge.ask(CheckCriteria(texts, item.candidate, rules, language))

        return Checked(criteria, await in_parts(criteria, self.at_once, ask), identities)

    def score_item(self, item: Item, evidence: Checked) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any criterion.
        """
        pairs = list(zip(evidence.criteria, evidence.answers, strict=True))
        n_unread = sum(answer is None for _, answer in pairs)
        if n_unread == len(pairs):
            raise ItemError(
                f"the judge gave no usable answer to any of the {len(pairs)} criteria, also when"
                " asked again"
            )
        silent = NOT_MENTIONED if self.rules == "capricorn" else UNREAD
        said = [(one, answer.state or silent if answer else silent) for one, answer in pairs]
        facts = [(one, state) for one, state in said if one.kind == "fact" and state != UNREAD]
        values = self._shares(facts)
        possible = sum(max(one.weight, 0.0) for one, state in said if state != UNREAD)
        if possible:
            gained = sum(one.weight for one, state in said if state == MET)
            values["weighted"] = min(1.0, max(0.0, gained / possible))
        values["unread"] = n_unread / len(pairs)
        dimensions = sorted({dimension(one) for one, _ in facts} - {""})
        detail: dict[str, Any] = {
            "states": {s: sum(t == s for _, t in said) for s in (MET, CONTRADICTED, NOT_MENTIONED)},
            "unread": [one.id for one, answer in pairs if answer is None],
            "ties": [one.id for one, answer in pairs if answer and answer.tied],
            "by_dimension": {
                name: self._shares([pair for pair in facts if dimension(pair[0]) == name])
                for name in dimensions
            },
        }
        units = tuple(_unit(one, answer) for one, answer in pairs)
        return ItemScore(values, units, self.signature(evidence.identities), detail)

    def _shares(self, facts: Sequence[tuple[Criterion, str]]) -> dict[str, float]:
        """The values of facts with their states; what is not defined is left out."""
        plain = self.rules != "own"
        sums = dict.fromkeys((MET, CONTRADICTED, NOT_MENTIONED), 0.0)
        for one, state in facts:
            sums[state] += 1.0 if plain else one.weight
        total, spoken = sum(sums.values()), sums[MET] + sums[CONTRADICTED]
        if not total:
            return {}
        values = {"accuracy": sums[MET] / total, "coverage": spoken / total}
        if spoken:
            values["precision"] = sums[MET] / spoken
            both = values["accuracy"] + values["precision"]
            values["f1"] = 2 * values["accuracy"] * values["precision"] / both if both else 0.0
        elif self.rules == "capability":
            values |= {"precision": 0.0, "f1": 0.0}
        values["hit"] = sum(state != NOT_MENTIONED for _, state in facts) / len(facts)
        values["wrong"] = sums[CONTRADICTED] / total
        return values


def check_at_once(at_once: int) -> None:
    """Refuse a number of items per question that is out of range."""
    if type(at_once) is not int or not 1 <= at_once <= 100:
        raise ConfigError(f"at_once={at_once!r}: expected a whole number from 1 to 100")


def dimension(criterion: Criterion) -> str:
    """What a criterion is about."""
    return criterion.dimension or criterion.category


def _unit(criterion: Criterion, answer: TextAnswer | None) -> Unit:
    state = UNREAD if answer is None else str(answer.state)
    detail: dict[str, Any] = {"id": criterion.id, "weight": criterion.weight}
    if dimension(criterion):
        detail["dimension"] = dimension(criterion)
    if answer is not None and answer.tied:
        detail["tied"] = True
    if state in (MET, CONTRADICTED):
        detail["verified"] = state == MET  # what annotation proposes
    score = None if answer is None else float(state == MET)
    spans = answer.spans if answer else ()
    verdict = state.replace(" ", "_")
    return Unit("statement", criterion.text, "candidate", spans, score, verdict, None, detail)

"""The metric qa: questions of a row, answered from the candidate alone."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges.operations import AnswerQuestions, TextAnswer, TextQuestion, Verify
from beholder.metrics.asked.checklist import UNREAD, check_at_once
from beholder.metrics.asked.rows import QuestionRow, in_parts, questions_of
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore, Unit
from beholder.text.languages import language_named

RIGHT, WRONG, NOT_SAID = "right", "wrong", "not said"
CANNOT = "The description does not say."
"""The option that CaptionQA's rules add."""

_BONUS = 0.05
_YES_NO = re.compile(
    r"(is|are|was|were|do|does|did|have|has|had|can|could|will|would|should|shall|may|might|must) "
)
_OWN = (
    ValueInfo("accuracy", "share of questions answered rightly"),
    ValueInfo("answered", "share of questions answered at all"),
    ValueInfo("wrong", "share of questions answered wrongly", higher_is_better=False),
    ValueInfo("precision", "share of answered questions that are answered rightly"),
    ValueInfo("unread", "share of questions without a usable answer", higher_is_better=False),
)
_PUBLISHED: Mapping[str, tuple[ValueInfo, ...]] = {
    "own": (),
    "captionqa": (ValueInfo("captionqa", "right 1, cannot answer 1/n + 0.05, wrong 0"),),
    "vdc": (ValueInfo("vdc", "share of right answers; silence is wrong"),),
    "vcapsbench": (
        ValueInfo("ar", "right answers, of all"),
        ValueInfo("ir", "wrong answers, of those given", higher_is_better=False),
        ValueInfo("cr", "answers given, of all"),
    ),
}
_POOLED: Mapping[str, tuple[ValueInfo, ...]] = {
    "captionqa": (ValueInfo("captionqa_pooled", "mean over all questions of the set"),),
    "vcapsbench": tuple(
        ValueInfo(f"{v.name}_pooled", f"{v.help}; of the set", higher_is_better=v.higher_is_better)
        for v in _PUBLISHED["vcapsbench"]
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What a judge answered to an item's questions.

    Attributes:
        questions: The questions that the rules know, in order.
        states: ``right``, ``wrong``, ``not said`` or ``unread`` of each.
        answers: What the judge said; None where it gave no usable row.
        n_other: Questions that the rules do not know.
        identities: Identity of each tool by the field that names it.
    """

    questions: Sequence[QuestionRow]
    states: Sequence[str]
    answers: Sequence[TextAnswer | None]
    n_other: int
    identities: Mapping[str, str]


@dataclass(frozen=True)
class QA(Metric[Answered]):
    """Questions of a row, answered by a judge that reads the candidate and sees nothing.

    The row's field ``questions`` holds multiple-choice, yes/no or open questions with answers. An
    answer is right, wrong or "not said"; the judge quotes its evidence. Open answers are compared
    with the right ones in a second question to the judge. Options are shuffled per question from
    the row's id, the question's id and the seed, so other rows do not change the order. Range
    0..1, higher is better, save for ``wrong``, ``ir`` and ``unread``.

    ``rules`` puts the published score first. ``"captionqa"``: "cannot answer" is one more option
    of all but yes/no questions and gives 1/n + 0.05 of n options. ``"vdc"``: open questions alone,
    silence is wrong. ``"vcapsbench"``: yes/no questions alone; AR, IR and CR. Questions of other
    kinds are left out of these and counted. Prompts and order of options are our own.

    Source: CaptionQA (CVPR 2026), VDC (AuroraCap), VCapsBench (AAAI 2026).

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(help="who answers: a model; the built-in judge cannot", tool="judge")
    rules: Literal["own", "captionqa", "vdc", "vcapsbench"] = param("own", "whose counting")
    seed: int = param(0, "of the order of options")
    at_once: int = param(10, "questions per call of the judge; captionqa published 1")

    registered_name: ClassVar[str] = "qa"
    values: ClassVar[tuple[ValueInfo, ...]] = _OWN
    required_fields: ClassVar[frozenset[str]] = frozenset()
    operations: ClassVar[tuple[str, ...]] = ("answer_questions", "verify")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_once(self.at_once)
        object.__setattr__(self, "values", (*_PUBLISHED[self.rules], *_OWN))
        object.__setattr__(self, "corpus_values", _POOLED.get(self.rules, ()))

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """``verify`` only where the rules know open questions."""
        return self.operations if self.rules in ("own", "vdc") else self.operations[:1]

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        judge = tools.judge(self.judge)
        judge.check_can(AnswerQuestions)
        judge.check_can(Verify)
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """Refuse an item without questions that the rules know; a candidate may be empty."""
        if not any(self._knows(row) for row in questions_of(item)):
            raise ItemError(f"rules={self.rules!r} knows none of the questions of this item")

    async def gather(self, item: Item, tools: Tools) -> Answered:
        """Ask the judge, a part of the questions at a time; nothing about an empty candidate."""
        identities = self.identities(tools)
        every = questions_of(item)
        rows = [row for row in every if self._knows(row)]
        n_other = len(every) - len(rows)
        if not item.candidate.strip():
            silent = [TextAnswer(None)] * len(rows)
            states = [NOT_SAID if self._third(row) else WRONG for row in rows]
            return Answered(rows, states, silent, n_other, identities)
        judge, language = tools.judge(self.judge), language_named(item.language)

        def ask(part: Sequence[TextQuestion]) -> Awaitable[Sequence[TextAnswer | None]]:
            return judge.ask(AnswerQuestions(part, item.candidate, language))

        answers = await in_parts([self._shown(item, row) for row in rows], self.at_once, ask)
        said = [
            i for i, row in enumerate(rows) if not row.options and (a := answers[i]) and a.state
        ]
        same: dict[int, bool] = {}
        if said:
            claims = [f"{rows[i].question} Answer: {_state(answers[i])}" for i in said]
            right = "\n".join(f"{rows[i].question} Answer: {rows[i].answer}" for i in said)
            verdicts = await judge.ask(Verify(claims, reference=right, language=language))
            same = dict(zip(said, verdicts, strict=True))
        states = [
            _verdict(row, answer, same.get(i, False))
            for i, (row, answer) in enumerate(zip(rows, answers, strict=True))
        ]
        return Answered(rows, states, answers, n_other, identities)

    def score_item(self, item: Item, evidence: Answered) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any question.
        """
        pairs = list(zip(evidence.questions, evidence.states, strict=True))
        n_unread = sum(state == UNREAD for _, state in pairs)
        if n_unread == len(pairs) or (n_unread and self.rules == "vdc"):
            raise ItemError(
                f"the judge gave no usable answer to {n_unread} of {len(pairs)} questions, also"
                " when asked again"
            )
        sums = _sums(pairs)
        detail: dict[str, Any] = {
            "states": {s: sum(t == s for _, t in pairs) for s in (RIGHT, WRONG, NOT_SAID)},
            "unread": [row.id for row, state in pairs if state == UNREAD],
            "ties": [
                row.id
                for row, answer in zip(evidence.questions, evidence.answers, strict=True)
                if answer and answer.tied
            ],
            "left_out": evidence.n_other,
            "by_category": {
                name: _shares(_sums([p for p in pairs if category(p[0]) == name]))
                for name in sorted({category(row) for row, _ in pairs} - {""})
            },
        }
        published: dict[str, float] = {}
        if self.rules == "captionqa":
            gained = sum(row.weight * self._credit(row, state) for row, state in pairs)
            detail["statistics"] = [gained, sum(row.weight for row, _ in pairs)]
        elif self.rules == "vcapsbench":
            detail["statistics"] = [sums[RIGHT], sums[WRONG], sums[NOT_SAID]]
        if "statistics" in detail:
            published = self._published(detail["statistics"])
        elif self.rules == "vdc":
            published = {"vdc": sums[RIGHT] / sum(sums.values())}
        values = {**published, **_shares(sums), "unread": n_unread / len(pairs)}
        units = map(_unit, evidence.questions, evidence.states, evidence.answers)
        return ItemScore(values, tuple(units), self.signature(evidence.identities), detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """The published scores over all questions of the set."""
        pooled = self._published([float(value) for value in statistics])
        return {f"{name}_pooled": value for name, value in pooled.items()}

    def _published(self, counts: Sequence[float]) -> dict[str, float]:
        if self.rules == "captionqa":
            return {"captionqa": counts[0] / counts[1]}
        right, wrong, silent = counts
        total, given = right + wrong + silent, right + wrong
        ir = {"ir": wrong / given} if given else {}
        return {"ar": right / total, **ir, "cr": given / total}

    def _knows(self, row: QuestionRow) -> bool:
        if self.rules == "vcapsbench":
            return {option.lower() for option in row.options} == {"yes", "no"}
        return self.rules == "own" or bool(row.options) == (self.rules == "captionqa")

    def _third(self, row: QuestionRow) -> bool:
        """Whether the judge may say that the text does not answer."""
        if self.rules == "vdc":
            return False
        if row.third is not None:
            return row.third
        return self.rules != "captionqa" or not _is_yes_no(row)

    def _shown(self, item: Item, row: QuestionRow) -> TextQuestion:
        options, third = list(row.options), self._third(row)
        if self.rules == "captionqa" and third:
            options, third = [*options, CANNOT], False
        key = "\0".join((item.id, row.id, str(self.seed)))
        order = random.Random(hashlib.sha256(key.encode("utf-8")).digest())  # noqa: S311
        order.shuffle(options)
        return TextQuestion(row.question, tuple(options), third)

    def _credit(self, row: QuestionRow, state: str) -> float:
        return {RIGHT: 1.0, NOT_SAID: 1 / len(row.options) + _BONUS}.get(state, 0.0)


def category(row: QuestionRow) -> str:
    """What a question is about."""
    return row.category if isinstance(row.category, str) else next(iter(row.category), "")


def _is_yes_no(row: QuestionRow) -> bool:
    """As CaptionQA guesses it, from the options or from the first word."""
    options = [option.lower() for option in row.options]
    both = all(any(word in option for option in options) for word in ("yes", "no"))
    return both or _YES_NO.match(row.question.lower()) is not None


def _state(answer: TextAnswer | None) -> str | None:
    return None if answer is None else answer.state


def _verdict(row: QuestionRow, answer: TextAnswer | None, same: bool) -> str:
    if answer is None:
        return UNREAD
    if answer.state is None or (row.options and answer.state == CANNOT):
        return NOT_SAID
    return RIGHT if same or (row.options and answer.state == row.answer) else WRONG


def _sums(pairs: Sequence[tuple[QuestionRow, str]]) -> dict[str, float]:
    sums = dict.fromkeys((RIGHT, WRONG, NOT_SAID), 0.0)
    for row, state in pairs:
        if state != UNREAD:
            sums[state] += row.weight
    return sums


def _shares(sums: Mapping[str, float]) -> dict[str, float]:
    total, given = sum(sums.values()), sums[RIGHT] + sums[WRONG]
    if not total:
        return {}
    precision = {"precision": sums[RIGHT] / given} if given else {}
    return {
        "accuracy": sums[RIGHT] / total,
        "answered": given / total,
        "wrong": sums[WRONG] / total,
        **precision,
    }


def _unit(row: QuestionRow, state: str, answer: TextAnswer | None) -> Unit:
    detail: dict[str, Any] = {"id": row.id, "right": row.answer, "answer": _state(answer)}
    if category(row):
        detail["category"] = category(row)
    if answer is not None and answer.tied:
        detail["tied"] = True
    score = None if state == UNREAD else float(state == RIGHT)
    spans = answer.spans if answer else ()
    verdict = state.replace(" ", "_")
    return Unit("question", row.question, "candidate", spans, score, verdict, None, detail)

"""The metric qa: questions of a row, answered from the candidate alone."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges import operations as ops
from beholder.judges.operations.answer import is_silent_option
from beholder.judges.operations.match_answers import HIGHEST_GRADE
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.asked import rows
from beholder.records import Item, ItemScore, Unit
from beholder.text.languages import language_named

CANNOT = "The description does not say."
"""The option that CaptionQA's rules add."""

_BONUS = 0.05
_YES_NO = re.compile(
    r"(is|are|was|were|do|does|did|have|has|had|can|could|will|would|should|shall|may|might|must) "
)
_COMMON_VALUES = (
    ValueInfo("accuracy", "share of questions answered rightly"),
    ValueInfo("answered", "share of questions answered at all"),
    ValueInfo(
        "wrong", "share of questions answered wrongly", higher_is_better=False
    ),
    ValueInfo(
        "precision", "share of answered questions that are answered rightly"
    ),
    ValueInfo("grade", "mean grade of open answers, of 5; silence 0"),
    ValueInfo(
        "unread",
        "share of questions without a usable answer",
        higher_is_better=False,
    ),
    rows.CHANGED,
)
_STATES = (rows.RIGHT, rows.WRONG, rows.NOT_SAID)
_PUBLISHED: Mapping[str, tuple[ValueInfo, ...]] = {
    "own": (),
    "captionqa": (
        ValueInfo("captionqa", "right 1, cannot answer 1/n + 0.05, wrong 0"),
    ),
    "vdc": (
        ValueInfo("vdc", "share of right answers; silence is wrong"),
        ValueInfo(
            "vdc_score", "mean grade of the answers", high=float(HIGHEST_GRADE)
        ),
    ),
    "vcapsbench": (
        ValueInfo("ar", "right answers, of all"),
        ValueInfo(
            "ir", "wrong answers, of those given", higher_is_better=False
        ),
        ValueInfo("cr", "answers given, of all"),
    ),
}
_POOLED: Mapping[str, tuple[ValueInfo, ...]] = {
    "captionqa": (
        ValueInfo("captionqa_pooled", "mean over all questions of the set"),
        ValueInfo(
            "accuracy_pooled", "right answers, of all questions of the set"
        ),
        ValueInfo(
            "cannot_pooled",
            "questions not answered, of all",
            higher_is_better=False,
        ),
    ),
    "vcapsbench": tuple(
        ValueInfo(
            f"{v.name}_pooled",
            f"{v.help}; of the set",
            higher_is_better=v.higher_is_better,
        )
        for v in _PUBLISHED["vcapsbench"]
    ),
}


@dataclass(frozen=True)
class QA(Metric[Sequence[rows.AnsweredRow[rows.QuestionRow]]]):
    """Questions of a row, answered by a judge that reads only the candidate.

    The row's field ``questions`` holds multiple-choice, yes/no or open questions with answers. An
    answer is right, wrong or "not said"; the judge quotes its evidence. Open answers are compared
    with the right ones and graded in a second question to the judge. Options are shuffled per
    question from the row's id, the question's id and the seed, so other rows do not change the
    order. An option that says, in English, that the text does not answer counts as "not said",
    unless it is the right one. Range 0..1 (``vdc_score`` 0..5), higher is better, save for
    ``wrong``, ``ir``, ``unread`` and ``changed``.

    ``rules`` puts the published score first. ``"captionqa"``: "cannot answer" is one more option
    of all but yes/no questions and gives 1/n + 0.05 of n options. ``"vdc"``: open questions alone,
    silence is wrong; the mean grade, 0..5, beside. ``"vcapsbench"``: yes/no questions alone; AR,
    IR and CR. Questions of other kinds are left out of these and counted. Prompts and order of
    options are our own.

    Source: CaptionQA (CVPR 2026), VDC (AuroraCap), VCapsBench (AAAI 2026).

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(
        help="who answers: a model; the built-in judge cannot", tool="judge"
    )
    rules: Literal["own", "captionqa", "vdc", "vcapsbench"] = param(
        "own", "whose counting"
    )
    seed: int = param(0, "of the order of options")
    at_once: int = param(
        10,
        "questions per call of the judge; captionqa published 1",
        whole=(1, 100),
    )

    registered_name = "qa"
    values = _COMMON_VALUES
    required_fields = frozenset()
    needs = (ops.AnswerQuestions, ops.MatchAnswers)
    foresees_calls = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "values", (*_PUBLISHED[self.rules], *_COMMON_VALUES)
        )
        object.__setattr__(self, "corpus_values", _POOLED.get(self.rules, ()))

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Operations in use; ``match_answers`` only where the rules have open questions."""
        return (
            self.operations
            if self.rules in ("own", "vdc")
            else self.operations[:1]
        )

    def check_row(self, item: Item) -> None:
        """Refuse a row with malformed questions."""
        rows.check_asked(item, "questions")

    def check_item(self, item: Item) -> None:
        """Refuse an item without questions that the rules know; a candidate may be empty."""
        if not any(self._knows(row) for row in rows.questions_of(item)):
            raise ItemError(
                f"rules={self.rules!r} knows none of the questions of this item"
            )

    async def gather(
        self, item: Item, tools: Tools
    ) -> Sequence[rows.AnsweredRow[rows.QuestionRow]]:
        """Ask the judge, a part of the questions at a time; nothing about an empty candidate."""
        judge = tools.judge(self.judge)
        question_rows = [
            row for row in rows.questions_of(item) if self._knows(row)
        ]
        language = language_named(item.language)

        def ask(
            part: Sequence[ops.TextQuestion],
        ) -> Awaitable[Sequence[ops.TextAnswer]]:
            return judge.ask(
                ops.AnswerQuestions(part, item.candidate, language)
            )

        def match(
            part: Sequence[ops.OpenAnswer],
        ) -> Awaitable[Sequence[ops.AnswerMatch]]:
            return judge.ask(ops.MatchAnswers(part, language))

        answers: list[ops.TextAnswer] = [ops.TextAnswer(None)] * len(
            question_rows
        )
        if item.candidate.strip():
            answers = await rows.in_parts(
                [self._text_question(item, row) for row in question_rows],
                self.at_once,
                ask,
            )
        # Only an open question with an answer is compared with the right one.
        open_answers = [
            ops.OpenAnswer(row.question, str(row.answer), answer.state)
            for row, answer in zip(question_rows, answers, strict=True)
            if not row.options and answer.state
        ]
        matches = iter(await rows.in_parts(open_answers, self.at_once, match))
        return [
            self._check_answer(row, answer, matches)
            for row, answer in zip(question_rows, answers, strict=True)
        ]

    def score_item(
        self,
        item: Item,
        evidence: Sequence[rows.AnsweredRow[rows.QuestionRow]],
    ) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any question.
        """
        answered_rows = evidence
        # VDC divides by all questions, so an unread one would count as wrong.
        answer_values = rows.answer_quality(answered_rows, "questions")
        if answer_values[rows.UNREAD] and self.rules == "vdc":
            raise ItemError(
                f"the judge gave no usable answer to {answer_values[rows.UNREAD]:.0%} of the"
                " questions, also when asked again; rules='vdc' leaves such a text out"
            )
        sums = rows.sums_of(answered_rows, _STATES)
        detail = rows.answer_detail(answered_rows, _STATES) | {
            "left_out": len(rows.questions_of(item)) - len(answered_rows),
            "by_category": {
                name: rows.shares(
                    rows.sums_of(group_rows, _STATES), "answered"
                )
                for name, group_rows in rows.by_group(answered_rows).items()
            },
        }
        published: dict[str, float] = {}
        if self.rules == "captionqa":
            gained = sum(
                answered_row.row.weight * self._credit(answered_row)
                for answered_row in answered_rows
            )
            total = sum(
                answered_row.row.weight for answered_row in answered_rows
            )
            detail["statistics"] = [gained, sums[0], sums[2], total]
            published = {"captionqa": gained / total}
        elif self.rules == "vcapsbench":
            detail["statistics"] = sums
            published = _vcapsbench(sums)
        elif self.rules == "vdc":
            published = {"vdc": sums[0] / sum(sums)}
        values = published | rows.shares(sums, "answered") | answer_values
        graded = [
            (answered_row.row.weight, answered_row.grade)
            for answered_row in answered_rows
            if answered_row.grade is not None
        ]
        if graded:
            grade = sum(w * grade for w, grade in graded) / sum(
                w for w, _ in graded
            )
            values["grade"] = grade / HIGHEST_GRADE
            if self.rules == "vdc":
                values["vdc_score"] = grade
        units = tuple(_unit(answered_row) for answered_row in answered_rows)
        return ItemScore(values, units, detail=detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return the published scores over all questions of the set."""
        sums = [float(value) for value in statistics]
        if self.rules == "captionqa":
            shares_of = zip(_POOLED["captionqa"], sums[:3], strict=True)
            return {info.name: value / sums[3] for info, value in shares_of}
        return {
            f"{name}_pooled": value
            for name, value in _vcapsbench(sums).items()
        }

    def _knows(self, row: rows.QuestionRow) -> bool:
        # VCapsBench has yes/no questions alone, CaptionQA options, VDC open
        # questions.
        if self.rules == "vcapsbench":
            return {option.lower() for option in row.options} == {"yes", "no"}
        return self.rules == "own" or bool(row.options) == (
            self.rules == "captionqa"
        )

    def _offers_silence(self, row: rows.QuestionRow) -> bool:
        """Return whether the judge may say that the text does not answer."""
        if self.rules == "vdc":
            return False
        if row.third is not None:
            return row.third
        return self.rules != "captionqa" or not _is_yes_no(row)

    def _text_question(
        self, item: Item, row: rows.QuestionRow
    ) -> ops.TextQuestion:
        options, third = list(row.options), self._offers_silence(row)
        # CaptionQA writes silence as one more option, unless there is one
        # already.
        if self.rules == "captionqa" and third:
            third = False
            if not any(map(is_silent_option, options)):
                options.append(CANNOT)
        # Seeded by the ids, so that the order of options does not depend on
        # other rows.
        key = "\0".join((item.id, row.id, str(self.seed)))
        order = random.Random(hashlib.sha256(key.encode("utf-8")).digest())  # noqa: S311
        order.shuffle(options)
        return ops.TextQuestion(row.question, tuple(options), third)

    def _check_answer(
        self,
        row: rows.QuestionRow,
        answer: ops.TextAnswer,
        matches: Iterator[ops.AnswerMatch],
    ) -> rows.AnsweredRow[rows.QuestionRow]:
        """Return the state of an answer; that to an open question takes the next match."""
        if answer.unread:
            return rows.AnsweredRow(row, answer, rows.UNREAD)
        # Silence: an open question gets the lowest grade, one of options no
        # grade.
        if answer.state is None:
            grade = None if row.options else 0.0
            return rows.AnsweredRow(
                row,
                answer,
                rows.NOT_SAID if self._offers_silence(row) else rows.WRONG,
                grade,
            )
        if row.options:
            if (
                answer.state == row.answer
            ):  # also where it is right that the text does not say
                return rows.AnsweredRow(row, answer, rows.RIGHT)
            # An option that says "the text does not say" is silence, unless it
            # is the right one.
            silent = is_silent_option(answer.state)
            return rows.AnsweredRow(
                row, answer, rows.NOT_SAID if silent else rows.WRONG
            )
        same, grade = next(matches)
        return rows.AnsweredRow(
            row, answer, rows.RIGHT if same else rows.WRONG, grade
        )

    def _credit(
        self, answered_row: rows.AnsweredRow[rows.QuestionRow]
    ) -> float:
        n_options = sum(
            not is_silent_option(option) for option in answered_row.row.options
        )
        silent = 1 / max(n_options, 1) + _BONUS
        return {rows.RIGHT: 1.0, rows.NOT_SAID: silent}.get(
            answered_row.state, 0.0
        )


def _is_yes_no(row: rows.QuestionRow) -> bool:
    """Return CaptionQA's guess whether a question is yes/no, by its options or its first word."""
    options = [option.lower() for option in row.options]
    offers_both = all(
        any(word in option for option in options) for word in ("yes", "no")
    )
    return offers_both or _YES_NO.match(row.question.lower()) is not None


def _vcapsbench(sums: Sequence[float]) -> dict[str, float]:
    shares = rows.shares(sums, "cr")
    ir = {"ir": 1 - shares["precision"]} if "precision" in shares else {}
    return (
        {"ar": shares["accuracy"], **ir, "cr": shares["cr"]} if shares else {}
    )


def _unit(answered_row: rows.AnsweredRow[rows.QuestionRow]) -> Unit:
    """Return the unit of a question; with an answer, a statement about what is described."""
    answer = answered_row.answer.state
    unit = rows.unit_of(
        "question", answered_row, right=answered_row.row.answer, answer=answer
    )
    if "verified" not in unit.detail or not answer:
        return unit
    return replace(
        unit, kind="statement", text=f"{answered_row.row.question} {answer}"
    )

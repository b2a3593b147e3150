"""Operations that check items against a text (third state: not said)."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from beholder.backends import Image
from beholder.judges.operations.base import (
    UNREAD,
    Column,
    PanelOperation,
    Ratings,
    Respondent,
    RowForm,
    votes_by_item,
)
from beholder.judges.operations.quotes import (
    EDGES,
    NO_WORDS,
    locate,
    quoted,
)
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import (
    NULL,
    Schema,
    Shape,
    one_of,
    string,
    words,
)
from beholder.judges.templates import Parts, Texts
from beholder.records import Span

MET: Final = "met"
CONTRADICTED: Final = "contradicted"
NOT_MENTIONED: Final = "not mentioned"
STATES = (MET, CONTRADICTED, NOT_MENTIONED)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SILENT = NO_WORDS | {
    "unknown",
    "unanswerable",
    "cannot be answered",
    "not stated",
}
"""Phrases by which judges report "the text does not say", besides the one in the prompt."""
_SILENT_OPTION = re.compile(
    r"(?:the \w+|it|this)? ?(?:does not|doesn't) (?:say|state|tell|mention|specify|answer)(?: \w+)?"
    r"|(?:it )?(?:cannot|can't) be (?:answered|determined|told|inferred|known)(?: from .+)?"
    r"|(?:(?:i|we) )?(?:cannot|can't) (?:tell|say|answer|determine)(?: from .+)?"
    r"|(?:it is )?impossible to (?:tell|say|answer|determine)(?: from .+)?"
    r"|(?:it is )?not (?:said|stated|mentioned|specified|given|described)(?: in .+)?"
    r"|(?:there is )?(?:not enough|insufficient) information(?: in .+)?"
    r"|unknown|unclear|undetermined|unanswerable|not known"
)
"""Options by which English data sets say that the text does not answer."""
_LONGEST = 400
"""Characters that a judge which is held to a schema may spend on an answer or a quote."""
_WORDS: Final[Schema] = {"type": "string", "maxLength": _LONGEST}
_PERHAPS_WORDS = words(_LONGEST).schema

_LETTER = re.compile(r"\(?([A-Za-z])(?:[).:]+(.*)|\s*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """A text's answer about one item.

    Attributes:
        state: ``met``, ``contradicted`` or ``not mentioned`` of a criterion; of a question the
            chosen option or the open answer, None if the text does not say.
        spans: Places of the quoted evidence in the text; empty without a quote.
        tied: Whether the judges of a panel were divided evenly.
        changed: Whether the judges or repeats of a panel differ; None of one answer.
        evidence: Part of a context in which the spans are, or ``picture``; else empty.
        quote: Words of that evidence, as the judge copied them.
        unread: Why the judge gave no usable row, also when asked again; empty if it gave one.
    """

    state: str | None
    spans: tuple[Span, ...] = ()
    tied: bool = False
    changed: bool | None = None
    evidence: str = ""
    quote: str = ""
    unread: str = ""


@dataclass(frozen=True, slots=True)
class TextItem:
    """One item in the form in which a judge is asked about it.

    Attributes:
        text: Text that the judge reads.
        forms: The forms that its row may have: what the prompt asks for, and no more.
        typical: A likely value in the column.
        fewest: A value that leads to the fewest further questions.
    """

    text: str
    forms: Sequence[RowForm]
    typical: str | None
    fewest: str | None


class FromText(PanelOperation[list[TextAnswer]]):
    """Base: one row per item with an answer and a quote as evidence.

    A row that is missing, not readable, or whose quote is not in the text is asked again once,
    together with the others of this sort. Its answer is unread if that does not help.
    """

    text: str
    language: str | None
    images: Sequence[Image] = ()

    @property
    @abstractmethod
    def items(self) -> list[TextItem]:
        """Return the items that the judge is asked about."""

    _column: ClassVar[tuple[str, Shape[Any]]]
    """Name and shape of the column that holds the answer."""

    @property
    def _begins(self) -> str:
        """The first words of the text, as a quote; empty if they cannot be quoted."""
        first_words = " ".join(self.text.split()[:8])
        return first_words if locate(first_words, self.text) else ""

    def _texts(self) -> Texts:
        """The texts that the judge sees, as the prompt names them."""
        return {"text": self.text}

    def _notes(self) -> Parts:
        """Sections of the prompt, as it names them."""
        return {}

    def _further(self) -> dict[str, tuple[Shape[Any], object]]:
        """Return the columns besides the answer and its quote, each with a likely value."""
        return {}

    @abstractmethod
    def _parse_state(self, index: int, value: Any) -> str | None:
        """The state of an item.

        Raises:
            BadAnswer: The judge gave no valid value.
        """

    def _needs_quote(self, index: int, state: str | None) -> bool:
        """Return whether an item's state is accepted only with a quote."""
        return True

    def _doubtful(
        self, index: int, states: Sequence[str | None]
    ) -> str | None:
        """Return the state that an evenly divided panel agrees on."""
        return None

    async def ask_model(self, model: Respondent) -> list[TextAnswer]:
        """Ask all items in one request; no request is sent if there are no items."""
        items, (name, column) = self.items, self._column

        def parse_row(
            index: int, row: Mapping[str, Any]
        ) -> Mapping[str, TextAnswer]:
            return {
                "answer": self._with_evidence(
                    index, self._parse_state(index, row[name]), row
                )
            }

        columns: dict[str, Column] = {
            name: (
                column,
                [item.typical for item in items],
                [item.fewest for item in items],
            ),
            **self._further(),
            "quote": (words(_LONGEST, None), self._begins or None),
        }
        rows = await model.rows(
            ("item", [item.text for item in items]),
            columns,
            texts=self._texts(),
            language=self.language,
            parts=self._notes(),
            images=self.images,
            tokens=128,
            parse_row=parse_row,
            forms=lambda index: items[index].forms,
        )
        return [
            row.get("answer") or TextAnswer(None, unread=row[UNREAD])
            for row in rows
        ]

    def _with_evidence(
        self, index: int, state: str | None, row: Mapping[str, Any]
    ) -> TextAnswer:
        """The answer with its evidence.

        Raises:
            BadAnswer: The evidence is missing, or is not in the text.
        """
        # A silent answer has nothing to quote, and the words in a picture
        # cannot be located.
        if state in (None, NOT_MENTIONED) or self.images:
            return TextAnswer(state)
        quote = quoted(row)
        # A quote that is not in the text is a bad answer even where none was
        # required: it shows that the judge made it up.
        spans = locate(quote, self.text)
        if not spans and (
            (quote and self.text.strip()) or self._needs_quote(index, state)
        ):
            raise BadAnswer(f"the text does not have the words {quote!r}")
        return TextAnswer(state, spans)

    def merge(self, answers: Sequence[list[TextAnswer]]) -> list[TextAnswer]:
        """Merge by majority; ties become "not said" and are marked. Unread rows do not vote."""
        return [
            self._merged(
                index, [answer for answer in row if not answer.unread]
            )
            or row[0]
            for index, row in enumerate(zip(*answers, strict=True))
        ]

    def _merged(
        self, index: int, votes: Sequence[TextAnswer]
    ) -> TextAnswer | None:
        if not votes:
            return None
        counts = Counter(vote.state for vote in votes)
        highest_count = max(counts.values())
        leading = [
            state for state, count in counts.items() if count == highest_count
        ]
        # A tie must not be decided by the order of the judges; each operation
        # says which state is the cautious one.
        tied = len(leading) > 1
        state = self._doubtful(index, leading) if tied else leading[0]
        agreed = [vote for vote in votes if vote.state == state] or [
            TextAnswer(state)
        ]
        # Of the judges that agree, prefer one with evidence: a page can then
        # show where the answer comes from.
        best_vote = next(
            (vote for vote in agreed if vote.spans or vote.evidence), agreed[0]
        )
        changed = len(counts) > 1 or any(vote.changed for vote in votes)
        return replace(
            best_vote,
            tied=tied,
            changed=changed if len(votes) > 1 else votes[0].changed,
        )

    def ratings(self, answers: Sequence[list[TextAnswer]]) -> Ratings:
        """Per item whether each judge gives the answer that the first gives."""
        for item, votes in votes_by_item(self.items, answers):
            states = [answer.state for answer in votes if not answer.unread]
            if len(states) == len(votes):
                order = sorted(set(states), key=str)
                question_key = (
                    self.name,
                    item.text,
                    *self._texts().values(),
                    *self.images,
                )
                yield question_key, [float(order.index(s)) for s in states]


@dataclass(frozen=True)
class CheckCriteria(FromText, name="check_criteria"):
    """Does a text meet each criterion, contradict it, or not mention it?

    Attributes:
        criteria: Statements, taken as true of what the text describes.
        text: The text.
        demands: Indices of criteria that demand something of the text itself; the judge may
            decide on them without a quote.
        language: Language of the text, stated in the prompt; None if unknown.
    """

    criteria: Sequence[str]
    text: str
    demands: frozenset[int] = field(default=frozenset())
    language: str | None = None

    _column = ("state", one_of(STATES))

    @property
    def items(self) -> list[TextItem]:
        """The criteria; demands are marked."""
        decided: Schema = one_of((MET, CONTRADICTED)).schema
        silent = {"state": one_of((NOT_MENTIONED,)).schema, "quote": NULL}
        demand = [{"state": decided, "quote": _PERHAPS_WORDS}]
        statement = [{"state": decided, "quote": _WORDS}, silent]
        typical = MET if self._begins else NOT_MENTIONED
        return [
            TextItem(
                f"Demand on the text itself: {text}", demand, typical, typical
            )
            if index in self.demands
            else TextItem(text, statement, typical, typical)
            for index, text in enumerate(self.criteria)
        ]

    def _parse_state(self, index: int, value: Any) -> str | None:
        state = str(value).strip().lower().replace("_", " ")
        if state in _SILENT:
            return NOT_MENTIONED
        if state not in STATES:
            raise BadAnswer(f"there is no state {value!r}")
        return state

    def _needs_quote(self, index: int, state: str | None) -> bool:
        return index not in self.demands

    def _doubtful(
        self, index: int, states: Sequence[str | None]
    ) -> str | None:
        return next(s for s in (NOT_MENTIONED, CONTRADICTED) if s in states)


@dataclass(frozen=True, slots=True)
class TextQuestion:
    """A question that a text may answer.

    Attributes:
        text: The question.
        options: Choices, in the order shown; empty for an open question.
        third: Whether the judge may say that the text does not answer it, and must quote evidence
            if it answers. Where an option says so, it is chosen, also if ``third`` is false.
    """

    text: str
    options: tuple[str, ...] = ()
    third: bool = True

    @property
    def silent_option(self) -> str | None:
        """The first option that says that the text does not answer; None if no option does."""
        return next(filter(is_silent_option, self.options), None)

    @property
    def needs_answer(self) -> bool:
        """Return whether the likeliest answer is required even where the text is silent."""
        return not self.third and self.silent_option is None


def is_silent_option(option: str) -> bool:
    """Return whether an option says, in English, that the text does not answer the question."""
    plain = " ".join(option.casefold().replace("’", "'").strip(" .()").split())
    return _SILENT_OPTION.fullmatch(plain) is not None


@dataclass(frozen=True)
class AnswerQuestions(FromText, name="answer_questions"):
    """The answers to questions that a text gives, by the text alone.

    Attributes:
        questions: The questions.
        text: The text.
        language: Language of the text, stated in the prompt; None if unknown.
    """

    questions: Sequence[TextQuestion]
    text: str
    language: str | None = None

    _column = ("choice", words(_LONGEST))

    @property
    def items(self) -> list[TextItem]:
        """The questions with their options by letter."""
        items = []
        for question in self.questions:
            required = (
                " (an answer is required)" if question.needs_answer else ""
            )
            options = [
                f"{letter}) {o}"
                for letter, o in zip(LETTERS, question.options, strict=False)
            ]
            text = "\n".join([f"{question.text}{required}", *options])
            typical = "A" if question.options else "some words"
            fewest: str | None = typical
            if question.silent_option is not None:
                fewest = LETTERS[
                    question.options.index(question.silent_option)
                ]
            elif question.third:
                fewest = None
            # For an estimate of the cost: if the text has no words to quote,
            # an answer that needs a quote is not the likely one.
            likely = fewest if question.third and not self._begins else typical
            items.append(TextItem(text, self._forms(question), likely, fewest))
        return items

    def _forms(self, question: TextQuestion) -> Sequence[RowForm]:
        letters = dict(zip(question.options, LETTERS, strict=False))
        silent = [
            letters[option]
            for option in question.options
            if is_silent_option(option)
        ]
        speaking = [
            letter for letter in letters.values() if letter not in silent
        ]
        # Pictures have words to quote only where something is written in them.
        quote = (
            _WORDS if question.third and not self.images else _PERHAPS_WORDS
        )
        # Answers that state something need a quote, silent ones must not have
        # one. The schema has one form of row for each, so a server that keeps
        # to schemas cannot mix them.
        forms: list[RowForm] = []
        if speaking or not question.options:
            choice = one_of(speaking).schema if speaking else _WORDS
            forms.append({"choice": choice, "quote": quote})
        if silent:
            forms.append(
                {"choice": one_of(silent).schema, "quote": _PERHAPS_WORDS}
            )
        elif question.third:
            forms.append({"choice": NULL, "quote": NULL})
        return forms

    def _parse_state(self, index: int, value: Any) -> str | None:
        question = self.questions[index]
        answer = "" if value in (None, "") else string().read(value, "choice")
        alike = [
            option
            for option in question.options
            if option.lower() == answer.lower()
        ]
        letter = _LETTER.fullmatch(answer)
        # Letters first: an option may itself be a single letter, and the
        # letter in the prompt was the instruction. A longer answer that equals
        # an option is that option.
        place = (
            LETTERS.index(letter[1].upper())
            if letter
            else len(question.options)
        )
        if place < len(question.options) and (len(answer) == 1 or not alike):
            option = question.options[place]
            # "B: on grass" names two options unless these are the words of B.
            said = _plain_words(letter[2] or "") if letter else ""
            if said and said != _plain_words(option):
                raise BadAnswer(
                    f"{answer!r} has the letter of the option {option!r} and other words"
                )
            return option
        if answer in alike or len(alike) == 1:
            return answer if answer in alike else alike[0]
        # Models write "not mentioned" in their own way even where an option
        # for it is listed.
        if answer.lower().strip(" .").replace("_", " ") in _SILENT:
            if question.silent_option is not None:
                return question.silent_option
            if question.third:
                return None
        if question.options or answer.lower() in ("", "null"):
            raise BadAnswer(
                f"an answer is required, and there is no option {answer!r}"
            )
        return answer

    def _needs_quote(self, index: int, state: str | None) -> bool:
        question = self.questions[index]
        is_silent = state in question.options and is_silent_option(state or "")
        return question.third and not is_silent

    def _doubtful(
        self, index: int, states: Sequence[str | None]
    ) -> str | None:
        silent_option = self.questions[index].silent_option
        if silent_option in states:
            return silent_option
        if None in states:
            return None
        return (
            "" if self.questions[index].options else states[0]
        )  # "" is no option: wrong


def _plain_words(text: str) -> str:
    return " ".join(text.casefold().strip(EDGES).split())


@dataclass(frozen=True)
class NameSubjects(FromText, name="name_subjects"):
    """The counterparts in a text of the subjects of the statements that it covers.

    The state of an item is a name that the judge gives; equal names are one being or thing.

    Attributes:
        mentions: Subjects with their statements.
        text: The text.
        language: Language of the text, stated in the prompt; None if unknown.
    """

    mentions: Sequence[tuple[str, str]]
    text: str
    language: str | None = None

    _column = ("entity", words(_LONGEST))

    @property
    def items(self) -> list[TextItem]:
        """The subjects with their statements."""
        forms = [
            {"entity": _WORDS, "quote": _WORDS},
            {"entity": NULL, "quote": NULL},
        ]
        typical = "one" if self._begins else None
        return [
            TextItem(
                f"{subject} in the statement: {statement}",
                forms,
                typical,
                typical,
            )
            for subject, statement in self.mentions
        ]

    def _parse_state(self, index: int, value: Any) -> str | None:
        answer = " ".join(str(value or "").lower().split())
        return None if answer in NO_WORDS else answer

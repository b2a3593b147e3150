"""The metric placement: does an alternative text do what its picture needs on its page?

The field ``context`` of a row describes the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from beholder.errors import ConfigError, ItemError
from beholder.judges.operations import CheckCriteria, PlaceText, TextAnswer
from beholder.judges.operations.answer import MET
from beholder.judges.operations.place import NO, QUESTIONS, UNCLEAR
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore, Unit
from beholder.text import words
from beholder.text.edits import words_left_out
from beholder.text.languages import ENGLISH, language_named

Role = Literal[
    "functional", "decorative", "figure", "complex", "text", "informative"
]
Names = Literal["used", "left_out", "other", "none_known"]

MOST_WORDS = 4_000
"""Most words of a page; a longer one is refused, since nothing is cut."""

_NAME = re.compile(
    r"\b[A-Z]\w*(?:['’-]\w+)*(?: (?:de|van|von|der|of)(?= [A-Z])| [A-Z][\w'’-]*)*"
)


class PictureContext(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True
):
    """The page that shows a picture; all fields may be missing.

    Attributes:
        page_text: Text of the page near the picture.
        caption: Caption of the picture.
        role: Role of the picture on the page, as ``beholder lint`` names it.
        link_target: Address or title that the picture links to.
        language: Language of the page, a name or a code.
        names: Names of who or what is shown, from people who know.
        date: When the picture was made.
        long: A longer description beside the alternative text.
    """

    page_text: str | None = None
    caption: str | None = None
    role: Role | None = None
    link_target: str | None = None
    language: str | None = None
    names: tuple[str, ...] = ()
    date: str | None = None
    long: str | None = None

    def parts(self, *, names: bool = True) -> dict[str, str]:
        """Return the parts that are present, under the names that judges use."""
        parts = {
            "page": self.page_text,
            "caption": self.caption,
            "link": self.link_target,
        }
        parts |= {
            "role": self.role,
            "names": ", ".join(self.names) if names else "",
        }
        parts |= {"date": self.date, "long description": self.long}
        return {
            name: text for name, text in parts.items() if text and text.strip()
        }


def context_of(item: Item) -> PictureContext:
    """Return the context of a row; an empty one if it has none.

    Raises:
        ItemError: It has another form, or its page is too long; names the field.
    """
    field = item.meta.get("context") or {}
    try:
        context = msgspec.convert(
            json.loads(field) if isinstance(field, str) else field,
            PictureContext,
        )
    except (ValueError, msgspec.ValidationError) as error:
        raise ItemError(
            f"context: {error}; expected an object with page_text, caption, ..."
        ) from None
    if (n := len(words(context.page_text or ""))) > MOST_WORDS:
        raise ItemError(
            f"context.page_text has {n:,} words, and a judge is shown at most {MOST_WORDS:,}; give"
            " the text near the picture"
        )
    return context


def names_used(text: str, context: PictureContext) -> tuple[Names, list[str]]:
    """Return whether a text names the people shown, and its names without support.

    Known are the context's ``names`` and, in English, capitalised names of the caption. A name is
    used where its last word is in the text.
    """
    english = language_named(context.language or "") in (None, ENGLISH)
    known_names = [
        *context.names,
        *(_names(context.caption or "") if english else ()),
    ]
    text_words = set(fold_words(text))
    supported = {
        word for part in context.parts().values() for word in fold_words(part)
    }
    # A name that neither page, caption nor link mentions may be invented.
    strange = [
        name
        for name in (_names(text) if english else ())
        if not supported & set(fold_words(name))
    ]
    if any(
        fold_words(name)[-1] in text_words
        for name in known_names
        if fold_words(name)
    ):
        return "used", strange
    if strange:
        return "other", strange
    return ("left_out" if known_names else "none_known"), strange


def fold_words(text: str) -> list[str]:
    """Return the words of a text without case."""
    return [text[start:end].casefold() for start, end in words(text)]


def _names(text: str) -> Iterator[str]:
    """Yield capitalised names; a single word that begins a sentence is left out."""
    for match in _NAME.finditer(text):
        begins = (
            re.search(r"(?:^|[.!?:]['\"”’]?)\s*$", text[: match.start()])
            is not None
        )
        if not begins:
            yield match[0]
        # At the beginning of a sentence an article is capitalised without
        # being a name.
        elif " " in match[0]:
            first, remainder = match[0].split(" ", 1)
            yield remainder if first.lower() in _ARTICLES else match[0]


_ARTICLES = frozenset(
    ("a", "an", "the", "in", "on", "at", "her", "his", "its", "this", "two")
)


DECISIONS = {
    "empty": "should be empty",
    "function": "should name the target or the action",
    "text": "should contain the text of the picture",
    "describe": "should describe the picture briefly",
    "long": "should be brief, beside a longer description",
    "unclear": "no question was answered with yes",
}
VERDICTS = {
    "fits": "the text is what its picture needs",
    "should_be_empty": "the picture needs no text",
    "should_not_be_empty": "the picture needs a text",
    "target_not_named": "the text does not name the target or the action",
    "text_left_out": "words of the picture are missing from the text",
    "repeats": "the text repeats the page",
    "needs_long": "a longer description is missing",
}

_DECIDES = {"only here": "text", "simple": "describe", "complex": "long"}
_DECIDES |= dict.fromkeys(("elsewhere", "effect", "redundant"), "empty")
_FUNCTION_RULE = (
    "The text names the target of the link, or the action of the button,"
    " that it stands for."
)
_MIN_WORD_SHARE = 0.8
"""Share of the picture's words that a text must have."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacementEvidence:
    """Answers of a judge about a picture on its page.

    Attributes:
        answers: One per question, which may be unread.
        names_function: True if the text names the function of a link or button; None if not asked.
        words: Words that the reader is sure of; None without a reader.
    """

    answers: Sequence[TextAnswer]
    names_function: bool | None
    words: Sequence[str] | None = None


@dataclass(frozen=True)
class Placement(Metric[PlacementEvidence]):
    """Purpose of an alternative text on its page, and the verdict if it serves that purpose.

    A judge answers the four questions of the W3C's decision tree about the picture and the row's
    field ``context`` (text in the picture, function, meaning, decoration) and quotes its evidence.
    The first question that is answered with yes decides: the text should be empty, name a function,
    contain the picture's words, describe, or be brief beside a longer description. ``fits`` is 1
    where the candidate does so and 0 where it does not; it is left out for ``unclear``.
    Each further value is 1 for the decision or verdict of the item, so that its mean is a share.
    ``names_used`` is 1 where the text has one of the names that context or caption give.
    A reader of pictures gives the words that the text must contain; without one, or where it finds
    no word, these are the words that the judge quotes.

    Source: the decision tree of the W3C's tutorial on images; prompts and verdicts are our own.

    Raises:
        ConfigError: The judge cannot do it, or cannot see; or there is a reader and no sight.
        MissingExtraError: The reader is not installed.
    """

    judge: str = param(help="who decides: a model, not builtin", tool="judge")
    sight: bool = param(
        True, "show the picture; False: the context alone decides"
    )
    use_names: bool = param(
        True, "show known names, and report whether the text has one"
    )

    reader: str | None = param(
        None,
        "who reads the words of the picture, rapidocr; None: the judge",
        tool="reader",
    )

    registered_name = "placement"
    values = (
        ValueInfo("fits", VERDICTS["fits"]),
        *(
            ValueInfo(name, what, higher_is_better=None)
            for name, what in (DECISIONS | VERDICTS).items()
            if name != "fits"
        ),
        ValueInfo("names_used", "the text has one of the known names"),
    )
    required_fields = frozenset()
    operations = ("place_text", "check_criteria")
    needs = (PlaceText,)

    @property
    def looks(self) -> bool:
        """True if the judge sees the pictures."""
        return self.sight

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reader is not None and not self.sight:
            raise ConfigError(
                f"placement(reader={self.reader!r}, sight=False): a reader opens the picture;"
                " leave one of the two out"
            )

    def check_item(self, item: Item) -> None:
        """Refuse an item without a picture that is to be shown; the candidate may be empty."""
        parts = context_of(item).parts()
        if self.sight and not item.images:
            raise ItemError(
                "placement needs images; sight=False decides by the context alone"
            )
        if not self.sight and not parts:
            raise ItemError(
                "placement(sight=False) needs the field 'context', and it is empty"
            )

    async def gather(self, item: Item, tools: Tools) -> PlacementEvidence:
        """Ask the four questions and, for a function, whether the text names it."""
        judge, context = tools.judge(self.judge), context_of(item)
        parts = context.parts(names=self.use_names)
        language = language_named(context.language or item.language)
        images = await tools.pictures.read(item.images) if self.sight else ()
        answers = await judge.ask(
            PlaceText(item.candidate, parts, images, language)
        )
        names_function = None
        # Only a link or button has a target that the text must name.
        if item.candidate.strip() and _decision(answers)[0] == "function":
            target = (
                f" It leads to: {parts['link']}" if "link" in parts else ""
            )
            operation = CheckCriteria(
                [_FUNCTION_RULE + target],
                item.candidate,
                frozenset([0]),
                language,
            )
            (answer,) = await judge.ask(operation)
            names_function = answer.state == MET
        picture_words = None
        if self.reader is not None:
            picture_words = await tools.read_words(self.reader, item.images)
        return PlacementEvidence(answers, names_function, picture_words)

    def score_item(self, item: Item, evidence: PlacementEvidence) -> ItemScore:
        """Turn answers into a decision and a verdict.

        Raises:
            ItemError: The judge gave no usable answer to any question.
        """
        if all(answer.unread for answer in evidence.answers):
            raise ItemError(
                "the judge gave no usable answer to any question, also when asked again; the"
                f" first: {evidence.answers[0].unread}"
            )
        context = context_of(item)
        decision, deciding = _decision(evidence.answers)
        if evidence.words:
            required_words: Sequence[str] = evidence.words
            missing_words = words_left_out(required_words, [item.candidate])
        else:
            # The judge quotes the words of the picture.
            required_words = fold_words(deciding.quote)
            text_words = set(fold_words(item.candidate))
            missing_words = [
                word for word in required_words if word not in text_words
            ]
        verdict = _verdict(
            decision,
            deciding,
            item.candidate,
            evidence.names_function,
            bool(context.long),
            # Small differences in reading them are allowed.
            len(required_words) - len(missing_words)
            < _MIN_WORD_SHARE * len(required_words),
        )
        values = dict.fromkeys((*DECISIONS, *VERDICTS), 0.0) | {
            decision: 1.0,
            verdict: 1.0,
        }
        # Without a decision nothing fits or fails to fit.
        if verdict == "unclear":
            del values["fits"]
        detail: dict[str, object] = {"decision": decision, "verdict": verdict}
        if evidence.words is not None:
            detail["words_read"] = list(evidence.words)
        if decision == "text":
            detail["words_left_out"] = missing_words
        if self.use_names:
            names, strange = names_used(item.candidate, context)
            detail |= {"names": names, "unsupported_names": strange}
            if names == "used" or (names != "none_known" and context.names):
                values["names_used"] = float(names == "used")
        units = tuple(map(_unit, QUESTIONS, evidence.answers))
        return ItemScore(values, units, detail=detail)


def _unit(question: str, answer: TextAnswer) -> Unit:
    if answer.unread:
        return Unit(
            "question",
            question,
            "candidate",
            (),
            verdict="unread",
            detail={"reason": answer.unread},
        )
    spans = [list(span) for span in answer.spans]
    evidence = {
        "evidence": answer.evidence,
        "quote": answer.quote,
        "spans": spans,
    }
    detail = (evidence if answer.evidence else {}) | (
        {"tied": True} if answer.tied else {}
    )
    verdict = str(answer.state).replace(" ", "_")
    return Unit(
        "question", question, "candidate", (), verdict=verdict, detail=detail
    )


def _decision(answers: Sequence[TextAnswer]) -> tuple[str, TextAnswer]:
    """Return the decision of the first yes, and that answer."""
    for question, answer in zip(QUESTIONS, answers, strict=True):
        if answer.state not in (None, NO, UNCLEAR):
            # A yes that is not in the table is plain: decoration needs no
            # text, a function needs its name.
            usual = "empty" if question == "decoration" else "function"
            return _DECIDES.get(str(answer.state), usual), answer
    return "unclear", TextAnswer(UNCLEAR)


def _verdict(
    decision: str,
    deciding: TextAnswer,
    text: str,
    names_function: bool | None,
    has_long: bool,
    leaves_words_out: bool,
) -> str:
    # Empty texts first, then what the decision demands of a text that is
    # there.
    text_words = set(fold_words(text))
    if decision in ("unclear", "empty"):
        if decision == "empty" and text_words:
            return (
                "repeats"
                if deciding.state == "redundant"
                else "should_be_empty"
            )
        return "unclear" if decision == "unclear" else "fits"
    if not text_words:
        return "should_not_be_empty"
    if decision == "text" and leaves_words_out:
        return "text_left_out"
    if decision == "function" and not names_function:
        return "target_not_named"
    return "needs_long" if decision == "long" and not has_long else "fits"

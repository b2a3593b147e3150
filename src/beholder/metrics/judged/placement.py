"""The metric placement: does an alternative text do what its picture needs on its page?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from beholder.errors import ItemError
from beholder.judges.operations import CheckCriteria, PlacedAnswer, PlaceText
from beholder.judges.operations.answer import MET
from beholder.judges.operations.place import NO, QUESTIONS, UNCLEAR
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.judged.context import context_of, folded, names_used
from beholder.records import Item, ItemScore, Unit
from beholder.text.languages import language_named

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

_DECIDES = {
    "elsewhere": "empty",
    "effect": "empty",
    "only here": "text",
    "simple": "describe",
    "complex": "long",
    "redundant": "empty",
}
_TOLD = "The text names the target of the link, or the action of the button, that it stands for."
_WORDS_TOLD = 0.8
"""Share of the picture's words that a text must have."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """What a judge said of a picture on its page.

    Attributes:
        answers: One per question; None where the judge gave no usable one.
        named: Whether the text names what a link or button does; None if that was not asked.
    """

    answers: Sequence[PlacedAnswer | None]
    named: bool | None


@dataclass(frozen=True)
class Placement(Metric[Placed]):
    """What an alternative text should do on its page, and whether it does.

    A judge answers the four questions of the W3C's decision tree about the picture and the row's
    field ``context`` (text in the picture, function, meaning, decoration) and quotes its evidence.
    The first question that is answered with yes decides: the text should be empty, name a function,
    contain the picture's words, describe, or be brief beside a longer description. ``fits`` is 1
    where the candidate does so and 0 where it does not; it is left out for ``unclear``.
    Each further value is 1 for the decision or verdict of the item, so that its mean is a share.
    ``names_used`` is 1 where the text has one of the names that context or caption give.

    Source: the decision tree of the W3C's tutorial on images; prompts and verdicts are our own.

    Raises:
        ConfigError: The judge cannot do it, or cannot see.
    """

    judge: str = param(help="who decides: a model, not builtin", tool="judge")
    sight: bool = param(True, "show the picture; False: the context alone decides")
    use_names: bool = param(True, "show known names, and report whether the text has one")

    registered_name: ClassVar[str] = "placement"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("fits", VERDICTS["fits"]),
        *(
            ValueInfo(name, what, higher_is_better=None)
            for name, what in (DECISIONS | VERDICTS).items()
            if name != "fits"
        ),
        ValueInfo("names_used", "the text has one of the known names"),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset()
    operations: ClassVar[tuple[str, ...]] = ("place_text", "check_criteria")
    needs = (PlaceText,)

    @property
    def looks(self) -> bool:
        """Whether the judge sees the pictures."""
        return self.sight

    def check_item(self, item: Item) -> None:
        """Refuse an item without a picture that is to be shown; the candidate may be empty."""
        known = context_of(item).parts()
        if self.sight and not item.images:
            raise ItemError("placement needs images; sight=False decides by the context alone")
        if not self.sight and not known:
            raise ItemError("placement(sight=False) needs the field 'context', and it is empty")

    async def gather(self, item: Item, tools: Tools) -> Placed:
        """Ask the four questions, and of a function whether the text names it."""
        judge, context = tools.judge(self.judge), context_of(item)
        parts = context.parts(names=self.use_names)
        language = language_named(context.language or item.language)
        images = await tools.pictures.read(item.images) if self.sight else ()
        answers = await judge.ask(PlaceText(item.candidate, parts, images, language))
        told = None
        if item.candidate.strip() and _decision(answers)[0] == "function":
            target = f" It leads to: {parts['link']}" if "link" in parts else ""
            asked = CheckCriteria([_TOLD + target], item.candidate, frozenset([0]), language)
            (said,) = await judge.ask(asked)
            told = said is not None and said.state == MET
        return Placed(answers, told)

    def score_item(self, item: Item, evidence: Placed) -> ItemScore:
        """Turn answers into a decision and a verdict.

        Raises:
            ItemError: The judge gave no usable answer to any question.
        """
        if not any(evidence.answers):
            raise ItemError("the judge gave no usable answer to any question")
        context = context_of(item)
        decision, deciding = _decision(evidence.answers)
        verdict = _verdict(decision, deciding, item.candidate, evidence.named, bool(context.long))
        values = dict.fromkeys((*DECISIONS, *VERDICTS), 0.0) | {decision: 1.0, verdict: 1.0}
        if verdict == "unclear":
            del values["fits"]
        detail: dict[str, object] = {"decision": decision, "verdict": verdict}
        if self.use_names:
            names, strange = names_used(item.candidate, context)
            detail |= {"names": names, "unsupported_names": strange}
            if names == "used" or (names != "none_known" and context.names):
                values["names_used"] = float(names == "used")
        units = tuple(
            Unit(
                "question",
                question,
                "candidate",
                (),
                verdict="unread" if answer is None else answer.answer.replace(" ", "_"),
                detail={
                    "evidence": answer.evidence,
                    "quote": answer.quote,
                    "spans": [list(span) for span in answer.spans],
                }
                if answer is not None and answer.evidence
                else {},
            )
            for question, answer in zip(QUESTIONS, evidence.answers, strict=True)
        )
        return ItemScore(values, units, detail=detail)


def _decision(answers: Sequence[PlacedAnswer | None]) -> tuple[str, PlacedAnswer]:
    """What the first yes decides, and that answer."""
    for question, answer in zip(QUESTIONS, answers, strict=True):
        if answer is not None and answer.answer not in (NO, UNCLEAR):
            usual = "empty" if question == "decoration" else "function"
            return _DECIDES.get(answer.answer, usual), answer
    return "unclear", PlacedAnswer(UNCLEAR)


def _verdict(
    decision: str, deciding: PlacedAnswer, text: str, told: bool | None, has_long: bool
) -> str:
    said = set(folded(text))
    if decision in ("unclear", "empty"):
        if decision == "empty" and said:
            return "repeats" if deciding.answer == "redundant" else "should_be_empty"
        return "unclear" if decision == "unclear" else "fits"
    if not said:
        return "should_not_be_empty"
    wanted = folded(deciding.quote) if decision == "text" else []
    if sum(word in said for word in wanted) < _WORDS_TOLD * len(wanted):
        return "text_left_out"
    if decision == "function" and not told:
        return "target_not_named"
    return "needs_long" if decision == "long" and not has_long else "fits"

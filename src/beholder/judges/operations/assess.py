"""Operations on quality: a digit, numbers by aspect, or the better of two texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias, get_args

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.grades import Grade, mean_grade
from beholder.judges.operations.base import (
    PanelOperation,
    Ratings,
    Respondent,
    language_note,
    votes_by_item,
)
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import array, integer, obj, only, remark
from beholder.judges.templates import Texts

LOWEST, HIGHEST = 0, 9


@dataclass(frozen=True)
class GradeDescription(PanelOperation[Grade], name="grade"):
    """Grade from 0 to 9 of a description by its pictures, read from probabilities.

    Attributes:
        candidate: The description.
        images: The pictures.
        references: Trusted texts about them.

    Raises:
        ItemError: There is no picture.
    """

    candidate: str
    images: Sequence[Image]
    references: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.images:
            raise ItemError("grade needs a picture; there is none")

    async def ask_model(self, model: Respondent) -> Grade:
        """Ask for one grade of the candidate."""
        return await model.grade(
            model.render(
                {"candidate": self.candidate, "reference": self.references},
                parts={
                    "evidence_note": evidence(self.images, self.references)
                },
                images=self.images,
            ),
            LOWEST,
            HIGHEST,
            typical="9",
        )

    def merge(self, answers: Sequence[Grade]) -> Grade:
        """Mean grade of the judges."""
        return mean_grade(answers)

    def ratings(self, answers: Sequence[Grade]) -> Ratings:
        """The grades of the judges."""
        question = (self.candidate, list(self.references), list(self.images))
        yield question, [grade.value for grade in answers]


Aspect: TypeAlias = Literal["overall", "mistakes", "omissions", "same_picture"]
"""In what respect a description is assessed; high is good in each, so few mistakes are high."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """Numbers for a description by aspect, with the judge's reason."""

    grades: Mapping[str, float]
    reason: str


@dataclass(frozen=True)
class Assess(PanelOperation[Assessment], name="assess"):
    """Quality of a description, judged by its pictures, by trusted texts, or by both.

    Attributes:
        candidate: The description.
        aspects: In what respects, each at most once.
        references: Trusted texts about the same pictures.
        images: The pictures.
        low: Worst number.
        high: Best number.
        rubric: Whether to say what the ends and the middle of the scale mean.

    Raises:
        ItemError: There is no aspect, one that does not exist, or no evidence.
    """

    candidate: str
    aspects: Sequence[Aspect]
    references: Sequence[str] = ()
    images: Sequence[Image] = ()
    low: int = 1
    high: int = 5
    rubric: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        all_aspects = get_args(Aspect)
        if not self.aspects or not set(self.aspects) <= set(all_aspects):
            raise ItemError(
                f"assess: aspects {self.aspects!r} are not among {', '.join(all_aspects)}"
            )
        if not self.images and not self.references:
            raise ItemError(
                "a description is judged by a picture or by references; there is neither"
            )

    async def ask_model(self, model: Respondent) -> Assessment:
        """Ask for a reason and a number for each aspect."""
        # A prompt may have a longer text for an aspect when a rubric is asked
        # for; prompts of users need not have it.
        ending = "_rubric" if self.rubric else ""
        sections = model.template.sections
        parts: dict[str, str | None] = {
            "evidence_note": evidence(self.images, self.references)
        }
        for aspect in get_args(Aspect):
            section = (
                f"{aspect}{ending}"
                if f"{aspect}{ending}" in sections
                else aspect
            )
            parts[f"{aspect}_note"] = (
                section if aspect in self.aspects else None
            )
        grade = integer(self.low, self.high)
        typical: dict[str, object] = {"reason": "word " * 40}
        return await model.json(
            model.render(
                self._texts(),
                {"low": str(self.low), "high": str(self.high)},
                parts=parts,
                images=self.images,
            ),
            obj(
                _assessment,
                reason=remark(),
                **dict.fromkeys(self.aspects, grade),
            ),
            max_tokens=512,
            typical=typical | dict.fromkeys(self.aspects, self.high),
        )

    def _texts(self) -> Texts:
        return {"candidate": self.candidate, "reference": self.references}

    def merge(self, answers: Sequence[Assessment]) -> Assessment:
        """Mean number per aspect; the reasons of all."""
        means: dict[str, float] = {
            name: fmean(assessment.grades[name] for assessment in answers)
            for name in self.aspects
        }
        return Assessment(
            means, " | ".join(assessment.reason for assessment in answers)
        )

    def ratings(self, answers: Sequence[Assessment]) -> Ratings:
        """The numbers of each aspect."""
        for aspect in self.aspects:
            question = (
                aspect,
                self.candidate,
                list(self.references),
                list(self.images),
            )
            yield (
                question,
                [assessment.grades[aspect] for assessment in answers],
            )


def _assessment(reason: str, **grades: int) -> Assessment:
    return Assessment(
        {aspect: float(grade) for aspect, grade in grades.items()}, reason
    )


def evidence(images: Sequence[Image], references: Sequence[str]) -> str:
    """Name the prompt section for the evidence: picture, reference or both."""
    return "picture" if not references else "both" if images else "reference"


@dataclass(frozen=True)
class Rank(PanelOperation[list[int]], name="rank"):
    """Rank of each text about the pictures, 1 = best, every rank once.

    A judge without a picture rates the quality of the texts, not for their fit.

    Attributes:
        texts: The texts.
        images: The pictures.
        language: Language of the texts, stated in the prompt; None if unknown.

    Raises:
        ItemError: There are fewer than two texts.
    """

    texts: Sequence[str]
    images: Sequence[Image] = ()
    language: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.texts) < 2:
            raise ItemError(
                f"rank needs at least two texts, got {len(self.texts)}"
            )

    async def ask_model(self, model: Respondent) -> list[int]:
        """Ask for the rank of each text."""
        n = len(self.texts)
        settings = {"n": str(n), "language": self.language or ""}
        picture_parts = {"seen_note": "seen", "criteria": "fit"}
        text_parts = {"seen_note": "unseen", "criteria": "quality"}
        parts = {
            **language_note(self.language),
            **(picture_parts if self.images else text_parts),
        }
        return await model.json(
            model.render(
                {"review": self.texts},
                settings,
                parts=parts,
                images=self.images,
            ),
            only(
                "ranks",
                array(
                    integer(1, n),
                    self._each_once,
                    "rank",
                    at_least=n,
                    at_most=n,
                ),
            ),
            max_tokens=64 + 8 * n,
            typical={"ranks": list(range(1, n + 1))},
        )

    def _each_once(self, numbers: Iterator[int]) -> list[int]:
        ranks, n = list(numbers), len(self.texts)
        # Ties and gaps are refused: means over judges and orders need a
        # permutation.
        if sorted(ranks) != list(range(1, n + 1)):
            raise BadAnswer(
                f"'ranks' must hold each of 1 to {n} exactly once, got {ranks}"
            )
        return ranks

    def merge(self, answers: Sequence[list[int]]) -> list[int]:
        """Order of the mean ranks; equal ones keep the order of the texts."""
        means = [fmean(ranks) for ranks in zip(*answers, strict=True)]
        order = sorted(range(len(means)), key=means.__getitem__)
        return [order.index(i) + 1 for i in range(len(means))]

    def ratings(self, answers: Sequence[list[int]]) -> Ratings:
        """The ranks of each text."""
        for text, ranks in votes_by_item(self.texts, answers):
            yield (
                (text, self.texts, list(self.images)),
                [float(rank) for rank in ranks],
            )

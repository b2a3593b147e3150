"""A panel: several judges, or one judge several times, asked the same; with their agreement."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from statistics import fmean
from typing import Any, TypeVar

from beholder.backends import Image, Perplexity
from beholder.errors import ConfigError
from beholder.judges.answers import AnswerStore
from beholder.judges.base import (
    Aspect,
    Assessment,
    Category,
    Clause,
    Judge,
    Question,
    Rating,
    Shot,
    Statement,
)
from beholder.judges.grades import Grade

T = TypeVar("T")


class Panel(Judge):
    """Judges whose ratings are averaged.

    Grades, ratings and assessments are the mean, yes-or-no answers and matches the majority (a tie
    counts as no match, not supported), ranks the order of the mean ranks. What cannot be averaged
    (statements, captions, phrases, categories, translations, perplexity) comes from the first
    judge.

    Args:
        members: The judges; the same one several times gives replicates.
        ratings: Keeps what each judge said, for ``reliability``.
    """

    def __init__(self, members: Sequence[Judge], ratings: AnswerStore) -> None:
        if len(members) < 2:
            raise ConfigError(f"a panel needs at least two judges, got {len(members)}")
        self._members = list(members)
        self._ratings = ratings
        seen: Counter[int] = Counter()
        self._seats: list[tuple[Judge, int]] = []
        for member in members:
            self._seats.append((member, seen[id(member)]))
            seen[id(member)] += 1

    @property
    def identity(self) -> str:
        """The identities of all members."""
        return f"panel({', '.join(member.identity for member in self._members)})"

    async def sees(self) -> bool:
        """Whether all members do."""
        return all([await member.sees() for member in self._members])

    async def presence(
        self,
        questions: Sequence[Question],
        target: str,
        source: str | None = None,
        *,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Grade]:
        """Mean grade of the judges."""
        rows = await self._all(
            lambda judge, seat: judge.presence(
                questions, target, source, replicate=seat, temperature=temperature
            ),
            replicate,
        )
        merged = []
        for question, grades in zip(questions, zip(*rows, strict=True), strict=True):
            self._note("presence", (question, target), [grade.value for grade in grades])
            merged.append(_mean_grade(grades))
        return merged

    async def match(
        self,
        claims: Sequence[str],
        references: Sequence[str],
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int | None]:
        """The match most judges name."""
        rows = await self._all(
            lambda judge, seat: judge.match(
                claims, references, language=language, replicate=seat, temperature=temperature
            ),
            replicate,
        )
        return [_majority(column, None) for column in zip(*rows, strict=True)]

    async def verify(
        self,
        claims: Sequence[str],
        *,
        images: Sequence[Image] = (),
        reference: str | None = None,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[bool]:
        """What most judges say."""
        rows = await self._all(
            lambda judge, seat: judge.verify(
                claims,
                images=images,
                reference=reference,
                language=language,
                replicate=seat,
                temperature=temperature,
            ),
            replicate,
        )
        shown = [image.digest for image in images]
        for claim, column in zip(claims, zip(*rows, strict=True), strict=True):
            self._note("verify", (claim, reference, shown), [float(vote) for vote in column])
        return [_majority(column, False) for column in zip(*rows, strict=True)]

    async def rate_sequence(
        self,
        shots: Sequence[Shot],
        *,
        context: str = "",
        anchors: bool = False,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Rating:
        """Mean rating, rounded; the reasons of all."""
        ratings = await self._all(
            lambda judge, seat: judge.rate_sequence(
                shots, context=context, anchors=anchors, replicate=seat, temperature=temperature
            ),
            replicate,
        )
        return self._mean_rating("rate_sequence", shots, ratings)

    async def rate_transition(
        self,
        first: Shot,
        second: Shot,
        *,
        context: str = "",
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Rating:
        """Mean rating, rounded; the reasons of all."""
        ratings = await self._all(
            lambda judge, seat: judge.rate_transition(
                first, second, context=context, replicate=seat, temperature=temperature
            ),
            replicate,
        )
        return self._mean_rating("rate_transition", (first, second), ratings)

    async def rank(
        self,
        texts: Sequence[str],
        *,
        images: Sequence[Image] = (),
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int]:
        """Order of the mean ranks; equal ones keep the order of the texts."""
        rows = await self._all(
            lambda judge, seat: judge.rank(
                texts, images=images, language=language, replicate=seat, temperature=temperature
            ),
            replicate,
        )
        columns = list(zip(*rows, strict=True))
        for text, column in zip(texts, columns, strict=True):
            shown = [image.digest for image in images]
            self._note("rank", (text, texts, shown), [float(rank) for rank in column])
        order = sorted(range(len(texts)), key=lambda i: fmean(columns[i]))
        return [order.index(i) + 1 for i in range(len(texts))]

    async def assess(self, candidate: str, aspects: Sequence[Aspect], **options: Any) -> Assessment:
        """Mean number per aspect; the reasons of all."""
        replicate = options.pop("replicate", 0)
        found = await self._all(
            lambda judge, seat: judge.assess(candidate, aspects, replicate=seat, **options),
            replicate,
        )
        shown = [image.digest for image in options.get("images", ())]
        told = list(options.get("references", ()))
        for aspect in aspects:
            self._note(
                "assess", (aspect, candidate, told, shown), [one.grades[aspect] for one in found]
            )
        means: dict[str, float] = {
            aspect: fmean(one.grades[aspect] for one in found) for aspect in aspects
        }
        return Assessment(means, " | ".join(one.reason for one in found))

    async def grade(self, candidate: str, **options: Any) -> Grade:
        """Mean grade of the judges."""
        replicate = options.pop("replicate", 0)
        found = await self._all(
            lambda judge, seat: judge.grade(candidate, replicate=seat, **options), replicate
        )
        shown = [image.digest for image in options["images"]]
        told = list(options.get("references", ()))
        self._note("grade", (candidate, told, shown), [one.value for one in found])
        return _mean_grade(found)

    def check_can(self, operation: str, *, images: bool = False) -> None:
        """See ``Judge.check_can``; all members must."""
        for member in self._members:
            member.check_can(operation, images=images)

    async def rewrite(
        self, phrase: str, *, replicate: int = 0, temperature: float | None = None
    ) -> str:
        """The first judge's phrase."""
        return await self._members[0].rewrite(phrase, replicate=replicate, temperature=temperature)

    async def decompose(self, text: str, **options: Any) -> list[Statement]:
        """The first judge's statements."""
        return await self._members[0].decompose(text, **options)

    async def caption(self, images: Sequence[Image], **options: Any) -> str:
        """The first judge's description."""
        return await self._members[0].caption(images, **options)

    async def perplexity(
        self, texts: Sequence[str], *, prompt: str, images: Sequence[Image] = ()
    ) -> list[Perplexity]:
        """The first judge's perplexities."""
        return await self._members[0].perplexity(texts, prompt=prompt, images=images)

    async def classify(self, categories: Mapping[str, str], **options: Any) -> list[Category]:
        """The first judge's categories."""
        return await self._members[0].classify(categories, **options)

    async def translate(self, text: str, **options: Any) -> list[Clause]:
        """The first judge's translation."""
        return await self._members[0].translate(text, **options)

    async def _all(self, call: Callable[[Judge, int], Any], replicate: int) -> list[Any]:
        """One call per seat. Repeats of one member get replicate numbers of their own."""
        n_seats = len(self._seats)
        return list(
            await asyncio.gather(
                *(call(judge, replicate * n_seats + nth) for judge, nth in self._seats)
            )
        )

    def _mean_rating(
        self, operation: str, shots: Sequence[Shot], ratings: Sequence[Rating]
    ) -> Rating:
        self._note(operation, shots, [float(rating.value) for rating in ratings])
        reasons = " | ".join(rating.reason for rating in ratings)
        return Rating(round(fmean(rating.value for rating in ratings)), reasons)

    def _note(self, operation: str, question: object, values: Sequence[float]) -> None:
        text = json.dumps(question, default=_plain, ensure_ascii=False)
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
        for seat, value in enumerate(values):
            self._ratings.put_rating(operation, digest, f"judge {seat}", value)


def _plain(value: object) -> object:
    if isinstance(value, Image):
        return value.digest
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    raise TypeError(f"{type(value).__name__} cannot be part of a question")


def _mean_grade(grades: Sequence[Grade]) -> Grade:
    columns = zip(*(grade.probabilities for grade in grades), strict=True)
    return Grade(
        value=fmean(grade.value for grade in grades),
        probabilities=tuple(fmean(column) for column in columns),
        mass=min(grade.mass for grade in grades),
        read=grades[0].read,
    )


def _majority(votes: Sequence[T], without: T) -> T:
    """What more than half say, or else ``without``."""
    value, count = Counter(votes).most_common(1)[0]
    return value if 2 * count > len(votes) else without

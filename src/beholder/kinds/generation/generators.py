"""The base of caption, classify, translate and review: generators of texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, ClassVar, TypeAlias, TypeVar

from beholder.asking.asker import Asker, ValueInfo
from beholder.asking.params import param
from beholder.judges import Judge
from beholder.metrics import Tools
from beholder.records import ItemScore

S = TypeVar("S")

_MANY = 1e9

WORDS = ValueInfo(
    "words", "words between blanks", high=_MANY, higher_is_better=None
)
CHARACTERS = ValueInfo(
    "characters",
    "characters, blanks among them",
    high=_MANY,
    higher_is_better=None,
)


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """One of the texts that were made.

    Attributes:
        text: Text that the judge wrote or chose.
        label: Name among several texts; empty for a single text.
        source: The words it was made of, or empty.
    """

    text: str
    label: str = ""
    source: str = ""


Parts: TypeAlias = Sequence[GeneratedText]
"""The texts that were made of one subject."""


@dataclass(frozen=True)
class TextGenerator(Asker[S]):
    """Base of generators: a judge makes texts, which become the outcome's detail.

    Attributes:
        judge: The judge's spec.
    """

    values: ClassVar[tuple[ValueInfo, ...]] = (WORDS, CHARACTERS)

    judge: str = param(help="model that is asked", tool="judge")

    @property
    def looks(self) -> bool:
        """Return whether the judge is shown pictures."""
        return True

    @abstractmethod
    async def make(
        self, subject: S, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return the texts of one subject.

        Raises:
            ItemError: A required field is missing, or the answer cannot be used.
        """

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return the values of the texts: here mean lengths."""
        return {
            WORDS.name: fmean(len(part.text.split()) for part in parts),
            CHARACTERS.name: fmean(len(part.text) for part in parts),
        }

    async def evaluate(self, subject: S, tools: Tools) -> ItemScore:
        """Return the score of one subject: its texts as detail, their lengths as values."""
        self.check(subject)
        parts = await self.make(subject, tools.judge(self.judge), tools)
        signature = self.signature(self.identities(tools))
        # Empty fields are left out: a store has a row of these for each item.
        filled = [
            {k: v for k, v in asdict(part).items() if v or k == "text"}
            for part in parts
        ]
        return ItemScore(self.measure(parts), (), signature, {"parts": filled})


def parts_of(detail: Mapping[str, Any]) -> tuple[GeneratedText, ...]:
    """Return the texts of an outcome's detail."""
    return tuple(GeneratedText(**part) for part in detail["parts"])

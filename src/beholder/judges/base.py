"""What a judge is: a set of operations that metrics call. Metrics never write a prompt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn, TypeAlias

from beholder.aio import run_sync
from beholder.backends import Image, Perplexity
from beholder.errors import ConfigError
from beholder.judges.grades import Grade
from beholder.records import Span

QuestionKind: TypeAlias = Literal["entity", "attribute", "relation"]

Aspect: TypeAlias = Literal["overall", "mistakes", "omissions", "same_picture"]
"""In what respect a description is assessed; high is good in each, so few mistakes are high."""


@dataclass(frozen=True, slots=True)
class Question:
    """Is this unit of one text in the other text, too?

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: The entity's identifier, the attribute, or the relation's words.
        subject: Identifier of the entity that has the attribute, or of the relation's first end.
        object: Identifier of the relation's other end.
        place: Where the unit, its subject and its object begin in the source text, for judges that
            read the source; -1 where nothing is written, empty if not known.
    """

    kind: QuestionKind
    text: str
    subject: str = ""
    object: str = ""
    place: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A self-contained piece of information in a text.

    Attributes:
        text: The statement, in the language of the text.
        subject: Identifier of the object it is about (``cat_0``), or None.
        relevant: True for what can be seen, False for inference and mood.
        spans: Where the text says it, from judges that know; else empty.
    """

    text: str
    subject: str | None = None
    relevant: bool = True
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture of a sequence as a judge gets it: the picture, words for it, or both.

    Attributes:
        image: The picture, or None to judge by words.
        caption: Words for the picture, or None.
        note: Date, place or other data, or None.
    """

    image: Image | None = None
    caption: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating from 1 to 10 with the judge's reason."""

    value: int
    reason: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """Numbers for a description by aspect, with the judge's reason."""

    grades: Mapping[str, float]
    reason: str


@dataclass(frozen=True, slots=True)
class Category:
    """A category with how clearly it applies."""

    name: str
    rating: Literal["High", "Medium", "Low"]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a text with its translation."""

    source: str
    translation: str


class Judge(ABC):
    """Answers operations. What a judge cannot do raises a ConfigError that names who can.

    In every operation ``replicate`` is the index of a repeat (repeats are asked separately and kept
    apart), and ``temperature`` replaces the judge's own.
    """

    cheap: ClassVar[bool] = False
    """Whether it may be made anew in every worker process; a model may not."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What fixes the answers, for signatures: served model, prompts, way of reading grades."""

    async def sees(self) -> bool:
        """Whether it takes pictures."""
        return False

    async def presence(
        self,
        questions: Sequence[Question],
        target: str,
        source: str | None = None,
        *,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Grade]:
        """Grade from 1 (certainly not) to 5 (certainly) that each unit is in the target text.

        Args:
            questions: The units.
            target: The text in which they are looked for.
            source: The text they come from, for judges that read both (the built-in one); or None.
            replicate: Index of the repeat.
            temperature: Instead of the judge's own.
        """
        self._cannot("presence")

    async def rewrite(
        self, phrase: str, *, replicate: int = 0, temperature: float | None = None
    ) -> str:
        """A rough phrase ("man holds cup") as a noun phrase ("the man holding a cup")."""
        self._cannot("rewrite")

    async def decompose(
        self,
        text: str,
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Statement]:
        """The smallest self-contained statements of a text, in its own language."""
        self._cannot("decompose")

    async def match(
        self,
        claims: Sequence[str],
        references: Sequence[str],
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int | None]:
        """For each claim the index of the reference statement that says or contains it, or None.

        A model's row that names a statement which does not exist, or that is missing, is None.
        """
        self._cannot("match")

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
        """Whether each claim is supported by the pictures or by the reference text."""
        self._cannot("verify")

    async def caption(
        self,
        images: Sequence[Image],
        *,
        language: str = "English",
        min_words: int = 20,
        max_words: int = 200,
        context: str = "",
        note: str = "",
        replicate: int = 0,
        temperature: float | None = None,
    ) -> str:
        """A description of the pictures.

        Args:
            images: One picture, or several that belong together.
            language: Language to write in.
            min_words: Words at least.
            max_words: Words at most.
            context: What the collection is, in the user's own words.
            note: Data of this picture (date, place); untrusted.
            replicate: Index of the repeat.
            temperature: Instead of the judge's own.
        """
        self._cannot("caption")

    async def review(
        self,
        images: Sequence[Image],
        kinds: Sequence[str],
        *,
        language: str = "English",
        n_words: int = 80,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[str]:
        """Reviews of the pictures, one per kind, different and of nearly the same length.

        Args:
            images: One picture, or several that belong together.
            kinds: What each review is to be like, in words.
            language: Language to write in.
            n_words: About how many words each.
            replicate: Index of the repeat.
            temperature: Instead of the judge's own.
        """
        self._cannot("review")

    async def rate_sequence(
        self,
        shots: Sequence[Shot],
        *,
        context: str = "",
        anchors: bool = False,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Rating:
        """How well a sequence of pictures holds together as a story, 1 to 10.

        Args:
            shots: The pictures in order; all with image, or all with caption.
            context: What the collection is, in the user's own words.
            anchors: Whether to show worked examples of low and high ratings.
            replicate: Index of the repeat.
            temperature: Instead of the judge's own.
        """
        self._cannot("rate_sequence")

    async def rate_transition(
        self,
        first: Shot,
        second: Shot,
        *,
        context: str = "",
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Rating:
        """How well one picture follows on another, 1 to 10."""
        self._cannot("rate_transition")

    async def rank(
        self,
        texts: Sequence[str],
        *,
        images: Sequence[Image] = (),
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int]:
        """Rank of each text about the pictures, 1 = best, every rank once."""
        self._cannot("rank")

    async def perplexity(
        self, texts: Sequence[str], *, prompt: str, images: Sequence[Image] = ()
    ) -> list[Perplexity]:
        """How surprising each text is as the answer to a prompt about the pictures."""
        self._cannot("perplexity")

    async def classify(
        self,
        categories: Mapping[str, str],
        *,
        images: Sequence[Image] = (),
        text: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Category]:
        """The one or two categories that fit, at most one of them rated High; or none.

        Args:
            categories: What each category covers, by name.
            images: The pictures, if it is pictures that are sorted.
            text: The text, if it is a text.
            replicate: Index of the repeat.
            temperature: Instead of the judge's own.
        """
        self._cannot("classify")

    async def translate(
        self,
        text: str,
        *,
        source: str,
        target: str,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Clause]:
        """A text clause by clause in another language."""
        self._cannot("translate")

    async def assess(
        self,
        candidate: str,
        aspects: Sequence[Aspect],
        *,
        references: Sequence[str] = (),
        images: Sequence[Image] = (),
        low: int = 1,
        high: int = 5,
        rubric: bool = True,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Assessment:
        """How good a description is, by its pictures, by trusted texts, or by both.

        Args:
            candidate: The description.
            aspects: In what respects, each at most once.
            references: Trusted texts about the same pictures.
            images: The pictures.
            low: Worst number.
            high: Best number.
            rubric: Whether to say what the ends and the middle of the scale mean.
            replicate: Index of the repeat.
            temperature: Instead of the judge's own.
        """
        self._cannot("assess")

    async def grade(
        self,
        candidate: str,
        *,
        images: Sequence[Image],
        references: Sequence[str] = (),
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Grade:
        """Grade from 0 to 9 of a description by its pictures, read from probabilities."""
        self._cannot("grade")

    def check_can(self, operation: str, *, images: bool = False) -> None:
        """Refuse, before any work, what this judge cannot do.

        Args:
            operation: Name of an operation.
            images: Whether it will be shown pictures.

        Raises:
            ConfigError: It has no such operation, or takes no pictures; names who can.
        """
        if getattr(type(self), operation) is getattr(Judge, operation):
            self._cannot(operation)
        if images and not run_sync(self.sees()):
            raise ConfigError(
                f"the judge {self.identity} does not take pictures, and {operation} shows them"
                " here; choose a judge that can see, such as a vision-language model"
            )

    def _cannot(self, operation: str) -> NoReturn:
        raise ConfigError(
            f"{type(self).__name__} has no operation {operation!r}; a model has, for example"
            " judge='openai:MODEL' or judge='hf:MODEL'"
        )

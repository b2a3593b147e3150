"""The LLM judge: every operation, by prompts over a backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from beholder.aio import run_sync
from beholder.backends import Backend, Image, Perplexity
from beholder.backends.money import Budget
from beholder.errors import ConfigError
from beholder.judges import assessing, pictures, presence, statements
from beholder.judges.answers import Answers, AnswerStore
from beholder.judges.asking import Asker
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
from beholder.judges.dry import DryAsker, Tally
from beholder.judges.grades import Grade
from beholder.judges.templates import Templates


class LLMJudge(Judge):
    """A judge that asks a model.

    Args:
        backend: How the model is reached.
        answers: Where answers are kept; in memory if None.
        budget: What may be spent; no limit if None.
        prompts: Folder with prompts of your own, or None.
        temperature: For all operations that do not say otherwise.
        samples: Answers per grade where a server tells no log-probabilities.
        tally: Counts what would be asked; nothing is asked then.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        answers: AnswerStore | None = None,
        budget: Budget | None = None,
        prompts: Path | None = None,
        temperature: float = 0.0,
        samples: int = 5,
        tally: Tally | None = None,
    ) -> None:
        if not 0.0 <= temperature <= 2.0:
            raise ConfigError(f"temperature={temperature!r}: expected a number from 0 to 2")
        if samples < 1:
            raise ConfigError(f"samples={samples!r}: expected a number above 0")
        self.backend = backend
        self.templates = Templates(prompts)
        self._temperature = temperature
        self._samples = samples
        if tally is None:
            self._asker = Asker(backend, answers or Answers(), budget or Budget())
        else:
            self._asker = DryAsker(backend, tally)

    @property
    def identity(self) -> str:
        """Served model, how grades are read, temperature, and hash of the prompts.

        Asks the server who it is, the first time.
        """
        able = run_sync(self._asker.backend.capabilities())
        read = "logprobs" if able.top_logprobs else f"mean of {self._samples}"
        kind = self.backend.name.partition(":")[0]
        temperature = f",t={self._temperature:g}" if self._temperature else ""
        how = f"{read}{temperature},prompts@{self.templates.digest}"
        return f"{kind}:{able.model}{self.backend.variant}({how})"

    async def sees(self) -> bool:
        """See ``Judge.sees``. Asks the server, the first time."""
        able = await self._asker.backend.capabilities(images=True)
        return bool(able.images)

    async def presence(
        self,
        questions: Sequence[Question],
        target: str,
        source: str | None = None,
        *,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Grade]:
        """See ``Judge.presence``. Only the target is sent: questions say what they ask for."""
        return await presence.presence(
            self._asker,
            self.templates["presence"],
            questions,
            target,
            samples=self._samples,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def rewrite(
        self, phrase: str, *, replicate: int = 0, temperature: float | None = None
    ) -> str:
        """See ``Judge.rewrite``."""
        return await presence.rewrite(
            self._asker,
            self.templates["rewrite"],
            phrase,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def decompose(
        self,
        text: str,
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Statement]:
        """See ``Judge.decompose``."""
        return await statements.decompose(
            self._asker,
            self.templates["decompose"],
            text,
            language=language,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def match(
        self,
        claims: Sequence[str],
        references: Sequence[str],
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int | None]:
        """See ``Judge.match``."""
        return await statements.match(
            self._asker,
            self.templates["match"],
            claims,
            references,
            language=language,
            temperature=self._own(temperature),
            replicate=replicate,
        )

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
        """See ``Judge.verify``."""
        return await statements.verify(
            self._asker,
            self.templates["verify"],
            claims,
            images=images,
            reference=reference,
            language=language,
            temperature=self._own(temperature),
            replicate=replicate,
        )

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
        """See ``Judge.caption``."""
        return await pictures.caption(
            self._asker,
            self.templates["caption"],
            images,
            language=language,
            min_words=min_words,
            max_words=max_words,
            context=context,
            note=note,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def rate_sequence(
        self,
        shots: Sequence[Shot],
        *,
        context: str = "",
        anchors: bool = False,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Rating:
        """See ``Judge.rate_sequence``."""
        return await pictures.rate(
            self._asker,
            "rate_sequence",
            self.templates["rate_sequence"],
            shots,
            context=context,
            anchors=anchors,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def rate_transition(
        self,
        first: Shot,
        second: Shot,
        *,
        context: str = "",
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Rating:
        """See ``Judge.rate_transition``."""
        return await pictures.rate(
            self._asker,
            "rate_transition",
            self.templates["rate_transition"],
            (first, second),
            context=context,
            anchors=False,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def rank(
        self,
        texts: Sequence[str],
        *,
        images: Sequence[Image] = (),
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int]:
        """See ``Judge.rank``."""
        return await pictures.rank(
            self._asker,
            self.templates["rank"],
            texts,
            images=images,
            language=language,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def perplexity(
        self, texts: Sequence[str], *, prompt: str, images: Sequence[Image] = ()
    ) -> list[Perplexity]:
        """See ``Judge.perplexity``."""
        return await self._asker.perplexity(texts, prompt=prompt, images=tuple(images))

    async def classify(
        self,
        categories: Mapping[str, str],
        *,
        images: Sequence[Image] = (),
        text: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Category]:
        """See ``Judge.classify``."""
        return await pictures.classify(
            self._asker,
            self.templates["classify"],
            categories,
            images=images,
            text=text,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def translate(
        self,
        text: str,
        *,
        source: str,
        target: str,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Clause]:
        """See ``Judge.translate``."""
        return await pictures.translate(
            self._asker,
            self.templates["translate"],
            text,
            source=source,
            target=target,
            temperature=self._own(temperature),
            replicate=replicate,
        )

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
        """See ``Judge.assess``."""
        return await assessing.assess(
            self._asker,
            self.templates["assess"],
            candidate,
            aspects,
            references=references,
            images=images,
            low=low,
            high=high,
            rubric=rubric,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    async def grade(
        self,
        candidate: str,
        *,
        images: Sequence[Image],
        references: Sequence[str] = (),
        replicate: int = 0,
        temperature: float | None = None,
    ) -> Grade:
        """See ``Judge.grade``."""
        return await assessing.grade(
            self._asker,
            self.templates["grade"],
            candidate,
            references=references,
            images=images,
            samples=self._samples,
            temperature=self._own(temperature),
            replicate=replicate,
        )

    def check_can(self, operation: str, *, images: bool = False) -> None:
        """See ``Judge.check_can``; asks the server whether it takes pictures, the first time."""
        if images and run_sync(self._asker.backend.capabilities(images=True)).images is False:
            raise ConfigError(
                f"{self.backend.name} does not take pictures, and {operation} shows them here;"
                " choose a judge that can see, such as a vision-language model"
            )

    def _own(self, temperature: float | None) -> float:
        return self._temperature if temperature is None else temperature

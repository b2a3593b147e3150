"""What a run would ask, without asking: calls, tokens and cost, from typical answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeVar

from beholder.backends import (
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
    Surprisal,
    Usage,
)
from beholder.backends.money import Budget, Price
from beholder.judges.answers import Answers
from beholder.judges.asking import Prompt, Questioner

T = TypeVar("T")


@dataclass
class Tally:
    """Estimates, rather too high than too low in tokens; equal questions count once.

    Attributes:
        n_calls: Questions to models.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens answered.
        cost: US dollars, or None when some model's price is not known.
        most: Whether questions get the answer that leads to the most further questions.
    """

    n_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    most: bool = False
    seen: set[str] = field(default_factory=set, repr=False)

    def add(self, backend: str, request: Request, said: str, price: Price | None) -> None:
        """Count a question with its likely answer."""
        key = f"{backend}/{request.digest}"
        if key in self.seen:
            return
        self.seen.add(key)
        of_pictures = () if price is None or price.image is None else (price.image,)
        usage = Usage(
            prompt=request.estimated_tokens(*of_pictures),
            completion=request.sampling.n * max(1, len(said.encode("utf-8")) // 3),
        )
        self.n_calls += 1
        self.prompt_tokens += usage.prompt
        self.completion_tokens += usage.completion
        if price is None or self.cost is None:
            self.cost = None
        else:
            self.cost += price.cost(usage)


class Unprobed(Backend):
    """A backend that is never reached: it is taken to be able to do everything."""

    def __init__(self, real: Backend) -> None:
        self.name = real.name
        self._real = real

    async def capabilities(self, *, schema: bool = False, images: bool = False) -> Capabilities:
        """Everything."""
        model = self.name.partition(":")[2]
        return Capabilities(f"{model}?", top_logprobs=20, structure="schema", images=True)

    async def chat(self, request: Request) -> Answer:
        """Never happens: ``DryAsker`` answers before a backend is asked."""
        raise AssertionError("a dry run sends no requests")

    def price(self) -> Price | None:
        """The real one's."""
        return self._real.price()


class DryAsker(Questioner):
    """Counts questions and gives each a likely answer."""

    def __init__(self, backend: Backend, tally: Tally) -> None:
        super().__init__(Unprobed(backend), Answers(), Budget())
        self._tally = tally

    async def ask(self, prompt: Prompt[T]) -> T:
        """The value of the typical answer, or of the costly one."""
        request = Request(prompt.messages, prompt.sampling, prompt.schema, prompt.replicate)
        said = (self._tally.most and prompt.costly) or prompt.typical
        self._tally.add(self.backend.name, request, said, self.backend.price())
        first = ((said, 0.0),) if prompt.sampling.top_logprobs else None
        samples = (Sample(said, "stop", first),) * prompt.sampling.n
        return prompt.parse(Answer(samples, "dry"))

    async def surprisal(self, texts: Any, *, prompt: str, images: Any) -> list[Surprisal]:
        """One nat per token; nothing is counted, because local models charge nothing."""
        return [Surprisal(max(1.0, len(t) / 4), math.ceil(len(t) / 4), len(t)) for t in texts]

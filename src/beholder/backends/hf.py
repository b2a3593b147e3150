"""``hf:NAME_OR_PATH``: a transformers model in this process, text or vision-language."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from beholder.backends.base import (
    Answer,
    Capabilities,
    Image,
    JsonDict,
    Request,
    Surprisal,
    TextSet,
)
from beholder.backends.batching import Batcher, InProcess, beginning
from beholder.base.grouping import group_by_key
from beholder.base.optional import require
from beholder.base.ranges import check_number
from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.backends.hf_model import HFModel


class HF(InProcess):
    """A model of the transformers library.

    Args:
        model: Name on a hub, or a folder.
        device: ``cpu``, ``cuda``, ``cuda:1``...; None takes a GPU if there is one.
        dtype: ``float32``, ``bfloat16``, ``float16``; None takes 16 bits on a GPU, 32 on the CPU.
        revision: Commit or tag on the hub.
        batch_size: Prompts per forward pass at most; halved where memory runs out.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        revision: str | None = None,
        batch_size: int = 8,
    ) -> None:
        require("torch", extra="hf", purpose=f"the judge hf:{model}")
        require("transformers", extra="hf", purpose=f"the judge hf:{model}")
        check_number("batch_size", batch_size, 1, whole=True)
        self.name = f"hf:{model}"
        self._options: JsonDict = {
            "device": device,
            "dtype": dtype,
            "revision": revision,
        }
        self._name = model
        self._batch_size = batch_size
        self._model: HFModel | None = None
        self._batcher: Batcher[Request | TextSet, Any] = Batcher(
            self._answer, batch_size, _order
        )

    @cached_property
    def able(self) -> Capabilities:  # type: ignore[override]
        """Return the capabilities from the model's configuration; no weights are loaded."""
        from beholder.backends.hf_model import describe

        return describe(self._name, **self._options)

    async def chat(self, request: Request) -> Answer:
        """Return the model's answer; waits until its batch is computed."""
        answer: Answer = await self._ask(request)
        return answer

    async def _ask(self, question: Request | TextSet) -> Any:
        if question.images and not self.able.images:
            raise ConfigError(
                f"{self.name} does not take pictures; choose a judge that can see"
            )
        return await self._batcher.ask(question)

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        """Return exact surprisals; prompt and pictures are computed once for all texts.

        Sets of texts that are asked for at the same time are computed together.
        """
        surprisals: list[Surprisal] = await self._ask(
            TextSet(tuple(texts), prompt, images)
        )
        return surprisals

    def _load_model(self) -> HFModel:
        if self._model is None:
            from beholder.backends.hf_model import HFModel

            self._model = HFModel(
                self._name, batch_size=self._batch_size, **self._options
            )
        return self._model

    def _answer(
        self, questions: Sequence[Request | TextSet], stop: threading.Event
    ) -> Iterator[tuple[int, Any]]:
        from beholder.backends.hf_perplexity import perplexities

        # Only questions of one group fit into one forward pass; each group's answers are yielded as
        # soon as they are computed, so that they are kept if the run stops.
        model = self._load_model()
        model.stop = stop
        groups = group_by_key(
            (_group(question), i) for i, question in enumerate(questions)
        )
        for members in groups.values():
            group = [questions[i] for i in members]
            requests = [q for q in group if isinstance(q, Request)]
            sets = [q for q in group if isinstance(q, TextSet)]
            answers: Iterator[Any] = (
                model.fitting(model.answer, requests)
                if requests
                else model.fitting(
                    lambda batch: perplexities(model, batch), sets
                )
            )
            # A run that was stopped has fewer answers than questions.
            yield from zip(members, answers, strict=False)


def _order(question: Request | TextSet) -> tuple[Any, ...]:
    if isinstance(question, TextSet):
        return (_group(question), sum(map(len, question.texts)))
    # Neighbours share the longest beginning, which is computed once.
    if question.sampling.max_tokens == 1:
        return (_group(question), beginning(question))
    return (_group(question), question.estimated_tokens())


def _group(request: Request | TextSet) -> tuple[Any, ...]:
    """Return a key that is equal for questions that can share a forward pass.

    Drawn answers must not depend on what else is in the batch, so each is drawn alone.
    """
    if isinstance(request, TextSet):
        return (True, bool(request.images))
    sampling = request.sampling
    alone = sampling.temperature > 0 and sampling.max_tokens > 1
    return (
        False,
        bool(request.images),
        request.schema is not None,
        sampling.max_tokens,
        sampling.top_logprobs,
        id(request) if alone or sampling.n > 1 else 0,
    )

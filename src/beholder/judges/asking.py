"""One question to a model: look up, ask, store, parse; one repair request; then a failure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from beholder.aio import finish_before_exit
from beholder.backends import (
    Answer,
    Backend,
    Capabilities,
    Image,
    Message,
    Request,
    Sample,
    Sampling,
    Surprisal,
    Usage,
)
from beholder.backends.base import REFUSAL
from beholder.backends.calls import once
from beholder.backends.money import Account, Budget, SampleSeries
from beholder.errors import BeholderError, ConfigError, ItemError
from beholder.judges.answers import AnswerStore, Record, noting
from beholder.judges.reading import BadAnswer
from beholder.judges.templates import Template, sanitise

_noted: ContextVar[dict[str, Sequence[Message]] | None] = ContextVar(
    "questions", default=None
)


def noted_questions() -> AbstractContextManager[dict[str, Sequence[Message]]]:
    """Collect the messages of every question asked in the block, also by tasks that it starts.

    Returns:
        Gives the messages by the key of the answer; filled during the work.
    """
    return noting(_noted, {})


def note_question(key: str, messages: Sequence[Message]) -> None:
    """Note a question for whoever collects them."""
    noted = _noted.get()
    if noted is not None:
        noted[key] = messages


def question_rows(
    questions: dict[str, Sequence[Message]],
) -> list[dict[str, object]]:
    """Questions as JSON values, in an order that does not depend on which was answered first.

    Each has ``key`` and ``messages``: pairs of a role and its text, pictures by their digest. Most
    of their words are the same, so together they compress to little more than one of them.
    """

    def message_row(message: Message) -> list[str]:
        parts = (
            p if isinstance(p, str) else f"[picture {p.digest[:16]}]\n"
            for p in message.parts
        )
        return [message.role, "".join(parts)]

    return [
        {"key": key, "messages": [*map(message_row, questions[key])]}
        for key in sorted(questions)
    ]


T = TypeVar("T")


@dataclass(frozen=True)
class Prompt(Generic[T]):
    """One question to a model.

    Attributes:
        operation: Name of the operation.
        template: The prompt it was rendered from.
        messages: The rendered prompt.
        sampling: Settings for sampling the answer.
        parse: Makes the answer a value, or raises ``BadAnswer``.
        typical: An answer as it could be, for estimates.
        schema: JSON schema of the answer, or None.
        replicate: Index of the repeat.
        whole: Whether the answer must be complete: False where only its first token is read.
        costly: An answer that leads to the most further questions, where ``typical`` does not.
        fewest: An answer that leads to the fewest, where ``typical`` does not.
    """

    operation: str
    template: Template
    messages: tuple[Message, ...]
    sampling: Sampling
    parse: Callable[[Answer], T]
    typical: str
    schema: Mapping[str, Any] | None = None
    replicate: int = 0
    whole: bool = True
    costly: str = ""
    fewest: str = ""


class _Calls(dict[str, "_Call"]):
    """The questions in flight whose answers go to one store, by the key of the answer."""


_calls: WeakValueDictionary[int, _Calls] = WeakValueDictionary()
"""By the store's ``id``, as stores need no hash; the questioners who use it keep both alive.

Judges that name one model in two ways ask for the same keys: they share one table."""


class Questioner:
    """Puts questions to one backend; shared by all questions to a judge.

    Args:
        backend: The model.
        answers: Store for answers.
        budget: Limit on the spending.
    """

    def __init__(
        self, backend: Backend, answers: AnswerStore, budget: Budget
    ) -> None:
        self.backend = backend
        self._answers = answers
        self._account = backend.account = Account(budget, answers.put_charge)
        self._in_flight = _calls.setdefault(id(answers), _Calls())

    async def ask(self, prompt: Prompt[T]) -> T:
        """The value of an answer.

        Raises:
            ItemError: The answer cannot be used, nor can the one to a repair request; it was cut
                off; or the request cannot be answered at all.
        """
        first: BadAnswer | None = None
        while True:
            answer = await self._obtain(prompt)
            _check_finish(prompt, answer, self.backend.name)
            try:
                return prompt.parse(answer)
            except BadAnswer as bad:
                if first is not None:
                    raise ItemError(
                        f"{self.backend.name} gave no usable answer to {prompt.operation}: {bad}"
                        f" (before that: {first}); it said {answer.text[:200]!r}"
                    ) from bad
                first = bad
            prompt = replace(
                prompt, messages=(*prompt.messages, *_complaint(answer, first))
            )

    async def surprisal(
        self, texts: Sequence[str], *, prompt: str, images: tuple[Image, ...]
    ) -> list[Surprisal]:
        """Surprisal of each text as the answer to the prompt; each is computed once and kept."""
        self._check_films(images)
        able = await self.backend.capabilities(images=bool(images))
        question = Message("user", (*images, prompt))
        # Each text is a record of its own under the digest of prompt and text:
        # texts that several metrics score are computed once.
        records = [
            Record(
                request=Request(
                    (question, Message("assistant", (text,)))
                ).digest,
                operation="perplexity",
                template="perplexity.v1@none",
                backend=self.backend.name + self.backend.variant,
                model=able.model,
                replicate=0,
                answer=Answer((), able.model),
                cost=None,
            )
            for text in texts
        ]
        answers_by_key = {
            r.key: self._answers.get_answer(r.key) for r in records
        }
        # A dict by key, as the same text may occur twice in one call.
        new = {
            r.key: (r, text)
            for r, text in zip(records, texts, strict=True)
            if answers_by_key[r.key] is None
        }
        if new:
            fresh = await self.backend.surprisal(
                [text for _, text in new.values()],
                prompt=prompt,
                images=images,
            )
            for (record, _), value in zip(new.values(), fresh, strict=True):
                sample = Sample(json.dumps(asdict(value)), "stop")
                answer = Answer(
                    (sample,), able.model, usage=Usage(prompt=value.n_tokens)
                )
                self._answers.put_answer(replace(record, answer=answer))
                answers_by_key[record.key] = answer
        answers = (answers_by_key[record.key] for record in records)
        return [
            Surprisal(**json.loads(answer.text))
            for answer in answers
            if answer is not None
        ]

    def _check_films(self, images: Sequence[Image]) -> None:
        if not self.backend.takes_films and any(
            image.clip for image in images
        ):
            raise ConfigError(
                f"{self.backend.name} takes no films; take pictures of them with --frames N, or a"
                " judge gemini:MODEL"
            )

    async def _obtain(self, prompt: Prompt[Any]) -> Answer:
        request = Request(
            prompt.messages, prompt.sampling, prompt.schema, prompt.replicate
        )
        images = request.images
        self._check_films(images)
        try:
            able = await self.backend.capabilities(
                schema=request.schema is not None, images=bool(images)
            )
            blank = self._blank(prompt, request, able)
            note_question(blank.key, prompt.messages)
            stored_answer = self._answers.get_answer(blank.key)
            if stored_answer is not None:
                return stored_answer
            return await self._shared(request, blank, able.thinking)
        except BeholderError as error:
            if not isinstance(error, ItemError):
                # The run is about to end: what is under way is paid for, so let it arrive.
                loop = asyncio.get_running_loop()
                calls = [
                    c
                    for c in self._in_flight.values()
                    if c.backend is self.backend
                ]
                arriving = [
                    call.task for call in calls if call.task.get_loop() is loop
                ]
                await asyncio.gather(*arriving, return_exceptions=True)
            raise

    def _blank(
        self, prompt: Prompt[Any], request: Request, able: Capabilities
    ) -> Record:
        """Return the record of a request before it is answered."""
        return Record(
            request=_request_digest(request, able),
            operation=prompt.operation,
            template=f"{prompt.template.name}.v{prompt.template.version}@{prompt.template.digest}",
            backend=self.backend.name + self.backend.variant,
            model=able.model,
            replicate=prompt.replicate,
            answer=Answer((), able.model),
            cost=None,
        )

    async def _shared(
        self, request: Request, blank: Record, thinking: int
    ) -> Answer:
        """Ask equal questions in flight once; one caller's exit does not stop the others.

        A call without a waiting caller is given up if it was not sent yet. One that was sent is
        paid for: it continues, and its answer is kept when it comes (see ``finish_before_exit``).
        """
        call = self._in_flight.get(blank.key)
        if (
            call is None
            or call.task.get_loop() is not asyncio.get_running_loop()
        ):
            call = self._in_flight[blank.key] = _Call(self.backend)
            work = once(
                self._answers,
                blank.key,
                lambda: self._answers.get_answer(blank.key),
                lambda: self._draw_samples(request, blank, thinking, call),
            )
            call.task = asyncio.ensure_future(work)
            call.task.add_done_callback(
                lambda done: self._landed(blank.key, done)
            )
            finish_before_exit(call.task)
        call.n_waiting += 1
        try:
            return await asyncio.shield(call.task)
        except asyncio.CancelledError:
            if call.n_waiting == 1 and not call.backend.is_under_way(
                call.task
            ):
                call.task.cancel()
            raise
        finally:
            call.n_waiting -= 1

    def _landed(self, key: str, task: asyncio.Task[Answer]) -> None:
        if key in self._in_flight and self._in_flight[key].task is task:
            del self._in_flight[key]
        if not task.cancelled():
            task.exception()  # seen: the callers that still wait get it

    async def _draw_samples(
        self, request: Request, blank: Record, thinking: int, call: _Call
    ) -> Answer:
        """The answer with all samples. What each call draws is kept when it arrives.

        Raises:
            asyncio.CancelledError: No caller waits for it any more, and further calls are needed.
        """
        # Plan: ask until there are n samples. A server may return fewer than
        # asked for, so each part is stored as a draw when it arrives and a
        # killed run pays only for the missing ones; all parts become one
        # answer in the end.
        n = request.sampling.n
        draws: dict[str, Answer] = {}
        n_drawn = 0
        try:
            while n_drawn < n:
                record = blank if n == 1 else blank.draw(n_drawn)
                answer = (
                    self._answers.get_answer(record.key) if n > 1 else None
                )
                if answer is None or not answer.samples:
                    # No one waits for this answer any more: what was paid for
                    # is stored, and no further call is bought.
                    if draws and not call.n_waiting:
                        raise asyncio.CancelledError
                    part = _part(request, n_drawn, SampleSeries(blank.key))
                    answer, cost = await self._bought(part, thinking)
                    # The usual case: one call returned all samples, so no
                    # draws need to be stored.
                    if not draws and len(answer.samples) >= n:
                        self._answers.put_answer(
                            replace(blank, answer=answer, cost=cost)
                        )
                        return answer
                    self._answers.put_answer(
                        replace(record, answer=answer, cost=cost)
                    )
                draws[record.key] = answer
                n_drawn += len(answer.samples)
        finally:
            self._account.budget.ends(blank.key)
        whole = _joined(list(draws.values()), n)
        record = replace(blank, answer=whole, cost=self._cost(whole))
        self._answers.put_whole(record, list(draws))
        return whole

    async def _bought(
        self, request: Request, thinking: int
    ) -> tuple[Answer, float | None]:
        """Return the answer, which is paid for, and its cost."""
        # Such a backend reserves the price of each of its
        # calls itself; a second reservation here would count the money twice.
        if self.backend.pays_each_call:
            answer = await self.backend.chat(request)
            return answer, self._cost(answer)
        price = self.backend.price()
        highest_cost = (
            None
            if price is None
            else price.cost(request.most_usage(thinking, price.image))
        )
        # The highest possible cost is reserved before the call, since calls
        # run side by side and each would otherwise see the same free budget.
        async with self._account.budget.reserve(
            highest_cost, self.backend.name
        ):
            answer = await self.backend.chat(request)
            cost = self._cost(answer)
            self._account.budget.pay(cost)
        return answer, cost

    def _cost(self, answer: Answer) -> float | None:
        price = self.backend.price()
        return (
            None
            if price is None
            else price.cost(answer.usage, answer.price_factor)
        )


@dataclass
class _Call:
    """A question in flight, who is asked, and how many wait for the answer."""

    backend: Backend
    n_waiting: int = 0
    task: asyncio.Task[Answer] = field(init=False)


def _part(request: Request, n_before: int, drawing: SampleSeries) -> Request:
    """The request for the samples after some; each part is drawn in another way."""
    if request.sampling.n == 1:
        return request
    return replace(
        request,
        sampling=replace(request.sampling, n=request.sampling.n - n_before),
        replicate=request.replicate + 1000 * n_before,
        drawing=drawing,
    )


def _joined(draws: Sequence[Answer], n: int) -> Answer:
    """One answer of several calls, which the same model gave."""
    usage = Usage()
    for answer in draws:
        usage += answer.usage
    return replace(
        draws[-1],
        samples=tuple(sample for answer in draws for sample in answer.samples)[
            :n
        ],
        usage=usage,
        seconds=sum(answer.seconds for answer in draws),
    )


def _request_digest(request: Request, able: Capabilities) -> str:
    """Digest of the request as it is sent to this server: in its way to get JSON."""
    if request.schema is None or able.structure in (None, "schema"):
        return request.digest
    return f"{request.digest}/{able.structure}"


def _complaint(answer: Answer, bad: BadAnswer) -> tuple[Message, Message]:
    answer_text = answer.text.strip() or "(nothing)"
    why = sanitise(
        str(bad)
    )  # it may quote the answer, and the answer a text under judgment
    return (
        Message("assistant", (answer_text,)),
        Message(
            "user",
            (
                f"That answer cannot be used: {why}. Answer the same question again.",
            ),
        ),
    )


def _check_finish(prompt: Prompt[Any], answer: Answer, name: str) -> None:
    finishes = {sample.finish for sample in answer.samples}
    if "content_filter" in finishes:
        raise ItemError(
            f"{name} refused to answer {prompt.operation} (content filter)"
        )
    if REFUSAL in finishes:
        refusal_text = next(
            sample.text
            for sample in answer.samples
            if sample.finish == REFUSAL
        )
        raise ItemError(
            f"{name} refused to answer {prompt.operation}: {refusal_text[:200]!r}"
        )
    if prompt.whole and finishes == {"length"}:
        raise ItemError(
            f"{name} was cut off in its answer to {prompt.operation} after"
            f" {prompt.sampling.max_tokens} tokens; what it said so far is kept but not used"
        )

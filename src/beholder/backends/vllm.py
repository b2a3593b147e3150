"""``vllm:NAME``: the vLLM engine in this process.

A server (``openai:NAME`` with its address) does the same and can be shared; this spares one.
The engine is imported and started at the first question, in the thread that will use it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from beholder.backends.base import (
    Answer,
    Capabilities,
    FirstTokens,
    Image,
    JsonDict,
    JsonObject,
    Message,
    Request,
    Sample,
    Sampling,
    Surprisal,
    options_digest,
)
from beholder.backends.batching import (
    Batcher,
    InProcess,
    beginning,
    weights_digest,
)
from beholder.backends.calls import SAYS_TOO_LONG, too_long
from beholder.backends.money import Usage
from beholder.backends.openai import merged_tokens_error
from beholder.backends.openai_wire import to_message
from beholder.base.optional import require
from beholder.errors import ConfigError, ItemError

MOST_LOGPROBS = 20


class VLLM(InProcess):
    """A model in vLLM's own engine.

    Args:
        model: Name on a hub, or a folder.
        revision: Commit or tag on the hub; without one, answers are kept under whatever the hub
            has, so that those of weights that were changed there are not distinguished.
        images: Whether to use it as a vision-language model.
        thinking: Passed to the chat template as ``enable_thinking``; None passes nothing.
        batch_size: Requests handed to the engine at once; it schedules them itself.
        trust_remote_code: Let the model's own Python code run, with all that you may do on this
            machine. Only for a model whose code you have read, at a ``revision``.
        engine: Further arguments of ``vllm.LLM``, such as ``tensor_parallel_size``.

    Raises:
        ConfigError: Code of a model is trusted at no revision: it could be other code tomorrow.
    """

    def __init__(
        self,
        model: str,
        *,
        revision: str | None = None,
        images: bool = False,
        thinking: bool | None = None,
        batch_size: int = 1024,
        trust_remote_code: bool = False,
        **engine: Any,
    ) -> None:
        self.name = f"vllm:{model}"
        self._model = model
        if not isinstance(trust_remote_code, bool):
            raise ConfigError(
                f"{self.name}: trust_remote_code is True or False"
            )
        if trust_remote_code and revision is None and not Path(model).is_dir():
            raise ConfigError(
                f"{self.name}: trust_remote_code=True runs the model's own code; name the revision"
                " whose code you have read: revision='COMMIT'"
            )
        self._engine_options = {
            "revision": revision,
            "enable_prefix_caching": True,
            "load_format": "safetensors",
            "trust_remote_code": trust_remote_code,
            **engine,
        }
        self._template = (
            {} if thinking is None else {"enable_thinking": thinking}
        )
        self.variant = options_digest({**engine, **self._template})
        self._revision = revision
        self._images = images
        self._engine: Any = None
        # Sorted by their words, prompts that begin alike reach the engine one after the other.
        self._batcher: Batcher[Request, Answer] = Batcher(
            self._answer, batch_size, beginning
        )

    @cached_property
    def able(self) -> Capabilities:  # type: ignore[override]
        """Return the engine's capabilities; a model in your own files is named by their digest."""
        place = Path(self._model)
        version = (
            weights_digest(place)[:12]
            if place.exists()
            else self._revision or "main"
        )
        return Capabilities(
            f"{self._model}@{version}", MOST_LOGPROBS, "schema", self._images
        )

    async def chat(self, request: Request) -> Answer:
        """Return the engine's answer."""
        return await self._batcher.ask(request)

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        """Return exact surprisals from the engine's prompt log-probabilities."""
        question = Message("user", (*images, prompt))
        return await self._batcher.run(
            lambda: self._perplexities(question, texts)
        )

    def _vllm(self) -> ModuleType:
        return require("vllm", extra="vllm", purpose=f"the judge {self.name}")

    def _start_engine(self) -> Any:
        if self._engine is None:
            # Else it logs on stdout, where results go; it looks when it is imported.
            os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
            vllm = self._vllm()
            # This attribute loads the parts of the package that `_compact_json` looks at.
            make = vllm.LLM
            self._engine = make(
                model=self._model,
                **{**_compact_json(vllm), **self._engine_options},
            )
        return self._engine

    def _answer(
        self, requests: Sequence[Request], stop: threading.Event
    ) -> Iterator[tuple[int, Answer | Exception]]:
        llm, vllm = self._start_engine(), self._vllm()
        start = time.monotonic()
        try:
            turns = [
                [*map(to_message, request.messages)] for request in requests
            ]
            params = [sampling_params(vllm, request) for request in requests]
            options = {"chat_template_kwargs": self._template}
            for place, output in _outputs(llm, turns, params, stop, **options):
                # Answers come together: each is charged with the time since those before it.
                now = time.monotonic()
                yield place, read_output(output, self.able.model, now - start)
                start = now
        except ValueError as error:
            # The engine refuses the whole batch if one request is too long.
            if len(requests) == 1:
                yield 0, self._refusal(requests[0], str(error))
                return
            # One by one, so that only the request that is too long fails.
            for place, request in enumerate(requests):
                yield from (
                    (place, answer)
                    for _, answer in self._answer([request], stop)
                )

    def _refusal(self, request: Request, reason: str) -> ItemError:
        if SAYS_TOO_LONG.search(reason):
            tokens = request.estimated_tokens() + request.sampling.max_tokens
            room = self._engine_options.get("max_model_len")
            return too_long(self.name, f"about {tokens}", room, reason)
        return ItemError(f"{self.name} refused the request: {reason}")

    def _perplexities(
        self, question: Message, texts: Sequence[str]
    ) -> list[Surprisal]:
        if not all(texts):
            raise ItemError("an empty text has no perplexity")
        # As for a server: the prompt alone says where a text begins, and each text follows it
        # as the beginning of the model's turn.
        engine, vllm = self._start_engine(), self._vllm()
        params = vllm.SamplingParams(
            max_tokens=1, temperature=0.0, prompt_logprobs=0
        )
        prompt_output = engine.chat(
            [[to_message(question)]], sampling_params=params, use_tqdm=False
        )[0]
        before = list(prompt_output.prompt_token_ids)
        conversations = [
            [to_message(question), to_message(Message("assistant", (text,)))]
            for text in texts
        ]
        options = {
            "add_generation_prompt": False,
            "continue_final_message": True,
        }
        outputs = engine.chat(
            conversations, sampling_params=params, use_tqdm=False, **options
        )
        surprisals = []
        for text, output in zip(texts, outputs, strict=True):
            if list(output.prompt_token_ids[: len(before)]) != before:
                raise merged_tokens_error(self.name, text)
            rows = output.prompt_logprobs[len(before) :]
            nll = -sum(next(iter(row.values())).logprob for row in rows)
            surprisals.append(Surprisal(nll, len(rows), len(text)))
        return surprisals


def _outputs(
    llm: Any,
    turns: Sequence[Any],
    params: Any,
    stop: threading.Event,
    **options: Any,
) -> Iterator[tuple[int, Any]]:
    """Yield place and output of each conversation when it is finished, until stopped."""
    # Older versions give all at their end.
    if not hasattr(llm, "enqueue_chat"):
        yield from enumerate(
            llm.chat(turns, params, use_tqdm=False, **options)
        )
        return
    added = llm.enqueue_chat(turns, params, use_tqdm=False, **options)
    # The engine marks the names that it gives back, and reports and takes them without the mark.
    places = {
        name.partition("-")[0]: place for place, name in enumerate(added)
    }
    try:
        while places and not stop.is_set():
            for output in llm.llm_engine.step():
                if output.finished:
                    yield places.pop(output.request_id), output
    finally:
        llm.llm_engine.abort_request(list(places))


def sampling_params(vllm: Any, request: Request) -> Any:
    """Return the engine's sampling parameters for a request."""
    sampling: Sampling = request.sampling
    options: JsonDict = {
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "n": sampling.n,
    }
    if sampling.temperature and not vllm.platforms.current_platform.is_cpu():
        # On a CPU the engine dies of a seed ("CPU Generator does not use offset", 0.32).
        options["seed"] = sampling.seed + request.replicate
    if sampling.top_logprobs:
        options["logprobs"] = min(sampling.top_logprobs, MOST_LOGPROBS)
    if request.schema is not None:
        options |= _guided(vllm, request.schema)
    return vllm.SamplingParams(**options)


def _compact_json(vllm: Any) -> JsonDict:
    """Return the options that forbid free white space in JSON: small models never end it."""
    if not _has_structured_outputs(vllm):
        return {}
    return {
        "structured_outputs_config": {
            "backend": "xgrammar",
            "disable_any_whitespace": True,
        }
    }


def _has_structured_outputs(vllm: Any) -> bool:
    """Return whether guided decoding has the name of newer versions."""
    return hasattr(vllm.sampling_params, "StructuredOutputsParams")


def _guided(vllm: Any, schema: JsonObject) -> JsonDict:
    """Return the option of schema-guided decoding, whose name changed between versions."""
    kinds = vllm.sampling_params
    if _has_structured_outputs(vllm):
        return {
            "structured_outputs": kinds.StructuredOutputsParams(
                json=dict(schema)
            )
        }
    return {"guided_decoding": kinds.GuidedDecodingParams(json=dict(schema))}


def read_output(output: Any, model: str, seconds: float) -> Answer:
    """Return an engine's output as an answer."""
    samples = tuple(
        Sample(each.text, each.finish_reason or "stop", _first(each.logprobs))
        for each in output.outputs
    )
    usage = Usage(
        prompt=len(output.prompt_token_ids),
        cached=int(output.num_cached_tokens or 0),
        completion=sum(len(each.token_ids) for each in output.outputs),
    )
    return Answer(samples, model, None, usage, seconds)


def _first(logprobs: Any) -> FirstTokens | None:
    if not logprobs:
        return None
    rows = sorted(logprobs[0].values(), key=lambda row: -row.logprob)
    return tuple((row.decoded_token or "", float(row.logprob)) for row in rows)

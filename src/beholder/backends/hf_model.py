"""A transformers model: rendering prompts, generating, reading probabilities. Synchronous torch."""

from __future__ import annotations

import inspect
import io
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import torch
import transformers
from PIL import Image as PILImage

from beholder.backends import hf_schema
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
    Structure,
)
from beholder.backends.batching import weights_digest
from beholder.backends.calls import too_long
from beholder.backends.hf_prefix import has_positions, last_logits
from beholder.backends.money import Usage
from beholder.errors import ConfigError, ItemError

MOST_LOGPROBS = 20
Q = TypeVar("Q")


def describe(
    name: str, *, device: str | None, dtype: str | None, revision: str | None
) -> Capabilities:
    """Return name, version and capabilities of a model, from its configuration alone."""
    config = _read_config(name, revision)
    images = type(config) in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
    version = getattr(config, "_commit_hash", None) or weights_digest(
        Path(name)
    )
    number = str(dtype_of(dtype, device_of(device))).removeprefix("torch.")
    structure: Structure = "schema" if hf_schema.IS_AVAILABLE else "text"
    return Capabilities(
        f"{name}@{version[:12]},{number}", MOST_LOGPROBS, structure, images
    )


def _read_config(name: str, revision: str | None) -> Any:
    try:
        return transformers.AutoConfig.from_pretrained(name, revision=revision)
    except (OSError, ValueError) as error:
        raise ConfigError(f"hf:{name} cannot be loaded: {error}") from error


def device_of(device: str | None) -> str:
    """Return the named device, else a GPU if there is one."""
    return device or ("cuda" if torch.cuda.is_available() else "cpu")


def dtype_of(dtype: str | None, device: str) -> torch.dtype:
    """Return the named number format, else 32 bits on the CPU and 16 elsewhere."""
    if dtype is None:
        return torch.float32 if device == "cpu" else torch.bfloat16
    number_format = getattr(torch, dtype, None)
    if not isinstance(number_format, torch.dtype):
        raise ConfigError(
            f"dtype={dtype!r}: expected float32, bfloat16 or float16"
        )
    return number_format


class HFModel:
    """Weights in memory, with tokenizer or processor.

    Args:
        name: Name on a hub, or a folder.
        device: Device of the computation; None takes a GPU if there is one.
        dtype: Number format; None takes 16 bits on a GPU and 32 on the CPU.
        revision: Commit or tag.
        batch_size: Texts per forward pass at most.

    Attributes:
        batch_size: Texts per forward pass; halved where memory runs out.
        stop: Set when no caller waits for the answers that are being written.
    """

    def __init__(
        self,
        name: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        revision: str | None = None,
        batch_size: int = 8,
    ) -> None:
        # A vision model has a processor, which contains the tokenizer; a text model has a tokenizer
        # alone, and `processor` is None.
        config = _read_config(name, revision)
        self.able = describe(
            name, device=device, dtype=dtype, revision=revision
        )
        self.device = device_of(device)
        self.batch_size = batch_size
        self.stop = threading.Event()
        options = {
            "revision": revision,
            "dtype": dtype_of(dtype, self.device),
            "use_safetensors": True,  # other formats can run code while they are read
        }
        if self.able.images:
            self.processor = transformers.AutoProcessor.from_pretrained(
                name, revision=revision
            )
            self.tokenizer = self.processor.tokenizer
            loader = transformers.AutoModelForImageTextToText
        else:
            self.processor = None
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(
                name, revision=revision
            )
            loader = transformers.AutoModelForCausalLM
        self.model = (
            loader.from_pretrained(name, **options).to(self.device).eval()
        )
        text_config = config.get_text_config()
        self.context = int(
            getattr(text_config, "max_position_embeddings", 0) or 0
        )
        self.tokenizer.padding_side = (
            "left"  # generation continues from the last token
        )
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token

    def fitting(
        self,
        compute: Callable[[Sequence[Q]], Sequence[Any]],
        questions: Sequence[Q],
    ) -> Iterator[Any]:
        """Yield the answers to questions, computed in batches that fit into memory, until stopped.

        Args:
            compute: Gives one answer, or an exception in its place, per question.
            questions: The questions.
        """
        # The size of a batch that fits is unknown before it is tried: where memory runs out, halve
        # it and try the same questions again. A question that does not fit alone gets an error.
        n_done = 0
        while n_done < len(questions) and not self.stop.is_set():
            batch = questions[n_done : n_done + self.batch_size]
            try:
                answers = compute(batch)
            except torch.OutOfMemoryError as error:
                reason = str(error).partition("\n")[0]
            else:
                n_done += len(batch)
                yield from answers
                continue
            if len(batch) == 1:
                n_done += 1
                yield ItemError(
                    f"{self.able.model} has no memory for this prompt alone ({reason}); shorten"
                    " the text, use a smaller dtype, or a smaller model"
                )
            self.batch_size = max(1, len(batch) // 2)
            if self.device != "cpu":
                torch.cuda.empty_cache()

    def answer(self, requests: Sequence[Request]) -> list[Answer | Exception]:
        """Return answers to requests that differ in their messages (and, if alone, in their seed).

        A request that is too long gets an ItemError in place of an answer.
        """
        # Too long prompts are sorted out first, as one of them would fail the whole batch.
        start = time.monotonic()
        prompts = [self.render(request.messages) for request in requests]
        fitting: list[int] = []
        outcomes: dict[int, Answer | Exception] = {}
        for i, (prompt, request) in enumerate(
            zip(prompts, requests, strict=True)
        ):
            try:
                self._check_length(prompt, request)
                fitting.append(i)
            except ItemError as error:
                outcomes[i] = error
        if fitting:
            fitting_requests = [requests[i] for i in fitting]
            answers = self._answer_prompts(
                [prompts[i] for i in fitting], fitting_requests
            )
            seconds = (time.monotonic() - start) / len(fitting)
            for i, (samples, usage) in zip(fitting, answers, strict=True):
                outcomes[i] = Answer(
                    samples, self.able.model, None, usage, seconds
                )
        return [outcomes[i] for i in range(len(requests))]

    def forward(
        self, *, keep: int | torch.Tensor | None = None, **inputs: Any
    ) -> Any:
        """Return the model's output of one forward pass.

        Args:
            keep: Places after which logits are wanted, -1 for the last; None for all.
            inputs: Of the model.
        """
        if keep is None:
            return self.model(**inputs)
        places = torch.as_tensor(keep, device=self.device).reshape(-1)
        if (
            "logits_to_keep"
            in inspect.signature(self.model.forward).parameters
        ):
            # The logits of a long prompt can fill a GPU.
            return self.model(**inputs, logits_to_keep=places)
        out = self.model(**inputs)
        out.logits = out.logits[:, places]
        return out

    def _answer_prompts(
        self, prompts: list[str], requests: Sequence[Request]
    ) -> list[tuple[tuple[Sample, ...], Usage]]:
        """Return samples and usage per prompt.

        Answers of one likeliest token need no generation: one forward run of the shared
        beginning, and one over what differs.
        """
        sampling = requests[0].sampling
        one_token = (
            sampling.max_tokens == sampling.n == 1 and not requests[0].images
        )
        if (
            one_token
            and self.processor is None
            and not has_positions(self.model)
        ):
            options = {"add_special_tokens": self._adds_special(prompts)}
            ids = [
                self.tokenizer(prompt, **options)["input_ids"]
                for prompt in prompts
            ]
            with torch.inference_mode():
                logits = last_logits(self.forward, ids, self.device)
            if logits is not None:
                return [
                    self._first_token(row, len(prompt), sampling)
                    for row, prompt in zip(logits, ids, strict=True)
                ]
        return self._generate(prompts, requests)

    def _first_token(
        self, logits: torch.Tensor, n_prompt: int, sampling: Sampling
    ) -> tuple[tuple[Sample, ...], Usage]:
        token = int(logits.argmax())
        ends = self._ends()
        first = (
            self._first(logits, sampling.top_logprobs)
            if sampling.top_logprobs
            else None
        )
        usage = Usage(prompt=n_prompt, completion=self._length([token], ends))
        return (self._sample([token], ends, first),), usage

    def _ends(self) -> set[int]:
        """Return the tokens that end an answer."""
        token_ids = (
            self.model.generation_config.eos_token_id
            or self.tokenizer.eos_token_id
        )
        return set(torch.as_tensor(token_ids).flatten().tolist())

    def _generate(
        self, prompts: list[str], requests: Sequence[Request]
    ) -> list[tuple[tuple[Sample, ...], Usage]]:
        sampling = requests[0].sampling
        # Each prompt gets `n` rows of output, one below the other. A drawn answer is alone in its
        # batch (`hf._group`), so its seed decides it whatever else is asked.
        images = [image for request in requests for image in request.images]
        inputs = self.encode(prompts, images)
        n_prompt = inputs["input_ids"].shape[1]
        draws = sampling.temperature > 0 and sampling.max_tokens > 1
        ends = self._ends()
        config = transformers.GenerationConfig(
            max_new_tokens=sampling.max_tokens,
            do_sample=draws or sampling.n > 1,
            num_return_sequences=sampling.n,
            eos_token_id=sorted(ends),
            pad_token_id=self.tokenizer.pad_token_id,
            return_dict_in_generate=True,
            output_logits=sampling.top_logprobs > 0,
            **(
                {"temperature": sampling.temperature, "top_k": 0}
                if draws
                else {}
            ),
        )
        # A seed of our own, which leaves the caller's alone.
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(sampling.seed + requests[0].replicate)
            out = self.model.generate(
                **inputs,
                generation_config=config,
                stopping_criteria=[self._is_stopped],
                logits_processor=self._constrain(requests),
            )
        new_tokens = out.sequences[:, n_prompt:]
        answers = []
        for i in range(len(requests)):
            rows = range(i * sampling.n, (i + 1) * sampling.n)
            first = (
                self._first(out.logits[0][i], sampling.top_logprobs)
                if out.logits
                else None
            )
            samples = tuple(
                self._sample(new_tokens[row].tolist(), ends, first)
                for row in rows
            )
            usage = Usage(
                prompt=int(inputs["attention_mask"][i].sum()),
                completion=sum(
                    self._length(new_tokens[row].tolist(), ends)
                    for row in rows
                ),
            )
            answers.append((samples, usage))
        return answers

    def _constrain(
        self, requests: Sequence[Request]
    ) -> transformers.LogitsProcessorList | None:
        """Return the processors that hold answers to their schemas; None without schemas."""
        # Each request has one row of output per sample, and each row needs its schema.
        n_samples = requests[0].sampling.n
        schemas: list[JsonObject] = []
        for request in requests:
            if request.schema is not None:
                schemas += [request.schema] * n_samples
        if not schemas or not hf_schema.IS_AVAILABLE:
            return None
        return self._binder.bind(schemas)

    @cached_property
    def _binder(self) -> hf_schema.Binder:
        n_tokens = self.model.get_output_embeddings().weight.shape[0]
        return hf_schema.Binder(self.tokenizer, n_tokens, sorted(self._ends()))

    def _is_stopped(
        self, ids: torch.Tensor, scores: object, **_: object
    ) -> torch.Tensor:
        """Return per row whether generation ends here; shape (rows,)."""
        return torch.full((len(ids),), self.stop.is_set(), device=ids.device)

    def _sample(
        self,
        ids: list[int],
        ends: set[int],
        first: FirstTokens | None,
    ) -> Sample:
        is_finished = any(token in ends for token in ids)
        text = self.tokenizer.decode(
            ids[: self._length(ids, ends)], skip_special_tokens=True
        )
        return Sample(text, "stop" if is_finished else "length", first)

    @staticmethod
    def _length(ids: list[int], ends: set[int]) -> int:
        return next(
            (i for i, token in enumerate(ids) if token in ends), len(ids)
        )

    def _first(self, logits: torch.Tensor, n: int) -> FirstTokens:
        top = torch.log_softmax(logits.float(), dim=-1).topk(
            min(n, logits.shape[-1])
        )
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        return tuple(
            (self.tokenizer.decode([token]), value) for token, value in pairs
        )

    def encode(self, prompts: list[str], images: Sequence[Image]) -> Any:
        """Return model inputs of rendered prompts with their pictures, padded on the left."""
        special = self._adds_special(prompts)
        options = {
            "return_tensors": "pt",
            "padding": True,
            "add_special_tokens": special,
        }
        if self.processor is None:
            return self.tokenizer(prompts, **options).to(self.device)
        pictures = [_open(image) for image in images]
        image_inputs = {"images": pictures} if pictures else {}
        encoded = self.processor(text=prompts, **image_inputs, **options)
        return encoded.to(self.device, self.model.dtype)

    def _adds_special(self, prompts: Sequence[str]) -> bool:
        """Return whether the tokenizer must add special tokens; chat templates write their own."""
        # A processor's template may leave the first token to the tokenizer.
        bos = self.tokenizer.bos_token
        return self.template is None or bool(
            self.processor and bos and not prompts[0].startswith(bos)
        )

    @property
    def template(self) -> str | None:
        """Return the chat template, or None if the model has none."""
        processor_template = getattr(self.processor, "chat_template", None)
        return processor_template or getattr(
            self.tokenizer, "chat_template", None
        )

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt as text, up to where the model answers."""
        if self.template is None:
            return self._plain(messages)
        writer = (
            self.processor if self.processor is not None else self.tokenizer
        )
        turns = [self._turn(message) for message in messages]
        try:
            return str(
                writer.apply_chat_template(
                    turns, add_generation_prompt=True, tokenize=False
                )
            )
        except Exception as error:  # templates raise what they like
            if messages[0].role != "system":
                raise ConfigError(
                    f"the chat template of {self.able.model} fails: {error}"
                ) from error
        # Some templates know no system role: its words then open the first turn.
        merged = Message(
            "user", (messages[0].text + "\n\n", *messages[1].parts)
        )
        return self.render((merged, *messages[2:]))

    def _turn(self, message: Message) -> JsonDict:
        if self.processor is None:
            return {"role": message.role, "content": message.text}
        parts = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "image"}
            for part in message.parts
        ]
        return {"role": message.role, "content": parts}

    def _plain(self, messages: Sequence[Message]) -> str:
        """Return the prompt for a model without a chat template: turns, blank lines, "Answer:"."""
        token = getattr(self.processor, "image_token", "")
        turns = [
            "".join(p if isinstance(p, str) else f"{token}\n" for p in m.parts)
            for m in messages
        ]
        return "\n\n".join([*turns, "Answer:"])

    def _check_length(self, prompt: str, request: Request) -> None:
        if not self.context:
            return
        n_tokens = len(
            self.tokenizer(prompt, add_special_tokens=False)["input_ids"]
        )
        n_total = n_tokens + request.sampling.max_tokens
        if n_total > self.context:
            raise too_long(self.able.model, str(n_total), self.context)


def _open(image: Image) -> PILImage.Image:
    with PILImage.open(io.BytesIO(image.data)) as picture:
        return picture.convert("RGB")

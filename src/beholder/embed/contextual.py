"""Token vectors in their context: the built-in encoder, or one of the transformers library."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from beholder.backends.batching import Batcher
from beholder.base import spec
from beholder.base.registry import versioned_identity
from beholder.embed import minilm
from beholder.embed.base import FloatArray
from beholder.embed.images import unit_rows
from beholder.embed.sentence_transformers import HubModel
from beholder.embed.service import Recent
from beholder.errors import ConfigError

_BATCH = 32
_MEMORY = 256 * 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A text's tokens.

    Attributes:
        ids: (n,) token ids, special tokens included.
        special: (n,) True for the tokens that the tokenizer adds.
        spans: (n, 2) characters of the text that each token stands for, empty for special ones;
            None if the tokenizer does not report them.
        cut: True if the text was longer than the encoder reads.
    """

    ids: npt.NDArray[np.int64]
    special: npt.NDArray[np.bool_]
    spans: npt.NDArray[np.int64] | None
    cut: bool


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors(Tokens):
    """A text as an encoder reads it.

    Attributes:
        vectors: (n, D), float32, rows of length 1.
    """

    vectors: FloatArray


_ENGLISH = frozenset(
    {
        "roberta-large",
        "roberta-base",
        "bert-base-uncased",
        "bert-large-uncased",
        "all-MiniLM-L6-v2",
    }
)


class MiniLMTokens:
    """The built-in encoder (spec ``minilm``); nothing is cut, see ``beholder.embed.minilm``."""

    per_process: ClassVar[bool] = True
    english_only: ClassVar[bool] = True
    n_layers: ClassVar[int] = minilm.N_LAYERS

    @property
    def identity(self) -> str:
        """Name and arithmetic; see ``registry.versioned_identity``."""
        return "minilm"

    def tokens(self, text: str) -> Tokens:
        """Return the tokens of a text, all of them."""
        encoding = minilm.read_tokens(text)
        return Tokens(
            np.array(encoding.ids, dtype=np.int64),
            np.array(encoding.special_tokens_mask, dtype=np.bool_),
            np.array(encoding.offsets, dtype=np.int64),
            cut=False,
        )

    def encode(self, questions: Sequence[tuple[str, int]]) -> list[FloatArray]:
        """Return vectors (n, D) of length 1 of the tokens of texts, each at a layer.

        A text has the same bits in any batch.

        Args:
            questions: Texts with the layer whose output is taken, 0 for what the first layer gets.

        Raises:
            ConfigError: The model has no such layer.
        """
        _check_layers(questions, "minilm", self.n_layers)
        states: dict[tuple[str, int], FloatArray] = {}
        # One pass per layer: a batch of the graph has one output.
        for layer in {layer for _, layer in questions}:
            texts = [
                text for text, text_layer in questions if text_layer == layer
            ]
            layer_states = minilm.token_states(
                [minilm.read_tokens(text).ids for text in texts], layer
            )
            states.update(
                ((text, layer), unit_rows(rows))
                for text, rows in zip(texts, layer_states, strict=True)
            )
        return [states[question] for question in questions]


class TransformersEncoder(HubModel):
    """An encoder (spec ``hf:NAME_OR_PATH``, extra ``hf``); tokenizer and weights load on first use.

    Args:
        text: The spec; ``revision='COMMIT'`` in it pins the version of a model of the hub.

    Raises:
        ConfigError: The spec is not of that form.
        MissingExtraError: transformers or torch is not installed.
    """

    kind: ClassVar[str] = "hf"
    loader: ClassVar[str] = "AutoModel"
    per_process: ClassVar[bool] = False

    def __init__(self, text: str) -> None:
        parsed = spec.parse_spec(text)
        if parsed.name != "hf" or parsed.argument is None:
            raise ConfigError(
                f"{text!r}: expected an encoder: minilm, or hf:NAME_OR_PATH"
            )
        options = dict(parsed.literals())
        revision = options.pop("revision", None)
        if options:
            raise ConfigError(
                f"{text!r}: an encoder takes a revision and no other option"
            )
        super().__init__(
            parsed.argument,
            f"the encoder {text!r}",
            revision=revision,
        )

    @property
    def english_only(self) -> bool:
        """True for the well-known English encoders; of others the language is not known."""
        return self.name.rpartition("/")[2] in _ENGLISH

    @property
    def n_layers(self) -> int:
        """Layers of the model."""
        return int(self._config.num_hidden_layers)

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads, special ones included."""
        config = self._config
        limit = int(self._tokenizer.model_max_length)
        places = int(getattr(config, "max_position_embeddings", 0))
        if places <= 0:  # positions are relative
            return limit
        # Models of the RoBERTa family count positions from 2.
        return min(
            limit, places - (2 if "roberta" in config.model_type else 0)
        )

    def tokens(self, text: str) -> Tokens:
        """Return the tokens of a text, cut where the model stops reading."""
        with self._lock:
            # Only the fast tokenizers report offsets; the slow ones raise when
            # asked for them.
            has_offsets = bool(self._tokenizer.is_fast)
            tokenizer_options = {
                "return_special_tokens_mask": True,
                "return_offsets_mapping": has_offsets,
            }
            encoding = self._tokenizer(
                text,
                verbose=False,
                **tokenizer_options,
            )
            cut = len(encoding["input_ids"]) > self.max_tokens
            if cut:
                # Tokenized again rather than sliced, so that the closing
                # special token is there.
                encoding = self._tokenizer(
                    text,
                    truncation=True,
                    max_length=self.max_tokens,
                    **tokenizer_options,
                )
        return Tokens(
            np.array(encoding["input_ids"], dtype=np.int64),
            np.array(encoding["special_tokens_mask"], dtype=np.bool_),
            np.array(encoding["offset_mapping"], dtype=np.int64)
            if has_offsets
            else None,
            cut,
        )

    def encode(self, questions: Sequence[tuple[str, int]]) -> list[FloatArray]:
        """Return vectors of the tokens of texts; see ``MiniLMTokens.encode``."""
        _check_layers(questions, self.name, self.n_layers)
        with self._lock:
            tokens = self._tokens([text for text, _ in questions])
            with self._torch.inference_mode():
                states = self._model(
                    **tokens, output_hidden_states=True
                ).hidden_states
        # Padding gets states, too; the mask takes them out again.
        is_token = tokens["attention_mask"].bool()
        return [
            unit_rows(states[layer][row][is_token[row]].float().cpu().numpy())
            for row, (_, layer) in enumerate(questions)
        ]


TokenEncoder: TypeAlias = MiniLMTokens | TransformersEncoder
"""An encoder: it reads a text token by token and gives each a vector."""


def token_encoder(text: str) -> TokenEncoder:
    """Return the encoder of a spec: ``minilm``, built in, or ``hf:NAME_OR_PATH``.

    Raises:
        ConfigError: The spec is of neither form.
        MissingExtraError: It needs a package that is not installed.
    """
    parsed = spec.parse_spec(text)
    if (
        parsed.name == "minilm"
        and parsed.argument is None
        and not parsed.options
    ):
        return MiniLMTokens()
    return TransformersEncoder(text)


def _check_layers(
    questions: Sequence[tuple[str, int]],
    name: str,
    n_layers: int,
) -> None:
    for _, layer in questions:
        if not 0 <= layer <= n_layers:
            raise ConfigError(
                f"layer={layer}: {name} has layers 0 to {n_layers} (0 below the first one)"
            )


class TokenService:
    """Shares one encoder between all items of a run: each distinct text once, in batches.

    Args:
        text: Spec of the encoder.

    Attributes:
        per_process: The encoder's.
        english_only: The encoder's.
    """

    def __init__(self, text: str) -> None:
        self.encoder = token_encoder(text)
        self.per_process, self.english_only = (
            self.encoder.per_process,
            self.encoder.english_only,
        )
        self._recent = Recent(_MEMORY)
        self._batcher: Batcher[tuple[str, int], FloatArray] = Batcher(
            lambda questions, _: enumerate(self.encoder.encode(questions)),
            _BATCH,
            lambda question: len(question[0]),
        )
        self._flights: WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[str, asyncio.Task[FloatArray]]
        ] = WeakKeyDictionary()

    @property
    def identity(self) -> str:
        """The encoder's, with a digest of its code."""
        return versioned_identity(self.encoder, self.encoder.identity)

    async def encode(self, text: str, layer: int) -> TokenVectors:
        """Return a text's tokens with their vectors at a layer.

        Raises:
            ConfigError: The model has no such layer.
        """
        tokens = self.encoder.tokens(text)
        vectors = self._recent.get(f"{layer} {text}")
        if vectors is None:
            # Shielded: others may wait for the same text when this caller is
            # cancelled.
            vectors = await asyncio.shield(self._task_for(text, layer))
        return TokenVectors(
            tokens.ids,
            tokens.special,
            tokens.spans,
            tokens.cut,
            vectors,
        )

    # Items that need the same text at the same time share one task, per event loop.
    def _task_for(self, text: str, layer: int) -> asyncio.Task[FloatArray]:
        flights = self._flights.setdefault(asyncio.get_running_loop(), {})
        key = f"{layer} {text}"
        if key not in flights:
            task = asyncio.ensure_future(self._batcher.ask((text, layer)))
            flights[key] = task

            def store_vectors(done: asyncio.Task[FloatArray]) -> None:
                del flights[key]
                if not done.cancelled() and done.exception() is None:
                    self._recent.add_row(key, done.result())

            task.add_done_callback(store_vectors)
        return flights[key]

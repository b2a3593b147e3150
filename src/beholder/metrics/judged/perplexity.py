"""Perplexity of a text as a model's own review of the image: how surprising the model finds it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from beholder.backends import Surprisal
from beholder.errors import ConfigError, ItemError
from beholder.judges.operations import MeasureSurprisal
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Item, ItemScore

INSTRUCTIONS = {
    "en": "Write a review of this picture: what is good about it, and what could be better.",
    "ja": "この画像について、優れている点と改善できる点を述べるレビューを書いてください。",
}
"""What is asked before the text, by language of the texts; other languages get the English one."""

TOKENS = "tokens"
"""The value with the number of the model's tokens in a text."""

_MOST = 1e300  # a model that rules a text out entirely would give infinity, which no score may be


@dataclass(frozen=True)
class Measured:
    """What one text was to the model.

    Attributes:
        surprisal: NLL and counts.
        identities: Identity of each tool by the field that names it.
    """

    surprisal: Surprisal
    identities: Mapping[str, str]


@dataclass(frozen=True)
class Perplexity(Metric[Measured]):
    """Perplexity of the text under a vision model the image and an instruction.

    ``exp(NLL / T)`` with NLL the negative log-likelihood of the text's T tokens in nats, given
    image, instruction and the tokens before; those carry no loss themselves. Range 1 to infinity,
    lower is better. Tokens are not alike in two languages or models: ``bits_per_character``
    (``NLL / ln 2 / characters``) and the total ``nll`` do not depend on the tokenizer. The model
    must return probabilities of a given text: ``hf:NAME`` in this process, or ``openai:NAME`` on a
    vLLM server. Without the image (``image=False``) the same model, or a text-only model, shows how
    much of the ranking comes from the words alone.

    Source: Hayashi et al., image review ranking; the instruction is ours.

    Raises:
        ConfigError: A parameter is out of its range, or the judge returns no probabilities.
    """

    registered_name: ClassVar[str] = "perplexity"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("perplexity", "per token", 1.0, _MOST, higher_is_better=False),
        ValueInfo("bits_per_character", "does not depend on the tokenizer", 0.0, 1e9, False),
        ValueInfo("nll", "total, in nats", 0.0, 1e9, higher_is_better=False),
        ValueInfo(TOKENS, "tokens of the text", 1.0, 1e9, higher_is_better=None),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset()
    operations: ClassVar[tuple[str, ...]] = ("perplexity",)

    judge: str = param(help="model that returns the probabilities", tool="judge")
    image: bool = param(True, "show the image; False ranks by the words alone")
    instruction: str = param("", "asked before the text; empty: ours, in the text's language")
    max_side: int = param(1024, "pixels of the image's longer side at most; 0 leaves it")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.max_side, int) or self.max_side < 0:
            raise ConfigError(f"max_side={self.max_side!r}: expected a whole number from 0")

    @property
    def looks(self) -> bool:
        """Whether the judge sees the pictures."""
        return self.image

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(MeasureSurprisal, images=self.image)
        return super().identities(tools)

    def check_item(self, item: Item) -> None:
        """Refuse an item without an image, where one is to be shown."""
        super().check_item(item)
        if self.image and not item.images:
            raise ItemError(
                "perplexity needs an image, and this item has none; perplexity(image=False) ranks"
                " by the words alone"
            )

    async def gather(self, item: Item, tools: Tools) -> Measured:
        """Ask the model.

        Raises:
            ItemError: The image cannot be read, or the text is too long for the model.
        """
        (found,) = await self._measure([item], tools)
        return found

    def score_item(self, item: Item, evidence: Measured) -> ItemScore:
        """Perplexity, bits per character, total NLL and tokens."""
        return ItemScore(_values(evidence.surprisal), signature=self.signature(evidence.identities))

    async def evaluate_together(self, items: Sequence[Item], tools: Tools) -> list[ItemScore]:
        """All texts about one image in one call, so that the image is encoded once."""
        for item in items:
            self.check(item)
        found = await self._measure(items, tools)
        return [self.score_item(item, one) for item, one in zip(items, found, strict=True)]

    async def _measure(self, items: Sequence[Item], tools: Tools) -> list[Measured]:
        """Of items that share image and language."""
        identities = self.identities(tools)  # refuses a judge that cannot
        item = items[0]
        images = await tools.pictures.read(item.images if self.image else (), self.max_side or None)
        own = INSTRUCTIONS.get(item.language.lower()[:2], INSTRUCTIONS["en"])
        prompt = self.instruction or own
        texts = [one.candidate for one in items]
        asked = MeasureSurprisal(texts, prompt, images)
        found = await tools.judge(self.judge).ask(asked)
        return [Measured(surprisal, identities) for surprisal in found]


def _values(found: Surprisal) -> dict[str, float]:
    per_token = found.nll / found.n_tokens
    return {
        "perplexity": math.exp(per_token) if per_token < math.log(_MOST) else _MOST,
        "bits_per_character": found.nll / math.log(2.0) / found.n_characters,
        "nll": found.nll,
        TOKENS: float(found.n_tokens),
    }

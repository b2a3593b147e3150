"""Perplexity of a text as a model's own review of the image: how surprising the model finds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from beholder.backends import Surprisal
from beholder.errors import ItemError
from beholder.judges.operations import MeasureSurprisal
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore

INSTRUCTIONS = {
    "en": "Write a review of this picture: what is good about it, and what could be better.",
    "ja": "この画像について、優れている点と改善できる点を述べるレビューを書いてください。",
}
"""Instructions before the text, by language of the texts; other languages get the English one."""

TOKENS = "tokens"
"""Name of the value with the number of the model's tokens in a text."""

# A model that rules a text out entirely would give infinity, which no score may be.
_MAX_PERPLEXITY = 1e300


@dataclass(frozen=True)
class Perplexity(Metric[Surprisal]):
    """Perplexity of the text under a vision model, given the image and an instruction.

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

    registered_name = "perplexity"
    values = (
        ValueInfo(
            "perplexity",
            "per token",
            1.0,
            _MAX_PERPLEXITY,
            higher_is_better=False,
        ),
        ValueInfo(
            "bits_per_character",
            "does not depend on the tokenizer",
            0.0,
            1e9,
            False,
        ),
        ValueInfo("nll", "total, in nats", 0.0, 1e9, higher_is_better=False),
        ValueInfo(
            TOKENS, "tokens of the text", 1.0, 1e9, higher_is_better=None
        ),
    )
    required_fields = frozenset()
    needs = (MeasureSurprisal,)

    judge: str = param(
        help="model that returns the probabilities", tool="judge"
    )
    image: bool = param(True, "show the image; False ranks by the words alone")
    instruction: str = param(
        "", "asked before the text; empty: ours, in the text's language"
    )
    max_side: int = param(
        1024,
        "pixels of the image's longer side at most; 0 leaves it",
        whole=(0, math.inf),
    )

    @property
    def looks(self) -> bool:
        """True if the judge sees the pictures."""
        return self.image

    def check_item(self, item: Item) -> None:
        """Refuse an item without an image, where one is to be shown."""
        super().check_item(item)
        if self.image and not item.images:
            raise ItemError(
                "perplexity needs an image, and this item has none; perplexity(image=False) ranks"
                " by the words alone"
            )

    async def gather(self, item: Item, tools: Tools) -> Surprisal:
        """Ask the model.

        Raises:
            ItemError: The image cannot be read, or the text is too long for the model.
        """
        (surprisal,) = await self._measure([item], tools)
        return surprisal

    def score_item(self, item: Item, evidence: Surprisal) -> ItemScore:
        """Compute perplexity, bits per character, total NLL and tokens."""
        per_token = evidence.nll / evidence.n_tokens
        return ItemScore(
            {
                "perplexity": math.exp(per_token)
                if per_token < math.log(_MAX_PERPLEXITY)
                else _MAX_PERPLEXITY,
                "bits_per_character": evidence.nll
                / math.log(2.0)
                / evidence.n_characters,
                "nll": evidence.nll,
                TOKENS: float(evidence.n_tokens),
            }
        )

    async def evaluate_together(
        self, items: Sequence[Item], tools: Tools
    ) -> list[ItemScore]:
        """Score all texts about one image in one call, so that the image is encoded once."""
        for item in items:
            self.check(item)
        signature = self.signature(self.identities(tools))
        surprisals = await self._measure(items, tools)
        scores = map(self.score_item, items, surprisals)
        return [replace(score, signature=signature) for score in scores]

    async def _measure(
        self, items: Sequence[Item], tools: Tools
    ) -> Sequence[Surprisal]:
        """Measure items that share image and language."""
        item = items[0]
        images = await tools.pictures.read(
            item.images if self.image else (), self.max_side or None
        )
        # Only the first two letters of a language code count: ja-JP is ja.
        default_instruction = INSTRUCTIONS.get(
            item.language.lower()[:2], INSTRUCTIONS["en"]
        )
        prompt = self.instruction or default_instruction
        texts = [text_item.candidate for text_item in items]
        return await tools.judge(self.judge).ask(
            MeasureSurprisal(texts, prompt, images)
        )

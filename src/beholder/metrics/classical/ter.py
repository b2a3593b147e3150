"""TER, through sacrebleu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.metrics import Tools, ValueInfo, param
from beholder.metrics.classical.tokens import TokenizedTexts, WordMetric
from beholder.metrics.params import installed
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class TER(WordMetric):
    """Translation edit rate: edits (insert, delete, replace, move a run) per word of the reference.

    The edits to the nearest reference over the mean length of the references, as the package
    sacrebleu counts them. 0 for equal texts, no upper end, lower is better. The corpus value is
    all edits over all words. Made for single sentences: the search for moves takes long on long
    texts, so texts over ``max_words`` are refused.

    Source: Snover et al. 2006.

    Raises:
        ConfigError: A parameter is unknown or out of its range.
    """

    max_words: int = param(500, "longest text, in words", affects_score=False, whole=(1, None))

    registered_name: ClassVar[str] = "ter"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("ter", "edits per reference word", high=1e6, higher_is_better=False),
    )
    corpus_values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("corpus_ter", "all edits over all words", high=1e6, higher_is_better=False),
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """The tokenizer and the package that counts."""
        own = super().identities(tools)["tokenizer"]
        return {"tokenizer": f"{own}+sacrebleu@{installed('sacrebleu')}"}

    async def gather(self, item: Item, tools: Tools) -> TokenizedTexts:
        """Words of all texts.

        Raises:
            ItemError: A text has no words, or more than ``max_words``.
        """
        texts = await super().gather(item, tools)
        longest = max(map(len, (texts.candidate, *texts.references)))
        if longest > self.max_words:
            raise ItemError(
                f"a text has {longest} words; ter takes up to max_words={self.max_words}"
            )
        return texts

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count the edits."""
        from sacrebleu.metrics import ter  # loads slowly

        theirs: Any = ter.TER()
        found = theirs.sentence_score(
            " ".join(evidence.candidate), [" ".join(words) for words in evidence.references]
        )
        edits, words = float(found.num_edits), float(found.ref_length)
        return ItemScore({"ter": edits / words}, detail={"statistics": [edits, words]})

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """All edits over all words."""
        edits, words = statistics
        return {"corpus_ter": float(edits / words)}

"""BERTScore: greedy matching of token vectors in their context."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from beholder.base.spec import canonical_spec
from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ConfigError, DataError, ItemError
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.base import f1
from beholder.metrics.classical.clipscore import CUT
from beholder.metrics.classical.embedding import greedy_match
from beholder.records import Item, ItemScore
from beholder.text.languages import language_named

BEST_LAYERS = {"hf:roberta-large": 17, "minilm": 6}
"""Of roberta-large what the authors of BERTScore recommend for English; of minilm the last."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A text: the tokens that the other text's may match.

    Attributes:
        ids: (n,) token ids.
        counts: (n,) False for markers of the text's ends, which are matched but never count.
        vectors: (n, D), rows of length 1.
    """

    ids: npt.NDArray[np.int64]
    counts: npt.NDArray[np.bool_]
    vectors: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTexts:
    """An item as the encoder reads it.

    Attributes:
        candidate: The candidate.
        references: Each reference.
        n_cut: Texts that were longer than the encoder reads.
    """

    candidate: Side
    references: tuple[Side, ...]
    n_cut: int


@dataclass(frozen=True, eq=False)
class Rarity:
    """Document frequencies of tokens in the references of a data set.

    Attributes:
        n_references: References counted, each once.
        counts: References per token id.
    """

    n_references: int
    counts: Mapping[int, int]

    def weights(self, ids: npt.NDArray[np.int64]) -> FloatArray:
        """Return ``log((n + 1) / (references with the token + 1))`` of each token."""
        n = self.n_references
        return np.array(
            [math.log((n + 1) / (self.counts.get(int(i), 0) + 1)) for i in ids]
        )

    @cached_property
    def identity(self) -> str:
        """Number of references and a hash of the counts."""
        table = f"{self.n_references} {sorted(self.counts.items())}"
        return f"{self.n_references}refs@{hashlib.sha256(table.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class BERTScore(Metric[EncodedTexts]):
    """BERTScore: each token is matched to the most similar token by contextual embeddings.

    Precision is the mean over the candidate's tokens of the best cosine with a token of the
    reference, recall the same the other way round, F1 their harmonic mean (0 unless both are above
    0). Of several references the one with the best F1 counts. Range -1..1, in practice 0.7..1;
    with a table of baselines, unrelated texts reach 0, and values can be below it. Higher
    is better. ``special='match'`` lets tokens match the markers of the other text's ends, as the
    published package does; markers never count themselves. What a text has beyond the encoder's
    reach is not read, and the value ``cut`` counts that.

    The default encoder and layer are those the authors recommend for English.
    ``model='minilm'`` is built in, needs nothing beyond the package and cuts no text; its layer is
    the last. With another encoder name its layer, too. Rows in other languages need an encoder that
    reads them: ``languages`` names one for each, as rows name their language (``group.language``),
    and encoders that no row needs are not loaded;
    the published package takes ``('hf:bert-base-multilingual-cased', 9)`` for most. Values of
    two encoders lie on two scales: compare within a language.

    Source: Zhang et al. 2020.

    Raises:
        ConfigError: A parameter is out of its range.
        DataError: The table of baselines cannot be read.
        MissingExtraError: torch or transformers is not installed, and ``model`` needs them.
    """

    model: str = param(
        "hf:roberta-large",
        "encoder: minilm, or hf:NAME (extra hf)",
        tool="encoder",
    )
    layer: int | None = param(
        None,
        "layer whose output is compared, from 1; None: 17 of roberta-large, 6 of minilm",
        whole=(0, math.inf),
    )
    idf: bool = param(
        False, "weigh tokens by how rare they are in the run's references"
    )
    special: Literal["exclude", "match"] = param(
        "exclude",
        "markers of a text's ends: exclude, or match (as the published package)",
    )
    baseline: str = param(
        "none",
        "table of baselines (LAYER,P,R,F) to rescale with, or none",
        is_file=True,
    )
    languages: Mapping[str, tuple[str, int]] | None = param(
        None,
        "encoder and layer by language: {'hi': ('hf:NAME', 9)}; all others: model",
    )

    rarity: Rarity | None = field(default=None, repr=False, compare=False)
    used: tuple[str, ...] | None = field(
        default=None, repr=False, compare=False
    )

    registered_name = "bertscore"
    values = (
        ValueInfo("f1", "harmonic mean of both", low=-1.0),
        ValueInfo(
            "precision",
            "how well the reference covers the candidate's tokens",
            low=-1.0,
        ),
        ValueInfo(
            "recall",
            "how well the candidate covers the reference's tokens",
            low=-1.0,
        ),
        CUT,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline != "none":
            read_baseline(self.baseline, self.compared_layer)
        if self.languages is not None:
            # Token weights and baselines belong to the vocabulary of one
            # encoder.
            if self.idf or self.baseline != "none":
                raise ConfigError(
                    "idf and baseline belong to one encoder, and languages names several; score"
                    " each language alone"
                )
            object.__setattr__(self, "languages", _by_language(self.languages))

    def encoder_of(self, item: Item) -> tuple[str, int]:
        """Return the encoder and the layer for the language that an item's row names."""
        entry = (self.languages or {}).get(language_named(item.language) or "")
        return entry or (self.model, self.compared_layer)

    def tool_specs(self) -> list[tuple[str, str]]:
        """Return the encoders that rows need; all of them if no row was read."""
        language_specs = [
            ("encoder", spec) for spec, _ in (self.languages or {}).values()
        ]
        specs = dict.fromkeys([*super().tool_specs(), *language_specs])
        return [(kind, spec) for kind, spec in specs if self.is_used(spec)]

    def is_used(self, encoder: str) -> bool:
        """Return whether rows need an encoder; an encoder that no row needs is not loaded."""
        return self.used is None or encoder in self.used

    def check_tools(self, subject: Item, tools: Tools) -> None:
        """Refuse an item that the encoder of its language does not read."""
        tools.check_language(
            [("encoder", self.encoder_of(subject)[0])], subject
        )

    @property
    def compared_layer(self) -> int:
        """The layer whose output is compared.

        Raises:
            ConfigError: No layer is named, and the best one of this encoder is not known.
        """
        if self.layer is not None:
            return self.layer
        if self.model not in BEST_LAYERS:
            raise ConfigError(
                f"bertscore(model={self.model!r}) needs a layer, such as layer=9: the best one is"
                f" known only of {' and '.join(BEST_LAYERS)}"
            )
        return BEST_LAYERS[self.model]

    def config(self) -> dict[str, object]:
        """Return all fields, with the layer that the encoder sets."""
        return super().config() | {"layer": self.compared_layer}

    def needs_corpus(self) -> bool:
        """True where tokens are weighted by how rare they are."""
        return self.idf

    def prepare(self, items: Iterable[Item]) -> Self:
        """Count the references that contain each token; list the encoders that rows need."""
        if self.languages is not None:
            used = sorted({self.encoder_of(item)[0] for item in items})
            return replace(self, used=tuple(used) or None)
        if not self.idf:
            return self
        from beholder.embed.contextual import token_encoder

        encoder = token_encoder(self.model)
        counts: Counter[int] = Counter()
        distinct = dict.fromkeys(
            text
            for item in items
            for text in item.references
            # A reference of several items counts once.
        )
        for text in distinct:
            counts.update({int(i) for i in encoder.tokens(text).ids})
        return replace(self, rarity=Rarity(len(distinct), dict(counts)))

    def state(self) -> Mapping[str, Any] | None:
        """Return the document frequency of each token, or the encoders that rows need."""
        if self.used is not None:
            return {"used": list(self.used)}
        if self.rarity is None:
            return None
        return {
            "n_references": self.rarity.n_references,
            "tokens": list(self.rarity.counts),
            "counts": list(self.rarity.counts.values()),
        }

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """Return this metric with the token weights or the encoders of the run."""
        if "used" in state:
            return replace(self, used=tuple(state["used"]))
        counts = zip(state["tokens"], state["counts"], strict=True)
        return replace(
            self, rarity=Rarity(state["n_references"], dict(counts))
        )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the encoder, the token weights and the table of baselines.

        With ``languages`` an encoder is loaded only once rows are known to need it.
        """
        are_rows_known = self.languages is None or self.used is not None
        identities = (
            super().identities(tools)
            if are_rows_known and self.is_used(self.model)
            else {}
        )
        # What was counted on, and the table, change the numbers as much as the model.
        if self.rarity is not None:
            identities["idf"] = self.rarity.identity
        if self.baseline != "none":
            identities["baseline"] = read_baseline(
                self.baseline, self.compared_layer
            ).identity
        if self.languages is not None:
            loaded = {
                spec: tools.identity("encoder", spec)
                for spec, _ in self.languages.values()
                if are_rows_known and self.is_used(spec)
            }
            identities["languages"] = ",".join(
                f"{name}={loaded.get(spec, spec)}/{layer}"
                for name, (spec, layer) in self.languages.items()
            )
        return identities

    async def gather(self, item: Item, tools: Tools) -> EncodedTexts:
        """Encode candidate and references.

        Raises:
            ItemError: A text has no token.
        """
        if self.idf and self.rarity is None:
            raise ConfigError(
                "bertscore has no token weights yet: call prepare(items) first, as score,"
                " score_text and runs do"
            )
        spec, layer = self.encoder_of(item)
        service = tools.encoder(spec)
        texts = (item.candidate, *item.references)
        encoded = await asyncio.gather(
            *(service.encode(text, layer) for text in texts)
        )
        sides, n_cut = [], 0
        for place, text in enumerate(encoded):
            counts = ~text.special
            if not counts.any():
                raise ItemError(
                    f"{f'reference {place}' if place else 'the candidate'} has no token"
                )
            # As published, markers can be matched, though their own matches
            # never count.
            matchable = counts | (self.special == "match")
            sides.append(
                Side(
                    text.ids[matchable],
                    counts[matchable],
                    text.vectors[matchable].astype(np.float64),
                )
            )
            n_cut += text.cut
        return EncodedTexts(sides[0], tuple(sides[1:]), n_cut)

    def score_item(self, item: Item, evidence: EncodedTexts) -> ItemScore:
        """Match with each reference and keep the best.

        Raises:
            ItemError: All tokens of a text weigh nothing.
        """
        candidate = evidence.candidate
        weights = self._weights(candidate)
        scored = []
        for reference in evidence.references:
            similarity = products(candidate.vectors, reference.vectors)
            shares = greedy_match(
                similarity, weights, self._weights(reference)
            )
            # F1 of negative cosines has no meaning; it is 0 unless both are
            # positive.
            scored.append((f1(*shares) if min(shares) > 0 else 0.0, *shares))
        values = dict(
            zip(("f1", "precision", "recall"), max(scored), strict=True)
        )
        if self.baseline != "none":
            # Rescaled as published: (x - b) / (1 - b), so that unrelated texts
            # are near 0.
            base = read_baseline(self.baseline, self.compared_layer).values
            values = {
                name: (x - base[name]) / (1 - base[name])
                for name, x in values.items()
            }
        values["cut"] = evidence.n_cut / (1 + len(evidence.references))
        return ItemScore(values, detail={"n_cut_texts": evidence.n_cut})

    def _weights(self, side: Side) -> FloatArray:
        weights = side.counts.astype(np.float64)
        if self.rarity is not None:
            weights *= self.rarity.weights(side.ids)
            if weights.sum() <= 0:
                # A mean with weights that sum to 0 is not defined.
                raise ItemError(
                    "every token of a text is in all references: idf weighs it 0"
                )
        return weights


def _by_language(encoders: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
    """Return encoder and layer by the English name of the language, in the order of the names.

    Raises:
        ConfigError: A language is not known, or an entry is not an encoder with its layer.
    """
    by_language = {}
    for language, entry in encoders.items():
        name = language_named(language)
        if name is None:
            raise ConfigError(
                f"languages={language!r}: no language is called so; hi or Hindi is one"
            )
        is_pair = isinstance(entry, tuple | list) and len(entry) == 2
        if not is_pair or type(entry[1]) is not int or entry[1] < 0:
            raise ConfigError(
                f"languages[{language!r}]={entry!r}: expected an encoder and its layer, such as"
                " ('hf:bert-base-multilingual-cased', 9)"
            )
        spec, layer = entry
        by_language[name] = (str(canonical_spec(spec)), layer)
    return dict(sorted(by_language.items()))


@dataclass(frozen=True, slots=True)
class Baseline:
    """Scores of unrelated texts at a layer.

    Attributes:
        values: Baseline of ``f1``, ``precision`` and ``recall``, each below 1.
        identity: Hash of the table.
    """

    values: Mapping[str, float]
    identity: str


@lru_cache(maxsize=8)
def read_baseline(path: str, layer: int) -> Baseline:
    """Read baselines at a layer.

    Args:
        path: A table of comma-separated values with the columns LAYER, P, R, F, the form in which
            the authors publish them.
        layer: The layer.

    Raises:
        DataError: The table cannot be read or has no such layer.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        rows = {
            int(row["LAYER"]): row for row in csv.DictReader(text.split("\n"))
        }
        row = rows[layer]
        baselines = {
            name: float(row[name[0].upper()])
            for name in ("f1", "precision", "recall")
        }
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise DataError(
            path,
            f"is not a table of baselines (LAYER,P,R,F) with layer {layer}: {error!r}",
        ) from error
    # Rescaling divides by 1 - baseline.
    if not all(value < 1 for value in baselines.values()):
        raise DataError(
            path,
            f"layer {layer}: a baseline must lie below 1, got {baselines}",
        )
    return Baseline(
        baselines, f"table@{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    )

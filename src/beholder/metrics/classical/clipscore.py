"""CLIPScore and RefCLIPScore: similarity of a text with its picture, and with its references."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.base import f1
from beholder.records import Item, ItemScore

WEIGHT = 2.5

CUT = ValueInfo(
    "cut",
    "share of the texts that the model did not read to their end",
    higher_is_better=False,
)


@dataclass(frozen=True, slots=True, eq=False)
class ImageTextVectors:
    """Vectors of an item in the space of pictures and texts.

    Attributes:
        pictures: (k, D).
        candidate: (D,).
        references: (m, D), empty where the metric does not need them.
        n_cut: Texts that were longer than the model reads.
    """

    pictures: FloatArray
    candidate: FloatArray
    references: FloatArray
    n_cut: int

    @property
    def score(self) -> float:
        """2.5 times the cosine with the picture, below 0 as 0; the mean over several pictures."""
        # The vectors are float32; their products are exact in float64.
        cosines = self.pictures.astype(np.float64) @ self.candidate.astype(
            np.float64
        )
        return float(WEIGHT * np.clip(cosines, 0.0, 1.0).mean())

    @property
    def cut(self) -> float:
        """Share of the texts that were cut."""
        return self.n_cut / (1 + len(self.references))


@dataclass(frozen=True)
class _ImageTextMetric(Metric[ImageTextVectors]):
    """Base: embeds the pictures, the candidate and, where they are needed, the references."""

    model: str = param(
        "clip:openai/clip-vit-base-patch32",
        "model of pictures and texts (extra hf)",
        tool="image_text",
    )
    prefix: str = param(
        "A photo depicts ", "words put before every text, as published"
    )

    looks = True
    """The pictures are compared with the texts."""

    async def gather(self, item: Item, tools: Tools) -> ImageTextVectors:
        """Embed pictures and texts.

        Raises:
            ItemError: A picture is missing or cannot be read.
        """
        references = (
            item.references if "references" in self.required_fields else ()
        )
        model = tools.image_text(self.model)
        texts = [self.prefix + text for text in (item.candidate, *references)]
        pictures = await model.pictures(tools.pictures.files(item.images))
        vectors = await model.texts(texts)
        n_cut = await model.n_cut(texts)
        return ImageTextVectors(pictures, vectors[0], vectors[1:], n_cut)


@dataclass(frozen=True)
class CLIPScore(_ImageTextMetric):
    """CLIPScore: 2.5 times the cosine of candidate and picture in CLIP's space, below 0 as 0.

    Range 0..2.5, higher is better; in practice rarely above 1. Needs no reference. CLIP reads 77
    tokens of a text: of a long description it sees only the beginning, and the value ``cut``
    counts that. Of several pictures the mean counts.

    Source: Hessel et al. 2021.

    Raises:
        ConfigError: The model does not embed both pictures and texts.
        MissingExtraError: torch or transformers is not installed.
    """

    registered_name = "clipscore"
    values = (
        ValueInfo(
            "clipscore", "2.5 times the cosine with the picture", high=WEIGHT
        ),
        CUT,
    )
    required_fields = frozenset({"images"})

    def score_item(self, item: Item, evidence: ImageTextVectors) -> ItemScore:
        """Return the scaled cosine."""
        values = {"clipscore": evidence.score, "cut": evidence.cut}
        return ItemScore(values, detail={"n_cut_texts": evidence.n_cut})


@dataclass(frozen=True)
class RefCLIPScore(_ImageTextMetric):
    """RefCLIPScore: harmonic mean of CLIPScore and the best cosine with a reference.

    Cosines below 0 count as 0. Range 0..10/7 (2.5 with the picture, 1 with a reference), higher is
    better. Texts are cut as in ``clipscore``.

    Source: Hessel et al. 2021.

    Raises:
        ConfigError: The model does not embed both pictures and texts.
        MissingExtraError: torch or transformers is not installed.
    """

    registered_name = "refclipscore"
    values = (
        ValueInfo(
            "refclipscore",
            "harmonic mean of clipscore and reference_cosine",
            high=2 * WEIGHT / (WEIGHT + 1),
        ),
        ValueInfo(
            "clipscore", "2.5 times the cosine with the picture", high=WEIGHT
        ),
        ValueInfo("reference_cosine", "cosine with the nearest reference"),
        CUT,
    )
    required_fields = frozenset({"images", "references"})

    def score_item(self, item: Item, evidence: ImageTextVectors) -> ItemScore:
        """Combine the scaled cosine with the nearest reference's."""
        cosines = evidence.references.astype(
            np.float64
        ) @ evidence.candidate.astype(np.float64)
        nearest = float(np.clip(cosines.max(), 0.0, 1.0))
        score = evidence.score
        values = {
            "refclipscore": f1(score, nearest),
            "clipscore": score,
            "reference_cosine": nearest,
            "cut": evidence.cut,
        }
        return ItemScore(values, detail={"n_cut_texts": evidence.n_cut})

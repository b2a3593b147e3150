"""What VCS gathers for one item: chunks with their places and vectors. Small, and pickles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.metrics import Metric, Tools
from beholder.metrics.vcs.findings import (
    alignment_detail,
    chunk_units,
    chunk_verdicts,
    score_figure,
    score_steps,
)
from beholder.metrics.vcs.scoring import ChunkAlignment, Setting
from beholder.records import Item, ItemScore, Span, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedText:
    """One text as vectors.

    Attributes:
        spans: Character range of each chunk in the original text.
        chunks: Chunk vectors, (N, D).
        whole: Vector of the whole text, (D,).
    """

    spans: tuple[Span, ...]
    chunks: FloatArray
    whole: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class VCSEvidence:
    """Both sides of an item.

    Attributes:
        candidate: The text under evaluation.
        references: Its references, in order.
    """

    candidate: EmbeddedText
    references: tuple[EmbeddedText, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """One text cut up.

    Attributes:
        name: What to call it in messages: ``candidate``, ``reference 2``.
        text: The whole text.
        spans: Character range of each chunk.
        chunks: What to embed for each chunk.
    """

    name: str
    text: str
    spans: Sequence[Span]
    chunks: Sequence[str]


async def embed_parts(tools: Tools, embedder: str, parts: Sequence[Parts]) -> list[EmbeddedText]:
    """Embed the chunks and the whole of each text, all in one request.

    Raises:
        ItemError: The embedder knows nothing of a text, so that no score would mean anything.
    """
    vectors = await tools.embed(
        embedder, [part for each in parts for part in (*each.chunks, each.text)]
    )
    embedded: list[EmbeddedText] = []
    at = 0
    for each in parts:
        end = at + len(each.chunks)
        if not vectors[end].any():
            raise ItemError(
                f"the embedder {embedder!r} knows no word of the {each.name}; "
                "choose one that knows its language, such as 'st:NAME'"
            )
        embedded.append(EmbeddedText(tuple(each.spans), vectors[at:end], vectors[end]))
        at = end + 1
    return embedded


@dataclass(frozen=True)
class AlignedMetric(Metric[VCSEvidence]):
    """Base: texts are cut into chunks, which are embedded and aligned."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.setting  # checked when made

    @cached_property
    def setting(self) -> Setting:
        """The parameters of the arithmetic."""
        config: dict[str, Any] = self.config()
        return Setting(**{each.name: config[each.name] for each in fields(Setting)})

    @abstractmethod
    def cut(self, name: str, text: str, tools: Tools) -> tuple[Sequence[Span], Sequence[str]]:
        """Character range of each chunk of a text, and what to embed for it.

        Raises:
            ItemError: The text has no word.
        """

    async def gather(self, item: Item, tools: Tools) -> VCSEvidence:
        """Cut and embed all texts of an item.

        Raises:
            ItemError: A text has no word, or none that the embedder knows.
        """
        texts = [("candidate", item.candidate)]
        texts += [(f"reference {i}", text) for i, text in enumerate(item.references, start=1)]
        parts = [Parts(name, text, *self.cut(name, text, tools)) for name, text in texts]
        n_parts = [len(each.spans) for each in parts]
        self.bounds.check_pairs(n_parts[0], n_parts[1:], self.registered_name)
        own, *others = await embed_parts(tools, str(self.config()["embedder"]), parts)
        return VCSEvidence(own, tuple(others))

    def chunk_units(
        self,
        item: Item,
        evidence: VCSEvidence,
        alignment: ChunkAlignment,
        reference: int,
        kind: str = "chunk",
    ) -> tuple[Unit, ...]:
        """One unit for each chunk of the candidate and of one reference."""
        return chunk_units(
            alignment,
            chunk_verdicts(alignment_detail(alignment), self.setting),
            {"candidate": item.candidate, "reference": item.references[reference]},
            {
                "candidate": evidence.candidate.spans,
                "reference": evidence.references[reference].spans,
            },
            reference,
            kind,
        )

    def figure(self, score: ItemScore) -> Figure:
        """Draw the alignment of one item: similarities, windows, matches, chunks out of place.

        Args:
            score: A score of this metric.

        Returns:
            A matplotlib figure; ``figure.savefig("alignment.png")`` writes it.

        Raises:
            ConfigError: The score is of another metric and has no alignment.
        """
        return score_figure(score, self.setting)

    def steps(self, score: ItemScore) -> dict[str, Figure]:
        """Draw how the score of one item came about, step by step.

        The alignment; mapping windows; candidates of each best match; distances and penalties of
        NAS-D; line, ideal lines and steps of NAS-L; the regularizer with all values. Long texts are
        cut into pages of 40 chunks.

        Args:
            score: A score of this metric.

        Returns:
            matplotlib figures by name, in the order of the steps; those of one step are numbered
            (``windows-1``, ``windows-2``). ``beholder steps`` writes them as one page or as PDF.

        Raises:
            ConfigError: The score is of another metric and has no alignment.
        """
        return score_steps(score, self.setting)

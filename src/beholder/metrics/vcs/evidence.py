"""Evidence of VCS for one item: chunks with their places and vectors. Small, and pickles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from beholder.base.rounding import fixed
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.metrics import Metric, Tools
from beholder.metrics.vcs.findings import (
    alignment_detail,
    chunk_verdicts,
    direction_steps,
    regularizer_step,
)
from beholder.metrics.vcs.scoring import ChunkAlignment, Setting
from beholder.records import Item, ItemScore, Span, Unit
from beholder.text.layout import without_layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedText:
    """One text as vectors.

    Attributes:
        spans: Character range of each chunk in the original text.
        chunks: Chunk vectors, (N, D).
        whole_text: Vector of the whole text, (D,).
    """

    spans: tuple[Span, ...]
    chunks: FloatArray
    whole_text: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class VCSEvidence:
    """Both sides of an item.

    Attributes:
        candidate: The text under evaluation.
        references: Its references, in order.
    """

    candidate: EmbeddedText
    references: tuple[EmbeddedText, ...]


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
        return Setting(
            **{
                parameter.name: config[parameter.name]
                for parameter in fields(Setting)
            }
        )

    @abstractmethod
    def cut(
        self, name: str, text: str, tools: Tools
    ) -> tuple[Sequence[Span], Sequence[str]]:
        """Return the character range of each chunk of a text with words, and the text to embed."""

    async def gather(self, item: Item, tools: Tools) -> VCSEvidence:
        """Cut and embed all texts of an item.

        Raises:
            ItemError: The embedder knows no word of a text.
        """
        # Published rules embed a text as it is. Blanks replace layout, so that places stay.
        plain = without_layout if self.config()["rules"] == "fixed" else str
        names = ["candidate"]
        names += [f"reference {i + 1}" for i in range(len(item.references))]
        originals = (item.candidate, *item.references)
        texts = [plain(text) for text in originals]
        cut = [
            self.cut(*named_text, tools)
            for named_text in zip(names, texts, strict=True)
        ]
        n_candidate, *n_references = (len(spans) for spans, _ in cut)
        self.bounds.check_pairs(
            n_candidate, n_references, self.registered_name
        )
        embedder = str(self.config()["embedder"])
        # One call for chunks and whole texts of all sides; the vectors are
        # split after.
        pieces: list[str] = []
        ends = []
        for (_, chunks), text in zip(cut, texts, strict=True):
            whole_text = text if text in originals else " ".join(text.split())
            pieces += [*chunks, whole_text]
            ends.append(len(pieces))
        vectors = np.split(await tools.embed(embedder, pieces), ends[:-1])
        embedded: list[EmbeddedText] = []
        for name, (spans, _), rows in zip(names, cut, vectors, strict=True):
            if not rows[-1].any():
                raise ItemError(
                    f"the embedder {embedder!r} knows no word of the {name}; "
                    "choose one that knows its language, such as 'st:NAME'"
                )
            embedded.append(EmbeddedText(tuple(spans), rows[:-1], rows[-1]))
        return VCSEvidence(embedded[0], tuple(embedded[1:]))

    def chunk_units(
        self,
        item: Item,
        evidence: VCSEvidence,
        alignment: ChunkAlignment,
        reference: int,
        kind: str = "chunk",
    ) -> tuple[Unit, ...]:
        """Return one unit per chunk, candidate side first.

        Its score is the similarity of its match; its detail names the ``match`` (a chunk index of
        the other side), the mapping ``window`` (half-open) and the ``distance`` between the two.
        """
        verdicts = chunk_verdicts(alignment_detail(alignment), self.setting)
        units: list[Unit] = []
        for side, verdicts_of_side in verdicts.items():
            text, embedded = item.candidate, evidence.candidate
            direction, index = alignment.precision, None
            if side == "reference":
                text = item.references[reference]
                embedded = evidence.references[reference]
                direction, index = alignment.recall, reference
            # Shown for every match, in its window or not.
            distances = direction.windows.distances(direction.matches)
            units += [
                Unit(
                    kind,
                    text[slice(*span)],
                    side,
                    (span,),
                    float(direction.similarities[place]),
                    verdict,
                    index,
                    {
                        "match": int(direction.matches[place]),
                        "window": direction.windows.ranges[place].tolist(),
                        "distance": int(distances[place]),
                    },
                )
                for place, (span, verdict) in enumerate(
                    zip(embedded.spans, verdicts_of_side, strict=True)
                )
            ]
        return tuple(units)

    def figure(self, score: ItemScore) -> Figure:
        """Draw the alignment of one item: similarities, windows, matches, chunks out of place.

        Args:
            score: A score of this metric.

        Returns:
            A matplotlib figure; ``figure.savefig("alignment.png")`` writes it.

        Raises:
            ConfigError: The score is of another metric and has no alignment.
        """
        from beholder.metrics.vcs.plots import (
            alignment_figure,
        )  # matplotlib loads slowly

        if score.detail.get("view") != "alignment":
            raise ConfigError(
                "this score has no alignment to draw: figure() takes a score of VCS, "
                f"and this one has the values {', '.join(score.values)}"
            )
        names = ("sas", "nas", "gas", "las", "nas_d", "nas_l")
        captions = [
            f"{name.upper().replace('_', '-')} {fixed(score.values[name], 2)}"
            for name in names
        ]
        title = f"VCS {fixed(score.values['vcs'], 2)}\n" + "   ".join(captions)
        return alignment_figure(
            score.detail, chunk_verdicts(score.detail, self.setting), title
        )

    def steps(self, score: ItemScore) -> dict[str, Figure]:
        """Draw the score of one item step by step.

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
        from beholder.metrics.vcs.plots import (
            step_figures,
        )  # matplotlib loads slowly

        pages = {"alignment": self.figure(score)}
        directions = direction_steps(score.detail, self.setting)
        step = regularizer_step(score.detail, score.values, self.setting)
        return pages | step_figures(directions, step)

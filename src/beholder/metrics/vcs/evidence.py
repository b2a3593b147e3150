"""What VCS gathers for one item: chunks with their places and vectors. Small, and pickles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
from beholder.metrics.vcs.scoring import ChunkAlignment, Direction, Setting
from beholder.records import Item, ItemScore, Side, Span, Unit
from beholder.text.layout import without_layout

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
            **{each.name: config[each.name] for each in fields(Setting)}
        )

    @abstractmethod
    def cut(
        self, name: str, text: str, tools: Tools
    ) -> tuple[Sequence[Span], Sequence[str]]:
        """Character range of each chunk of a text with words, and what to embed for it."""

    async def gather(self, item: Item, tools: Tools) -> VCSEvidence:
        """Cut and embed all texts of an item.

        Raises:
            ItemError: The embedder knows no word of a text.
        """
        # Published rules embed a text as it is. Blanks keep the places of what they stand for.
        plain = without_layout if self.config()["rules"] == "fixed" else str
        texts = [("candidate", plain(item.candidate))]
        texts += [
            (f"reference {i}", plain(text))
            for i, text in enumerate(item.references, 1)
        ]
        cut = [self.cut(name, text, tools) for name, text in texts]
        n_own, *n_others = (len(spans) for spans, _ in cut)
        self.bounds.check_pairs(n_own, n_others, self.registered_name)
        embedder = str(self.config()["embedder"])
        given = (item.candidate, *item.references)
        wholes = [
            text if text in given else " ".join(text.split())
            for _, text in texts
        ]
        pieces = [
            (*chunks, whole)
            for (_, chunks), whole in zip(cut, wholes, strict=True)
        ]
        vectors = await tools.embed(
            embedder, [piece for each in pieces for piece in each]
        )
        embedded: list[EmbeddedText] = []
        at = 0
        for (name, _), (spans, chunks) in zip(texts, cut, strict=True):
            end = at + len(chunks)
            if not vectors[end].any():
                raise ItemError(
                    f"the embedder {embedder!r} knows no word of the {name}; "
                    "choose one that knows its language, such as 'st:NAME'"
                )
            embedded.append(
                EmbeddedText(tuple(spans), vectors[at:end], vectors[end])
            )
            at = end + 1
        return VCSEvidence(embedded[0], tuple(embedded[1:]))

    def chunk_units(
        self,
        item: Item,
        evidence: VCSEvidence,
        alignment: ChunkAlignment,
        reference: int,
        kind: str = "chunk",
    ) -> tuple[Unit, ...]:
        """One unit per chunk, candidate side first.

        Its score is the similarity of its match; its detail names the ``match`` (a chunk index of
        the other side), the mapping ``window`` (half-open) and the ``distance`` between the two.
        """
        verdicts = chunk_verdicts(alignment_detail(alignment), self.setting)
        other = evidence.references[reference]
        sides: tuple[
            tuple[Side, str, EmbeddedText, Direction, int | None], ...
        ] = (
            (
                "candidate",
                item.candidate,
                evidence.candidate,
                alignment.precision,
                None,
            ),
            (
                "reference",
                item.references[reference],
                other,
                alignment.recall,
                reference,
            ),
        )
        units: list[Unit] = []
        for side, text, embedded, direction, of in sides:
            distances = direction.windows.distances(direction.matches)
            for index, (start, end) in enumerate(embedded.spans):
                score, verdict = (
                    float(direction.similarities[index]),
                    verdicts[side][index],
                )
                detail = {
                    "match": int(direction.matches[index]),
                    "window": direction.windows.ranges[index].tolist(),
                    "distance": int(distances[index]),
                }
                said = (kind, text[start:end], side, ((start, end),))
                units.append(Unit(*said, score, verdict, of, detail))
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
        told = [
            f"{name.upper().replace('_', '-')} {fixed(score.values[name], 2)}"
            for name in names
        ]
        title = f"VCS {fixed(score.values['vcs'], 2)}\n" + "   ".join(told)
        return alignment_figure(
            score.detail, chunk_verdicts(score.detail, self.setting), title
        )

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
        from beholder.metrics.vcs.plots import (
            step_figures,
        )  # matplotlib loads slowly

        pages = {"alignment": self.figure(score)}
        directions = direction_steps(score.detail, self.setting)
        step = regularizer_step(score.detail, score.values, self.setting)
        return pages | step_figures(directions, step)

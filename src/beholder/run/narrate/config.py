"""Everything a run over narratives is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from beholder.errors import ConfigError
from beholder.narratives.hybrid import Rule
from beholder.narratives.judging import Voting
from beholder.narratives.space import JSD, Base, Scale
from beholder.narratives.views import Method

Part: TypeAlias = Literal["captions", "sight", "hybrid", "transitions", "coherence"]
PARTS: tuple[Part, ...] = ("captions", "sight", "hybrid", "transitions", "coherence")


@dataclass(frozen=True)
class NarrateConfig:
    """What to judge and measure, how, and where to keep it.

    Attributes:
        sequences: File of sequences.
        out: The run directory.
        parts: What to do: rate by captions, by sight, by both (hybrid), rate each step, measure
            coherence.
        collection: File or folder of the pictures that sequences name by id; None when they are
            written out. Coherence is scaled over all of it.
        columns: Which column of the collection holds a field, where it has another name.
        year: Year of dates that name none.
        media_root: Folder that image paths are relative to; None takes the collection's folder,
            else that of the sequences.
        judge: Spec of the judge that rates.
        caption_judge: Spec of the judge that writes captions; None takes ``judge``.
        judge_options: Options of both judges that are no part of a spec, such as ``base_url``.
        voting: How many judges, their temperature, context, anchors.
        max_side: Pixels of the longer side of a picture that is shown.
        words: Fewest and most words of a caption.
        language: Language of captions.
        share: Share of narratives that hybrid judging looks at.
        rule: Which ones.
        weight: Share of sight where both ways judged; None learns it.
        steps_by: How judges of steps see them.
        embedder: Spec of the image embedder for coherence.
        jsd: Reading of the topic term.
        base: Base of its logarithm.
        scale: Scale of theta.
        topics: ``labels:NAME``, ``clusters``, ``clusters:umap`` or None.
        human: Name of the human source.
        concurrency: Narratives judged at once.
        max_cost: US dollars that may be spent, or None.
        skip_bad_rows: Leave out rows that are wrong, and count them.
    """

    sequences: str
    out: Path
    parts: tuple[Part, ...]
    collection: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    year: int | None = None
    media_root: Path | None = None
    judge: str | None = None
    caption_judge: str | None = None
    judge_options: Mapping[str, Any] = field(default_factory=dict)
    voting: Voting = field(default_factory=Voting)
    max_side: int = 512
    words: tuple[int, int] = (150, 200)
    language: str = "English"
    share: float = 0.3
    rule: Rule = "uncertain"
    weight: float | None = None
    steps_by: Method = "sight"
    embedder: str | None = None
    jsd: JSD = "divergence"
    base: Base = 2.0
    scale: Scale = "raw"
    topics: str | None = None
    human: str = "human"
    concurrency: int = 16
    max_cost: float | None = None
    skip_bad_rows: bool = False

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise ConfigError(f"parts {self.parts}: expected some of {', '.join(PARTS)}")
        if self.judged and self.judge is None:
            raise ConfigError("no judge was named; give one, such as --judge openai:MODEL")
        if "coherence" in self.parts and self.embedder is None:
            raise ConfigError(
                "coherence needs vectors; name an --embedder: npz:FILE, clip:NAME or handcrafted"
            )
        if not 0.0 <= self.share <= 1.0:
            raise ConfigError(f"share={self.share}: expected a number from 0 to 1")
        if self.concurrency < 1 or self.max_side < 16:
            raise ConfigError("concurrency must be at least 1 and max_side at least 16")

    @property
    def judged(self) -> bool:
        """Whether a judge is asked anything."""
        return bool({"captions", "sight", "hybrid", "transitions"} & set(self.parts))

    @property
    def by_captions(self) -> bool:
        """Whether narratives are rated by captions."""
        return bool({"captions", "hybrid"} & set(self.parts))

    @property
    def root(self) -> Path:
        """Folder that images are relative to."""
        if self.media_root is not None:
            return self.media_root
        source = Path(self.sequences if self.collection is None else self.collection)
        return source if source.is_dir() else source.parent

"""``beholder.narrate``: storylines from collections of pictures, judged and compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from beholder.api import Run
from beholder.judges import Judge
from beholder.kinds.narratives import results
from beholder.kinds.narratives.config import (
    CaptionOptions,
    CoherenceOptions,
    CollectionOptions,
    Extraction,
    HybridOptions,
    Method,
    NarrateConfig,
    Part,
    StorylineEnds,
    Voting,
)
from beholder.kinds.narratives.inputs import (
    Extractions,
    extract_storylines,
    read_inputs,
)
from beholder.kinds.narratives.kind import KIND
from beholder.options import DataOptions, Options, check_list, group_options
from beholder.records import Storyline
from beholder.run.kind import run
from beholder.run.session import Progress, Quiet, default_out

__all__ = [
    "CaptionOptions",
    "CoherenceOptions",
    "CollectionOptions",
    "Extraction",
    "HybridOptions",
    "Voting",
    "compare",
    "extract",
]


@dataclass(frozen=True)
class NarrativesRun(Run):
    """A run that judged and measured storylines."""

    @property
    def study(self) -> results.NarrativeStudy:
        """Return the content of ``study.json``: tables, and every storyline with its votes."""
        return results.read_study(self.path)


def extract(
    pictures: str | Path | CollectionOptions,
    *,
    k: int | None = None,
    source: str | None = None,
    target: str | None = None,
    like: str | Path | None = None,
    embedder: str = "handcrafted",
    how: Extraction | None = None,
    rows: DataOptions | None = None,
    skip_undated: bool = False,
) -> Extractions:
    """Extract storylines from a collection of pictures; needs no judge.

    Args:
        pictures: A folder, or a file with a row per picture.
        k: Pictures of a storyline; leave it out where ``like`` is given.
        source: Id of the first picture.
        target: Id of the last picture.
        like: File of storylines whose ends and lengths to take instead.
        embedder: ``npz:FILE``, ``clip:NAME`` or ``handcrafted``.
        how: Method and its options; None takes the exact max-min path.
        rows: Selection of pictures.
        skip_undated: Leave out pictures without a date, and report them.

    Returns:
        The storylines with their paths, and what was left out.

    Raises:
        ConfigError: An option is wrong, or there is no such storyline.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    ends = StorylineEnds(
        k, source, target, None if like is None else Path(like)
    )
    how, rows = how or Extraction(), rows or DataOptions()
    return extract_storylines(
        _collection(pictures), ends, embedder, how, rows, skip_undated
    )


def compare(
    storylines: str | Path | Iterable[Storyline],
    by: Sequence[Part] | None = None,
    *,
    judge: str | Judge | Sequence[str | Judge] | None = None,
    pictures: str | Path | CollectionOptions | None = None,
    voting: Voting | None = None,
    coherence: str | CoherenceOptions | None = None,
    captions: CaptionOptions | None = None,
    hybrid: HybridOptions | None = None,
    steps_by: Method = "sight",
    human: str = "human",
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> NarrativesRun:
    """Judge and measure storylines and compare their sources.

    Args:
        storylines: A file with a storyline a row, or storylines.
        by: Parts of the study: ``captions``, ``sight``, ``hybrid``, ``transitions``,
            ``coherence``. None rates by captions and by sight if a judge is named, and measures
            coherence if an embedder is named.
        judge: Judge that rates, such as ``openai:MODEL``, or several that are compared.
        pictures: Folder or file of the pictures that storylines name by id.
        voting: Number of judges, their temperature, context, anchors, examples.
        coherence: Embedder (``npz:FILE``, ``clip:NAME``, ``handcrafted``) or all its options.
        captions: Settings of the captioner for pictures without a caption.
        hybrid: Combination of both ways of judging.
        steps_by: View of the steps for judges: ``sight`` or ``captions``.
        human: Name of the human source.
        out: Run directory. None takes ``runs/`` and the name of the file, or a new temporary folder
            for storylines given in Python.
        progress: Receives the progress of the run.
        options: Options of all functions that make runs; see ``beholder.score``.

    Returns:
        The finished run; its ``study`` holds all tables.

    Raises:
        ConfigError: An option is wrong, or a judge does not support an operation.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        RunError: The run directory is busy or contains another run.
    """
    check_list("by", by)
    file = str(storylines) if isinstance(storylines, str | Path) else None
    coherence_options = (
        CoherenceOptions(coherence)
        if isinstance(coherence, str)
        else coherence
    )
    judge_list = [judge] if isinstance(judge, str | Judge) else judge or ()
    judges = tuple(
        entry.spec_text() if isinstance(entry, Judge) else entry
        for entry in judge_list
    )
    # Without ``by`` a run does whatever its tools allow.
    default_parts: tuple[Part, ...] = ("captions", "sight") if judges else ()
    default_parts += ("coherence",) if coherence_options is not None else ()
    rows, judging, work = group_options(options)
    config = NarrateConfig(
        sequences=file or "storylines",
        out=Path(out) if out is not None else default_out(file),
        parts=tuple(by) if by is not None else default_parts,
        judge=judges or None,
        collection=CollectionOptions()
        if pictures is None
        else _collection(pictures),
        steps_by=steps_by,
        human=human,
        voting=voting or Voting(),
        captions=captions or CaptionOptions(),
        hybrid=hybrid or HybridOptions(),
        coherence=coherence_options or CoherenceOptions(),
        rows=rows,
        judging=judging,
        work=work,
    )
    inputs = read_inputs(
        config, None if isinstance(storylines, str | Path) else storylines
    )
    _, bad_rows = run(KIND, config, progress or Quiet(), given=inputs)
    return NarrativesRun(config.out, bad_rows=tuple(bad_rows))


def _collection(pictures: str | Path | CollectionOptions) -> CollectionOptions:
    return (
        CollectionOptions(str(pictures))
        if isinstance(pictures, str | Path)
        else pictures
    )

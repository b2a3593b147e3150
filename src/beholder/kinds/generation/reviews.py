"""Texts to be ranked: reviews of five kinds per picture, by a vision model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from beholder.asking.params import param
from beholder.data import read_frames, reviews_row
from beholder.errors import ConfigError, ItemError
from beholder.judges import Judge, operations
from beholder.kinds.generation.engine import (
    GenerationRun,
    Written,
    plan_making,
    run_making,
    with_usual_concurrency,
)
from beholder.kinds.generation.generators import GeneratedText, TextGenerator
from beholder.kinds.generation.kind import REVIEWS
from beholder.metrics import Tools
from beholder.options import (
    DataOptions,
    JudgeOptions,
    WorkOptions,
    check_distinct,
)
from beholder.records import Frame, Reviews
from beholder.run.inputs import Input, root_of
from beholder.run.plan import RunPlan
from beholder.run.session import Engine, Progress, RunContext
from beholder.run.subjects import FRAME
from beholder.text.languages import canonical_language, language_named

FILE_NAME = "reviews.jsonl"

KINDS = (
    "objective and reasonable: grounds that anyone can check in the picture, sound conclusions",
    "subjective but reasonable: a personal impression, sound conclusions",
    "objective but unreasonable: written as a matter of fact, but what it concludes or asks for"
    " does not follow or cannot be had",
    "subjective and unreasonable: a personal impression, and what it concludes or asks for does"
    " not follow or cannot be had",
    "subjective and with an error: a personal impression that takes something for what it is not",
)
"""Best first: the place of a kind is the prompt rank of its text."""


@dataclass(frozen=True)
class WriteReviews(TextGenerator[Frame]):
    """Five reviews of a picture, one per kind.

    Raises:
        ConfigError: A number is too small.
    """

    registered_name: ClassVar[str] = "review"
    needs = (operations.Review,)

    language: str = param("en", "code of the language to write in")
    words: int = param(80, "words per review, about", whole=(10, math.inf))
    max_side: int = param(
        1024,
        "pixels of the picture's longer side at most",
        whole=(16, math.inf),
    )

    def check(self, subject: Frame) -> None:
        """Refuse a frame that has words only."""
        if subject.image is None:
            raise ItemError(f"{subject.id!r} has no image")

    async def make(
        self, subject: Frame, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return a part per kind, best first, labelled with the kind."""
        question = operations.Review(
            await tools.pictures.read([subject.image or ""], self.max_side),
            KINDS,
            language=language_named(self.language) or self.language,
            n_words=self.words,
        )
        texts = await judge.ask(question)
        return tuple(
            GeneratedText(text, kind.partition(":")[0])
            for kind, text in zip(KINDS, texts, strict=True)
        )


@dataclass(frozen=True)
class ReviewsConfig:
    """The texts to write, and the file for them.

    Attributes:
        data: A folder of pictures, or a file with a row per picture.
        out: The run directory, with ``reviews.jsonl``.
        judge: Spec of the judge that writes.
        languages: Language codes; a set of reviews is written in each.
        words: Approximate words per review.
        max_side: Pixels of a picture's longer side at most.
        seed: Of the order in which the texts of a set are stored.
        rows: Selection of pictures.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.

    Raises:
        ConfigError: A number is too small, or a language stands twice.
    """

    data: str
    out: Path
    judge: str
    languages: tuple[str, ...] = ("en",)
    words: int = 80
    max_side: int = 1024
    seed: int = 12345
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    def __post_init__(self) -> None:
        if not self.languages:
            raise ConfigError(
                "no language was named; give one, such as --language en"
            )
        check_distinct("language", self.languages)

    @property
    def folder(self) -> Path:
        """Return the folder that paths of pictures are relative to."""
        return self.rows.media_root or root_of(self.data)


def run_reviews(
    config: ReviewsConfig, progress: Progress, engine: Engine | None = None
) -> Written:
    """Have missing reviews written; errors as ``engine.run_making``."""
    return run_making(_making(config), progress, engine)


def plan_reviews(config: ReviewsConfig) -> RunPlan:
    """Read all input and report what the run would ask; errors as ``engine.plan_making``."""
    return plan_making(_making(config))


def _making(config: ReviewsConfig) -> GenerationRun[Frame]:
    def row(
        frame: Frame, language: str, parts: Sequence[GeneratedText], judge: str
    ) -> Mapping[str, Any]:
        """Return the row of a set, its texts in random order: no place stands for a kind."""
        # Seeded by picture and language, so that the order does not depend on which rows are read.
        digest = hashlib.sha256(f"{frame.id}\0{language}".encode()).digest()
        rng = np.random.default_rng(
            [config.seed, int.from_bytes(digest[:8], "big")]
        )
        order = rng.permutation(len(parts)).tolist()
        reviews = Reviews(
            id=frame.id,
            texts=tuple(parts[kind].text for kind in order),
            image=frame.image,
            language=canonical_language(language),
            category=frame.labels.get("category", ""),
            prompt_ranks=tuple(float(kind + 1) for kind in order),
        )
        return reviews_row(reviews)

    # A folder has no bytes to compare, so it is read again each time.
    path = Path(config.data)
    return GenerationRun(
        kind=REVIEWS.name,
        folder=config.out,
        out=config.out / FILE_NAME,
        data=config.data,
        rows=config.rows,
        means=RunContext(
            config.judging, with_usual_concurrency(config.work), config.folder
        ),
        subjects=FRAME,
        read=lambda notes: read_frames(
            config.data, media_root=config.rows.media_root
        ),
        source=Input(path, config.rows) if path.is_file() else None,
        picture=lambda frame: frame.image,
        systems={
            language: WriteReviews(
                config.judge, language, config.words, config.max_side
            )
            for language in config.languages
        },
        row=row,
    )

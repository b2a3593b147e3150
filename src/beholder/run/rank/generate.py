"""Make texts to be ranked: reviews of five kinds per picture, by a judge that sees; resumable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from beholder.aio import bounded, run_sync
from beholder.backends.images import Pictures
from beholder.data import reviews_row
from beholder.errors import ConfigError, ItemError, TransientError
from beholder.files import write_jsonl
from beholder.judges import Budget, Draw, judge
from beholder.judges.answers import AnswerStore
from beholder.judges.base import Judge
from beholder.judges.operations import Review
from beholder.metrics.irr.response import LANGUAGES
from beholder.records import Frame, ItemFailure, ItemScore, Reviews
from beholder.run.answers import run_answers
from beholder.run.session import Progress
from beholder.run.store import locked

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
class GenerateConfig:
    """What to write, and where to keep it.

    Attributes:
        frames: The pictures.
        root: Folder that they are relative to.
        out: The run directory.
        judge: Spec of the judge that writes.
        languages: Language codes; a set of reviews is written in each.
        n_words: Words per review, about.
        temperature: Of the judge; None takes its own.
        max_side: Pixels of a picture's longer side at most.
        seed: Of the order in which the texts of a set are stored.
        concurrency: Pictures at once.
        cache: File of the answers that all runs share, or None.
        max_cost: US dollars that may be spent, or None.
        judge_options: Options of the judge that are no part of its spec.
    """

    frames: Sequence[Frame]
    root: Path
    out: Path
    judge: str
    languages: tuple[str, ...] = ("en",)
    n_words: int = 80
    temperature: float | None = None
    max_side: int = 1024
    seed: int = 12345
    concurrency: int = 16
    cache: Path | None = None
    max_cost: float | None = None
    judge_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for option, least in (("n_words", 10), ("concurrency", 1), ("max_side", 16)):
            if getattr(self, option) < least:
                raise ConfigError(f"{option}={getattr(self, option)}: expected at least {least}")
        if not self.languages or len(set(self.languages)) < len(self.languages):
            raise ConfigError(f"languages {self.languages}: expected one or more, each once")


def generate(
    config: GenerateConfig, progress: Progress
) -> tuple[Path, dict[tuple[str, str], ItemFailure]]:
    """Write ``reviews.jsonl``, or go on with it; what is there already is not asked again.

    Returns:
        The file, and why some (picture, language) have no reviews.

    Raises:
        ConfigError: The judge cannot see or write.
        RunError: The run directory is busy, or the budget is spent.
    """
    with (
        locked(config.out),
        run_answers(config.out, config.cache, config.max_cost) as (answers, budget),
    ):
        writer = _judge(config, answers, budget)
        progress.start(len(config.frames) * len(config.languages), 0)
        written, failed = run_sync(_write(config, writer, progress))
    path = config.out / FILE_NAME
    write_jsonl(path, map(reviews_row, written))
    return path, failed


def _judge(config: GenerateConfig, answers: AnswerStore, budget: Budget) -> Judge:
    return judge(config.judge, answers=answers, budget=budget, **config.judge_options)


async def _write(
    config: GenerateConfig, writer: Judge, progress: Progress
) -> tuple[list[Reviews], dict[tuple[str, str], ItemFailure]]:
    pictures = Pictures(config.root)
    jobs = [(n, language) for n in range(len(config.frames)) for language in config.languages]

    async def one(job: tuple[int, str]) -> Reviews | ItemFailure:
        frame, language = config.frames[job[0]], job[1]
        try:
            if frame.image is None:
                raise ItemError(f"{frame.id!r} has no image")
            images = await pictures.read([frame.image], config.max_side)
            question = Review(images, KINDS, LANGUAGES.get(language, language), config.n_words)
            texts = await writer.ask(question, Draw(temperature=config.temperature))
        except ItemError as error:
            return ItemFailure(type(error).__name__, str(error), isinstance(error, TransientError))
        return _shuffled(frame, language, texts, config.seed)

    found: dict[tuple[int, str], Reviews | ItemFailure] = {}
    async for job, outcome in bounded(one, jobs, config.concurrency):
        found[job] = outcome
        progress.advance(outcome if isinstance(outcome, ItemFailure) else ItemScore({}))
    return _sorted_out(config, ((job, found[job]) for job in jobs))


def _sorted_out(
    config: GenerateConfig, found: Iterable[tuple[tuple[int, str], Reviews | ItemFailure]]
) -> tuple[list[Reviews], dict[tuple[str, str], ItemFailure]]:
    written: list[Reviews] = []
    failed: dict[tuple[str, str], ItemFailure] = {}
    for (number, language), outcome in found:
        if isinstance(outcome, Reviews):
            written.append(outcome)
        else:
            failed[config.frames[number].id, language] = outcome
    return written, failed


def _shuffled(frame: Frame, language: str, texts: Sequence[str], seed: int) -> Reviews:
    """The texts in a random order of their own, so that no place stands for a kind."""
    digest = hashlib.sha256(f"{frame.id}\0{language}".encode()).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
    order = rng.permutation(len(texts)).tolist()
    return Reviews(
        id=frame.id,
        texts=tuple(texts[kind] for kind in order),
        image=frame.image,
        language=language,
        category=frame.labels.get("category", ""),
        prompt_ranks=tuple(float(kind + 1) for kind in order),
    )

"""Rankers of the texts of one image: any metric or a judge; and the configuration of a run."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec
import numpy as np

from beholder.asking.asker import Asker, ValueInfo
from beholder.asking.params import param
from beholder.asking.tools import Tools
from beholder.base.ranges import check_number
from beholder.base.spec import Spec, parse_spec
from beholder.errors import ConfigError, ItemError, TransientError
from beholder.judges import Draw
from beholder.judges.operations import Rank
from beholder.metrics import from_spec, metric
from beholder.metrics.base import Metric
from beholder.metrics.judged.perplexity import Perplexity
from beholder.options import (
    DataOptions,
    JudgeOptions,
    WorkOptions,
    check_count,
)
from beholder.records import Item, ItemScore, Reviews
from beholder.run.inputs import root_of
from beholder.run.session import RunContext
from beholder.stats.annotator_pairs import ranks_of
from beholder.text.languages import language_named


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of the texts of one image by a ranker.

    Attributes:
        values: Values by name, one per text; the first is the one that ranks.
        higher_is_better: Direction of each value.
        orders: For a judge that ranks: per request, the texts in the order shown.
        answers: Per request, the rank of each text (in the order of the data), or why it
            failed.
        unfinished: Whether a request failed for now and should be repeated.
    """

    values: Mapping[str, tuple[int | float, ...]]
    higher_is_better: Mapping[str, bool]
    orders: tuple[tuple[int, ...], ...] = ()
    answers: tuple[tuple[int, ...] | str, ...] = ()
    unfinished: bool = False

    def ranks(self, value: str | None = None) -> tuple[float, ...]:
        """Return the ranks of the texts by a value, the first if None; ties share ranks."""
        name = next(iter(self.values)) if value is None else value
        return ranks_of(
            self.values[name], higher_is_better=self.higher_is_better[name]
        )

    def to_detail(self) -> dict[str, object]:
        """Return the fields as the detail of an outcome; ``unfinished`` has a field of its own."""
        detail = asdict(self)
        del detail["unfinished"]
        return detail

    @classmethod
    def from_detail(cls, detail: Mapping[str, object]) -> Scored:
        """Build the record from what ``to_detail`` returned.

        Raises:
            msgspec.ValidationError: The detail has another shape; the message names the field.
        """
        return msgspec.convert(detail, cls)


@dataclass(frozen=True)
class Ranker(Asker[Reviews]):
    """Base of everything that ranks the texts of one image.

    The detail of its outcome is a ``Scored``. The correlation with people is computed when the
    outcome is read, because their ranks may be added later.
    """

    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "correlation",
            "mean Spearman with the two annotators who agree best",
            -1.0,
        ),
    )

    @abstractmethod
    async def rank(self, reviews: Reviews, tools: Tools) -> Scored:
        """Score the texts of one image.

        Raises:
            ItemError: The texts cannot be ranked; the message says why.
        """

    @property
    def undirected(self) -> tuple[str, ...]:
        """Return the values that have no better end; the larger ranks first."""
        return ()

    async def evaluate(self, subject: Reviews, tools: Tools) -> ItemScore:
        """Return the scores of one set of texts as the detail of an outcome."""
        self.check(subject)
        scored = await self.rank(subject, tools)
        signature = self.signature(self.identities(tools))
        return ItemScore(
            {}, (), signature, scored.to_detail(), scored.unfinished
        )


@dataclass(frozen=True)
class ByMetric(Ranker):
    """Ranks texts by a metric's first value.

    Attributes:
        metric: The metric; the ranker has its name and its signature.
    """

    metric: Metric[Any]

    @property
    def name(self) -> str:
        """Return the canonical name of the metric."""
        return self.metric.name

    def config(self) -> dict[str, Any]:
        """Return the fields of the metric."""
        return self.metric.config()

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Return the signature of the metric."""
        return self.metric.signature(identities)

    def tool_specs(self) -> list[tuple[str, str]]:
        """Return the tools of the metric."""
        return self.metric.tool_specs()

    @property
    def looks(self) -> bool:
        """Return whether the metric looks at images."""
        return self.metric.looks

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Return the operations of the metric."""
        return self.metric.operations_asked

    @property
    def undirected(self) -> tuple[str, ...]:
        """Return the values of the metric that have no better end."""
        return tuple(
            info.name
            for info in self.metric.values
            if info.higher_is_better is None
        )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return the identities of the metric's tools."""
        return self.metric.identities(tools)

    def prepare(self, subjects: Iterable[Reviews]) -> Self:
        """Return the ranker with its metric prepared on all texts of all images."""
        texts = (item for reviews in subjects for item in items_of(reviews))
        return replace(self, metric=self.metric.prepare(texts))

    def state(self) -> Mapping[str, Any] | None:
        """Return the state of the metric after ``prepare``."""
        return self.metric.state()

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """Return the ranker with its metric in a stored state."""
        return replace(self, metric=self.metric.with_state(state))

    def check(self, subject: Reviews) -> None:
        """Raise an error for a set with a text that the metric cannot score."""
        # The class of the error decides whether the item is tried again, so it is kept.
        for number, item in enumerate(items_of(subject), start=1):
            try:
                self.metric.check_item(item)
            except ItemError as error:
                raise type(error)(f"text {number}: {error}") from error

    def check_tools(self, subject: Reviews, tools: Tools) -> None:
        """Raise an error for a set in a language that a tool of the metric cannot read."""
        for item in items_of(subject):
            self.metric.check_tools(item, tools)

    async def rank(self, reviews: Reviews, tools: Tools) -> Scored:
        """Score each text by the metric; one text that fails leaves the set without a ranking."""
        scores = await self.metric.evaluate_together(items_of(reviews), tools)
        values = {
            info.name: tuple(score.values[info.name] for score in scores)
            for info in self.metric.values
        }
        directions = {info.name: info.sign > 0 for info in self.metric.values}
        return Scored(values, directions)


def items_of(reviews: Reviews) -> list[Item]:
    """Return the texts of a set as items that a metric can score, numbered from 1."""
    labels = (("language", reviews.language), ("category", reviews.category))
    return [
        Item(
            id=f"{reviews.id}#{number}",
            candidate=text,
            references=reviews.references,
            images=() if reviews.image is None else (reviews.image,),
            group={name: value for name, value in labels if value},
        )
        for number, text in enumerate(reviews.texts, start=1)
    ]


@dataclass(frozen=True)
class Response(Ranker):
    """A judge ranks all texts of an image at once, in several shuffled orders.

    Criteria, each breaking ties of the previous one: truth, fit with the image, detail,
    objectivity, fluency. An answer must contain each rank exactly once; otherwise one repair
    request is sent, after which the request counts as failed. The ranks of all good requests are
    averaged; an image fails if none is good. The first order is random, and each further one
    shifts it by a place, so that with as many orders as texts each text appears in each place once
    and position bias cancels out.

    Source: Hayashi et al., image review ranking; orders and prompt are ours.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    registered_name: ClassVar[str] = "response"
    needs = (Rank,)

    judge: str = param(help="model that ranks", tool="judge")
    orders: int = param(
        1,
        "requests per image, each with the texts in another order",
        whole=(1, math.inf),
    )
    image: bool = param(True, "show the image; False ranks by the words alone")
    seed: int = param(12345, "of the orders")
    max_side: int = param(
        1024,
        "pixels of the image's longer side at most; 0 leaves it",
        whole=(0, math.inf),
    )

    @property
    def looks(self) -> bool:
        """Return whether the judge sees the picture."""
        return self.image

    def check(self, subject: Reviews) -> None:
        """Raise an error for a set without an image, unless the judge ranks by the words alone."""
        if self.image and subject.image is None:
            raise ItemError(
                "response needs an image, and this set of texts has none"
            )

    async def rank(self, reviews: Reviews, tools: Tools) -> Scored:
        """Return the mean rank of each text over all orders.

        Raises:
            ItemError: The image cannot be read, or no request gave a usable answer.
        """
        pictures = (
            [reviews.image] if self.image and reviews.image is not None else []
        )
        images = await tools.pictures.read(pictures, self.max_side or None)
        language = language_named(reviews.language)
        judge = tools.judge(self.judge)
        # One request per order. A request that fails is kept with its reason and leaves the mean
        # of the others; ranks come by place in the prompt and are put back to the texts.
        orders = shuffled(
            reviews.id, len(reviews.texts), self.orders, self.seed
        )
        answers: list[tuple[int, ...] | str] = []
        errors: list[ItemError] = []
        for repeat, order in enumerate(orders):
            texts = [reviews.texts[place] for place in order]
            try:
                ranks = await judge.ask(
                    Rank(texts, images, language), Draw(repeat)
                )
            except ItemError as error:
                answers.append(str(error))
                errors.append(error)
                continue
            by_text = dict(zip(order, ranks, strict=True))
            answers.append(tuple(by_text[text] for text in range(len(texts))))
        rankings = [
            answer for answer in answers if not isinstance(answer, str)
        ]
        # The detail of the failure keeps the orders: failed requests count in position bias.
        if not rankings:
            first = errors[0]
            requests = {"orders": orders, "answers": answers}
            raise type(first)(
                str(first), detail={**first.detail, **requests}
            ) from first
        means = np.mean(rankings, axis=0)
        return Scored(
            {"mean_rank": tuple(float(rank) for rank in means)},
            {"mean_rank": False},
            tuple(orders),
            tuple(answers),
            any(isinstance(error, TransientError) for error in errors),
        )


def shuffled(
    key: str, n_texts: int, n_orders: int, seed: int
) -> list[tuple[int, ...]]:
    """Return orders of n texts, fixed by key and seed: a random one, then shifted by a place.

    After each text has been in each place, a new random order begins.
    """
    # hash() of a text differs from process to process; a digest does not.
    digest = hashlib.sha256(key.encode("utf-8")).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
    orders: list[tuple[int, ...]] = []
    base: list[int] = []
    for number in range(n_orders):
        shift = number % n_texts
        if shift == 0:
            base = rng.permutation(n_texts).tolist()
        orders.append(tuple(base[shift:] + base[:shift]))
    return orders


def ranker(spec: str | Spec, **defaults: object) -> Ranker:
    """Build a ranker from its spec.

    Args:
        spec: ``perplexity(judge='hf:NAME')``, ``response(judge='openai:NAME', orders=5)``, or a
            metric such as ``clipscore`` or ``metric(posh)``.
        defaults: Values for parameters that the ranker has and the spec does not name.

    Raises:
        ConfigError: An unknown ranker or parameter, or a bad value.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    # metric(NAME) takes the metric even where a ranker has the same name.
    match parsed.name, parsed.options:
        case "metric", {"members": [Spec() as inner]}:
            parsed = inner
        case Response.registered_name, _:
            return from_spec(Response, parsed, defaults)
    return ByMetric(metric(parsed, **defaults))


def can_be_blinded(ranker: Ranker) -> bool:
    """Return whether a ranker shows the image but could rank by the words alone."""
    # A ranker that leaves the image out already has no twin.
    core = ranker.metric if isinstance(ranker, ByMetric) else ranker
    return isinstance(core, Perplexity | Response) and core.image


def twins(rankers: Sequence[Ranker]) -> list[tuple[str, str]]:
    """Return pairs of rankers that differ only in that the second sees no image."""
    pairs = (
        (seeing, blinded(seeing))
        for seeing in rankers
        if can_be_blinded(seeing)
    )
    return [
        (seeing.name, blind.name)
        for seeing, blind in pairs
        if blind in rankers
    ]


def blinded(ranker: Ranker) -> Ranker:
    """Return the same ranker without the image.

    Raises:
        ConfigError: It shows no image, or needs one.
    """
    match ranker:
        case Response():
            return replace(ranker, image=False)
        case ByMetric(metric=Perplexity() as perplexity):
            return ByMetric(replace(perplexity, image=False))
    raise ConfigError(
        f"{ranker.name} cannot leave the image out; perplexity and response can"
    )


@dataclass(frozen=True)
class RankConfig:
    """Configuration of a ranking run: data, rankers, run directory and options.

    Attributes:
        data: File of ranked texts, or folder of Parquet files.
        out: The run directory.
        rankers: The rankers, in the order to report them; the others are compared with the first.
            Default: ``vcs`` against references.
        language: Language of rows without one.
        threshold: Least agreement of the best pair of annotators of an image in the main tables;
            None for any.
        resamples: Bootstrap resamples.
        rows: Selection of rows.
        judging: Settings of questions to judges.
        work: Concurrency, caching and spending limit.
    """

    data: str
    out: Path
    rankers: tuple[Ranker, ...]
    language: str = ""
    threshold: float | None = 0.6
    resamples: int = 1000
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_number("threshold", self.threshold, -1, 1)
        check_count("resamples", self.resamples, "1000 is usual")

    @property
    def unpacked(self) -> Path:
        """Return the folder for pictures that are stored in the table itself."""
        return self.out / "pictures"

    def means(self, unpacked: Path) -> RunContext:
        """Return the context of the run.

        Args:
            unpacked: Folder of pictures that were stored in the table; used if it exists.
        """
        # Paths in a table that holds its pictures mean nothing: those were unpacked.
        folder = self.rows.media_root or (
            unpacked if unpacked.is_dir() else root_of(self.data)
        )
        return RunContext(self.judging, self.work, folder)

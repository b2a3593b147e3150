"""Ranking by asking: a judge sees the image and all texts, and says which is better."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from beholder.errors import ConfigError, ItemError, TransientError
from beholder.judges import Draw
from beholder.judges.operations import Rank
from beholder.kinds.ranking.rankers import Ranker
from beholder.kinds.ranking.scored import Scored
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.records import Reviews
from beholder.text.languages import language_named


@dataclass(frozen=True)
class Response(Ranker):
    """A judge ranks all texts of an image at once, in several shuffled orders.

    Criteria, each settling the ties of the one before: truth, fit with the image, detail,
    objectivity, fluency. An answer must hold each rank exactly once; one that does not gets one
    request to repair it and is then a failed request. The ranks of all good requests are averaged;
    an image fails when none is good. The first order is random, the next ones shift it by a place
    each, so that with as many orders as texts each text stands at each place once and position
    bias cancels.

    Source: Hayashi et al., image review ranking; orders and prompt are ours.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    registered_name: ClassVar[str] = "response"
    operations: ClassVar[tuple[str, ...]] = ("rank",)

    judge: str = param(help="model that ranks", tool="judge")
    orders: int = param(1, "requests per image, each with the texts in another order")
    image: bool = param(True, "show the image; False ranks by the words alone")
    seed: int = param(12345, "of the orders")
    max_side: int = param(1024, "pixels of the image's longer side at most; 0 leaves it")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.orders, int) or self.orders < 1:
            raise ConfigError(f"orders={self.orders!r}: expected a whole number from 1")
        if not isinstance(self.max_side, int) or self.max_side < 0:
            raise ConfigError(f"max_side={self.max_side!r}: expected a whole number from 0")

    @property
    def looks(self) -> bool:
        """Whether the judge sees the picture."""
        return self.image

    def identities(self, tools: Tools) -> dict[str, str]:
        """The judge's; one that cannot do what is asked is refused here, before any work."""
        tools.judge(self.judge).check_can(Rank, images=self.image)
        return super().identities(tools)

    def check(self, subject: Reviews) -> None:
        """Refuse a set without an image, where one is to be shown."""
        if self.image and subject.image is None:
            raise ItemError("response needs an image, and this set of texts has none")

    async def rank(self, reviews: Reviews, tools: Tools) -> Scored:
        """Mean ranks over all orders.

        Raises:
            ItemError: The image cannot be read, or no request gave a usable answer.
        """
        shown = [reviews.image] if self.image and reviews.image is not None else []
        images = await tools.pictures.read(shown, self.max_side or None)
        language = language_named(reviews.language)
        judge = tools.judge(self.judge)
        orders = shuffled(reviews.id, len(reviews.texts), self.orders, self.seed)
        answers: list[tuple[int, ...] | str] = []
        errors: list[ItemError] = []
        for repeat, order in enumerate(orders):
            texts = [reviews.texts[place] for place in order]
            try:
                given = await judge.ask(Rank(texts, images, language), Draw(repeat))
            except ItemError as error:
                answers.append(str(error))
                errors.append(error)
                continue
            by_text = dict(zip(order, given, strict=True))
            answers.append(tuple(by_text[text] for text in range(len(texts))))
        good = [answer for answer in answers if not isinstance(answer, str)]
        if not good:
            first = errors[0]
            asked = {"orders": orders, "answers": answers}
            raise type(first)(str(first), detail={**first.detail, **asked}) from first
        means = np.mean(good, axis=0)
        return Scored(
            {"mean_rank": tuple(float(rank) for rank in means)},
            {"mean_rank": False},
            tuple(orders),
            tuple(answers),
            any(isinstance(error, TransientError) for error in errors),
        )


def shuffled(key: str, n_texts: int, n_orders: int, seed: int) -> list[tuple[int, ...]]:
    """Orders of n texts, fixed by key and seed: a random one, shifted by a place each time.

    After every text stood at every place, a new random order begins.
    """
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

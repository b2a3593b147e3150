"""A metric for callers of ``evaluate``: ``compute(predictions=..., references=...)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from beholder.data.row import texts_of
from beholder.errors import ConfigError
from beholder.kinds.scores.door import score
from beholder.metrics import Metric, metric
from beholder.options import Options
from beholder.records import Item


class Computed:
    """A metric with the methods of a metric of ``evaluate``. Use ``load``."""

    def __init__(self, of: Metric[Any], options: Options) -> None:
        self.name = of.registered_name
        self._metric = of
        self._options = options
        self._items: list[Item] = []

    def add(
        self,
        *,
        prediction: str,
        references: str | Sequence[str],
        **columns: Any,
    ) -> None:
        """Take one text and its references."""
        self.add_batch(
            predictions=[prediction],
            references=[references],
            **{name: [value] for name, value in columns.items()},
        )

    def add_batch(
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str]] | None = None,
        images: Sequence[str | Sequence[str]] | None = None,
    ) -> None:
        """Take texts with their references, and pictures for metrics that look.

        Raises:
            ConfigError: The columns differ in length.
        """
        for name, column in (("references", references), ("images", images)):
            if column is not None and len(column) != len(predictions):
                raise ConfigError(
                    f"{len(predictions)} predictions have {len(column)} {name}"
                )
        nothing = [None] * len(predictions)
        of = nothing if references is None else references
        seen = nothing if images is None else images
        for prediction, texts, pictures in zip(
            predictions, of, seen, strict=True
        ):
            self._items.append(
                Item(
                    id=str(len(self._items) + 1),
                    candidate=prediction,
                    references=texts_of(texts, "references"),
                    images=texts_of(pictures, "images"),
                )
            )

    def compute(
        self,
        *,
        predictions: Sequence[str] = (),
        references: Sequence[str | Sequence[str]] | None = None,
        images: Sequence[str | Sequence[str]] | None = None,
    ) -> dict[str, Any]:
        """Score all that was added, and forget it.

        Returns:
            The mean of each value under its name, its 95 % interval under ``NAME_low`` and
            ``NAME_high``, the number of texts that failed, and the signature.

        Raises:
            ConfigError: There is nothing to score.
        """
        if len(predictions):
            self.add_batch(
                predictions=predictions, references=references, images=images
            )
        items, self._items = self._items, []
        if not items:
            raise ConfigError(
                "there is nothing to compute: give predictions, or add them before"
            )
        run = score(items, [self._metric], **self._options)
        (result,) = run.summary.values()
        failed = {"n_failed": result.n_failed, "signature": result.signature}
        return {**result.numbers("_"), **failed}


def load(of: str | Metric[Any], **options: Unpack[Options]) -> Computed:
    """A metric as ``evaluate.load`` gives one.

    Args:
        of: A metric, or its text form such as ``"posh"``.
        options: Those of ``beholder.score``.
    """
    return Computed(metric(of) if isinstance(of, str) else of, options)

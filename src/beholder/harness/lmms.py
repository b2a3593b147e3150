"""Metrics in tasks of lmms-eval: the two functions that a task's YAML names.

In the task's ``utils.py``::

    from beholder.harness.lmms import captions

    accord_process, accord_mean = captions("accord", references="answer")

and in its YAML::

    process_results: !function utils.accord_process
    metric_list:
      - metric: accord
        aggregation: !function utils.accord_mean
        higher_is_better: true
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Unpack

from beholder.data.row import texts_of
from beholder.errors import RunError
from beholder.kinds.scores.door import score
from beholder.metrics import Metric, metric
from beholder.options import Options
from beholder.records import Item

Process: TypeAlias = Callable[
    [Mapping[str, Any], Sequence[str]], dict[str, Mapping[str, object]]
]
Mean: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], float]


def captions(
    of: str | Metric[Any],
    *,
    references: str,
    value: str | None = None,
    **options: Unpack[Options],
) -> tuple[Process, Mean]:
    """Return the functions that lmms-eval calls for each document, and at the end for all.

    All texts are scored together at the end, in worker processes or with a judge's answers at once,
    so metrics that count in the whole data set work, too.

    Args:
        of: A metric, or its text form such as ``"posh(judge='openai:MODEL')"``.
        references: Field of the document that holds one reference or several.
        value: Name of one of the metric's values; None takes the headline.
        options: Those of ``beholder.score``; with ``out`` left out nothing is stored.

    Returns:
        ``process_results`` and ``aggregation``.

    Raises:
        ConfigError: The metric has no such value.
    """
    chosen = metric(of) if isinstance(of, str) else of
    value_name = chosen.value_named(value).name

    def process(
        doc: Mapping[str, Any], results: Sequence[str]
    ) -> dict[str, Mapping[str, object]]:
        # The text is passed on unscored: worker processes and corpus metrics
        # need all of them.
        texts = list(texts_of(doc[references], references))
        text = results[0] if results else ""
        return {
            chosen.registered_name: {"candidate": text, "references": texts}
        }

    def mean(results: Sequence[Mapping[str, Any]]) -> float:
        items = [
            Item(
                id=str(n),
                candidate=document["candidate"],
                references=tuple(document["references"]),
            )
            for n, document in enumerate(results, start=1)
        ]
        (result,) = score(items, [chosen], **options).summary.values()
        if value_name not in result.values:
            raise RunError(f"no text could be scored: {dict(result.failures)}")
        return result.values[value_name].mean

    return process, mean

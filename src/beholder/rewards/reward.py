"""A metric as the reward of a training loop: TRL's signature, verl's, and a reward per token."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, Unpack

import msgspec
import numpy as np

from beholder.aio import run_sync
from beholder.asking.asker import Outcome
from beholder.data.row import texts_of
from beholder.errors import ConfigError, ItemError
from beholder.metrics import Metric, ValueInfo, metric
from beholder.options import Options, default_tools, group_options
from beholder.records import ROW_FIELDS, Item, ItemFailure, ItemScore
from beholder.rewards.guards import GUARDS, RewardGuard
from beholder.run.live import LiveScorer, TextFailure
from beholder.run.session import RunContext

_LOWEST_BOUND = -1000.0
"""A lowest reward below this would drown all others."""

logger = logging.getLogger("beholder.rewards")


def reward(
    of: str | Metric[Any],
    *,
    value: str | None = None,
    references: str = "references",
    images: str = "images",
    guards: Sequence[RewardGuard] = GUARDS,
    lowest: float | None = None,
    data: Iterable[Mapping[str, Any]] | None = None,
    judge: str | None = None,
    embedder: str | None = None,
    **options: Unpack[Options],
) -> Reward:
    """Make a reward of a metric.

    Args:
        of: A metric, or its text form such as ``"posh(judge='openai:MODEL')"``.
        value: Name of one of its values; None takes the headline. A value of which less is better
            is negated, so that more reward is always better.
        references: Column of the data set with the references: a text or several in a row.
        images: Column with paths of pictures, for metrics that look; it may be missing.
        guards: Guards that lower a reward; ``()`` for none.
        lowest: Reward of a text that cannot be scored by its own fault, to which guards lead down;
            None takes the worst end of the value's scale.
        data: Rows of the training set, for metrics that count in all of it first (``cider``).
        judge: Judge where the metric names none.
        embedder: Embedder where the metric names none.
        options: ``base_url``, ``temperature``, ``prompts``, ``judge_options``, ``media_root``,
            ``workers``, ``concurrency``, ``cache``, ``max_cost``; see ``beholder.options``.

    Raises:
        ConfigError: The metric, the value or an option is wrong.
    """
    defaults = default_tools(embedder, judge)
    chosen = metric(of, **defaults) if isinstance(of, str) else of
    # Options of scoring a data set, which a reward is never given whole.
    unfit = sorted(
        {
            "limit",
            "skip_bad_rows",
            "map",
            "references_from",
            "require_all",
            "group_references",
            "batch",
        }
        & options.keys()
    )
    if unfit:
        raise ConfigError(
            f"{unfit[0]} does not apply to a reward: leave it out"
        )
    rows, judging, work = group_options(options)
    context = RunContext(judging, work, rows.media_root or Path())
    context.check([chosen])
    info = chosen.value_named(value)
    if info.higher_is_better is None:
        raise ConfigError(
            f"{chosen.registered_name}.{info.name} cannot be a reward: none of its ends is better"
        )
    if lowest is None:
        lowest = min(info.sign * info.low, info.sign * info.high)
        if lowest < _LOWEST_BOUND:
            raise ConfigError(
                f"{chosen.registered_name}.{info.name} has no worst value that a trainer could take"
                " for an empty text: name one as lowest=..."
            )
    if data is None and chosen.needs_corpus():
        raise ConfigError(
            f"{chosen.registered_name} counts in the whole data set before the first text: hand"
            " over the rows of the training set as data=..."
        )
    # Document frequencies and the like need references and pictures, never a
    # candidate.
    texts = (
        (row.get(references), row.get(images))
        for row in (() if data is None else data)
    )
    of = chosen.prepare(
        item
        for text, pictures in texts
        for item in items_of([""], [text], [pictures])
    )
    return Reward(of, info, lowest, (references, images), guards, context)


@dataclass(eq=False, repr=False)
class Reward:
    """A reward function for trainers. Use ``reward``.

    Built-in analysis works in processes of its own, so that the trainer's loop continues meanwhile;
    judges behind an endpoint are waited for in the caller's loop. References that were read once
    are kept.

    **What a text gets.** The value (sign turned where less is better), less what guards take: of
    what lies above the lowest possible reward, ``factor`` is left. A text that is refused by its
    own fault (it is empty or too long, has no word, is no Unicode text, is in a language that is
    not read) gets the lowest possible reward, because a policy would learn to write such texts if
    they were left out. **None** stands where the metric does not apply (the
    row has no references), and where it failed (a judge did not answer); failures are logged with
    their reasons, and counted where the trainer takes numbers.

    Attributes:
        __name__: Such as ``posh.f1``; trainers show it.
    """

    of: Metric[Any]
    value: ValueInfo
    lowest: float
    columns: tuple[str, str]
    guards: Sequence[RewardGuard]
    means: RunContext

    def __post_init__(self) -> None:
        self.__name__ = f"{self.of.registered_name}.{self.value.name}"
        self._scorer = LiveScorer(self.of, self.means)

    async def __call__(
        self,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Completion] = (),
        **columns: Any,
    ) -> list[float | None]:
        """Rewards of completions, in order: the signature of TRL's reward functions.

        Args:
            prompts: Not read.
            completions: Texts, or chat messages; thinking is cut off.
            columns: Columns of the data set, a list each, and what else the trainer hands over.

        Returns:
            A reward for each, from the lowest to the highest value; None if there is none.

        Raises:
            ConfigError: The column of references is missing.
        """
        items = self._items(completions, columns)
        outcomes = await self._scorer.score(items)
        return self._rewards(items, outcomes, columns)

    # Offsets count in the text as it is scored, without white space before it.
    async def dense(
        self,
        completions: Sequence[Completion],
        offsets: Sequence[Offsets],
        **columns: Any,
    ) -> list[list[float] | None]:
        """Return a reward for each token of each completion; see ``by_token``.

        Args:
            completions: As above. Offsets count in the text after its thinking is cut off.
            offsets: For each completion the characters of its tokens.
            columns: As above.

        Returns:
            For each completion a reward for each token: -1 for all of a text that could not be
            scored by its own fault; None if the score is missing for another reason.
        """
        items = self._items(completions, columns)
        outcomes = await self._scorer.score(items)
        self._rewards(items, outcomes, columns)
        return [
            _dense(outcome, shift_offsets(places, n_blank(completion)))
            for completion, outcome, places in zip(
                completions, outcomes, offsets, strict=True
            )
        ]

    async def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: str | Sequence[str],
        extra_info: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> float:
        """Return the reward of one text: the signature of verl's reward functions.

        Args:
            data_source: Not read.
            solution_str: The text.
            ground_truth: A reference, or several.
            extra_info: May hold the column of pictures, and fields that metrics read (``objects``).

        Raises:
            ItemError: There is no reward for this text; verl knows no None.
        """
        references, images = self.columns
        # verl passes one row; the trainer's columns have one entry each.
        extra = {
            name: [(extra_info or {}).get(name)]
            for name in (images, *ROW_FIELDS)
        }
        row_columns = {**extra, references: [ground_truth]}
        score = (await self([data_source], [solution_str], **row_columns))[0]
        if score is None:
            index = (extra_info or {}).get("index")
            row = "" if index is None else f" of row {index}"
            why = (
                ""
                if texts_of(ground_truth, references)
                else ": ground_truth is empty"
            )
            raise ItemError(
                f"{self.__name__} has no reward for the text {solution_str[:60]!r}{row}{why}"
            )
        return score

    def compute_score_sync(self, *args: Any, **kwargs: Any) -> float:
        """Return ``compute_score`` without await, for reward managers of plain functions."""
        return run_sync(self.compute_score(*args, **kwargs))

    def close(self) -> None:
        """End the worker processes; they end with this process, too."""
        self._scorer.close()

    def _items(
        self, completions: Sequence[Completion], columns: Mapping[str, Any]
    ) -> list[Item]:
        references, images = self.columns
        # A misspelt column would otherwise give None for every text, and
        # training would continue.
        needed = [
            name
            for name, field in ((references, "references"), (images, "images"))
            if field in self.of.needed_fields and name not in columns
        ]
        if needed:
            raise ConfigError(
                f"{self.__name__} needs the column {needed[0]!r}; the data set has:"
                f" {', '.join(sorted(columns)) or 'none'}"
            )
        nothing = [None] * len(completions)
        texts, pictures = (
            columns.get(name, nothing) for name in (references, images)
        )
        fields = {
            name: columns[name] for name in ROW_FIELDS if name in columns
        }
        return items_of(completions, texts, pictures, fields)

    def _rewards(
        self,
        items: Sequence[Item],
        outcomes: Sequence[Outcome | None],
        columns: Mapping[str, Any],
    ) -> list[float | None]:
        failed: Counter[str] = Counter()
        rewards = [
            self._reward(*pair, failed)
            for pair in zip(items, outcomes, strict=True)
        ]
        # Blank references are most likely a mistake in the data; missing ones
        # are not.
        references = columns.get(self.columns[0], [None] * len(items))
        blank = [
            str(place)
            for place, (reference, outcome) in enumerate(
                zip(references, outcomes, strict=True), 1
            )
            if outcome is None and _is_blank(reference)
        ]
        if blank:
            failed[
                f"the references are blank (completion {', '.join(blank)})"
            ] = len(blank)
        # TRL passes a function that records a number of the step.
        log_metric: Callable[[str, float], object] | None = columns.get(
            "log_metric"
        )
        for reason, n in failed.items():
            logger.warning(
                "%s: %d of %d texts: %s", self.__name__, n, len(items), reason
            )
        if log_metric is not None and items:
            log_metric(f"{self.__name__}/failed", failed.total() / len(items))
        return rewards

    def _reward(
        self, item: Item, outcome: Outcome | None, failed: Counter[str]
    ) -> float | None:
        if outcome is None:
            return None
        if isinstance(outcome, ItemFailure):
            failed[outcome.message] += 1
            return self.lowest if isinstance(outcome, TextFailure) else None
        # A value may be undefined for a text (a correlation of one step); the
        # trainer skips None.
        if self.value.name not in outcome.values:
            failed[f"{self.value.name} is not defined for the text"] += 1
            return None
        # Guards scale the distance from the lowest reward, so that less is
        # worse even below zero.
        above = self.value.sign * outcome.values[self.value.name] - self.lowest
        for guard in self.guards:
            above *= guard.factor(item)
        return self.lowest + above


def _is_blank(references: Any) -> bool:
    """Return whether references exist and have no word; an empty list or None is no reference."""
    if references is None:
        return False
    texts = (references,) if isinstance(references, str) else tuple(references)
    return len(texts) > 0 and not texts_of(texts, "references")


def _dense(outcome: Outcome | None, offsets: Offsets) -> list[float] | None:
    # The text is at fault as a whole, so each of its tokens is.
    if isinstance(outcome, TextFailure):
        return [-1.0] * len(offsets)
    return (
        by_token(outcome, offsets) if isinstance(outcome, ItemScore) else None
    )


Completion: TypeAlias = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages of which the last by the assistant is the text."""


def text_of(completion: Completion) -> str:
    """Return the text that a policy wrote, without thinking; empty where the thinking never ended.

    Raises:
        ConfigError: It is neither a text nor chat messages.
    """
    return _answer(completion).strip()


def n_blank(completion: Completion) -> int:
    """Count the characters of white space between a policy's thinking and its text."""
    answer = _answer(completion)
    return len(answer) - len(answer.lstrip())


def _answer(completion: Completion) -> str:
    text = (
        completion
        if isinstance(completion, str)
        else _last_assistant_text(completion)
    )
    answer = text.rpartition("</think>")[2]
    # Thinking that was cut off at the length limit has no closing tag: there
    # is no answer yet.
    return "" if answer.lstrip().startswith("<think>") else answer


class _TextPart(msgspec.Struct):
    """A part of a message; of another kind than text (a picture) it has no text."""

    text: str = ""


class _Message(msgspec.Struct):
    content: str | list[_TextPart] | None
    role: str = "assistant"


def _last_assistant_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the last text by the assistant; empty if there is none."""
    message: object = messages
    try:
        # A str is a Sequence as well, but never gets here; bytes would be read
        # as numbers.
        if not isinstance(messages, Sequence) or isinstance(messages, bytes):
            raise TypeError
        for message in reversed(messages):
            parsed = msgspec.convert(message, _Message)
            if parsed.role == "assistant":
                parts = parsed.content or ""
                if isinstance(parts, str):
                    return parts
                return "".join(part.text for part in parts)
    except (TypeError, msgspec.ValidationError):
        raise ConfigError(
            f"a completion holds {repr(message)[:200]}: expected a text, or messages with role and"
            " content (a text, or parts with a text)"
        ) from None
    return ""


def _text_of(number: int, completion: Completion) -> str:
    try:
        return text_of(completion)
    except ConfigError as error:
        raise ConfigError(f"completion {number + 1}: {error}") from None


def items_of(
    completions: Sequence[Completion],
    references: Sequence[Any],
    images: Sequence[Any],
    fields: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> list[Item]:
    """Return an item for each completion.

    Args:
        completions: Texts, or chat messages.
        references: For each a text, several, or None where it has none.
        images: For each a picture's path, several, or None.
        fields: Columns of other fields that metrics read (``objects``).

    Raises:
        ConfigError: The columns are not as long as the completions, or have entries of other types.
    """
    # A shorter column would pair texts with references of other rows.
    for name, column in (
        ("references", references),
        ("images", images),
        *fields.items(),
    ):
        if len(column) != len(completions):
            raise ConfigError(
                f"{len(completions)} completions have {len(column)} {name}: expected one entry each"
            )
    return [
        Item(
            id=str(number),
            candidate=_text_of(number, completion),
            references=texts_of(reference, "references"),
            images=texts_of(pictures, "images"),
            meta={name: column[number] for name, column in fields.items()},
        )
        for number, (completion, reference, pictures) in enumerate(
            zip(completions, references, images, strict=True)
        )
    ]


Offsets = Sequence[tuple[int, int]]


def shift_offsets(offsets: Offsets, by: int) -> list[tuple[int, int]]:
    """Return offsets in a text without its first characters; tokens of those get empty ranges."""
    return [(max(0, start - by), max(0, end - by)) for start, end in offsets]


def by_token(score: ItemScore, offsets: Offsets) -> list[float]:
    """Return a reward for each token, from -1 (all findings are wrong) to 1 (all are right).

    A unit of the candidate with granular score s (0 wrong, 1 right) gives 2 s - 1 to each token
    that its spans touch; a token of several units has their mean, one of none has 0.

    Args:
        score: Score of the text by a metric with units.
        offsets: First character and the one after the last of each token, in order, as fast
            tokenizers give them; (0, 0) for tokens that stand for no text.
    """
    # A token (starts, ends) and a span (start, end) overlap if each begins
    # before the other ends; tokens without text, starts == ends, overlap
    # nothing.
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
    total, count = np.zeros(len(offsets)), np.zeros(len(offsets))
    for unit in score.units:
        if unit.side == "candidate" and unit.score is not None:
            touched = np.zeros(len(offsets), dtype=bool)
            for start, end in unit.spans:
                touched |= (starts < ends) & (starts < end) & (start < ends)
            total[touched] += 2 * unit.score - 1
            count[touched] += 1
    means: list[float] = (total / np.maximum(count, 1)).tolist()
    return means

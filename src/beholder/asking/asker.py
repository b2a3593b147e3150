"""The contract of an asker: it asks one thing of one subject at a time, with an outcome.

A metric asks it of an item, a ranker of a set of reviews, a rater of a storyline, a captioner of a
picture. An asker is a frozen dataclass whose fields are its whole configuration, so that two with
the same fields are equal, print the same name and give the same outcomes.
"""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from beholder import errors
from beholder.asking.params import (
    TEXTS,
    full_name,
    params,
    signature_of,
    to_spec,
    validate_params,
)
from beholder.asking.tools import Tools
from beholder.embed.base import FloatArray
from beholder.judges.asking import noted_questions, question_rows
from beholder.judges.decisions.notes import (
    noted_decisions,
    sorted_decisions,
)
from beholder.judges.operations import Operation
from beholder.records import ItemFailure, ItemScore

S = TypeVar("S")

Outcome: TypeAlias = ItemScore | ItemFailure
"""The outcome of one subject under one asker."""


@dataclass(frozen=True)
class ValueInfo:
    """The meaning of one of an asker's values.

    Attributes:
        name: Key in ``ItemScore.values``.
        help: One line on what it measures.
        low: Worst or lowest possible value.
        high: Best or highest possible value.
        higher_is_better: Direction; None for a value that has none, such as a count of words.
    """

    name: str
    help: str
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool | None = True

    @property
    def sign(self) -> float:
        """-1 where lower is better, else 1: times the value, more is never worse."""
        return -1.0 if self.higher_is_better is False else 1.0


@dataclass(frozen=True)
class Asker(ABC, Generic[S]):
    """Base of all that a run asks; ``S`` is the kind of subject.

    Class attributes every asker states:
        registered_name: Name in specs and in signatures.
        values: Its values; the first is the headline, shown first.
        corpus_values: Values of the whole data set that are no mean over subjects; usually none.
        operations: Names of all operations that it may ask of a judge; those of ``needs`` are
            added.
        needs: Operations without which a judge is refused.
        foresees_calls: True if a dry run finds the fewest and the most questions to its judge.
    """

    registered_name: ClassVar[str]
    values: ClassVar[tuple[ValueInfo, ...]] = ()
    corpus_values: ClassVar[tuple[ValueInfo, ...]] = ()
    operations: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[type[Operation[Any]], ...]] = ()
    foresees_calls: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A judge that cannot do a needed operation is refused, so what is needed
        # is also what may be asked.
        cls.operations = tuple(
            dict.fromkeys(
                (*cls.operations, *(operation.name for operation in cls.needs))
            )
        )

    def __post_init__(self) -> None:
        validate_params(self)

    @abstractmethod
    async def evaluate(self, subject: S, tools: Tools) -> ItemScore:
        """Evaluate one subject.

        Raises:
            ItemError: The subject has no score; the message says why.
        """

    def check(self, subject: S) -> None:
        """Refuse a subject without what is needed, before any work.

        Raises:
            ItemError: Names what is missing.
        """

    def check_tools(self, subject: S, tools: Tools) -> None:
        """Refuse a subject that a tool cannot read, before any work; most read everything.

        Raises:
            ItemError: Names the tool, and another that can.
        """

    def prepare(self, subjects: Iterable[S]) -> Self:
        """Return this asker with what it needs to know of the whole data set.

        A run calls it before the first evaluation. Most askers need nothing and read no subject;
        one that does (document frequencies) returns a copy of itself with that knowledge, and
        states it in ``identities``, so that a score is never mixed with scores on other data.
        """
        return self

    def state(self) -> Mapping[str, Any] | None:
        """Return what ``prepare`` computed as JSON values, to be stored in the run.

        None if computing it again is cheap, or if it depends on more than the data and the fields.
        A run that is resumed over the same data passes it to ``with_state``.
        """
        return None

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """Return this asker as ``prepare`` would, from the result of ``state``."""
        raise errors.ConfigError(
            f"{self.registered_name} stores no state, so there is nothing to restore"
        )

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return ``corpus_values`` from the sum over subjects of ``detail["statistics"]``, (k,).

        Counts add up and ratios do not, so the whole set is scored from summed counts; the run
        resamples them for the interval. Where ``detail["subset"]`` names several subsets, the
        sums of each stand one after the other, (s * k,).
        """
        raise errors.ConfigError(
            f"{self.registered_name} has no values of the whole data set"
        )

    def cautions(self, columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
        """Return warnings of values that mislead on this data, a sentence each; usually none.

        Args:
            columns: The values of all subjects, by name; those that a subject has not are missing.
        """
        return ()

    @property
    def name(self) -> str:
        """Canonical text of its spec; fields at their default are left out."""
        return str(to_spec(full_name(self.registered_name, type(self)), self))

    def config(self) -> dict[str, object]:
        """Return all fields with their resolved values, for the run log."""
        return {p.name: getattr(self, p.name) for p in params(self)}

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Return the signature printed beside the numbers: every field that affects the score.

        Args:
            identities: Identity per tool field, such as ``{"embedder": "static@1f3a"}``; a tool
                field that is not named shows its spec.
        """
        return signature_of(
            self.registered_name,
            self,
            self.config(),
            identities,
        )

    def tool_specs(self) -> list[tuple[str, str]]:
        """Return kind and spec of each tool this asker's fields name."""
        return [
            (p.metadata["tool"], getattr(self, p.name))
            for p in self._tool_params()
        ]

    def asks_judge(self) -> bool:
        """Return whether a field of this asker names a judge."""
        return any(kind == "judge" for kind, _ in self.tool_specs())

    @property
    def looks(self) -> bool:
        """True if it opens the pictures of its subjects; a run then notices that one changed."""
        return False

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Names of the operations that it asks of a judge as it is configured.

        The signature names the prompts of these alone. All of ``operations`` unless overridden.
        """
        return self.operations

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return the identity of each tool this asker's fields name, by field.

        Raises:
            ConfigError: A judge cannot do what is asked of it: refused here, before any work.
        """
        for kind, spec in self.tool_specs():
            # The check comes before any request: a judge that cannot answer
            # would fail on every subject.
            for operation in self.needs if kind == "judge" else ():
                tools.judge(spec).check_can(operation, images=self.looks)
        operation_names = self.operations_asked
        identities = {
            p.name: tools.identity(
                p.metadata["tool"],
                getattr(self, p.name),
                operation_names,
            )
            for p in self._tool_params()
        }
        return identities | ({TEXTS: tools.texts} if tools.texts else {})

    def other_forms(self, tools: Tools) -> tuple[Asker[S], ...]:
        """Return configurations that ask the same at another price, for a dry run to compare."""
        return ()

    def _tool_params(self) -> list[Field[Any]]:
        return [
            p
            for p in params(self)
            if p.metadata["tool"] and getattr(self, p.name) is not None
        ]


async def attempt(asker: Asker[S], subject: S, tools: Tools) -> Outcome:
    """Evaluate one subject; a failure that concerns it alone becomes its outcome.

    The questions sent to models are recorded with the outcome, in ``detail["questions"]``, and the
    distributions of a decision model in ``detail["decisions"]``. One
    broken subject does not end a run: any error of it becomes its failure, with the place in the
    code when it is a bug; the next start tries it again, because the bug may be fixed.

    Raises:
        ConfigError: A parameter or tool is wrong for all subjects alike.
        MissingExtraError: Likewise, a package is missing.
        RunError: The run cannot continue, for instance because its budget is spent.
    """
    with noted_questions() as questions, noted_decisions() as decisions:
        outcome = await _evaluate(asker, subject, tools)
    if not questions:
        return outcome
    detail = {**outcome.detail, "questions": question_rows(questions)}
    if decisions:
        detail["decisions"] = sorted_decisions(decisions)
    return replace(outcome, detail=detail)


async def _evaluate(asker: Asker[S], subject: S, tools: Tools) -> Outcome:
    try:
        return await asker.evaluate(subject, tools)
    # These are the same for every subject: to continue would repeat one message a
    # thousand times.
    except (errors.ConfigError, errors.MissingExtraError, errors.RunError):
        raise
    except errors.BeholderError as error:
        return failure_of(error)
    except Exception as error:
        # Anything else is a bug. Its place is in the message because no
        # traceback reaches the user.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        reason = f"{error} (a bug in {asker.name}, at {where})"
        # Transient, because the next version may have the bug fixed.
        return ItemFailure(type(error).__name__, reason, transient=True)


def failure_of(error: errors.BeholderError) -> ItemFailure:
    """Return the failure that records an error."""
    detail = error.detail if isinstance(error, errors.ItemError) else {}
    return ItemFailure(
        type(error).__name__,
        str(error),
        isinstance(error, errors.TransientError),
        detail,
    )

"""Plan a run: the whole input is read and checked, nothing is asked or written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from beholder.aio import run_sync
from beholder.asking.asker import Asker
from beholder.asking.tools import Tools
from beholder.data.notes import RowNotes
from beholder.errors import DataError, ItemError
from beholder.judges import AnswerStore, Tally
from beholder.run import manifest
from beholder.run.answers import cached_answers
from beholder.run.session import RunContext
from beholder.run.store import Store
from beholder.run.subjects import SubjectKind

S = TypeVar("S")


@dataclass
class PlannedAsker:
    """An asker of a planned run, with the numbers of its jobs and questions.

    Attributes:
        name: Canonical name.
        signature: Signature of its future outcomes.
        n_done: Subjects that the run directory has finished already.
        n_to_ask: Subjects it would be asked of.
        lacking: Number of subjects that are certain to fail, by reason.
        judge: Questions to its judge for the subjects not done; None if it asks no judge.
        judge_least: The same if answers lead to as few further questions as they can; None too if
            that is not known.
        judge_most: The same if answers lead to as many further questions as they can.
        other_forms: Questions of other configurations, by name.
    """

    name: str
    signature: str
    n_done: int = 0
    n_to_ask: int = 0
    lacking: Counter[str] = field(default_factory=Counter)
    judge: Tally | None = None
    judge_least: Tally | None = None
    judge_most: Tally | None = None
    other_forms: dict[str, Tally] = field(default_factory=dict)


@dataclass(frozen=True)
class RunPlan:
    """The plan of a run.

    Attributes:
        n_items: Good rows.
        bad_rows: Rows that would be left out.
        askers: Askers with their questions, in order.
        notes: Sentences on the rows that a reader must know.
    """

    n_items: int
    bad_rows: tuple[DataError, ...]
    askers: tuple[PlannedAsker, ...]
    notes: tuple[str, ...] = ()


def plan(
    askers: Sequence[Asker[S]],
    kind: SubjectKind[S],
    subjects: Iterable[S],
    out: Path,
    means: RunContext,
    bad_rows: Sequence[DataError] = (),
    at_most: Mapping[str, int] | None = None,
    notes: RowNotes | None = None,
) -> RunPlan:
    """Read all subjects once and return the plan of a run over them.

    Args:
        askers: Planned askers.
        kind: The kind of subject.
        subjects: The subjects.
        out: The run directory; it need not be there.
        means: With what the run would work.
        bad_rows: Filled while ``subjects`` is read.
        at_most: Of how many subjects, by name of an asker that is not asked of all; the first ones
            are counted, whichever they will be.
        notes: Filled while ``subjects`` is read.

    Raises:
        ConfigError: A tool cannot be made, or does not support the operation.
        RunError: The directory contains a run of another kind.
    """
    limits = at_most or {}
    asks_judge = any(asker.asks_judge() for asker in askers)
    with cached_answers(means.work.cache if asks_judge else None) as answers:
        counters = [
            _AskerCounter(asker, out, means, limits.get(asker.name), answers)
            for asker in askers
        ]

        async def count() -> int:
            n = 0
            for subject in subjects:
                for counter in counters:
                    await counter.add(n, subject)
                n += 1
            return n

        n = run_sync(
            count()
        )  # one event loop for all subjects: starting one takes milliseconds
    sentences = () if notes is None else tuple(notes.sentences())
    return RunPlan(
        n,
        tuple(bad_rows),
        tuple(counter.planned for counter in counters),
        sentences,
    )


class _AskerCounter:
    """Counts what one asker would ask."""

    def __init__(
        self,
        asker: Asker[Any],
        out: Path,
        means: RunContext,
        limit: int | None,
        answers: AnswerStore | None,
    ) -> None:
        self._asker = asker
        self._tally, low, high = (
            Tally(answers=assumption)
            for assumption in ("typical", "fewest", "most")
        )
        # Three assumptions on answers bound the number of questions that depend on them.
        tallies = (self._tally, low, high)
        self._tools, *self._bounds = (
            means.tools(tally=tally, answers=answers) for tally in tallies
        )
        self._other_forms: list[tuple[Asker[Any], Tools]] = []
        self._finished = read_finished(out, asker.name)
        self._n_left = (
            None if limit is None else max(0, limit - len(self._finished))
        )
        self.planned = PlannedAsker(
            asker.name, asker.signature(asker.identities(self._tools))
        )
        if asker.asks_judge():
            self.planned.judge, self.planned.judge_most = self._tally, high
            self.planned.judge_least = low if asker.foresees_calls else None
            for form in asker.other_forms(self._tools):
                tally = self.planned.other_forms[form.name] = Tally()
                self._other_forms.append(
                    (form, means.tools(tally=tally, answers=answers))
                )

    async def add(self, position: int, subject: Any) -> None:
        """Count one subject."""
        # Finished subjects are not asked again.
        if position in self._finished:
            self.planned.n_done += 1
            return
        if self.planned.n_to_ask == self._n_left:
            return
        self.planned.n_to_ask += 1
        try:
            self._asker.check(subject)
            self._asker.check_tools(subject, self._tools)
            if self.planned.judge is not None:
                await self._asker.evaluate(
                    subject, self._tools
                )  # sends no request, counts
                # A subject without a question has none under the other assumptions.
                if self._tally.n_calls:
                    variants = [
                        (self._asker, tools) for tools in self._bounds
                    ] + self._other_forms
                    for variant, tools in variants:
                        with suppress(
                            ItemError
                        ):  # its calls count; few facts may give no score
                            await variant.evaluate(subject, tools)
        except ItemError as error:
            self.planned.lacking[str(error)] += 1


def read_finished(out: Path, name: str) -> set[int]:
    """Return positions of the finished subjects of a run directory; empty if there is none.

    Raises:
        RunError: The directory contains no run that can be read.
    """
    if not (out / manifest.FILE_NAME).is_file() or not Store.exists(out):
        return set()
    with Store.read(out) as store:
        return store.finished(name)

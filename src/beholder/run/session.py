"""A run while it is made: the one place that owns its folder, its data, its outcomes and its log.

Every kind of run has the same steps: take the subjects, add the askers, begin, map,
close. ``map`` is the only loop that asks: it skips what is finished, turns errors into failures,
keeps each outcome the moment it arrives, and reports the progress.
"""

from __future__ import annotations

import tempfile
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from msgspec import structs

from beholder.asking.asker import Asker, Outcome
from beholder.asking.tools import check_taken
from beholder.backends import Usage
from beholder.base.files import check_name, check_regular
from beholder.base.threads import one_blas_thread
from beholder.data.notes import RowNotes
from beholder.errors import ConfigError
from beholder.judges import AnswerStore
from beholder.judges.grades import Judging
from beholder.judges.operations import OPERATIONS
from beholder.judges.operations.base import PanelOperation
from beholder.metrics import Tools
from beholder.options import JudgeOptions, WorkOptions
from beholder.records import MetricResult
from beholder.run import manifest
from beholder.run.answers import run_answers, run_judging
from beholder.run.codec import Encoded
from beholder.run.execute import Scorer, Work, execute
from beholder.run.export import SCORES, UNITS, are_tables_readable, export
from beholder.run.inputs import Input, check_pictures
from beholder.run.store import Store
from beholder.run.subjects import ScheduledAsker, SubjectKind
from beholder.run.summary import summarise

S = TypeVar("S")

_NOTES = "notes"
"""Key in the store of what was noted about data."""
CONCURRENCY = 64
"""Default number of subjects that wait for remote tools at once."""


def default_out(source: str | None, prefix: str = "") -> Path:
    """The default run directory: ``runs/`` and the name of the data.

    Args:
        source: The data as the user named it; None for data given in Python, which get a new
            temporary folder.
        prefix: Prefix of the name.
    """
    if source is None:
        return Path(tempfile.mkdtemp(prefix="beholder-"))
    name = "stdin" if source == "-" else Path(source).name.partition(".")[0]
    return Path("runs") / f"{prefix}{name}"


class Progress(Protocol):
    """Receives the progress of a run."""

    def start(self, total: int, reused: int) -> None:
        """Begin with ``total`` jobs, of which ``reused`` were finished before."""

    def advance(self, n_scored: int, n_failed: int) -> None:
        """Add to the numbers of finished jobs: those with a score and those that failed."""

    def answered(self, usage: Usage) -> None:
        """Count a new answer of a judge with its tokens; stored answers do not count."""

    def recalled(self) -> None:
        """Count an answer of a judge that came from the cache."""


class Quiet:
    """Progress that is ignored."""

    def start(self, total: int, reused: int) -> None:
        """Ignore the start."""

    def advance(self, n_scored: int, n_failed: int) -> None:
        """Ignore finished jobs."""

    def answered(self, usage: Usage) -> None:
        """Ignore a new answer."""

    def recalled(self) -> None:
        """Ignore an answer from the cache."""


@dataclass(frozen=True)
class RunContext:
    """Options of a run: how judges are asked, how much at once, the folder of pictures.

    Attributes:
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.
        folder: Base folder of the subjects' pictures.
        texts: Changes made to texts before they are scored; empty if there were none.
    """

    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    folder: Path = field(default_factory=Path)
    texts: str = ""

    def check(self, askers: Collection[Asker[Any]]) -> None:
        """Refuse options that no tool of the askers takes, and repeats of what cannot be merged.

        Raises:
            ConfigError: Names the option and the tools or askers.
        """
        check_taken(
            self.judging.for_tools(),
            (spec for asker in askers for spec in asker.tool_specs()),
        )
        asker_operations = [
            (name, asker.name)
            for asker in askers
            for name in asker.operations_asked
        ]
        are_mergeable = (
            issubclass(OPERATIONS[name], PanelOperation)
            for name, _ in asker_operations
        )
        if (self.judging.replicates or 1) > 1 and not any(are_mergeable):
            what = ", ".join(
                sorted({asker_name for _, asker_name in asker_operations})
            )
            raise ConfigError(
                f"replicates (--samples): {what} takes one answer; leave it out"
            )

    def tools(self, **options: Any) -> Tools:
        """Tools of the run, without a store unless the options name one.

        Args:
            options: Of ``Tools``: ``answers``, ``budget``, ``vectors``; with a ``tally``, judges
                are not asked but counted.
        """
        judging = self.judging.for_tools()
        return Tools(
            options=judging, folder=self.folder, texts=self.texts, **options
        )


Done: TypeAlias = Callable[[int, int], None]
"""Called with the numbers of jobs that were scored and that failed since the last call."""


class Engine(Protocol):
    """Does the work of a run on some machines and stores its outcomes."""

    def store(self, folder: Path) -> AbstractContextManager[Store]:
        """The store of a run directory, open for writing, made if need be.

        Raises:
            RunError: Another process writes there, or the run is kept in another way.
        """

    def execute(self, work: Work, means: RunContext, done: Done) -> None:
        """Do the open work and keep its outcomes; may be interrupted at any time.

        Raises:
            ConfigError: A tool does not support the operation.
            RunError: The work cannot continue; finished outcomes are kept.
        """


class OneMachine:
    """Work in this process and its workers, kept in one file by this process."""

    def store(self, folder: Path) -> AbstractContextManager[Store]:
        """Open the store of a run directory in one file."""
        return Store.open(folder)

    def execute(self, work: Work, means: RunContext, done: Done) -> None:
        """Do the open work here and store its outcomes as they arrive."""

        def store_outcomes(outcomes: Encoded) -> None:
            work.store.put_block(outcomes)
            done(len(outcomes.scores), len(outcomes.failures))

        limits = means.work
        execute(
            work,
            store_outcomes,
            workers=limits.workers,
            concurrency=limits.concurrency or CONCURRENCY,
        )


class Session:
    """A run that is being made. Use ``Session.open``.

    Attributes:
        store: Subjects, outcomes and vectors.
        tools: Judges, embedders and stores for askers.
        answers: Stored answers of judges; None if no judge is asked.
        asked: Askers that have been added, in order.
    """

    def __init__(
        self,
        kind: str,
        store: Store,
        tools: Tools,
        means: RunContext,
        progress: Progress,
    ) -> None:
        self.store = store
        self.tools = tools
        self.answers: AnswerStore | None = None
        self.asked: list[ScheduledAsker] = []
        self._kind = kind
        self._means = means
        self._engine: Engine = OneMachine()
        self._progress = progress
        self._log: manifest.RunLog | None = None
        self._taken: dict[str, tuple[int, str]] = {}

    @classmethod
    @contextmanager
    def open(
        cls,
        out: Path,
        kind: str,
        *,
        means: RunContext,
        askers: Iterable[Asker[Any]],
        progress: Progress,
        engine: Engine | None = None,
    ) -> Iterator[Session]:
        """Start or resume a run in a folder; the folder stays locked meanwhile.

        Args:
            out: The run directory, made if need be.
            kind: Kind of the run, as ``run.json`` says it.
            means: With what it works.
            askers: Askers of the run; if none names a judge, no store of answers is opened.
            progress: Receives the progress of the run.
            engine: Engine that does the work; None for this machine.

        Raises:
            ConfigError: The folder's name is not UTF-8, an option of tools is given that none of
                them takes, or a tool cannot be made.
            RunError: The folder is busy, or contains a run of another kind or format.
            KeyboardInterrupt: Passed on, after the store has all that was finished.
        """
        # Refuse before anything is created or asked.
        check_name(out)
        manifest.check_kind(out, kind)
        all_askers = tuple(askers)
        means.check(all_askers)
        run_engine = engine or OneMachine()
        with ExitStack() as stack:
            store = stack.enter_context(run_engine.store(out))
            for name in (manifest.FILE_NAME, SCORES, UNITS):
                # Writing to a pipe without a reader would wait for ever.
                check_regular(out / name, "it belongs to the run")
            answers, budget = None, None
            if any(asker.asks_judge() for asker in all_askers):
                answers, budget = stack.enter_context(
                    run_answers(
                        out,
                        means.work.cache,
                        means.work.max_cost,
                        heard=progress.answered,
                        recalled=progress.recalled,
                    )
                )
            tools = means.tools(vectors=store, answers=answers, budget=budget)
            session = cls(kind, store, tools, means, progress)
            session._engine, session.answers = run_engine, answers
            for asker in all_askers:
                asker.identities(
                    tools
                )  # a tool that cannot be made stops here
            stack.enter_context(
                one_blas_thread()
            )  # sums depend on the number of threads
            try:
                yield session
            except BaseException:
                session._write("interrupted")
                raise

    def take(
        self, kind: SubjectKind[S], subjects: Iterable[S]
    ) -> tuple[int, str]:
        """Store subjects, or check that they are those of the run; return their number and hash.

        Raises:
            RunError: The run contains other data.
        """
        self._taken[kind.name] = self.store.sync(kind, subjects)
        return self._taken[kind.name]

    def ingest_file(
        self,
        kind: SubjectKind[S],
        source: Input | None,
        subjects: Iterable[S],
        bad_rows: Sequence[object],
    ) -> tuple[int, str]:
        """As ``take``, but an input that was stored before with the same bytes is not read again.

        Args:
            kind: The kind of subject.
            source: File of the subjects; None if they come from no file.
            subjects: Gives them, read from there.
            bad_rows: Receives the wrong rows while they are read; every start reports them.

        Raises:
            RunError: The run contains other data.
        """
        key = source.key() if source is not None else None
        if source is None or key is None:
            return self.take(kind, subjects)
        if (stored := self.store.tables.input(key)) is not None:
            self._taken[kind.name] = stored
            return stored
        synced = self.take(
            kind, subjects
        )  # hash again: the file may have changed while it was read
        # Wrong rows are reported at every start, so an input that has some is read again.
        if not bad_rows and key == source.key():
            self.store.tables.add_input(key, *synced)
        return synced

    def store_notes(self, data: str, notes: RowNotes) -> tuple[str, ...]:
        """Store what was noted about rows while they were read, or return what was stored.

        Args:
            data: Hash of the data.
            notes: Without a row if the data were not read again.

        Returns:
            A sentence each.
        """
        if not notes.n_rows:
            stored = self.store.state(
                _NOTES, data, lambda state: tuple(state["notes"])
            )
            return stored or ()
        sentences = tuple(notes.sentences())
        self.store.add_state(_NOTES, data, {"notes": sentences})
        return sentences

    def add(
        self,
        asker: Asker[S],
        kind: SubjectKind[S],
        n: int,
        *,
        jobs: int | None = None,
        renew: bool = False,
    ) -> ScheduledAsker:
        """Schedule an asker for the first ``n`` subjects of a kind.

        Args:
            asker: Asker to add.
            kind: The kind of subject.
            n: The number of subjects.
            jobs: The number of subjects if ``map`` gets their positions later; None for all.
            renew: Delete outcomes that were made in another way; for outcomes that cost nothing.

        Raises:
            ConfigError: A tool cannot be made, or does not support the operation.
            RunError: The run contains outcomes of that name that were made in another way.
        """
        prepared = self._prepared(asker, kind, n)
        signature = prepared.signature(prepared.identities(self.tools))
        self.store.add_asker(
            prepared.name, kind, prepared.config(), signature, renew=renew
        )
        self.asked.append(
            ScheduledAsker(
                prepared,
                kind,
                n,
                signature,
                n if jobs is None else jobs,
                renew,
            )
        )
        return self.asked[-1]

    def _prepared(
        self, asker: Asker[S], kind: SubjectKind[S], n: int
    ) -> Asker[S]:
        """Return the asker with its state over the data: loaded if it is stored, else computed."""
        base_signature = asker.signature(asker.identities(self.tools))
        n_taken, data = self._taken.get(kind.name, (None, ""))
        # State belongs to all subjects of the data; over the first few it is computed each time.
        if n == n_taken:
            restored_asker = self.store.state(
                base_signature, data, asker.with_state
            )
            # Preparing reads all subjects, such as for document frequencies; the state saves
            # that.
            if restored_asker is not None:
                return restored_asker
        prepared = asker.prepare(
            subject for _, subject in islice(self.store.subjects(kind), n)
        )
        state = prepared.state()
        if n == n_taken and state is not None:
            self.store.add_state(base_signature, data, state)
        return prepared

    def begin(
        self,
        log: manifest.Log,
        shared: Mapping[str, Iterable[str]] | None = None,
    ) -> bool:
        """Begin when all is added; False if this same run is already closed.

        Args:
            log: Data and settings for the run log.
            shared: By name of what is asked, pictures on which all of its outcomes depend.

        Raises:
            RunError: The run contains scores made of a picture that has changed since.
        """
        check_pictures(
            self.store, self._means.folder, self.asked, shared or {}
        )
        self._log = manifest.build(self._kind, log, self.asked)
        reused = sum(
            min(entry.jobs, self.store.n_finished(entry.name, entry.n))
            for entry in self.asked
        )
        total = sum(entry.jobs for entry in self.asked)
        self._progress.start(total, reused)
        # A run that is closed with the same log and has its tables is left as it is.
        closed = structs.replace(self._log, status="complete")
        if (
            reused == total
            and manifest.is_closed(self.store.folder, closed)
            and are_tables_readable(self.store.folder)
        ):
            return False
        self._write("running")
        return True

    def map(
        self, *schedule: ScheduledAsker, positions: Sequence[int] | None = None
    ) -> None:
        """Run the open jobs over subjects of one kind, and store every outcome.

        Args:
            schedule: Askers with their subjects; all of the same kind of subject.
            positions: Of which subjects alone (outcomes of others are forgotten, answers of judges
                stay); None for the first ``n`` of each.

        Raises:
            ConfigError: A tool does not support the operation.
            RunError: The run cannot continue, for instance because its budget is spent.
        """
        # Outcomes of subjects that are no longer chosen must not count in the means.
        if positions is not None:
            for entry in schedule:
                self.store.keep_only(entry.name, positions)
        # (askers, subjects); an asker that is asked of fewer subjects is closed for the others.
        is_open = np.zeros(
            (len(schedule), max(entry.n for entry in schedule)), dtype=np.bool_
        )
        for place, entry in enumerate(schedule):
            is_open[place, : entry.n] = self.store.pending(entry.name, entry.n)
        if positions is not None:
            is_open[:, ~np.isin(np.arange(is_open.shape[1]), positions)] = (
                False
            )

        scorer = Scorer(
            [entry.asker for entry in schedule],
            schedule[0].kind,
            self._means.tools,
        )
        work = Work(scorer, is_open, self.store, self.tools)
        self._engine.execute(work, self._means, self._progress.advance)

    def outcomes(self, entry: ScheduledAsker) -> dict[int, Outcome]:
        """Return the outcomes of an asker by position, in order."""
        outcome_pairs = (
            (place, self.store.score(entry.name, place))
            for place in range(entry.n)
        )
        return {
            place: outcome
            for place, outcome in outcome_pairs
            if outcome is not None
        }

    def close(self) -> dict[str, MetricResult]:
        """Compute means with intervals, write the tables and close the log; return the summary."""
        export(self.store, self.asked)
        # The answers of judges show how sure they were.
        judging = (
            None if self.answers is None else run_judging(self.store.folder)
        )
        summary = {
            entry.name: summarise(self.store, entry, judging)
            for entry in self.asked
        }
        self._write("complete", summary, judging)
        return summary

    def _write(
        self,
        status: str,
        summary: Mapping[str, MetricResult] | None = None,
        judging: Judging | None = None,
    ) -> None:
        if self._log is not None:
            log = structs.replace(
                self._log,
                status=status,
                judging="" if judging is None else judging.in_words,
                summary=manifest.summary_rows(summary or {}),
            )
            manifest.write(self.store.folder, log)

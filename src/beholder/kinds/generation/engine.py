"""Runs that make texts: have judges make them, keep them in the store, write the file at the end.

Of the rows of a data file (``RowsConfig``), or of what another kind of run makes texts. Rows about
pictures need not have a text yet: they are a folder of pictures, or a data file.

The file is written whole from the store, so that a run that was killed at any moment ends in the
same bytes as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeAlias, TypeVar

from beholder.base.files import check_regular, write_jsonl
from beholder.data import read_frames, read_items, to_row
from beholder.data.folders import find_name_error, pictures_below, videos_below
from beholder.data.notes import RowNotes
from beholder.data.read import EVERY_ROW, good_rows, items_of
from beholder.errors import ConfigError, DataError
from beholder.kinds.generation.askers import RowAsker, RowColumns, check_words
from beholder.kinds.generation.generators import Parts, TextGenerator, parts_of
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.records import Item, ItemFailure
from beholder.run import ROWS, manifest
from beholder.run.inputs import Input, rebase_path, root_of
from beholder.run.plan import RunPlan, plan
from beholder.run.session import Engine, Progress, RunContext, Session
from beholder.run.subjects import ITEM, SubjectKind
from beholder.run.thumbs import write_thumbs
from beholder.text import n_spoken


def read_pictured(
    source: str,
    options: DataOptions = EVERY_ROW,
    folder: Path | None = None,
    notes: RowNotes | None = None,
) -> Iterator[Item | DataError]:
    """Read items whose candidate may be missing.

    Args:
        source: A folder (each picture below it becomes an item, and where pictures are taken of
            videos, each video) or a data file.
        options: Columns of fields, folder of pictures, and frames of a video.
        folder: New base folder of image paths; None leaves them relative to the source.
        notes: Receives how many texts there are for the references.

    Yields:
        An Item per good row, a DataError (not raised) per bad one.

    Raises:
        DataError: The source as a whole cannot be read.
    """
    for row in _pictured(source, options, notes):
        if folder is not None and isinstance(row, Item):
            # Rows are written elsewhere than they are read from.
            images = (
                rebase_path(image, root_of(source), folder)
                for image in row.images
            )
            row = replace(row, images=tuple(images))
        yield row


def _pictured(
    source: str, options: DataOptions, notes: RowNotes | None
) -> Iterator[Item | DataError]:
    # A folder gives an item per video, where frames are asked for, then an item per picture.
    if not Path(source).is_dir():
        yield from read_items(source, options, textless=True, notes=notes)
        return
    films = [] if options.frames is None else videos_below(Path(source))
    rows: Iterator[tuple[int, Any]] = (
        (
            n,
            find_name_error(film, source, n)
            or {"id": film, "candidate": "", "video": film},
        )
        for n, film in enumerate(films, start=1)
    )
    yield from items_of(rows, options, source)
    if films and not pictures_below(Path(source)):
        return
    for frame in read_frames(source):
        if isinstance(frame, DataError):
            yield frame
        else:
            yield Item(
                id=frame.id,
                candidate="",
                images=(frame.image,) if frame.image else (),
            )


def word_limits(text: str, items: Iterable[Item]) -> tuple[int, int] | None:
    """Return the fewest and most words of a caption.

    The forms are ``40``, ``30-40``, ``median`` and ``median:FILE``; ``none`` gives None: a
    caption may have any length.

    A single number is the most; the fewest are four fifths of it. ``median`` is the median length
    of the references, in words between blanks, without marks of speech: each different text counts
    once.

    Args:
        text: Text from the user.
        items: The data; only read for ``median``.

    Raises:
        ConfigError: Another form, or no reference to measure.
        DataError: The named file cannot be read.
    """
    # Each different reference counts once: many items may share one.
    name, _, file = text.partition(":")
    if text == "none":
        return None
    if name == "median":
        file_items = read_pictured(file, DataOptions(media_root=Path("/")))
        measured_items = (
            good_rows(file_items, DataOptions(), [], name=file)
            if file
            else items
        )
        texts = {
            reference
            for item in measured_items
            for reference in item.references
        }
        if not texts:
            raise ConfigError(
                f"--words {text}: {file or 'the data'} has no reference to measure"
            )
        return _limits_around(
            round(median(n_spoken(reference) for reference in texts))
        )
    low, dash, high = text.partition("-")
    try:
        limits = (int(low), int(high)) if dash else _limits_around(int(text))
    except ValueError:
        raise ConfigError(
            f"--words {text!r}: expected none, 40, 30-40, median or median:FILE"
        ) from None
    check_words(limits)
    return limits


def _limits_around(limit: int) -> tuple[int, int]:
    # Models miss an exact number of words; a fifth below it still counts as the length.
    return max(1, round(0.8 * limit)), limit


S = TypeVar("S")

CONCURRENCY = 16
"""Default number of subjects that wait for judges at once; small, because pictures are large."""

MAX_SHOWN = 200
"""Subjects on the page of a run, from the first; only they get a thumbnail."""

_THUMB_SIDE = 240

Row: TypeAlias = Callable[[S, str, Parts, str], Mapping[str, Any]]
"""The row of a subject, a system's name, the texts it made, and its judge's identity."""


@dataclass(frozen=True)
class GenerationRun(Generic[S]):
    """A run that makes texts, and the file it writes of them.

    Attributes:
        kind: Kind of the run, as ``run.json`` says it.
        folder: The run directory.
        out: The JSONL file.
        data: The data as the user named them.
        rows: Selection of rows.
        means: With what the run works.
        subjects: Kind of subject.
        read: Gives the subjects, and an error for each wrong row; may add notes on all rows.
        source: The data file, if the same bytes always give the same subjects.
        picture: The picture of a subject that its page shows, or None.
        systems: Askers, by the name of the system.
        row: The row of a subject in the file.
    """

    kind: str
    folder: Path
    out: Path
    data: str
    rows: DataOptions
    means: RunContext
    subjects: SubjectKind[S]
    read: Callable[[RowNotes], Iterator[S | DataError]]
    source: Input | None
    picture: Callable[[S], str | None]
    systems: Mapping[str, TextGenerator[S]]
    row: Row[S]

    def __post_init__(self) -> None:
        check_regular(
            self.out,
            f"what is finished is kept beside it, in {self.folder.name}",
        )

    @property
    def askers(self) -> list[TextGenerator[S]]:
        """Return the distinct generators; equal questions to one judge are asked once."""
        return list(
            {maker.name: maker for maker in self.systems.values()}.values()
        )


@dataclass(frozen=True)
class Written:
    """The result of a run that makes texts.

    Attributes:
        path: The file.
        n_written: Rows in it.
        failures: Id, system and reason, for rows that are not in it.
        bad_rows: Rows of the data that were left out.
        outside: Whether images lie outside of the file's folder, so that their paths are absolute.
    """

    path: Path
    n_written: int
    failures: tuple[tuple[str, str, ItemFailure], ...]
    bad_rows: tuple[DataError, ...]
    outside: bool


def run_making(
    making: GenerationRun[S], progress: Progress, engine: Engine | None = None
) -> Written:
    """Ask the missing questions, and write the file.

    Args:
        making: The run.
        progress: Receives the progress of the run.
        engine: Engine that does the work; None for this machine.

    Raises:
        ConfigError: A judge cannot be made, or does not support the operation.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The run directory is busy or contains another run, or the budget is spent.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    # Rows are stored, questions asked where an answer is missing, pictures drawn for the page. The
    # file is written from the store each time, also when nothing was left to ask.
    bad_rows: list[DataError] = []
    with Session.open(
        making.folder,
        making.kind,
        means=making.means,
        askers=making.askers,
        progress=progress,
        engine=engine,
    ) as session:
        notes = RowNotes()
        subjects = _read_good_subjects(making, bad_rows, notes)
        n, digest = session.ingest_file(
            making.subjects, making.source, subjects, bad_rows
        )
        sentences = session.store_notes(digest, notes)
        for asker in making.askers:
            session.add(asker, making.subjects, n)
        settings = {
            "limit": making.rows.limit,
            "skip_bad_rows": making.rows.skip_bad_rows,
            "systems": {
                system: maker.name for system, maker in making.systems.items()
            },
        }
        if session.begin(
            manifest.Log(
                making.data, digest, n, len(bad_rows), sentences, settings
            )
        ):
            session.map(*session.asked)
            _draw(making, session, n)
            session.close()
        return replace(_write(making, session, n), bad_rows=tuple(bad_rows))


def plan_making(making: GenerationRun[S]) -> RunPlan:
    """Read all input and report what a run would ask; nothing is asked or written.

    Raises:
        ConfigError: A judge cannot be made, or does not support the operation.
        DataError: Rows are wrong and may not be skipped, or there are none.
        RunError: The run directory contains another kind of run.
    """
    # All checks of a run, in its order, so that a plan that succeeds predicts one that starts.
    manifest.check_kind(making.folder, making.kind)
    making.means.check(making.askers)
    bad_rows: list[DataError] = []
    notes = RowNotes()
    subjects = _read_good_subjects(making, bad_rows, notes)
    return plan(
        making.askers,
        making.subjects,
        subjects,
        making.folder,
        making.means,
        bad_rows,
        notes=notes,
    )


def with_usual_concurrency(work: WorkOptions) -> WorkOptions:
    """Return the options with ``concurrency`` filled in by this kind's default."""
    return replace(work, concurrency=work.concurrency or CONCURRENCY)


def _read_good_subjects(
    making: GenerationRun[S], bad_rows: list[DataError], notes: RowNotes
) -> Iterator[S]:
    return good_rows(
        making.read(notes),
        making.rows,
        bad_rows,
        name=making.data,
        notes=notes,
    )


def _draw(making: GenerationRun[S], session: Session, n: int) -> None:
    subjects = islice(
        session.store.subjects(making.subjects), min(n, MAX_SHOWN)
    )
    pictures = (
        (making.subjects.id(subject), making.picture(subject))
        for _, subject in subjects
    )
    write_thumbs(making.folder, making.means.folder, pictures, _THUMB_SIDE)


def _write(making: GenerationRun[S], session: Session, n: int) -> Written:
    identities = {
        system: maker.identities(session.tools)["judge"]
        for system, maker in making.systems.items()
    }
    # Rows are written as they are read from the store, so that no run must fit into memory; counts
    # are complete once the file is.
    failures: list[tuple[str, str, ItemFailure]] = []
    n_written, outside = 0, False

    def rows() -> Iterator[Mapping[str, Any]]:
        nonlocal n_written, outside
        for position, subject in islice(
            session.store.subjects(making.subjects), n
        ):
            for system, maker in making.systems.items():
                outcome = session.store.score(maker.name, position)
                assert outcome is not None  # all jobs are finished
                if isinstance(outcome, ItemFailure):
                    failures.append(
                        (making.subjects.id(subject), system, outcome)
                    )
                    continue
                parts = parts_of(outcome.detail)
                row = making.row(subject, system, parts, identities[system])
                n_written += 1
                outside |= any(
                    Path(image).is_absolute()
                    for image in row.get("images", ())
                )
                yield row

    write_jsonl(making.out, rows())
    return Written(making.out, n_written, tuple(failures), (), outside)


@dataclass(frozen=True)
class RowsConfig:
    """The generators of rows, and where the new rows are written.

    Attributes:
        data: A folder of pictures, or a data file whose rows need no text.
        out: The JSONL file to write; the run directory is ``OUT.run``.
        systems: Askers, by the name of the system.
        columns: Group columns that rows get.
        rows: Selection of rows.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.

    Raises:
        ConfigError: No judge was named.
    """

    data: str
    out: Path
    systems: Mapping[str, RowAsker]
    columns: RowColumns = field(default_factory=RowColumns)
    rows: DataOptions = field(default_factory=DataOptions)
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)

    def __post_init__(self) -> None:
        if not self.systems:
            raise ConfigError(
                "no judge was named; give one, such as --judge openai:MODEL"
            )

    @property
    def run(self) -> Path:
        """Return the run directory."""
        return self.out.with_name(f"{self.out.name}.run")


def run_rows(
    config: RowsConfig, progress: Progress, engine: Engine | None = None
) -> Written:
    """Ask the missing questions, and write the rows; errors as ``engine.run_making``."""
    return run_making(_making(config), progress, engine)


def plan_rows(config: RowsConfig) -> RunPlan:
    """Read all input and report what the run would ask; errors as ``engine.plan_making``."""
    return plan_making(_making(config))


def _making(config: RowsConfig) -> GenerationRun[Item]:
    # Paths of images are relative to the folder of the output.
    def row(
        item: Item, system: str, parts: Parts, judge: str
    ) -> Mapping[str, Any]:
        return to_row(
            config.systems[system].row(
                item, parts, system, judge, config.columns
            )
        )

    return GenerationRun(
        kind=ROWS,
        folder=config.run,
        out=config.out,
        data=config.data,
        rows=config.rows,
        means=RunContext(
            config.judging,
            with_usual_concurrency(config.work),
            config.out.parent,
        ),
        subjects=ITEM,
        read=lambda notes: read_pictured(
            config.data, config.rows, config.out.parent, notes
        ),
        source=_input(config),
        picture=lambda item: item.images[0] if item.images else None,
        systems=config.systems,
        row=row,
    )


def _input(config: RowsConfig) -> Input | None:
    """Return the data file as a key; the output's folder is part of it, as images are relative."""
    # A folder or standard input has no bytes to compare, so it is read again each time.
    path = Path(config.data)
    if not path.is_file():
        return None
    folders = (path.parent, config.out.parent)
    return Input(
        path, config.rows, tuple(str(folder.absolute()) for folder in folders)
    )

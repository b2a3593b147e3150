"""A study: who judges what, every saved act, and the judgments that result."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from beholder import files
from beholder.errors import ConfigError, ItemError, RunError
from beholder.kinds.annotation.assignment import AnnotationDesign, assign_units
from beholder.kinds.annotation.database import TASK_LENGTH, SharedCommits, engine_of, sql, tables
from beholder.kinds.annotation.records import (
    DONE,
    Act,
    AnnotationUnit,
    Judgments,
    State,
    read_as,
    state_of,
)
from beholder.kinds.annotation.tasks import Task, task_named
from beholder.postgres import Address

ABOUT = "study.json"
_FORMAT = 1
_CLIENT = re.compile(r"[\w:.-]{1,64}", re.ASCII)
_KEPT_UNITS = 5_000


@dataclass(frozen=True, slots=True)
class SavedAct:
    """The result of a save.

    Attributes:
        accepted: Whether the act is saved; False if acts before it are missing.
        last: Number of the client's last saved act.
        state: The judgment as it stands.
    """

    accepted: bool
    last: int
    state: State


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """An annotator's progress.

    Attributes:
        annotator: The name.
        assigned: Units to be judged.
        begun: Units with an act that are not finished.
        done: Finished units.
    """

    annotator: str
    assigned: int
    begun: int
    done: int


class _About(msgspec.Struct, frozen=True):
    """The file ``study.json``: which database has the study, and where the pictures are."""

    format: int
    study: str
    media: str | None
    database: str | None


class _Settings(msgspec.Struct, frozen=True):
    """What the database keeps of a study's design."""

    seed: int
    n_seen_twice: int


class AnnotationStudy:
    """A study in its database: ``make`` creates one, ``open`` opens it again.

    Attributes:
        folder: Its folder.
        media: Folder of the pictures.
        id: Its id in the database.
        task: Its task.
        digest: Hash of the task, the units and the design.
        secret: Key of what its pages sign.
        token: Token of its owner's link.
        seed: Seed of all orders.
        n_seen_twice: Units of which an annotator sees a text in another unit, though none should.
    """

    def __init__(self, folder: Path, study: str, media: Path | None, database: str | None) -> None:
        self.folder = folder
        self.media = media
        self.id = study
        self._db = engine_of(folder, database)
        one_writer = self._db.dialect.name == "sqlite"
        commits = SharedCommits[SavedAct](self._db.begin, sql().exc.OperationalError)
        self._commits = commits if one_writer else None
        self._tables = tables().tables
        studies = self._tables["beholder_studies"]
        found = next(iter(self._all(studies.select().where(studies.c.id == study))), None)
        try:
            if found is None:
                raise RunError(
                    f"{folder} belongs to a study that is not in its database; name the right"
                    " database with --database URL"
                )
            self.task: Task = task_named(found.task)
            settings = read_as(json.loads(found.settings), _Settings, f"settings of {folder}")
        except Exception:
            self.close()
            raise
        self.digest: str = found.digest
        self.secret: str = found.secret
        self.token: str = found.token
        self.seed, self.n_seen_twice = settings.seed, settings.n_seen_twice
        self.unit = lru_cache(_KEPT_UNITS)(self._unit)
        self.positions = cache(self._positions)

    @classmethod
    def make(
        cls,
        folder: Path,
        task: Task,
        units: Sequence[AnnotationUnit],
        design: AnnotationDesign,
        *,
        media: Path | None = None,
        database: str | None = None,
    ) -> AnnotationStudy:
        """Create a study, or open it again if the folder holds the same study.

        Args:
            folder: The study's folder.
            task: The task.
            units: Units of the task, from the data.
            design: Who judges them.
            media: Folder of the pictures.
            database: URL of a PostgreSQL database; None for a SQLite file in the folder.

        Raises:
            ConfigError: The design is not possible, or two units have the same id.
            RunError: The folder holds another study, or the database cannot be used.
        """
        digest = _digest([task.full_name, [asdict(unit) for unit in units], asdict(design)])
        if (folder / ABOUT).is_file():
            study = cls.open(folder, database)
            if study.digest != digest:
                study.close()
                raise RunError(
                    f"{folder} holds another study ({study.task.full_name}, other data, annotators"
                    " or design); choose another folder with -o, or repeat the first command"
                )
            return study
        _check(task, units)
        assignment = assign_units(task, units, design)
        files.make_folder(folder, mode=0o700)
        engine = engine_of(folder, database)
        held = tables().tables
        study_id = secrets.token_hex(16)
        settings = {**asdict(design), "n_seen_twice": assignment.n_seen_twice}
        row = {"id": study_id, "task": task.full_name, "digest": digest}
        row |= {"settings": json.dumps(settings), "secret": secrets.token_hex(32)}
        bodies = (json.dumps(asdict(unit), ensure_ascii=False) for unit in units)
        ids = (json.dumps(unit.id) for unit in units)  # PostgreSQL rejects texts with a NUL
        named = zip(ids, bodies, strict=True)
        with engine.begin() as db:
            db.execute(held["beholder_studies"].insert(), {**row, "token": _token()})
            rows = [
                {"study": study_id, "position": at, "id": unit_id, "body": body}
                for at, (unit_id, body) in enumerate(named)
            ]
            _insert(db, held["beholder_units"], rows)
            for place, (name, share) in enumerate(
                zip(design.annotators, assignment.shares, strict=True)
            ):
                _insert(db, held["beholder_annotators"], [_annotator(study_id, name, place)])
                _insert(db, held["beholder_assignments"], _assigned(study_id, name, share))
        engine.dispose()
        about = _About(
            _FORMAT,
            study_id,
            None if media is None else str(media.resolve()),
            None if database is None else str(Address.read(database)),
        )
        files.write_text(folder / ABOUT, json.dumps(msgspec.to_builtins(about), indent=2) + "\n")
        return cls(folder, study_id, media, database)

    @classmethod
    def open(cls, folder: Path, database: str | None = None) -> AnnotationStudy:
        """Open a study.

        Args:
            folder: The study's folder.
            database: The URL of its database, if it has moved or needs a password.

        Raises:
            RunError: The folder holds no study, or its database cannot be used.
            UnknownNameError: The package of its task is not installed.
        """
        missing = (
            f"{folder} holds no study; make one with 'beholder annotate TASK DATA -o {folder}'"
        )
        found = files.read_json(folder / ABOUT, form=_FORMAT, kind="study", missing=missing)
        try:
            about = read_as(found, _About, str(folder / ABOUT))
        except ItemError as error:
            raise RunError(str(error)) from error
        media = None if about.media is None else Path(about.media)
        return cls(folder, about.study, media, database or about.database)

    def annotators(self) -> dict[str, str]:
        """Token by name, in the order of the design."""
        return {row.annotator: row.token for row in self._rows("annotators", "place")}

    def annotator_of(self, token: str) -> str | None:
        """The annotator of a personal token; None if it is no one's."""
        return next((row.annotator for row in self._rows("annotators", "place", token=token)), None)

    def n_units(self) -> int:
        """The number of units."""
        return len(self.positions())

    def assigned(self, annotator: str) -> list[int]:
        """Positions of an annotator's units, in the order of showing."""
        return [row.unit for row in self._rows("assignments", "place", annotator=annotator)]

    def last(self, annotator: str, client: str) -> int:
        """Number of a client's last saved act; 0 if it has none."""
        with self._db.connect() as db:
            return self._last(db, annotator, client)

    def state(self, annotator: str, position: int) -> State:
        """An annotator's judgment of a unit, as it stands."""
        with self._db.connect() as db:
            return self._state(db, annotator, position)

    def save(self, annotator: str, position: int, act: Act) -> SavedAct:
        """Save an act. An act that is saved already, or has a gap before it, changes nothing.

        Raises:
            ItemError: The act is not possible on this unit; says what was expected.
        """
        if not _CLIENT.fullmatch(act.client) or not 1 <= act.number < 2**31:
            raise ItemError("an act needs a client of 1 to 64 letters and a number from 1")
        unit = self.unit(position)
        if act.part is not None:
            self.task.check(unit, act.part, act.value)

        def keep(db: Any) -> SavedAct:
            last = self._last(db, annotator, act.client)
            state = self._state(db, annotator, position)
            if act.number != last + 1:
                return SavedAct(act.number <= last, last, state)
            missing = self.task.missing(unit, state) if act.part == DONE and act.value else None
            if missing is not None:
                raise ItemError(missing)
            row = {**msgspec.structs.asdict(act), "annotator": annotator, "unit": position}
            row |= {"study": self.id, "value": _text_of(act.value)}
            db.execute(self._tables["beholder_acts"].insert(), row)
            return SavedAct(True, act.number, self._state(db, annotator, position))

        try:
            if self._commits is not None:
                return self._commits.do(keep)
            with self._db.begin() as db:
                return keep(db)
        except sql().exc.IntegrityError:  # the same act arrived twice at once
            last = self.last(annotator, act.client)
            return SavedAct(act.number <= last, last, self.state(annotator, position))

    def progress(self) -> list[AnnotatorProgress]:
        """Each annotator's progress, in the order of the design."""
        states = self._states()
        found = []
        for name in self.annotators():
            own = [self._is_done(at, state) for (who, at), state in states.items() if who == name]
            assigned = len(self.assigned(name))
            found.append(AnnotatorProgress(name, assigned, len(own) - sum(own), sum(own)))
        return found

    def done(self, annotator: str) -> set[int]:
        """Positions of an annotator's finished units."""
        states = self._states(annotator=annotator)
        return {at for (_, at), state in states.items() if self._is_done(at, state)}

    def judgments(self) -> Iterator[tuple[AnnotationUnit, str, State]]:
        """All judgments, finished or not, in the order of the data and of annotators."""
        states = self._states()
        places = {name: place for place, name in enumerate(self.annotators())}
        for who, at in sorted(states, key=lambda key: (key[1], places[key[0]])):
            yield self.unit(at), who, states[who, at]

    def judged(self) -> list[Judgments]:
        """Units with finished judgments, in the order of the data."""
        by_unit: dict[str, tuple[AnnotationUnit, dict[str, State]]] = {}
        for unit, who, state in self.judgments():
            if self._is_done(self.positions()[unit.id], state):
                by_unit.setdefault(unit.id, (unit, {}))[1][who] = state
        return [Judgments(unit, by) for unit, by in by_unit.values()]

    def admit(self, annotator: str, positions: Sequence[int]) -> None:
        """Assign further units to an annotator; a new annotator gets a personal link."""
        known, has = self.annotators(), self.assigned(annotator)
        new = [at for at in dict.fromkeys(positions) if at not in set(has)]
        with self._db.begin() as db:
            if annotator not in known:
                row = _annotator(self.id, annotator, len(known))
                db.execute(self._tables["beholder_annotators"].insert(), row)
            rows = _assigned(self.id, annotator, new, len(has))
            _insert(db, self._tables["beholder_assignments"], rows)

    def close(self) -> None:
        """Close all connections."""
        self._db.dispose()

    def _is_done(self, position: int, state: State) -> bool:
        return bool(state.get(DONE)) and self.task.missing(self.unit(position), state) is None

    def _unit(self, position: int) -> AnnotationUnit:
        for row in self._rows("units", "position", position=position):
            return read_as(json.loads(row.body), AnnotationUnit, f"unit {position}")
        raise ItemError(f"there is no unit {position}")

    def _positions(self) -> dict[str, int]:
        """Position of each unit by its id."""
        table = self._tables["beholder_units"]
        query = sql().select(table.c.id, table.c.position).where(table.c.study == self.id)
        return {json.loads(row.id): row.position for row in self._all(query)}

    def _states(self, **where: object) -> dict[tuple[str, int], State]:
        """All judgments by annotator and position."""
        acts: dict[tuple[str, int], list[Act]] = {}
        for row in self._rows("acts", "id", **where):
            acts.setdefault((row.annotator, row.unit), []).append(_act(row))
        return {key: state_of(self.unit(key[1]).prefill, own) for key, own in acts.items()}

    def _state(self, db: Any, annotator: str, position: int) -> State:
        rows = db.execute(self._query("acts", "id", annotator=annotator, unit=position))
        return state_of(self.unit(position).prefill, map(_act, rows))

    def _last(self, db: Any, annotator: str, client: str) -> int:
        acts, sa = self._tables["beholder_acts"].c, sql()
        query = sa.select(sa.func.max(acts.number)).where(
            acts.study == self.id, acts.annotator == annotator, acts.client == client
        )
        return db.execute(query).scalar() or 0

    def _query(self, name: str, order: str, **where: object) -> Any:
        """Select the rows of this study in a table."""
        table = self._tables[f"beholder_{name}"]
        query = table.select().where(table.c.study == self.id).order_by(table.c[order])
        for column, value in where.items():
            query = query.where(table.c[column] == value)
        return query

    def _rows(self, name: str, order: str, **where: object) -> list[Any]:
        return self._all(self._query(name, order, **where))

    def _all(self, query: Any) -> list[Any]:
        with self._db.connect() as db:
            return list(db.execute(query))


def _act(row: Any) -> Act:
    value = None if row.value is None else json.loads(row.value)
    return Act(row.client, row.number, row.part, value)


def _text_of(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _annotator(study: str, name: str, place: int) -> Mapping[str, object]:
    return {"study": study, "annotator": name, "place": place, "token": _token()}


def _assigned(
    study: str, name: str, units: Iterable[int], first: int = 0
) -> Iterator[Mapping[str, object]]:
    for place, unit in enumerate(units, start=first):
        yield {"study": study, "annotator": name, "place": place, "unit": unit}


def _token() -> str:
    return secrets.token_urlsafe(24)


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _insert(db: Any, table: Any, rows: Iterable[Mapping[str, object]]) -> None:
    found = list(rows)
    if found:
        db.execute(table.insert(), found)


def _check(task: Task, units: Sequence[AnnotationUnit]) -> None:
    if len(task.full_name) > TASK_LENGTH:
        raise ConfigError(
            f"the name {task.full_name!r} of the task has more than {TASK_LENGTH} characters;"
            " give its package or its entry point a shorter one"
        )
    seen: set[str] = set()
    for unit in units:
        if unit.id in seen:
            raise ConfigError(f"two units of the study have the id {unit.id!r}; ids must differ")
        seen.add(unit.id)

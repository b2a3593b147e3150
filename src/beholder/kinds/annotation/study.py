"""A study: who judges what, in which order, every act that was saved, and what came of it."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from beholder import files
from beholder.errors import ConfigError, ItemError, RunError
from beholder.kinds.annotation.assignment import AnnotationDesign, assign_units
from beholder.kinds.annotation.database import engine_of, sql, tables
from beholder.kinds.annotation.records import DONE, Act, AnnotationUnit, Judgments, state_of
from beholder.kinds.annotation.tasks import TASKS, Task
from beholder.kinds.annotation.turns import SharedCommits
from beholder.postgres import Address

ABOUT = "study.json"
_FORMAT = 1
_CLIENT = re.compile(r"[\w:.-]{1,64}", re.ASCII)
_KEPT_UNITS = 5_000


@dataclass(frozen=True, slots=True)
class SavedAct:
    """What became of an act.

    Attributes:
        accepted: Whether it is kept; False when acts before it are missing.
        last: Number of the last act that is kept of this client.
        state: The judgment as it stands.
    """

    accepted: bool
    last: int
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """How far an annotator is.

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


class AnnotationStudy:
    """A study in its database: ``make`` makes one, ``open`` opens it again."""

    def __init__(self, folder: Path, study: str, media: Path | None, database: str | None) -> None:
        self.folder = folder
        self.media = media
        self.id = study
        self._db = engine_of(folder, database)
        one_writer = self._db.dialect.name == "sqlite"
        commits = SharedCommits[SavedAct](self._db.begin, sql().exc.OperationalError)
        self._commits = commits if one_writer else None
        self._tables = tables().tables
        found = self._one("beholder_studies", "id")
        if found is None:
            self.close()
            raise RunError(
                f"{folder} belongs to a study that its database does not hold; name the right one"
                " with --database URL"
            )
        self.task: Task = TASKS[found.task]
        self.digest: str = found.digest
        self.secret: str = found.secret
        self.token: str = found.token
        """Of who made the study."""
        settings = json.loads(found.settings)
        self.seed: int = settings["seed"]
        self.n_seen_twice: int = settings["n_seen_twice"]
        """Units of which an annotator sees a text in another unit, too, though none should."""
        self.unit = lru_cache(_KEPT_UNITS)(self._unit)

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
        """Make a study, or open the very same one again.

        Args:
            folder: Where it is kept, or where it is said which database keeps it.
            task: What is judged.
            units: Of the task, from the data.
            design: Who judges them.
            media: Folder of the pictures.
            database: URL of a PostgreSQL database; None for a SQLite file in the folder.

        Raises:
            ConfigError: The design cannot be, or two units have one id.
            RunError: The folder holds another study, or the database cannot be used.
        """
        digest = _digest([task.name, [unit.to_row() for unit in units], asdict(design)])
        if (folder / ABOUT).is_file():
            study = cls.open(folder, database)
            if study.digest != digest:
                study.close()
                raise RunError(
                    f"{folder} holds a study of {study.task.name!r} on other data, by other"
                    " annotators or of another design; choose another folder with -o, or leave out"
                    " what was changed"
                )
            return study
        _check_ids(units)
        assignment = assign_units(task, units, design)
        files.make_folder(folder, mode=0o700)
        engine = engine_of(folder, database)
        held = tables().tables
        study_id = secrets.token_hex(16)
        shares = [
            (name, share) for name, share in zip(design.annotators, assignment.shares, strict=True)
        ]
        with engine.begin() as db:
            db.execute(
                held["beholder_studies"].insert(),
                {
                    "id": study_id,
                    "task": task.name,
                    "digest": digest,
                    "settings": json.dumps(
                        {**asdict(design), "n_seen_twice": assignment.n_seen_twice}
                    ),
                    "secret": secrets.token_hex(32),
                    "token": _token(),
                },
            )
            _insert(
                db,
                held["beholder_units"],
                (
                    {
                        "study": study_id,
                        "position": position,
                        "id": json.dumps(unit.id),  # PostgreSQL keeps no text with a NUL
                        "body": json.dumps(unit.to_row(), ensure_ascii=False),
                    }
                    for position, unit in enumerate(units)
                ),
            )
            _insert(
                db,
                held["beholder_annotators"],
                (_annotator(study_id, name, place) for place, name in enumerate(design.annotators)),
            )
            _insert(
                db,
                held["beholder_assignments"],
                (
                    {"study": study_id, "annotator": name, "place": place, "unit": unit}
                    for name, share in shares
                    for place, unit in enumerate(share)
                ),
            )
        engine.dispose()
        about = {
            "format": _FORMAT,
            "study": study_id,
            "media": None if media is None else str(media.resolve()),
            "database": None if database is None else str(Address.read(database)),
        }
        files.write_text(folder / ABOUT, json.dumps(about, indent=2) + "\n")
        return cls(folder, study_id, media, database)

    @classmethod
    def open(cls, folder: Path, database: str | None = None) -> AnnotationStudy:
        """Open a study.

        Args:
            folder: Of ``make``.
            database: Its URL, where it has moved or needs a password.

        Raises:
            RunError: The folder holds none, or its database cannot be used.
        """
        missing = (
            f"{folder} holds no study; make one with 'beholder annotate TASK DATA -o {folder}'"
        )
        about = files.read_json(folder / ABOUT, form=_FORMAT, kind="study", missing=missing)
        media = None if about["media"] is None else Path(about["media"])
        return cls(folder, about["study"], media, database or about["database"])

    def annotators(self) -> dict[str, str]:
        """Token by name, in the order in which they were named."""
        table = self._tables["beholder_annotators"]
        rows = self._rows(table.select().where(table.c.study == self.id).order_by(table.c.place))
        return {row.annotator: row.token for row in rows}

    def annotator_of(self, token: str) -> str | None:
        """Whose a personal token is."""
        table = self._tables["beholder_annotators"]
        found = self._rows(
            table.select().where((table.c.study == self.id) & (table.c.token == token))
        )
        return found[0].annotator if found else None

    def n_units(self) -> int:
        """How many units there are."""
        table = self._tables["beholder_units"]
        count = sql().select(sql().func.count()).where(table.c.study == self.id)
        return int(self._rows(count)[0][0])

    def assigned(self, annotator: str) -> list[int]:
        """Positions of the units of an annotator, in the order of showing."""
        table = self._tables["beholder_assignments"]
        rows = self._rows(
            table.select()
            .where((table.c.study == self.id) & (table.c.annotator == annotator))
            .order_by(table.c.place)
        )
        return [row.unit for row in rows]

    def last(self, annotator: str, client: str) -> int:
        """Number of the last act that is kept of a client; 0 where there is none."""
        with self._db.connect() as db:
            return self._last(db, annotator, client)

    def state(self, annotator: str, position: int) -> dict[str, Any]:
        """An annotator's judgment of a unit, as it stands."""
        with self._db.connect() as db:
            return self._state(db, annotator, position)

    def save(self, annotator: str, position: int, act: Act) -> SavedAct:
        """Keep an act. One that is kept already, or comes too early, changes nothing.

        Raises:
            ItemError: It is no act on this unit; says what was expected.
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
            lacking = self.task.missing(unit, state) if act.part == DONE and act.value else None
            if lacking is not None:
                raise ItemError(lacking)
            db.execute(self._tables["beholder_acts"].insert(), self._row(annotator, position, act))
            return SavedAct(True, act.number, self._state(db, annotator, position))

        try:
            if self._commits is not None:
                return self._commits.do(keep)
            with self._db.begin() as db:
                return keep(db)
        except sql().exc.IntegrityError:  # the same act came twice at once, the other was first
            last = self.last(annotator, act.client)
            return SavedAct(act.number <= last, last, self.state(annotator, position))

    def progress(self) -> list[AnnotatorProgress]:
        """How far each annotator is, in their order."""
        states = self._states()
        found = []
        for name in self.annotators():
            assigned = self.assigned(name)
            own = {at: state for (who, at), state in states.items() if who == name}
            done = sum(self._is_done(at, state) for at, state in own.items())
            found.append(AnnotatorProgress(name, len(assigned), len(own) - done, done))
        return found

    def done(self, annotator: str) -> set[int]:
        """Positions of the units that an annotator has finished."""
        return {
            at
            for (who, at), state in self._states(annotator).items()
            if who == annotator and self._is_done(at, state)
        }

    def judgments(self) -> Iterator[tuple[AnnotationUnit, str, Mapping[str, Any]]]:
        """Every judgment that somebody began, in the order of the data and of annotators."""
        states = self._states()
        places = {name: place for place, name in enumerate(self.annotators())}
        for who, at in sorted(states, key=lambda key: (key[1], places[key[0]])):
            yield self.unit(at), who, states[who, at]

    def judged(self) -> list[Judgments]:
        """Units with a finished judgment or more, in the order of the data."""
        names = list(self.annotators())
        by_unit: dict[int, dict[str, Mapping[str, Any]]] = {}
        for (who, at), state in self._states().items():
            if self._is_done(at, state):
                by_unit.setdefault(at, {})[who] = state
        return [
            Judgments(
                self.unit(at), {name: by_unit[at][name] for name in names if name in by_unit[at]}
            )
            for at in sorted(by_unit)
        ]

    def positions(self) -> dict[str, int]:
        """Position of each unit by its id."""
        table = self._tables["beholder_units"]
        rows = self._rows(
            sql().select(table.c.id, table.c.position).where(table.c.study == self.id)
        )
        return {json.loads(row.id): row.position for row in rows}

    def admit(self, annotator: str, positions: Sequence[int]) -> None:
        """Let an annotator judge further units; who is unknown gets a link of his own."""
        known, has = self.annotators(), self.assigned(annotator)
        new = [at for at in dict.fromkeys(positions) if at not in set(has)]
        with self._db.begin() as db:
            if annotator not in known:
                row = _annotator(self.id, annotator, len(known))
                db.execute(self._tables["beholder_annotators"].insert(), row)
            _insert(
                db,
                self._tables["beholder_assignments"],
                (
                    {"study": self.id, "annotator": annotator, "place": place, "unit": at}
                    for place, at in enumerate(new, start=len(has))
                ),
            )

    def close(self) -> None:
        """Let go of the database."""
        self._db.dispose()

    def _is_done(self, position: int, state: Mapping[str, Any]) -> bool:
        return bool(state.get(DONE)) and self.task.missing(self.unit(position), state) is None

    def _unit(self, position: int) -> AnnotationUnit:
        found = self._one("beholder_units", "study", position=position)
        if found is None:
            raise ItemError(f"there is no unit {position}")
        return AnnotationUnit.from_row(json.loads(found.body))

    def _states(self, annotator: str | None = None) -> dict[tuple[str, int], dict[str, Any]]:
        """Every judgment that somebody began."""
        table = self._tables["beholder_acts"]
        asked = table.select().where(table.c.study == self.id).order_by(table.c.id)
        if annotator is not None:
            asked = asked.where(table.c.annotator == annotator)
        acts: dict[tuple[str, int], list[Act]] = {}
        for row in self._rows(asked):
            acts.setdefault((row.annotator, row.unit), []).append(_act(row))
        return {key: state_of(self.unit(key[1]).prefill, own) for key, own in acts.items()}

    def _state(self, db: Any, annotator: str, position: int) -> dict[str, Any]:
        table = self._tables["beholder_acts"]
        asked = (
            table.select()
            .where(
                (table.c.study == self.id)
                & (table.c.annotator == annotator)
                & (table.c.unit == position)
            )
            .order_by(table.c.id)
        )
        return state_of(self.unit(position).prefill, map(_act, db.execute(asked)))

    def _last(self, db: Any, annotator: str, client: str) -> int:
        table = self._tables["beholder_acts"]
        asked = (
            sql()
            .select(sql().func.max(table.c.number))
            .where(
                (table.c.study == self.id)
                & (table.c.annotator == annotator)
                & (table.c.client == client)
            )
        )
        return db.execute(asked).scalar() or 0

    def _row(self, annotator: str, position: int, act: Act) -> dict[str, Any]:
        value = None if act.value is None else json.dumps(act.value, ensure_ascii=False)
        return {
            "study": self.id,
            "annotator": annotator,
            "unit": position,
            "client": act.client,
            "number": act.number,
            "part": act.part,
            "value": value,
        }

    def _one(self, table: str, column: str, **others: Any) -> Any:
        held = self._tables[table]
        asked = held.select().where(held.c[column] == self.id)
        for name, value in others.items():
            asked = asked.where(held.c[name] == value)
        return next(iter(self._rows(asked)), None)

    def _rows(self, asked: Any) -> list[Any]:
        with self._db.connect() as db:
            return list(db.execute(asked))


def _act(row: Any) -> Act:
    value = None if row.value is None else json.loads(row.value)
    return Act(row.client, row.number, row.part, value)


def _annotator(study: str, name: str, place: int) -> dict[str, Any]:
    return {"study": study, "annotator": name, "place": place, "token": _token()}


def _token() -> str:
    return secrets.token_urlsafe(24)


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _insert(db: Any, table: Any, rows: Iterator[dict[str, Any]]) -> None:
    found = list(rows)
    if found:
        db.execute(table.insert(), found)


def _check_ids(units: Sequence[AnnotationUnit]) -> None:
    seen: set[str] = set()
    for unit in units:
        if unit.id in seen:
            raise ConfigError(f"two units of the study have the id {unit.id!r}; ids must differ")
        seen.add(unit.id)

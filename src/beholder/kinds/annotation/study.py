"""A study: who judges what, every saved act, and the judgments that result."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from beholder.base import files
from beholder.base.grouping import group_by_key
from beholder.base.postgres import Address
from beholder.errors import ConfigError, ItemError, RunError
from beholder.kinds.annotation.assignment import AnnotationDesign, assign_units
from beholder.kinds.annotation.database import (
    SharedCommits,
    assign_further,
    check_units,
    digest_of,
    engine_of,
    insert_annotator,
    insert_study,
    sql,
    tables,
)
from beholder.kinds.annotation.records import (
    CANNOT,
    DONE,
    Act,
    AnnotationUnit,
    AnnotatorProgress,
    Judgments,
    SavedAct,
    State,
    read_as,
    state_of,
)
from beholder.kinds.annotation.tasks import Task, task_named

ABOUT = "study.json"
IMPORTED = "import-"
"""Beginning of the client of acts that were imported."""

_FORMAT = 1
_CLIENT = re.compile(r"[\w:.-]{1,64}", re.ASCII)
_KEPT_UNITS = 5_000
_PARTICIPANT = re.compile(r"[\w-]{1,64}", re.ASCII)


class _About(msgspec.Struct, frozen=True):
    """The file ``study.json``: which database has the study, and where the pictures are."""

    format: int
    study: str
    media: str | None
    database: str | None


@dataclass(frozen=True)
class _Design(AnnotationDesign):
    """The stored part of a study's design.

    Attributes:
        n_seen_twice: Units of which an annotator sees a text in another unit, though none should.
        n_short_of_readers: Units with fewer annotators than their rows ask for.
        unshown: Number of rows and proposals that annotators do not see, by what they are.
    """

    n_seen_twice: int = 0
    n_short_of_readers: int = 0
    unshown: Mapping[str, int] = field(default_factory=dict)


def describe_counts(counts: Mapping[str, int]) -> str:
    """Return counts in words, such as "2 wrong rows"."""
    return "; ".join(f"{n:,} {what}" for what, n in counts.items())


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
        join: Key of the link for participants; None if annotators are invited by name.
        design: Annotators, and the material that they read and see besides the data.
    """

    def __init__(
        self,
        folder: Path,
        study: str,
        media: Path | None,
        database: str | None,
    ) -> None:
        self.folder = folder
        self.media = media
        self.id = study
        self._db = engine_of(folder, database)
        one_writer = self._db.dialect.name == "sqlite"
        # PostgreSQL lets many write at once; SQLite has one writer.
        commits = SharedCommits[SavedAct](
            self._db.begin, sql().exc.OperationalError
        )
        self._commits = commits if one_writer else None
        self._tables = tables().tables
        studies = self._tables["beholder_studies"]
        rows = self._all(studies.select().where(studies.c.id == study))
        try:
            if not rows:
                raise RunError(
                    f"{folder} belongs to a study that is not in its database; name the right"
                    " database with --database URL"
                )
            study_row = rows[0]
            self.task: Task = task_named(study_row.task)
            self.design = read_as(
                json.loads(study_row.settings),
                _Design,
                f"settings of {folder}",
            )
        except Exception:
            # No one else can close the connections of an object that was never made.
            self.close()
            raise
        self.digest: str = study_row.digest
        self.secret: str = study_row.secret
        self.token: str = study_row.token
        self.join = (
            self._signed("join")[:32] if self.design.participants else None
        )
        # Units of a study never change, so they may be cached; a large study has more than fit.
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
        unshown: Mapping[str, int] = {},
    ) -> AnnotationStudy:
        """Create a study, or open it again if the folder contains the same study.

        Args:
            folder: The study's folder.
            task: The task.
            units: Units of the task, from the data.
            design: Annotators and their assignment.
            media: Folder of the pictures.
            database: URL of a PostgreSQL database; None for a SQLite file in the folder.
            unshown: Number of rows that annotators do not see, by what they are.

        Raises:
            ConfigError: The design is not possible, or two units have the same id.
            RunError: The folder contains another study, or the database cannot be used.
        """
        # The digest says whether the folder contains the same study. The file study.json is
        # written last: a study without it was interrupted and is created again.
        digest = digest_of(task, units, design)
        if (folder / ABOUT).is_file():
            study = cls.open(folder, database)
            if study.digest != digest:
                study.close()
                raise RunError(
                    f"{folder} contains another study ({study.task.full_name}, other data,"
                    " annotators or design); choose another folder with -o, or repeat the first"
                    " command"
                )
            return study
        check_units(task, units)
        assignment = assign_units(task, units, design)
        files.make_folder(folder, mode=0o700)
        engine = engine_of(folder, database)
        with engine.begin() as db:
            study_id = insert_study(
                db, task, units, design, assignment, digest, unshown
            )
        engine.dispose()
        where = None if media is None else str(media.resolve())
        address = None if database is None else str(Address.parse(database))
        about = _About(_FORMAT, study_id, where, address)
        files.write_text(
            folder / ABOUT,
            json.dumps(msgspec.to_builtins(about), indent=2) + "\n",
        )
        return cls(folder, study_id, media, database)

    @classmethod
    def open(
        cls, folder: Path, database: str | None = None
    ) -> AnnotationStudy:
        """Open a study.

        Args:
            folder: The study's folder.
            database: The URL of its database, if it has moved or needs a password.

        Raises:
            RunError: The folder contains no study, or its database cannot be used.
            UnknownNameError: The package of its task is not installed.
        """
        missing = (
            f"{folder} is not a study; create one with "
            f"'beholder annotate TASK DATA -o {folder}'"
        )
        content = files.read_json(
            folder / ABOUT, form=_FORMAT, kind="study", missing_message=missing
        )
        try:
            about = read_as(content, _About, str(folder / ABOUT))
        except ItemError as error:
            raise RunError(str(error)) from error
        media = None if about.media is None else Path(about.media)
        return cls(folder, about.study, media, database or about.database)

    def annotators(self) -> dict[str, str]:
        """Return the token of each annotator by name, in the order of the design."""
        return {
            row.annotator: row.token
            for row in self._rows("annotators", "place")
        }

    def annotator_of(self, token: str) -> str | None:
        """Return the name of the annotator whose token it is; None for an unknown token."""
        for row in self._rows("annotators", "place", token=token):
            return str(row.annotator)
        return None

    def assigned(self, annotator: str) -> list[int]:
        """Return the positions of an annotator's units, in the order in which they are shown."""
        return [
            row.unit
            for row in self._rows("assignments", "place", annotator=annotator)
        ]

    def last(self, annotator: str, client: str, db: Any = None) -> int:
        """Return the number of a client's last saved act; 0 if it has none."""
        acts, sa = self._tables["beholder_acts"].c, sql()
        query = sa.select(sa.func.max(acts.number)).where(
            acts.study == self.id,
            acts.annotator == annotator,
            acts.client == client,
        )
        return self._all(query, db)[0][0] or 0

    def state(self, annotator: str, position: int, db: Any = None) -> State:
        """Return an annotator's present judgment of a unit.

        Args:
            annotator: The annotator.
            position: The unit.
            db: An open transaction, whose acts count; None for a connection of its own.
        """
        rows = self._all(
            self._query("acts", "id", annotator=annotator, unit=position), db
        )
        return state_of(self.unit(position).prefill, map(_read_act, rows))

    def save(self, annotator: str, position: int, act: Act) -> SavedAct:
        """Save an act; one that is saved already, or has a gap before it, changes nothing.

        Raises:
            ItemError: The act is not possible on this unit; says what was expected.
        """
        # The value is checked outside the transaction, which others wait for.
        if not _CLIENT.fullmatch(act.client) or not 1 <= act.number < 2**31:
            raise ItemError(
                "an act needs a client of 1 to 64 letters and a number from 1"
            )
        if act.part is not None:
            self.task.check(self.unit(position), act.part, act.value)
        keep = partial(self._keep, annotator, position, act)
        try:
            if self._commits is not None:
                return self._commits.do(keep)
            with self._db.begin() as db:
                return keep(db)
        except sql().exc.IntegrityError:
            # The same act arrived twice at once; the other transaction has saved it.
            last_number = self.last(annotator, act.client)
            state = self.state(annotator, position)
            return SavedAct(act.number <= last_number, last_number, state)

    def _keep(
        self, annotator: str, position: int, act: Act, db: Any
    ) -> SavedAct:
        """Save an act within an open transaction.

        Raises:
            ItemError: The act finishes a judgment that is not complete.
        """
        # Acts of one page are numbered without gaps. After a lost connection the page sends all
        # acts again from the number that it gets back here.
        last_number = self.last(annotator, act.client, db)
        state = self.state(annotator, position, db)
        if act.number != last_number + 1:
            return SavedAct(act.number <= last_number, last_number, state)
        if act.part == DONE and act.value:
            missing = self.task.unfinished(self.unit(position), state)
            if missing is not None:
                raise ItemError(missing)
        row = {
            **msgspec.structs.asdict(act),
            "study": self.id,
            "annotator": annotator,
            "unit": position,
            "value": None
            if act.value is None
            else json.dumps(act.value, ensure_ascii=False),
        }
        db.execute(self._tables["beholder_acts"].insert(), row)
        return SavedAct(True, act.number, self.state(annotator, position, db))

    def progress(self) -> list[AnnotatorProgress]:
        """Return each annotator's progress, in the order of the design."""
        participants, progress = self._participants(), []
        for name in self.annotators():
            states = self._states(annotator=name)
            done_states = [
                state
                for (_, position), state in states.items()
                if self._is_done(position, state)
            ]
            progress.append(
                AnnotatorProgress(
                    annotator=name,
                    assigned=len(self.assigned(name)),
                    begun=len(states) - len(done_states),
                    done=len(done_states),
                    cannot=sum(
                        bool(state.get(CANNOT)) for state in done_states
                    ),
                    participant=participants.get(name),
                )
            )
        return progress

    def done(self, annotator: str) -> set[int]:
        """Return the positions of an annotator's finished units."""
        states = self._states(annotator=annotator)
        return {
            position
            for (_, position), state in states.items()
            if self._is_done(position, state)
        }

    def seconds_between(self, annotator: str) -> dict[int, float]:
        """Return the seconds from an annotator's finished unit to the next, by position.

        Imported judgments have no times of their own and are left out.
        """
        times: dict[int, datetime] = {}
        for row in self._rows("acts", "id", annotator=annotator, part=DONE):
            if row.value == "true" and not row.client.startswith(IMPORTED):
                times[row.unit] = row.saved_at
        ordered = sorted(times.items(), key=lambda entry: entry[1])
        return {
            position: (time - before).total_seconds()
            for (_, before), (position, time) in pairwise(ordered)
        }

    def judgments(self) -> Iterator[tuple[AnnotationUnit, str, State]]:
        """Yield (unit, annotator, judgment), finished or not, by unit and then by annotator."""
        states = self._states()
        places = {name: place for place, name in enumerate(self.annotators())}
        for who, position in sorted(
            states, key=lambda key: (key[1], places[key[0]])
        ):
            yield self.unit(position), who, states[who, position]

    def judged(self, *, gold: bool = False) -> list[Judgments]:
        """Return units with finished judgments of annotators, in the order of the data.

        Judgments of the adjudicator and those that say "cannot judge" are left out.

        Args:
            gold: Whether to return the units whose right judgment is known, or all others.
        """
        judged = []
        for unit, by in self._finished():
            by.pop(self.design.adjudicator or "", None)
            if by and (unit.gold is not None) == gold:
                judged.append(Judgments(unit, by))
        return judged

    def settled(self) -> list[Judgments]:
        """Return units like ``judged``; an adjudicator's judgment replaces the annotators'."""
        third = self.design.adjudicator
        return [
            Judgments(unit, {third: by[third]} if third in by else by)
            for unit, by in self._finished()
            if unit.gold is None
        ]

    def claim(
        self,
        participant: str,
        token: str = "",
        may_take: Callable[[], bool] = lambda: True,
    ) -> str:
        """Return the token of a participant's place; a new participant takes the next free one.

        Args:
            participant: The id in the link, which nothing proves.
            token: The token in the browser's cookie; that of the place once it is taken.
            may_take: Called before a new place is taken; returns whether it may be.

        Raises:
            ConfigError: The id is not valid, its place was taken in another browser, all places
                are taken, or no new one may be taken now.
        """
        if not _PARTICIPANT.fullmatch(participant):
            raise ConfigError(
                "a participant's id has 1 to 64 letters, digits, - and _"
            )
        # Several participants may need the same free place at once. The database lets one have
        # it (an annotator is unique in the table); the others look for the next.
        table = self._tables["beholder_participants"]
        is_allowed = False
        while True:
            participants, tokens = self._participants(), self.annotators()
            for name, who in participants.items():
                if who != participant:
                    continue
                # Ids can be guessed: whoever has one must not get the place of another person.
                if not hmac.compare_digest(
                    token.encode(), tokens[name].encode()
                ):
                    raise ConfigError(
                        "the place of this participant was taken in another browser; continue"
                        " there, or open the personal link that its first page shows; if you have"
                        " neither, ask the owner of the study for that link"
                    )
                return tokens[name]
            taken_places = {*participants, self.design.adjudicator}
            free_places = [name for name in tokens if name not in taken_places]
            if not free_places:
                raise ConfigError(
                    "all places of this study are taken; thank you for your interest"
                )
            # Asked once, also if another participant was faster.
            is_allowed = is_allowed or may_take()
            if not is_allowed:
                raise ConfigError(
                    "several people came from your network address just now; open the link again"
                    " in a minute"
                )
            place = {
                "study": self.id,
                "participant": participant,
                "annotator": free_places[0],
            }
            try:
                with self._db.begin() as db:
                    db.execute(table.insert(), place)
                return tokens[free_places[0]]
            except sql().exc.IntegrityError:
                continue  # another participant took the place

    def code(self, annotator: str) -> str | None:
        """Return an annotator's completion code; None if the study gives no codes."""
        if self.design.completion_code is None and self.join is None:
            return None
        return (
            self.design.completion_code
            or self._signed(f"code {annotator}")[:8].upper()
        )

    def admit(self, annotator: str, positions: Sequence[int]) -> None:
        """Assign further units to an annotator; a new annotator is added with a personal link."""
        tokens, assigned = self.annotators(), self.assigned(annotator)
        new_positions = [
            position
            for position in dict.fromkeys(positions)
            if position not in set(assigned)
        ]
        with self._db.begin() as db:
            if annotator not in tokens:
                insert_annotator(db, self.id, annotator, len(tokens))
            assign_further(
                db, self.id, annotator, new_positions, len(assigned)
            )

    def close(self) -> None:
        """Close all connections."""
        self._db.dispose()

    def _finished(self) -> list[tuple[AnnotationUnit, dict[str, State]]]:
        """Return all finished judgments by unit.

        Of units without a known answer, "cannot judge" is left out; of gold units it is an answer.
        """
        judgments_by_unit: dict[
            str, tuple[AnnotationUnit, dict[str, State]]
        ] = {}
        for unit, who, state in self.judgments():
            is_counted = unit.gold is not None or not state.get(CANNOT)
            if is_counted and self._is_done(self.positions()[unit.id], state):
                judgments_by_unit.setdefault(unit.id, (unit, {}))[1][who] = (
                    state
                )
        return list(judgments_by_unit.values())

    def _participants(self) -> dict[str, str]:
        """Return the participant by annotator whose place was taken by the join link."""
        return {
            row.annotator: row.participant
            for row in self._rows("participants", "annotator")
        }

    def _signed(self, text: str) -> str:
        return hmac.new(
            bytes.fromhex(self.secret), text.encode(), hashlib.sha256
        ).hexdigest()

    def _is_done(self, position: int, state: State) -> bool:
        # After `done` a part may still be removed; the judgment then counts as not finished.
        return (
            bool(state.get(DONE))
            and self.task.unfinished(self.unit(position), state) is None
        )

    def _unit(self, position: int) -> AnnotationUnit:
        """Read a unit.

        Raises:
            ItemError: The study has no such unit, or its row is damaged.
        """
        for row in self._rows("units", "position", position=position):
            return read_as(
                json.loads(row.body), AnnotationUnit, f"unit {position}"
            )
        raise ItemError(f"there is no unit {position}")

    def _positions(self) -> dict[str, int]:
        """Return the position of each unit by its id."""
        units = self._tables["beholder_units"].c
        query = sql().select(units.id, units.position)
        rows = self._all(query.where(units.study == self.id))
        return {json.loads(row.id): row.position for row in rows}

    def _states(self, **where: object) -> dict[tuple[str, int], State]:
        """Return the judgments by (annotator, position), of the rows with these columns."""
        rows = self._rows("acts", "id", **where)
        acts = group_by_key(
            ((row.annotator, row.unit), _read_act(row)) for row in rows
        )
        return {
            key: state_of(self.unit(key[1]).prefill, unit_acts)
            for key, unit_acts in acts.items()
        }

    def _query(self, name: str, order: str, **where: object) -> Any:
        """Return the query of this study's rows in a table, ordered by a column."""
        table = self._tables[f"beholder_{name}"]
        query = (
            table.select()
            .where(table.c.study == self.id)
            .order_by(table.c[order])
        )
        for column, value in where.items():
            query = query.where(table.c[column] == value)
        return query

    def _rows(self, name: str, order: str, **where: object) -> list[Any]:
        return self._all(self._query(name, order, **where))

    def _all(self, query: Any, db: Any = None) -> list[Any]:
        if db is not None:
            return list(db.execute(query))
        with self._db.connect() as db:
            return list(db.execute(query))


def _read_act(row: Any) -> Act:
    value = None if row.value is None else json.loads(row.value)
    return Act(row.client, row.number, row.part, value)

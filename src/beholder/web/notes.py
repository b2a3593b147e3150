"""Tags and notes that readers of a run write: one file beside its results."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from beholder.base.files import decode_json
from beholder.errors import ConfigError, RunError

FILE = "notes.jsonl"
MAX_TAGS, MAX_TAG, MAX_NOTE = 20, 60, 5_000


class Note(msgspec.Struct, frozen=True):
    """Tags and a text of a reader about one subject; the last line about it counts.

    Attributes:
        kind: Kind of the subject.
        id: Its id.
        tags: Its tags.
        note: A text; empty for none.
    """

    kind: str
    id: str
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass
class Notes:
    """The notes of a run; lines are only added to their file.

    Attributes:
        folder: Folder of the run.
    """

    folder: Path

    def __post_init__(self) -> None:
        self._writing = threading.Lock()

    def all(self, kind: str) -> Mapping[str, Note]:
        """Return the notes of a kind of subject that have a tag or a text, by id.

        Raises:
            RunError: The file cannot be read.
        """
        try:
            # Only a line feed ends a note: its text may contain U+2028 and others.
            lines = (self.folder / FILE).read_bytes().split(b"\n")
            rows = [decode_json(line, Note) for line in lines if line]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise RunError(
                f"{self.folder / FILE} cannot be read ({error}); repair or delete it"
            ) from error
        last_rows = {row.id: row for row in rows if row.kind == kind}
        return {
            name: row
            for name, row in last_rows.items()
            if row.tags or row.note
        }

    def write(self, kind: str, name: str, tags: str, note: str) -> None:
        """Save the tags and the text of a subject; they replace the former ones.

        Args:
            kind: Kind of the subject.
            name: Its id.
            tags: Tags, separated by commas.
            note: A text; empty for none.

        Raises:
            ConfigError: There are too many tags, or a tag or the text is too long.
            RunError: The file cannot be written.
        """
        different = dict.fromkeys(map(str.strip, tags.split(",")))
        tag_names = tuple(filter(None, different))
        if len(tag_names) > MAX_TAGS or any(
            len(tag) > MAX_TAG for tag in tag_names
        ):
            raise ConfigError(
                f"tags: at most {MAX_TAGS} of {MAX_TAG} characters each"
            )
        if len(note) > MAX_NOTE:
            raise ConfigError(f"note: at most {MAX_NOTE:,} characters")
        line = msgspec.json.encode(Note(kind, name, tag_names, note.strip()))
        try:
            # The lock keeps lines of two threads apart; a note is on disk before the page answers.
            with (
                self._writing,
                (self.folder / FILE).open("ab") as file,
            ):
                file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            reason = error.strerror or error
            raise RunError(
                f"{self.folder / FILE} cannot be written ({reason})"
            ) from error

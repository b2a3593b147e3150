"""The files behind a run: recognise a data file that was read before, and pictures that changed.

A data file is known by its bytes and by how it is read. Subjects name their pictures and films; a
run keeps a hash of each file that is looked at, and a start compares them: a score of a picture
that has changed is never put beside new ones.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path

from beholder._version import __version__
from beholder.errors import ItemError, RunError
from beholder.media import file_of, inside
from beholder.media.limits import regular
from beholder.media.video import MAX_BYTES
from beholder.options import DataOptions
from beholder.records import ItemScore
from beholder.run.store import Store
from beholder.run.subjects import ScheduledAsker

_TIMED_TEXT_SUFFIXES = frozenset({".vtt", ".srt"})
"""Files whose rows name the film that lies beside them."""


@dataclass(frozen=True)
class Input:
    """A data file and how it is read.

    Attributes:
        path: The file.
        rows: Selection of rows.
        how: Other settings that the rows depend on.
    """

    path: Path
    rows: DataOptions
    how: tuple[str, ...] = ()

    def key(self) -> str | None:
        """Return SHA-256 of the bytes, the options and our version; size and date prove nothing.

        None if bytes do not determine the rows, or if a file cannot be read. Reading may look at
        other files: for the length of films (``frames``), for the film beside a timed text, for
        where links lead (``media_root``).
        """
        # Rows that depend on other files cannot be recognised by the bytes of this one.
        rows = self.rows
        timed = _TIMED_TEXT_SUFFIXES.intersection(
            suffix.lower() for suffix in self.path.suffixes
        )
        if (
            timed
            or rows.media_root is not None
            or isinstance(rows.frames, int)
        ):
            return None
        hasher = hashlib.sha256(
            repr((astuple(rows), __version__, *self.how)).encode("utf-8")
        )
        for path in filter(None, (self.path, rows.references_from)):
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:  # a folder, a name on the hub
                return None
            hasher.update(repr((path.suffixes, digest)).encode("utf-8"))
        return hasher.hexdigest()


def root_of(source: str) -> Path:
    """Return the folder that image paths of a source are relative to."""
    path = Path(source)
    return path if path.is_dir() else path.parent


def rebase_path(image: str, root: Path, folder: Path) -> str:
    """Return an image path relative to another folder; absolute if it is outside of it."""
    if "://" in image:
        return image
    absolute_path = Path(os.path.normpath((root / image).absolute()))
    base = Path(os.path.normpath(folder.absolute()))
    return (
        absolute_path.relative_to(base).as_posix()
        if absolute_path.is_relative_to(base)
        else str(absolute_path)
    )


MAX_WHOLE_BYTES = 64 * 2**20
"""Bytes up to which a file is hashed whole: nearly every picture. Of a larger one, a film, the size
and ``BLOCKS`` evenly spaced blocks are hashed; cutting a film or encoding it again moves them."""

BLOCKS, BLOCK = 256, 65_536

MISSING = ""
"""Hash of a file that cannot be read."""

_STATE_NAME = "pictures"
_NAMES_A_PIECE = 100_000


def fingerprint(path: Path) -> str:
    """Return the hash of a file, or ``MISSING`` if it cannot be read (opening it reports why).

    A file above ``MAX_WHOLE_BYTES`` is hashed by its size and evenly spaced blocks.
    """
    try:
        with regular(path, MAX_BYTES) as file:
            size = file.seek(0, 2)
            file.seek(0)
            if size <= MAX_WHOLE_BYTES:
                return hashlib.file_digest(file, "sha256").hexdigest()
            # A film of gigabytes: blocks from its first to its last byte.
            hasher = hashlib.sha256(str(size).encode("ascii"))
            for number in range(BLOCKS):
                file.seek((size - BLOCK) * number // (BLOCKS - 1))
                hasher.update(file.read(BLOCK))
            return hasher.hexdigest()
    except ItemError:
        return MISSING


def check_pictures(
    store: Store,
    folder: Path,
    schedule: Iterable[ScheduledAsker],
    shared: Mapping[str, Iterable[str]],
) -> None:
    """Compare the pictures of metrics that see them with those of earlier starts; store new hashes.

    A failure over a picture that has changed is deleted, so that it is tried again, and so are
    all outcomes of askers with ``renew``.

    Args:
        store: The run.
        folder: Base folder of the names of pictures.
        schedule: Subjects and askers.
        shared: By name of what is asked, pictures on which all of its outcomes depend.

    Raises:
        RunError: A score was made of a picture that has changed since.
    """
    looking_entries = [entry for entry in schedule if entry.asker.looks]
    pictures_by_asker = {
        entry.name: _list_pictures(store, entry, shared.get(entry.name, ()))
        for entry in looking_entries
    }
    names = {
        name
        for positions in pictures_by_asker.values()
        for files in positions.values()
        for name in files
    }
    stored_digests = {
        name: digest
        for piece in _read_pieces(store)
        for name, digest in piece.items()
    }
    # Sorted, so that a missing file is met in the same order in every start.
    current_digests = {
        name: fingerprint(_locate_picture(folder, name))
        for name in sorted(names)
    }
    # A file that cannot be read now is reported when it is opened, not here.
    changed = {
        name
        for name, digest in current_digests.items()
        if digest != MISSING and stored_digests.get(name, digest) != digest
    }
    # A score of a changed picture cannot be repaired here; a failure can, by another try.
    for entry in looking_entries:
        changed_positions = {
            position
            for position, files in pictures_by_asker[entry.name].items()
            if changed.intersection(files)
        }
        for position in sorted(() if entry.renew else changed_positions):
            if isinstance(store.score(entry.name, position), ItemScore):
                name = min(
                    changed.intersection(
                        pictures_by_asker[entry.name][position]
                    )
                )
                raise RunError(
                    f"{store.folder} holds scores of {entry.name} made of another picture {name!r}:"
                    " the file has changed since; choose another run directory with -o"
                )
        if changed_positions:
            store.keep_only(
                entry.name, set(range(entry.n)) - changed_positions
            )
    new_digests = {
        n: d
        for n, d in current_digests.items()
        if n in changed or n not in stored_digests
    }
    _store_digests(store, new_digests)


def _list_pictures(
    store: Store, entry: ScheduledAsker, shared: Iterable[str]
) -> dict[int, frozenset[str]]:
    """Return by position the picture files on which the outcome of each subject depends."""
    shared_files = _resolve_names(shared)
    subjects = islice(store.subjects(entry.kind), entry.n)
    return {
        position: shared_files | _resolve_names(entry.kind.pictures(subject))
        for position, subject in subjects
    }


def _resolve_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(str(file_of(Path(name))) for name in names)


def _locate_picture(folder: Path, name: str) -> Path:
    try:
        return inside(folder, name)
    except ItemError:  # opening it reports why
        return folder / "\0"


def _read_pieces(store: Store) -> Iterator[dict[str, str]]:
    """Yield the stored hashes by name, in pieces; later pieces replace earlier ones."""
    number = 0
    while (piece := store.state(_STATE_NAME, str(number), dict)) is not None:
        yield piece
        number += 1


def _store_digests(store: Store, new_digests: Mapping[str, str]) -> None:
    names = sorted(new_digests)
    number = sum(1 for _ in _read_pieces(store))
    # Pieces keep each row of the store small for a data set of millions of pictures.
    for start in range(0, len(names), _NAMES_A_PIECE):
        piece = {
            name: new_digests[name]
            for name in names[start : start + _NAMES_A_PIECE]
        }
        store.add_state(_STATE_NAME, str(number), piece)
        number += 1

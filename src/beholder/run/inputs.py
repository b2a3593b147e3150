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

_BESIDE_A_FILM = frozenset({".vtt", ".srt"})
"""Files whose rows name the film that lies beside them."""


@dataclass(frozen=True)
class Input:
    """A data file and how it is read.

    Attributes:
        path: The file.
        rows: Which rows are taken.
        how: What else the rows depend on.
    """

    path: Path
    rows: DataOptions
    how: tuple[str, ...] = ()

    def key(self) -> str | None:
        """SHA-256 of the bytes, the options and our version; size and date would prove nothing.

        None if bytes do not determine the rows, or if a file cannot be read. Reading may look at
        other files: for the length of films (``frames``), for the film beside a timed text, for
        where links lead (``media_root``).
        """
        rows = self.rows
        timed = _BESIDE_A_FILM.intersection(
            suffix.lower() for suffix in self.path.suffixes
        )
        if (
            timed
            or rows.media_root is not None
            or isinstance(rows.frames, int)
        ):
            return None
        found = hashlib.sha256(
            repr((astuple(rows), __version__, *self.how)).encode("utf-8")
        )
        for path in filter(None, (self.path, rows.references_from)):
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:  # a folder, a name on the hub
                return None
            found.update(repr((path.suffixes, digest)).encode("utf-8"))
        return found.hexdigest()


def root_of(source: str) -> Path:
    """Return the folder that image paths of a source are relative to."""
    path = Path(source)
    return path if path.is_dir() else path.parent


def rebased(image: str, root: Path, folder: Path) -> str:
    """Return an image path relative to another folder; absolute if it is outside of it."""
    if "://" in image:
        return image
    whole = Path(os.path.normpath((root / image).absolute()))
    base = Path(os.path.normpath(folder.absolute()))
    return (
        whole.relative_to(base).as_posix()
        if whole.is_relative_to(base)
        else str(whole)
    )


WHOLE = 64 * 2**20
"""Bytes up to which a file is hashed whole: nearly every picture. Of a larger one, a film, the size
and ``BLOCKS`` evenly spaced blocks are hashed; cutting a film or encoding it again moves them."""

BLOCKS, BLOCK = 256, 65_536

MISSING = ""
"""Hash of a file that cannot be read."""

_KEPT = "pictures"
_AT_ONCE = 100_000


def fingerprint(path: Path) -> str:
    """Hash of a file, see ``WHOLE``; ``MISSING`` if it cannot be read (opening it reports why)."""
    try:
        with regular(path, MAX_BYTES) as file:
            size = file.seek(0, 2)
            file.seek(0)
            if size <= WHOLE:
                return hashlib.file_digest(file, "sha256").hexdigest()
            found = hashlib.sha256(str(size).encode("ascii"))
            for number in range(BLOCKS):
                file.seek((size - BLOCK) * number // (BLOCKS - 1))
                found.update(file.read(BLOCK))
            return found.hexdigest()
    except ItemError:
        return MISSING


def check_pictures(
    store: Store,
    folder: Path,
    asked: Iterable[ScheduledAsker],
    shared: Mapping[str, Iterable[str]],
) -> None:
    """Compare the pictures of what looks at them with those of earlier starts, and note new ones.

    A failure over a picture that has changed is forgotten, so that it is tried again, and so are
    all outcomes of what is renewed.

    Args:
        store: The run.
        folder: What names of pictures are relative to.
        asked: What is asked.
        shared: By name of what is asked, pictures on which all of its outcomes depend.

    Raises:
        RunError: A score was made of a picture that has changed since.
    """
    looking = [one for one in asked if one.asker.looks]
    shown = {
        one.name: _shown(store, one, shared.get(one.name, ()))
        for one in looking
    }
    names = {
        name
        for positions in shown.values()
        for at in positions.values()
        for name in at
    }
    known = {
        name: digest
        for piece in _pieces(store)
        for name, digest in piece.items()
    }
    now = {name: fingerprint(_file(folder, name)) for name in sorted(names)}
    changed = {
        name
        for name, digest in now.items()
        if digest != MISSING and known.get(name, digest) != digest
    }
    for one in looking:
        again = {
            at
            for at, own in shown[one.name].items()
            if changed.intersection(own)
        }
        for at in sorted(() if one.renew else again):
            if isinstance(store.score(one.name, at), ItemScore):
                name = min(changed.intersection(shown[one.name][at]))
                raise RunError(
                    f"{store.folder} holds scores of {one.name} made of another picture {name!r}:"
                    " the file has changed since; choose another run directory with -o"
                )
        if again:
            store.keep_only(one.name, set(range(one.n)) - again)
    fresh = {n: d for n, d in now.items() if n in changed or n not in known}
    _keep(store, fresh)


def _shown(
    store: Store, asked: ScheduledAsker, shared: Iterable[str]
) -> dict[int, frozenset[str]]:
    """Files of the pictures on which the outcome of each subject depends, by position."""
    every = _files(shared)
    subjects = islice(store.subjects(asked.kind), asked.n)
    return {
        at: every | _files(asked.kind.pictures(subject))
        for at, subject in subjects
    }


def _files(names: Iterable[str]) -> frozenset[str]:
    return frozenset(str(file_of(Path(name))) for name in names)


def _file(folder: Path, name: str) -> Path:
    try:
        return inside(folder, name)
    except ItemError:  # opening it reports why
        return folder / "\0"


def _pieces(store: Store) -> Iterator[dict[str, str]]:
    """What was noted, in pieces; later ones count."""
    number = 0
    while (piece := store.state(_KEPT, str(number), dict)) is not None:
        yield piece
        number += 1


def _keep(store: Store, fresh: Mapping[str, str]) -> None:
    names = sorted(fresh)
    number = sum(1 for _ in _pieces(store))
    for start in range(0, len(names), _AT_ONCE):
        piece = {name: fresh[name] for name in names[start : start + _AT_ONCE]}
        store.add_state(_KEPT, str(number), piece)
        number += 1

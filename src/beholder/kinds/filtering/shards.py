"""Tar shards: samples are members that share a key, next to each other; nothing is extracted."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from beholder.errors import DataError

_BLOCK = 512
_CHUNK = 2**20


class Member(NamedTuple):
    """A file in a shard.

    Attributes:
        name: Its name.
        start: Byte at which its headers begin.
        data: Byte at which its content begins.
        size: Bytes of its content.
        end: Byte at which the next member begins.
        is_plain: Whether its content lies in the shard as it is; not so of links and sparse files.
    """

    name: str
    start: int
    data: int
    size: int
    end: int
    is_plain: bool

    @property
    def key(self) -> str:
        """Its name up to the first dot of the last part."""
        folder, slash, name = self.name.rpartition("/")
        return f"{folder}{slash}{name.partition('.')[0] or name}"

    @property
    def ending(self) -> str:
        """Its name from the first dot of the last part on, in lower case."""
        name = self.name.rpartition("/")[2]
        return f".{name.partition('.')[2].lower()}"


@dataclass(frozen=True)
class ShardSample:
    """The members of one key.

    Attributes:
        key: Their key.
        members: The members, in the order of the shard.
        fault: Why loaders would not read it; empty for a usable sample.
    """

    key: str
    members: tuple[Member, ...]
    fault: str


def read_members(path: Path) -> Iterator[Member]:
    """Yield the files and links of a shard; content is skipped, folders and devices are passed.

    Raises:
        DataError: The file is not a plain tar file, or it is damaged or cut off.
    """
    end = 0
    try:
        with tarfile.open(path, "r:") as tar:
            while (member := tar.next()) is not None:
                # Otherwise the headers of all members stay in memory.
                tar.members = []  # type: ignore[attr-defined]
                # Headers of the whole shard lie between two members, so a member ends with its
                # own content. A negative size would lead back, without end.
                if tar.offset <= end:
                    raise tarfile.ReadError(f"{member.name!r} has no size")
                end = tar.offset
                if member.isreg() or member.islnk() or member.issym():
                    yield Member(
                        member.name,
                        member.offset,
                        member.offset_data,
                        member.size,
                        end,
                        member.isreg() and not member.issparse(),
                    )
        _check_end(path, end)
    except (
        tarfile.TarError, OSError, ValueError, OverflowError, MemoryError,
    ) as error:  # fmt: skip
        raise DataError(
            str(path),
            f"is damaged, or not a plain tar file: {str(error) or 'a header is too long'}; unpack a"
            " .tar.gz first (gunzip)",
        ) from error


def _check_end(path: Path, end: int) -> None:
    """Check that zeros alone follow the last member: ``tarfile`` also stops at a wrong header."""
    with path.open("rb") as file:
        file.seek(end)
        n_zeros = 0
        while block := file.read(_CHUNK):
            if block.strip(b"\0"):
                raise DataError(
                    str(path),
                    f"is damaged: what follows byte {end:,} is not a member",
                )
            n_zeros += len(block)
    if n_zeros < _BLOCK:
        raise DataError(str(path), "is cut off: it has no end mark")


def read_samples(path: Path) -> Iterator[ShardSample]:
    """Yield the samples of a shard in their order, broken ones marked; errors: ``read_members``."""
    # The number of runs of a key is known at the end only, so headers are read twice; hashes, as
    # a shard may have millions of keys.
    runs: Counter[int] = Counter()
    before = None
    for member in read_members(path):
        if member.key != before:
            before = member.key
            runs[hash(before)] += 1
    repeated = {key for key, n in runs.items() if n > 1}
    members: list[Member] = []
    for member in read_members(path):
        if members and member.key != members[0].key:
            yield _as_sample(members, repeated)
            members = []
        members.append(member)
    if members:
        yield _as_sample(members, repeated)


def _as_sample(members: list[Member], repeated: set[int]) -> ShardSample:
    key = members[0].key
    fault = ""
    if hash(key) in repeated:
        fault = f"members of {key} are not next to each other"
    elif len({member.ending for member in members}) < len(members):
        fault = f"two members of {key} have one ending"
    else:
        for member in members:
            if not member.is_plain:
                fault = f"{member.name} is a link or a sparse file"
    return ShardSample(key, tuple(members), fault)


def copy_ranges(
    source: Path, unfinished: Path, cuts: Iterator[tuple[int, int]]
) -> None:
    """Copy the bytes of a file but those of some ranges.

    Args:
        source: The file.
        unfinished: The new file, as ``files.write_atomically`` gives it.
        cuts: Start and end of what is left out, in order.
    """
    with source.open("rb") as reader, unfinished.open("wb") as writer:
        position = 0
        for start, end in (*cuts, (source.stat().st_size, 0)):
            reader.seek(position)
            remaining = start - position
            while remaining > 0 and (
                block := reader.read(min(_CHUNK, remaining))
            ):
                writer.write(block)
                remaining -= len(block)
            position = end

"""Pair the subjects of two runs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beholder.errors import ConfigError
from beholder.run.subjects import SubjectKind


class _Identity(NamedTuple):
    """Properties of a subject that identify it in another run.

    Attributes:
        place: Position in its run.
        id: Its id, which is the number of the row where the user gave none.
        pictures: Names of its pictures or of its video; empty without.
        references: Digest of its references in any order; empty without.
        excerpt: Start of its first reference, for messages.
        language: Language of its texts; empty if the row does not name it.
        group: Columns by which results are broken down, such as its system.
        source: Pictures, else references, else what the kind states.
    """

    place: int
    id: str
    pictures: tuple[str, ...]
    references: bytes
    excerpt: str
    language: str
    group: tuple[tuple[str, str], ...]
    source: Hashable

    @property
    def is_numbered(self) -> bool:
        """Return whether the id may be the row number, which identifies nothing in other files."""
        return self.id == str(self.place + 1)


@dataclass(frozen=True)
class SubjectPairing:
    """The subjects that two runs share.

    Attributes:
        common: (place in the first run, place in the second run) per pair, in the order of the
            first run.
        n_a: Subjects of the first run.
        n_b: Subjects of the second run.
        paired_by: ``id``, or ``source`` where an id stands for different pictures in the two runs.
        note: Caution about the pairing for a reader; empty if there is none.
    """

    common: list[tuple[int, int]]
    n_a: int
    n_b: int
    paired_by: str
    note: str


def pair_subjects(
    a: Iterable[tuple[int, Any]],
    b: Iterable[tuple[int, Any]],
    kind: SubjectKind[Any],
    names: tuple[object, object],
    *,
    allow_different: bool = False,
) -> SubjectPairing:
    """Pair the subjects of two runs by id, if an id is of the same picture in both.

    The id of a row without one is its number, so files in another order, or of other pictures,
    have equal ids for different things. If an id has different pictures (without pictures:
    references) in the two runs, ids are not trusted, and subjects are paired by pictures or
    references. Among several texts about one picture those of the same id are paired first, then
    those of the same group, then in the order of the rows, if both runs have as many. Runs that
    share no id are paired by pictures or references that have one text in each run.

    Args:
        a: Subjects of the first run with their places.
        b: Subjects of the second run with their places.
        kind: Their kind.
        names: Names of the runs, for messages.
        allow_different: Pair by id if the runs share ids but no picture and no reference.

    Raises:
        ConfigError: The runs share no id, or none that is of the same picture, and no picture; or
            no id, and a picture has several texts in one of them.
    """
    first = [_identity(kind, place, subject) for place, subject in a]
    second = [_identity(kind, place, subject) for place, subject in b]
    by_id = {identity.id: identity for identity in second}
    same_id = [
        (identity, by_id[identity.id])
        for identity in first
        if identity.id in by_id
    ]
    if not same_id:
        return _pair_without_ids(first, second, kind, names)
    conflicts = [(x, y) for x, y in same_id if _contradicts(x, y)]
    # Ids are reliable unless one of them has different sources in the two runs.
    if not conflicts:
        common = [(x.place, y.place) for x, y in same_id]
        return SubjectPairing(
            common,
            len(first),
            len(second),
            "id",
            _caution_unverified(kind, same_id),
        )
    source_name = (
        "pictures"
        if conflicts[0][0].pictures and conflicts[0][1].pictures
        else "references"
    )
    source_a, source_b = (
        _describe(identity, source_name) for identity in conflicts[0]
    )
    example = (
        f"id {conflicts[0][0].id!r} is of {source_a} in {names[0]} and of"
        f" {source_b} in {names[1]}"
    )
    conflict_count = (
        f"{len(conflicts):,} of {len(same_id):,} common ids are of different"
        f" {source_name}"
    )
    # Ids are of different sources, so the sources themselves decide.
    common = _pair_by_source(first, second)
    if common:
        note = f"{conflict_count} ({example}), so {kind.plural} are paired by {source_name}"
        return SubjectPairing(common, len(first), len(second), "source", note)
    if not allow_different:
        raise ConfigError(
            f"{names[0]} and {names[1]} share no {source_name.removesuffix('s')}:"
            f" {conflict_count}: {example}. Score the same data with both systems;"
            " `beholder compare --allow-different` pairs by id nevertheless"
        )
    common = [(x.place, y.place) for x, y in same_id]
    note = (
        f"paired by id (--allow-different), though {conflict_count}: {example}"
    )
    return SubjectPairing(common, len(first), len(second), "id", note)


def _pair_without_ids(
    first: list[_Identity],
    second: list[_Identity],
    kind: SubjectKind[Any],
    names: tuple[object, object],
) -> SubjectPairing:
    """Pair subjects of two runs without a common id, by sources with one text in each run.

    Raises:
        ConfigError: No source is in both, or one has several texts in a run: without ids, it is
            not known which of them belong together.
    """
    sides = []
    for identities in (first, second):
        # Without pictures and references, the source of a subject is the row itself.
        stated = [x for x in identities if x.pictures or x.references]
        sides.append(_group_by_key(stated, lambda x: x.source))
    shared_sources = [source for source in sides[0] if source in sides[1]]
    advice = "give each text the same id in both"
    if not shared_sources:
        raise ConfigError(
            f"{names[0]} and {names[1]} share no {kind.name} id, and no picture or reference by"
            f" which {kind.plural} could be paired; {advice}"
        )
    for source in shared_sources:
        counts = [len(side[source]) for side in sides]
        if counts != [1, 1]:
            subject = sides[0][source][0]
            source_name = "pictures" if subject.pictures else "references"
            raise ConfigError(
                f"{names[0]} and {names[1]} share no {kind.name} id, and"
                f" {_describe(subject, source_name)} has {counts[0]:,} texts in one and"
                f" {counts[1]:,} in the other, so it is not known which belong together; {advice}"
            )
    pairs = [
        (sides[0][source][0], sides[1][source][0]) for source in shared_sources
    ]
    used = {"pictures" if x.pictures else "references" for x, _ in pairs}
    source_names = " or ".join(sorted(used))
    note = f"the runs share no {kind.name} id, so {kind.plural} are paired by {source_names}"
    common = sorted((x.place, y.place) for x, y in pairs)
    return SubjectPairing(common, len(first), len(second), "source", note)


def _identity(kind: SubjectKind[Any], place: int, subject: Any) -> _Identity:
    video = getattr(subject, "video", None)
    # A video stands for its pictures.
    pictures = tuple(kind.pictures(subject)) or ((video,) if video else ())
    texts = sorted(getattr(subject, "references", ()))
    digest = (
        hashlib.sha256(json.dumps(texts).encode()).digest()[:16]
        if texts
        else b""
    )
    group = tuple(sorted(kind.group(subject).items()))
    return _Identity(
        place,
        kind.id(subject),
        pictures,
        digest,
        " ".join(texts[0].split())[:40] if texts else "",
        getattr(subject, "language", ""),
        group,
        pictures or digest or kind.source_key(subject),
    )


def _contradicts(a: _Identity, b: _Identity) -> bool:
    """Return whether both of two subjects of one id state sources, and these differ."""
    # References may differ for one picture, so they count only where pictures are missing.
    if a.pictures and b.pictures:
        return len(a.pictures) != len(b.pictures) or not all(
            map(_is_same_file, a.pictures, b.pictures)
        )
    return bool(a.references and b.references and a.references != b.references)


def _is_same_file(a: str, b: str) -> bool:
    """Return whether one path is the end of the other: runs may start at different folders."""
    parts_a, parts_b = PurePosixPath(a).parts, PurePosixPath(b).parts
    # Compare whole parts of the path: ``1.jpg`` is not the end of ``11.jpg``.
    n = min(len(parts_a), len(parts_b))
    return parts_a[-n:] == parts_b[-n:]


def _pair_by_source(
    first: list[_Identity], second: list[_Identity]
) -> list[tuple[int, int]]:
    """Pair positions of one source by the strictest key with equal counts in both runs."""
    keys: dict[str, Callable[[_Identity], Hashable]] = {
        "id": lambda identity: (identity.source, identity.id),
        "group": lambda identity: (
            identity.source,
            identity.language,
            identity.group,
        ),
        "language": lambda identity: (identity.source, identity.language),
    }
    # Each pass pairs what it can by one key, and leaves the other subjects to the next, looser key.
    place_pairs: list[tuple[int, int]] = []
    for key_name, key in keys.items():
        first_by_key, second_by_key = (
            _group_by_key(
                (
                    identity
                    for identity in side
                    if key_name != "id" or not identity.is_numbered
                ),
                key,
            )
            for side in (first, second)
        )
        pairs = [
            pair
            for name in first_by_key.keys() & second_by_key.keys()
            if len(first_by_key[name])
            == len(
                second_by_key[name]
            )  # else it is not known who belongs to whom
            for pair in zip(
                first_by_key[name], second_by_key[name], strict=True
            )
        ]
        place_pairs += [(x.place, y.place) for x, y in pairs]
        paired_a, paired_b = (
            {x.place for x, _ in pairs},
            {y.place for _, y in pairs},
        )
        first = [
            identity for identity in first if identity.place not in paired_a
        ]
        second = [
            identity for identity in second if identity.place not in paired_b
        ]
    return sorted(place_pairs)


def _group_by_key(
    subjects: Iterable[_Identity], key: Callable[[_Identity], Hashable]
) -> dict[Hashable, list[_Identity]]:
    by_key: dict[Hashable, list[_Identity]] = defaultdict(list)
    for subject in subjects:
        by_key[key(subject)].append(subject)
    return by_key


def _describe(subject: _Identity, source_name: str) -> str:
    return (
        ", ".join(map(repr, subject.pictures))
        if source_name == "pictures"
        else repr(subject.excerpt)
    )


def _caution_unverified(
    kind: SubjectKind[Any], pairs: Sequence[tuple[_Identity, _Identity]]
) -> str:
    """Return a caution if rows are paired by their number alone, else an empty text."""
    # Six captions of one picture have one source: without ids, only their order separates them.
    n_alike = Counter((x.source, x.language, x.group) for x, _ in pairs)
    n_by_number = sum(
        x.is_numbered
        and y.is_numbered
        and (
            (
                not (x.pictures and y.pictures)
                and not (x.references and y.references)
            )
            or n_alike[x.source, x.language, x.group] > 1
        )
        for x, y in pairs
    )
    if not n_by_number:
        return ""
    return (
        f"{n_by_number:,} of {len(pairs):,} {kind.plural} are paired by the number of their row:"
        " they have no id, picture or reference of their own that both runs state; check that the"
        " files have one order"
    )

"""The rule ALT208, which reads the words of pictures that are stored beside their texts."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from beholder.errors import ItemError
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit
from beholder.text.edits import words_left_out

if TYPE_CHECKING:
    # Pillow loads slowly, and most checks open no picture.
    from beholder.media.reading import PictureReader

RULE = "ALT208"

_MOST_NAMED = 8
"""Words of a picture that a message names."""


def path_of(occurrence: Occurrence) -> str:
    """Return the address of a picture without query and fragment."""
    return unquote(re.split(r"[?#]", occurrence.picture)[0])


def picture_below(
    folders: Mapping[str, tuple[Path, Path]], occurrence: Occurrence
) -> Path | None:
    """Return the file of a picture; None if it is not stored below the folder of the user.

    Args:
        folders: By file, its folder, and the folder that the pictures of its page may lie in.
        occurrence: Place of the picture. Absolute paths, drives and addresses are never opened.

    Raises:
        ItemError: A link leads out of the folder.
    """
    from beholder.media import inside

    folder, root = folders[occurrence.file]
    if not occurrence.picture or re.search(r"^[/\\]|:", occurrence.picture):
        return None
    path = Path(os.path.normpath(folder / path_of(occurrence)))
    if not path.is_relative_to(root):
        return None
    return inside(root, str(path.relative_to(root)))


def check_words_of_pictures(
    occurrences: Sequence[Occurrence],
    folders: Mapping[str, tuple[Path, Path]],
    reader: PictureReader,
    left_out: list[LeftOut],
    advance: Callable[[int, int], None],
) -> Iterator[tuple[Occurrence, Hit]]:
    """Yield the pictures with words that neither their text nor the text beside them has.

    Pictures that are decorative, or have no text at all, are not read: other rules report them.

    Args:
        occurrences: All places.
        folders: As in ``picture_below``.
        reader: Reads each file once.
        left_out: Receives the pictures that are not read.
        advance: Receives the numbers of places that are done and that failed.
    """
    from beholder.media.reading import read_words

    words_by_file: dict[Path, list[str]] = {}
    n_unread: Counter[tuple[str, str]] = Counter()
    for occurrence in occurrences:
        if not has_text(occurrence):
            continue
        kind = "no_file"
        try:
            file = picture_below(folders, occurrence)
            if file is not None and file not in words_by_file:
                kind = "unread"
                words_by_file[file] = read_words(reader, file)
        except ItemError:
            n_unread[kind, occurrence.file] += 1
            advance(0, 1)
            continue
        advance(1, 0)
        if file is None:
            n_unread[kind, occurrence.file] += 1
            continue
        texts = [occurrence.text, occurrence.long, occurrence.caption]
        texts += [occurrence.nearby, occurrence.title]
        missing = words_left_out(words_by_file[file], texts)
        if missing:
            yield occurrence, _hit(missing)
    left_out += [
        LeftOut(kind, file, n) for (kind, file), n in n_unread.items()
    ]


def has_text(occurrence: Occurrence) -> bool:
    """Return whether a place has a text to which words of the picture can be compared."""
    return bool(occurrence.text) and not (
        occurrence.decorative or occurrence.declared
    )


def _hit(missing: Sequence[str]) -> Hit:
    named = ", ".join(f'"{word}"' for word in missing[:_MOST_NAMED])
    if len(missing) > _MOST_NAMED:
        named += f" and {len(missing) - _MOST_NAMED} more"
    return Hit(
        f"leaves out words of the picture: {named}",
        evidence={"picture": " ".join(missing)},
    )

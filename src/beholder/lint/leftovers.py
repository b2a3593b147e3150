"""Account of what looks like a picture or a text and is not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from beholder.base.grouping import group_by_key
from beholder.errors import DataError

_NAMES = {
    "form": ("file of another form", "files of other forms"),
    "link": ("link to a file", "links to files"),
    "table": ("file without texts in rows", "files without texts in rows"),
    "annotations": (
        "annotation file without canvases",
        "annotation files without canvases",
    ),
    "links": (
        "manifest that is not in its collection's file",
        "manifests that are not in their collection's file",
    ),
    "canvases": ("manifest without canvases", "manifests without canvases"),
    "canvas": (
        "canvas with neither picture nor text",
        "canvases with neither picture nor text",
    ),
    "details": (
        "text of a detail or of another canvas",
        "texts of details or of other canvases",
    ),
    "expression": (
        "picture whose text is an expression",
        "pictures whose texts are expressions",
    ),
    "template": ("picture in a template", "pictures in templates"),
    "page": (
        "page that the book's manifest does not name",
        "pages that the book's manifest does not name",
    ),
    "no_file": (
        "picture whose words were not read: no file beside the text",
        "pictures whose words were not read: no files beside the texts",
    ),
    "unread": (
        "picture whose words were not read: missing, damaged or too large",
        "pictures whose words were not read: missing, damaged or too large",
    ),
    "part": (
        "part of a book that is not HTML",
        "parts of books that are not HTML",
    ),
}
"""One and several of each kind, as messages name them."""

_MOST_PLACES = 5


class LeftOut(Struct, frozen=True):
    """Something that was not read.

    Attributes:
        kind: A key of the kinds of this module, such as ``form`` or ``expression``.
        file: File that it is, or that contains it, as findings name it.
        n: How many.
        form: Ending of a file of another form.
    """

    kind: str
    file: str
    n: int = 1
    form: str = ""


class NothingReadError(DataError):
    """A readable file that contains no picture of a kind that is read.

    Named alone it is refused; in a folder it is left out and counted.
    """

    def __init__(
        self, name: str, reason: str, kind: str = "table", n: int = 1
    ) -> None:
        super().__init__(name, reason)
        self.left_out = LeftOut(kind, name, n)


def describe_left_out(left_out: Sequence[LeftOut]) -> str:
    """Return one line: how many of each kind, with forms or places; empty if nothing is left out.

    Example: ``left out: 3 files of other forms (.pdf 2, .rtf 1); 1 picture in a template (a.html)``
    """
    if not left_out:
        return ""
    parts = []
    for kind, entries in group_by_key(
        (entry.kind, entry) for entry in left_out
    ).items():
        n = sum(entry.n for entry in entries)
        singular, plural = _NAMES[kind]
        # Endings say more than names where many files are of one form.
        is_form = kind == "form"
        n_by_place: Counter[str] = Counter()
        for entry in entries:
            n_by_place[entry.form if is_form else entry.file] += entry.n
        ranked = sorted(n_by_place.items(), key=lambda pair: (-pair[1], pair))
        places = [
            f"{place} {count}" if is_form or count > 1 else place
            for place, count in ranked[:_MOST_PLACES]
        ]
        if len(ranked) > _MOST_PLACES:
            places.append(f"{len(ranked) - _MOST_PLACES} more")
        parts.append(
            f"{n:,} {singular if n == 1 else plural} ({', '.join(places)})"
        )
    return f"left out: {'; '.join(parts)}"

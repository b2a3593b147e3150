"""One place that shows a picture: the unit that all rules look at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import (
    SplitResult,
    parse_qsl,
    unquote,
    urlencode,
    urljoin,
    urlsplit,
)

from msgspec import Struct

from beholder.lint.wording import fold, names, norm, transcribed, words
from beholder.text.residue import Residue, find_residue

Structural: TypeAlias = tuple[str, str, str]
"""Id of a rule, what was found, and a severity that replaces the profile's, or an empty text."""

EMPTY_LINK: Structural = (
    "ALT003",
    "the link contains nothing but a picture without text",
    "",
)

_SIZES = frozenset(names("size_parameters"))
"""Parameters of an address that choose a size or version of a picture."""
IIIF_IMAGE = re.compile(
    r"""
    /(?:full|square|(?:pct:)?[\d.,]+)/[^/]+/!?[\d.]+/(?:default|color|gray|bitonal|native)\.\w+$
    """,
    re.VERBOSE,
)
"""End of the address of an IIIF image request: region, size, rotation, quality and format."""

RESIZED = re.compile(
    r"""
    (?:-\d{2,5}x\d{2,5}|@[234]x|-(?:scaled|rotated)|-e\d{10,13}|[-_](?:thumb|thumbnail)
    |_\d{2,5}x\d{0,5}(?:_crop_[a-z]+)?|_(?:small|medium|large|grande|compact))+(?=\.\w+$)
    """,
    re.VERBOSE,
)
"""Suffixes that publishing programs add to the name of a file for a size of it."""


def join_address(base: str, address: str) -> str | None:
    """Return an address relative to a base; None if either is not valid, such as ``http://[``."""
    try:
        return urljoin(base, address)
    except ValueError:
        return None


def split_address(address: str) -> SplitResult | None:
    """Return the parts of an address; None if it is not valid, such as ``//[``."""
    try:
        return urlsplit(address)
    except ValueError:
        return None


def identity(source: str) -> str:
    """Return an address that all sizes of a picture share; empty for an empty address.

    Args:
        source: Path or address of a picture. Fragment, size and version are ignored.
    """
    parts = (
        split_address(source.strip())
        if "//" in source or "?" in source
        else None
    )
    if parts is None:
        return RESIZED.sub("", source.strip().partition("#")[0])
    query = urlencode(
        [
            parameter
            for parameter in parse_qsl(parts.query)
            if parameter[0].lower() not in _SIZES
        ]
    )
    path = RESIZED.sub("", IIIF_IMAGE.sub("", parts.path))
    return f"{parts.netloc.lower()}{path}" + (f"?{query}" if query else "")


class Occurrence(Struct, kw_only=True, dict=True):
    """A place that shows a picture.

    Attributes:
        file: File as the user named it, or relative to the folder that the user named.
        line: 1-based line or row, or None if the form has no lines.
        column: 1-based column in code points, or None.
        locator: Place in the terms of the file format: a JSON pointer, a row.
        element: Name of the element or field.
        picture: Path or address of the picture.
        pictures: Further addresses of the same picture.
        digest: Checksum of the picture's bytes, if the document contains them.
        raw: Text as written; None if the place has none.
        text_from: Attribute or field that gives the text.
        decorative: Whether it is marked as decorative.
        declared: Whether the data say so with ``role=decorative``, which no rule questions.
        role: Role of the picture: functional, decorative, figure, complex, text or informative.
        caption: Caption of the picture.
        language: Language of the page, as its code; ``own_language`` if the element states it.
        page: Page that shows the picture; empty for the file itself.
        title: The ``title`` attribute.
        work_title: Title of the work, from a record.
        medium: Whether the record names a medium or type.
        date: Date of the record.
        long: Long description.
        is_long: Whether the text itself is in a field for long descriptions.
        link: Target of the link; None outside links and buttons.
        image_only: Whether link or button has no other name.
        nearby: Visible text of the nearest block, link or button.
        neighbours: Texts of neighbouring links with the same target.
        emoji: Whether the picture stands for an emoji.
        group: Key of a figure that shows several pictures under one caption.
        groups: Values by which results are broken down, such as the system that wrote the text.
        own_words: Terms that people use for themselves; ``*`` for all.
        ignore: Ids of rules that the source suppresses.
        structural: Findings about the element rather than the text.
    """

    file: str
    line: int | None = None
    column: int | None = None
    locator: str = ""
    element: str = ""
    picture: str = ""
    pictures: tuple[str, ...] = ()
    digest: str = ""
    raw: str | None = None
    text_from: str = "alt"
    decorative: bool = False
    declared: bool = False
    role: str = "informative"
    caption: str = ""
    language: str = ""
    own_language: bool = False
    page: str = ""
    title: str = ""
    work_title: str = ""
    medium: bool = False
    date: str = ""
    long: str = ""
    is_long: bool = False
    link: str | None = None
    image_only: bool = False
    nearby: str = ""
    neighbours: tuple[str, ...] = ()
    emoji: bool = False
    group: str = ""
    groups: Mapping[str, str] = {}
    own_words: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    structural: tuple[Structural, ...] = ()

    @property
    def system(self) -> str:
        """Who wrote the text; empty if the data do not say so."""
        return self.groups.get("system", "")

    def forget(self) -> None:
        """Drop what was derived, which takes most of the memory; it is derived again on use."""
        self.__dict__.clear()

    @cached_property
    def text(self) -> str:
        """The text with blanks normalised; spans refer to it."""
        return norm(self.raw or "")

    @cached_property
    def fold(self) -> str:
        """The text for comparison."""
        return fold(self.text)

    @cached_property
    def words(self) -> list[str]:
        """Words of the text."""
        return words(self.text)

    @cached_property
    def judged(self) -> str:
        """The text with transcribed words blanked, character for character."""
        return transcribed(self.text, self.language)

    @cached_property
    def residues(self) -> list[Residue]:
        """Residue of a model around the text, by its place in ``raw``."""
        return find_residue(self.raw or "")

    @cached_property
    def identity(self) -> str:
        """Key of the picture, the same for all its sizes and its copies in documents."""
        return self.digest or identity(self.picture)

    @cached_property
    def file_names(self) -> set[str]:
        """Names of the picture's files."""
        paths = (
            IIIF_IMAGE.sub("", address.partition("?")[0])
            for address in (self.picture, *self.pictures)
        )
        names = {PurePosixPath(unquote(path)).name for path in paths}
        return names - {""}

    @property
    def functional(self) -> bool:
        """True if the picture is in a link or button."""
        return self.role == "functional"

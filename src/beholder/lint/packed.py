"""Pictures of documents (DOCX, PPTX, ODT, ODP, EPUB); nothing is unpacked to disk.

A document is a ZIP archive of XML parts. Parts with a document type are refused, so no entity is
declared or resolved; an archive that would unpack to far more than it holds is refused unread.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from lxml import etree

from beholder.errors import DataError
from beholder.lint import html
from beholder.lint.decoding import decode_text
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import EMPTY_LINK, Occurrence
from beholder.lint.wording import names, norm

MOST_PARTS = 10_000
MOST_UNPACKED = 2**30
"""Bytes of all parts."""
MOST_PART = 64 * 2**20
"""Bytes of a part that is read."""
MOST_TAGS = 4_000_000
"""Tags, or attributes, of a part that is read: a tree takes some 80 bytes of memory for each."""

_BOMB = 200
"""The highest ratio of unpacked to packed size of a part of over 16 MiB."""
_BIG = 16 * 2**20
_NS: dict[str, str] = names("namespaces")
_VALUE, _STYLE = (f"{{{_NS['w']}}}{name}" for name in ("val", "styleId"))
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
"""Exceptions of ``zipfile``; the last for compression methods that it does not support."""
_PICTURE_KINDS = (
    "contains(@uri, '/picture') or contains(@uri, '/chart')"
    " or contains(@uri, '/diagram')"
)
"""XPath condition on the kind of a graphic: tables and text boxes are no pictures."""
_WORD = re.compile(
    r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml"
)
_SLIDE = re.compile(
    r"""
    ppt/(slides/slide|slideLayouts/slideLayout|slideMasters/slideMaster)(\d+)\.xml
    """,
    re.VERBOSE,
)
_SLIDES = "slides/slide"
_PAGE = re.compile(r".+\.x?html?", re.IGNORECASE)
_PAGE_TYPES = ("application/xhtml+xml", "text/html")
_DRAWING_TYPE = "image/svg+xml"
_OTHER_PAGE_TYPES = (
    *("application/x-dtbook+xml", "text/x-oeb1-document"),
    *("application/pdf", "application/xml", "text/xml"),
)
"""Media types of pages in books that are not read."""


class Archive:
    """An open document that is safe to read.

    Attributes:
        file: The ZIP archive.
        name: The document as messages name it.
        layouts: Whether layouts and masters of slides are read, too.
        left_out: Receives what is not read.
        parts: Names of its parts.
        captions: Ids of paragraph styles of captions.
        digests: Checksum of each part, by which pictures differ.

    Raises:
        DataError: It is encrypted, has a part outside it, or would unpack to too much.
    """

    def __init__(
        self, file: zipfile.ZipFile, name: str, *, layouts: bool = False
    ) -> None:
        self.file, self.name, self.layouts = file, name, layouts
        self.left_out: list[LeftOut] = []
        self.parts = file.namelist()
        self.captions = {"Caption"}
        # Computed once for all pictures of a paragraph or group: a scan of its children for each
        # of its pictures would take quadratic time.
        self.caption_of = cache(self._find_caption)
        self.has_group_text = cache(_has_text)
        parts = file.infolist()
        self.digests = {
            part_info.filename: f"{part_info.CRC:08x}-{part_info.file_size}"
            for part_info in parts
        }
        if len(parts) > MOST_PARTS:
            raise DataError(
                name,
                f"has {len(parts):,} parts; at most {MOST_PARTS:,} are read",
            )
        if (
            size := sum(part_info.file_size for part_info in parts)
        ) > MOST_UNPACKED:
            raise DataError(
                name,
                f"unpacks to {size:,} bytes; at most {MOST_UNPACKED:,} are read",
            )
        # Programs differ on which of two equal names counts.
        if len(set(self.parts)) < len(parts):
            repeated_name, _ = Counter(self.parts).most_common(1)[0]
            raise DataError(
                name, f"has two parts named {repeated_name!r}; save it again"
            )
        for part_info in parts:
            steps = part_info.filename.replace("\\", "/").split("/")
            if ".." in steps or not steps[0] or ":" in steps[0]:
                raise DataError(
                    name,
                    f"has a part outside it: {part_info.filename!r}; save it again",
                )
            # The first bit of the flags of a ZIP entry.
            if part_info.flag_bits & 1:
                raise DataError(
                    name, "is encrypted; save it without a password"
                )
            if part_info.file_size > max(
                _BIG, _BOMB * part_info.compress_size
            ):
                raise DataError(
                    name,
                    f"{part_info.filename!r} unpacks to {part_info.file_size:,} bytes,"
                    f" over {_BOMB} times its packed size, which is refused",
                )

    def read_part(self, part: str) -> bytes:
        """Return the bytes of a part.

        Raises:
            DataError: The part is too large.
        """
        with self.file.open(part) as opened:
            data = opened.read(MOST_PART + 1)
        if len(data) > MOST_PART:
            raise DataError(
                self.name, f"{part!r} has over {MOST_PART:,} bytes; divide it"
            )
        return data

    def tree(self, part: str) -> Any:
        """Parse a part; return its root, or None if the part is missing."""
        if part not in self.digests:
            return None
        data = self.read_part(part)
        # Counted before parsing: a tree takes many times the memory of its
        # bytes.
        if max(data.count(b"<"), data.count(b"=")) > MOST_TAGS:
            raise DataError(
                self.name, f"{part!r} has over {MOST_TAGS:,} tags; divide it"
            )
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise DataError(
                self.name, f"{part!r} cannot be read: {error}"
            ) from error
        if root.getroottree().docinfo.doctype:
            raise DataError(
                self.name, f"{part!r} has a document type, which is refused"
            )
        return root

    def _find_caption(self, paragraph: Any) -> str:
        """Return the text of the next paragraph if it has a style of captions."""
        after = paragraph.getnext()
        while after is not None and not isinstance(after.tag, str):
            after = after.getnext()
        if self.captions.isdisjoint(_find(after, "w:pPr/w:pStyle/@w:val")):
            return ""
        return "".join(_find(after, ".//w:t/text()"))

    def targets(self, part: str) -> dict[str, str]:
        """Return the targets of a part's relationships by id: names of parts, or addresses."""
        folder, file = posixpath.split(part)
        root = self.tree(f"{folder}/_rels/{file}.rels")
        target_by_id = {}
        for relationship in _find(root, "o:Relationship"):
            target = relationship.get("Target", "")
            if relationship.get("TargetMode") != "External":
                target = posixpath.normpath(
                    posixpath.join("/", folder, target)
                ).lstrip("/")
            target_by_id[relationship.get("Id", "")] = target
        return target_by_id


def pictures(
    file: Path | IO[bytes],
    name: str,
    left_out: list[LeftOut] | None = None,
    *,
    layouts: bool = False,
) -> Iterator[Occurrence]:
    """Yield the pictures of a document or book, in order.

    Args:
        file: The file, or its bytes.
        name: The file as findings name it; its ending is one of ``FORMS``.
        left_out: Receives what is not read, such as parts of books.
        layouts: Whether layouts and masters of slides are read, too.

    Raises:
        DataError: The file is not such a document, is encrypted, or would unpack to too much.
    """
    with open_archive(file, name, layouts=layouts) as archive:
        yield from FORMS[Path(name).suffix.lower()](archive)
        if left_out is not None:
            left_out += archive.left_out


@contextmanager
def open_archive(
    source: Path | IO[bytes], name: str, *, layouts: bool = False
) -> Iterator[Archive]:
    """Open and check a document; raises the errors of ``pictures``, also while it is read."""
    try:
        with zipfile.ZipFile(source) as file:
            yield Archive(file, name, layouts=layouts)
    except _UNREADABLE as error:
        form = Path(name).suffix.lower()
        raise DataError(
            name, f"is not a readable {form} file: {error}; save it again"
        ) from error


def _word(archive: Archive) -> Iterator[Occurrence]:
    styles = archive.tree("word/styles.xml")
    languages = _find(styles, "//w:docDefaults//w:lang/@w:val")
    for name in _find(styles, "w:style/w:name"):
        # In English, whatever Word's language is.
        if name.get(_VALUE, "").lower().endswith("caption"):
            archive.captions.add(name.getparent().get(_STYLE))
    # The body before headers, footers and notes.
    for part in sorted(
        filter(_WORD.fullmatch, archive.parts),
        key=lambda part_name: "/doc" not in part_name,
    ):
        targets = archive.targets(part)
        language = "".join(languages[:1])
        for element in archive.tree(part).iter(
            f"{{{_NS['wp']}}}docPr", *_OLD_SHAPES
        ):
            # A fallback repeats a drawing for older programs.
            if _is_fallback(element):
                continue
            if element.tag in _OLD_SHAPES:
                if element.get("alt") or _find(element, _OLD_PICTURE):
                    yield _drawing(
                        archive, part, targets, element, element, language
                    )
                continue
            frame = _above(element)
            for properties, shape in _shown_in(frame, element):
                yield _drawing(
                    archive, part, targets, properties, shape, language
                )


_OLD_SHAPES = tuple(
    f"{{{_NS['v']}}}{name}" for name in ("shape", "rect", "roundrect", "oval")
)
_OLD_PICTURE = "v:imagedata | v:fill/@r:id"
_WORD_FRAMES = (f"{{{_NS['wp']}}}inline", f"{{{_NS['wp']}}}anchor")


def _shown_in(frame: Any, properties: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pictures of a drawing of Word: the element with its text, and what shows it.

    A group with a text of its own is one picture; without it, each of its parts is one. A text box
    is none, unless it is filled with a picture.
    """
    graphic = next(iter(_find(frame, "a:graphic/a:graphicData")), None)
    if graphic is None:
        # Damaged or partial files may have a text and nothing to show.
        if properties.get("descr"):
            yield properties, frame
        return
    if _find(graphic, f"self::*[{_PICTURE_KINDS}]"):
        yield properties, frame
        return
    has_text = bool((properties.get("descr") or "").strip())
    is_marked = bool(_find(properties, ".//d:decorative[@val='1']"))
    is_group = _find(graphic, f"self::*[{_GROUP_KINDS}]")
    shapes = [
        shape
        for shape in _find(
            graphic, _GROUPED_PICTURES if is_group else _FILLED_SHAPE
        )
        # A text box may contain drawings, which have frames of their own.
        if next(shape.iterancestors(*_WORD_FRAMES), None) is frame
    ]
    if not is_group or has_text or is_marked:
        is_box = _find(graphic, "wps:wsp/wps:txbx")
        if shapes or (has_text and not is_box):
            yield properties, frame
        return
    for shape in shapes:
        own_properties = _find(
            shape, "pic:nvPicPr/pic:cNvPr | wps:cNvPr | wpg:cNvPr"
        )
        yield next(iter(own_properties), properties), shape


_GROUP_KINDS = "contains(@uri, 'Group') or contains(@uri, 'Canvas')"
_FILLED_SHAPE = "wps:wsp[wps:spPr/a:blipFill]"
_OUTSIDE = "[not(ancestor::wpg:grpSp[wpg:cNvPr[normalize-space(@descr)]])]"
"""Not within a group that has a text of its own, which stands for its parts."""
_GROUPED_PICTURES = " | ".join(
    f"{path}{_OUTSIDE}"
    for path in (
        ".//pic:pic",
        f".//{_FILLED_SHAPE}",
        f".//wpg:graphicFrame[.//a:graphicData[{_PICTURE_KINDS}]]",
        ".//wpg:grpSp[wpg:cNvPr[normalize-space(@descr)]]",
    )
)


def _slides(archive: Archive) -> Iterator[Occurrence]:
    slides = filter(None, map(_SLIDE.fullmatch, archive.parts))
    for part in sorted(
        slides,
        key=lambda match: (match[1] != _SLIDES, match[1], int(match[2])),
    ):
        if part[1] != _SLIDES and not archive.layouts:
            continue
        targets = archive.targets(part[0])
        root = archive.tree(part[0])
        for element in root.iter(f"{{{_NS['p']}}}cNvPr"):
            frame = _above(_above(element))
            kind = etree.QName(frame).localname
            groups = frame.iterancestors(f"{{{_NS['p']}}}grpSp")
            # A group with a text of its own stands for all its parts.
            if _is_fallback(element) or any(
                map(archive.has_group_text, groups)
            ):
                continue
            query = (
                f".//a:graphicData[{_PICTURE_KINDS}] | self::p:pic"
                " | self::p:sp/p:spPr/a:blipFill"
            )
            # A text box with a description is no picture, unless it is filled
            # with one.
            is_text = kind == "sp" and not _find(frame, "p:spPr/a:blipFill")
            shows_picture = kind != "grpSp" and _find(frame, query)
            if shows_picture or (element.get("descr") and not is_text):
                yield _drawing(archive, part[0], targets, element, frame)


def _drawing(
    archive: Archive,
    part: str,
    targets: dict[str, str],
    properties: Any,
    frame: Any,
    language: str = "",
) -> Occurrence:
    """Return a picture: ``properties`` is the element with its text, ``frame`` shows it."""
    fills = _find(
        frame, ".//a:blip/@r:embed | .//v:imagedata/@r:id | v:fill/@r:id"
    )
    links = _find(properties, "a:hlinkClick/@r:id")
    marks = _find(properties, ".//d:decorative/@val")
    paragraph = next(frame.iterancestors(f"{{{_NS['w']}}}p"), None)
    caption = "" if paragraph is None else archive.caption_of(paragraph)
    picture = targets.get(fills[0], "") if fills else ""
    raw = properties.get("descr", properties.get("alt"))
    # Parts of a group have ids of their own beside those of drawings.
    kind = "cNvPr:" * (properties.tag in _GROUPED)
    return Occurrence(
        file=archive.name,
        locator=f"{part}#{kind}{properties.get('id', '')}",
        element=etree.QName(frame).localname,
        picture=picture,
        digest=archive.digests.get(picture, ""),
        raw=raw,
        text_from="descr" if properties.get("alt") is None else "alt",
        decorative=any(value in ("1", "true") for value in marks),
        role="functional" if links else "informative",
        link=targets.get(links[0], "") if links else None,
        image_only=bool(links),
        structural=(EMPTY_LINK,) if links and not norm(raw or "") else (),
        title=properties.get("title", ""),
        caption=caption,
        language=language,
    )


_GROUPED = tuple(f"{{{_NS[prefix]}}}cNvPr" for prefix in ("pic", "wps", "wpg"))


def _find(element: Any, path: str) -> list[Any]:
    """Return the nodes of an XPath; an empty list for a part that is missing."""
    nodes: list[Any] = []
    if element is not None:
        nodes += element.xpath(path, namespaces=_NS)
    return nodes


def _has_text(group: Any) -> bool:
    texts = _find(group, "p:nvGrpSpPr/p:cNvPr/@descr")
    return any(text.strip() for text in texts)


def _above(element: Any) -> Any:
    """Return the parent, or the element itself at the root of a part."""
    parent = element.getparent()
    return element if parent is None else parent


def _is_fallback(element: Any) -> bool:
    return bool(_find(element, "ancestor::mc:Fallback"))


def _book(archive: Archive) -> Iterator[Occurrence]:
    sheets = [
        (part, archive.tree(part))
        for part in archive.parts
        if part.lower().endswith(".opf")
    ]
    languages = [
        text
        for _, sheet in sheets
        for text in _find(sheet, "//dc:language/text()")
    ]
    for part in _pages(archive, sheets):
        source = decode_text(
            archive.read_part(part), f"{archive.name}: {part}"
        )
        # As in other parts, nothing may expand while it is read.
        if "<!ENTITY" in source:
            raise DataError(
                archive.name, f"{part!r} declares entities; remove them"
            )
        for occurrence in _on_page(source, part, archive.name):
            occurrence.picture = (
                unquote(posixpath.normpath(occurrence.picture))
                if occurrence.picture
                else ""
            )
            occurrence.digest = archive.digests.get(occurrence.picture, "")
            occurrence.language = occurrence.language or "".join(languages[:1])
            yield occurrence


def _pages(archive: Archive, sheets: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the parts that are pages: by the manifest, or by their endings without one."""
    types_by_part: dict[str, str] = {}
    for sheet_part, sheet in sheets:
        folder = posixpath.dirname(sheet_part)
        spine = set(_find(sheet, "//*[local-name()='itemref']/@idref"))
        for item in _find(sheet, "//*[local-name()='item'][@href]"):
            href = unquote(item.get("href").partition("#")[0])
            part = posixpath.normpath(posixpath.join(folder, href))
            kind = item.get("media-type", "").strip().lower()
            # Drawings are pages only where the book shows them as such.
            if kind != _DRAWING_TYPE or item.get("id") in spine:
                types_by_part[part] = kind
            if kind in _OTHER_PAGE_TYPES and item.get("id") in spine:
                archive.left_out.append(LeftOut("part", archive.name))
    if not types_by_part:
        return list(filter(_PAGE.fullmatch, archive.parts))
    pages = []
    for part in archive.parts:
        kind = types_by_part.get(part, "")
        if kind in _PAGE_TYPES or kind == _DRAWING_TYPE:
            pages.append(part)
        elif not kind and _PAGE.fullmatch(part):
            archive.left_out.append(LeftOut("page", archive.name))
    return pages


def _on_page(source: str, page: str, name: str) -> Iterator[Occurrence]:
    for occurrence in html.pictures(source, page):
        occurrence.file, occurrence.page = name, page
        occurrence.locator = f"{page}:{occurrence.line or ''}"
        occurrence.line = occurrence.column = None
        yield occurrence


def _open_document(archive: Archive) -> Iterator[Occurrence]:
    """Yield the pictures of a text or of slides in the OpenDocument format."""
    formulas = set(
        _find(
            archive.tree("META-INF/manifest.xml"),
            "//odmanifest:file-entry[contains(@odmanifest:media-type, '.formula')]"
            "/@odmanifest:full-path",
        )
    )
    parts = ["content.xml"]
    # Masters of slides, and headers and footers of texts, are in the styles.
    if archive.layouts or not archive.name.lower().endswith(".odp"):
        parts.append("styles.xml")
    languages: list[str] = _find(
        archive.tree("styles.xml"), "//style:default-style//@fo:language"
    )
    for part in parts:
        root = archive.tree(part)
        decorative_styles = {
            style.getparent().get(f"{{{_NS['style']}}}name")
            for style in _find(
                root,
                "//style:graphic-properties[@*[local-name()='decorative']='true']",
            )
        }
        for number, frame in enumerate(
            _find(root, "//draw:frame | //draw:g"), 1
        ):
            if _shows_picture(frame, formulas):
                occurrence = _open_drawing(archive, frame, f"{part}#{number}")
                style = frame.get(f"{{{_NS['draw']}}}style-name")
                occurrence.decorative |= style in decorative_styles
                occurrence.language = "".join(languages[:1])
                yield occurrence


def _shows_picture(frame: Any, formulas: set[str]) -> bool:
    """Return whether a frame shows a picture, or a group has a text for all its parts."""
    if _find(frame, "ancestor::draw:g[odsvg:title or odsvg:desc]"):
        return False
    texts = _find(frame, "odsvg:title/text() | odsvg:desc/text()")
    if etree.QName(frame).localname == "g":
        return bool("".join(texts).strip())
    targets = _find(frame, "draw:object/@xlink:href")
    if any(f"{target.removeprefix('./')}/" in formulas for target in targets):
        return bool(texts)
    return bool(_find(frame, "draw:image | draw:object"))


def _open_drawing(archive: Archive, frame: Any, locator: str) -> Occurrence:
    title, description = (
        "".join(_find(frame, f"odsvg:{name}[1]//text()"))
        for name in ("title", "desc")
    )
    links = _find(frame, "ancestor::draw:a[1]/@xlink:href")
    pictures = _find(frame, "draw:image/@xlink:href")
    part = pictures[0].removeprefix("./") if pictures else ""
    # A caption is the text of the box that has the picture in it.
    captions = _find(
        frame, "ancestor::odtext:p[1][ancestor::draw:text-box]//text()"
    )
    own_texts = set(_find(frame, ".//text()"))
    # LibreOffice calls the title the alternative text, and Word's text
    # becomes the description.
    raw = title or description or None
    return Occurrence(
        file=archive.name,
        locator=locator,
        element=etree.QName(frame).localname,
        picture=part,
        digest=archive.digests.get(part, ""),
        raw=raw,
        text_from="title" if title else "desc",
        long=description if title else "",
        decorative=bool(
            {"true"} & set(_find(frame, "@*[local-name()='decorative']"))
        ),
        caption=norm(
            "".join(text for text in captions if text not in own_texts)
        ),
        role="functional" if links else "informative",
        link=links[0] if links else None,
        image_only=bool(links),
        structural=(EMPTY_LINK,) if links and not norm(raw or "") else (),
    )


FORMS: dict[str, Callable[[Archive], Iterator[Occurrence]]] = {
    ".docx": _word,
    ".pptx": _slides,
    ".odt": _open_document,
    ".odp": _open_document,
    ".epub": _book,
}

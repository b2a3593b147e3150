"""Canvases of IIIF manifests and collections, and their pictures; Presentation 2, 3 and 4.

Nothing is fetched: a collection that only links manifests has no canvases here, and annotations
elsewhere are not read. ``lint`` and ``score`` find the same canvases and pictures by this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_CONTEXT = "iiif.io/api/presentation"
_CONTAINERS = ("manifest", "collection")
_NOTES = ("annotation", "annotationpage", "annotationcollection")
_NOTES_OF_2 = "annotationlist"
_MEMBERS = ("items", "sequences", "canvases", "manifests", "members")
"""Keys of the parts of a manifest or collection; ``collections`` are links in version 2."""
_CANVASES_OF_CANVAS = ("placeholderCanvas", "accompanyingCanvas")
_CHOICES = ("choice", "oa:choice")
_SPECIFIC = ("specificresource", "oa:specificresource")
_IMAGES = ("image", "dctypes:image")
_IMAGE_ADDRESS = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|jp2)(?:$|[?#])"
    r"|/(?:full|square|max)/[^/]+/[\d.!]+/",
    re.I,
)
"""An address of a picture: its ending, or an IIIF image request."""
_MOST_DEPTH = 100


class Canvas(NamedTuple):
    """A canvas of a manifest.

    Attributes:
        at: JSON pointer in the file.
        value: The canvas as it is in the file.
    """

    at: str
    value: Mapping[str, Any]


class PaintedPicture(NamedTuple):
    """A picture that an annotation paints on a canvas.

    Attributes:
        body: The picture as it is in the file, without a selector around it.
        addresses: Its address, then those of other choices for the same place.
    """

    body: Mapping[str, Any]
    addresses: tuple[str, ...]


def read_kind(value: Any) -> str:
    """Return manifest, collection or annotations for a JSON value of IIIF; else an empty text."""
    if not isinstance(value, Mapping):
        return ""
    kind = _type(value).removeprefix("sc:").removeprefix("oa:")
    is_declared = _CONTEXT in str(value.get("@context"))
    if kind == _NOTES_OF_2 or kind in _NOTES:
        return "annotations"
    # Other data call a list of anything a collection, too.
    if kind == "collection" and not is_declared:
        members = [
            _type(member).removeprefix("sc:")
            for key in _MEMBERS
            for member in as_objects(value, key)
        ]
        return kind if set(members) & set(_CONTAINERS) else ""
    if kind in _CONTAINERS:
        return kind
    return "manifest" if is_declared else ""


def find_canvases(value: Any) -> Iterator[Canvas]:
    """Yield the canvases of a manifest or collection in order, with those that belong to others.

    Args:
        value: The manifest, or a collection that contains manifests.
    """
    yield from _find_canvases(value, "", 0)


def _find_canvases(value: Any, at: str, depth: int) -> Iterator[Canvas]:
    if not isinstance(value, Mapping) or depth > _MOST_DEPTH:
        return
    step = at.rpartition("/")[0].rpartition("/")[2]
    is_untyped_canvas = not _type(value) and step in ("items", "canvases")
    if is_untyped_canvas or _type(value) in ("canvas", "sc:canvas"):
        yield Canvas(at, value)
    else:
        for key in _MEMBERS:
            for number, child in enumerate(as_list(value.get(key))):
                yield from _find_canvases(
                    child, f"{at}/{key}/{number}", depth + 1
                )
    # A poster or a cover is shown as well as the film or sound that has it.
    for key in _CANVASES_OF_CANVAS:
        yield from _find_canvases(value.get(key), f"{at}/{key}", depth + 1)


def count_links(value: Any) -> int:
    """Return how many manifests and collections are linked without their content."""
    n_links = 0
    values = [value]
    while values:
        holder = values.pop()
        for key in (*_MEMBERS, "collections"):
            for member in as_objects(holder, key):
                kind = _type(member).removeprefix("sc:")
                has_content = any(name in member for name in _MEMBERS)
                if kind in _CONTAINERS and not has_content:
                    n_links += 1
                elif kind in _CONTAINERS:
                    values.append(member)
    return n_links


def explain_emptiness(value: Mapping[str, Any]) -> str:
    """Return why a file without canvases has none, and which file to give instead."""
    if read_kind(value) == "annotations":
        kind = str(first_of(value, "type", "@type")).rpartition(":")[2]
        return f"is an {kind}: give the manifest, which names the pictures"
    n_links = count_links(value)
    if not n_links:
        return "has no canvas"
    return f"{explain_links(n_links)}: save them and give their files"


def explain_links(n_links: int) -> str:
    """Return a clause about manifests that a collection only links."""
    several = n_links != 1
    return (
        f"names {n_links} manifest{'s' if several else ''},"
        f" which {'are' if several else 'is'} not in this file"
    )


def find_pictures(canvas: Mapping[str, Any]) -> Iterator[PaintedPicture]:
    """Yield the pictures that annotations paint on a canvas, in order."""
    pages = as_objects(canvas, "items")
    notes = [note for page in pages for note in as_objects(page, "items")]
    # Version 2 has pictures only, and may omit their type.
    is_picture = "images" in canvas
    for note in notes + as_objects(canvas, "images"):
        for body in as_list(first_of(note, "body", "resource")):
            yield from _find_painted(body, is_picture=is_picture)


def _find_painted(body: Any, *, is_picture: bool) -> Iterator[PaintedPicture]:
    body = _unwrap(body)
    kind = _type(body)
    members = [*as_list(first_of(body, "items", "default"))]
    members += as_list(body.get("item"))
    if not members:
        if _is_image(body, kind, is_picture=is_picture):
            yield PaintedPicture(body, (_address(body),))
        return
    parts = [
        picture
        for member in members
        for picture in _find_painted(member, is_picture=is_picture)
    ]
    if kind in _CHOICES and parts:
        addresses = [address for part in parts for address in part.addresses]
        yield PaintedPicture(parts[0].body, tuple(addresses))
    else:
        yield from parts


def _unwrap(body: Any) -> Mapping[str, Any]:
    """Return the resource within ``SpecificResource``, which selects a part or version of it."""
    for _ in range(_MOST_DEPTH):
        if isinstance(body, str):
            return {"id": body}
        if not isinstance(body, Mapping):
            return {}
        inner = first_of(body, "source", "full")
        if _type(body) not in _SPECIFIC or inner is None:
            return body
        body = next(iter(as_list(inner)), None)
    return {}


def _is_image(body: Mapping[str, Any], kind: str, *, is_picture: bool) -> bool:
    if kind:
        return kind in _IMAGES
    if str(body.get("format", "")).startswith("image/"):
        return True
    address = _address(body)
    return bool(address) and (
        is_picture or bool(_IMAGE_ADDRESS.search(address))
    )


def _address(value: Mapping[str, Any]) -> str:
    return str(first_of(value, "id", "@id") or "")


def language_map(value: Any) -> dict[str, list[str]]:
    """Return the texts of a language map, or of values of version 2, by language.

    Several texts of one language are the paragraphs of one text. A text without a language has an
    empty key.
    """
    texts_by_tag: dict[str, list[str]] = {}
    if isinstance(value, Mapping) and "@value" not in value:
        for tag, texts in value.items():
            key = "" if tag == "none" else str(tag)
            texts_by_tag.setdefault(key, []).extend(_plain_texts(texts))
    else:
        for entry in as_list(value):
            tag = ""
            if isinstance(entry, Mapping):
                tag = str(entry.get("@language") or "")
                entry = entry.get("@value")
            texts_by_tag.setdefault(tag, []).extend(_plain_texts(entry))
    return {tag: texts for tag, texts in texts_by_tag.items() if texts}


def _plain_texts(value: Any) -> list[str]:
    """Return texts and numbers; an object or a missing value is no text."""
    return [
        str(text)
        for text in as_list(value)
        if isinstance(text, (str, int, float))
    ]


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, another value as its only entry, and None as an empty list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def as_objects(
    value: Mapping[str, Any], *keys: str
) -> list[Mapping[str, Any]]:
    """Return the objects under the first key that is there; one alone counts as a list."""
    return [
        entry
        for entry in as_list(first_of(value, *keys))
        if isinstance(entry, Mapping)
    ]


def first_of(value: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first key that is there; None without one."""
    return next((value[key] for key in keys if key in value), None)


def _type(value: Mapping[str, Any]) -> str:
    kinds = as_list(first_of(value, "type", "@type"))
    return str(kinds[0]).lower() if kinds else ""

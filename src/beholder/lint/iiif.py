"""Pictures of IIIF manifests and collections, Presentation 2, 3 and 4; nothing is fetched."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from beholder.lint.occurrence import Occurrence
from beholder.lint.wording import names

_LABELS = frozenset(names("iiif_texts"))
_DATES = frozenset(names("iiif_dates"))
_MEDIA = frozenset(names("iiif_media"))
_TYPES = frozenset(names("iiif_types"))
_MOST_DEPTH = 100
_ELSEWHERE = "has no text in this file; annotations elsewhere are not read"


def is_iiif(value: Any) -> bool:
    """Return whether a JSON value is an IIIF manifest, collection or list of annotations."""
    return (
        isinstance(value, dict)
        and str(_first(value, "type", "@type")).lower() in _TYPES
    )


def pictures(value: Any, name: str) -> Iterator[Occurrence]:
    """Yield the pictures of all canvases, one for each language of a text.

    Args:
        value: The manifest or collection.
        name: The file as findings name it.
    """
    # Language, date and medium of the manifest apply to each canvas that
    # states none.
    language = next((tag for tag, _ in _texts(value.get("label")) if tag), "")
    pairs = _objects(value, "metadata")
    date_of_all = _fact(pairs, _DATES) or str(value.get("navDate") or "")
    medium_of_all = _fact(pairs, _MEDIA)
    for at, canvas in _canvases(value, "", 0):
        canvas_pairs = _objects(canvas, "metadata")
        caption = next((text for _, text in _texts(canvas.get("label"))), "")
        facts: dict[str, Any] = {
            "file": name,
            "locator": at,
            "element": "canvas",
            "page": str(_first(canvas, "id", "@id") or ""),
            "caption": caption,
            "date": _fact(canvas_pairs, _DATES) or date_of_all,
            "medium": bool(_fact(canvas_pairs, _MEDIA) or medium_of_all),
        }
        bodies = list(_bodies(canvas))
        picture = str(_first(bodies[0], "id", "@id") or "") if bodies else ""
        entries = _find_canvas_texts(canvas, bodies, canvas_pairs)
        long = next((text for _, text, _, is_long in entries if is_long), "")
        if not entries and bodies:
            if any(map(_is_elsewhere, _notes(canvas))):
                facts["structural"] = (("ALT001", _ELSEWHERE, ""),)
            yield Occurrence(picture=picture, language=language, **facts)
        # A long description is checked as a text only if there is no short
        # one.
        for tag, text, source, is_long in [
            entry for entry in entries if not entry[3]
        ] or entries:
            yield Occurrence(
                picture=picture,
                language=tag or language,
                raw=text,
                text_from=source,
                is_long=is_long,
                long="" if is_long else long,
                **facts,
            )


def _canvases(
    value: Any, at: str, depth: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(value, dict) or depth > _MOST_DEPTH:
        return
    if str(_first(value, "type", "@type")).lower() in ("canvas", "sc:canvas"):
        yield at, value
        return
    for key in ("items", "sequences", "canvases", "manifests", "members"):
        for number, child in enumerate(_list(value.get(key))):
            yield from _canvases(child, f"{at}/{key}/{number}", depth + 1)


def _bodies(canvas: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pages = _objects(canvas, "items")
    notes = [note for page in pages for note in _objects(page, "items")]
    for note in notes + _objects(canvas, "images"):
        for body in _objects(note, "body", "resource"):
            for choice in _objects(body, "items") or [body]:
                kind = str(_first(choice, "type", "@type")).lower()
                if kind in ("image", "dctypes:image"):
                    yield choice


def _find_canvas_texts(
    canvas: dict[str, Any],
    bodies: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
) -> list[tuple[str, str, str, bool]]:
    """Return (language, text, source, whether it is for long texts) of the first place in use."""
    # The first place in use counts: annotations for accessibility, metadata
    # with a known label, then summary or description.
    entries = []
    pages = [page for page in _notes(canvas) if isinstance(page, dict)]
    notes = [
        note for page in pages for note in _objects(page, "items", "resources")
    ]
    for note in notes:
        for body in _list(_first(note, "body", "resource")):
            body = body if isinstance(body, dict) else {"value": body}
            purposes = str(
                [
                    part.get(key)
                    for part in (note, body)
                    for key in ("provides", "accessibility")
                ]
            ).lower()
            is_long = "alternativetext" not in purposes
            if not is_long or "longdescription" in purposes:
                text = str(_first(body, "value", "chars") or "")
                if body.get("format") == "text/html":
                    text = _text(text)
                tag = str(next(iter(_list(body.get("language"))), ""))
                entries.append((tag, text, "annotation", is_long))
    if not all(is_long for *_, is_long in entries):
        return entries
    if (texts := _find_fact(pairs, _LABELS)) is not None:
        return entries + [(*text, "metadata", False) for text in texts]
    for holder in (*bodies, canvas):
        for key in ("summary", "description"):
            if texts := _texts(holder.get(key)):
                return entries + [
                    (tag, _text(text), key, True) for tag, text in texts
                ]
    return entries


def _notes(canvas: dict[str, Any]) -> list[Any]:
    return _list(canvas.get("annotations")) + _list(canvas.get("otherContent"))


def _is_elsewhere(page: Any) -> bool:
    return (
        not isinstance(page, dict)
        or _first(page, "items", "resources") is None
    )


def _texts(value: Any) -> list[tuple[str, str]]:
    """Return (language, text) pairs of a language map (version 3), or of values of version 2."""
    if isinstance(value, dict) and "@value" not in value:
        return [
            ("" if tag == "none" else str(tag), str(text))
            for tag, texts in value.items()
            for text in _list(texts)
        ]
    return [
        (str(entry.get("@language", "")), str(entry["@value"]))
        if isinstance(entry, dict) and "@value" in entry
        else ("", str(entry))
        for entry in _list(value)
    ]


def _find_fact(
    pairs: list[dict[str, Any]], labels: frozenset[str]
) -> list[tuple[str, str]] | None:
    """Return languages and texts of the first pair with one of the labels; None without it."""
    for pair in pairs:
        names = {text.strip().lower() for _, text in _texts(pair.get("label"))}
        if names & labels:
            return _texts(pair.get("value"))
    return None


def _fact(pairs: list[dict[str, Any]], labels: frozenset[str]) -> str:
    return "; ".join(text for _, text in _find_fact(pairs, labels) or ())


def _text(value: str) -> str:
    return (
        html.unescape(re.sub(r"<[^<>]*>", " ", value))
        if "<" in value
        else value
    )


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _objects(value: dict[str, Any], *keys: str) -> list[dict[str, Any]]:
    """Return the objects that the first key of an object names; one alone counts as a list."""
    return [
        entry
        for entry in _list(_first(value, *keys))
        if isinstance(entry, dict)
    ]


def _first(value: dict[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if key in value), None)

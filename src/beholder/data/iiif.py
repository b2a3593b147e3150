"""IIIF manifests (Presentation 2 and 3): a row per canvas with its picture and its texts.

What a canvas says of itself becomes the candidate: its summary, else its description, else its
label. Languages are taken in the order English, none, the first. Pictures are addresses, and are
fetched by nobody here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.errors import DataError


def is_manifest(found: object) -> bool:
    """Whether a JSON value is a manifest."""
    return isinstance(found, Mapping) and "iiif.io/api/presentation" in str(found.get("@context"))


def canvas_rows(found: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """A row per canvas, in order.

    Raises:
        DataError: It has no canvases, or not where the specification puts them.
    """
    try:
        canvases = list(
            found["items"]
            if "items" in found
            else (canvas for sequence in found["sequences"] for canvas in sequence["canvases"])
        )
        for canvas in canvases:
            row: dict[str, Any] = {"id": canvas.get("id") or canvas["@id"]}
            row["candidate"] = _said(canvas)
            row["images"] = _pictures(canvas)
            yield row
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name, f"is no IIIF manifest that can be read ({type(error).__name__}: {error})"
        ) from error


def _said(canvas: Mapping[str, Any]) -> str:
    for field in ("summary", "description", "label"):
        text = _text(canvas.get(field))
        if text:
            return text
    return ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):  # version 2: texts, or objects with @value
        return next(filter(None, map(_text, value)), "")
    if isinstance(value, Mapping):
        if "@value" in value:
            return str(value["@value"])
        for language in ("en", "none", *value):
            said = value.get(language)
            if said:  # a list of texts; a text alone is no list of letters
                return said if isinstance(said, str) else " ".join(map(str, said))
    return ""


def _pictures(canvas: Mapping[str, Any]) -> list[str]:
    if "images" in canvas:  # version 2
        return [image["resource"]["@id"] for image in canvas["images"]]
    bodies = [
        annotation["body"] for page in canvas.get("items", ()) for annotation in page["items"]
    ]
    return [body["id"] for body in bodies if body.get("type") == "Image"]

"""Pictures of IIIF manifests and collections, Presentation 2, 3 and 4; nothing is fetched."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beholder.data.iiif import (
    PaintedPicture,
    as_list,
    as_objects,
    count_links,
    explain_emptiness,
    find_canvases,
    find_pictures,
    first_of,
    language_map,
    read_kind,
)
from beholder.lint.leftovers import LeftOut, NothingReadError
from beholder.lint.occurrence import Occurrence, Structural
from beholder.lint.wording import names

_ELSEWHERE = "has no text in this file; annotations elsewhere are not read"
_OF_DETAIL = "has no text; an annotation describes only a detail of it"
_FROM_CORNER = re.compile(r"xywh=(pixel:|pct:|percent:)?0,0,(\d+),(\d+)\b")
"""A part that begins at the upper left corner: unit, width and height."""


class _Note(NamedTuple):
    """A text of an annotation for accessibility."""

    language: str
    text: str
    is_long: bool


def _fold_label(label: str) -> str:
    """Return the letters and digits of a label: ``Alt text:`` and ``alt_text`` are one."""
    return "".join(filter(str.isalnum, label.casefold()))


_LABELS, _DATES, _MEDIA = (
    frozenset(map(_fold_label, names(key)))
    for key in ("iiif_texts", "iiif_dates", "iiif_media")
)


def is_iiif(value: Any) -> bool:
    """Return whether a JSON value is an IIIF manifest, collection or list of annotations."""
    return bool(read_kind(value))


def pictures(
    value: Any, name: str, left_out: list[LeftOut] | None = None
) -> Iterator[Occurrence]:
    """Yield the pictures of all canvases, one for each language of a text.

    Args:
        value: The manifest or collection.
        name: The file as findings name it.
        left_out: Receives what is not read.

    Raises:
        NothingReadError: The file has no canvas.
    """
    left_out = [] if left_out is None else left_out
    canvases = list(find_canvases(value))
    n_links = count_links(value)
    is_notes = read_kind(value) == "annotations"
    if not canvases:
        kind = "links" if n_links else "canvases"
        kind = "annotations" if is_notes else kind
        raise NothingReadError(
            name, explain_emptiness(value), kind, n_links or 1
        )
    if n_links:
        left_out.append(LeftOut("links", name, n_links))
    # Language, date and medium of the manifest apply to each canvas that
    # states none.
    language = next(filter(None, language_map(value.get("label"))), "")
    pairs = as_objects(value, "metadata")
    date_of_all = _fact(pairs, _DATES) or str(value.get("navDate") or "")
    medium_of_all = _fact(pairs, _MEDIA)
    notes = _Notes(value, [canvas.value for canvas in canvases])
    n_empty = 0
    for at, canvas in canvases:
        canvas_pairs = as_objects(canvas, "metadata")
        labels = language_map(canvas.get("label")).values()
        painted = list(find_pictures(canvas))
        facts: dict[str, Any] = {
            "file": name,
            "locator": at,
            "element": "canvas",
            "page": str(first_of(canvas, "id", "@id") or ""),
            "caption": next((texts[0] for texts in labels), ""),
            "date": _fact(canvas_pairs, _DATES) or date_of_all,
            "medium": bool(_fact(canvas_pairs, _MEDIA) or medium_of_all),
        }
        occurrences = list(
            _canvas_pictures(
                canvas, painted, canvas_pairs, notes, language, facts
            )
        )
        # A film or a sound, or a picture in a form that is not known.
        n_empty += not occurrences
        yield from occurrences
    if n_empty:
        left_out.append(LeftOut("canvas", name, n_empty))
    if n_others := notes.count_others():
        left_out.append(LeftOut("details", name, n_others))


def _canvas_pictures(
    canvas: Mapping[str, Any],
    painted: Sequence[PaintedPicture],
    pairs: Sequence[Mapping[str, Any]],
    notes: _Notes,
    language: str,
    facts: dict[str, Any],
) -> Iterator[Occurrence]:
    entries = _find_canvas_texts(canvas, painted, pairs, notes.texts(canvas))
    long = next((text for _, text, _, is_long in entries if is_long), "")
    addresses = painted[0].addresses if painted else ("",)
    facts |= {"picture": addresses[0], "pictures": addresses[1:]}
    if not entries and painted:
        missing: tuple[Structural, ...] = ()
        if notes.has_detail(canvas):
            missing = (("ALT001", _OF_DETAIL, ""),)
        elif any(map(_is_elsewhere, _pages(canvas))):
            missing = (("ALT001", _ELSEWHERE, ""),)
        yield Occurrence(language=language, structural=missing, **facts)
    # A long description is checked as a text only if there is no short
    # one.
    for tag, text, source, is_long in [
        entry for entry in entries if not entry[3]
    ] or entries:
        yield Occurrence(
            language=tag or language,
            raw=text,
            text_from=source,
            is_long=is_long,
            long="" if is_long else long,
            **facts,
        )
    # The text of a canvas is about all its pictures, so the others are
    # counted and not reported again.
    for picture in painted[1:]:
        facts |= {
            "picture": picture.addresses[0],
            "pictures": picture.addresses[1:],
        }
        yield Occurrence(language=language, declared=True, **facts)


class _Notes:
    """The texts for accessibility in the annotations of a file, by the canvas that they are about.

    An annotation belongs to the canvas that its target names, wherever it is embedded.
    """

    def __init__(
        self, value: Mapping[str, Any], canvases: Sequence[Mapping[str, Any]]
    ) -> None:
        self.notes_by_id: dict[int, list[_Note]] = defaultdict(list)
        self.detail_ids: set[int] = set()
        self.n_others = 0
        by_address: dict[str, Mapping[str, Any]] = {}
        for canvas in canvases:
            by_address[str(first_of(canvas, "id", "@id") or "")] = canvas
            for picture in find_pictures(canvas):
                for address in picture.addresses:
                    by_address.setdefault(address, canvas)
        for holder in (value, *canvases):
            own_canvas = None if holder is value else holder
            for page in _pages(holder):
                for note in (
                    as_objects(page, "items", "resources")
                    if isinstance(page, Mapping)
                    else ()
                ):
                    self._add(note, own_canvas, by_address)

    def _add(
        self,
        note: Mapping[str, Any],
        own_canvas: Mapping[str, Any] | None,
        by_address: Mapping[str, Mapping[str, Any]],
    ) -> None:
        texts = list(_read_note(note))
        if not texts:
            return
        targets = as_list(first_of(note, "target", "on"))
        is_used = False
        for target in targets or [None]:
            address, is_detail = _read_target(target)
            # Without a target, the place of the annotation decides.
            canvas = by_address.get(address) if address else own_canvas
            if canvas is None:
                continue
            if is_detail and not _covers(target, canvas):
                self.detail_ids.add(id(canvas))
                continue
            self.notes_by_id[id(canvas)] += texts
            is_used = True
        self.n_others += 0 if is_used else len(texts)

    def texts(self, canvas: Mapping[str, Any]) -> list[_Note]:
        """Return the texts about a canvas as a whole."""
        return self.notes_by_id.get(id(canvas), [])

    def has_detail(self, canvas: Mapping[str, Any]) -> bool:
        """Return whether a text is about a detail of a canvas."""
        return id(canvas) in self.detail_ids

    def count_others(self) -> int:
        """Return how many texts are about details, or about no canvas of the file."""
        return self.n_others


def _read_note(note: Mapping[str, Any]) -> Iterator[_Note]:
    for body in as_list(first_of(note, "body", "resource")):
        body = body if isinstance(body, Mapping) else {"value": body}
        purposes = str(
            [
                part.get(key)
                for part in (note, body)
                for key in ("provides", "accessibility")
            ]
        ).lower()
        is_long = "alternativetext" not in purposes
        if not is_long or "longdescription" in purposes:
            text = str(first_of(body, "value", "chars") or "")
            if body.get("format") == "text/html":
                text = _text(text)
            tag = str(next(iter(as_list(body.get("language"))), ""))
            yield _Note(tag, text, is_long)


def _read_target(target: Any) -> tuple[str, bool]:
    """Return the address that an annotation is about, and whether it is about a part of it."""
    is_detail = False
    while isinstance(target, Mapping):
        inner = first_of(target, "source", "full")
        if inner is None:
            target = first_of(target, "id", "@id")
            break
        is_detail = is_detail or target.get("selector") is not None
        target = next(iter(as_list(inner)), None)
    address, hash_mark, _ = str(target or "").partition("#")
    return address, is_detail or bool(hash_mark)


def _covers(target: Any, canvas: Mapping[str, Any]) -> bool:
    """Return whether the part that a target selects is all of a canvas."""
    match = _FROM_CORNER.search(str(target))
    if match is None:
        return False
    whole = ("100", "100")
    if match[1] not in ("pct:", "percent:"):
        whole = str(canvas.get("width")), str(canvas.get("height"))
    return match.group(2, 3) == whole


def _find_canvas_texts(
    canvas: Mapping[str, Any],
    painted: Sequence[PaintedPicture],
    pairs: Sequence[Mapping[str, Any]],
    notes: Sequence[_Note],
) -> list[tuple[str, str, str, bool]]:
    """Return (language, text, source, whether it is for long texts) of the first place in use."""
    # The first place in use counts: annotations for accessibility, metadata
    # with a known label, then summary or description.
    entries = [
        (note.language, note.text, "annotation", note.is_long)
        for note in notes
    ]
    if not all(is_long for *_, is_long in entries):
        return entries
    if (texts := _find_fact(pairs, _LABELS)) is not None:
        return entries + [
            (tag, "\n\n".join(values), "metadata", False)
            for tag, values in texts.items()
        ]
    for holder in (*(picture.body for picture in painted), canvas):
        for key in ("summary", "description"):
            if texts := language_map(holder.get(key)):
                return entries + [
                    (tag, _text("\n\n".join(values)), key, True)
                    for tag, values in texts.items()
                ]
    return entries


def _pages(holder: Mapping[str, Any]) -> list[Any]:
    return as_list(holder.get("annotations")) + as_list(
        holder.get("otherContent")
    )


def _is_elsewhere(page: Any) -> bool:
    return (
        not isinstance(page, Mapping)
        or first_of(page, "items", "resources") is None
    )


def _find_fact(
    pairs: Sequence[Mapping[str, Any]], labels: frozenset[str]
) -> dict[str, list[str]] | None:
    """Return texts by language of the first pair with one of the labels; None without it."""
    for pair in pairs:
        pair_labels = {
            _fold_label(label)
            for texts in language_map(pair.get("label")).values()
            for label in texts
        }
        if pair_labels & labels:
            return language_map(pair.get("value"))
    return None


def _fact(pairs: Sequence[Mapping[str, Any]], labels: frozenset[str]) -> str:
    texts = (_find_fact(pairs, labels) or {}).values()
    return "; ".join(text for values in texts for text in values)


def _text(value: str) -> str:
    return (
        html.unescape(re.sub(r"<[^<>]*>", " ", value))
        if "<" in value
        else value
    )

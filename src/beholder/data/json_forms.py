"""Rows of JSON files: lists of rows, texts by id, and the layouts of data sets and programs.

A layout is recognized by its keys. Of any other object the one list whose rows have a text and a
picture is read; several such lists are refused, as a guess would be silently wrong.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from beholder.data.folders import plain_id
from beholder.data.headings import (
    TEXTS,
    choose_columns,
    find_columns,
    map_option,
)
from beholder.data.lines import parse_json, read_jsonl
from beholder.data.reading import RowReading
from beholder.data.row import columns_of, shorten
from beholder.errors import DataError

_MOST_DEPTH = 4
_TAGS = re.compile(r"<[^<>]*>")
_IMAGE = re.compile(
    r"image/|\.(?:jpe?g|png|webp|gif|tiff?|bmp|svg|avif)(?:$|\?)", re.I
)


class NoRowsError(DataError):
    """A JSON value has no list of rows, or several that could be it."""


def parse_rows(data: bytes, name: str) -> Any:
    """Return the value of a JSON file, or the rows of JSON Lines in it.

    Raises:
        DataError: It is neither.
    """
    try:
        return parse_json(data, name)
    except DataError:
        head, feed, _ = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
        if not (feed and head.lstrip()[:1] == b"{"):
            raise
        rows = [row for _, row in read_jsonl(io.BytesIO(data), name)]
        # One object over several lines is a wrong JSON file, not wrong lines.
        if isinstance(rows[0], DataError):
            raise
        return rows


def rows_of(value: Any, name: str, reading: RowReading) -> Iterable[Any]:
    """Return the rows of a JSON value, unchecked.

    Args:
        value: The value.
        name: Name of the file in messages.
        reading: The columns that the user named; receives what is left out.

    Raises:
        DataError: The value has no list of rows, or several that could be it.
    """
    if isinstance(value, Mapping):
        chosen_rows = _named_list(value, reading)
        if chosen_rows is not None:
            return chosen_rows
        for keys, read_layout in _OBJECTS:
            if all(isinstance(value.get(key), list) for key in keys):
                rows = read_layout(value, name, reading)
                if rows is not None:
                    return rows
        texts = _texts_by_id(value, reading)
        if texts is None:
            texts = _columns_by_name(value)
        if texts is not None:
            return texts
        value = _choose_list(value, name, reading)
    if not isinstance(value, list):
        raise NoRowsError(
            name, f"expected a list of rows, got {shorten(value)}"
        )
    return list(_flat_rows(value, name, reading))


def _flat_rows(
    rows: Sequence[Any], name: str, reading: RowReading
) -> Iterator[Any]:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            yield row
            continue
        for is_form, read_row in _ROWS:
            if is_form(row):
                yield from read_row(row, name, number, reading)
                break
        else:
            yield row


def _named_list(
    value: Mapping[str, Any], reading: RowReading
) -> list[Any] | None:
    """Return the list that mapped columns name, as in ``assets[].title``."""
    for column in reading.columns.values():
        head, _, _ = column.partition("[]")
        if head != column and isinstance(value.get(head), list):
            return list(value[head])
    return None


def _texts_by_id(
    value: Mapping[str, Any], reading: RowReading
) -> list[dict[str, Any]] | None:
    """Return rows of texts, lists of texts, or rows by id; None for another object.

    Rows by id have a text or references under a known heading, or one that the user named.
    """
    kinds = set(map(type, value.values()))
    if not value or {"id", "candidate"} & set(value):
        return None
    # One row, such as a picture with its text, is no collection of texts.
    if choose_columns(tuple(value), "item").keys() & {"candidate", "images"}:
        return None
    if kinds == {str}:
        return [{"id": key, "candidate": text} for key, text in value.items()]
    if kinds == {list}:
        texts = {key: _listed_texts(part) for key, part in value.items()}
        are_texts = all(part is not None for part in texts.values())
        if not are_texts or not any(texts.values()):
            return None
        # A list of one text each is how a system's texts are written.
        if all(len(part or ()) == 1 for part in texts.values()):
            return [
                {"id": key, "candidate": part[0]}
                for key, part in texts.items()
                if part
            ]
        return [{"id": key, "references": part} for key, part in texts.items()]
    if kinds == {dict} and all(
        choose_columns(tuple(row), "item").keys() & {"candidate", "references"}
        or any(column in row for column in reading.columns.values())
        for row in value.values()
    ):
        return [{"id": key, **row} for key, row in value.items()]
    return None


def _columns_by_name(value: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a table that was written column by column, as pandas does by default.

    Each column is an object of values by row number. None for another object.
    """
    keys = next(iter(value.values()), None)
    is_table = (
        isinstance(keys, Mapping)
        and choose_columns(tuple(value), "item").keys()
        & {"candidate", "references", "images"}
        and all(key.isdecimal() for key in keys)
        and all(
            isinstance(column, Mapping) and column.keys() == keys.keys()
            for column in value.values()
        )
    )
    if not is_table or not keys:
        return None
    return [
        {name: column[key] for name, column in value.items()} for key in keys
    ]


def _listed_texts(value: Sequence[Any]) -> list[str] | None:
    """Return the texts of a list of texts or of ``{"caption": ...}``; None for another list."""
    texts = [
        part["caption"]
        if isinstance(part, Mapping) and "caption" in part
        else part
        for part in value
    ]
    return texts if all(isinstance(text, str) for text in texts) else None


def _choose_list(
    value: Mapping[str, Any], name: str, reading: RowReading
) -> list[Any]:
    """Return the list of an object whose rows have a text and a picture, else its only list."""
    lists = dict(_lists(value, "", 0))
    best: dict[str, list[Any]] = {}
    for fields in ({"text", "picture"}, {"text"}, set()):
        best = {
            path: rows
            for path, rows in lists.items()
            if fields <= _fields_of(rows, name)
        }
        if best:
            break
    # The usual name of the list decides between equals.
    if (
        len(best) > 1
        and isinstance(value.get("data"), list)
        and "data" in best
    ):
        best = {"data": best["data"]}
    if len(best) == 1:
        ((path, rows),) = best.items()
        for other_path, other_rows in lists.items():
            if other_path != path:
                reading.leave_out(
                    f"rows of the list {other_path!r}", len(other_rows)
                )
        return rows
    if not best and value.get("data") == []:
        return []
    # Settings of programs have a description, too.
    if not best and find_columns(value, ("candidate", *TEXTS)):
        return [value]
    if not best:
        is_by_id = all(isinstance(part, Mapping) for part in value.values())
        hint = ""
        if value and is_by_id:
            hint = (
                "; if these are ids with rows, name the column of the text with"
                " --map references=KEY or --map candidate=KEY"
            )
        raise NoRowsError(
            name,
            f"has no list of rows; {columns_of(value)}; expected a list of rows, texts by id, COCO"
            f" captions, or an IIIF manifest{hint}",
        )
    listing = "; ".join(
        f"{path} ({', '.join(map(str, rows[0]))})"
        for path, rows in list(best.items())[:6]
    )
    path = next(iter(best))
    raise NoRowsError(
        name,
        f"has several lists that could be the rows: {listing}; name a column of the right one, as"
        f" {map_option('candidate', f'{path}[].COLUMN')}",
    )


def _lists(
    value: Mapping[str, Any], path: str, depth: int
) -> Iterator[tuple[str, list[Any]]]:
    for key, part in value.items():
        if isinstance(part, list) and part and isinstance(part[0], Mapping):
            yield f"{path}{key}", part
        elif isinstance(part, Mapping) and depth < _MOST_DEPTH:
            yield from _lists(part, f"{path}{key}.", depth + 1)


def _fields_of(rows: Sequence[Any], name: str) -> set[str]:
    """Return whether rows have a text and a picture, by a first look."""
    fields: set[str] = set()
    try:
        for row in _flat_rows(rows[:50], name, RowReading()):
            if not isinstance(row, Mapping):
                continue
            header = tuple(
                key
                for key, part in row.items()
                if isinstance(part, str | list) or part is None
            )
            chosen = choose_columns(header, "lint")
            fields |= chosen.keys() & {"text", "picture"}
            if find_columns(header, ("references",)):
                fields.add("text")
    except DataError:
        return {"text"}
    return fields


def _coco(
    value: Mapping[str, Any], name: str, reading: RowReading
) -> Iterable[Any] | None:
    """Return a row per picture with captions, in the order of pictures.

    Captions that annotators rejected, or that are one of the canned sentences for bad pictures
    (VizWiz), are left out.
    """
    # Other files of COCO, such as boxes, have no captions.
    if value["annotations"] and not any(
        isinstance(annotation, Mapping) and "caption" in annotation
        for annotation in value["annotations"]
    ):
        return None
    try:
        pictures: dict[str, tuple[Any, Any]] = {}
        for picture in value["images"]:
            pictures[plain_id(str(picture["id"]))] = (
                picture["id"],
                picture.get("file_name"),
            )
        captions: dict[str, list[str]] = {key: [] for key in pictures}
        for number, annotation in enumerate(value["annotations"], start=1):
            text = annotation["caption"]
            key = plain_id(str(annotation["image_id"]))
            if key not in pictures:
                raise DataError(
                    name,
                    f"annotation {number} is about the picture {annotation['image_id']!r}, which is"
                    f" not in images; their ids are such as {_examples(pictures)}",
                )
            for mark in ("is_rejected", "is_precanned"):
                if annotation.get(mark):
                    reading.leave_out(f"references with {mark}")
                    break
            else:
                captions[key].append(text)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name,
            f"is not a file of COCO captions ({type(error).__name__}: {error}): expected images"
            " with id and annotations with image_id and caption",
        ) from error
    rows: list[dict[str, Any]] = []
    for key, texts in captions.items():
        if texts:
            written, file = pictures[key]
            row = {"id": written, "references": texts}
            rows.append(row if file is None else {**row, "images": [file]})
        else:
            reading.leave_out("pictures without a caption")
    return rows


def _examples(keys: Iterable[str]) -> str:
    return ", ".join(list(keys)[:3])


def _karpathy(
    value: Mapping[str, Any], name: str, reading: RowReading
) -> Iterable[Any] | None:
    """Return the rows of a split file of Karpathy: sentences below each picture."""
    pictures = value["images"]
    if not (pictures and "sentences" in pictures[0]):
        return None
    rows = []
    for number, picture in enumerate(pictures, start=1):
        try:
            row = {
                "id": picture.get("cocoid", picture["filename"]),
                "references": [part["raw"] for part in picture["sentences"]],
                "images": [
                    "/".join(
                        filter(
                            None,
                            (picture.get("filepath"), picture["filename"]),
                        )
                    )
                ],
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                name,
                f"is not a split file: images[{number - 1}] has no filename, or sentences without"
                f" raw ({error})",
            ) from error
        if picture.get("split"):
            row["group"] = {"split": picture["split"]}
        rows.append(row)
    return rows


def _msr_vtt(
    value: Mapping[str, Any], name: str, reading: RowReading
) -> Iterable[Any] | None:
    """Return the rows of MSR-VTT: a list of sentences beside the list of videos."""
    try:
        rows: dict[str, dict[str, Any]] = {}
        for sentence in value["sentences"]:
            row = rows.setdefault(
                str(sentence["video_id"]),
                {"id": sentence["video_id"], "references": []},
            )
            row["references"].append(sentence["caption"])
        for film in value.get("videos") or ():
            if film.get("split") and str(film["video_id"]) in rows:
                rows[str(film["video_id"])]["group"] = {"split": film["split"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            name,
            f"is not a file of MSR-VTT ({type(error).__name__}: {error}): expected sentences with"
            " video_id and caption",
        ) from error
    return list(rows.values())


def _split_table(
    value: Mapping[str, Any], name: str, reading: RowReading
) -> Iterable[Any] | None:
    """Return the rows of a table that names its columns once: lists of cells beside the names."""
    header, rows = value["columns"], value["data"]
    n_columns = len(header)
    if not all(
        isinstance(row, list) and len(row) == n_columns for row in rows
    ):
        return None
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


_OBJECTS: Sequence[
    tuple[
        Sequence[str],
        Callable[[Mapping[str, Any], str, RowReading], Iterable[Any] | None],
    ]
] = (
    (("images", "annotations"), _coco),
    (("images",), _karpathy),
    (("sentences",), _msr_vtt),
    (("columns", "data"), _split_table),
)
"""Lists that an object has, and how its rows are read; a reader returns None for other data."""


def _is_label_studio(row: Mapping[str, Any]) -> bool:
    judgments = row.get("annotations")
    return isinstance(row.get("data"), Mapping) and isinstance(judgments, list)


def _label_studio(
    row: Mapping[str, Any], name: str, number: int, reading: RowReading
) -> Iterator[Any]:
    """Yield a row for each annotation of a task: the fields of its data and its text."""
    data = {
        key: value
        for key, value in row["data"].items()
        if isinstance(value, str | int | float)
    }
    base = {"id": row.get("id", number), **data}
    n_texts = 0
    for annotation in row["annotations"]:
        if annotation.get("was_cancelled"):
            reading.leave_out("annotations that were cancelled")
            continue
        areas: dict[str, list[str]] = {}
        for result in annotation.get("result") or ():
            texts = (result.get("value") or {}).get("text")
            if result.get("type") == "textarea" and texts:
                parts = [texts] if isinstance(texts, str) else texts
                areas.setdefault(str(result.get("from_name")), []).extend(
                    parts
                )
        if len(areas) > 1:
            mapped = [
                area for area in areas if area in reading.columns.values()
            ]
            if not mapped:
                yield {
                    **base,
                    **{key: "\n".join(part) for key, part in areas.items()},
                }
                continue
            areas = {mapped[0]: areas[mapped[0]]}
        for texts in areas.values():
            n_texts += 1
            written = base["id"] if n_texts == 1 else f"{base['id']}#{n_texts}"
            yield {**base, "id": written, "candidate": "\n".join(texts)}
        if not areas:
            reading.leave_out("annotations without a text")


def _is_wordpress(row: Mapping[str, Any]) -> bool:
    return "source_url" in row and ("alt_text" in row or "media_type" in row)


def _wordpress(
    row: Mapping[str, Any], name: str, number: int, reading: RowReading
) -> Iterator[Any]:
    """Yield the picture of a row of a media list of WordPress; other media are counted."""
    kind = str(row.get("mime_type") or row.get("media_type") or "")
    if not (row.get("media_type") == "image" or kind.startswith("image")):
        reading.leave_out("media that are not pictures")
        return
    yield {
        "id": row.get("id", number),
        "alt": row.get("alt_text"),
        "image": row["source_url"],
        "caption": _rendered(row.get("caption")),
        "title": _rendered(row.get("title")),
        "page": row.get("link") or "",
    }


def _rendered(value: Any) -> str:
    """Return the text of a field of WordPress: ``{"rendered": "<p>A boat</p>"}``."""
    text = value.get("rendered") if isinstance(value, Mapping) else value
    if not isinstance(text, str):
        return ""
    return " ".join(html.unescape(_TAGS.sub(" ", text)).split())


def _is_contentful(row: Mapping[str, Any]) -> bool:
    fields = row.get("fields")
    return isinstance(fields, Mapping) and "file" in fields


def _contentful(
    row: Mapping[str, Any], name: str, number: int, reading: RowReading
) -> Iterator[Any]:
    """Yield a row for each language of an asset of Contentful."""
    fields = row["fields"]
    files = _by_locale(fields["file"], "url")
    texts = _by_locale(fields.get("description"))
    titles = _by_locale(fields.get("title"))
    system = row.get("sys")
    key = system.get("id") if isinstance(system, Mapping) else number
    for locale, file in files.items():
        address = (
            str(file.get("url") or "") if isinstance(file, Mapping) else ""
        )
        kind = str(file.get("contentType") or address) if address else ""
        if not _IMAGE.search(kind):
            reading.leave_out("media that are not pictures")
            continue
        for language in texts or {locale: None}:
            yield {
                "id": f"{key}:{language}" if len(texts) > 1 else key,
                "alt": texts.get(language),
                "image": f"https:{address}"
                if address.startswith("//")
                else address,
                "title": titles.get(language) or "",
                **({"language": language} if language else {}),
            }


def _by_locale(value: Any, inner: str = "") -> dict[str, Any]:
    """Return values by locale; one without locales has the empty one."""
    if isinstance(value, Mapping) and (not inner or inner not in value):
        return dict(value)
    return {} if value is None else {"": value}


def _is_drupal(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("attributes"), Mapping) and bool(
        _drupal_pictures(row)
    )


def _drupal_pictures(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the references to picture files of a JSON:API row, which have the text."""
    relations = row.get("relationships")
    pictures: list[Mapping[str, Any]] = []
    for relation in (
        relations.values() if isinstance(relations, Mapping) else ()
    ):
        data = relation.get("data") if isinstance(relation, Mapping) else None
        for part in data if isinstance(data, list) else [data]:
            if not isinstance(part, Mapping):
                continue
            meta = part.get("meta")
            if isinstance(meta, Mapping) and "alt" in meta:
                pictures.append(part)
    # A media entity names its picture twice: as itself and as its thumbnail.
    return list({str(part.get("id")): part for part in pictures}.values())


def _drupal(
    row: Mapping[str, Any], name: str, number: int, reading: RowReading
) -> Iterator[Any]:
    """Yield the pictures of a row of Drupal's JSON:API."""
    attributes = row["attributes"]
    file_name = str(attributes.get("filename") or attributes.get("name") or "")
    pictures = _drupal_pictures(row)
    for place, picture in enumerate(pictures, start=1):
        key = row.get("id", number)
        yield {
            "id": key if len(pictures) == 1 else f"{key}#{place}",
            "alt": picture["meta"]["alt"],
            "image": file_name or str(picture.get("id")),
            "title": str(picture["meta"].get("title") or ""),
            "language": attributes.get("langcode"),
        }


_ROWS: Sequence[
    tuple[
        Callable[[Mapping[str, Any]], bool],
        Callable[[Mapping[str, Any], str, int, RowReading], Iterator[Any]],
    ]
] = (
    (_is_label_studio, _label_studio),
    (_is_wordpress, _wordpress),
    (_is_contentful, _contentful),
    (_is_drupal, _drupal),
)
"""Rows of the exports of programs, and how they are read."""

"""Collections of pictures and storylines over them: rows become ``Frame`` and ``Storyline``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

from beholder.base.archival_dates import is_undated
from beholder.base.dates import PartialDate
from beholder.base.files import write_jsonl
from beholder.data.columns import MISSING, find_value
from beholder.data.folders import find_name_error, pictures_below
from beholder.data.headings import (
    FRAME_FIELDS,
    choose_columns,
    close_column,
    find_columns,
)
from beholder.data.notes import RowNotes
from beholder.data.read import records
from beholder.data.reading import RowReading
from beholder.data.row import (
    RowError,
    checked_field,
    columns_of,
    given_field,
    identifier,
    labels,
    language_of_row,
    media_path,
    plain_text,
    shorten,
)
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.media import check_image, inside
from beholder.records import Frame, Storyline


def read_frames(
    source: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    year: int | None = None,
    media_root: Path | None = None,
    notes: RowNotes | None = None,
) -> Iterator[Frame | DataError]:
    """Read a collection of pictures.

    Args:
        source: A folder (every picture file below it becomes a frame, in order of its path, with
            the path without ending as id), or a ``.csv``, ``.jsonl``, ... file with a row per
            picture: ``id``, ``image``, ``date``, ``place``, ``caption`` in any usual spelling.
            Other columns become labels. Without ``id`` it is the file name without its ending.
        columns: Column by field, where it has another name: ``{"date": "month"}``.
        year: Year of dates that name none, such as ``march``.
        media_root: Folder that absolute paths of images may point into; None refuses them all.
        notes: Receives the columns that become labels, and what is not read.

    Yields:
        A Frame per good row, a DataError (not raised) per bad one.

    Raises:
        ConfigError: ``columns`` names an unknown field.
        DataError: The file or folder as a whole cannot be read.
    """
    if Path(source).is_dir():
        yield from _folder_frames(Path(source))
        return
    name = str(source)
    mapped = {
        _field_of(field): column for field, column in (columns or {}).items()
    }
    # Columns are chosen for the whole file: a row without a date has none, even if it has a
    # column of another kind of date.
    rows = [
        (number, _renamed(row, mapped))
        for number, row in read_rows(
            source,
            name,
            RowReading(mapped, None if notes is None else notes.left_out),
        )
    ]
    header: dict[str, object] = {}
    for _, row in rows:
        header |= row if isinstance(row, Mapping) else {}
    missing = [field for field in mapped if rows and field not in header]
    if missing and header:
        field = missing[0]
        raise DataError(
            name,
            f"no row has the column {mapped[field]!r} (--map {field}={mapped[field]});"
            f" {columns_of(header)}",
        )
    chosen = choose_columns(tuple(header), "frame")

    def build(row: object, number: str) -> Frame:
        if isinstance(row, Mapping) and notes is not None:
            used = {names[0] for names in chosen.values()}
            notes.count_columns(row, "frame", used)
        return frame_from_row(
            row, year=year, media_root=media_root, chosen=chosen
        )

    yield from records(rows, build, name=name)


def _field_of(name: str) -> str:
    """Return the field of a picture that a mapping names; ConfigError if there is none."""
    fields = ("language", *FRAME_FIELDS)
    fields_of_heading = choose_columns((name,), "frame")
    if name in fields or fields_of_heading:
        return name if name in fields else next(iter(fields_of_heading))
    raise ConfigError(
        f"--map {name}=...: expected FIELD=COLUMN with one of {', '.join(fields)}"
    )


def read_storylines(
    source: str | Path,
    collection: Iterable[Frame] = (),
    *,
    media_root: Path | None = None,
) -> Iterator[Storyline | DataError]:
    """Read storylines, one a row: ``{"id": ..., "frames": [...], "source": ..., "group": {...}}``.

    Args:
        source: A ``.jsonl``, ``.csv`` or ``.parquet`` file, or ``"-"``.
        collection: Frames that rows may name by id; a frame may also be written out in the row.
            Without a collection, a bare id becomes a frame that only has an id.
        media_root: Folder that absolute paths of images may point into; None refuses them all.

    Yields:
        A Storyline per good row, a DataError (not raised) per bad one.

    Raises:
        DataError: The file as a whole cannot be read.
    """
    frame_by_id = {frame.id: frame for frame in collection}
    name = "stdin" if str(source) == "-" else str(source)

    def build(row: object, number: str) -> Storyline:
        return _storyline(row, number, frame_by_id, media_root)

    return records(read_rows(source, name), build, name=name)


def with_exif_dates(frames: Sequence[Frame], root: Path) -> list[Frame]:
    """Return frames with the EXIF dates of their pictures, if none has a date of its own.

    Beside given dates EXIF is left alone: scans of old photographs carry the date of the scan. A
    picture that cannot be read stays undated; its failure is reported where it is used.
    """
    if any(frame.date is not None for frame in frames):
        return list(frames)
    return [replace(frame, date=_exif_date(frame, root)) for frame in frames]


def _exif_date(frame: Frame, root: Path) -> PartialDate | None:
    if frame.image is None:
        return None
    try:
        written = check_image(inside(root, frame.image)).date
        return None if written is None else PartialDate.parse(written)
    except (
        ItemError,
        ValueError,
    ):  # no picture, or cameras that never had their clock set
        return None


def frame_row(frame: Frame) -> dict[str, object]:
    """Return the row of a frame; ``read_frames`` reads the same frame from it."""
    row = {field.name: getattr(frame, field.name) for field in fields(frame)}
    return {key: str(v) if key == "date" else v for key, v in row.items() if v}


def storyline_row(storyline: Storyline) -> dict[str, object]:
    """Return the row of a storyline with its frames written out."""
    row: dict[str, Any] = {"id": storyline.id, "source": storyline.source}
    if storyline.group:
        row["group"] = dict(storyline.group)
    return row | {"frames": [frame_row(frame) for frame in storyline.frames]}


def storyline_from_row(
    row: object, *, media_root: Path | None = None
) -> Storyline:
    """Parse a row with written-out frames; RowError if it is not valid."""
    return _storyline(row, None, {}, media_root)


def write_storylines(path: Path, storylines: Iterable[Storyline]) -> None:
    """Write storylines as JSONL, one a row, whole or not at all."""
    write_jsonl(path, map(storyline_row, storylines))


def _folder_frames(folder: Path) -> Iterator[Frame | DataError]:
    files = pictures_below(folder)
    stems = [str(PurePosixPath(file).with_suffix("")) for file in files]
    # Two files of one stem, such as a.jpg and a.png, keep their endings in the
    # id.
    uses = Counter(stems)
    for number, (file, stem) in enumerate(
        zip(files, stems, strict=True), start=1
    ):
        wrong = find_name_error(file, str(folder), number)
        yield wrong or Frame(id=stem if uses[stem] == 1 else file, image=file)


def _renamed(row: object, columns: Mapping[str, str]) -> object:
    if not isinstance(row, Mapping):
        return row
    values = {
        field: find_value(row, column) for field, column in columns.items()
    }
    used = {close_column(column, row) for column in columns.values()}
    renamed = {key: value for key, value in row.items() if key not in used}
    return renamed | {
        field: value for field, value in values.items() if value is not MISSING
    }


def frame_from_row(
    row: object,
    *,
    year: int | None = None,
    media_root: Path | None = None,
    chosen: Mapping[str, Sequence[str]] | None = None,
) -> Frame:
    """Parse a row as a frame; RowError if it is not valid.

    Args:
        row: The row.
        year: Year of dates that name none.
        media_root: Folder that absolute paths of images may point into; None refuses them all.
        chosen: Columns by field, of which the first is read; None for those of the row alone.
    """
    if not isinstance(row, Mapping):
        raise RowError(f"expected an object with fields, got {shorten(row)}")
    # Known fields are taken out under their names or aliases, and what is left
    # becomes labels.
    other_values = {
        str(key): value
        for key, value in row.items()
        if value not in (None, "")
    }
    language = language_of_row(
        {**other_values, "group": other_values.get("labels")}
    )
    for name in (*find_columns(other_values, ("language",)), "group.language"):
        other_values.pop(name, None)
    if chosen is None:
        chosen = choose_columns(tuple(other_values), "frame")
    values: dict[str, Any] = {
        field: other_values.pop(columns[0])
        for field, columns in chosen.items()
        if columns[0] in other_values
    }
    image = given_field(
        values, "image", lambda value: media_path(value, media_root)
    )
    # A file name is a natural id, and usually unique.
    if image is not None:
        values.setdefault("id", PurePosixPath(image).stem)
    if "id" not in values:
        raise RowError(
            "is missing, and there is no image to take it from", "id"
        )
    extra = {
        key: value
        for key, value in other_values.items()
        if isinstance(value, str | int | float)
    }
    return Frame(
        id=checked_field("id", identifier, values["id"]),
        image=image,
        caption=given_field(values, "caption", plain_text),
        date=given_field(values, "date", lambda value: _date(value, year)),
        place=given_field(values, "place", plain_text),
        labels={
            **labels(extra),
            **checked_field("labels", labels, values.get("labels", {})),
            **({"language": language} if language else {}),
        },
    )


def _storyline(
    row: object,
    default_id: str | None,
    frame_by_id: Mapping[str, Frame],
    media_root: Path | None,
) -> Storyline:
    if not isinstance(row, Mapping):
        raise RowError(f"expected an object with fields, got {shorten(row)}")
    storyline_id = row.get("id", default_id)
    if storyline_id is None:
        raise RowError("is missing", "id")
    written = row.get("frames")
    if (
        not isinstance(written, Sequence)
        or isinstance(written, str)
        or not written
    ):
        raise RowError(
            f"expected a list of frames or their ids, got {shorten(written)}",
            "frames",
        )
    group = checked_field("group", labels, row.get("group") or {})
    if language := language_of_row(row):
        group["language"] = language
    # An error of a frame names the frame: frames[2].date.
    frames = []
    for index, element in enumerate(written):
        try:
            frames.append(_member(element, frame_by_id, media_root))
        except RowError as error:
            place = f"frames[{index}]" + (
                f".{error.field}" if error.field else ""
            )
            raise RowError(error.reason, place) from None
    return Storyline(
        id=checked_field("id", identifier, storyline_id),
        frames=tuple(frames),
        source=given_field(row, "source", plain_text) or "given",
        group=group,
    )


def _member(
    element: object, frame_by_id: Mapping[str, Frame], media_root: Path | None
) -> Frame:
    if isinstance(element, Mapping):
        return frame_from_row(element, media_root=media_root)
    frame_id = identifier(element)
    # Without a collection any id is accepted, as nothing is known of it.
    if frame_by_id and frame_id not in frame_by_id:
        raise RowError(f"no frame of the collection has the id {frame_id!r}")
    return frame_by_id.get(frame_id, Frame(id=frame_id))


def _date(value: object, year: int | None) -> PartialDate | None:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise RowError(f"expected a date as text, got {shorten(value)}")
    # Catalogues write "n.d." where databases leave the cell empty.
    if is_undated(str(value)):
        return None
    try:
        return PartialDate.parse(str(value), year=year)
    except ValueError as error:
        raise RowError(str(error)) from None

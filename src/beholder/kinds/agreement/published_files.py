"""Files of published sets: JSON, lines of JSON, tables with tabs, Parquet.

A line ends at a line break and nowhere else: texts may hold other separators, such as U+2028.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.base.grouping import by_key
from beholder.data.row import shorten
from beholder.errors import DataError, ItemError
from beholder.records import Item


def read_json(folder: Path, name: str) -> Any:
    """The value of a JSON file.

    Raises:
        DataError: It is missing, or no JSON.
    """
    return parsed(folder / name, json.loads)


def read_lines(folder: Path, name: str) -> Any:
    """The values of a file with one JSON value a line.

    Raises:
        DataError: It is missing, or a line is no JSON.
    """
    return parsed(
        folder / name,
        lambda text: [
            json.loads(line) for line in text.split("\n") if line.strip()
        ],
    )


def read_columns(folder: Path, name: str) -> list[list[str]]:
    """The cells of a file with tabs between them.

    Raises:
        DataError: It is missing.
    """
    found = parsed(
        folder / name,
        lambda text: [line.split("\t") for line in text.split("\n") if line],
    )
    return list(found)


def parquet_rows(
    folder: Path, pattern: str = "*.parquet"
) -> Iterator[Mapping[str, Any]]:
    """Rows of the Parquet files below a folder whose names fit; pictures in them are not read.

    Raises:
        DataError: There is no such file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = sorted(folder.rglob(pattern))
    if not paths:
        raise DataError(str(folder), f"has no file {pattern}")
    for path in paths:
        file = pq.ParquetFile(path)
        columns = [
            field.name
            for field in file.schema_arrow
            if not (
                pa.types.is_binary(field.type)
                or pa.types.is_struct(field.type)
            )
        ]
        for batch in file.iter_batches(columns=columns):
            yield from batch.to_pylist()


def single(
    name: str,
    text: str,
    references: Iterable[str],
    image: str,
    judgments: Mapping[str, Any],
    **group: str,
) -> Item:
    """A text about a picture, with what people said of it.

    Raises:
        ItemError: The text or a reference is no text.
    """
    texts = tuple(references)
    for given in (text, *texts):
        if not isinstance(given, str):
            raise ItemError(f"{name}: expected texts, got {shorten(given)}")
    return Item(name, text, texts, (image,), group=group, judgments=judgments)


def pair(
    name: str,
    first: str,
    second: str,
    references: Iterable[str],
    image: object,
    **judgments: object,
) -> Item:
    """Two texts about one picture, with what people said of them."""
    found = single(name, first, references, str(image), judgments)
    return replace(found, meta={"candidate_b": second})


def parsed(path: Path, parse: Callable[[str], Any]) -> Any:
    """What a file holds.

    Raises:
        DataError: It is missing, or cannot be read so.
    """
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            str(path), "is missing; the set is published in this file"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            str(path), f"cannot be read as the published form: {error}"
        ) from error


def check_columns(
    row: Mapping[str, Any],
    needed: Mapping[str, str],
    named: Mapping[str, str],
    path: str,
    number: int,
) -> None:
    """Refuse a row without a column; says what there is and how to name another.

    Args:
        row: The row.
        needed: What each column holds, by our name of it.
        named: What it is called in the data, by our name.
        path: File of the row.
        number: Its number.

    Raises:
        DataError: A column is missing.
    """
    for name, what in needed.items():
        if named[name] not in row:
            raise DataError(
                path,
                f"has no column {named[name]!r} ({what}); the row has: {', '.join(map(str, row))};"
                f" say where it lies with --map {name}=COLUMN",
                line=number,
            )


def read_coco(folder: Path, name: str) -> dict[str, list[str]]:
    """Captions in the form of COCO, by the name of the picture without its ending."""
    data = read_json(folder, name)
    files = {picture["id"]: picture["file_name"] for picture in data["images"]}
    return by_key(
        (
            files[annotation["image_id"]].partition(".")[0],
            annotation["caption"].strip(),
        )
        for annotation in data["annotations"]
    )

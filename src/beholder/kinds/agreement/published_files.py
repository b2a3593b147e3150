"""Files of published sets: JSON, lines of JSON, tables with tabs, Parquet.

A line ends at a line break and nowhere else: texts may hold other separators, such as U+2028.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.base.grouping import group_by_key
from beholder.data.row import shorten
from beholder.errors import DataError, ItemError
from beholder.records import Item


def read_json(folder: Path, name: str) -> Any:
    """Read a JSON file.

    Raises:
        DataError: The file is missing, or is not valid JSON.
    """
    return parse_file(folder / name, json.loads)


def read_lines(folder: Path, name: str) -> Any:
    """Read a file with one JSON value per line.

    Raises:
        DataError: The file is missing, or a line is not valid JSON.
    """
    return parse_file(
        folder / name,
        lambda text: [
            json.loads(line) for line in text.split("\n") if line.strip()
        ],
    )


def read_columns(folder: Path, name: str) -> list[list[str]]:
    """Read the cells of a file with tabs between them.

    Raises:
        DataError: It is missing.
    """
    rows = parse_file(
        folder / name,
        lambda text: [line.split("\t") for line in text.split("\n") if line],
    )
    return list(rows)


def parquet_rows(
    folder: Path, pattern: str = "*.parquet"
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of the Parquet files below a folder that match a pattern, without pictures.

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
        # Pictures are bytes, or a struct of bytes and a path; together many
        # gigabytes.
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
    """Return an item: a text about a picture with its judgments.

    Raises:
        ItemError: The text or a reference is not a string.
    """
    # A generator could be read only once.
    texts = tuple(references)
    for content in (text, *texts):
        if not isinstance(content, str):
            raise ItemError(f"{name}: expected texts, got {shorten(content)}")
    return Item(name, text, texts, (image,), group=group, judgments=judgments)


def pair(
    name: str,
    first: str,
    second: str,
    references: Iterable[str],
    image: object,
    **judgments: object,
) -> Item:
    """Return an item: two texts about one picture with their judgments."""
    item = single(name, first, references, str(image), judgments)
    return replace(item, meta={"candidate_b": second})


def parse_file(path: Path, parse: Callable[[str], Any]) -> Any:
    """Parse the text of a file.

    Raises:
        DataError: The file is missing, or ``parse`` fails.
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
    column_names: Mapping[str, str],
    path: str,
    number: int,
) -> None:
    """Raise an error if a column is missing; it lists the columns, and how to name another.

    Args:
        row: The row.
        needed: Contents of each column, by our name of it.
        column_names: Names of columns in the data, by our name.
        path: File of the row.
        number: Its number.

    Raises:
        DataError: A column is missing.
    """
    for name, contents in needed.items():
        if column_names[name] not in row:
            raise DataError(
                path,
                f"has no column {column_names[name]!r} ({contents}); the row has:"
                f" {', '.join(map(str, row))}; name the column with --map {name}=COLUMN",
                line=number,
            )


def read_coco(folder: Path, name: str) -> dict[str, list[str]]:
    """Read captions in the form of COCO, by the name of the picture without its ending."""
    data = read_json(folder, name)
    files = {picture["id"]: picture["file_name"] for picture in data["images"]}
    return group_by_key(
        (
            files[annotation["image_id"]].partition(".")[0],
            annotation["caption"].strip(),
        )
        for annotation in data["annotations"]
    )

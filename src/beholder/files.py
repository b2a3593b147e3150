"""Files that are written whole or not at all: a killed process never leaves half of one."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beholder.errors import RunError

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes its place when the block ends without error.

    Raises:
        RunError: The file cannot be written: no permission, no room, a folder of that name.
    """
    unfinished = path.with_name(f".{path.name}.part")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise RunError(
            f"{path} cannot be written: {error.strerror or error}; choose another place with -o"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write a text; its folder is made if it is not there."""
    with replacing(path) as unfinished:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    with (
        replacing(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(path: Path, rows: Iterable[Iterable[Any]]) -> None:
    """Write a table, heads first; None is empty, true and false are 1 and 0.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    with (
        replacing(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows([_cell(cell) for cell in r] for r in rows)


def read_json(path: Path, *, form: int, kind: str, missing: str) -> dict[str, Any]:
    """The object in a JSON file that we wrote.

    Args:
        path: The file.
        form: The value that it must have under ``format``.
        kind: What it should be, for the message.
        missing: The message where there is no such file.

    Raises:
        RunError: There is none, it is damaged, or it has another format.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(missing) from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict) or found.get("format") != form:
        raise RunError(f"{path} is no {kind} of format {form}")
    return found


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return int(value) if isinstance(value, bool) else value

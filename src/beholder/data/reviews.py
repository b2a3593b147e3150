"""Several ranked texts about one image: rows of our own form, or of the published set's.

Ours: ``{"id", "image", "texts": [...], "ranks": {"anna": [2, 1, ...], ...}, "language",
"category", "prompt_ranks", "references"}``. Published (Wiki-ImageReview): the texts in columns
``sentence_1``, ``sentence_2``, ..., the ranks of each person in a column ``annotator_...``, the
category in ``genre``.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from beholder.base.files import make_folder, write_bytes
from beholder.data.headings import find_columns, map_option
from beholder.data.notes import RowNotes
from beholder.data.read import records
from beholder.data.reading import RowReading
from beholder.data.row import (
    RowError,
    candidate_columns,
    checked_field,
    columns_of,
    filled_text,
    given_field,
    identifier,
    language_of_row,
    media_path,
    plain_text,
    reference_texts,
    shorten,
)
from beholder.data.sources import read_rows
from beholder.errors import DataError
from beholder.records import Reviews
from beholder.text.languages import canonical_language

_SENTENCE = re.compile(r"sentence_([1-9][0-9]*)")
_NUMBERED = re.compile(
    r"(?:text|sentence|review|caption|candidate)s?[ _-]?([0-9]+)", re.I
)
_SINGLE = ("text", "review", "sentence")
_PUBLISHED = ("reviews", "genre", "img", "binary", "prompt_ranks")
_PICTURES = ("image", "img", "binary")
_ANNOTATOR = re.compile(r"annotator_.+")


def read_reviews(
    source: str | Path,
    *,
    language: str = "",
    media_root: Path | None = None,
    unpack: Path | None = None,
    notes: RowNotes | None = None,
) -> Iterator[Reviews | DataError]:
    """Read a file, or a folder of Parquet files, of ranked texts.

    Args:
        source: A ``.jsonl``, ``.csv``, ``.tsv`` or ``.parquet`` file; ``"-"`` for JSONL from
            standard input; or a folder whose ``.parquet`` files are read in order of their names.
        language: Language of rows that name none.
        media_root: Folder that absolute paths of images may point into; None refuses them all.
        unpack: Folder into which pictures that are in a table itself are written, under names
            made from their bytes; None leaves such pictures out.
        notes: Receives what is not read.

    Yields:
        Reviews per good row, a DataError (not raised) per bad one, in order.

    Raises:
        DataError: The file as a whole cannot be read.
    """
    row_numbers: dict[str, int] = {}

    def build(row: object, number: str) -> Reviews:
        if notes is not None and isinstance(row, Mapping):
            used = [name for name in row if _is_used(str(name))]
            notes.count_columns(row, "reviews", used)
        return reviews_from_row(
            _with_picture(row, unpack),
            default_id=number,
            language=language,
            media_root=media_root,
        )

    for path in _files(source):
        name = "stdin" if str(path) == "-" else str(path)
        yield from records(
            read_rows(
                path,
                name,
                RowReading(left_out=None if notes is None else notes.left_out),
            ),
            build,
            name=name,
            key=attrgetter("full_id"),
            row_numbers=row_numbers,
        )


def _is_used(name: str) -> bool:
    """Return whether a column is read for the texts and ranks of a row."""
    return (
        name in _PUBLISHED
        or _SENTENCE.fullmatch(name) is not None
        or _ANNOTATOR.fullmatch(name) is not None
    )


def _files(source: str | Path) -> list[str | Path]:
    if not Path(source).is_dir():
        return [source]
    files: list[str | Path] = sorted(Path(source).rglob("*.parquet"))
    if not files:
        raise DataError(
            str(source),
            "has no .parquet file; name a data file, or a folder of those",
        )
    return files


def reviews_from_row(
    row: object,
    *,
    default_id: str | None = None,
    language: str = "",
    media_root: Path | None = None,
) -> Reviews:
    """Check a row of either form.

    Raises:
        RowError: Names the first field that is wrong or missing.
    """
    if not isinstance(row, Mapping):
        raise RowError(f"expected an object with fields, got {shorten(row)}")
    fields = {
        str(key): value for key, value in row.items() if value is not None
    }
    # Read before the published form is converted, which keeps other fields.
    stated = language_of_row(fields)
    pictures = find_columns(fields, ("images",))
    if pictures and "image" not in fields:
        fields["image"] = fields[pictures[0]]
    if "texts" not in fields and "reviews" in fields:
        fields["texts"] = fields["reviews"]
    if "texts" not in fields:
        fields = _published(fields)
    if "id" not in fields and default_id is None:
        raise RowError("is missing", "id")
    texts = checked_field("texts", _texts, fields["texts"])
    if len(texts) < 2:
        raise RowError(
            f"expected two texts or more to rank, got {len(texts)}", "texts"
        )
    return Reviews(
        id=checked_field("id", identifier, fields.get("id", default_id)),
        texts=texts,
        ranks=_ranks(fields.get("ranks", {}), len(texts)),
        image=given_field(
            fields, "image", lambda value: media_path(value, media_root)
        ),
        language=stated or canonical_language(language),
        category=_word(fields, "category"),
        prompt_ranks=given_field(
            fields, "prompt_ranks", lambda v: _ranking(v, len(texts))
        ),
        references=checked_field(
            "references", reference_texts, fields.get("references", ())
        ),
    )


def reviews_row(reviews: Reviews) -> dict[str, object]:
    """Return the row of ranked texts in our form; ``read_reviews`` reads the same record."""
    row: dict[str, Any] = {
        "id": reviews.id,
        "image": reviews.image,
        "language": reviews.language,
        "category": reviews.category,
        "texts": list(reviews.texts),
        "ranks": {name: list(ranks) for name, ranks in reviews.ranks.items()},
        "prompt_ranks": None
        if reviews.prompt_ranks is None
        else list(reviews.prompt_ranks),
        "references": list(reviews.references),
    }
    return {key: value for key, value in row.items() if value}


def _published(row: Mapping[str, Any]) -> dict[str, object]:
    """Convert a row of the published form to one of ours."""
    numbers = sorted(int(m[1]) for m in map(_SENTENCE.fullmatch, row) if m)
    if not numbers:
        raise RowError(
            'is missing: a row holds all texts about an image, as a list such as ["A", "B"] in'
            f" texts or as columns sentence_1, sentence_2, ...; {columns_of(row)}{_hint(row)}",
            "texts",
        )
    # A gap in the numbers is a lost column, and ranks would belong to other
    # texts.
    expected = list(range(1, numbers[-1] + 1))
    if numbers != expected:
        missing_number = next(n for n in expected if n not in numbers)
        raise RowError("the column is missing", f"sentence_{missing_number}")
    people = {
        name: row[name] for name in sorted(row) if _ANNOTATOR.fullmatch(name)
    }
    if not people:
        raise RowError(
            f"no such column of a person's ranks, such as {list(range(1, len(numbers) + 1))};"
            f" {columns_of(row)}; without people's ranks, give the texts as a list in texts",
            "annotator_1",
        )
    copied_fields = {"id", "prompt_ranks", "references"}
    fields = {name: row[name] for name in copied_fields if name in row}
    fields["texts"] = [row[f"sentence_{n}"] for n in numbers]
    fields["ranks"] = people
    fields["category"] = row.get("genre", row.get("category", ""))
    if isinstance(row.get("image"), str):
        fields["image"] = row["image"]
    return fields


def _hint(row: Mapping[str, Any]) -> str:
    """Return advice for a row with texts in other columns; empty without such columns."""
    matches = filter(None, map(_NUMBERED.fullmatch, row))
    numbered = sorted((int(match[1]), match[0]) for match in matches)
    if len(numbered) > 1:
        new_names = (f"sentence_{n}" for n in range(1, len(numbered) + 1))
        return f"; rename {', '.join(name for _, name in numbered)} to {', '.join(new_names)}"
    names = (*candidate_columns(row), *_SINGLE)
    single = next(
        (name for name in names if isinstance(row.get(name), str)), None
    )
    if single is None:
        return ""
    return (
        f"; {single} holds one text: put the texts about an image into one row, or score them one"
        f" by one with beholder score FILE {map_option('candidate', single)}"
    )


def _with_picture(row: object, unpack: Path | None) -> object:
    """Return a row with the name of a file in place of the bytes of a picture."""
    if not isinstance(row, Mapping):
        return row
    for column in _PICTURES:
        value = row.get(column)
        data = value.get("bytes") if isinstance(value, Mapping) else value
        if not isinstance(data, bytes):
            continue
        if unpack is None:
            return {**row, "image": None}
        # The first bytes of a JPEG; published tables have JPEG or PNG.
        ending = "jpg" if data.startswith(b"\xff\xd8") else "png"
        # Named by their bytes: equal pictures are written once, and a second
        # reading changes nothing.
        name = f"{hashlib.sha256(data).hexdigest()[:24]}.{ending}"
        make_folder(unpack)
        write_bytes(unpack / name, data)
        return {**row, "image": name}
    return row


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise RowError(
            f'expected a list of texts such as ["A", "B"], got {shorten(value)}'
        )
    return tuple(
        checked_field(f"[{n}]", filled_text, text)
        for n, text in enumerate(value)
    )


def _ranks(value: object, n: int) -> dict[str, tuple[float | None, ...]]:
    # By annotator, or a list of rankings, which get numbers as names.
    if isinstance(value, Mapping):
        ranks_by_name = {str(name): ranks for name, ranks in value.items()}
    elif isinstance(value, Sequence) and not isinstance(value, str):
        ranks_by_name = {
            str(number): ranks for number, ranks in enumerate(value, start=1)
        }
    else:
        raise RowError(
            f"expected the ranks of each annotator, got {shorten(value)}",
            "ranks",
        )
    return {
        name: checked_field(
            f"ranks.{name}", lambda ranking: _ranking(ranking, n), ranks
        )
        for name, ranks in ranks_by_name.items()
    }


def _ranking(value: object, n: int) -> tuple[float | None, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        example = list(range(1, n + 1))
        raise RowError(
            f"expected a list of {n} ranks such as {example}, got {shorten(value)}"
        )
    if len(value) != n:
        raise RowError(f"expected {n} ranks, one per text, got {len(value)}")
    return tuple(
        checked_field(f"[{place}]", lambda cell: _rank(cell, n), rank)
        for place, rank in enumerate(value)
    )


def _rank(value: object, n: int) -> float | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 1 <= value <= n
    ):
        raise RowError(
            f"expected a rank from 1 to {n}, or null, got {shorten(value)}"
        )
    return float(value)


def _word(row: Mapping[str, Any], field: str) -> str:
    value = row.get(field, "")
    return (
        str(value)
        if isinstance(value, int)
        else str(checked_field(field, plain_text, value))
    )

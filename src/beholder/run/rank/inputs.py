"""The texts of a ranking run, read once and checked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from beholder.data import read_reviews, reviews_row
from beholder.errors import DataError
from beholder.records import Item, Reviews
from beholder.run.engine import bad_rows_error


@dataclass(frozen=True)
class Inputs:
    """What a run works on.

    Attributes:
        reviews: The sets of texts.
        bad_rows: Rows that were left out.
        digest: Hash over all sets, ranks included.
    """

    reviews: tuple[Reviews, ...]
    bad_rows: tuple[DataError, ...]
    digest: str

    def items(self) -> list[Item]:
        """Every text as an item that a metric can score, set by set."""
        return [
            Item(
                id=json.dumps([one.id, one.language, number], ensure_ascii=False),
                candidate=text,
                references=one.references,
                images=() if one.image is None else (one.image,),
                group={
                    name: value
                    for name, value in (("language", one.language), ("category", one.category))
                    if value
                },
            )
            for one in self.reviews
            for number, text in enumerate(one.texts, start=1)
        ]


def read_inputs(
    data: str,
    *,
    language: str = "",
    media_root: Path | None = None,
    unpack: Path | None = None,
    skip_bad_rows: bool = False,
) -> Inputs:
    """Read all rows; ``unpack`` is the folder for pictures that stand in a table itself.

    Raises:
        DataError: A file cannot be read, rows are wrong and ``skip_bad_rows`` is not set, or there
            is no row.
    """
    good: list[Reviews] = []
    bad: list[DataError] = []
    for row in read_reviews(data, language=language, media_root=media_root, unpack=unpack):
        if isinstance(row, DataError):
            bad.append(row)
        else:
            good.append(row)
    if bad and not skip_bad_rows:
        raise bad_rows_error(bad)
    if not good:
        raise DataError(data, "has no row of texts to rank")
    total = hashlib.sha256()
    for one in good:
        total.update(json.dumps(reviews_row(one), ensure_ascii=False).encode("utf-8"))
    return Inputs(tuple(good), tuple(bad), total.hexdigest())

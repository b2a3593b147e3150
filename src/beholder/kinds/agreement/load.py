"""Load a human-judgment set: by name from a folder or the hub, or any data file with judgments.

``SETS`` has the sets that beholder knows: where each is published, and how it is read.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from beholder.base.optional import require
from beholder.data import read_items
from beholder.data.columns import as_number
from beholder.data.headings import map_option
from beholder.data.labels import (
    has_decimal_commas,
    notes_on,
    read_labels,
    wrong_answers,
)
from beholder.data.notes import RowNotes
from beholder.data.read import good_rows
from beholder.data.row import RowError, shorten
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.agreement.preferences import has_second_text, pair_measures
from beholder.kinds.agreement.protocols import Measure, generic, protocol
from beholder.kinds.agreement.published_files import parquet_rows
from beholder.kinds.agreement.subset import take_subset
from beholder.options import DataOptions
from beholder.records import Item
from beholder.run.labels import check_answers, with_labels


@dataclass(frozen=True)
class HumanSet:
    """A published set of human judgments: a row of ``sets.csv``.

    Attributes:
        name: Name on the command line.
        form: Argument of ``reader``: a ``folder`` of published files, such a folder and names of
            its ``columns``, or the number and cells of a row of a table (``rows``).
        reader: Yields the items.
        hub: Name, configuration and split on the Hugging Face hub; empty where it is not there.
        what: The question that people judged, one line.
        where: Place of publication.
        licence: As its source states it.
    """

    name: str
    form: str
    reader: Callable[..., Iterator[Item]]
    hub: Sequence[str]
    what: str
    where: str
    licence: str


def _read_sets() -> Mapping[str, HumanSet]:
    path = Path(__file__).with_name("sets.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["name"]: HumanSet(
                **{
                    **row,
                    # The table names readers, so that a set is one row in one
                    # place.
                    "reader": resolve_name(f"{__package__}.{row['reader']}"),
                    "hub": row["hub"].split(" ") if row["hub"] else (),
                }
            )
            for row in csv.DictReader(file)
        }


SETS = _read_sets()

LONG_SETS = ("iiw400_sxs", "docci_test_sxs")
"""Judged together under the name ``long_sxs``: each alone is small."""


@dataclass(frozen=True)
class JudgedSet:
    """Items with human judgments.

    Attributes:
        name: Name of the set, which fixes the protocol, or of the file.
        has_protocol: Whether the set has a protocol of its own.
        items: One per judged text, or per judged pair (the second text in ``meta``).
        bad_rows: Rows and answers of a data file that were left out.
        subset: Sentence that counts the items of a subset; empty for the whole set.
        notes: Range and counts of each label, and what else a reader of figures must know.
        row_notes: Notes of the reader on the rows; a run adds its notes on texts.
    """

    name: str
    has_protocol: bool
    items: tuple[Item, ...]
    bad_rows: tuple[DataError, ...] = ()
    subset: str = ""
    notes: tuple[str, ...] = ()
    row_notes: RowNotes = field(default_factory=lambda: RowNotes("none"))

    def measures(
        self, labels: Sequence[str], kind: str
    ) -> tuple[Measure, ...]:
        """Return the measures of its protocol, or of labels: the named ones, else all that fit."""
        if self.has_protocol and not labels:
            return protocol(self.name)
        if any(map(has_second_text, self.items)):
            return tuple(pair_measures(self.items, labels or None, kind))
        return generic(self.items, labels or None, kind)


def load(
    source: str,
    data: str | None = None,
    rows: DataOptions | None = None,
    labels: Sequence[Path] = (),
    subset: Path | None = None,
    chosen: Sequence[str] = (),
) -> JudgedSet:
    """Load judged items.

    Args:
        source: Name of a known set, or a data file with ``judgments``. A file whose rows name a
            known set in ``dataset`` is taken as that set.
        data: For a known set: the folder with its published files (or with ``NAME.jsonl``), a
            folder of several sets (``NAME/``, as ``agree --suite`` takes it), a data file, or
            ``hf:`` to fetch it from the hub (extra ``datasets``).
        rows: Selection of items, and the columns for a reader's fields; wrong rows can
            be left out of data files alone, because published files are taken whole.
        labels: Files with judgments of some rows of a data file.
        subset: File that names the pictures to keep: a JSON list, or a name a line.
        chosen: Labels that will be used; all that are numbers or verdicts if empty. Wrong answers
            of other labels do not matter.

    Raises:
        ConfigError: No such set or file (the message says where it is published), or no item of
            the subset.
        DataError: The files cannot be read, contain no judgments, or contain wrong rows.
    """
    options = rows or DataOptions()
    if labels and not Path(source).is_file():
        raise ConfigError(
            f"--labels adds judgments to a data file; {source!r} is not a file"
        )
    # The limit counts items of the subset, so it is applied last.
    judged = _load(source, data, replace(options, limit=None), labels, chosen)
    if subset is not None:
        items, sentence = take_subset(judged.items, subset)
        judged = replace(judged, items=items, subset=sentence)
    return replace(judged, items=judged.items[: options.limit])


def _load(
    source: str,
    data: str | None,
    options: DataOptions,
    labels: Sequence[Path] = (),
    chosen: Sequence[str] = (),
) -> JudgedSet:
    # Ids are unique within a set only, so the name of the set goes before
    # them.
    if source == "long_sxs":
        parts = [_load(name, data, options) for name in LONG_SETS]
        items = tuple(
            replace(
                item, id=f"{part.name}/{item.id}", group={"set": part.name}
            )
            for part in parts
            for item in part.items
        )
        return JudgedSet(
            source,
            True,
            items,
            tuple(row for part in parts for row in part.bad_rows),
        )
    if Path(source).is_file():
        return _from_file(Path(source), None, options, labels, chosen)
    if source not in SETS:
        raise ConfigError(
            f"{source!r} is neither a file nor a known set; known are:"
            f" {', '.join([*SETS, 'long_sxs'])}"
        )
    human_set = SETS[source]
    if data is None:
        hub = "; --data hf: fetches it" if human_set.hub else ""
        raise ConfigError(
            f"{source} is not part of beholder: {human_set.where}; licence: {human_set.licence}."
            f" Get it and name its folder with --data FOLDER{hub}"
        )
    folder = folder_of(human_set.name, Path(data))
    # A data file with the set's name keeps the set's protocol: a converted
    # copy of it.
    file = _data_file(human_set, folder)
    if file is not None:
        return replace(
            _from_file(file, human_set.name, options),
            name=source,
            has_protocol=True,
        )
    items = tuple(_known_items(human_set, str(folder), options.map))
    if not items:
        raise DataError(
            data,
            f"contains no row of {source}; it is published as: {human_set.where}",
        )
    return JudgedSet(source, True, items)


def folder_of(name: str, path: Path) -> Path:
    """Return the folder of a set: its own in a folder of several sets, else the path itself."""
    set_folder = path / name
    return set_folder if set_folder.is_dir() else path


def _data_file(human_set: HumanSet, path: Path) -> Path | None:
    """Return the data file of a set at a path or in it; None for files as published."""
    if path.is_file():
        return path
    paths = (
        path / f"{human_set.name}{ending}"
        for ending in (".jsonl", ".jsonl.gz", ".jsonl.xz")
    )
    return next((file for file in paths if file.is_file()), None)


def _known_items(
    human_set: HumanSet, data: str, columns: Mapping[str, str]
) -> Iterator[Item]:
    if data.startswith("hf:"):
        yield from _read_rows(human_set, _fetch_rows(human_set), columns)
        return
    path = Path(data)
    if not path.is_dir():
        raise DataError(data, "is neither a file nor a folder")
    if human_set.form == "rows":
        # A split that others train on is not read if the test split is there.
        split = f"{human_set.hub[2]}-*.parquet"
        pattern = split if any(path.rglob(split)) else "*.parquet"
        yield from _read_rows(human_set, parquet_rows(path, pattern), columns)
        return
    try:
        yield from human_set.reader(
            path, *([columns] if human_set.form == "columns" else [])
        )
    # These name the file or option already.
    except (DataError, ConfigError):
        raise
    except ItemError as error:
        raise DataError(data, str(error)) from error
    except _WRONG_FORM as error:
        missing = (
            f": field {error.args[0]!r} is missing"
            if isinstance(error, KeyError)
            else ""
        )
        raise DataError(
            data,
            f"is not in the published form of {human_set.name}{missing}; expected the files of"
            f" {human_set.where}",
        ) from error


_WRONG_FORM = (LookupError, TypeError, ValueError, AttributeError)
"""Errors that a reader raises on data that are not in the published form."""


def _from_file(
    path: Path,
    name: str | None,
    options: DataOptions,
    labels: Sequence[Path] = (),
    chosen: Sequence[str] = (),
) -> JudgedSet:
    wrong_rows: list[DataError] = []
    line_numbers: dict[str, int] = {}
    row_notes = RowNotes("none")
    rows = read_items(
        path, options, line_numbers=line_numbers, notes=row_notes
    )
    items = with_labels(
        list(good_rows(rows, options, wrong_rows, name=str(path))),
        labels,
        chosen,
        options.map,
    )
    # Numbers and verdicts may be text in a table; all of a column are read the
    # same way.
    items, columns = read_labels(
        items,
        str(path),
        line_numbers=line_numbers,
        decimal_commas=has_decimal_commas(path),
    )
    # A wrong answer is a bad row only where bad rows may be skipped; else it
    # is an error.
    if options.skip_bad_rows:
        wrong_rows += wrong_answers(columns, chosen)
    else:
        check_answers(columns, chosen, len(items))
    if not any(item.judgments for item in items):
        # The likely cause is a label column under another name, so columns of
        # numbers are named.
        numbers = {
            name
            for item in items
            for name, value in item.meta.items()
            if isinstance(
                as_number(value) if isinstance(value, str) else value,
                int | float,
            )
        }
        hint = (
            f"; numbers are in {', '.join(sorted(numbers)[:10])}: map one, as"
            f" {map_option(f'judgments.{min(numbers)}', min(numbers))}"
            if numbers
            else ""
        )
        raise DataError(
            str(path), f"has no row with judgments to agree with{hint}"
        )
    # Rows exported by beholder name their set.
    if name is None:
        name = str(items[0].meta.get("dataset", ""))
    is_known = name in SETS
    # In this set's data files the pictures are the ids of videos.
    if is_known and name == "vatex_eval":
        items = [
            replace(item, video=item.images[0], images=())
            if item.images
            else item
            for item in items
        ]
    # Run directories take the name of the file without its endings.
    name = name if is_known else path.name.partition(".")[0]
    notes = tuple(notes_on(items, columns, chosen))
    n_pairs = sum(map(has_second_text, items))
    if n_pairs and not is_known:
        alone = f"; {len(items) - n_pairs:,} rows without one are left out"
        more = alone if n_pairs < len(items) else ""
        notes += (
            f"pairs: {n_pairs:,} rows have a second text, candidate_b{more}",
        )
    return JudgedSet(
        name,
        is_known,
        tuple(items),
        tuple(wrong_rows),
        notes=notes,
        row_notes=row_notes,
    )


def _fetch_rows(human_set: HumanSet) -> Any:
    """Fetch the rows of a table on the hub, without its pictures."""
    if not human_set.hub:
        raise ConfigError(
            f"{human_set.name} is not on the hub; it is published as: {human_set.where}"
        )
    datasets = require(
        "datasets", extra="datasets", purpose=f"{human_set.name} from the hub"
    )
    name, configuration, split = human_set.hub
    rows = datasets.load_dataset(name, configuration or None, split=split)
    # Reading a row would decode its pictures, which no reader needs.
    pictures = [
        column
        for column in ("image", "img", "binary")
        if column in rows.column_names and not isinstance(rows[0][column], str)
    ]
    return rows.remove_columns(pictures)


def _read_rows(
    human_set: HumanSet,
    rows: Iterable[Mapping[str, Any]],
    columns: Mapping[str, str],
) -> Iterator[Item]:
    n_judgments: Counter[str] = Counter()
    for number, row in enumerate(rows):
        mapped = {
            name: row[column]
            for name, column in columns.items()
            if column in row
        }
        try:
            for item in human_set.reader(number, {**row, **mapped}):
                n_judgments[item.id] += 1
                occurrence = n_judgments[item.id]
                # Several people may judge one text; ids must be unique.
                name = (
                    item.id if occurrence == 1 else f"{item.id}/{occurrence}"
                )
                yield replace(item, id=name)
        except (ItemError, *_WRONG_FORM) as error:
            if isinstance(error, ItemError | RowError):
                reason = str(error)
            elif isinstance(error, KeyError):
                reason = (
                    f"has no column {error}; the row has: {', '.join(row)}; name the column with"
                    f" --map {error.args[0]}=COLUMN"
                )
            else:
                values = ", ".join(
                    f"{column}={shorten(value)}"
                    for column, value in row.items()
                )
                reason = (
                    f"is not in the published form ({human_set.where}); the row has: {values}; if"
                    " these are rows of another set, name the folder of this one with --data"
                )
            raise DataError(human_set.name, reason, line=number + 1) from error

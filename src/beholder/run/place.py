"""A folder of Parquet files: on a disk, or in a store of objects (``s3://``, ``gs://``)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq

from beholder.base.files import file_system, is_url
from beholder.errors import RunError

_ONCE_A_COLUMN = ("asker", "status", "signature", "error", "reason")
"""Columns that hold few different texts; bytes of outcomes are compressed already."""


def named_schema(name: str) -> pa.Schema:
    """Return the schema of a Parquet file, from ``schemas.json``."""
    schemas = json.loads(
        Path(__file__).with_name("schemas.json").read_text("utf-8")
    )
    return pa.schema(
        [(column, _parse_type(kind)) for column, kind in schemas[name].items()]
    )


def _parse_type(kind: str) -> pa.DataType:
    inner = kind.removeprefix("list<").removesuffix(">")
    return (
        pa.type_for_alias(kind)
        if inner == kind
        else pa.list_(_parse_type(inner))
    )


@dataclass(frozen=True)
class PartsPlace:
    """The location of Parquet files; small when it is pickled.

    Attributes:
        url: A URL of a file system that pyarrow knows, or an absolute path: other machines and
            processes work elsewhere.
    """

    url: str

    @classmethod
    def from_url(cls, name: str | Path) -> PartsPlace:
        """Return the place of a URL or a path."""
        return cls(str(name) if is_url(name) else str(Path(name).resolve()))

    @cached_property
    def _files_and_root(self) -> tuple[fs.FileSystem, str]:
        # Connections are opened on first use, on the machine that uses them.
        if is_url(self.url):
            files, root = file_system(self.url)
            return files, root.rstrip("/")
        return fs.LocalFileSystem(), self.url

    def __reduce__(self) -> tuple[type[PartsPlace], tuple[str]]:
        return PartsPlace, (self.url,)  # connections stay here

    def names(self, folder: str) -> list[str]:
        """Return names of the Parquet files of a folder, in order; none if there is no folder.

        Raises:
            RunError: It cannot be looked at.
        """
        with self._locate(folder) as (files, path):
            entries = files.get_file_info(
                fs.FileSelector(path, allow_not_found=True)
            )
        names = (info.base_name for info in entries if info.is_file)
        return sorted(
            name
            for name in names
            if name.endswith(".parquet") and name[0] != "."
        )

    def holds(self, name: str) -> bool:
        """Return whether a file exists.

        Raises:
            RunError: It cannot be looked at.
        """
        with self._locate(name) as (files, path):
            return bool(files.get_file_info(path).is_file)

    def write(self, name: str, table: pa.Table) -> None:
        """Write a file whole or not at all; one of that name is replaced.

        Raises:
            RunError: It cannot be written.
        """
        dictionary_columns = [
            column for column in _ONCE_A_COLUMN if column in table.column_names
        ]
        with self._locate(name) as (files, path):
            folder, _, file_name = path.rpartition("/")
            # Readers skip names with a dot, so that a file appears whole or not at all.
            unfinished = f"{folder}/.{file_name}.{uuid.uuid4().hex}"
            files.create_dir(folder, recursive=True)
            pq.write_table(
                table,
                unfinished,
                filesystem=files,
                compression="zstd",
                use_dictionary=dictionary_columns,
            )
            files.move(unfinished, path)

    def read_columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Read some columns of a file.

        Raises:
            RunError: It cannot be read, or a column is missing.
        """
        with (
            self._locate(name) as (files, path),
            pq.ParquetFile(path, filesystem=files) as file,
        ):
            # pyarrow would leave a missing column out without an error.
            missing_columns = set(columns) - set(file.schema_arrow.names)
            if missing_columns:
                raise RunError(
                    f"{self.url}/{name} is damaged: it has no column {missing_columns}"
                )
            return file.read(columns=list(columns), use_threads=False)

    def n_rows(self, name: str) -> int:
        """Return the number of rows of a file, from its footer.

        Raises:
            RunError: It cannot be read.
        """
        with (
            self._locate(name) as (files, path),
            pq.ParquetFile(path, filesystem=files) as file,
        ):
            return int(file.metadata.num_rows)

    @contextmanager
    def _locate(self, name: str) -> Iterator[tuple[fs.FileSystem, str]]:
        """Open the file system and the path of a name there; errors become RunError."""
        try:
            files, root = self._files_and_root
            yield files, f"{root}/{name}"
        except (OSError, pa.ArrowException) as error:
            raise RunError(
                f"{name} of the run's parts at {self.url} cannot be used: {error}; every machine"
                " that works on the run must reach that place and may write there"
            ) from error

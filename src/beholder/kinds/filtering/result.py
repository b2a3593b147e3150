"""The result of a filter, as the other commands read it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from beholder.base import files
from beholder.data.folders import PICTURES, files_below
from beholder.errors import RunError
from beholder.kinds.filtering.config import TEXT_ENDING
from beholder.kinds.filtering.source_row import SourceSettings

FORMAT = 1
RESULT, VERDICTS = "result.json", "verdicts"
"""The result of a job, and the folder of its decisions."""


class SourceFile(msgspec.Struct, frozen=True):
    """A source as it was when it was filtered.

    Attributes:
        name: Its name, as the user named it.
        parts: First and last place, and number of rows, of each part.
        form: Its form.
        stamp: Size, and a number that changes with the content; see ``stamp_of``.
    """

    name: str
    form: str
    parts: tuple[tuple[int, int, int], ...]
    stamp: tuple[int, int]


class FilterResult(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``result.json``.

    Attributes:
        format: Version of the file's format.
        version: Version of beholder.
        digest: Digest of settings and sources: labels belong to one digest.
        options: Options that are not the default.
        metrics: Signed metrics.
        columns: Column by field, as mapped.
        media_root: Folder of the pictures, if named.
        files: Sources, in order.
        left_out: Why sources were left out, by name.
        n_rows: Rows in all.
        decisions: Rows by decision.
        reasons: Rows by the reason that decided.
        noted: Rows by any reason.
        strata: Rows by stratum.
        cautions: What should be looked at.
    """

    format: int = FORMAT
    version: str
    digest: str
    options: dict[str, Any]
    metrics: tuple[str, ...]
    columns: dict[str, str]
    media_root: str | None = None
    files: tuple[SourceFile, ...]
    left_out: dict[str, str]
    n_rows: int
    decisions: dict[str, int]
    reasons: dict[str, int]
    noted: dict[str, int]
    strata: dict[str, int]
    cautions: tuple[str, ...]

    def describe(self) -> str:
        """Return the counts in a sentence."""
        dropped, aside = (
            self.decisions.get(name, 0) for name in ("drop", "quarantine")
        )
        share = 100 * dropped / self.n_rows
        sentence = (
            f"dropped {dropped:,} of {self.n_rows:,} rows ({share:.1f} %)"
        )
        if aside:
            sentence += f", set {aside:,} aside"
        return f"{sentence}; kept {self.decisions.get('keep', 0):,}"

    @property
    def settings(self) -> SourceSettings:
        """The settings by which the sources are read."""
        return SourceSettings(
            self.columns, self.options.get("text_ending", TEXT_ENDING)
        )


def read_result(folder: Path) -> FilterResult:
    """Return the result of a job that is finished.

    Raises:
        RunError: There is none, or it is damaged.
    """
    content = files.read_json(
        folder / RESULT,
        form=FORMAT,
        kind="result of a filter",
        missing_message=f"{folder} has no finished filter; run 'beholder filter DATA -o {folder}'",
    )
    return files.as_record(
        content, FilterResult, folder / RESULT, "run the filter again"
    )


def check_unchanged(result: FilterResult) -> None:
    """Raise a ``RunError`` if a source is not what was filtered."""
    for file in result.files:
        if stamp_of(file.name, result.settings) != file.stamp:
            raise RunError(
                f"{file.name} changed since it was filtered; run the filter again"
            )


def stamp_of(source: str, settings: SourceSettings) -> tuple[int, int]:
    """Return the size of a source, and a number that another content would change.

    The number of a file is its time of change; that of a folder a digest of the names, sizes and
    times of its pictures and texts.
    """
    path = Path(source)
    if not path.is_dir():
        status = path.stat()
        return status.st_size, status.st_mtime_ns
    total, digest = 0, sha256()
    for name in files_below(path, PICTURES | {settings.text_ending}):
        status = (path / name).stat()
        total += status.st_size
        line = f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n"
        digest.update(line.encode("utf-8", "surrogatepass"))
    # A reader of JSON may keep 53 bits of a number.
    return total, int.from_bytes(digest.digest()[:6])

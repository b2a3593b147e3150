"""What ``beholder narrate extract`` does between its options and its table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from beholder.data import read_frames, read_sequences, with_exif_dates, write_sequences
from beholder.data.read import _all_bad as bad_rows_error
from beholder.embed.images import image_embedder, usable_frames
from beholder.errors import ConfigError, DataError
from beholder.narratives.extract import Extraction, ExtractionTask, extract
from beholder.records import Frame

_SHOWN = 10


def extract_and_print(
    pictures: str,
    out: Path,
    how: Extraction,
    *,
    k: int | None,
    ends: tuple[str | None, str | None],
    like: Path | None,
    embedder: str,
    images: Path | None,
    columns: Mapping[str, str],
    year: int | None,
    skip_bad_rows: bool,
) -> None:
    """Read a collection, extract, write the sequences, print a line for each."""
    if (k is None) == (like is None):
        raise ConfigError("say what to extract: -k (with --source and --target), or --like FILE")
    source = Path(pictures)
    root = images or (source if source.is_dir() else source.parent)
    frames = _good(
        read_frames(pictures, columns=columns, year=year, media_root=root), skip_bad_rows
    )
    if not frames:
        raise DataError(pictures, "has no picture")
    frames = with_exif_dates(frames, root)
    maker = image_embedder(embedder)
    kept, vectors, reasons = usable_frames(maker, frames, root)
    _say_left_out(reasons)
    tasks = [ExtractionTask("storyline", k or 0, *ends)]
    if like is not None:
        given = [row for row in read_sequences(like, frames) if not isinstance(row, DataError)]
        tasks = [ExtractionTask.like(narrative) for narrative in given]
    found = list(extract(kept, vectors, tasks, how))
    write_sequences(out, (each.narrative for each in found))
    table = Table("id", "pictures", "weakest link", "mean", "weakest step")
    for each in found:
        steps, shots = each.storyline.steps, each.narrative.frames
        at = steps.index(min(steps))
        table.add_row(
            escape(each.narrative.id),
            str(len(shots)),
            f"{each.storyline.weakest:.3f}",
            f"{each.storyline.mean:.3f}",
            escape(f"{shots[at].id} → {shots[at + 1].id}"),
        )
    Console().print(table)
    for warning in dict.fromkeys(w for each in found for w in each.storyline.warnings):
        typer.echo(f"beholder: warning: {warning}", err=True)
    distinct = len({each.storyline.positions for each in found})
    if distinct < len(found):
        typer.echo(
            f"beholder: {len(found)} storylines, {distinct} of them different; maxmin only varies"
            " with the order within a date, --alternatives asks for paths that differ",
            err=True,
        )
    if not maker.learned:
        typer.echo(
            f"beholder: {maker.identity} vectors tell looks, not meaning; clip:NAME or npz:FILE"
            " brings learned ones",
            err=True,
        )
    typer.echo(f"{found[0].signature}\nsequences: {out}", err=True)


def _good(rows: Iterable[Frame | DataError], skip_bad_rows: bool) -> list[Frame]:
    frames: list[Frame] = []
    bad: list[DataError] = []
    for row in rows:
        if isinstance(row, DataError):
            bad.append(row)
        else:
            frames.append(row)
    if bad and not skip_bad_rows:
        raise bad_rows_error(bad)
    for error in bad:
        typer.echo(f"left out: {error}", err=True)
    return frames


def _say_left_out(reasons: list[str]) -> None:
    for reason in reasons[:_SHOWN]:
        typer.echo(f"left out: {reason}", err=True)
    if len(reasons) > _SHOWN:
        typer.echo(f"left out: {len(reasons) - _SHOWN} more pictures", err=True)

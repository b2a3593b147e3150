"""The page of a run that made texts: what came out, beside the picture; one file, no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from beholder import files
from beholder.records import Estimate, Item, ItemFailure
from beholder.report.pages import jpeg_uri
from beholder.report.rank.page import render_page
from beholder.run import manifest
from beholder.run.rows import reviews, rows
from beholder.run.rows.askers import category_of
from beholder.run.rows.engine import MAX_SHOWN
from beholder.run.rows.making import MadePart, parts_of
from beholder.run.store import Store
from beholder.run.subjects import KINDS, SubjectKind
from beholder.run.thumbs import thumb

S = TypeVar("S")

_MAX_FAILURES = 100


@dataclass(frozen=True, slots=True)
class MadeValue:
    """One value of one system over the run.

    Attributes:
        system: Name of the system.
        name: Name of the value.
        help: What it measures.
        estimate: Its mean with interval.
    """

    system: str
    name: str
    help: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Block:
    """What one system made of one subject.

    Attributes:
        system: Name of the system.
        parts: The texts; empty where nothing fits or nothing came out.
        failure: Why nothing came out, or None.
    """

    system: str
    parts: tuple[MadePart, ...]
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class MadeSubject:
    """One subject of the page.

    Attributes:
        position: Place in the run.
        id: Its id.
        group: Its group columns.
        text: The text that it had, or empty.
        thumb: Whether there is a thumbnail.
        blocks: What the systems made of it; none of those that are not finished.
    """

    position: int
    id: str
    group: Mapping[str, str]
    text: str
    thumb: bool
    blocks: tuple[Block, ...]


def write_made(run_folder: Path, output: Path | None = None) -> Path:
    """Draw a run of captions, categories, translations or reviews as one HTML file.

    Args:
        run_folder: The run directory.
        output: The file to write; ``report.html`` in the run directory if None.

    Returns:
        The file.

    Raises:
        RunError: The folder holds no such run.
    """
    target = output or run_folder / "report.html"
    log = manifest.read(run_folder)
    manifest.check_kind(run_folder, rows.KIND, reviews.KIND)
    with Store.read(run_folder) as store:
        page = _render(store, log)
    files.write_text(target, page)
    return target


def _render(store: Store, log: Mapping[str, Any]) -> str:
    systems: Mapping[str, str] = log["settings"]["systems"]
    askers = {entry["name"]: entry for entry in log["metrics"]}
    n = log["data"]["n_items"]
    shown = list(islice(_subjects(store, systems, askers), min(n, MAX_SHOWN)))
    failures = [
        (subject, system, failure.message)
        for system, name in systems.items()
        for subject, failure in _failures(store, name, n)
    ]
    pictures = "".join(
        f'.i{one.position} {{ background-image: url("{_thumb(store, one)}"); }}\n'
        for one in shown
        if one.thumb
    )
    return render_page(
        "made.html.j2",
        ("page.css", "rank.css", "made.css"),
        pictures,
        log=log,
        name=log["data"]["source"],
        asked=dict.fromkeys(entry["name"].partition("(")[0] for entry in log["metrics"]),
        signatures=[entry["signature"] for entry in log["metrics"]],
        systems=systems,
        values=_values(log, systems),
        cautions=_cautions(log, systems),
        categories=_categories(store, systems, askers, n),
        failures=failures[:_MAX_FAILURES],
        n_failures=len(failures),
        subjects=shown,
        n_more=n - len(shown),
    )


def _thumb(store: Store, subject: MadeSubject) -> str:
    return jpeg_uri(thumb(store.folder, subject.position).read_bytes())


def _subjects(
    store: Store, systems: Mapping[str, str], askers: Mapping[str, Any]
) -> Iterator[MadeSubject]:
    kind = KINDS[next(iter(askers.values()))["subject"]]
    for position, subject in store.subjects(kind):
        yield subject_of(store, systems, kind, position, subject)


def subject_of(
    store: Store, systems: Mapping[str, str], kind: SubjectKind[S], position: int, subject: S
) -> MadeSubject:
    """One subject with what systems made of it.

    Args:
        store: The run's store.
        systems: Name of the asker of each system.
        kind: What the subject is.
        position: Its place in the run.
        subject: The subject.
    """
    return MadeSubject(
        position=position,
        id=kind.id(subject),
        group=kind.group(subject),
        text=subject.candidate if isinstance(subject, Item) else "",
        thumb=thumb(store.folder, position).is_file(),
        blocks=tuple(_blocks(store, systems, position)),
    )


def _blocks(store: Store, systems: Mapping[str, str], position: int) -> Iterator[Block]:
    for system, name in systems.items():
        outcome = store.score(name, position)
        if isinstance(outcome, ItemFailure):
            yield Block(system, (), outcome.message)
        elif outcome is not None:
            yield Block(system, parts_of(outcome.detail))


def _failures(store: Store, name: str, n: int) -> Iterator[tuple[str, ItemFailure]]:
    kind = store.kind_of(name)
    found = {position: failure for position, failure in store.failures(name) if position < n}
    for position, subject in store.subjects(kind, list(found)):
        yield kind.id(subject), found[position]


def _values(log: Mapping[str, Any], systems: Mapping[str, str]) -> list[MadeValue]:
    results = manifest.results(log)
    described = {entry["name"]: entry["values"] for entry in log["metrics"]}
    return [
        MadeValue(system, value["name"], value["help"], results[name].values[value["name"]])
        for system, name in systems.items()
        if name in results
        for value in described[name]
        if value["name"] in results[name].values
    ]


def _cautions(log: Mapping[str, Any], systems: Mapping[str, str]) -> list[tuple[str, str]]:
    """System and caution."""
    results = manifest.results(log)
    named = [(system, results[name]) for system, name in systems.items() if name in results]
    return [(system, caution) for system, result in named for caution in result.cautions]


def _categories(
    store: Store, systems: Mapping[str, str], askers: Mapping[str, Any], n: int
) -> dict[str, list[tuple[str, int]]]:
    """Per system that sorts: how many subjects fell into each category."""
    found = {}
    for system, name in systems.items():
        if "categories" in askers[name]["config"]:
            counts = Counter(category_of(parts_of(detail)) for _, detail in store.details(name, n))
            found[system] = counts.most_common()
    return found

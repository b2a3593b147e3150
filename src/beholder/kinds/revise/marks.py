"""The marks of a run of scores, or of ``beholder lint``, as rows with the field ``marks``."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from beholder.errors import ConfigError, ItemError
from beholder.judges.operations import TextMark
from beholder.lint.linting import Choice, lint
from beholder.lint.rules import LintFinding
from beholder.records import Item, ItemScore, Unit
from beholder.run import SCORES, manifest
from beholder.run.rows.inputs import rebased
from beholder.run.store import Store
from beholder.text import RuleSplitter

RULES = ("ALT104", "ALT109", "ALT110", "ALT112", "ALT114")
"""Rules of ``beholder lint`` whose findings are corrected."""


def marks_of(item: Item) -> list[TextMark]:
    """The marks of a row.

    Raises:
        ItemError: They have another form.
    """
    try:
        return msgspec.convert(item.meta.get("marks"), list[TextMark])
    except msgspec.ValidationError as error:
        raise ItemError(f"marks: {error}") from None


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def marked(source: Path, folder: Path, metric: str | None) -> list[Item]:
    """Rows with at least one mark.

    Args:
        source: A run of scores, or a file that ``beholder lint`` reads.
        folder: Folder that image paths become relative to.
        metric: Whose marks of a run; None takes the first metric that has any.

    Raises:
        ConfigError: Nothing is marked.
        RunError: The run is of another kind.
        DataError: The file cannot be read.
    """
    is_run = manifest.is_run(source)
    rows = list(_of_run(source, folder, metric) if is_run else _of_lint(source))
    if not rows:
        what = "metric such as posh or accord" if is_run else f"finding of {', '.join(RULES)}"
        raise ConfigError(f"{source} has no mark to correct; name one with a {what}")
    return rows


def _of_run(run: Path, folder: Path, metric: str | None) -> Iterator[Item]:
    manifest.check_kind(run, SCORES)
    root = manifest.data_folder(run) or Path()
    data = Path(manifest.read(run).data.source)
    source = {"file": str(data), "digest": digest(data)} if data.is_file() else {}
    with Store.read(run) as store:
        names = [asker.name for asker in store.askers()]
        for name in names if metric is None else [metric]:
            found = list(_of_metric(store, name)) if name in names else []
            for item, marks in found:
                images = tuple(rebased(image, root, folder) for image in item.images)
                meta = {**item.meta, "marks": list(map(asdict, marks)), "source": source}
                yield replace(item, images=images, meta=meta)
            if found:
                return


def _of_metric(store: Store, name: str) -> Iterator[tuple[Item, list[TextMark]]]:
    for position, item in store.items():
        found = store.score(name, position)
        units = found.units if isinstance(found, ItemScore) else ()
        marks = dict.fromkeys(mark for unit in units if (mark := _mark(unit, item)) is not None)
        right = {mark.instead for mark in marks if mark.span is not None}
        if kept := [mark for mark in marks if mark.span is not None or mark.text not in right]:
            yield item, kept


def _mark(unit: Unit, item: Item) -> TextMark | None:
    if unit.detail.get("unsure") or not unit.spans:
        return None
    if unit.side == "candidate" and unit.verdict in ("contradicted", "mistake"):
        start, end = unit.spans[0][0], unit.spans[-1][1]
        instead = str(unit.detail.get("contradiction") or "")
        return TextMark("mistake", item.candidate[start:end], (start, end), instead)
    if unit.side == "reference" and unit.verdict == "omission" and not unit.detail.get("under"):
        reference = item.references[unit.reference_index or 0]
        place = unit.spans[0][0]
        parts = RuleSplitter().split(reference)
        around = next((one.of(reference) for one in parts if one.start <= place < one.end), "")
        return TextMark("omission", unit.text, None, around)
    return None


def _of_lint(source: Path) -> Iterator[Item]:
    rows: dict[tuple[str, str], tuple[LintFinding, list[TextMark]]] = {}
    for one in lint([source], choice=Choice(select=frozenset(RULES))).findings:
        if one.span is not None:
            place = f"{one.line}:{one.column}" if one.column else one.locator
            marks = rows.setdefault((f"{one.file}#{place}", one.text), (one, []))[1]
            marks.append(TextMark(one.rule, one.text[slice(*one.span)], one.span))
    names = Counter(name for name, _ in rows)
    for (name, text), (one, marks) in rows.items():
        file = source / one.file if source.is_dir() else source
        where: dict[str, Any] = {"file": str(file), "digest": digest(file)}
        where |= {key: getattr(one, key) for key in ("line", "column", "locator", "text_from")}
        group = {"language": one.language} if one.language else {}
        meta = {"marks": list(map(asdict, marks)), "source": where}
        unique = name if names[name] == 1 else f"{name} ({one.language or text})"
        yield Item(unique, text, group=group, meta=meta)

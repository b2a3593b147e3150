"""Granular marks: mistakes in the text under evaluation, omissions in the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from beholder.data.marks import SIDES, Label
from beholder.data.row import shorten, to_row
from beholder.errors import ItemError
from beholder.kinds.annotation.agreement import of_spans
from beholder.kinds.annotation.records import AnnotationUnit, Judgments, State
from beholder.kinds.annotation.tasks.base import (
    MAX_PARTS,
    DataKind,
    Region,
    Task,
    one_choice,
    pictures_of,
    region,
)
from beholder.records import Item, ItemScore, Span
from beholder.run.reliability import Reliability
from beholder.stats.spans import TokenSpan
from beholder.text.tokenize import words

MARK_KINDS = ("object", "attribute", "relation", "number", "other")
"""What is wrong or missing in a marked span."""

SEVERITIES = ("minor", "major")

_PART = re.compile(r"(mistakes|omissions):(\d{1,7})-(\d{1,7})", re.ASCII)
_TEXTS: Mapping[Label, tuple[int, str]] = {
    "mistakes": (0, "candidate"),
    "omissions": (1, "reference"),
}
_BAD = {"mistakes": ("mistake", "unstated", "contradicted"), "omissions": ("omission",)}
_KIND_OF = {"entity": "object", "attribute": "attribute", "relation": "relation"}


class MarkTask(Task):
    """Spans of mistakes and of omissions, each with a kind and a severity.

    A part is ``mistakes:START-END`` or ``omissions:START-END`` (characters), its value
    ``{"kind", "severity"}``; the severity of a judge's proposal is None.
    """

    name: ClassVar[str] = "marks"
    title: ClassVar[str] = "Mark mistakes and omissions"
    data: ClassVar[DataKind] = "items"
    takes_proposals: ClassVar[bool] = True
    next_step: ClassVar[str] = "beholder agree {file} -m posh"

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """One an item: its candidate, and its first reference where it has one."""
        return [
            AnnotationUnit(
                item.id,
                item.source,
                (item.candidate, *item.references[:1]),
                pictures_of(item),
                to_row(item),
            )
            for item in rows
        ]

    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """A range that holds a word of its text."""
        label, (start, end) = _read(part)
        at = _TEXTS[label][0]
        if at >= len(unit.texts):
            raise ItemError("there is no reference in which omissions could be marked")
        if not 0 <= start < end <= len(unit.texts[at]) or not _tokens(
            unit.texts[at], [(start, end)]
        ):
            raise ItemError(f"{part}: the text has no word there")

    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """A known kind, a known severity or none."""
        if not isinstance(value, Mapping) or set(value) != {"kind", "severity"}:
            raise ItemError(f"a mark has a kind and a severity, got {shorten(value)}")
        if value["kind"] not in MARK_KINDS:
            raise ItemError(f"kind {shorten(value['kind'])}: expected {', '.join(MARK_KINDS)}")
        if value["severity"] not in (*SEVERITIES, None):
            raise ItemError(f"severity {shorten(value['severity'])}: expected minor or major")

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Nothing: a text without mistakes has no marks."""
        n = len(_marks(state))
        return f"{n} marks are more than {MAX_PARTS}" if n > MAX_PARTS else None

    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """Span F1 of each two annotators: of mistakes, and of omissions."""
        found = []
        for label, _ in SIDES:
            at = _TEXTS[label][0]
            having = [one for one in judged if at < len(one.unit.texts)]
            marked = [
                (
                    one.unit.source,
                    [_tokens(one.unit.texts[at], spans_of(s, label)) for s in one.by.values()],
                )
                for one in having
            ]
            if marked:
                found.append(of_spans(label, marked, annotators))
        return found

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """A row per annotator of an item, which ``agree`` takes by the granular protocol."""
        for one in judged:
            for name, state in one.by.items():
                row = dict(one.unit.row)
                spans = {
                    label: [list(span) for span in spans_of(state, label)]
                    for label, (at, _) in _TEXTS.items()
                    if at < len(one.unit.texts)
                }
                yield {
                    **row,
                    "id": f"{row['id']}/{name}",
                    "dataset": "docent_granular",
                    "judgments": {**row.get("judgments", {}), **spans},
                    "annotator": name,
                    "marks": [_told(one.unit, part, value) for part, value in _marks(state)],
                }

    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A ``labels`` region a mark, with its severity as a choice of the same id."""
        found = []
        for part, value in _marks(state):
            label, (start, end) = _read(part)
            at, to = _TEXTS[label]
            place = {"start": start, "end": end, "text": unit.texts[at][start:end]}
            own = [region(label, to, "labels", [value["kind"]], **place)]
            if value["severity"]:
                own.append(region(f"{label}-severity", to, "choices", [value["severity"]], **place))
            found += [{"id": part, **one} for one in own]
        return found

    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The marks, each with the severity that was chosen for the region of its id."""
        by_id: dict[object, list[Region]] = {}
        for one in regions:
            by_id.setdefault(one.get("id"), []).append(one)
        found = {}
        for one in regions:
            if one.get("type") != "labels":
                continue
            label, value = one.get("from_name"), one.get("value")
            if label not in dict(SIDES) or not isinstance(value, Mapping):
                raise ItemError(f"a mark is of mistakes or omissions, got {shorten(label)}")
            kinds = value.get("labels")
            if not isinstance(kinds, list) or len(kinds) != 1:
                raise ItemError(f"{label}: expected one kind, got {shorten(kinds)}")
            chosen = one_choice(by_id[one.get("id")], f"{label}-severity", SEVERITIES)
            severity = None if chosen is None else SEVERITIES[chosen]
            part = f"{label}:{value.get('start')}-{value.get('end')}"
            found[part] = {"kind": kinds[0], "severity": severity}
        return found

    def proposals(self, unit: AnnotationUnit, found: ItemScore) -> dict[str, Any]:
        """The units of a metric that it calls mistakes or omissions, place by place."""
        parts: dict[str, Any] = {}
        for label, side in SIDES:
            if _TEXTS[label][0] >= len(unit.texts):
                continue
            for own in found.units:
                here = own.side == side and own.reference_index in (None, 0)
                if not here or own.verdict not in _BAD[label]:
                    continue
                for start, end in own.spans:
                    kind = _KIND_OF.get(own.kind, "other")
                    parts.setdefault(f"{label}:{start}-{end}", {"kind": kind, "severity": None})
        return parts


def spans_of(state: State, label: Label) -> list[Span]:
    """The marked ranges of characters of one side, in order."""
    read = (_read(part) for part, _ in _marks(state))
    return sorted(span for own, span in read if own == label)


def _marks(state: State) -> list[tuple[str, Any]]:
    return [(part, value) for part, value in state.items() if _PART.fullmatch(part)]


def _read(part: str) -> tuple[Label, Span]:
    found = _PART.fullmatch(part)
    if found is None:
        raise ItemError(f"{shorten(part)}: expected mistakes:START-END or omissions:START-END")
    label: Label = "mistakes" if found[1] == "mistakes" else "omissions"
    return label, (int(found[2]), int(found[3]))


def _tokens(text: str, spans: Sequence[Span]) -> list[TokenSpan]:
    """Spans of characters as ranges of the words they touch; without those that touch none."""
    tokens = words(text)
    found = []
    for start, end in spans:
        inside = [i for i, (a, b) in enumerate(tokens) if a < end and b > start]
        if inside:
            found.append((inside[0], inside[-1] + 1))
    return found


def _told(unit: AnnotationUnit, part: str, value: Mapping[str, Any]) -> dict[str, Any]:
    label, (start, end) = _read(part)
    text = unit.texts[_TEXTS[label][0]][start:end]
    return {"side": _TEXTS[label][1], "start": start, "end": end, "text": text, **value}

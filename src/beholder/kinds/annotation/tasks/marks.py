"""Granular marks: mistakes in the text under evaluation, omissions in the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, get_args

import msgspec

from beholder.data.marks import SIDES, Label
from beholder.data.row import shorten
from beholder.errors import ItemError
from beholder.kinds.annotation.agreement import of_spans
from beholder.kinds.annotation.records import (
    CANNOT,
    AnnotationUnit,
    Judged,
    Row,
    State,
)
from beholder.kinds.annotation.tasks.base import (
    MAX_PARTS,
    JudgmentPart,
    Task,
    unit_of,
)
from beholder.records import Item, ItemScore, Span
from beholder.run.reliability import Reliability
from beholder.stats.spans import token_ranges
from beholder.text.tokenize import words

Kind = Literal["object", "attribute", "relation", "number", "other"]
Severity = Literal["minor", "major"]

_PART = re.compile(r"(mistakes|omissions):(\d{1,7})-(\d{1,7})", re.ASCII)
_TEXTS: Mapping[Label, tuple[int, str]] = {
    "mistakes": (0, "candidate"),
    "omissions": (1, "reference"),
}
_BAD = {
    "mistakes": ("mistake", "unstated", "contradicted"),
    "omissions": ("omission",),
}
_KIND_OF: Mapping[str, Kind] = {
    "entity": "object",
    "attribute": "attribute",
    "relation": "relation",
}


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mark.

    Attributes:
        kind: Kind of the mistake or omission.
        severity: Severity; None in a judge's proposal.
    """

    kind: Kind
    severity: Severity | None


class MarkTask(Task):
    """Spans of mistakes and of omissions, each with a kind and a severity.

    A part is ``mistakes:START-END`` or ``omissions:START-END`` (characters), its value a ``Mark``.
    """

    name: ClassVar[str] = "marks"
    title: ClassVar[str] = "Mark mistakes and omissions"
    summary: ClassVar[str] = (
        "rows: spans of mistakes in the candidate, of omissions in a reference"
    )
    next_step: ClassVar[str] = "beholder agree {file} -m posh"
    next_without_references: ClassVar[str] = (
        "beholder revise {file} -o PROPOSALS.jsonl"
    )
    scripts: ClassVar[tuple[str, ...]] = ("annotate_marks.js",)
    proposals_from: ClassVar[str] = "marks spans (posh)"

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Return one unit per item: its candidate, and its first reference if it has one."""
        return [
            unit_of(item, item.candidate, *item.references[:1])
            for item in rows
        ]

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return no part: a text without mistakes is judged completely by no mark."""
        # A part is named by its range, so the possible parts are too many to list; see `part`.
        return []

    def part(self, unit: AnnotationUnit, name: str) -> JudgmentPart:
        """Return the part of a mark, whose range must contain a word of its text.

        Raises:
            ItemError: The name is not valid, the text is missing, or the range has no word.
        """
        label, (start, end) = _parse_part(name)
        place = _TEXTS[label][0]
        if place >= len(unit.texts):
            raise ItemError(
                "there is no reference in which omissions could be marked"
            )
        text = unit.texts[place]
        if not 0 <= start < end <= len(text) or not token_ranges(
            words(text), [(start, end)]
        ):
            raise ItemError(f"{name}: the text has no word there")
        return JudgmentPart(name, Mark, name)

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """Return the kinds with their keys on the keyboard, and the severities."""
        # `o` is the key of "object", so "other" has another letter.
        keys = {
            kind: "x" if kind == "other" else kind[0]
            for kind in get_args(Kind)
        }
        return {"mark_keys": keys, "severities": get_args(Severity)}

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Return a message if there are too many marks; nothing else can be missing."""
        n = len(_marks(state))
        return (
            f"{n} marks are more than {MAX_PARTS:,}" if n > MAX_PARTS else None
        )

    def differences(
        self, unit: AnnotationUnit, state: State, expected: State
    ) -> list[str]:
        """Return the marks of either judgment that no mark of the other matches, as texts.

        A mark matches if it covers half or more of the words; kinds and severities may differ.
        """
        if state.get(CANNOT) or expected.get(CANNOT):
            return super().differences(unit, state, expected)
        unmatched: dict[str, None] = {}
        # Both ways: a mark that is missing is a difference like one too many. Ranges are compared
        # in words, so that spaces and punctuation at the ends do not count.
        for judgment, compared in ((state, expected), (expected, state)):
            for _, label, _, span, text in _list_marks(unit, judgment):
                tokens = words(unit.texts[_TEXTS[label][0]])
                ranges = token_ranges(tokens, _spans(compared, label))
                ((start, end),) = token_ranges(tokens, [span])
                if not any(
                    2 * (min(end, b) - max(start, a)) >= end - start
                    for a, b in ranges
                ):
                    unmatched[f'{label}: "{text}"'] = None
        return list(unmatched)

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return the span F1 of each pair of annotators, for mistakes and for omissions."""
        reliabilities = []
        for label, _ in SIDES:
            place = _TEXTS[label][0]
            # Items without a reference have no text in which omissions could be marked.
            texts_of_side = [
                judgments
                for judgments in judged
                if place < len(judgments.unit.texts)
            ]
            marked = [
                (
                    judgments.unit.source,
                    [
                        token_ranges(
                            words(judgments.unit.texts[place]),
                            _spans(s, label),
                        )
                        for s in judgments.by.values()
                    ],
                )
                for judgments in texts_of_side
            ]
            if marked:
                reliabilities.append(of_spans(label, marked, annotators))
        return reliabilities

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield a row per annotator of an item, in the granular protocol of ``agree``."""
        for judgments in judged:
            row = judgments.unit.row
            for name, state in judgments.by.items():
                spans = {
                    label: [list(span) for span in _spans(state, label)]
                    for label, (place, _) in _TEXTS.items()
                    if place < len(judgments.unit.texts)
                }
                yield {
                    **row,
                    "id": f"{row['id']}/{name}",
                    "dataset": "docent_granular",
                    "judgments": {**row.get("judgments", {}), **spans},
                    "annotator": name,
                    "marks": [
                        {
                            "side": side,
                            "start": start,
                            "end": end,
                            "text": text,
                            **state[part],
                        }
                        for part, _, side, (start, end), text in _list_marks(
                            judgments.unit, state
                        )
                    ],
                }

    def proposals(self, unit: AnnotationUnit, outcome: ItemScore) -> State:
        """Return a mark for each span of the units that a metric calls mistakes or omissions."""
        # A metric finds units of the candidate to be mistakes, units of the reference to be
        # omissions. It knows the kind of a unit but no severity, which annotators add.
        parts: dict[str, object] = {}
        for label, side in SIDES:
            if _TEXTS[label][0] >= len(unit.texts):
                continue
            for scored_unit in outcome.units:
                is_on_side = (
                    scored_unit.side == side
                    and scored_unit.reference_index in (None, 0)
                )
                if not is_on_side or scored_unit.verdict not in _BAD[label]:
                    continue
                for start, end in scored_unit.spans:
                    kind = _KIND_OF.get(scored_unit.kind, "other")
                    parts.setdefault(
                        f"{label}:{start}-{end}",
                        {"kind": kind, "severity": None},
                    )
        return parts


def _spans(state: State, label: Label) -> list[Span]:
    """Return the marked ranges of characters in the text of a label, in order."""
    return sorted(
        span
        for part_label, span in map(_parse_part, _marks(state))
        if part_label == label
    )


def _marks(state: State) -> list[str]:
    return [part for part in state if _PART.fullmatch(part)]


def _list_marks(
    unit: AnnotationUnit, state: State
) -> Iterator[tuple[str, Label, str, Span, str]]:
    """Yield part, label, side, range and text of each mark."""
    for part in _marks(state):
        label, (start, end) = _parse_part(part)
        place, side = _TEXTS[label]
        yield part, label, side, (start, end), unit.texts[place][start:end]


def _parse_part(part: str) -> tuple[Label, Span]:
    """Parse the name of a part: its label and its range of characters.

    Raises:
        ItemError: The name has another form.
    """
    match = _PART.fullmatch(part)
    if match is None:
        raise ItemError(
            f"{shorten(part)}: expected mistakes:START-END or omissions:START-END"
        )
    label: Label = "mistakes" if match[1] == "mistakes" else "omissions"
    return label, (int(match[2]), int(match[3]))

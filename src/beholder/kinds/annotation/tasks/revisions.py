"""Revisions: is a proposed text accepted, edited or refused, and why?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec

from beholder.errors import ConfigError
from beholder.kinds.annotation.agreement import cells, of_kinds
from beholder.kinds.annotation.records import (
    AnnotationUnit,
    Judged,
    Row,
    State,
)
from beholder.kinds.annotation.tasks.base import JudgmentPart, Task, unit_of
from beholder.records import Item
from beholder.run.reliability import Reliability

Decision = Literal["accept", "edit", "refuse"]
Reason = Literal[
    "wrong mark", "right but unimportant", "style", "house rule", "other"
]
Final = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]


class RevisionTask(Task):
    """A decision; with ``edit`` the final text, with ``refuse`` a reason."""

    name: ClassVar[str] = "revisions"
    title: ClassVar[str] = "Accept the new text?"
    summary: ClassVar[str] = (
        "rows of `beholder revise`: accept, edit or refuse each proposal"
    )
    next_step: ClassVar[str] = "beholder revise {file} --write NEW-FILE"
    unanswered: ClassVar[str] = "open"

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Return one unit per proposal that differs from its text.

        Raises:
            ConfigError: A row has no proposal.
        """
        for item in rows:
            if not isinstance(item.meta.get("revision"), dict):
                raise ConfigError(
                    f"item {item.id!r} has no 'revision'; make the rows with beholder revise"
                )
        return [
            unit_of(item, item.candidate, str(item.meta["revision"]["text"]))
            for item in rows
            if item.candidate != item.meta["revision"]["text"]
        ]

    def count_unshown(self, rows: Sequence[Item]) -> Mapping[str, int]:
        """Return the number of rows whose proposal is their text: there is nothing to decide."""
        return {
            "rows whose proposal equals their text": sum(
                item.candidate == item.meta["revision"]["text"]
                for item in rows
            )
        }

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return three parts: the decision, its reason and the edited text."""
        return [
            JudgmentPart("decision", Decision, "the decision"),
            JudgmentPart("reason", Reason, "the reason"),
            JudgmentPart("final", Final, "the text"),
        ]

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """Return the former text cut at its edits, refused edits, and reasons for a refusal."""
        # Edits are ranges of characters of the former text, in order and without overlap.
        revision, pieces, start = unit.row["meta"]["revision"], [], 0
        for edit in revision["edits"]:
            pieces += [("kept", unit.texts[1][start : edit["start"]])]
            pieces += [("old", edit["old"]), ("new", edit["new"])]
            start = edit["end"]
        pieces.append(("kept", unit.texts[1][start:]))
        return {"pieces": pieces, "unrevised": revision["refused"], "reasons": get_args(Reason),
                "worse": unit.row["meta"].get("not_better", False)}  # fmt: skip

    def next_command(self, judged: Judged) -> str:
        """Return the command that writes the texts into their file; empty if they have none."""
        sources = [
            judgments.unit.row["meta"].get("source") or {}
            for judgments in judged
        ]
        return (
            self.next_step
            if any("file" in source for source in sources)
            else ""
        )

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Return what is open: the decision, for an edit the text, for a refusal the reason."""
        decision = state.get("decision")
        needed = {"edit": "final", "refuse": "reason"}.get(
            str(decision), "decision"
        )
        is_complete = decision == "accept" or (
            decision is not None and state.get(needed) is not None
        )
        if is_complete:
            return None
        return f"{self.unanswered}: {self.part(unit, needed).words}"

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return nominal alpha and kappa of the decisions."""
        choices = get_args(Decision)
        return [
            of_kinds(
                cells(
                    self,
                    "decision",
                    judged,
                    annotators,
                    choices.index,
                    "decision",
                ),
                len(choices),
            )
        ]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield rows with ``decision``, ``reason`` and the final text as candidate.

        If annotators of a row differ in decision or text, ``decision`` is ``contested`` and the
        candidate is the former text. ``decisions`` has the decision of each.
        """
        for judgments in judged:
            proposal, text = judgments.unit.texts
            final = {"accept": proposal, "refuse": text}
            decisions = {
                who: {
                    "decision": state["decision"],
                    "reason": state.get("reason", ""),
                    "final": final.get(state["decision"]) or state["final"],
                }
                for who, state in judgments.by.items()
            }
            first, *further = decisions.values()
            # Reasons may differ without a dispute: what happens to the text is the same.
            agreed: Mapping[str, Any] = first
            if any(
                (decision["decision"], decision["final"])
                != (first["decision"], first["final"])
                for decision in further
            ):
                agreed = {"decision": "contested", "reason": "", "final": text}
            yield {
                **judgments.unit.row,
                "candidate": agreed["final"],
                "text": text,
                "proposal": proposal,
                "decision": agreed["decision"],
                "reason": agreed["reason"],
                "decisions": decisions,
            }

"""What real engines were asked and what came back, counted while tests run; printed as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import pytest

from beholder.backends import Answer, Usage
from beholder.judges import asking
from beholder.judges.asking import Prompt, Questioner

DIGITS = frozenset("0123456789")


@dataclass
class Tally:
    """One operation by one engine.

    Attributes:
        questions: Questions that were put.
        usable: Those with an answer that could be used, at once or after the repair request.
        answers: Answers that came, those to repair requests counted in.
        usage: Tokens of all answers.
        digits: Of answers whose first token's probabilities are told: how much lies on digits.
    """

    questions: int = 0
    usable: int = 0
    answers: int = 0
    usage: Usage = field(default_factory=Usage)
    digits: list[float] = field(default_factory=list)

    def cell(self) -> str:
        """For a table: usable of asked, repair requests, answer tokens."""
        repairs = self.answers - self.questions
        text = f"{self.usable} of {self.questions}"
        if repairs > 0:
            text += (
                f", {repairs} repaired"
                if self.usable == self.questions
                else f", {repairs} again"
            )
        return text + (
            f", {self.usage.completion} tokens"
            if self.usage.completion
            else ""
        )


class Ledger:
    """Counts what judges ask while it listens.

    Args:
        engines: The engines, in the order of the tables' columns.
    """

    def __init__(self, engines: Sequence[str]) -> None:
        self._engines = engines
        self._tallies: dict[tuple[str, str], Tally] = {}
        self._commands: dict[tuple[str, str], str] = {}
        self._notes: list[tuple[str, str, str]] = []
        self._engine = ""

    @contextmanager
    def asking(self, engine: str) -> Iterator[None]:
        """Count the questions of the block as this engine's."""
        self._engine = engine
        try:
            yield
        finally:
            self._engine = ""

    def tally(self, engine: str, operation: str) -> Tally:
        """Return the tally of an operation for an engine."""
        return self._tallies.setdefault((operation, engine), Tally())

    def command(self, engine: str, command: str, outcome: str) -> None:
        """Note how a command ended."""
        self._commands[command, engine] = outcome

    def note(self, engine: str, what: str, finding: str) -> None:
        """Note a figure."""
        self._notes.append((what, engine, finding))

    def listen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count from now on, until the test ends."""
        ask, obtain, surprisal = (
            Questioner.ask,
            Questioner._obtain,
            Questioner.surprisal,
        )

        async def counted_ask(self_: Questioner, prompt: Prompt[Any]) -> Any:
            tally = self.tally(self._engine, prompt.operation)
            tally.questions += 1
            value = await ask(self_, prompt)
            tally.usable += 1
            return value

        async def counted_obtain(
            self_: Questioner, prompt: Prompt[Any]
        ) -> Answer:
            answer = await obtain(self_, prompt)
            tally = self.tally(self._engine, prompt.operation)
            tally.answers += 1
            tally.usage += answer.usage
            first = answer.samples[0].first
            if prompt.sampling.top_logprobs and first is not None:
                tally.digits.append(
                    sum(math.exp(p) for token, p in first if token in DIGITS)
                )
            return answer

        async def counted_surprisal(
            self_: Questioner, texts: Sequence[str], **more: Any
        ) -> Any:
            tally = self.tally(self._engine, "perplexity")
            tally.questions += len(texts)
            surprisals = await surprisal(self_, texts, **more)
            tally.usable += len(surprisals)
            return surprisals

        monkeypatch.setattr(asking.Questioner, "ask", counted_ask)
        monkeypatch.setattr(asking.Questioner, "_obtain", counted_obtain)
        monkeypatch.setattr(asking.Questioner, "surprisal", counted_surprisal)

    def lines(self) -> Iterator[str]:
        """The tables, as Markdown."""
        yield from self._table("command", self._commands)
        cells = {key: tally.cell() for key, tally in self._tallies.items()}
        yield from self._table("operation", cells)
        figures = {(what, engine): note for what, engine, note in self._notes}
        for engine in self._engines:
            masses = [
                m
                for (_, e), tally in self._tallies.items()
                if e == engine
                for m in tally.digits
            ]
            if masses:
                figures["probability on digits, median (least)", engine] = (
                    f"{median(masses):.1%} ({min(masses):.1%})"
                )
            usages = [
                tally.usage
                for (_, e), tally in self._tallies.items()
                if e == engine
            ]
            prompt = sum(usage.prompt for usage in usages)
            if prompt:
                cached = sum(usage.cached for usage in usages)
                share = (
                    f", {cached / prompt:.0%} from the cache" if cached else ""
                )
                figures["prompt tokens", engine] = f"{prompt:,}{share}"
        yield from self._table("figure", figures)

    def _table(
        self, what: str, cells: dict[tuple[str, str], str]
    ) -> Iterator[str]:
        if not cells:
            return
        yield f"| {what} | {' | '.join(self._engines)} |"
        yield "|---" * (1 + len(self._engines)) + "|"
        for row in dict.fromkeys(row for row, _ in cells):
            line = " | ".join(
                cells.get((row, engine), "") for engine in self._engines
            )
            yield f"| {row} | {line} |"
        yield ""

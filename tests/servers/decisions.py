"""A server of decision models that knows the right answers, in OpenAI's, System One's or Google's form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from servers.faults import body_of, send_answer

Probabilities: TypeAlias = Sequence[float]
Knowledge: TypeAlias = Callable[[str, Sequence[str], str], Probabilities]
"""Returns the probabilities of a question's outcomes, given its words, its outcomes (none of a
predicate, which has one probability) and all that it is about."""

Reply: TypeAlias = tuple[int, Any]
"""Status and body of a response; a body that is no text is sent as JSON."""

OVERHEAD, PER_QUESTION = 261, 8
"""Tokens that the server counts beside the words of a call."""


@dataclass(frozen=True)
class Call:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The questions, in their order."""
        asked = self.body["questions"]
        return list(asked.values() if isinstance(asked, dict) else asked)


def likely_first(
    words: str, outcomes: Sequence[str], state: str
) -> Probabilities:
    """Knows nothing: the first outcome is the likeliest."""
    n_others = len(outcomes) - 1
    return [0.75] if not outcomes else [0.75, *[0.25 / n_others] * n_others]


def says_words(
    words: str, outcomes: Sequence[str], state: str
) -> Probabilities:
    """A statement holds if its last words are in the text that it is about."""
    thing = words.rpartition(": ")[2].casefold()
    return [0.875 if thing in state.casefold() else 0.125]


class DecisionServer:
    """Plays a server.

    Attributes:
        calls: Every request that came.
        paid: How often each request got an answer.
        charged: Prompt tokens of all answers.
        edit: Changes a response before it is sent.
        reply: Returns another reply to a request, or None for the right answer.
    """

    def __init__(
        self,
        knows: Knowledge = likely_first,
        *,
        sums_state: bool = False,
        edit: Callable[[dict[str, Any]], Any] = lambda response: response,
    ) -> None:
        self.knows = knows
        self.edit = edit
        self.reply: Callable[[Call], Reply | None] = lambda call: None
        self.calls: list[Call] = []
        self.paid: Counter[str] = Counter()
        self.charged = 0
        self.url = ""
        self.hanging: set[str] = set()
        self._sums_state = sums_state

    def before_answer(self) -> None:
        """Called when a request is noted and not yet answered."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = await body_of(receive)
        headers = {
            name.decode(): value.decode() for name, value in scope["headers"]
        }
        call = Call(scope["path"], headers, json.loads(raw or b"{}"))
        self.calls.append(call)
        self.before_answer()
        status, body = self.reply(call) or (200, self._answer(call))
        text = body if isinstance(body, str) else json.dumps(body)
        kind = [(b"content-type", b"application/json")]
        await send_answer(send, status, text.encode(), kind)

    def _answer(self, call: Call) -> Any:
        body = call.body
        state = json.dumps(body.get("state", body.get("input")))
        answers = [
            self._answer_question(question, state)
            for question in call.questions
        ]
        self.paid[json.dumps(body, sort_keys=True)] += 1
        asked = body["questions"]
        is_list = isinstance(asked, list)
        tokens = len(json.dumps(asked)) // 4 + PER_QUESTION * len(answers)
        n_states = len(answers) if self._sums_state else 1
        tokens += n_states * (len(state) // 4 + OVERHEAD)
        self.charged += tokens
        return self.edit(
            {
                "model": "decider-1",
                "answers": answers
                if is_list
                else dict(zip(asked, answers, strict=True)),
                "usage": {"input_tokens": tokens, "output_tokens": 0},
            }
        )

    def _answer_question(
        self, question: dict[str, Any], state: str
    ) -> dict[str, Any]:
        words, kind = question["instructions"], question["type"]
        about = state
        if kind in ("noul", "predicate"):
            (stated,) = self.knows(words, (), about)
            name = {"noul": "noul", "predicate": "probability"}[kind]
            return {"type": kind, name: stated}
        if "choices" in question:
            names = [row["value"] for row in question["choices"]]
        elif "levels" in question:
            names = [row["label"] for row in question["levels"]]
        else:
            names = list(question["criteria"])
        values = self.knows(words, names, about)
        keys: list[Any] = names if kind == "choice" else [*range(len(names))]
        if "criteria" in question:
            pairs = zip(map(str, keys), values, strict=True)
            return {"type": kind, "probabilities": dict(pairs)}
        rows = [
            {"value": key, "probability": value}
            for key, value in zip(keys, values, strict=True)
        ]
        return {"type": kind, "probabilities": rows}

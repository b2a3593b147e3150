"""A server with four models: captioners a, b and c, and a judge that sees; it counts questions."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any

from servers.faults import FaultServer, Refusal, completion, probe_answer

TEXTS = {
    "a": "A red cup stands on a wooden table.",
    "b": "A red cup is on a table of wood.",
    "c": "A blue dog runs in a green meadow.",
}
"""What each captioner says of each picture; c is wrong."""


def say(row: object) -> dict[str, Any]:
    return completion(json.dumps(row))


class Seeing(FaultServer):
    """Answers all questions of a choice.

    Args:
        texts: Text by model.
        sees: Whether the judge sees.
        failing: Models that refuse each picture.
        refuses_one: Whether every model refuses the picture that is captioned first.
        seat: Whether the judge prefers the first seat.
        released_after: Captions of a captioner after which it answers as its next release.
    """

    def __init__(
        self,
        texts: dict[str, str] = TEXTS,
        *,
        sees: bool = True,
        failing: str = "",
        refuses_one: bool = False,
        seat: bool = False,
        released_after: int | None = None,
    ) -> None:
        super().__init__(self.answer_as_release)
        self.texts, self.sees, self.failing = texts, sees, failing
        self.refuses_one, self.refused = refuses_one, ""
        self.seat = seat
        self.released_after = released_after
        self.asked: Counter[str] = Counter()

    def answer_as_release(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer under the name of the release."""
        before = self.asked[body["model"]]
        answer = self.answer(body)
        # The next release is served to all questions after the last caption of the former.
        limit, release = self.released_after, 1
        if limit is not None and body["model"] in TEXTS and before >= limit:
            release = 2
        return {**answer, "model": f"{body['model']}-{release}"}

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        if probed := probe_answer(body):
            return probed
        model, last = body["model"], body["messages"][-1]["content"]
        parts = [last] if isinstance(last, str) else last
        text = "".join(
            part if isinstance(part, str) else part.get("text", "")
            for part in parts
        )
        if "Which colour is this" in text:
            if not self.sees and len(parts) > 1 and model == "judge":
                raise Refusal(400, "no pictures here")
            return completion(self._colour(parts))
        system = str(body["messages"][0]["content"])
        if "describe pictures exactly" in system:
            self.asked[model] += 1
            self.refused = self.refused or str(parts)
            is_refused = self.refuses_one and str(parts) == self.refused
            if model in self.failing or is_refused:
                raise Refusal(400, "not this picture")
            return completion(self.texts[model])
        if model != "judge":
            return completion("ready")
        return self._judge(text, system)

    def _colour(self, parts: list[Any]) -> str:
        """Another word for each picture, as from a model that sees."""
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]

    def _judge(self, text: str, system: str) -> dict[str, Any]:
        ids = [int(i) for i in re.findall(r'<\w+ id="(\d+)">', text)]
        if "take descriptions" in system:
            self.asked["decompose"] += 1
            # The prompt names a dog, too.
            thing = "a dog" if "blue dog" in text else "a cup"
            facts = [f"there is {thing}", f"{thing} is somewhere"]
            return say({"statements": [_fact(fact) for fact in facts]})
        if "check statements" in system:
            self.asked["verify"] += 1
            statements = re.findall(
                r'<\w+ id="(\d+)">(.*?)</', text, re.DOTALL
            )
            rows = [
                {"id": int(i), "supported": "dog" not in statement}
                for i, statement in statements
            ]
            return say({"rows": rows})
        if "write checkable criteria" in system:
            self.asked["criteria"] += 1
            return say(
                {"criteria": [{"text": "A cup is there.", "dimension": "cup"}]}
            )
        if "check what a text says" in system:
            self.asked["check"] += 1
            row: dict[str, Any] = {"state": "met", "quote": "cup"}
            if "dog" in text:
                row = {"state": "not mentioned", "quote": None}
            return say({"rows": [{"id": i, **row} for i in ids]})
        if "compare two descriptions" in system:
            self.asked["compare"] += 1
            first, second = text.split("Second description:")
            better = "tie"
            if self.seat:
                better = "first"
            elif "dog" in first:
                better = "second"
            elif "dog" in second:
                better = "first"
            return say({"reason": "r", "better": better})
        return completion("ready")


def _fact(text: str) -> dict[str, Any]:
    return {"text": text, "subject": "x", "relevant": True}

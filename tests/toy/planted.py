"""A study with planted answers: texts, questions and criteria, and a server that knows them all.

What the server says of each question and criterion is drawn here and read by the server from the
words of the prompt, so that a formula can be computed from what was drawn alone.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

from beholder.records import Item
from servers.faults import completion, probe_answer

CANNOT = "The description does not say."
TASKS = (
    *(
        "object_category",
        "object_number",
        "object_color",
        "spatial_relation",
        "scene",
    ),
    *(
        "camera_angle",
        "OCR",
        "style",
        "character_identification",
        "dynamic_object_number",
    ),
    *("action", "camera_movement", "event"),
)
_READINGS = ("right", "wrong", "silent", "silent", "silent", "unread")
_STATES = ("met", "contradicted", "not mentioned", "not mentioned", "unread")
_ITEM = re.compile(r'<item id="(\d+)">(.*?)</item>', re.DOTALL)
_TAG = re.compile(r"(?:Text|Source) (t\d\d)")
_REQUIRED = " (an answer is required)"
_INVENTED = "words that are not there"


class Study:
    """Texts with questions, criteria and events, and what a judge says of each.

    Attributes:
        items: The texts, three about each picture.
        reading: What is said to a question, by text and question: ``right``, ``wrong``,
            ``silent`` or ``unread`` (an option that does not exist, or an invented quote).
        grade: Grade of an open answer, by question.
        state: State of a criterion, by text and criterion.
        names: Who takes the part of a subject, by text, subject and criterion; None for nobody.
        any_of: Whether a text names any action or object, by text and word.
        events: Events of a text, by its first words.
        matches: Index of the event that each sentence of a text tells of, by text.
        prompts: Every prompt that came.
    """

    def __init__(self, n: int, seed: int = 3) -> None:
        draw = random.Random(seed)
        self.reading: dict[tuple[str, str], str] = {}
        self.grade: dict[str, int] = {}
        self.state: dict[tuple[str, str], str] = {}
        self.names: dict[tuple[str, str, str], str | None] = {}
        self.any_of: dict[tuple[str, str], bool] = {}
        self.events: dict[str, list[str]] = {}
        self.matches: dict[str, list[int | None]] = {}
        self.prompts: list[str] = []
        self.right: dict[str, str] = {}
        self.items = [self._item(draw, f"t{i:02}", i) for i in range(n)]

    def _item(self, draw: random.Random, tag: str, i: int) -> Item:
        questions = [
            self._question(draw, tag, k) for k in range(draw.randint(6, 12))
        ]
        criteria: list[dict[str, Any]] = [
            self._criterion(draw, tag, k) for k in range(draw.randint(6, 12))
        ]
        if i % 2:  # the same text once more, with another weight
            criteria.append(criteria[0] | {"id": "again", "weight": 4})
        criteria.append(
            {
                "id": "rule",
                "text": f"{tag} is short.",
                "kind": "rule",
                "weight": -0.5,
            }
        )
        self.state[tag, f"{tag} is short."] = draw.choice(
            ("met", "contradicted")
        )
        for word in ("action", "object"):
            self.any_of[tag, word] = draw.random() < 0.5
        for name in ("Text", "Source"):
            self.events[f"{name} {tag}"] = [
                f"{name} {tag} event {k}." for k in range(draw.randint(0, 4))
            ]
            for event in self.events[f"{name} {tag}"]:
                self.state[tag, event] = draw.choice(_STATES[:4])
        return Item(
            id=tag,
            candidate=f"Text {tag} shows a lamp beside a door.",
            references=(f"Source {tag} shows a lamp beside a door.",),
            images=(f"{i // 3}.png",),
            meta={"questions": questions, "criteria": criteria},
        )

    def _question(
        self, draw: random.Random, tag: str, k: int
    ) -> dict[str, Any]:
        start = draw.choice(("What", "Is", "Where", "Which"))
        text = f"{start} is it in {tag}, {k}?"
        row: dict[str, Any] = {
            "question": text,
            "weight": draw.choice((1, 1, 2, 0.5)),
        }
        row["category"] = draw.choice("abc")
        kind = draw.choice(("options", "options", "yes/no", "open"))
        if kind == "options":
            row["options"] = [
                f"{kind} {tag} {k} {m}" for m in range(draw.randint(2, 6))
            ]
            if (
                draw.random() < 0.2
            ):  # taken for a yes/no question by the letters in its options
                row["options"][:2] = [f"eyes {k}", f"snow {k}"]
            row["answer"] = draw.choice(row["options"])
            if draw.random() < 0.2:
                row["third"] = draw.random() < 0.5
        else:
            row["answer"] = (
                f"gold {tag} {k}" if kind == "open" else draw.random() < 0.5
            )
        self.right[text] = {True: "yes", False: "no"}.get(
            row["answer"], row["answer"]
        )
        some = (
            _READINGS if kind != "open" or k % 3 == 0 else ("right", "wrong")
        )
        self.reading[tag, text] = draw.choice(some)
        self.grade[text] = draw.choice(
            (3, 4, 5) if self.reading[tag, text] == "right" else (0, 2)
        )
        return row

    def _criterion(
        self, draw: random.Random, tag: str, k: int
    ) -> dict[str, Any]:
        text = f"Point {k} of {tag}."
        subjects = [
            s
            for s, p in (("<a>", 0.6), ("<b>", 0.6), ("<c>", 0.25))
            if draw.random() < p
        ]
        self.state[tag, text] = draw.choice(_STATES)
        for name in subjects:
            self.names[tag, name, text] = draw.choice(
                ("one", "one", "two", None)
            )
        weight = draw.choice((1, 2, 3))
        return {
            "text": text,
            "dimension": draw.choice(TASKS),
            "weight": weight,
            "subjects": subjects,
        }

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""
        if probed := probe_answer(body):
            return probed
        prompt = body["messages"][-1]["content"]
        self.prompts.append(prompt)
        tag = _TAG.search(prompt)
        if tag and "<statement " in prompt:
            matches = enumerate(self.matches[tag[1]])
            answers = [{"id": i, "reference": match} for i, match in matches]
            return completion(json.dumps({"matches": answers}))
        listed_items = _ITEM.findall(prompt)
        if not listed_items:
            text = next((name for name in self.events if name in prompt), None)
            if text is None:
                return completion("ready")
            events = [
                {"text": event, "dimension": "event"}
                for event in self.events[text]
            ]
            return completion(json.dumps({"criteria": events}))
        rows = [
            {"id": int(i), **self._row(tag[1] if tag else "", text)}
            for i, text in listed_items
        ]
        return completion(json.dumps({"rows": rows}))

    def _row(self, tag: str, text: str) -> Mapping[str, Any]:
        if text.startswith("Question: "):
            question = text.partition("\n")[0].removeprefix("Question: ")
            right = text.split("\n")[1].removeprefix("Right answer: ")
            return {
                "same": text.endswith(f": {right}"),
                "grade": self.grade[question],
            }
        if " in the statement: " in text:
            subject, _, criterion = text.partition(" in the statement: ")
            name = self.names[
                tag, subject.replace("‹", "<").replace("›", ">"), criterion
            ]
            return {"entity": name, "quote": name and "a lamp"}
        if text.startswith("Demand") or (tag, text) in self.state:
            return self._criterion_row(tag, text)
        return self._answer(tag, *text.split("\n"))

    def _criterion_row(self, tag: str, text: str) -> Mapping[str, Any]:
        demand = text.removeprefix("Demand on the text itself: ")
        names_any = re.fullmatch(r"The text names an (\w+)\.", demand)
        if names_any:
            is_named = self.any_of[tag, names_any[1]]
            return {
                "state": "met" if is_named else "contradicted",
                "quote": None,
            }
        state = self.state[tag, demand]
        if state == "unread":
            return {"state": "met", "quote": _INVENTED}
        return {
            "state": state,
            "quote": None if state == "not mentioned" else "BESIDE  a door",
        }

    def _answer(self, tag: str, line: str, *options: str) -> Mapping[str, Any]:
        question = line.removesuffix(_REQUIRED)
        letters = {option[3:]: option[0] for option in options}
        right, reading = self.right[question], self.reading[tag, question]
        if reading == "silent":
            return {"choice": letters.get(CANNOT), "quote": None}
        if reading == "unread":
            return {
                "choice": None if line != question else "A",
                "quote": _INVENTED,
            }
        if not options:
            return {
                "choice": right if reading == "right" else "another",
                "quote": "a lamp",
            }
        wrong = next(
            option for option in letters if option not in (right, CANNOT)
        )
        return {
            "choice": letters[right if reading == "right" else wrong],
            "quote": "a lamp",
        }

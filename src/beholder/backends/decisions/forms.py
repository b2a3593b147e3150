"""Three forms in which servers of decision models are asked, written and read.

``openai``: questions and answers are lists. ``systemone``: both are objects by id. ``gemini``: as
``systemone``, with other fields. An answer is used only if it is of a question that was asked, of
its type, with a probability for each outcome; the server's own choice, score and confidence are
left aside, since ``confidence`` means something else at each vendor.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from beholder.backends.base import Image, JsonDict
from beholder.backends.calls import CallFailed
from beholder.backends.decisions.questions import (
    LEAST_MASS,
    SUM_TOLERANCE,
    ChoiceQuestion,
    Decision,
    DecisionCall,
    DecisionQuestion,
    PredicateQuestion,
    ScoreQuestion,
    normalize_probabilities,
)
from beholder.backends.money import Usage
from beholder.errors import ItemError

Shape: TypeAlias = Literal["openai", "systemone", "gemini"]
"""The form of requests and answers. The path of an address does not show it."""

PictureForm: TypeAlias = Literal["none", "parts", "assets", "images", "array"]
"""Where pictures go: as parts before the text, as named assets, in a list ``images``, or as items
of a ``state`` that is an array; ``none``: the server takes no pictures."""

REFUSED = Decision(reason="refused")
MISSING = Decision(reason="the server left the question out")

_TYPES = {
    PredicateQuestion: "noul",
    ChoiceQuestion: "choice",
    ScoreQuestion: "score",
}


@dataclass(frozen=True, slots=True)
class Form:
    """A form of requests and answers.

    Attributes:
        path: Where questions go, below the base address.
        write: Return the body of a call, given the model and where pictures go.
        read: Return the answers in a response, in the order of the questions.
    """

    path: str
    write: Callable[[str, DecisionCall, PictureForm], JsonDict]
    read: Callable[[DecisionCall, JsonDict], list[Decision]]


def question_ids(call: DecisionCall) -> list[str]:
    """Return neutral ids: models read them, and some servers take letters and digits alone."""
    return [f"q{place}" for place in range(len(call.questions))]


def read_usage(data: object) -> Usage | None:
    """Return the tokens of a response, or None if they are missing or not valid."""
    usage = data.get("usage") if isinstance(data, dict) else None
    if not isinstance(usage, dict):
        return None
    details = usage.get("input_tokens_details")
    cached_details = details if isinstance(details, dict) else {}

    def first_count(*counts: Any) -> Any:
        return next((count for count in counts if count is not None), 0)

    try:
        tokens = Usage(
            prompt=first_count(
                usage.get("input_tokens"),
                usage.get("prompt_tokens"),
                usage.get("total_input_tokens"),
            ),
            cached=first_count(
                cached_details.get("cached_tokens"),
                usage.get("cached_input_tokens"),
                usage.get("total_cached_tokens"),
            ),
            completion=first_count(usage.get("output_tokens")),
            written=first_count(cached_details.get("cache_write_tokens")),
        )
    except ValueError:
        return None
    is_valid = 0 < tokens.prompt >= tokens.cached + tokens.written
    return tokens if is_valid else None


# OpenAI


def _write_openai(
    model: str, call: DecisionCall, pictures: PictureForm
) -> JsonDict:
    parts: list[JsonDict] = [
        {
            "type": "input_image",
            "image_url": _data_url(image),
            "detail": "auto",
        }
        for image in call.images
    ]
    parts.append({"type": "input_text", "text": _state_text(call)})
    turns = [{"role": "user", "content": parts}]
    if call.note:
        note = {"type": "input_text", "text": call.note}
        turns.insert(0, {"role": "developer", "content": [note]})
    ids = question_ids(call)
    return {
        "model": model,
        "input": turns,
        "questions": [
            {"name": name, **_write_openai_question(question)}
            for name, question in zip(ids, call.questions, strict=True)
        ],
    }


def _write_openai_question(question: DecisionQuestion) -> JsonDict:
    body: JsonDict = {"instructions": question.instructions}
    if isinstance(question, ChoiceQuestion):
        choices = [
            {"value": name, **({"description": about} if about else {})}
            for name, about in question.options
        ]
        return {"type": "choice", **body, "choices": choices}
    if isinstance(question, ScoreQuestion):
        levels = [{"label": level} for level in question.levels]
        return {"type": "score", **body, "levels": levels}
    return {"type": "predicate", **body}


def _read_openai(call: DecisionCall, data: JsonDict) -> list[Decision]:
    answers = data.get("answers")
    if not isinstance(answers, list) or len(answers) != len(call.questions):
        # Order is the only key of the answers, so a list of another length
        # fits no question.
        n_answers = len(answers) if isinstance(answers, list) else "no list of"
        raise CallFailed(
            f"the server gave {n_answers} answers to"
            f" {len(call.questions)} questions"
        )
    rows = zip(question_ids(call), call.questions, answers, strict=True)
    return [_read_openai_answer(*row) for row in rows]


def _read_openai_answer(
    name: str, question: DecisionQuestion, answer: object
) -> Decision:
    if not isinstance(answer, dict):
        return Decision(reason="the answer is not an object")
    if answer.get("name") not in (name, None):
        return Decision(reason="the answer has the name of another question")
    kind = answer.get("type")
    if kind == "refusal":
        return REFUSED
    wanted = "predicate" if isinstance(question, PredicateQuestion) else None
    if kind != (wanted or _TYPES[type(question)]):
        return Decision(reason=f"the answer is of type {str(kind)[:40]!r}")
    if isinstance(question, PredicateQuestion):
        return normalize_probabilities(question, [answer.get("probability")])
    rows = answer.get("probabilities")
    if not isinstance(rows, list):
        return Decision(reason="the answer has no list of probabilities")
    try:
        values = {row["value"]: row["probability"] for row in rows}
    except (TypeError, KeyError):
        return Decision(reason="a probability has no value that it is of")
    if len(values) != len(rows):
        return Decision(reason="two probabilities of one outcome")
    keys: Sequence[Any] = (
        [name for name, _ in question.options]
        if isinstance(question, ChoiceQuestion)
        else range(len(question.levels))
    )
    # To Python, True and 1.0 are the level 1.
    if any(type(value) is not type(keys[0]) for value in values):
        return Decision(reason="an outcome is not of the type that was asked")
    return _by_keys(question, values, keys)


# System One


def _write_systemone(
    model: str, call: DecisionCall, pictures: PictureForm
) -> JsonDict:
    body: JsonDict = {"model": model}
    state: Any = dict(call.state)
    urls = [_data_url(image) for image in call.images]
    if urls and pictures == "assets":
        names = [f"<image:{image.digest[:32]}>" for image in call.images]
        _check_placeholders(names, call)
        state = {"pictures": names, **state}
        body["assets"] = {
            name: {
                "type": "image",
                "format": image.media_type.rpartition("/")[2],
                "data_base64": base64.b64encode(image.data).decode("ascii"),
            }
            for name, image in zip(names, call.images, strict=True)
        }
    elif urls and pictures == "array":
        # Pictures are read only at the top of an array, beside plain texts.
        items = [
            {"type": "image_url", "image_url": {"url": url}} for url in urls
        ]
        state = [*items, json.dumps(state, ensure_ascii=False)]
    elif urls:
        body["images"] = urls
    body["state"] = state
    ids = question_ids(call)
    body["questions"] = {
        name: _write_systemone_question(question, call.note)
        for name, question in zip(ids, call.questions, strict=True)
    }
    return body


def _check_placeholders(names: Sequence[str], call: DecisionCall) -> None:
    """Refuse a call whose texts contain the name of a picture.

    The server replaces such a name wherever it is, also inside the text that is judged.
    """
    text = json.dumps([dict(call.state), call.note, str(call.questions)])
    for name in names:
        if name in text:
            raise ItemError(
                f"a text contains {name}, which stands for a picture in this"
                " request; remove it from the text"
            )


def _write_systemone_question(
    question: DecisionQuestion, note: str
) -> JsonDict:
    # The state is data; what the model shall obey is an instruction.
    instructions = f"{note} {question.instructions}".strip()
    body: JsonDict = {
        "type": _TYPES[type(question)],
        "instructions": instructions,
    }
    if isinstance(question, ChoiceQuestion):
        body["criteria"] = dict(question.options)
    if isinstance(question, ScoreQuestion):
        body["criteria"] = list(question.levels)
    return body


def _read_systemone(call: DecisionCall, data: JsonDict) -> list[Decision]:
    answers = data.get("answers")
    if not isinstance(answers, dict):
        raise CallFailed("the server's answer has no object of answers")
    rows = zip(question_ids(call), call.questions, strict=True)
    return [
        _read_systemone_answer(question, answers[name])
        if name in answers
        else MISSING
        for name, question in rows
    ]


def _read_systemone_answer(
    question: DecisionQuestion, answer: object
) -> Decision:
    if not isinstance(answer, dict):
        return MISSING if answer is None else Decision(reason="not an object")
    kind = answer.get("type")
    if kind == "refusal":
        return REFUSED
    # The type may be absent, but no answer may be of another.
    if kind not in (_TYPES[type(question)], None):
        return Decision(reason=f"the answer is of type {str(kind)[:40]!r}")
    if isinstance(question, PredicateQuestion):
        # Databricks calls it a probability.
        probability = answer.get("noul", answer.get("probability"))
        decision = normalize_probabilities(question, [probability])
        return _with_mass(decision, answer)
    values = answer.get("probabilities")
    if not isinstance(values, Mapping):
        return Decision(reason="the answer has no object of probabilities")
    keys = (
        [name for name, _ in question.options]
        if isinstance(question, ChoiceQuestion)
        else [str(level) for level in range(len(question.levels))]
    )
    return _with_mass(_by_keys(question, values, keys), answer)


def _with_mass(decision: Decision, answer: JsonDict) -> Decision:
    """Return a decision with the share of the probability on its outcomes, if it is reported.

    SGLang reports it in the answer, vLLM among its diagnostics.
    """
    diagnostics = answer.get("diagnostics")
    further = diagnostics if isinstance(diagnostics, dict) else {}
    mass = answer.get("x_label_mass", further.get("label_mass"))
    if mass is None or decision.reason:
        return decision
    # Rounding may take a sum of probabilities slightly beyond 1.
    if isinstance(mass, bool) or not isinstance(mass, int | float):
        return Decision(reason="the mass on the outcomes is not a number")
    if not LEAST_MASS <= mass <= 1 + SUM_TOLERANCE:
        return Decision(reason=f"{mass:.2g} of the probability is on outcomes")
    return Decision(decision.probabilities, min(1.0, mass))


# Gemini


def _write_gemini(
    model: str, call: DecisionCall, pictures: PictureForm
) -> JsonDict:
    parts: list[JsonDict] = [
        {
            "type": "image",
            "data": base64.b64encode(image.data).decode("ascii"),
            "mime_type": image.media_type,
        }
        for image in call.images
    ]
    parts.append({"type": "text", "text": _state_text(call)})
    questions = _write_systemone(model, call, "none")["questions"]
    for question in questions.values():
        if question["type"] == "choice":
            # This server refuses null for an option without a description.
            criteria = question["criteria"]
            question["criteria"] = {
                name: about or "" for name, about in criteria.items()
            }
    return {"model": model, "input": parts, "questions": questions}


def _read_gemini(call: DecisionCall, data: JsonDict) -> list[Decision]:
    feedback = data.get("prompt_feedback")
    if isinstance(feedback, dict) and feedback.get("block_reason"):
        # The whole input is refused, not one question.
        reason = f"refused: {str(feedback['block_reason'])[:40]}"
        return [Decision(reason=reason)] * len(call.questions)
    return _read_systemone(call, data)


FORMS: Mapping[Shape, Form] = {
    "openai": Form("/decisions", _write_openai, _read_openai),
    "systemone": Form("/systemone", _write_systemone, _read_systemone),
    "gemini": Form("/v1beta/decisions", _write_gemini, _read_gemini),
}


def _by_keys(
    question: DecisionQuestion, values: Mapping[Any, Any], keys: Sequence[Any]
) -> Decision:
    """Return the decision of probabilities by outcome; each outcome must have one, no other."""
    if values.keys() != set(keys):
        strange = sorted(map(str, values.keys() ^ set(keys)))[0]
        return Decision(
            reason=f"the outcomes differ from those asked: {strange[:40]!r}"
        )
    return normalize_probabilities(question, [values[key] for key in keys])


def _state_text(call: DecisionCall) -> str:
    return json.dumps(dict(call.state), ensure_ascii=False)


def _data_url(image: Image) -> str:
    data = base64.b64encode(image.data).decode("ascii")
    return f"data:{image.media_type};base64,{data}"

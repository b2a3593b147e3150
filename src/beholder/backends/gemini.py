"""``gemini:MODEL``: Google's generateContent API."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from beholder.backends.base import (
    REFUSAL,
    Answer,
    FirstTokens,
    Image,
    JsonDict,
    JsonObject,
    Message,
    Request,
    Sample,
)
from beholder.backends.batch_files import FileBatches
from beholder.backends.batch_queue import BatchService
from beholder.backends.calls import CallFailed
from beholder.backends.money import Usage
from beholder.backends.openai_http import Connection
from beholder.backends.openai_wire import (
    Completion,
    Dialect,
    Wire,
    require_form,
    without_bounds,
)
from beholder.backends.served import Served
from beholder.errors import ConfigError

_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_REFUSED = re.compile(
    r"(IMAGE_)?(SAFETY|PROHIBITED_CONTENT|RECITATION)|BLOCKLIST|SPII|LANGUAGE|MODEL_ARMOR"
)
_FILTERS = [
    {"category": f"HARM_CATEGORY_{name}", "threshold": "BLOCK_NONE"}
    for name in (
        "HARASSMENT",
        "HATE_SPEECH",
        "SEXUALLY_EXPLICIT",
        "DANGEROUS_CONTENT",
    )
]
"""Texts that are judged are no wishes of the user; ``extra`` may set other filters."""


class GeminiConnection(Connection):
    """An address that speaks Google's form."""

    def _key_headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    async def suggest_models(self, model: str) -> str:
        """Return nothing: the vendor lists its models in its documentation."""
        return ""


class Gemini(Served):
    """A model behind Google's Gemini address; options as in ``Served``.

    A field of ``extra`` that is a table is merged: ``{"generationConfig": {"thinkingConfig":
    {"thinkingBudget": 0}}}`` adds to the other fields of ``generationConfig``.
    """

    KIND: ClassVar = "gemini"
    WIRE: ClassVar[Wire]
    takes_films = True

    def _path(self) -> str:
        return self.WIRE.path.format(resource_name(self.model))

    def _write_body(self, request: Request, dialect: Dialect) -> JsonDict:
        body = to_body(self.model, request, dialect)
        for name, more in self.extra.items():
            body[name] = (
                {**body.get(name, {}), **more}
                if isinstance(more, dict)
                else more
            )
        return body

    def _batch_service(self) -> BatchService:
        return GeminiBatches(self._http, self._caller.call, self.model)


def resource_name(model: str) -> str:
    """Return the path of a model below the API's version, such as ``models/NAME``.

    Raises:
        ConfigError: The name would lead to another path.
    """
    parts = model.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ConfigError(
            f"gemini:{model}: expected the name of a model, such as gemini-2.5-flash"
        )
    path = "/".join(quote(part, safe="") for part in parts)
    return path if len(parts) > 1 else f"models/{path}"


def to_body(model: str, request: Request, dialect: Dialect) -> JsonDict:
    """Return the JSON body of a request; arguments as for ``openai_wire.to_body``."""
    sampling = request.sampling
    config: JsonDict = {
        "maxOutputTokens": sampling.max_tokens + dialect.thinking
    }
    if dialect.temperature:
        config["temperature"] = sampling.temperature
    if dialect.seed and sampling.temperature:
        config["seed"] = sampling.seed + request.replicate
    if sampling.n > 1:
        config["candidateCount"] = sampling.n
    top = min(sampling.top_logprobs, dialect.top_logprobs)
    if top:
        config |= {"responseLogprobs": True, "logprobs": top}
    if request.schema is not None and dialect.structure == "schema":
        schema = (
            request.schema
            if dialect.bounds
            else without_bounds(request.schema)
        )
        config |= {
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        }
    # System messages have a field of their own in this API.
    turns = [_turn(m) for m in request.messages if m.role != "system"]
    system = [_part(m.text) for m in request.messages if m.role == "system"]
    instructions = {"systemInstruction": {"parts": system}} if system else {}
    return {
        **instructions,
        "contents": turns,
        "safetySettings": _FILTERS,
        "generationConfig": config,
    }


def _turn(message: Message) -> JsonDict:
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [_part(part) for part in message.parts]}


def _part(part: str | Image) -> JsonDict:
    if isinstance(part, str):
        return {"text": part}
    data = base64.b64encode(part.data).decode("ascii")
    media: JsonDict = {
        "inlineData": {"mimeType": part.media_type, "data": data}
    }
    if part.clip is not None:
        start, end, fps = part.clip
        span = {
            "startOffset": f"{start:g}s",
            "endOffset": f"{end:g}s",
            "fps": fps,
        }
        media["videoMetadata"] = span
    return media


def read_response(data: object) -> Completion:
    """Return the checked answers of a response body.

    Raises:
        CallFailed: The body is not a response, or an answer is broken.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    if "choices" in data:
        raise CallFailed(
            "the server speaks OpenAI's form, so name it openai:MODEL"
        )
    with require_form("a valid response"):
        # A prompt that a filter blocks comes back without candidates: it is a refusal, as the same
        # prompt is blocked again. Without either, the response is broken.
        feedback = data.get("promptFeedback") or {}
        candidates = data.get("candidates") or []
        if feedback.get("blockReason") and not candidates:
            why = f"prompt blocked: {feedback['blockReason']}"
            samples: tuple[Sample, ...] = (Sample(why, REFUSAL),)
        elif candidates:
            samples = tuple(
                _read_candidate(candidate) for candidate in candidates
            )
        else:
            raise CallFailed("the server's answer contains no candidates")
        model = Answer((), data.get("modelVersion") or "").model or None
        usage = data.get("usageMetadata")
        thoughts = (
            usage.get("thoughtsTokenCount")
            if isinstance(usage, dict)
            else None
        )
        parts = [
            part for candidate in candidates for part in _parts(candidate)
        ]
        thought = bool(thoughts) or any(part.get("thought") for part in parts)
    total_usage = read_usage(data)
    return Completion(
        samples,
        model,
        None,
        thought,
        None if total_usage is None else total_usage.prompt,
    )


def _parts(candidate: JsonObject) -> list[JsonDict]:
    return list((candidate.get("content") or {}).get("parts") or [])


def _read_candidate(candidate: JsonObject) -> Sample:
    reason = candidate.get("finishReason")
    if isinstance(reason, str) and _REFUSED.fullmatch(reason):
        ratings = candidate.get("safetyRatings") or []
        causes = [
            rating["category"] for rating in ratings if rating.get("blocked")
        ]
        return Sample(": ".join((reason, *causes)), REFUSAL)
    if reason not in _FINISH:
        raise CallFailed(f"the answer ended by {str(reason)[:60]!r}")
    parts = _parts(candidate)
    if not parts and reason == "STOP":
        raise CallFailed("the answer is empty")
    text = "".join(
        part.get("text", "") for part in parts if not part.get("thought")
    )
    return Sample(
        text, _FINISH[reason], _read_first(candidate.get("logprobsResult"))
    )


def _read_first(
    logprobs: JsonObject | None,
) -> FirstTokens | None:
    steps = (logprobs or {}).get("topCandidates")
    if not steps:
        return None
    top = steps[0].get("candidates") or []
    pairs = tuple((t["token"], t["logProbability"]) for t in top)
    # JSON has no -inf, but Python's parser accepts it; a token of probability 0 says nothing.
    return tuple(pair for pair in pairs if pair[1] != -math.inf) or None


def read_usage(data: object) -> Usage | None:
    """Return the tokens of a response, or None if they are missing or not valid."""
    usage = data.get("usageMetadata") if isinstance(data, dict) else None
    if not isinstance(usage, dict):
        return None

    def count(name: str) -> Any:
        tokens = usage.get(f"{name}TokenCount")
        return 0 if tokens is None else tokens

    try:
        prompt = Usage(count("prompt"), count("cachedContent")) + Usage(
            count("toolUsePrompt")
        )
        answer = Usage(completion=count("candidates")) + Usage(
            completion=count("thoughts")
        )
        # What the parts do not explain counts as answer, so that nothing is missing.
        listed_total = Usage(completion=count("total"))
        total = prompt + Usage(
            completion=max(
                answer.completion, listed_total.completion - prompt.prompt
            )
        )
    except ValueError:
        return None
    return total if total.prompt and total.cached <= total.prompt else None


Gemini.WIRE = Wire(
    ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "/v1beta/{}:generateContent",
    Dialect("", 20, many=False),
    to_body,
    read_response,
    read_usage,
    (("schema", True), ("schema", False)),
    GeminiConnection,
)


_STATES = {
    "PENDING": "validating",
    "RUNNING": "in_progress",
    "SUCCEEDED": "completed",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
}
_REFUSED_BY = (3, 400, 413)
"""Codes of a request that will never be answered; 3 is INVALID_ARGUMENT where codes are gRPC's."""


@dataclass(eq=False)
class GeminiBatches(FileBatches):
    """The batch calls; requests go as a file, since large batches inside a body lost results."""

    model: str

    def line(self, request_id: str, body: JsonObject) -> bytes:
        """Return a request as a line of a batch."""
        return (
            json.dumps({"key": request_id, "request": body}).encode("utf-8")
            + b"\n"
        )

    async def upload(self, content: bytes) -> str:
        """Upload requests; return the name of the file."""
        about = json.dumps(
            {"file": {"mimeType": "application/jsonl"}}
        ).encode()
        # A boundary must not occur in the content: its digest does not.
        boundary = hashlib.sha256(content).hexdigest().encode()
        head = b"--%b\r\ncontent-type: %b\r\n\r\n"
        parts = [(b"application/json", about), (b"application/jsonl", content)]
        body = b"".join(
            head % (boundary, kind) + part + b"\r\n" for kind, part in parts
        )
        body += b"--%b--\r\n" % boundary
        kind = f"multipart/related; boundary={boundary.decode()}"
        headers = {"x-goog-upload-protocol": "multipart", "content-type": kind}
        place = "/upload/v1beta/files"
        response = await self.read_object(
            "file", "POST", place, kind=dict, content=body, headers=headers
        )
        return str(response["file"].get("name"))

    async def make(self, file: str, digest: str) -> str:
        """Start a batch that carries a digest; return its name."""
        batch = {"displayName": digest, "inputConfig": {"fileName": file}}
        path = f"/v1beta/{resource_name(self.model)}:batchGenerateContent"
        response = await self.read_object(
            "name", "POST", path, json={"batch": batch}
        )
        return str(response["name"])

    async def page(self, after: str) -> tuple[list[tuple[Any, object]], str]:
        """Return names and digests of batches, and the next page's beginning (empty at the end)."""
        page = await self.http.read_json(
            "GET", f"/v1beta/batches?pageSize=100{after}"
        )
        try:
            next_token = page.get("nextPageToken")
            rows = [
                (row["name"], _about(row).get("displayName"))
                for row in page["operations"]
            ]
        except (AttributeError, KeyError, TypeError):
            if page == {}:  # there are none
                return [], ""
            raise CallFailed(
                "the server's list of batches cannot be read"
            ) from None
        return (
            rows,
            f"&pageToken={quote(str(next_token))}" if next_token else "",
        )

    async def look(self, batch: str) -> tuple[str, list[object]]:
        """Return the state of a batch, and the names of its result files."""
        operation = await self.read_object("name", "GET", f"/v1beta/{batch}")
        state = str(_about(operation).get("state")).rpartition("_STATE_")[2]
        # The two places of the result file differ between versions of the API.
        outputs = (_about(operation).get("output"), operation.get("response"))
        files = {
            out.get("responsesFile"): None
            for out in outputs
            if isinstance(out, dict)
        }
        return _STATES.get(state, state), list(files)

    def place(self, file: str) -> str:
        """Return the path of a result file."""
        return f"/download/v1beta/{file}:download?alt=media"

    def row(self, row: Any) -> Any:
        """Return a row of a result file in OpenAI's form."""
        if not isinstance(row, dict):
            return row
        error = row.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        status = 400 if code in _REFUSED_BY else 500
        if isinstance(row.get("response"), dict):
            status, error = 200, row["response"]
        response = {"status_code": status, "body": error}
        return {"custom_id": row.get("key"), "response": response}


def _about(operation: JsonDict) -> JsonDict:
    about = operation.get("metadata")
    return about if isinstance(about, dict) else {}

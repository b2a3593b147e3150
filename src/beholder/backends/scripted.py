"""Backends without a model: ``scripted`` answers by your rules, ``replay`` repeats stored answers.

With them whole metrics run in tests and examples without network, key or weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from beholder.backends.base import (
    Answer,
    Capabilities,
    DescribedBackend,
    JsonObject,
    Request,
    Sample,
    options_digest,
)
from beholder.backends.money import Usage
from beholder.errors import ConfigError, ItemError


class Scripted(DescribedBackend):
    """Answers made by a function, or by a file of rules.

    Args:
        answer: Takes the request; gives the text, a whole ``Answer``, or raises. As a path: a JSONL
            file of ``{"contains": "...", "answer": "..."}``; the first rule whose text is in the
            request answers, and ``answer`` may be a text or any JSON value.
        model: Name of the model it plays.
        top_logprobs: First-token log-probabilities it reports at most.
        images: Whether it takes pictures.

    Attributes:
        requests: All requests so far, in order.
    """

    def __init__(
        self,
        answer: str | Callable[[Request], str | Answer],
        *,
        model: str = "scripted",
        top_logprobs: int = 0,
        images: bool = True,
    ) -> None:
        self.name = f"scripted:{answer if isinstance(answer, str) else model}"
        self._answer = (
            _rules(Path(answer)) if isinstance(answer, str) else answer
        )
        if isinstance(answer, str):
            self.variant = _digest(Path(answer))
        self.able = Capabilities(model, top_logprobs, "schema", images)
        self.requests: list[Request] = []

    async def chat(self, request: Request) -> Answer:
        """Return the scripted answer."""
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Answer):
            return answer
        n_words = len(answer.split())
        return Answer(
            samples=(Sample(answer, "stop"),) * request.sampling.n,
            model=self.able.model,
            usage=Usage(prompt=request.estimated_tokens(), completion=n_words),
        )


def _rules(path: Path) -> Callable[[Request], str]:
    rules: list[tuple[str, str]] = []
    for number, row in _rows(path):
        if not isinstance(row.get("contains"), str) or "answer" not in row:
            raise ConfigError(
                f'{path}:{number}: expected {{"contains": "...", "answer": ...}}'
            )
        rule_answer = row["answer"]
        text = (
            rule_answer
            if isinstance(rule_answer, str)
            else json.dumps(rule_answer, ensure_ascii=False)
        )
        rules.append((row["contains"], text))

    def answer(request: Request) -> str:
        request_text = "\n".join(message.text for message in request.messages)
        for contains, text in rules:
            if contains in request_text:
                return text
        raise ItemError(
            f"no rule of {path} fits the request that ends {request_text[-200:]!r}"
        )

    return answer


class Replay(DescribedBackend):
    """Answers from a file that ``beholder cache export`` wrote; sends no requests.

    Args:
        path: JSONL with ``request`` (digest) and ``answer`` per row.
    """

    def __init__(self, path: str) -> None:
        self.name = f"replay:{path}"
        self._answers: dict[str, Answer] = {}
        for number, row in _rows(Path(path)):
            try:
                answer = Answer.from_json(json.dumps(row["answer"]))
                self._answers[row["request"]] = answer
            except (KeyError, TypeError, ValueError) as error:
                raise ConfigError(
                    f"{path}:{number}: not an exported answer ({error!r})"
                ) from error
        if not self._answers:
            raise ConfigError(f"{path} contains no answers")
        # Answers of two models under one name would be one judge with two minds.
        models = {answer.model for answer in self._answers.values()}
        if len(models) > 1:
            raise ConfigError(
                f"{path} mixes models ({', '.join(sorted(models))}); replay one"
            )
        self.variant = _digest(Path(path))
        logprob_counts = [
            len(a.samples[0].first or ()) for a in self._answers.values()
        ]
        # What the recorded model could do, as far as its answers show.
        self.able = Capabilities(
            models.pop(), max(logprob_counts), "schema", True
        )

    async def chat(self, request: Request) -> Answer:
        """Return the recorded answer.

        Raises:
            ItemError: The recording has no answer to this request.
        """
        answer = self._answers.get(request.digest)
        if answer is None:
            raise ItemError(
                f"{self.name} has no answer to this request; it was recorded with other texts,"
                " prompts or options"
            )
        return answer


def _digest(path: Path) -> str:
    """Return a digest of a file, which decides every answer and so is part of their key."""
    return options_digest(
        {"file": hashlib.sha256(path.read_bytes()).hexdigest()}
    )


def _rows(path: Path) -> list[tuple[int, JsonObject]]:
    try:
        # A line ends at a line feed and nowhere else: texts may hold other separators.
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {reason}") from error
    rows: list[tuple[int, JsonObject]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{path}:{number}: not JSON ({error})"
            ) from error
        if not isinstance(row, dict):
            raise ConfigError(f"{path}:{number}: expected a JSON object")
        rows.append((number, row))
    return rows

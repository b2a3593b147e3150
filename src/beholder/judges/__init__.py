"""Judges: operations that metrics call, answered by a model, a panel of models, or rules."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from beholder import spec
from beholder.backends import BACKENDS, backend
from beholder.backends.money import Budget
from beholder.errors import ConfigError, UnknownNameError
from beholder.judges.answers import AnswerFile, Answers, AnswerStore
from beholder.judges.base import Draw, Judge
from beholder.judges.dry import Tally
from beholder.judges.grades import Grade
from beholder.judges.llm import LLMJudge
from beholder.judges.panel import Panel
from beholder.registry import Registry

__all__ = [
    "JUDGES",
    "AnswerFile",
    "AnswerStore",
    "Answers",
    "Budget",
    "Draw",
    "Grade",
    "Judge",
    "LLMJudge",
    "Panel",
    "Tally",
    "judge",
]

JUDGES: Registry[Judge] = Registry(
    kind="judge",
    base=Judge,  # type: ignore[type-abstract]
    builtin={"builtin": "beholder.judges.builtin:BuiltinJudge"},
    group="beholder.judges",
)
"""Judges that are no model behind a backend."""

_JUDGE_OPTIONS = ("prompts", "temperature", "samples")


def judge(
    text: str,
    *,
    answers: AnswerStore | None = None,
    budget: Budget | None = None,
    tally: Tally | None = None,
    **options: Any,
) -> Judge:
    """Build a judge from its text form.

    Args:
        text: ``"openai:gpt-4.1"``, ``"openai(model='m', temperature=0.7, replicates=3)"``, or
            ``"panel(openai:a, hf:b)"``.
        answers: Where answers are kept; in memory if None.
        budget: What may be spent; no limit if None.
        tally: Counts what would be asked, and nothing is asked.
        options: Options of the judge (``prompts``, ``temperature``, ``samples``, ``replicates``)
            and of its backend (``base_url``, ``concurrency``, ``timeout``...); those in the text
            go first. Beside a panel they go to all its members.

    Raises:
        ConfigError: An unknown judge, model or option; the message names what there is.
    """
    kept = answers or Answers()
    spent = budget or Budget()
    members = _panel_members(text)
    if members is not None:
        shared: dict[str, Any] = {"answers": kept, "budget": spent, "tally": tally, **options}
        return Panel([judge(member, **shared) for member in members], kept)
    parsed = spec.parse(text)
    if parsed.name not in BACKENDS.names():
        return _other(parsed)
    given = {**options, **parsed.options}
    model = parsed.argument or given.pop("model", None)
    given.pop("model", None)
    if not isinstance(model, str) or not model:
        raise ConfigError(f"{text!r} names no model; write for example {parsed.name}:MODEL")
    replicates = given.pop("replicates", 1)
    own = {name: given.pop(name) for name in _JUDGE_OPTIONS if name in given}
    if own.get("prompts") is not None:
        own["prompts"] = Path(own["prompts"])
    if "facts" in inspect.signature(BACKENDS.get(parsed.name)).parameters:
        given.setdefault("facts", kept)
    made = backend(parsed.name, model, **given)
    one = LLMJudge(made, answers=kept, budget=spent, tally=tally, **own)
    if not isinstance(replicates, int) or replicates < 1:
        raise ConfigError(f"{text!r}: replicates={replicates!r}: expected a number above 0")
    return one if replicates == 1 else Panel([one] * replicates, kept)


def _other(parsed: spec.Spec) -> Judge:
    try:
        cls = JUDGES.get(parsed.name)
    except UnknownNameError:
        names = [*JUDGES.names(), *(f"{name}:MODEL" for name in BACKENDS.names())]
        raise UnknownNameError(
            f"no judge is called {parsed.name!r}; there are: {', '.join(names)}, panel(A, B)"
        ) from None
    try:
        return cls(**parsed.options)
    except TypeError as error:
        raise ConfigError(f"{parsed}: {error}") from error


def _panel_members(text: str) -> list[str] | None:
    """The members in ``panel(a, b(x=1, y=2))``, or None if it is no panel."""
    bare = text.strip()
    if not (bare.startswith("panel(") and bare.endswith(")")):
        return None
    members, depth = [""], 0
    for character in bare[len("panel(") : -1]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            members.append("")
        else:
            members[-1] += character
    return [member.strip() for member in members if member.strip()]

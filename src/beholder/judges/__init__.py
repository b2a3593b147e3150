"""Judges: operations that metrics call, answered by a model, a panel of models, or rules."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from beholder.backends import BACKENDS, backend
from beholder.backends.money import Budget
from beholder.base.registry import Registry, check_types
from beholder.base.spec import Spec, tool
from beholder.errors import ConfigError, UnknownNameError
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import Answers, AnswerStore
from beholder.judges.base import Draw, Judge
from beholder.judges.grades import Grade
from beholder.judges.llm import LLMJudge, Tally
from beholder.judges.panel import Panel

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
    "takes",
]

JUDGES: Registry[Judge] = Registry(
    kind="judge",
    base=Judge,  # type: ignore[type-abstract]
    builtin={
        "builtin": "beholder.judges.builtin.judge:BuiltinJudge",
        "nli": "beholder.judges.nli:NLIJudge",
    },
    group="beholder.judges",
)
"""Judges that are no model behind a backend."""

PANEL = "panel"
"""Name of a panel of judges in a spec: ``panel(members=[A, B])``."""

_JUDGE_OPTIONS = ("prompts", "scale", "temperature", "samples")
_REPEATS_AT = 0.7
"""Temperature of replicates that name none."""
_ENDPOINT_OPTIONS = ("base_url", "key_env", "batch")
"""Options that go to backends which name them; an engine's open options are no place for them."""


def judge(
    given: str | Spec,
    *,
    answers: AnswerStore | None = None,
    budget: Budget | None = None,
    tally: Tally | None = None,
    **options: Any,
) -> Judge:
    """Build a judge from its spec.

    Args:
        given: ``"openai:gpt-4.1"``, ``"openai('gpt-4.1', temperature=0.7, replicates=3)"``, or
            ``"panel(members=[openai('a'), hf('b')])"``, for short ``"panel(openai:a, hf:b)"``.
        answers: Where answers are kept; in memory if None.
        budget: What may be spent; no limit if None.
        tally: Counts what would be asked, and nothing is sent.
        options: Options of the judge (``prompts``, ``scale``, ``temperature``, ``samples``,
            ``replicates``) and of its backend (``concurrency``, ``timeout``...); those in the spec
            go first. Beside a panel they go to all its members. ``base_url``, ``key_env`` and
            ``batch`` go to backends that name them.

    Raises:
        ConfigError: An unknown judge, model or option; the message names what there is.
    """
    parsed = tool(given)
    made = _made(
        parsed, answers or Answers(), budget or Budget(), tally, options
    )
    object.__setattr__(
        made, "spec", parsed
    )  # judges of other packages may be frozen
    return made


def _made(
    parsed: Spec,
    kept: AnswerStore,
    spent: Budget,
    tally: Tally | None,
    options: Mapping[str, Any],
) -> Judge:
    if parsed.name == PANEL:
        shared: dict[str, Any] = {
            "answers": kept,
            "budget": spent,
            "tally": tally,
            **options,
        }
        return Panel(
            [judge(member, **shared) for member in _members(parsed)], kept
        )
    if parsed.name not in BACKENDS.names():
        return _other(parsed)
    sent = {name: v for name, v in options.items() if takes(parsed, name)}
    made_of = {**sent, **parsed.literals()}
    if not parsed.argument:
        raise ConfigError(
            f"{str(parsed)!r} names no model; write for example {parsed.name}:MODEL"
        )
    replicates = made_of.pop("replicates", 1)
    if not isinstance(replicates, int) or replicates < 1:
        raise ConfigError(
            f"{parsed}: replicates={replicates!r}: expected a number above 0"
        )
    if replicates > 1 and not made_of.setdefault("temperature", _REPEATS_AT):
        raise ConfigError(
            f"{parsed}: {replicates} replicates at temperature 0 would repeat one answer; use a"
            f" temperature above 0, or leave it out for {_REPEATS_AT:g}"
        )
    own = {
        name: made_of.pop(name) for name in _JUDGE_OPTIONS if name in made_of
    }
    check_types(LLMJudge, {"prompts": own.get("prompts")}, str(parsed))
    if own.get("prompts") is not None:
        own["prompts"] = Path(own["prompts"])
    if BACKENDS.takes(parsed.name, "facts"):
        made_of.setdefault("facts", kept)
    made = backend(parsed.name, parsed.argument, **made_of)
    check_types(LLMJudge, own, str(parsed))
    one = LLMJudge(made, answers=kept, budget=spent, tally=tally, **own)
    return one if replicates == 1 else Panel([one] * replicates, kept)


def takes(given: str | Spec, option: str) -> bool:
    """Whether the judge of a spec, or a member of a panel, has a use for an option of ``judge``.

    Raises:
        ConfigError: The spec cannot be read, or a panel has no members.
    """
    parsed = tool(given)
    if parsed.name == PANEL:
        return any(takes(member, option) for member in _members(parsed))
    if parsed.name not in BACKENDS.names():
        return False
    if option in _ENDPOINT_OPTIONS:
        return BACKENDS.takes(parsed.name, option)
    return (
        True  # of the judge itself, or the backend says what is wrong with it
    )


def _members(panel: Spec) -> list[Spec]:
    """The members of a panel's spec.

    Raises:
        ConfigError: It has none, or anything else.
    """
    members = panel.options.get("members")
    others = [
        *panel.options.keys() - {"members"},
        *([panel.argument] if panel.argument else []),
    ]
    if not members or not isinstance(members, list) or others:
        raise ConfigError(
            f"{panel}: expected judges alone, as in panel(openai:a, openai:b)"
        )
    return members


def _reached(parsed: Spec) -> str:
    """How a model is named that was given without what reaches it."""
    if parsed.argument is None and not parsed.options:
        return f"to ask this model at OpenAI, write openai:{parsed.name}."
    return (
        f"if its server speaks the OpenAI protocol, write openai:{parsed.argument or 'MODEL'}"
        " with --base-url ADDRESS and --key-env NAME."
    )


def _other(parsed: Spec) -> Judge:
    if parsed.name not in JUDGES.names():
        names = [
            *JUDGES.names(),
            *(f"{name}:MODEL" for name in BACKENDS.names()),
        ]
        close = get_close_matches(
            parsed.name.lower(), [*JUDGES.names(), *BACKENDS.names()], n=1
        )
        hint = f"did you mean {close[0]!r}?" if close else _reached(parsed)
        raise UnknownNameError(
            f"no judge is called {parsed.name!r}; {hint} There are: {', '.join(names)},"
            f" {PANEL}(A, B)"
        )
    return JUDGES.build(parsed)

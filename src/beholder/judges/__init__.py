"""Judges: operations that metrics call, answered by a model, a panel of models, or rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from beholder.backends import BACKENDS, backend
from beholder.backends.decisions import DecidingBackend
from beholder.backends.money import Budget
from beholder.base.ranges import check_number
from beholder.base.registry import Registry, check_types
from beholder.base.spec import Spec, canonical_spec
from beholder.errors import ConfigError, UnknownNameError
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import Answers, AnswerStore
from beholder.judges.base import Draw, Judge
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.grades import Grade
from beholder.judges.llm import LLMJudge, Tally
from beholder.judges.panel import Panel

__all__ = [
    "JUDGES",
    "AnswerFile",
    "AnswerStore",
    "Answers",
    "Budget",
    "DecisionJudge",
    "Draw",
    "Grade",
    "Judge",
    "LLMJudge",
    "Panel",
    "Tally",
    "divide_options",
    "judge",
    "takes",
]

JUDGES: Registry[Judge] = Registry(
    kind="judge",
    base=Judge,  # type: ignore[type-abstract]
    builtin={"builtin": "beholder.judges.builtin.judge:BuiltinJudge"},
    group="beholder.judges",
)
"""Judges that are no model behind a backend."""

PANEL = "panel"
"""Name of a panel of judges in a spec: ``panel(members=[A, B])``."""

_JUDGE_OPTIONS = ("prompts", "scale", "temperature", "samples")
_DRAWS = ("replicates", *_JUDGE_OPTIONS)
"""Options of who draws answers, which a decision model does not."""
_REPEATS_AT = 0.7
"""Temperature of replicates that name none."""
_ENDPOINT_OPTIONS = ("base_url", "key_env", "batch")
"""Options that go to backends which name them; an engine's open options are no place for them."""


def judge(
    spec: str | Spec,
    *,
    answers: AnswerStore | None = None,
    budget: Budget | None = None,
    tally: Tally | None = None,
    **options: Any,
) -> Judge:
    """Build a judge from its spec.

    Args:
        spec: ``"openai:gpt-4.1"``, ``"openai('gpt-4.1', temperature=0.7, replicates=3)"``, or
            ``"panel(members=[openai('a'), hf('b')])"``, for short ``"panel(openai:a, hf:b)"``.
        answers: Store for answers; in memory if None.
        budget: Limit on the spending; no limit if None.
        tally: Counts what would be asked, and nothing is sent.
        options: Options of the judge (``prompts``, ``scale``, ``temperature``, ``samples``,
            ``replicates``) and of its backend (``concurrency``, ``timeout``...); those in the spec
            go first. Beside a panel they go to all its members. ``base_url``, ``key_env`` and
            ``batch`` go to backends that name them.

    Raises:
        ConfigError: An unknown judge, model or option; the message names what there is.
    """
    return _build(
        canonical_spec(spec),
        answers or Answers(),
        budget or Budget(),
        tally,
        options,
    )


def _build(
    spec: Spec,
    answers: AnswerStore,
    budget: Budget,
    tally: Tally | None,
    options: Mapping[str, Any],
) -> Judge:
    """Return the judge of a canonical spec."""
    if spec.name == PANEL:
        members = [
            _build(member, answers, budget, tally, options)
            for member in _members(spec)
        ]
        built: Judge = Panel(members, answers)
    elif _decides(spec):
        built = _build_decider(spec, answers, budget, tally, options)
    elif spec.name in BACKENDS.names():
        accepted = {
            name: value
            for name, value in options.items()
            if _takes(spec, name)
        }
        arguments = {**accepted, **spec.literals()}
        built = _build_model(spec, arguments, answers, budget, tally)
    else:
        _check_known(spec)
        built = JUDGES.build(spec)
    # Judges of other packages may be frozen.
    object.__setattr__(built, "spec", spec)
    return built


def _build_model(
    spec: Spec,
    arguments: dict[str, Any],
    answers: AnswerStore,
    budget: Budget,
    tally: Tally | None,
) -> Judge:
    if not spec.argument:
        raise ConfigError(
            f"{str(spec)!r} needs a model; write for example {spec.name}:MODEL"
        )
    # Replicates are repeats of one model, judged as a panel. They need a
    # temperature above 0: at 0 the server would repeat its answer and the
    # agreement between repeats would mean nothing.
    replicates = arguments.pop("replicates", 1)
    check_number(f"{spec}: replicates", replicates, 1, whole=True)
    if replicates > 1 and not arguments.setdefault("temperature", _REPEATS_AT):
        raise ConfigError(
            f"{spec}: {replicates} replicates at temperature 0 would repeat one answer; use a"
            f" temperature above 0, or leave it out for {_REPEATS_AT:g}"
        )
    # The options of the judge are taken out first; whatever is left belongs to
    # the backend, which checks the names itself.
    judge_options = {
        name: arguments.pop(name)
        for name in _JUDGE_OPTIONS
        if name in arguments
    }
    check_types(LLMJudge, judge_options, str(spec))
    if judge_options.get("prompts") is not None:
        judge_options["prompts"] = Path(judge_options["prompts"])
    # Facts about the server, such as its dialect, are kept beside the answers,
    # so that a resumed run need not probe again.
    if BACKENDS.takes(spec.name, "facts"):
        arguments.setdefault("facts", answers)
    decides = arguments.pop("decide", False)
    if not isinstance(decides, bool):
        raise ConfigError(
            f"{spec}: decide={decides!r}: expected True or False"
        )
    vain_options = {
        *judge_options,
        *({"replicates"} if replicates > 1 else ()),
    }
    vain_options &= {"replicates", "samples", "scale"}
    if decides and vain_options:
        raise ConfigError(
            f"{spec}: with decide=True answers are probabilities, none is drawn"
            f" again and no scale is used, so {min(vain_options)} has no effect;"
            " leave it out"
        )
    orders = arguments.pop("orders", 1) if decides else 1
    model = backend(spec.name, spec.argument, **arguments)
    judge: Judge = LLMJudge(
        model, answers=answers, budget=budget, tally=tally, **judge_options
    )
    if decides:
        # The same model writes what must be written.
        judge = DecisionJudge(
            model,
            writer=judge,
            orders=orders,
            answers=answers,
            budget=budget,
            tally=tally,
        )
    return judge if replicates == 1 else Panel([judge] * replicates, answers)


def _build_decider(
    spec: Spec,
    answers: AnswerStore,
    budget: Budget,
    tally: Tally | None,
    options: Mapping[str, Any],
) -> Judge:
    """Return the judge of a decision model, with its writer if the spec names one."""
    arguments, for_writer = divide_options(spec, options)
    own_options = dict(spec.options)
    for name in _DRAWS:
        if name in own_options:
            raise ConfigError(
                f"{spec}: a decision model returns probabilities and draws no"
                f" answers, so it has no {name}; leave it out (orders=2 asks"
                " each choice in both orders of its options)"
            )
    writer_spec = own_options.pop("writer", None)
    writer = None
    if writer_spec is not None:
        if not isinstance(writer_spec, str | Spec):
            raise ConfigError(
                f"{spec}: writer={writer_spec!r}: expected a judge, such as"
                " 'openai:MODEL'"
            )
        writer = _build(
            canonical_spec(writer_spec), answers, budget, tally, for_writer
        )
    orders = own_options.pop("orders", 1)
    arguments |= replace(spec, options=own_options).literals()
    if BACKENDS.takes(spec.name, "facts"):
        arguments.setdefault("facts", answers)
    if not spec.argument:
        raise ConfigError(
            f"{str(spec)!r} needs a model; write for example {spec.name}:MODEL"
        )
    model = backend(spec.name, spec.argument, **arguments)
    assert isinstance(model, DecidingBackend)
    return DecisionJudge(
        model,
        writer=writer,
        orders=orders,
        answers=answers,
        budget=budget,
        tally=tally,
    )


def _decides(spec: Spec) -> bool:
    """Return whether a spec names a decision model."""
    return spec.name in BACKENDS.names() and issubclass(
        BACKENDS.get(spec.name), DecidingBackend
    )


def divide_options(
    spec: Spec, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that a judge of one model takes, and those of the writer in its spec.

    The address and the key beside a spec are of its own model: the writer may be another vendor's,
    who must not get them.
    """
    writer = spec.options.get("writer")
    draws = _DRAWS if _decides(spec) else ()
    own_options = {
        name: value
        for name, value in options.items()
        if name not in draws and _takes(spec, name)
    }
    if not isinstance(writer, str | Spec):
        return own_options, {}
    writer_spec = canonical_spec(writer)
    # What the class of the model names, such as its limits, is of that model.
    apart = (*_ENDPOINT_OPTIONS, "extra")
    return own_options, {
        name: value
        for name, value in options.items()
        if name not in apart
        and not BACKENDS.takes(spec.name, name)
        and _takes(writer_spec, name)
    }


def takes(spec: str | Spec, option: str) -> bool:
    """Return whether a judge, or a member of a panel, has a use for an option of ``judge``.

    Raises:
        ConfigError: The spec cannot be read, or a panel has no members.
    """
    return _takes(canonical_spec(spec), option)


def _takes(spec: Spec, option: str) -> bool:
    if spec.name == PANEL:
        return any(_takes(member, option) for member in _members(spec))
    if spec.name not in BACKENDS.names():
        return False
    if _decides(spec) and option in _DRAWS:
        writer = spec.options.get("writer")
        return writer is not None and _takes(canonical_spec(writer), option)
    # All others are of the judge itself, or the backend says what is wrong with them.
    return option not in _ENDPOINT_OPTIONS or BACKENDS.takes(spec.name, option)


def _members(panel: Spec) -> list[Spec]:
    """The members of a panel's spec.

    Raises:
        ConfigError: It has none, or anything else.
    """
    members = panel.options.get("members")
    unexpected = [
        *panel.options.keys() - {"members"},
        *([panel.argument] if panel.argument else []),
    ]
    if not members or not isinstance(members, list) or unexpected:
        raise ConfigError(
            f"{panel}: expected judges alone, as in panel(openai:a, openai:b)"
        )
    return members


_VENDORS = {
    "claude": ("Anthropic", "anthropic"),
    "gemini": ("Google", "gemini"),
}
"""Vendor and backend by the beginning of a model's name; all others are tried at OpenAI."""


def _check_known(spec: Spec) -> None:
    """Raise UnknownNameError if there is no judge of that name."""
    registered_names = [*JUDGES.names(), *BACKENDS.names()]
    if spec.name in registered_names:
        return
    # A name alone is more likely a misspelt judge or a model of OpenAI than a
    # server; a name with an argument may be a server with an OpenAI protocol.
    close = get_close_matches(spec.name.lower(), registered_names, n=1)
    if close:
        hint = f"did you mean {close[0]!r}?"
    elif spec.argument is None and not spec.options:
        vendor, backend = next(
            (
                vendor
                for start, vendor in _VENDORS.items()
                if spec.name.lower().startswith(start)
            ),
            ("OpenAI", "openai"),
        )
        hint = f"to ask this model at {vendor}, write {backend}:{spec.name}."
    else:
        hint = (
            f"if its server speaks the OpenAI protocol, write openai:{spec.argument or 'MODEL'}"
            " with --base-url ADDRESS and --key-env NAME."
        )
    names = [*JUDGES.names(), *(f"{name}:MODEL" for name in BACKENDS.names())]
    raise UnknownNameError(
        f"no judge is called {spec.name!r}; {hint} There are: {', '.join(names)},"
        f" {PANEL}(A, B)"
    )

"""``beholder.judge``: a judge to ask in Python, and to hand to metrics and doors."""

from __future__ import annotations

import weakref
from dataclasses import replace
from pathlib import Path

from beholder import judges
from beholder.judges import Answers, Budget, Judge
from beholder.metrics.tools import check_taken
from beholder.options import cache_place
from beholder.postgres import Address
from beholder.run.answers import open_cache
from beholder.spec import Spec, tool


def judge(
    given: str | Spec = "builtin",
    *,
    cache: str | Path | Address | None = None,
    max_cost: float | None = None,
    **options: object,
) -> Judge:
    """Make a judge from its spec.

    ``await judge.ask(Verify(...))`` asks it; ``judge=`` of metrics and doors takes it as it takes
    the text ``str(judge.spec)``, in which the options stand, too.

    Args:
        given: ``"builtin"``, ``"openai:gpt-4.1-mini"``, ``"hf:NAME"``, ``"panel(openai:a,
            openai:b)"``.
        cache: File or database of the answers that it is asked for in Python; None keeps them in
            memory. A run with this judge uses its own answers, cache and budget.
        max_cost: Stop before these questions have cost more US dollars; None for no limit.
        options: Of the judge (``temperature``, ``samples``, ``prompts``, ``replicates``) and of
            how its model is reached (``base_url``, ``timeout``...); those in the spec go first,
            and those beside a panel go to all its members.

    Raises:
        ConfigError: An unknown judge, model or option.
        RunError: The cache cannot be used.
    """
    spec = tool(given)
    told = {name: str(v) if isinstance(v, Path) else v for name, v in options.items()}
    told = {name: value for name, value in told.items() if value is not None}
    check_taken({"judge": told}, [("judge", str(spec))])
    whole = _with(spec, told)
    place = cache_place(cache) if isinstance(cache, str) else cache
    shared = None if place is None else open_cache(place)
    made = judges.judge(whole, answers=Answers(None, shared), budget=Budget(max_cost))
    if shared is not None:
        weakref.finalize(made, shared.close)
    return made


def _with(spec: Spec, options: dict[str, object]) -> Spec:
    """A spec with the options that were given beside it."""
    if spec.name == judges.PANEL:
        members = [_with(member, options) for member in spec.options["members"]]
        return replace(spec, options={"members": members})
    fitting = {name: value for name, value in options.items() if judges.takes(spec, name)}
    return tool(replace(spec, options={**fitting, **spec.options}))

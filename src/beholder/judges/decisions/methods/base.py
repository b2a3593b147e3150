"""The type of methods and the wording of their questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from beholder.judges.decisions.decider import Decider
from beholder.judges.templates import load_templates, sanitise

Method: TypeAlias = Callable[[Decider, Any], Awaitable[Any]]
"""Asks an operation of a decision model and returns the operation's answer."""

TEMPLATES = load_templates(
    Path(str(files("beholder.judges.decisions") / "prompts")), required=()
)
"""The wording of the questions, by operation; each section is one kind of question."""


def word_question(
    decider: Decider, section: str, texts: Mapping[str, str] | None = None
) -> str:
    """Return a question: a section of the operation's prompt with texts in it.

    Args:
        decider: Whose prompt.
        section: Name of the section.
        texts: Untrusted texts by the name that the section uses.
    """
    values = {
        name: " ".join(sanitise(text).split())
        for name, text in (texts or {}).items()
    }
    template = decider.template
    return template.fill(section, template.sections[section], values)

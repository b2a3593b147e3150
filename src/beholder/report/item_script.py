"""The script that draws one item, in the static report and in the viewer."""

from __future__ import annotations

from pathlib import Path

from beholder.report.views import VIEWS

_SCRIPTS = Path(__file__).parent / "scripts"
_ITEM = ("base.js", "texts.js", *(f"view_{name}.js" for name in VIEWS), "units.js", "item.js")


def item_script(rest: str) -> str:
    """The script of an item, followed by ``rest``; nothing of it is global.

    Args:
        rest: Runs after the parts of an item; calls ``itemView``.
    """
    parts = [(_SCRIPTS / name).read_text(encoding="utf-8") for name in _ITEM]
    return '(() => {\n"use strict";\n' + "\n".join([*parts, rest]) + "})();\n"

"""``beholder graph``: the scene graph of a text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from beholder.terminal.groups import AsJson, Data
from beholder.terminal.printing import tell, tell_json


def graph(
    text: Data,
    /,
    *,
    rules: Literal["fixed", "reference"] = "fixed",
    parser: str = "builtin",
    coref: str = "builtin",
    svg: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Print what a text says is there, what it is like, and how it stands to the rest.

    Example: `beholder graph "A tall man holds a red cup. He smiles."`

    Args:
        text: An English description; - reads standard input.
        rules: Mended rules, or those as published.
        parser: builtin, or spacy:NAME_OR_PATH for a bigger one.
        coref: builtin, none or fastcoref.
        svg: Also draw it into this SVG file.
    """
    from beholder.files import write_text
    from beholder.language import parse, scene_graph
    from beholder.report import graph_svg, graph_text

    document = parse(sys.stdin.read() if text == "-" else text, parser=parser)
    found = scene_graph(document, rules=rules, coref=coref)
    if svg is not None:
        write_text(svg, graph_svg(found))
    if as_json:
        tell_json(found.to_dict())
    else:
        tell(graph_text(found))

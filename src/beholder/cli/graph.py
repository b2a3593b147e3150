"""``beholder graph``: the scene graph of a text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from beholder.errors import ConfigError


def graph(
    text: Annotated[str, typer.Argument(help="An English description; - reads standard input.")],
    rules: Annotated[
        str, typer.Option(help="fixed, or reference for the rules as published.")
    ] = "fixed",
    parser: Annotated[
        str, typer.Option(help="builtin, or spacy:NAME_OR_PATH for a bigger one.")
    ] = "builtin",
    coref: Annotated[str, typer.Option(help="builtin, none or fastcoref.")] = "builtin",
    svg: Annotated[Path | None, typer.Option(help="Also draw it into this SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Print what a text says is there, what it is like, and how it stands to the rest.

    Example: [bold]beholder graph "A tall man holds a red cup. He smiles."[/bold]
    """
    from beholder.language import parse, scene_graph
    from beholder.report import graph_svg, graph_text

    if rules not in ("fixed", "reference"):
        raise ConfigError(f"--rules {rules!r}: expected fixed or reference")
    document = parse(sys.stdin.read() if text == "-" else text, parser=parser)
    found = scene_graph(document, rules="fixed" if rules == "fixed" else "reference", coref=coref)
    if svg is not None:
        svg.write_text(graph_svg(found), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        typer.echo(graph_text(found))

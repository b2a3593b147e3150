"""``beholder graph-check``: scene graphs held against graphs that people made."""

from __future__ import annotations

from typing import Literal

from beholder.rounding import fixed
from beholder.terminal.groups import AsJson, Data
from beholder.terminal.printing import tell, tell_json, tell_tables


def graph_check(
    data: Data,
    /,
    *,
    rules: Literal["fixed", "reference"] = "reference",
    parser: str = "builtin",
    coref: str = "builtin",
    as_json: AsJson = False,
) -> None:
    """Say how right the scene graphs of annotated texts are: elements, and what they hang on.

    Rows have a text and its graph, in the public form of PoSh. Figures are means over texts.

    Example: `beholder graph-check annotated.jsonl --parser spacy:en_core_web_trf`

    Args:
        data: A .jsonl file of texts with their graphs.
        rules: Mended rules, or those as published.
        parser: builtin, or spacy:NAME_OR_PATH for a bigger one.
        coref: builtin, none, fastcoref or a registered name.
    """
    from dataclasses import asdict

    from rich.table import Table

    from beholder.kinds.agreement.annotated import read_graphs, score_annotated
    from beholder.language.reading import GraphReader

    annotated = read_graphs(data)
    found = score_annotated(annotated, GraphReader(rules, parser, coref))
    if as_json:
        tell_json({kind: asdict(scores) for kind, scores in found.items()})
        return
    table = Table("elements", "precision", "recall", "F1", "coreference", "head", "tail")
    for kind, scores in found.items():
        shares = [scores.shares.get(name) for name in ("coref", "head", "tail")]
        cells = [scores.precision, scores.recall, scores.f1, *shares]
        table.add_row(kind, *("" if value is None else fixed(value, 3) for value in cells))
    tell_tables(table)
    tell(f"{len(annotated)} texts")

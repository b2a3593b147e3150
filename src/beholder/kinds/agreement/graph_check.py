"""``beholder graph-check``: scene graphs compared with those of annotated texts."""

from __future__ import annotations

from typing import Literal

from beholder.base.rounding import fixed
from beholder.terminal.groups import AsJson, Data
from beholder.terminal.printing import print_json, print_line, print_tables


def graph_check(
    data: Data,
    /,
    *,
    rules: Literal["fixed", "reference"] = "reference",
    parser: str = "builtin",
    coref: str = "builtin",
    as_json: AsJson = False,
) -> None:
    """Compare scene graphs with those of annotated texts: elements, and their attachment.

    Rows have a text and its graph, in the public form of PoSh. Figures are means over texts.

    Example: `beholder graph-check annotated.jsonl --parser spacy:en_core_web_trf`

    Args:
        data: A .jsonl file of texts with their graphs.
        rules: Corrected rules, or the published ones.
        parser: Parser: builtin, or spacy:NAME_OR_PATH.
        coref: Coreference resolution: builtin, none, fastcoref or a plugin's name.
    """
    from dataclasses import asdict

    from rich.table import Table

    from beholder.kinds.agreement.annotated import read_graphs, score_annotated
    from beholder.language.reading import GraphReader

    annotated = read_graphs(data)
    scores_by_kind = score_annotated(
        annotated, GraphReader(rules, parser, coref)
    )
    if as_json:
        print_json(
            {kind: asdict(scores) for kind, scores in scores_by_kind.items()}
        )
        return
    table = Table(
        "elements", "precision", "recall", "F1", "coreference", "head", "tail"
    )
    for kind, scores in scores_by_kind.items():
        # Each kind of element has other shares: coreference of entities, ends
        # of relations.
        shares = [
            scores.shares.get(name) for name in ("coref", "head", "tail")
        ]
        cells = [scores.precision, scores.recall, scores.f1, *shares]
        table.add_row(
            kind,
            *("" if value is None else fixed(value, 3) for value in cells),
        )
    print_tables(table)
    print_line(f"{len(annotated)} texts")

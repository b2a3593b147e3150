"""FACTUAL captions with their gold graphs."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path

Triple = tuple[str, str, str]

_TRIPLE = re.compile(r"\(\s*(.*?)\s*\)(?=\s*,\s*\(|\s*$)")


@dataclass(frozen=True)
class Caption:
    """A caption and its graph as (subject, relation, object); "is" marks an attribute."""

    text: str
    triples: tuple[Triple, ...]


def read(path: Path) -> list[Caption]:
    """All captions of a ``.csv.gz`` file with the columns ``caption`` and ``scene_graph``."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [
            Caption(row["caption"].strip(), _triples(row["scene_graph"]))
            for row in csv.DictReader(io.StringIO(file.read()))
        ]


def _triples(graph: str) -> tuple[Triple, ...]:
    found = []
    for match in _TRIPLE.finditer(graph.strip()):
        parts = [part.strip() for part in match.group(1).split(" , ")]
        if len(parts) == 3 and all(parts):
            found.append((parts[0], parts[1], parts[2]))
        elif len(parts) == 1 and parts[0]:
            found.append((parts[0], "", ""))
    return tuple(found)

"""Reading English: parse, find what means the same, and make the scene graph of a description.

    from beholder.language import parse, scene_graph, statements

    document = parse("A tall man holds a red cup. He smiles.")
    graph = scene_graph(document)
    print([entity.name for entity in graph.entities])

Nothing is downloaded: the pipeline ships with the package. It reads English only. Documents and
graphs are plain and picklable, so that worker processes can do the work.
"""

from __future__ import annotations

from beholder.language.document import Document, Word
from beholder.language.graph import Attribute, Entity, Mention, Relation, SceneGraph
from beholder.language.links import Coref
from beholder.language.parsers import Parser, parse, parse_many
from beholder.language.scene import Rules, scene_graph
from beholder.language.statements import Statement, graph_statements, statements

__all__ = [
    "Attribute",
    "Coref",
    "Document",
    "Entity",
    "Mention",
    "Parser",
    "Relation",
    "Rules",
    "SceneGraph",
    "Statement",
    "Word",
    "graph_statements",
    "parse",
    "parse_many",
    "scene_graph",
    "statements",
]

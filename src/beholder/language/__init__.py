"""Reading English: parse a description, resolve coreference, and make its scene graph.

    from beholder.language import parse, scene_graph, statements

    document = parse("A tall man holds a red cup. He smiles.")
    graph = scene_graph(document)
    print([entity.name for entity in graph.entities])

Nothing is downloaded: the pipeline ships with the package. It reads English only. Documents and
graphs are plain and picklable, so that worker processes can do the work.
"""

from __future__ import annotations

from beholder.language.document import Document as Document
from beholder.language.document import Word as Word
from beholder.language.graph import Attribute as Attribute
from beholder.language.graph import Entity as Entity
from beholder.language.graph import Mention as Mention
from beholder.language.graph import Relation as Relation
from beholder.language.graph import SceneGraph as SceneGraph
from beholder.language.links import Coref as Coref
from beholder.language.parsers import Parser as Parser
from beholder.language.parsers import parse as parse
from beholder.language.parsers import parse_many as parse_many
from beholder.language.scene import Rules as Rules
from beholder.language.scene import scene_graph as scene_graph
from beholder.language.statements import Statement as Statement
from beholder.language.statements import graph_statements as graph_statements
from beholder.language.statements import statements as statements

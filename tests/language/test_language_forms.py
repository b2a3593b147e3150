"""Scene graphs in the forms of others: JSON values and networkx."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from beholder.errors import MissingExtraError
from beholder.language import parse, scene_graph

TEXT = (
    "A tall man holds a red cup. There are no dogs. A <b>cat</b> sits & waits."
)


def test_dict_is_json() -> None:
    values = scene_graph(parse(TEXT)).to_dict()
    assert json.loads(json.dumps(values))["entities"][0]["name"] == "man"


@pytest.mark.skipif(
    find_spec("networkx") is not None, reason="networkx is installed"
)
def test_networkx_is_asked_for_when_absent() -> None:
    with pytest.raises(MissingExtraError, match="networkx"):
        scene_graph(parse("A dog.")).to_networkx()


@pytest.mark.skipif(
    find_spec("networkx") is None, reason="networkx is not installed"
)
def test_networkx_graph_has_the_same_parts() -> None:
    graph = scene_graph(parse("A tall man holds a cup.")).to_networkx()
    assert [graph.nodes[i]["name"] for i in graph.nodes] == ["man", "cup"]
    assert [d["predicate"] for _, _, d in graph.edges(data=True)] == ["hold"]

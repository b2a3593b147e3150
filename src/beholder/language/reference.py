from beholder.language.graph import SceneGraph
def reference_graph(document, links): return SceneGraph(document.text,(),(),())

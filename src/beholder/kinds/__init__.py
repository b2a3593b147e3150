"""One package per kind of work: configuration, results, tables, page, command and function.

``beholder.run.kind.features`` lists them. Kinds of run (scores, generation, ranking, narratives)
import none of the others; features above them may import kinds of run, and no other feature.
"""

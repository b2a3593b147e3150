"""One package per kind of work: configuration, results, tables, page, command and function.

``beholder.run.kind.kinds`` lists the kinds. No kind imports another; code that two kinds need is
below them.
"""

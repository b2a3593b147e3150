"""One package per kind of work: configuration, results, tables, page, command and function.

``beholder.run.kind.KINDS`` lists them. No kind imports another; what two of them need lies below.
"""

"""People and models describe the same pictures: both directions of DCScore, and what each leaves out.

Pairs of texts in, named tables out (``study.study``); ``observe`` reads the pairs from a run.
"""

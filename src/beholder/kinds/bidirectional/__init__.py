"""People and models describe the same pictures: both directions, and what each side leaves out.

Pairs of texts in, named tables out (``study.study``); ``observe`` reads the pairs from a run.
"""

"""Drawings with matplotlib: numbers in, a figure out. No text of the data stands in them."""

"""Sequences of pictures: storylines are extracted, judged and measured."""

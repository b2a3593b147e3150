"""Texts written by judges: captions, categories, translations, reviews."""

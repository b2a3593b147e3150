"""Filtering of caption training sets: what is dropped, why, and how many bad rows stay."""

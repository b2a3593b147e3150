"""References that a judge doubts, for people to decide; runs are those of ``scores``."""

"""A tiny metric for tests of the frame; lives in a package so that worker processes find it."""

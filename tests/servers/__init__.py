"""Servers and runs that tests need in modules of their own; a package, so that all find it."""

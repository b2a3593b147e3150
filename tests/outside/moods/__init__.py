"""A kind of work of an outside package: one folder, one entry point."""

"""A task of annotation of an outside package: one folder, one entry point."""

"""Scripts that make the models that ship with beholder; not part of the package."""

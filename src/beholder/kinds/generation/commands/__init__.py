"""The commands that have judges write texts."""

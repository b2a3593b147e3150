"""Items scored by metrics."""

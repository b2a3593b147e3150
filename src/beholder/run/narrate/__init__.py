"""Runs over narratives: judge them, measure them, compare their sources; resumable."""

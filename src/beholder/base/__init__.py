"""Helpers that know nothing of descriptions: files, specs, options, dates and the like."""

"""Acceptance: show that at most a share of the texts of a frozen collection has a grave error."""

"""Sample data that ships with beholder, written for it."""

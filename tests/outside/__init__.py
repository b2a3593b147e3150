"""Protocols of others, written from their description alone, to compare with."""

"""The built-in judge: no key, no download, no GPU; English texts only."""

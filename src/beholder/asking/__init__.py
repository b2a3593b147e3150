"""The contract between a run and what it asks: askers, their parameters and tools."""

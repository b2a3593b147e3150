"""Makes the built-in entailment model."""

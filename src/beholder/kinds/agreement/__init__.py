"""Human-judgment sets, their protocols, and how far a metric agrees with people."""

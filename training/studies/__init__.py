"""Studies behind single figures of the documentation; each prints its figure again."""

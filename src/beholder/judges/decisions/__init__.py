"""The judge that asks a decision model: closed operations as questions with distributions."""

"""Training of the English pipeline: ``python -m training.english --data DATA --out WORK``."""

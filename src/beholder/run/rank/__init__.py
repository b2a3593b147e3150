"""Runs that rank texts about images and hold the rankings against people's; resumable."""

"""The choice of a captioner for a collection of pictures."""

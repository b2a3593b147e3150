"""A judge is asked one thing of each row, and rows come out: captions, categories, translations."""

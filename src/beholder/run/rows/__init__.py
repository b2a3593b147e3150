"""A judge is asked one thing of each row or picture, and new rows come out."""

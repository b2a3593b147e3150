"""Quality over time: the same metric on different pictures, run after run."""

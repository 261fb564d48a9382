"""Training: the loop, and what a loss beats."""

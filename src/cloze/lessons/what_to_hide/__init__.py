"""What to hide: how much of a text, in which shape, and what stands in its place."""

"""The page: the explorer without Python, and what it is built from."""

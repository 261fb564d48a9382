"""The explorer: what each side of a gap is worth."""

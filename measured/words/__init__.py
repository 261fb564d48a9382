"""The words' encoder: its text, its pieces, its training and how good it is."""
